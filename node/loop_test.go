package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/node"
)

// TestWhoHasLeftIsAskedNothing holds that what was asked of the engine does not run
// once the caller has gone on without it: it would write to what is the caller's.
func TestWhoHasLeftIsAskedNothing(t *testing.T) {
	ran := false
	if err := node.AskAndLeave(func() { ran = true }); !errors.Is(err, context.Canceled) || ran {
		t.Errorf("%v, and it ran: %t", err, ran)
	}
}
