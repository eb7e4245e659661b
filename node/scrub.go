package node

import (
	"context"
	"errors"
	"time"

	"github.com/fleetsync/fleetd/store"
)

const (
	// scrubAfter is how long after the start the rows of the store are first held
	// against each other, and scrubEvery how often from then on.
	scrubAfter = 10 * time.Minute
	scrubEvery = 24 * time.Hour
	// scrubPause is between two steps, each of a few milliseconds: a million
	// versions take some ten minutes, at a tenth of a processor.
	scrubPause = 30 * time.Millisecond
)

// scrub proves now and then, beside everything else, that versions, records and
// feed agree one to one, and says what does not.
func (n *Node) scrub(ctx context.Context) error {
	for wait := scrubAfter; sleep(ctx, wait); wait = scrubEvery {
		err := n.store.Scrub(ctx, func(ctx context.Context) error {
			sleep(ctx, scrubPause)
			return ctx.Err()
		})
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, store.ErrClosed):
		case errors.Is(err, store.ErrCorrupt):
			n.log.Error("the store does not agree with itself: the disk or the file system is at fault", "err", err)
		default:
			n.log.Warn("the store could not be proven", "err", err)
		}
	}
	return nil
}
