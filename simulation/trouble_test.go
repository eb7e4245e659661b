package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// memories is the section of the memory items of the global scope; those have
// the keys 1, 7, 13 and so on.
var memories = merge.Section{Family: "memory"}

func held(c *simulation.Cluster, replica int) int64 {
	return c.Replica(replica).Store().State(memories).Count
}

// TestANarrowLineTakesItsTime holds that a line carries what it can and no more,
// and that what does not fit its queue vanishes and is brought by the feed.
func TestANarrowLineTakesItsTime(t *testing.T) {
	plan := simulation.Calm(21, 2)
	plan.Weather = simulation.Weather{Bandwidth: 2_000}
	c := newCluster(t, plan)
	c.RunFor(20 * time.Second)
	for k := range 200 { // of about 250 bytes
		c.RunFor(10 * time.Millisecond)
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1 + 6*k})
	}
	if n := held(c, 1); n < 5 || n > 30 {
		t.Errorf("%d records after 2s at 2,000 bytes a second", n)
	}
	for _, f := range []simulation.Fault{simulation.FaultThrottle, simulation.FaultOverflow} {
		if c.Coverage().Faults[f] == 0 {
			t.Errorf("no message met the fault %q", f)
		}
	}
	finish(t, c)
	if n := held(c, 1); n != 200 {
		t.Errorf("%d records in the end, want 200", n)
	}
}

// TestAThrottleEnds holds that what waits on a slow line goes on at once when the
// line is as fast as before.
func TestAThrottleEnds(t *testing.T) {
	plan := simulation.Calm(22, 2)
	plan.HeartbeatEvery = time.Hour
	c := newCluster(t, plan)
	c.RunFor(20 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActThrottle, Replica: 0, Peer: 1, Count: 1, For: 5 * time.Second})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1})
	c.RunFor(4900 * time.Millisecond)
	if n := held(c, 1); n != 0 {
		t.Error("a record arrives at 1 byte a second")
	}
	c.RunFor(300 * time.Millisecond)
	if n := held(c, 1); n != 1 {
		t.Error("the record does not arrive once the line is fast again")
	}
}

// TestACloggedLineLosesNothing holds that clogging delays and does no more.
func TestACloggedLineLosesNothing(t *testing.T) {
	plan := simulation.Calm(23, 4)
	plan.HeartbeatEvery = time.Hour
	c := newCluster(t, plan)
	c.RunFor(20 * time.Second)
	for r := range 4 {
		c.Do(simulation.Step{Act: simulation.ActClog, Replica: r, For: 20 * time.Second})
	}
	for k := range 10 {
		c.RunFor(time.Second)
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 4, Count: 1 + 6*k})
	}
	if c.Coverage().Faults[simulation.FaultClog] == 0 {
		t.Error("no message had to wait")
	}
	c.RunFor(11 * time.Second)
	for r := range 4 {
		if n := held(c, r); n != 10 {
			t.Errorf("replica %d has %d records without any heartbeat, want 10", r, n)
		}
	}
}

// TestADamagedMessageEndsItsConnection holds that nothing damaged is taken for a
// message, and that the fleet is one again afterwards.
func TestADamagedMessageEndsItsConnection(t *testing.T) {
	c := newCluster(t, simulation.Calm(24, 2))
	c.RunFor(20 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActCorrupt, Replica: 0, Peer: 1, Count: 100, For: time.Minute})
	for k := range 10 {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1 + 6*k})
		c.RunFor(5 * time.Second)
	}
	if n := held(c, 1); n != 0 {
		t.Errorf("%d records passed a line that damages all", n)
	}
	if n := c.Coverage().Faults[simulation.FaultCorrupt]; n < 10 {
		t.Errorf("%d messages were damaged, want some of each connection", n)
	}
	finish(t, c)
}

// TestAMonthOldMessageRevivesNothing holds that a deleted record stays deleted
// when the network gives back, after a month, what it was created with.
func TestAMonthOldMessageRevivesNothing(t *testing.T) {
	const month = 30 * 24 * time.Hour
	plan := simulation.Calm(25, 3)
	c := newCluster(t, plan)
	c.RunFor(20 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActHoard, Replica: 0, Peer: 1, Count: 20, For: month})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1})
	c.RunFor(30 * time.Second)
	c.Do(simulation.Step{Act: simulation.ActDelete, Replica: 1, Count: 1})
	c.RunFor(30 * time.Second)
	if c.Coverage().Faults[simulation.FaultLate] != 0 {
		t.Error("something is late before its time")
	}
	c.Do(simulation.Step{Act: simulation.ActJump, For: month})
	c.RunFor(30 * time.Second)
	if n := c.Coverage().Faults[simulation.FaultLate]; n < 5 {
		t.Errorf("%d messages came back after a month", n)
	}
	finish(t, c)
}
