package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

// diagnosis is the result of fleetd doctor.
type diagnosis struct {
	SchemaVersion int `json:"schema_version"`
	// OK says that there is no fault; there may be warnings.
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

// finding is the outcome of one check.
type finding struct {
	Check string `json:"check"`
	// Level is ok, warning or fault.
	Level string `json:"level"`
	What  string `json:"what"`
	Do    string `json:"do,omitempty"`
	Fixed bool   `json:"fixed"`
}

const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelFault   = "fault"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor [--fix]", Short: "what is wrong with this machine's part of the fleet, and what to do", Args: cobra.NoArgs,
		Long: `Looks at the data directory, its keys and files, the configuration, the disk, the
clock, the store and the other members, and says of each what it found and what to
do. A daemon is asked when one runs; else the store is opened and all of it is proven.

--fix puts right what is safe to: files that are open to others, and remains of files
that were never finished. Exit code 1 says that there is a fault.`,
	}
	fix := cmd.Flags().Bool("fix", false, "put right what is safe to")
	quick := cmd.Flags().Bool("quick", false, "do not read the whole store")
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		d := diagnosis{SchemaVersion: wire.SchemaVersion, OK: true}
		for _, f := range node.Examine(ctx, dir, node.ExamineConfig{Fix: *fix, Store: !*quick}) {
			d.add(finding{Check: f.Check, Level: levelText(f.Level), What: f.What, Do: f.Do, Fixed: f.Fixed})
		}
		if node.IsInitialised(dir) {
			a.examineDaemon(ctx, &d)
		}
		text := func(w io.Writer) { d.text(w) }
		if d.OK {
			return a.print(d, text)
		}
		if a.output != outputJSON {
			text(a.out)
		}
		faults := 0
		for i := range d.Checks {
			if d.Checks[i].Level == levelFault {
				faults++
			}
		}
		return &failure{text: counted(faults, "fault") + " found", code: exitError, result: d}
	})
}

func levelText(l node.FindingLevel) string {
	switch l {
	case node.FindingOK:
		return levelOK
	case node.FindingWarning:
		return levelWarning
	case node.FindingFault:
		return levelFault
	}
	return levelFault
}

func (d *diagnosis) add(f finding) {
	d.Checks = append(d.Checks, f)
	d.OK = d.OK && f.Level != levelFault
}

func (d *diagnosis) text(w io.Writer) {
	for i := range d.Checks {
		f := &d.Checks[i]
		mark := map[string]string{levelOK: "ok", levelWarning: "look", levelFault: "BAD"}[f.Level]
		say(w, "%-5s %s: %s", mark, f.Check, oneLine(f.What))
		if f.Fixed {
			say(w, "      mended")
		}
		if f.Do != "" {
			say(w, "      -> %s", oneLine(f.Do))
		}
	}
}

// examineDaemon asks the daemon how it is, and how it stands to the others.
func (a *app) examineDaemon(ctx context.Context, d *diagnosis) {
	c, err := a.connect()
	if err == nil {
		defer c.Close()
		err = a.examineAnswers(ctx, c, d)
	}
	switch {
	case err == nil:
	case errors.Is(err, client.ErrNotRunning):
		d.add(finding{Check: "daemon", Level: levelWarning, What: "none runs: agents cannot read or write, and nothing is shared", Do: "fleetd run"})
	default:
		f := a.explain(err)
		d.add(finding{Check: "daemon", Level: levelFault, What: f.text, Do: f.next})
	}
}

func (a *app) examineAnswers(ctx context.Context, c *client.Client, d *diagnosis) error {
	theirs, err := c.Build(ctx)
	if err != nil {
		return err
	}
	if mine := build(); theirs.Version != mine.Version || theirs.Revision != mine.Revision {
		d.add(finding{
			Check: "versions", Level: levelWarning, What: fmt.Sprintf("the daemon is %s, this program %s", buildText(theirs), buildText(mine)),
			Do: "restart the daemon with this program",
		})
	} else {
		d.add(finding{Check: "versions", Level: levelOK, What: buildText(mine)})
	}
	health, err := c.Ready(ctx)
	if err != nil {
		return err
	}
	for _, check := range health.Checks {
		f := finding{Check: check.Name, Level: levelOK, What: "the daemon says that it is well"}
		if !check.OK {
			f.Level, f.What, f.Do = levelFault, check.Detail, "look at the daemon's log; fleetd wait ready says when it is over"
		}
		d.add(f)
	}
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	d.examineFleet(&status)
	return nil
}

// longAway is after how long a member that is not here is worth a word.
const longAway = 7 * 24 * time.Hour

// examineFleet looks at what the daemon knows of the others.
func (d *diagnosis) examineFleet(s *wire.Status) {
	if s.InSync {
		d.add(finding{Check: "peers", Level: levelOK, What: s.Verdict})
	} else {
		d.add(finding{Check: "peers", Level: levelWarning, What: s.Verdict, Do: "fleetd members shows each of them"})
	}
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case m.State == wire.StateIncompatible:
			d.add(finding{Check: "peers", Level: levelFault, What: m.Name + ": " + m.Why, Do: "update fleetd on the older of both machines"})
		case m.State == wire.StateOffline && m.Since != nil && time.Since(*m.Since) > longAway:
			d.add(finding{
				Check: "peers", Level: levelWarning, What: fmt.Sprintf("%s was last seen at %s", m.Name, timeText(*m.Since)),
				Do: "if it is lost, or not yours any more, revoke it: its key can still write",
			})
		}
	}
	if s.Conflicts > 0 {
		d.add(finding{
			Check: "records", Level: levelWarning, What: counted(s.Conflicts, "conflict") + ": writes that lost to a concurrent one",
			Do: "fleetd conflicts list shows them; keep or restore settles each",
		})
	}
	if s.Parked > 0 {
		d.add(finding{Check: "records", Level: levelWarning, What: parkedText(s), Do: "fleetd status says from whom"})
	}
	if s.WantedBlobs > 0 {
		d.add(finding{
			Check: "records", Level: levelWarning, What: counted(s.WantedBlobs, "text") + " still to be fetched",
			Do: "bring a machine online that has them",
		})
	}
}
