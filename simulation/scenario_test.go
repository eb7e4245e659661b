package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
)

func newCluster(t *testing.T, plan simulation.Plan) *simulation.Cluster {
	t.Helper()
	c, err := simulation.New(plan, simulation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// finish ends the faults of a scenario and checks what is left.
func finish(t *testing.T, c *simulation.Cluster) {
	t.Helper()
	for _, end := range []func() error{c.Heal, c.Converge, c.Check} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAStrangerIsHeardByNobody holds that what nothing admits shows nowhere, and
// that a difference which nobody can settle costs no traffic for ever.
func TestAStrangerIsHeardByNobody(t *testing.T) {
	plan := simulation.Calm(2, 4)
	plan.Grants[3] = simulation.GrantNever
	c := newCluster(t, plan)
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 3, Count: 1})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1, Count: 2})
	finish(t, c) // fails when it still pulls in the end
	for n := range 3 {
		items, err := c.Replica(n).State().Memory().Recall(t.Context(), state.RecallQuery{})
		if err != nil || len(items) != 0 {
			t.Errorf("replica %d shows %d items of a stranger, %v", n, len(items), err)
		}
	}
	if c.Coverage().Markers[simulation.SometimesParked] == 0 {
		t.Error("nothing was parked")
	}
}

// TestConvergenceWithinThreeHeartbeatsAHop holds the promise without the
// allowance that Bound makes for what faults leave behind.
func TestConvergenceWithinThreeHeartbeatsAHop(t *testing.T) {
	for _, topology := range []simulation.Topology{simulation.Mesh, simulation.Ring, simulation.Line, simulation.Star} {
		for _, replicas := range []int{2, 3, 7, 12} {
			plan := simulation.Calm(3, replicas)
			plan.Topology, plan.Gossip = topology, false
			c := newCluster(t, plan)
			c.RunFor(time.Minute)
			for n := range replicas {
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: n})
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: 0})
			}
			finish(t, c)
			hops := topology.Diameter(replicas)
			if topology == simulation.Mesh && replicas > 5 {
				hops++ // partners of partners
			}
			if limit := 3 * time.Duration(hops) * plan.HeartbeatEvery; c.Took() > limit {
				t.Errorf("a %s of %d needed %s, at most %s", topology, replicas, c.Took(), limit)
			}
			t.Logf("a %s of %d needed %s", topology, replicas, c.Took())
		}
	}
}

// TestAWriteOfUnknownOutcome holds that a write which happened although the
// disk said otherwise is either everywhere or nowhere, also when nothing else is
// written afterwards.
func TestAWriteOfUnknownOutcome(t *testing.T) {
	c := newCluster(t, simulation.Calm(1, 3))
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActDoubt, Replica: 1, Count: 1})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1})
	finish(t, c)
	if c.Coverage().Markers[simulation.SometimesUnacknowledged] == 0 {
		t.Error("the write did not happen at all")
	}
}

// TestAGrantOfUnknownOutcome is TestAWriteOfUnknownOutcome for a statement: the
// node that made it must follow it as its partners do.
func TestAGrantOfUnknownOutcome(t *testing.T) {
	plan := simulation.Calm(5, 3)
	plan.Grants[2] = simulation.GrantLate
	c := newCluster(t, plan)
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActDoubt, Replica: 0, Count: 1})
	c.Do(simulation.Step{Act: simulation.ActGrant, Replica: 2})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 2})
	if err := c.Converge(); err != nil {
		t.Fatal(err)
	}
	finish(t, c)
}
