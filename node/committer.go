package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// committer is the one goroutine that applies what the engine wants stored, in
// its order. Its queue has no bound of its own: the engine bounds what it asks.
type committer struct {
	store     *store.Store
	admission *admission
	judging   *sync.Mutex // held while all is judged; see Node
	// applied is told of each result.
	applied func(ctx context.Context, b fleetsync.ApplyBatch, res store.Result, err error)

	ready chan struct{} // holds a value while batches may be there
	mu    sync.Mutex    // guards batches
	queue []fleetsync.ApplyBatch
}

func newCommitter(st *store.Store, a *admission, judging *sync.Mutex) *committer {
	return &committer{store: st, admission: a, judging: judging, ready: make(chan struct{}, 1)}
}

// submit queues one batch; it never waits.
func (c *committer) submit(b fleetsync.ApplyBatch) {
	c.mu.Lock()
	c.queue = append(c.queue, b)
	c.mu.Unlock()
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// Run applies batches until ctx ends. It returns an error when the disk is
// bad.
func (c *committer) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.ready:
		}
		for _, b := range c.take() {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the end of Run, not a fault
			}
			res, err := c.apply(ctx, b)
			if ReactionTo(err) == Stop {
				return fmt.Errorf("node: store: %w", err)
			}
			c.applied(ctx, b, res, err)
		}
	}
}

func (c *committer) take() []fleetsync.ApplyBatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	batches := c.queue
	c.queue = nil
	return batches
}

func (c *committer) apply(ctx context.Context, b fleetsync.ApplyBatch) (store.Result, error) {
	if b.Chunk != nil {
		_, err := c.store.AddChunk(ctx, *b.Chunk)
		return store.Result{}, err
	}
	if !b.Reconsider {
		return c.store.Merge(ctx, b.Batch)
	}
	c.judging.Lock()
	defer c.judging.Unlock()
	return c.store.Reconsider(ctx, fleetsync.Judging(c.admission))
}
