package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// TestAWriteOfUnknownOutcome holds that a write which happened although the
// disk said otherwise is either everywhere or nowhere, also when nothing else is
// written afterwards.
func TestAWriteOfUnknownOutcome(t *testing.T) {
	c := newCluster(t, simulation.Calm(1, 3))
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActDoubt, Replica: 1, Count: 1})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1})
	finish(t, c)
	if c.Coverage().Markers[simulation.SometimesUnacknowledged] == 0 {
		t.Error("the write did not happen at all")
	}
}
