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

// TestACutLineIsThatOfTwoSites holds that a cut line is dead for every replica
// of the one site towards every one of the other, and for nobody else, and ends.
func TestACutLineIsThatOfTwoSites(t *testing.T) {
	plan := simulation.Calm(13, 4)
	plan.Sites = []int{0, 0, 1, 2}
	c := newCluster(t, plan)
	c.RunFor(5 * time.Second)
	has := func(replica int) bool {
		return c.Replica(replica).Store().State(merge.Section{Family: "skill"}).Count > 0
	}
	for _, line := range [][2]int{{0, 2}, {3, 2}} {
		c.Do(simulation.Step{Act: simulation.ActCutLine, Replica: line[0], Peer: line[1], For: time.Hour})
	}
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1})
	c.RunFor(30 * time.Minute)
	if !has(0) || !has(3) || has(2) {
		t.Errorf("the write of replica 1 is at 0: %t, at 3: %t, at 2: %t; want all but 2", has(0), has(3), has(2))
	}
	c.RunFor(31 * time.Minute)
	if !has(2) {
		t.Error("replica 2 lacks the write after the lines were mended")
	}
	finish(t, c)
}

// TestAStepSaysHowLargeABodyIs holds that Bytes is the size of what is written.
func TestAStepSaysHowLargeABodyIs(t *testing.T) {
	c := newCluster(t, simulation.Calm(14, 2))
	c.Do(simulation.Step{Act: simulation.ActWrite, Count: 0, Bytes: 5000})
	c.Do(simulation.Step{Act: simulation.ActBurst, Count: 1, Bytes: 300})
	skills, err := c.Replica(0).State().Skills().List(t.Context(), merge.Scope{})
	if err != nil || len(skills) != 1 || len(skills[0].Body) != 5000 {
		t.Errorf("%d skills (%v), want one of 5000 bytes", len(skills), err)
	}
	for _, scope := range []merge.Scope{{}, {Project: "web"}, {Project: "web", Workspace: "feature"}} {
		items, err := c.Replica(0).State().MemoryLibrary().List(t.Context(), scope, "")
		if err != nil {
			t.Error(err)
		}
		for _, item := range items {
			if len(item.Content) != 300 {
				t.Errorf("an item of %d bytes, want 300", len(item.Content))
			}
		}
	}
	finish(t, c)
}
