package node

import (
	"slices"
	"sync"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// commitQueue carries local commits from the store to the engine. A full queue
// drops them, but never those with fleet statements: what is dropped is not
// gossiped, and the feed brings it. Safe for concurrent use.
type commitQueue struct {
	ready chan struct{} // holds a value while commits may be there

	mu      sync.Mutex // guards all following fields
	commits []store.Commit
	dropped uint64
}

func newCommitQueue() *commitQueue { return &commitQueue{ready: make(chan struct{}, 1)} }

// push takes a commit from store.Config.OnCommit; it never blocks.
func (q *commitQueue) push(c store.Commit) {
	if c.Path != store.PathLocal {
		return
	}
	q.mu.Lock()
	if len(q.commits) < commitsMax || slices.ContainsFunc(c.Records, isStatement) {
		q.commits = append(q.commits, c)
	} else {
		q.dropped++
	}
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take removes everything.
func (q *commitQueue) take() []store.Commit {
	q.mu.Lock()
	defer q.mu.Unlock()
	commits := q.commits
	q.commits = nil
	return commits
}

func (q *commitQueue) drops() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

func isStatement(r merge.Record) bool { return r.Key.Family() == fleetsync.FleetFamily }
