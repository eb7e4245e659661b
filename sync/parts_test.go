package sync_test

import (
	"slices"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// partly is an engine that was told of some versions and has fetched the
// first; the next GET is on its way.
type partly struct {
	t       *testing.T
	engine  *fleetsync.Engine
	records []merge.Record
	getting uint64 // the GET that is on its way; 0 for none
}

func newPartly(t *testing.T, versions int) *partly {
	t.Helper()
	engine, _ := newPuller(t, store.NewMemory())
	p := &partly{t: t, engine: engine}
	out := engine.Drain()
	page := &fleetsync.ChangesPage{ID: out.Send[len(out.Send)-1].Message.(*fleetsync.Changes).ID, Next: uint64(versions), Done: true}
	for i := range versions {
		r, err := sealWrite("b", merge.Key{Kind: "memory", ID: merge.ID("abcdefgh"[i : i+1])}, nil, hlc.Timestamp{Wall: 1000 + int64(i)}, "text")
		if err != nil {
			t.Fatal(err)
		}
		hash := r.Hash()
		p.records = append(p.records, r)
		page.Entries = append(page.Entries, fleetsync.Entry{
			Order: []byte(r.Key.Order()), Writer: "b", Stamp: r.Envelope.UpdatedHLC.Pack(), Hash: hash[:],
		})
	}
	engine.Receive("b", page)
	p.findGet(engine.Drain())
	p.answer(1)
	return p
}

func (p *partly) findGet(out fleetsync.Outbox) {
	p.getting = 0
	for _, s := range out.Send {
		if get, ok := s.Message.(*fleetsync.Get); ok {
			p.getting = get.ID
		}
	}
}

// answer gives the next n records, verified, to the engine.
func (p *partly) answer(n int) {
	p.t.Helper()
	m := &fleetsync.Records{ID: p.getting, Answered: uint64(n)}
	for i := range n {
		m.Records = append(m.Records, p.records[i].Encode())
	}
	p.records = p.records[n:]
	p.engine.Receive("b", m)
	out := p.engine.Drain()
	p.findGet(out)
	p.engine.Verified(out.Verify[0], slices.Repeat([]bool{true}, n))
}

// stored takes the one batch with records that is for the store.
func (p *partly) stored(records int, hasCursor bool) fleetsync.ApplyBatch {
	p.t.Helper()
	var batches []fleetsync.ApplyBatch
	for _, b := range p.engine.Drain().Apply {
		if !b.Reconsider {
			batches = append(batches, b)
		}
	}
	if len(batches) != 1 || len(batches[0].Batch.Records) != records || (batches[0].Batch.Cursor != nil) != hasCursor || batches[0].Batch.From != "b" {
		p.t.Fatalf("at the store: %+v; want %d records of b, with a cursor: %t", batches, records, hasCursor)
	}
	return batches[0]
}

// TestAPageIsStoredInParts: all records of a page were held until the last had
// come, and lost when the connection ended before it. The cursor moves with
// the last.
func TestAPageIsStoredInParts(t *testing.T) {
	p := newPartly(t, 3)
	first := p.stored(1, false)
	p.answer(2)
	if out := p.engine.Drain(); len(out.Apply) > 0 {
		t.Fatalf("a part goes to the store before the one before it is there: %+v", out.Apply)
	}
	p.engine.Applied(first.ID, store.Result{Applied: 1}, nil)
	p.stored(2, true)
}

// TestAPageWaitsForTheStore: no more of a page is fetched while a part is at
// the store and another waits for it.
func TestAPageWaitsForTheStore(t *testing.T) {
	p := newPartly(t, 5)
	first := p.stored(1, false)
	p.answer(1)
	p.answer(1)
	if p.getting != 0 {
		t.Error("a fourth record is fetched while the second and the third wait")
	}
	p.engine.Applied(first.ID, store.Result{Applied: 1}, nil)
	out := p.engine.Drain()
	if p.findGet(out); p.getting == 0 || len(out.Apply) != 1 || len(out.Apply[0].Batch.Records) != 2 {
		t.Errorf("it does not go on when the first is stored: %+v", out)
	}
}

// TestAPageThatIsNeverWholeGetsFurther: a peer that is busy after each answer
// was asked for the same records again and again.
func TestAPageThatIsNeverWholeGetsFurther(t *testing.T) {
	p := newPartly(t, 3)
	p.engine.Receive("b", &fleetsync.Busy{ID: p.getting, Retry: 1000})
	part := p.stored(1, false)
	p.engine.Applied(part.ID, store.Result{Applied: 1}, nil)
	for _, b := range p.engine.Drain().Apply {
		if b.Batch.Cursor != nil {
			t.Errorf("the cursor moves past what did not come: %+v", b)
		}
	}
}
