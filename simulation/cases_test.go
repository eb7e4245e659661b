package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// TestCase23FarEndOfALine holds public case 23: what the end of a line of six
// wrote while it was cut off reaches the other end once it is back, without
// gossip and without a new write.
func TestCase23FarEndOfALine(t *testing.T) {
	const replicas, far = 6, 5
	plan := simulation.Calm(23, replicas)
	plan.Topology, plan.Gossip = simulation.Line, false
	c := newCluster(t, plan)
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActPartition, Group: 1 << far, For: 10 * time.Minute})
	c.RunFor(time.Minute)
	for k := range 3 {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: far, Count: 1 + 6*k})
	}
	c.RunFor(9 * time.Minute)
	if sums(c, 0) == sums(c, far) {
		t.Fatal("what was written offline is known already")
	}
	limit := time.Duration(simulation.Line.Diameter(replicas)) * 3 * plan.HeartbeatEvery
	for began := c.Clock().Now(); sums(c, 0) != sums(c, far); c.RunFor(500 * time.Millisecond) {
		if c.Clock().Now().Sub(began) > limit {
			t.Fatalf("the other end does not have it after %s", limit)
		}
	}
	finish(t, c)
}
