package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// TestALostMachineOwesNothing holds that what only a lost machine had is owed
// to nobody, that all else stays, and that a spare joins in its place.
func TestALostMachineOwesNothing(t *testing.T) {
	plan := simulation.Calm(21, 4)
	plan.Absent = []int{3}
	c := newCluster(t, plan)
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 2, Count: 1})
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 2})
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 2, Count: 7}) // nobody else gets it
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActRetire, Replica: 2})
	c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 3})
	c.RunFor(time.Minute)
	finish(t, c)
	if c.Replica(2).Running() || c.Coverage().Faults[simulation.FaultRetired] != 1 {
		t.Error("the machine is still there")
	}
	if n := c.Replica(3).Store().State(merge.Section{Family: "memory"}).Count; n != 1 {
		t.Errorf("the spare holds %d memory items, want the one that had spread", n)
	}
}

// TestAnotherDiskIsRefused holds that no instance starts on an empty disk, nor
// on that of another, and loses nothing when its own comes back.
func TestAnotherDiskIsRefused(t *testing.T) {
	for _, tt := range []struct {
		step  simulation.Step
		fault simulation.Fault
		want  int
	}{
		{simulation.Step{Act: simulation.ActWipe, Replica: 1, For: time.Minute}, simulation.FaultWiped, 1},
		{simulation.Step{Act: simulation.ActSwap, Replica: 1, Peer: 2, For: time.Minute}, simulation.FaultSwapped, 2},
	} {
		c := newCluster(t, simulation.Calm(22, 3))
		c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 1})
		c.RunFor(time.Minute)
		for n := range 3 {
			c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: n})
		}
		c.Do(tt.step)
		c.RunFor(30 * time.Second)
		if c.Replica(1).Running() || c.Coverage().Faults[tt.fault] != tt.want {
			t.Errorf("%s: %s", tt.step, c.Coverage())
		}
		finish(t, c)
		if !c.Replica(1).Running() || !c.Replica(2).Running() {
			t.Errorf("%s: not everybody is back", tt.step)
		}
	}
}

// TestADamagedDiskHarmsNobody holds that a disk that loses rows and bits gives
// either what was written or an error, that its node stops when it meets one,
// and that the others miss nothing but what only that disk had.
func TestADamagedDiskHarmsNobody(t *testing.T) {
	noticed := 0
	for seed := range uint64(20) {
		for _, act := range []simulation.Act{simulation.ActFlip, simulation.ActLoseRow} {
			plan := simulation.Calm(40+seed, 4)
			plan.Absent = []int{3}
			c := newCluster(t, plan)
			c.RunFor(time.Minute)
			for k := range 12 {
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 3, Count: k % 5})
				c.RunFor(time.Second)
			}
			for range 6 {
				c.Do(simulation.Step{Act: act, Replica: 1, For: time.Second})
				c.RunFor(20 * time.Second)
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1, Count: 1})
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 2})
				c.Do(simulation.Step{Act: simulation.ActRead, Replica: 1, Count: 2})
				c.RunFor(20 * time.Second)
			}
			c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 3})
			finish(t, c)
			noticed += c.Coverage().Markers[simulation.SometimesDamageNoticed]
		}
	}
	if noticed < 10 {
		t.Errorf("%d of 40 nodes have noticed", noticed)
	}
}
