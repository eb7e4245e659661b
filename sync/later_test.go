package sync_test

import (
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// later returns a record as a later build may sign it, by an algorithm that this
// one does not know.
func later(t *testing.T) []byte {
	t.Helper()
	r, err := sealWrite("b", merge.Key{Kind: "memory", ID: merge.NewID("z")}, nil, hlc.Timestamp{Wall: 1000}, "text")
	if err != nil {
		t.Fatal(err)
	}
	wire := r.Encode()
	wire[len(wire)-1] = 7 // the algorithm comes last where there is no signature
	if _, err := merge.Decode(wire); !errors.Is(err, merge.ErrUnsupported) {
		t.Fatalf("it is not of an unknown algorithm: %v", err)
	}
	return wire
}

// TestARecordOfALaterAlgorithm: a member of a later build was blamed for what
// this one cannot judge, and after five such pages kept away, with everything
// else that it has. By whichever answer it comes, the rest is stored, and the
// cursor passes it.
func TestARecordOfALaterAlgorithm(t *testing.T) {
	for _, count := range []uint64{9, 900} { // by the feed, and by pages
		c := newCrowd(t)
		c.answer = func(_ fleetsync.PeerID, m fleetsync.Message) {
			switch m := m.(type) {
			case *fleetsync.Changes:
				page := pageOf(c, "a")
				c.engine.Receive("b", &fleetsync.ChangesPage{ID: m.ID, Records: append(page.Records, later(t)), Next: count, Done: true})
			case *fleetsync.Recon:
				c.engine.Receive("b", allOfIt(m, count))
			case *fleetsync.PageReq:
				page := pageOf(c, "a")
				r, _ := merge.Decode(later(t)) // it is sound but for the algorithm
				total := store.Sum{}.Add(r.Hash())
				first, err := merge.Decode(page.Records[0])
				if err != nil {
					t.Fatal(err)
				}
				sum := total.Add(first.Hash()).Bytes()
				page.ID, page.Done, page.Sum, page.Head = m.ID, true, sum[:], count
				page.Records = append(page.Records, later(t))
				c.engine.Receive("b", page)
			}
		}
		c.engine.Connected("b")
		c.engine.Receive("b", &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: headsOf(count, "memory")})
		c.settle()
		if len(c.blamed) > 0 || c.holds("memory") != 1 || c.engine.Counters().Unsupported == 0 {
			t.Errorf("of %d: blamed %v, %d held, %d skipped", count, c.blamed, c.holds("memory"), c.engine.Counters().Unsupported)
		}
		err := c.store.View(func(r *store.Reader) error {
			at, err := r.Cursor("b", merge.Section{Family: "memory"})
			if err != nil || at.Seq != count {
				t.Errorf("of %d: the cursor is at %+v, %v", count, at, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestGossipOfALaterAlgorithm: whoever passed it on lost the standing of one who
// gossips rubbish.
func TestGossipOfALaterAlgorithm(t *testing.T) {
	data, err := merge.Marshal(fleetsync.Gossip{
		Fleet: make([]byte, 32), Events: []fleetsync.GossipEvent{{Type: "memory", Record: later(t)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fleetsync.DecodeGossip(data, merge.FleetID{}, func(kind string, _ bool) string { return kind })
	if !errors.Is(err, merge.ErrUnsupported) || errors.Is(err, fleetsync.ErrMalformed) {
		t.Errorf("got %v", err)
	}
}
