package sync_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// newComparer is a crowd whose engine holds memory items 000 to 299.
func newComparer(t *testing.T) *crowd {
	t.Helper()
	c := newCrowd(t)
	var records []merge.Record
	for i := range 300 {
		records = append(records, sealAt(t, "w", memoryKeyOf(fmt.Sprintf("%03d", i)), nil, 1000))
	}
	if _, err := c.store.Merge(t.Context(), store.Batch{Path: store.PathRestore, Records: records}); err != nil {
		t.Fatal(err)
	}
	return c
}

// greetBy lets a peer tell that it has 900 memory items.
func (c *crowd) greetBy(id fleetsync.PeerID) {
	c.engine.Connected(id)
	c.engine.Receive(id, &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: bytes.Repeat([]byte(id[:1]), 16), Incarnation: 1, Heads: headsOf(900, "memory"),
	})
	c.settle()
}

// TestAnswersAboutRangesThatBreakTheProtocol holds that each is blamed, once,
// and ends the exchange.
func TestAnswersAboutRangesThatBreakTheProtocol(t *testing.T) {
	compare := func(rest string, shared uint64) fleetsync.ReconSpan {
		return fleetsync.ReconSpan{Shared: shared, Rest: []byte(rest), Mode: 1, Count: 9, Print: make([]byte, 8)}
	}
	item := fleetsync.ReconItem{Rest: []byte("skill\x00other"), Stamp: 7 << 16, Tag: make([]byte, 6)}
	inside := item
	inside.Rest = []byte("memory\x00x")
	afterIt := item
	afterIt.Shared, afterIt.Rest = 99, []byte("y")
	for name, answer := range map[string]fleetsync.ReconAnswer{
		"about nothing":                      {Spans: []fleetsync.ReconSpan{}},
		"that goes backwards":                {Spans: []fleetsync.ReconSpan{compare("memory\x00100", 0), compare("memory\x00050", 0)}},
		"that stands still":                  {Spans: []fleetsync.ReconSpan{compare("memory\x00100", 0), compare("", 10)}},
		"with more after the end":            {Spans: []fleetsync.ReconSpan{compare("", 0), compare("memory\x00100", 0)}},
		"beyond the question":                {Spans: []fleetsync.ReconSpan{compare("memory\x00200", 0)}},
		"up to the end of the section":       {Spans: []fleetsync.ReconSpan{compare("", 0)}},
		"with a bound of more than there is": {Spans: []fleetsync.ReconSpan{compare("5", 99)}},
		"with an item of another section": {
			Spans: []fleetsync.ReconSpan{compare("memory\x00100", 0)}, Writers: []merge.InstanceID{"w"}, Items: []fleetsync.ReconItem{item},
		},
		"with a name of more than there is": {
			Spans: []fleetsync.ReconSpan{compare("memory\x00100", 0)}, Writers: []merge.InstanceID{"w"}, Items: []fleetsync.ReconItem{inside, afterIt},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newComparer(t)
			asked := 0
			c.answer = func(id fleetsync.PeerID, m fleetsync.Message) {
				q, ok := m.(*fleetsync.Recon)
				if !ok {
					return
				}
				if asked++; asked == 1 { // what comes after 150 is equal: the next question ends there
					c.engine.Receive(id, &fleetsync.ReconAnswer{
						ID: q.ID, Head: 900, Incarnation: 1,
						Spans: []fleetsync.ReconSpan{{Rest: []byte("memory\x00150"), Mode: 1, Count: 800, Print: make([]byte, 8)}, {}},
					})
					return
				}
				broken := answer
				broken.ID, broken.Head, broken.Incarnation = q.ID, 900, 1
				c.engine.Receive(id, &broken)
			}
			c.greetBy("b")
			if c.blamed["b"] != 1 || asked != 2 {
				t.Errorf("blamed %d times after %d questions, want once after 2", c.blamed["b"], asked)
			}
		})
	}
}

// TestAnswersAboutRangesThatLie holds that what only looks like a mistake is
// nobody's fault, costs a bounded number of questions in a row, and keeps an
// honest peer from nothing.
func TestAnswersAboutRangesThatLie(t *testing.T) {
	type reply func(q *fleetsync.Recon, a *fleetsync.ReconAnswer)
	for name, lie := range map[string]reply{
		"all is equal": func(_ *fleetsync.Recon, a *fleetsync.ReconAnswer) { a.Spans = []fleetsync.ReconSpan{{}} },
		"more than it holds": func(_ *fleetsync.Recon, a *fleetsync.ReconAnswer) {
			a.Spans = []fleetsync.ReconSpan{{Mode: 1, Count: 1 << 63, Print: make([]byte, 8)}}
		},
		"division without end": func(q *fleetsync.Recon, a *fleetsync.ReconAnswer) {
			for _, s := range q.Spans {
				s.Mode, s.Count, s.Print = 1, 1000, make([]byte, 8)
				a.Spans = append(a.Spans, s)
			}
		},
		"keys that are not there": func(_ *fleetsync.Recon, a *fleetsync.ReconAnswer) {
			a.Spans, a.Writers = []fleetsync.ReconSpan{{}}, []merge.InstanceID{"w"}
			for i := range 2048 {
				a.Items = append(a.Items, fleetsync.ReconItem{
					Rest:  fmt.Appendf(nil, "memory\x00%d", 9_000_000-i), // the later before the earlier
					Stamp: hlc.Timestamp{Wall: 2000}.Pack(), Tag: bytes.Repeat([]byte{byte(i)}, 6),
				})
			}
		},
		"a tag for all": func(_ *fleetsync.Recon, a *fleetsync.ReconAnswer) {
			a.Spans, a.Writers = []fleetsync.ReconSpan{{}}, []merge.InstanceID{"w"}
			for i := range 300 {
				a.Items = append(a.Items, fleetsync.ReconItem{
					Rest: fmt.Appendf(nil, "memory\x00%03d", i), Stamp: hlc.Timestamp{Wall: 1000}.Pack(), Tag: make([]byte, 6),
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			crowd := newComparer(t)
			questions, honest := 0, 0
			crowd.answer = func(id fleetsync.PeerID, m fleetsync.Message) {
				switch m := m.(type) {
				case *fleetsync.Recon:
					if id == "honest" {
						honest++
						crowd.engine.Receive(id, &fleetsync.ReconAnswer{ID: m.ID, Head: 900, Incarnation: 1, Spans: []fleetsync.ReconSpan{{}}})
						return
					}
					questions++
					a := &fleetsync.ReconAnswer{ID: m.ID, Head: 900, Incarnation: 1}
					lie(m, a)
					crowd.engine.Receive(id, a)
				case *fleetsync.Get:
					crowd.engine.Receive(id, &fleetsync.Records{ID: m.ID, Answered: max(uint64(len(m.Refs)), uint64(len(m.Tags)/6)), Records: [][]byte{}})
				case *fleetsync.Changes:
					crowd.engine.Receive(id, &fleetsync.ChangesPage{ID: m.ID, Next: 900, Done: true, Incarnation: 1})
				}
			}
			crowd.greetBy("liar")
			if questions > 40 {
				t.Errorf("%d questions", questions)
			}
			crowd.greetBy("honest")
			crowd.pass(time.Minute)
			if honest == 0 || crowd.blamed["liar"]+crowd.blamed["honest"] > 0 {
				t.Errorf("%d questions of the honest, blamed %v", honest, crowd.blamed)
			}
			if n := crowd.holds("memory"); n != 300 {
				t.Errorf("%d versions are held, want 300", n)
			}
		})
	}
}
