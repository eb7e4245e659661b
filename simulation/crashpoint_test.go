package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// TestPowerLossInEveryUpdate lets the power go in every single update of a
// workload, in each of the three ways: nothing of the update is on the disk, or
// a part, or all of it, which nobody was told. The machine starts again, its
// rows agree, and the fleet owes nobody anything (I2, I3, I14).
func TestPowerLossInEveryUpdate(t *testing.T) {
	for _, way := range []struct {
		act   simulation.Act
		fault simulation.Fault
	}{
		{simulation.ActPowerLost, simulation.FaultPowerLost},
		{simulation.ActPowerTorn, simulation.FaultPowerTorn},
		{simulation.ActPowerWhole, simulation.FaultPowerWhole},
	} {
		t.Run(string(way.act), func(t *testing.T) {
			t.Parallel()
			const few = 50 // the workload has more updates than that
			for n := 1; ; n++ {
				happened := powerLossIn(t, n, way.act, way.fault)
				if t.Failed() {
					t.Fatalf("in update %d", n)
				}
				if !happened {
					t.Logf("%d updates", n-1)
					if n <= few {
						t.Errorf("the workload has %d updates, want more than %d", n-1, few)
					}
					return
				}
			}
		})
	}
}

// powerLossIn runs the workload with a loss of power in the n-th update of
// replica 1, and reports whether there is such an update.
func powerLossIn(t *testing.T, n int, act simulation.Act, fault simulation.Fault) (happened bool) {
	t.Helper()
	plan := simulation.Calm(12, 3)
	plan.PageBytes, plan.Absent, plan.Topology = 2000, []int{2}, simulation.Line
	plan.Grants[2] = simulation.GrantLate
	c := newCluster(t, plan)
	c.Do(simulation.Step{Act: act, Replica: 1, Count: n, For: time.Second})
	for _, step := range workload() {
		c.RunFor(step.After)
		c.Do(step)
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.RunFor(time.Minute)
	if c.Coverage().Faults[fault] > 0 {
		happened = true
	}
	finish(t, c) // checks that the rows of every store agree
	if n := c.Replica(1).Store().State(merge.Section{Family: "memory"}).Count; n < 80 {
		t.Errorf("replica 1 holds %d memory items, want more", n)
	}
	return happened
}

// workload is a bit of everything that makes replica 1 write: pages, the feed
// and gossip of its neighbours, work of its own, conflicts, deletes, what
// waits for a grant, and a joiner that it serves.
func workload() []simulation.Step {
	var steps []simulation.Step
	add := func(after time.Duration, act simulation.Act, replica, count int) {
		steps = append(steps, simulation.Step{After: after, Act: act, Replica: replica, Count: count})
	}
	for k := range 80 { // memory items of the global scope
		add(0, simulation.ActWrite, 0, 1+6*k)
	}
	add(5*time.Second, simulation.ActAbsence, 1, 0)
	for k := range 4 {
		add(time.Second, simulation.ActWrite, k%2, k/2)
		add(time.Second, simulation.ActForeign, k%2, 0)
	}
	add(20*time.Second, simulation.ActReturn, 1, 0)
	add(time.Second, simulation.ActBurst, 1, 10)
	add(10*time.Second, simulation.ActSettle, 1, 0)
	add(time.Second, simulation.ActDelete, 1, 0)
	add(time.Second, simulation.ActDelete, 0, 1)
	add(time.Second, simulation.ActWrite, 1, 1)
	add(time.Second, simulation.ActJoin, 2, 0)
	add(5*time.Second, simulation.ActWrite, 2, 2)
	add(5*time.Second, simulation.ActGrant, 2, 0)
	add(5*time.Second, simulation.ActWrite, 2, 2)
	add(5*time.Second, simulation.ActPrivate, 1, 0)
	add(5*time.Second, simulation.ActLarge, 1, 3)
	return steps
}

// TestTornEntriesAreDropped cuts and scribbles the log of a virtual disk at
// every byte: what is replayed is always whole entries from its beginning.
func TestTornEntriesAreDropped(t *testing.T) {
	entries := [][]byte{
		simulation.SealEntry(map[string]string{"a": "1", "b": "2"}),
		simulation.SealEntry(map[string]string{"a": "", "c": "3"}),
	}
	log := append(append([]byte{}, entries[0]...), entries[1]...)
	want := func(whole int) string {
		return [...]string{"map[]", "map[a:1 b:2]", "map[b:2 c:3]"}[whole]
	}
	for cut := range len(log) + 1 {
		whole := 0
		for _, end := range []int{len(entries[0]), len(log)} {
			if cut >= end {
				whole++
			}
		}
		if n, rows := simulation.Replay(t, log[:cut]); n != whole || fmt.Sprint(rows) != want(whole) {
			t.Errorf("cut at %d: %d entries, %v, want %s", cut, n, rows, want(whole))
		}
	}
	for at := range log {
		whole := 0
		if at >= len(entries[0]) {
			whole = 1
		}
		for bit := range 8 {
			torn := append([]byte{}, log...)
			torn[at] ^= 1 << bit
			if n, rows := simulation.Replay(t, torn); n != whole || fmt.Sprint(rows) != want(whole) {
				t.Errorf("bit %d of byte %d flipped: %d entries, %v, want %s", bit, at, n, rows, want(whole))
			}
		}
	}
}
