package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/node"
)

// TestALoopThatEndedAnswersNobody: who asks without a deadline does not wait for
// ever.
func TestALoopThatEndedAnswersNobody(t *testing.T) {
	if err := node.AskEnded(t.Context()); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("%v, want ErrNotRunning", err)
	}
}

// TestWhoHasLeftIsAskedNothing holds that what was asked of the engine does not run
// once the caller has gone on without it: it would write to what is the caller's.
func TestWhoHasLeftIsAskedNothing(t *testing.T) {
	ran := false
	if err := node.AskAndLeave(func() { ran = true }); !errors.Is(err, context.Canceled) || ran {
		t.Errorf("%v, and it ran: %t", err, ran)
	}
}
