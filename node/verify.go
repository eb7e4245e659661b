package node

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// signatures is the pool that checks signatures: whatever waits is checked
// together, since a batch costs half of its members one by one. Its queue has
// no bound of its own: the engine bounds what it asks, gossip its workers.
type signatures struct {
	verifier fleet.Verifier

	mu    sync.Mutex // guards jobs
	jobs  []verifyJob
	ready chan struct{} // holds a value while jobs may be there
}

// verifyJob is a part of a request.
type verifyJob struct {
	records []*merge.Record
	ok      []bool // where the verdicts go, as long as records
	done    func() // called once ok is filled
}

func newSignatures(v fleet.Verifier) *signatures {
	return &signatures{verifier: v, ready: make(chan struct{}, 1)}
}

// submit checks records and calls done with a verdict on each, on a goroutine
// of the pool. It does not wait.
func (s *signatures) submit(records []*merge.Record, done func(ok []bool)) {
	ok := make([]bool, len(records))
	parts := (len(records) + verifyBatchMax - 1) / verifyBatchMax
	if parts == 0 {
		done(ok)
		return
	}
	var left sync.Mutex
	open := parts
	finish := func() {
		left.Lock()
		open--
		last := open == 0
		left.Unlock()
		if last {
			done(ok)
		}
	}
	s.mu.Lock()
	for from := 0; from < len(records); from += verifyBatchMax {
		to := min(from+verifyBatchMax, len(records))
		s.jobs = append(s.jobs, verifyJob{records: records[from:to], ok: ok[from:to], done: finish})
	}
	s.mu.Unlock()
	s.wake()
}

// check is submit for a caller that waits. It returns nil when ctx ends first.
func (s *signatures) check(ctx context.Context, records []*merge.Record) []bool {
	result := make(chan []bool, 1)
	s.submit(records, func(ok []bool) { result <- ok })
	select {
	case ok := <-result:
		return ok
	case <-ctx.Done():
		return nil
	}
}

// Run checks until ctx ends.
func (s *signatures) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-s.ready:
				}
				for s.work() {
				}
			}
		})
	}
	return g.Wait()
}

// work checks one batch; it returns false when there is nothing to do.
func (s *signatures) work() bool {
	batch := s.take()
	if len(batch) == 0 {
		return false
	}
	var records []*merge.Record
	for _, job := range batch {
		records = append(records, job.records...)
	}
	verdicts := s.verifier.Verify(records)
	for _, job := range batch {
		copy(job.ok, verdicts)
		verdicts = verdicts[len(job.records):]
		job.done()
	}
	return true
}

// take removes jobs for one batch, and wakes another worker when some are
// left.
func (s *signatures) take() []verifyJob {
	s.mu.Lock()
	n, size := 0, 0
	for n < len(s.jobs) && (n == 0 || size+len(s.jobs[n].records) <= verifyBatchMax) {
		size += len(s.jobs[n].records)
		n++
	}
	batch := s.jobs[:n:n]
	s.jobs = s.jobs[n:]
	more := len(s.jobs) > 0
	if !more {
		s.jobs = nil
	}
	s.mu.Unlock()
	if more {
		s.wake()
	}
	return batch
}

func (s *signatures) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
