package node_test

import (
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/store"
)

// TestCausesAreReasons holds the numbers of package fleet to those that package
// store keeps: node, simulation and bench pass one on as the other.
func TestCausesAreReasons(t *testing.T) {
	for cause, reason := range map[fleet.Cause]store.Reason{
		fleet.CauseAuthority: store.ReasonAuthority, fleet.CauseBanned: store.ReasonBanned, fleet.CauseFloor: store.ReasonFloor,
		fleet.CauseWithdrawn: store.ReasonWithdrawn, fleet.CauseClosed: store.ReasonClosed,
	} {
		if store.Reason(cause) != reason {
			t.Errorf("cause %d is kept as %d, want %d (%s)", cause, store.Reason(cause), reason, reason)
		}
	}
}
