package node_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func TestEveryErrorHasOneReaction(t *testing.T) {
	tests := map[string]struct {
		err  error
		want node.Reaction
	}{
		"none":                     {nil, node.Ignore},
		"the end":                  {context.Canceled, node.Ignore},
		"a closed store":           {store.ErrClosed, node.Ignore},
		"a later message":          {fleetsync.ErrUnknownMessage, node.Ignore},
		"a stream that broke":      {io.ErrUnexpectedEOF, node.Retry},
		"no time left":             {context.DeadlineExceeded, node.Retry},
		"a full disk":              {store.ErrFull, node.Retry},
		"a malformed frame":        {fleetsync.ErrMalformed, node.Score},
		"an oversized frame":       {fleetsync.ErrTooLarge, node.Score},
		"a broken rule":            {fleetsync.ErrProtocol, node.Score},
		"a malformed record":       {merge.ErrMalformed, node.Score},
		"another fleet's record":   {fleet.ErrForeign, node.Score},
		"another fleet's peer":     {fleetsync.ErrIncompatible, node.Refuse},
		"a damaged disk":           {store.ErrCorrupt, node.Stop},
		"an engine that failed":    {store.ErrFailed, node.Stop},
		"a damaged disk in a rule": {fmt.Errorf("%w: %w", fleetsync.ErrProtocol, store.ErrCorrupt), node.Stop},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("wrapped: %w", err)
			}
			if got := node.ReactionTo(err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
