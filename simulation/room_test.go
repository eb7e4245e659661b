package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

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
	if c.Coverage().Markers[simulation.SometimesRefused] == 0 || c.Coverage().Markers[simulation.SometimesPageResumed] == 0 {
		t.Errorf("nothing was refused, or no transfer was resumed: %s", c.Coverage())
	}
	finish(t, c)
}
