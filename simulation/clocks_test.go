package simulation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// memoryCount is how many memory items of the global scope a replica holds.
func memoryCount(c *simulation.Cluster, replica int) int64 {
	return c.Replica(replica).Store().State(merge.Section{Family: "memory"}).Count
}

// write lets the agent of a replica write one memory item.
func write(t *testing.T, c *simulation.Cluster, replica int) error {
	t.Helper()
	_, err := c.Replica(replica).State().Memory().Write(t.Context(), state.MemoryItem{Kind: "fact", Content: "text"})
	return err
}

// TestAFrozenClock holds that hundreds of writes of one instant have a stamp
// each, and that a clock that goes on again goes on.
func TestAFrozenClock(t *testing.T) {
	c := newCluster(t, simulation.Calm(31, 3))
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActFreeze, Replica: 1, For: 4 * time.Minute})
	for range 5 {
		c.RunFor(30 * time.Second)
		for range 60 {
			if err := write(t, c, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	walls := map[int64]int{}
	err := c.Replica(1).Store().View(func(r *store.Reader) error {
		return r.Feed(merge.Section{Family: "memory"}, 0, func(e store.FeedEntry) bool {
			walls[e.Stamp.Wall]++
			return true
		})
	})
	if err != nil || len(walls) != 1 {
		t.Errorf("300 writes of a clock that stood still have %d times: %v", len(walls), err)
	}
	c.RunFor(5 * time.Minute)
	if err := write(t, c, 1); err != nil {
		t.Error(err)
	}
	finish(t, c)
	if n := memoryCount(c, 2); n != 301 {
		t.Errorf("replica 2 holds %d items, want 301", n)
	}
}

// TestAMachineThatStartsIn1970 holds that a machine whose battery has died takes
// nothing from what is its future, and everything once its clock is set, without
// a restart and without asking anybody for it again.
func TestAMachineThatStartsIn1970(t *testing.T) {
	c := newCluster(t, simulation.Calm(32, 3))
	c.RunFor(time.Minute)
	if err := write(t, c, 1); err != nil {
		t.Fatal(err)
	}
	c.Do(simulation.Step{Act: simulation.ActEpoch, Replica: 1, For: 10 * time.Minute})
	c.RunFor(2 * time.Minute)
	for range 20 {
		if err := write(t, c, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.RunFor(2 * time.Minute)
	if n := memoryCount(c, 1); n != 1 {
		t.Errorf("in 1970 it holds %d items, want its own", n)
	}
	if err := write(t, c, 1); !errors.Is(err, hlc.ErrClockAhead) {
		t.Errorf("in 1970 it writes with %v, want ErrClockAhead", err)
	}
	fetches := func() uint64 {
		counters := c.Replica(1).Engine().Counters()
		return counters.Pulls - counters.Audits
	}
	parked, before := c.Coverage().Markers[simulation.SometimesParkedFuture], fetches()
	if parked < 20 {
		t.Errorf("%d versions wait for their time, want 20", parked)
	}
	c.RunFor(7 * time.Minute)
	if n := memoryCount(c, 1); n != 21 {
		t.Errorf("with its clock set it holds %d items, want 21", n)
	}
	if after := fetches(); after > before+2 {
		t.Errorf("it fetched %d times, %d before its clock was set: it fetches what it had", after, before)
	}
	if err := write(t, c, 1); err != nil {
		t.Errorf("with its clock set: %v", err)
	}
	finish(t, c)
}

// TestAClockPutBackUnderAProcess holds that replication goes on whatever the
// time of day is, and that nothing is stamped before what came before it.
func TestAClockPutBackUnderAProcess(t *testing.T) {
	for _, back := range []time.Duration{2 * time.Minute, 3 * time.Hour} {
		c := newCluster(t, simulation.Calm(33, 3))
		c.RunFor(time.Minute)
		if err := write(t, c, 1); err != nil {
			t.Fatal(err)
		}
		c.RunFor(time.Minute)
		c.Do(simulation.Step{Act: simulation.ActStep, Replica: 1, For: -back})
		beats := c.Traffic(fleetsync.TypeHeartbeat).Messages
		err := write(t, c, 1) // the model holds it to its stamps
		if far := back > hlc.DriftMax; errors.Is(err, hlc.ErrClockAhead) != far || !far && err != nil {
			t.Errorf("%s back it writes with %v", back, err)
		}
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1})
		c.RunFor(2 * time.Minute)
		if c.Traffic(fleetsync.TypeHeartbeat).Messages < beats+10 {
			t.Errorf("%s back: no heartbeats any more", back)
		}
		finish(t, c)
	}
}

// TestAStoppedProcess holds that whoever stood still, or slept, has caught up
// soon after it goes on, and that what it had done before is everywhere.
func TestAStoppedProcess(t *testing.T) {
	for _, act := range []simulation.Act{simulation.ActPause, simulation.ActSuspend} {
		c := newCluster(t, simulation.Calm(34, 3))
		c.RunFor(time.Minute)
		if err := write(t, c, 1); err != nil {
			t.Fatal(err)
		}
		c.Do(simulation.Step{Act: act, Replica: 1, For: 3 * time.Hour})
		for range 12 {
			c.RunFor(15 * time.Minute)
			for range 5 {
				if err := write(t, c, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := memoryCount(c, 1); n != 1 {
			t.Errorf("%s: it holds %d items while it stands still", act, n)
		}
		if n := len(c.Replica(0).Engine().Peers()); n != 1 {
			t.Errorf("%s: replica 0 is connected with %d, want the one that answers", act, n)
		}
		c.RunFor(time.Minute)
		for n := range 3 {
			if got := memoryCount(c, n); got != 61 {
				t.Errorf("%s: a minute after replica %d holds %d items, want 61", act, n, got)
			}
		}
		finish(t, c)
	}
}
