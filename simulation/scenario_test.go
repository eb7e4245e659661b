package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
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

// TestWritesDuringAPageTransfer holds that what is written behind the place that
// a transfer has reached is fetched by the feed afterwards.
func TestWritesDuringAPageTransfer(t *testing.T) {
	plan := simulation.Calm(9, 2)
	plan.Gossip, plan.PageBytes, plan.Absent = false, 1000, []int{1}
	c := newCluster(t, plan)
	for k := range 200 {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 6001 + 6*k}) // memory items of the global scope
	}
	c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 1})
	for k := range 40 {
		c.RunFor(250 * time.Millisecond)
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1 + 6*k}) // before most others in order
		c.Do(simulation.Step{Act: simulation.ActAudit})
	}
	if n := c.Coverage().Markers[simulation.SometimesPage]; n < 10 {
		t.Errorf("%d pages, want a long transfer", n)
	}
	finish(t, c)
}

// TestTwoHalvesMeet holds that two replicas that never met, each with more than
// one request can ask for, become one.
func TestTwoHalvesMeet(t *testing.T) {
	c := newCluster(t, simulation.Calm(8, 2))
	c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 1})
	c.RunFor(time.Minute)
	const each = 2_200 // a GET asks for 2,048
	for k := range 2 * each {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 2, Count: 1 + 6*k}) // a memory item of the global scope
	}
	c.Do(simulation.Step{Act: simulation.ActReturn, Replica: 1})
	finish(t, c)
	if n := c.Replica(0).Store().State(merge.Section{Family: "memory"}).Count; n != 2*each {
		t.Errorf("%d versions, want %d", n, 2*each)
	}
	if n := c.Traffic(fleetsync.TypeGet).Messages; n < 4 {
		t.Errorf("%d requests for 2 times %d records", n, each)
	}
}

// TestAFullRoomIsNotPassed holds that what was refused room among the parked
// counts as received nowhere, and keeps nothing back that follows it.
func TestAFullRoomIsNotPassed(t *testing.T) {
	plan := simulation.Calm(6, 3)
	plan.Gossip, plan.PageBytes, plan.ParkedMax = false, 2000, 2
	plan.Grants[1], plan.Absent, plan.Topology = simulation.GrantLate, []int{2}, simulation.Line
	c := newCluster(t, plan)
	c.RunFor(30 * time.Second)
	for k := range 200 { // memory items of the global scope
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 2, Count: 1 + 6*k})
	}
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 2})
	for range 10 {
		c.RunFor(5 * time.Second)
		c.Do(simulation.Step{Act: simulation.ActAudit})
	}
	if n := c.Replica(2).Store().State(merge.Section{Family: "memory"}).Count; n != 100 {
		t.Errorf("the joiner holds %d versions, want the 100 that are admitted", n)
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	if c.Coverage().Markers[simulation.SometimesRefused] == 0 || c.Coverage().Markers[simulation.SometimesPage] == 0 {
		t.Errorf("nothing was refused, or no page was fetched: %s", c.Coverage())
	}
	finish(t, c)
}
