package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// TestEveryDirectionHasItsWeather holds that a line has the weather of its own
// direction alone: what is written behind a line that loses everything stays
// there, and arrives once it is whole.
func TestEveryDirectionHasItsWeather(t *testing.T) {
	plan := simulation.Calm(11, 3)
	plan.Sites = []int{0, 1, 2}
	dead := simulation.Weather{Loss: 1, GossipLoss: 1}
	far := simulation.Weather{LatencyMin: 400 * time.Millisecond, LatencyMax: 400 * time.Millisecond}
	plan.Paths = []simulation.Path{
		{From: 0, To: 1, Weather: dead},
		{From: 0, To: 2, Weather: far},
		{From: 2, To: 1, Weather: dead},
	}
	c := newCluster(t, plan)
	c.RunFor(5 * time.Second)
	has := func(replica int) bool {
		return c.Replica(replica).Store().State(merge.Section{Family: "skill"}).Count > 0
	}
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0})
	c.RunFor(390 * time.Millisecond)
	if has(2) {
		t.Error("replica 2 has the write before it can have arrived")
	}
	c.RunFor(100 * time.Millisecond)
	if !has(2) {
		t.Error("replica 2 lacks the write although it must have arrived")
	}
	c.RunFor(time.Minute)
	if has(1) {
		t.Error("replica 1 has the write through lines that lose everything")
	}
	finish(t, c)
}

// TestLinesStayLong holds that a healed fleet keeps the latency of its lines,
// and is still in time.
func TestLinesStayLong(t *testing.T) {
	plan := simulation.Calm(12, 4)
	plan.Sites = []int{0, 0, 1, 1}
	slow := simulation.Weather{LatencyMin: 800 * time.Millisecond, LatencyMax: 900 * time.Millisecond}
	plan.Paths = []simulation.Path{{From: 0, To: 1, Weather: slow}, {From: 1, To: 0, Weather: slow}}
	plan.Gossip = false
	c := newCluster(t, plan)
	c.Do(simulation.Step{Act: simulation.ActBurst, Replica: 3, Count: 20})
	finish(t, c)
	if c.Took() < 800*time.Millisecond {
		t.Errorf("converged after %s over lines of 800ms", c.Took())
	}
}
