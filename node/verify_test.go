package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
)

// evens is a Verifier that accepts records by their stamp.
type evens struct{ largest chan int }

func (e evens) Verify(recs []*merge.Record) []bool {
	ok := make([]bool, len(recs))
	for i, r := range recs {
		ok[i] = r.Envelope.UpdatedHLC.Counter%2 == 0
	}
	select {
	case e.largest <- len(recs):
	default:
	}
	return ok
}

func TestSignaturesAreCheckedTogetherAndToldApart(t *testing.T) {
	sizes := make(chan int, 10_000)
	pool := node.NewSignatures(evens{largest: sizes})
	type request struct {
		records []*merge.Record
		ok      []bool
	}
	requests := make([]request, 500)
	results := make(chan struct{})
	// Everything waits before the pool begins, so that it has to make batches.
	for i := range requests {
		q := &requests[i]
		for j := range 1 + i%7*100 {
			r := &merge.Record{}
			r.Envelope.UpdatedHLC.Counter = uint16(i + j)
			q.records = append(q.records, r)
		}
		go func() {
			q.ok = pool.Check(t.Context(), q.records)
			results <- struct{}{}
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	for range requests {
		<-results
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for i, q := range requests {
		if len(q.ok) != len(q.records) {
			t.Fatalf("request %d: %d verdicts on %d records", i, len(q.ok), len(q.records))
		}
		for j, ok := range q.ok {
			if ok != ((i+j)%2 == 0) {
				t.Fatalf("request %d: verdict %d is %v", i, j, ok)
			}
		}
	}
	largest := 0
	close(sizes)
	for n := range sizes {
		largest = max(largest, n)
	}
	if largest > 256 {
		t.Errorf("a batch had %d records", largest)
	}
	if got := pool.Check(ctx, requests[0].records); got != nil && !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("a pool that does not run answered %v", got)
	}
}
