package sync_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestVersionsFromTheFutureThatComeDueOneAfterTheOther: the second one's time
// came between the release of the first and the next look at what is parked,
// which took it for released.
func TestVersionsFromTheFutureThatComeDueOneAfterTheOther(t *testing.T) {
	m := newMesh(t, false)
	b := m.add("b", openly{})
	var gossip fleetsync.GossipBatch
	for i, ahead := range []time.Duration{11 * time.Second, 13 * time.Second} {
		key := merge.Key{Kind: "memory", ID: merge.NewID(string(rune('x' + i)))}
		stamp := hlc.Timestamp{Wall: m.now.Add(hlc.DriftMax + ahead).UnixMilli()}
		record, err := sealWrite("a", key, nil, stamp, "early")
		if err != nil {
			t.Fatal(err)
		}
		gossip.Records = append(gossip.Records, &record)
	}
	b.engine.Gossip("a", gossip)
	m.settle(4)
	m.wantEqual(2)
}

// brittle is an engine whose snapshots fail while told so.
type brittle struct {
	store.Engine
	fail bool
}

var errBrittle = errors.New("brittle: unreadable")

func (b *brittle) View(fn func(store.Txn) error) error {
	if b.fail {
		return errBrittle
	}
	return b.Engine.View(fn)
}

// TestNobodyIsBlamedForTheOwnDisk: a page of the feed that could not be
// compared with the own store was taken for a breach of the protocol.
func TestNobodyIsBlamedForTheOwnDisk(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	rng := readFrom{rand.New(rand.NewPCG(1, 2))} //nolint:gosec // a test wants the same salts each time
	disk := &brittle{Engine: store.NewMemory()}
	st, err := store.Open(disk, store.Config{Now: func() time.Time { return now }, Rand: rng})
	if err != nil {
		t.Fatal(err)
	}
	engine := fleetsync.New(fleetsync.Config{
		Self: "a", Share: fleetsync.DefaultShare, Rand: rng, Gossip: true, Now: now,
		EventType: func(kind string, _ bool) string { return kind },
	}, st, openly{})
	engine.Connected("b")
	engine.Receive("b", &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1,
		Heads: fleetsync.Heads{Salt: salt, Sections: []fleetsync.SectionHead{
			{Section: "memory\x1f\x1f\x1f", Head: 1, Count: 1, Root: make([]byte, 16)},
		}},
	})
	var asked *fleetsync.Changes
	for _, s := range engine.Drain().Send {
		if changes, ok := s.Message.(*fleetsync.Changes); ok {
			asked = changes
		}
	}
	if asked == nil {
		t.Fatal("nothing was asked for")
	}
	disk.fail = true
	engine.Receive("b", &fleetsync.ChangesPage{
		ID: asked.ID, Next: 1, Done: true,
		Entries: []fleetsync.Entry{{Order: []byte("memory\x00item"), Writer: "b", Stamp: 1 << 16, Hash: make([]byte, 32)}},
	})
	if out := engine.Drain(); len(out.Blame) > 0 {
		t.Errorf("the peer is blamed: %v", out.Blame)
	}
	if n := engine.Counters().StoreErrors; n == 0 {
		t.Error("the failure of the store was not counted")
	}
}
