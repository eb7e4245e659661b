package simulation_test

import (
	"maps"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// many is a fleet in which nobody is connected with everybody.
func many(seed uint64, replicas int) simulation.Plan {
	plan := simulation.Calm(seed, replicas)
	plan.Degree, plan.GossipDegree, plan.StartWithin = 8, 6, 10*time.Second
	return plan
}

// TestAFleetOfManyIsOne holds that a fleet in which each dials only some becomes
// one, by gossip and without it, and that one of many that comes late gets all.
func TestAFleetOfManyIsOne(t *testing.T) {
	for _, gossip := range []bool{true, false} {
		plan := many(51, 80)
		plan.Gossip, plan.Absent = gossip, []int{70}
		c := newCluster(t, plan)
		c.RunFor(30 * time.Second)
		for r := range 10 {
			c.Do(simulation.Step{Act: simulation.ActBurst, Replica: 7 * r, Count: 3})
		}
		c.RunFor(2 * time.Second)
		c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 70})
		finish(t, c)
	}
}

// TestDegreesBoundConnections holds that a replica of many has the connections
// that a node would have: those that it dials and those of whoever dials it.
func TestDegreesBoundConnections(t *testing.T) {
	const replicas = 100
	c := newCluster(t, many(52, replicas))
	c.RunFor(30 * time.Second)
	sum := 0
	for r := range replicas {
		n := len(c.Replica(r).Engine().Peers())
		if n < 8 {
			t.Errorf("replica %d has %d connections, and dials 8", r, n)
		}
		sum += n
	}
	if sum < replicas*13 || sum > replicas*16 {
		t.Errorf("%d connections at %d replicas that dial 8 each, want 13 to 16 a replica", sum, replicas)
	}
}

// TestGossipGoesByAMesh holds what a gossip message costs in a fleet of many: one
// for each connection of the writer, and a few for each other replica.
func TestGossipGoesByAMesh(t *testing.T) {
	const replicas = 100
	plan := many(53, replicas)
	plan.HeartbeatEvery = time.Hour
	hops, reached := 0, map[int]bool{}
	c, err := simulation.New(plan, simulation.Options{Observe: func(e simulation.Event) {
		switch {
		case e.Kind == simulation.EventSend && e.Route == simulation.RouteGossip:
			hops++
		case e.Kind == simulation.EventReceive && e.Route == simulation.RouteGossip:
			reached[e.Replica] = true
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.RunFor(30 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 3, Count: 1})
	c.RunFor(time.Second)
	if len(reached) != replicas-1 {
		t.Errorf("%d of %d replicas heard of the write within a second", len(reached), replicas-1)
	}
	if hops < 3*replicas || hops > 12*replicas {
		t.Errorf("%d messages for %d replicas, want 3 to 12 each", hops, replicas)
	}
}

// TestDisksOfAnImageAreWhole holds that a disk made of an image is the same, to
// the last row, as one that took the records in itself.
func TestDisksOfAnImageAreWhole(t *testing.T) {
	merged, imaged, err := simulation.FoundingDisks(simulation.Calm(54, 5))
	if err != nil {
		t.Fatal(err)
	}
	for r := range merged {
		if len(merged[r]) < 10 || !maps.Equal(merged[r], imaged[r]) {
			t.Errorf("replica %d has %d rows on its disk, and %d on that of an image, or others", r, len(merged[r]), len(imaged[r]))
		}
	}
}
