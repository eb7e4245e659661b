package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func (a *app) stateImport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "write what a file of fleetd state export holds, and this machine does not", Args: cobra.ExactArgs(1),
		Long: `Reads a file of fleetd state export (- for standard input) and writes what it
holds live, and this machine does not hold alike: sessions with their turns,
skills and memory items. This machine is then who wrote them. What says something
else here is replaced, what is deleted here is there again, and nothing is
deleted. Outcomes are not imported: other machines of the fleet hold them. A file
that cannot be read writes nothing, and importing twice changes nothing the
second time.`,
		Example: "  fleetd state import backup.json --dry-run",
	}
	dryRun := cmd.Flags().Bool("dry-run", false, "say what would be written, and write nothing")
	return a.verb(cmd, func(ctx context.Context, args []string) error {
		snapshot, err := a.readState(args[0])
		if err != nil {
			return err
		}
		parts, tooLarge := partsOf(snapshot)
		if len(parts) == 0 {
			parts = []statePart{{}} // whether there is a daemon is asked all the same
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		total := wire.ImportReply{SchemaVersion: wire.SchemaVersion, DryRun: *dryRun, Refused: []wire.ImportRefusal{}}
		for i, part := range parts {
			payload, err := state.MarshalSnapshot(part.Snapshot)
			if err != nil {
				return err
			}
			reply, err := c.Import(ctx, wire.ImportRequest{DryRun: *dryRun, Snapshot: payload})
			if err != nil {
				f := *a.explain(err)
				f.text = fmt.Sprintf("%d of %d parts of the file are done: %s", i, len(parts), f.text)
				f.next += "; import it again then: what is there is not written twice"
				return &f
			}
			part.addTo(&total, reply)
		}
		for _, refusal := range tooLarge {
			countOf(&total, refusal.Kind).Refused++
			total.Refused = append(total.Refused, refusal)
		}
		return a.printImported(total)
	})
}

// readState reads a file of fleetd state export.
func (a *app) readState(path string) (state.Snapshot, error) {
	var payload []byte
	var err error
	if path == "-" {
		payload, err = io.ReadAll(a.in)
	} else {
		payload, err = os.ReadFile(path) //nolint:gosec // the caller's own user names it
	}
	if err != nil {
		return state.Snapshot{}, failed(exitError, "name a file that fleetd state export wrote", "%w", err)
	}
	snapshot, err := state.ReadSnapshot(payload)
	if err != nil {
		return state.Snapshot{}, failed(exitError, "name a file that fleetd state export wrote; nothing was written", "%s: %w", path, err)
	}
	return snapshot, nil
}

// printImported prints what was done, also when some records were refused, which
// is an error.
func (a *app) printImported(r wire.ImportReply) error {
	err := a.print(r, func(w io.Writer) {
		rows := [][]string{}
		for _, k := range []struct {
			name   string
			counts wire.ImportCounts
		}{{"sessions", r.Sessions}, {"turns", r.Turns}, {"skills", r.Skills}, {"memory", r.Items}} {
			rows = append(rows, []string{
				k.name, strconv.Itoa(k.counts.Created), strconv.Itoa(k.counts.Updated), strconv.Itoa(k.counts.Equal), strconv.Itoa(k.counts.Refused),
			})
		}
		a.table(w, []string{"RECORDS", "CREATED", "UPDATED", "EQUAL", "REFUSED"}, rows)
		for _, refusal := range r.Refused {
			say(w, "refused: %s %s, scope %s: %s", oneLine(refusal.Kind), oneLine(refusal.Key), oneLine(scopeText(refusal.Scope)), oneLine(refusal.Reason))
		}
		if r.Held > 0 {
			say(w, "%s held back for secrets: fleetd secrets list", counted(r.Held, "record"))
		}
		if r.DryRun {
			say(w, "nothing was written: this was a dry run")
		}
	})
	if err != nil || len(r.Refused) == 0 {
		return err
	}
	return &failure{
		text: refusedText(len(r.Refused)), code: exitError, told: true,
		next: "the reasons stand above; all others are here",
	}
}

func refusedText(n int) string {
	if n == 1 {
		return "1 record of the file was refused"
	}
	return fmt.Sprintf("%d records of the file were refused", n)
}
