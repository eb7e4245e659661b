package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
)

// note is the work of an agent that writes one memory item.
func note(id string) simulation.Work {
	return func(ctx context.Context, agent state.Replica) error {
		_, err := agent.Memory().Write(ctx, state.MemoryItem{ID: id, Scope: merge.Scope{Project: "own"}, Content: id})
		return err
	}
}

// notes returns the ids that a replica shows.
func notes(t *testing.T, c *simulation.Cluster, replica int) string {
	t.Helper()
	items, err := c.Replica(replica).State().MemoryLibrary().List(t.Context(), merge.Scope{Project: "own"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestAgentsWorkWhenTheyCan holds that an own workload runs at its time, where a
// process runs, and until the cluster heals.
func TestAgentsWorkWhenTheyCan(t *testing.T) {
	plan := simulation.Calm(1, 3)
	plan.Steps = []simulation.Step{{After: 5 * time.Second, Act: simulation.ActCrash, Replica: 1, For: 10 * time.Second}}
	plan.Rest = 35 * time.Second
	beats := 0
	c, err := simulation.New(plan, simulation.Options{Workload: func(c *simulation.Cluster) {
		c.Agent(0, 0, note("a"))
		c.Agent(1, 10*time.Second, note("down"))
		c.Agent(1, 20*time.Second, note("b"))
		c.Agent(2, 50*time.Second, note("late"))
		c.Every(10*time.Second, func() { beats++ })
		c.After(30*time.Second, func() { c.Do(simulation.Step{Act: simulation.ActCrash, Replica: 2, For: time.Second}) })
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if got := notes(t, c, n); got != "a b" {
			t.Errorf("replica %d shows %q, want what was written before the healing where somebody ran", n, got)
		}
	}
	if n := c.Coverage().Faults[simulation.FaultCrash]; beats != 4 || n != 2 {
		t.Errorf("%d beats in 40 seconds, %d crashes of 2", beats, n)
	}
}

// TestWhatAgentsMustLiveWith holds that errors of disks and clocks do not fail a
// run, and that others do, by the name of a user's own check.
func TestWhatAgentsMustLiveWith(t *testing.T) {
	live := func(err error) simulation.Work {
		return func(context.Context, state.Replica) error { return err }
	}
	run := func(work func(*simulation.Cluster)) error {
		plan := simulation.Calm(2, 2)
		plan.Rest = time.Minute
		c, err := simulation.New(plan, simulation.Options{Workload: work})
		if err != nil {
			t.Fatal(err)
		}
		return c.Run()
	}
	for _, err := range []error{state.ErrNotFound, state.ErrConflict, hlc.ErrClockAhead} {
		if got := run(func(c *simulation.Cluster) { c.Agent(0, 0, live(fmt.Errorf("wrapped: %w", err))) }); got != nil {
			t.Errorf("%v fails the run: %v", err, got)
		}
	}
	if got := run(func(c *simulation.Cluster) {
		c.Do(simulation.Step{Act: simulation.ActRefuse, Replica: 0, Count: 1})
		c.Agent(0, time.Second, note("refused"))
	}); got != nil {
		t.Errorf("a failing disk fails the run: %v", got)
	}
	for what, work := range map[string]func(*simulation.Cluster){
		"replica 1: lost": func(c *simulation.Cluster) { c.Agent(1, 0, live(errors.New("lost"))) },
		"named: lost": func(c *simulation.Cluster) {
			c.Agent(1, 0, live(simulation.Named("named", errors.New("lost"))))
		},
		"only 3 notes yet": func(c *simulation.Cluster) { c.After(time.Second, func() { c.Fail("only %d notes yet", 3) }) },
	} {
		var v *simulation.Violation
		if err := run(work); !errors.As(err, &v) || v.Invariant != simulation.InvariantOwn || !strings.Contains(v.Text, what) {
			t.Errorf("got %v, want a violation of an own check: %s", err, what)
		}
	}
}

// TestAnAgentDiesWithItsProcess holds that work which goes on after the process
// died under it acknowledges nothing.
func TestAnAgentDiesWithItsProcess(t *testing.T) {
	plan := simulation.Calm(3, 2)
	plan.Rest = time.Minute
	var errs []error
	c, err := simulation.New(plan, simulation.Options{Workload: func(c *simulation.Cluster) {
		c.Agent(0, 10*time.Second, func(ctx context.Context, agent state.Replica) error {
			c.Do(simulation.Step{Act: simulation.ActCrashWrite, Replica: 0, For: time.Second}) //nolint:contextcheck // a step waits for nothing
			for _, id := range []string{"a", "b"} {
				errs = append(errs, note(id)(ctx, agent))
			}
			return errs[1]
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if len(errs) != 2 || errs[0] == nil || errs[1] == nil || notes(t, c, 0) != "" {
		t.Errorf("the agent was told %v, and replica 0 shows %q", errs, notes(t, c, 0))
	}
}
