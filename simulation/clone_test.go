package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// TestACopiedMachine holds that a machine and its copy, which both write, keep
// the fleet one: nothing that spread is lost, and all agree on the heads.
func TestACopiedMachine(t *testing.T) {
	plan := simulation.Calm(51, 4)
	plan.Absent = []int{3}
	c := newCluster(t, plan)
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActClone, Replica: 1, Peer: 3})
	if c.Replica(1).ID() != c.Replica(3).ID() || !c.Replica(3).Running() {
		t.Fatal("there is no copy")
	}
	for k := range 30 {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1 + 2*(k%2), Count: 1 + 6*k})         // a key of its own
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1 + 2*(k%2), Count: 1 + 6*(100+k/2)}) // one that both write
		c.RunFor(7 * time.Second)
		if k%5 == 4 {
			c.Do(simulation.Step{Act: simulation.ActDisconnect, Replica: 0, Peer: 1, For: 10 * time.Second})
			c.Do(simulation.Step{Act: simulation.ActDisconnect, Replica: 2, Peer: 3, For: 10 * time.Second})
		}
		c.Do(simulation.Step{Act: simulation.ActAudit})
	}
	c.Do(simulation.Step{Act: simulation.ActCrash, Replica: 1})
	c.RunFor(2 * time.Minute)
	if n := c.Replica(2).Store().State(merge.Section{Family: "memory"}).Count; n < 30+15 {
		t.Errorf("replica 2 holds %d versions, want those of all 45 keys", n)
	}
	finish(t, c)
	if c.Coverage().Faults[simulation.FaultClone] != 1 || c.Replica(3).Running() {
		t.Errorf("the copy did not write, or still runs: %s", c.Coverage())
	}
}
