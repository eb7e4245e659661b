package simulation_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// holdsWrite reports whether a replica holds the skill that a test wrote.
func holdsWrite(c *simulation.Cluster, replica int) bool {
	return c.Replica(replica).Store().State(merge.Section{Family: "skill"}).Count > 0
}

// TestWhoIsAwayStaysAwayWhenOthersReturn holds that the return of one replica
// connects it with none that is away, and that connections which were severed
// before may not begin while one end is away either.
func TestWhoIsAwayStaysAwayWhenOthersReturn(t *testing.T) {
	c := newCluster(t, simulation.Calm(15, 3))
	c.RunFor(5 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActDisconnect, Replica: 0, Peer: 1, For: time.Minute})
	for _, step := range []simulation.Step{
		{Act: simulation.ActAbsence, Replica: 1},
		{Act: simulation.ActAbsence, Replica: 2},
		{Act: simulation.ActWrite, Replica: 0},
		{Act: simulation.ActReturn, Replica: 2},
	} {
		c.Do(step)
		c.RunFor(5 * time.Minute)
	}
	if holdsWrite(c, 1) || !holdsWrite(c, 2) {
		t.Errorf("the write is at 1, which is away: %t, and at 2: %t", holdsWrite(c, 1), holdsWrite(c, 2))
	}
	c.Do(simulation.Step{Act: simulation.ActReturn, Replica: 1})
	c.RunFor(time.Minute)
	if !holdsWrite(c, 1) {
		t.Error("replica 1 lacks the write a minute after its return")
	}
	finish(t, c)
}

// TestACutOutlastsAShorterOne holds that the end of one cut does not mend a link
// that is cut by another.
func TestACutOutlastsAShorterOne(t *testing.T) {
	c := newCluster(t, simulation.Calm(16, 2))
	c.RunFor(5 * time.Second)
	for _, step := range []simulation.Step{
		{Act: simulation.ActPartition, Group: 1, For: time.Hour},
		{Act: simulation.ActPartition, Group: 2, For: time.Minute},
		{Act: simulation.ActAsymmetric, Replica: 0, Peer: 1, For: time.Minute},
		{Act: simulation.ActWrite, Replica: 0},
	} {
		c.Do(step)
	}
	c.RunFor(55 * time.Minute)
	if holdsWrite(c, 1) {
		t.Error("the write crossed a partition that goes on")
	}
	c.RunFor(10 * time.Minute)
	if !holdsWrite(c, 1) {
		t.Error("replica 1 lacks the write after the partition")
	}
	finish(t, c)
}

// TestAClockMayBeFarAheadFromTheBegin holds that such a replica is not taken for
// an honest one, and that the fleet takes what it wrote when its time has come.
func TestAClockMayBeFarAheadFromTheBegin(t *testing.T) {
	plan := simulation.Calm(18, 3)
	plan.Skews[2] = 8 * time.Minute
	for n := range 3 {
		plan.Steps = append(plan.Steps, simulation.Step{After: 20 * time.Second, Act: simulation.ActWrite, Replica: n})
	}
	c, err := simulation.Run(plan, simulation.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Coverage().Faults[simulation.FaultDrift] != 1 || c.Coverage().Markers[simulation.SometimesParkedFuture] == 0 {
		t.Errorf("it was not far ahead: %s", c.Coverage())
	}
}

// TestAStoppedRunEndsSoon holds that Stop ends a run of years within a second of
// its time, and is no violation.
func TestAStoppedRunEndsSoon(t *testing.T) {
	plan := simulation.Calm(17, 2)
	plan.Rest = 50 * 365 * 24 * time.Hour
	asked := 0
	c, err := simulation.Run(plan, simulation.Options{Stop: func() bool { asked++; return asked > 100 }}, nil)
	var v *simulation.Violation
	if !errors.Is(err, simulation.ErrStopped) || errors.As(err, &v) {
		t.Errorf("error %v, want ErrStopped", err)
	}
	if asked > 110 || c.Clock().Elapsed() < plan.Rest {
		t.Errorf("asked %d times, at %s", asked, c.Clock().Elapsed())
	}
}

// TestAStoppedRunEndsInTheMiddleOfAnInstant holds that Stop is asked where no time
// passes either: before each replica, step, and write of a burst.
func TestAStoppedRunEndsInTheMiddleOfAnInstant(t *testing.T) {
	burst := simulation.Calm(17, 2)
	burst.Steps = []simulation.Step{{Act: simulation.ActBurst, Count: 100_000}}
	steps := simulation.Calm(17, 2)
	steps.Steps = slices.Repeat([]simulation.Step{{Act: simulation.ActWrite}}, 100_000)
	for name, plan := range map[string]simulation.Plan{"burst": burst, "steps": steps, "replicas": simulation.Calm(17, 500)} {
		asked := 0
		_, err := simulation.Run(plan, simulation.Options{Stop: func() bool { asked++; return asked > 100 }}, nil)
		if !errors.Is(err, simulation.ErrStopped) || asked > 110 {
			t.Errorf("%s: error %v, asked %d times", name, err, asked)
		}
	}
}

// TestAPlanOfASize holds that the size of a drawn fleet can be chosen, that every
// size can be drawn and that such fleets converge.
func TestAPlanOfASize(t *testing.T) {
	const joiners = 8
	for _, size := range []int{simulation.DrawnMin, 9, simulation.DrawnMax} {
		for seed := range uint64(200) {
			plan := simulation.NewPlanOf(seed, size)
			if err := plan.Validate(); err != nil || plan.Replicas < size || plan.Replicas > size+joiners {
				t.Fatalf("seed %d: a fleet of %d, want %d and those that join: %v", seed, plan.Replicas, size, err)
			}
		}
		if size == simulation.DrawnMax {
			continue // a run takes half a minute
		}
		if _, err := simulation.Run(simulation.NewPlanOf(77, size), simulation.Options{}, nil); err != nil {
			t.Errorf("a fleet of %d: %v", size, err)
		}
	}
	if diff := cmp.Diff(simulation.NewPlan(79), simulation.NewPlanOf(79, 0)); diff != "" {
		t.Errorf("a size of 0 is none:\n%s", diff)
	}
}
