package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/store"
)

// Pauses between two questions. A probe asks the whole fleet, so it is asked
// less often than the daemon alone.
const (
	readyEvery    = 50 * time.Millisecond
	convergeEvery = 200 * time.Millisecond
	// lookTimeout bounds one question that is asked without a timeout. It is above
	// what the daemon lets members take.
	lookTimeout = 10 * time.Second
)

func (a *app) waitCommand() *cobra.Command {
	return a.group("wait", "wait for a state, with a timeout", a.waitReady(), a.waitConverged())
}

func addTimeout(cmd *cobra.Command) *time.Duration {
	return cmd.Flags().Duration("timeout", 30*time.Second, "how long to wait; 0 looks once")
}

func checkTimeout(timeout time.Duration) error {
	if timeout < 0 {
		return usage(fmt.Sprintf("--timeout %s: want 0, which looks once, or more", timeout), "")
	}
	return nil
}

func (a *app) waitReady() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ready", Short: "until the daemon serves its fleet", Args: cobra.NoArgs,
		Long: `Asks the daemon again and again until every check of /readyz holds: the node runs
and listens, its store can be read and takes writes, and no write is refused
because of the clock. When the time is over it names the checks that fail, and
exits 1; without a daemon it exits 3, at once where there is no instance.`,
	}
	timeout := addTimeout(cmd)
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if err := checkTimeout(*timeout); err != nil {
			return err
		}
		var health wire.Health
		done, err := poll(ctx, *timeout, readyEvery, func(ctx context.Context) (bool, error) {
			// A daemon chooses its socket when it starts: look each time anew.
			c, err := a.connect()
			if err != nil {
				return false, err
			}
			defer c.Close()
			health, err = c.Ready(ctx)
			if errors.Is(err, client.ErrNotRunning) && !a.hasInstance() {
				return false, err // nothing can come up here
			}
			if errors.Is(err, client.ErrNotRunning) || errors.Is(err, client.ErrLost) {
				return false, nil
			}
			return health.OK, err
		})
		switch {
		case err != nil:
			return err
		case done:
			return a.print(health, func(w io.Writer) { say(w, "ready") })
		case len(health.Checks) == 0:
			f := a.notRunning()
			f.text = fmt.Sprintf("not ready after %s: %s", *timeout, f.text)
			return f
		default:
			failing, next := unready(health)
			return &failure{text: plain(fmt.Errorf("not ready after %s: %s", *timeout, failing)), code: exitError, next: next, result: health}
		}
	})
}

// unready names the checks that failed, and what to do about the first of them.
func unready(health wire.Health) (failing, next string) {
	var names []string
	for _, c := range health.Checks {
		if c.OK {
			continue
		}
		if names = append(names, c.Name+": "+c.Detail); next == "" {
			next = checkAdvice(c)
		}
	}
	return strings.Join(names, "; "), next
}

// checkAdvice says what to do about a check that fails.
func checkAdvice(c wire.Check) string {
	switch {
	case c.Name == wire.CheckClock:
		return clockAdvice
	case c.Name == wire.CheckWrites && strings.Contains(c.Detail, store.ErrFull.Error()):
		return fullAdvice
	case c.Name == wire.CheckWrites, c.Name == wire.CheckStore:
		return "look at the daemon's log and at the disk of the data directory, then stop the daemon and start it again"
	}
	return "look at the daemon's log"
}

func (a *app) waitConverged() *cobra.Command {
	cmd := &cobra.Command{
		Use: "converged", Short: "until every member that answers holds the same as this node", Args: cobra.NoArgs,
		Long: `Asks every other member for the digest of what it holds, again and again, until
at least one answers and all that answer hold the same as this node. A fleet of
one is converged at once. Members that do not answer are named, and do not count.
Exits 6 when the time is over.`,
	}
	timeout := addTimeout(cmd)
	return a.verb(cmd, func(ctx context.Context, _ []string) error {
		if err := checkTimeout(*timeout); err != nil {
			return err
		}
		c, err := a.connect()
		if err != nil {
			return err
		}
		defer c.Close()
		var probe wire.Probe
		done, err := poll(ctx, *timeout, convergeEvery, func(ctx context.Context) (bool, error) {
			asked, err := c.Probe(ctx)
			if err != nil {
				return false, err
			}
			probe = asked
			return probe.Converged, nil
		})
		switch {
		case err != nil:
			return err
		case !done:
			a.nameSilent(ctx, c, &probe)
			return &failure{
				text: fmt.Sprintf("not converged after %s: %s", *timeout, outcome(probe)), code: exitNotConverged,
				next: "fleetd status says who is behind", result: probe,
			}
		}
		return a.print(probe, func(w io.Writer) { say(w, "converged: %s", outcome(probe)) })
	})
}

// nameSilent fills a probe whose answer did not come in time with the members
// that there are. None of them answered.
func (a *app) nameSilent(ctx context.Context, c *client.Client, probe *wire.Probe) {
	if probe.SchemaVersion != 0 {
		return
	}
	probe.SchemaVersion, probe.Members = wire.SchemaVersion, []wire.Answer{}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	status, err := c.Status(ctx)
	if err != nil {
		return // the daemon is busy or gone: the outcome says that nobody answered
	}
	probe.Root = status.Root
	for _, m := range status.Members {
		if m.State != wire.StateSelf {
			probe.Members = append(probe.Members, wire.Answer{ID: m.ID, Name: m.Name, Why: stateText(m)})
		}
	}
}

// outcome says who answered what.
func outcome(probe wire.Probe) string {
	switch {
	case len(probe.Members) > 0:
	case probe.Converged:
		return "this node is the whole fleet"
	default:
		return "no answer in time"
	}
	var equal, different, silent []string
	for _, m := range probe.Members {
		switch {
		case !m.Answered:
			silent = append(silent, oneLine(m.Name))
		case m.Equal:
			equal = append(equal, oneLine(m.Name))
		default:
			different = append(different, oneLine(m.Name))
		}
	}
	var parts []string
	for _, p := range []struct {
		names []string
		verb  string
	}{{equal, "equal"}, {different, "different"}, {silent, "no answer"}} {
		if len(p.names) > 0 {
			parts = append(parts, p.verb+" "+strings.Join(p.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// poll asks until ready says yes, the time is over, or something fails. What
// fails because the time is over counts as not ready. Without any time it asks
// once.
func poll(ctx context.Context, timeout, every time.Duration, ready func(context.Context) (bool, error)) (bool, error) {
	if timeout == 0 {
		limited, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		return ready(limited)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		yes, err := ready(limited)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case limited.Err() != nil:
			return yes && err == nil, nil
		case yes || err != nil:
			return yes, err
		}
		select {
		case <-limited.Done():
		case <-ticker.C:
		}
	}
}
