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

// newPuller returns an engine that knows of something that b has.
func newPuller(t *testing.T, disk store.Engine) (*fleetsync.Engine, *store.Store) {
	t.Helper()
	return newPullerBy(t, disk, func() time.Time { return time.UnixMilli(1_790_000_000_000) })
}

// newPullerBy is newPuller on a machine whose clock can be set.
func newPullerBy(t *testing.T, disk store.Engine, wall func() time.Time) (*fleetsync.Engine, *store.Store) {
	t.Helper()
	rng := readFrom{rand.New(rand.NewPCG(1, 2))} //nolint:gosec // a test wants the same salts each time
	st, err := store.Open(disk, store.Config{Now: wall, Rand: rng})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	engine := fleetsync.New(fleetsync.Config{
		Self: "a", Rand: rng, Gossip: true, Now: wall(),
		EventType: func(kind string, _ bool) string { return kind },
	}, st, openly{})
	engine.Connected("b")
	engine.Receive("b", &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1,
		Heads: fleetsync.Heads{Salt: salt, Sections: []fleetsync.SectionHead{
			{Section: "memory\x1f\x1f\x1f", Head: 2, Count: 2, Root: make([]byte, 16)},
		}},
	})
	return engine, st
}

// TestAPageWaitsForTheOneBefore: the second page of a pull went to the store
// while the first was on its way there; when that failed, the cursor of the
// second still moved past it.
func TestAPageWaitsForTheOneBefore(t *testing.T) {
	engine, _ := newPuller(t, store.NewMemory())
	var asked uint64 // the newest request for a page of the feed
	var merges []fleetsync.ApplyBatch
	work := func() {
		out := engine.Drain()
		for _, s := range out.Send {
			if changes, ok := s.Message.(*fleetsync.Changes); ok {
				asked = changes.ID
			}
		}
		for _, v := range out.Verify {
			engine.Verified(v, []bool{true})
		}
		for _, b := range append(out.Apply, engine.Drain().Apply...) {
			if !b.Reconsider {
				merges = append(merges, b)
			}
		}
	}
	work()
	for page := uint64(1); page <= 2; page++ {
		key := merge.Key{Kind: "memory", ID: merge.NewID(string(rune('w' + page)))}
		record, err := sealWrite("b", key, nil, hlc.Timestamp{Wall: 1000 + int64(page)}, "text")
		if err != nil {
			t.Fatal(err)
		}
		engine.Receive("b", &fleetsync.ChangesPage{ID: asked, Records: [][]byte{record.Encode()}, Next: page, Done: page == 2})
		work()
	}
	if len(merges) != 1 || len(merges[0].Batch.Records) != 1 {
		t.Fatalf("at the store: %+v; want the first page alone", merges)
	}
	engine.Applied(merges[0].ID, store.Result{}, errBrittle)
	work()
	if len(merges) != 1 {
		t.Errorf("the second page goes to the store after the first failed: %+v", merges[1:])
	}
}

// TestAListingThatThePeerCannotGoOnWith: a peer whose disk went back while it
// was listed, and who refused the next page, was blamed.
func TestAListingThatThePeerCannotGoOnWith(t *testing.T) {
	engine, _ := newPuller(t, store.NewMemory())
	newest := func() (asked *fleetsync.Changes) {
		for _, s := range engine.Drain().Send {
			if changes, ok := s.Message.(*fleetsync.Changes); ok {
				asked = changes
			}
		}
		return asked
	}
	first := newest()
	record, err := sealWrite("b", merge.Key{Kind: "memory", ID: merge.NewID("x")}, nil, hlc.Timestamp{Wall: 1000}, "text")
	if err != nil {
		t.Fatal(err)
	}
	engine.Receive("b", &fleetsync.ChangesPage{ID: first.ID, Records: [][]byte{record.Encode()}, Next: 1})
	second := newest()
	if second == nil || second.After != 1 {
		t.Fatalf("the listing goes on with %+v", second)
	}
	engine.Receive("b", &fleetsync.CursorInvalid{ID: second.ID, Reason: "beyond the end of its incarnation"})
	if out := engine.Drain(); len(out.Blame) > 0 {
		t.Errorf("the peer is blamed: %v", out.Blame)
	}
}

// TestProcessesNumberTheirRequestsApart: an answer to a request of the process
// before, still in the peer's queue when this one connected, was taken for an
// answer to this one's request of the same number.
func TestProcessesNumberTheirRequestsApart(t *testing.T) {
	rng := readFrom{rand.New(rand.NewPCG(3, 4))} //nolint:gosec // a test wants the same numbers each time
	seen := map[uint64]bool{}
	for range 8 {
		st, err := store.Open(store.NewMemory(), store.Config{Now: time.Now, Rand: rng})
		if err != nil {
			t.Fatal(err)
		}
		engine := fleetsync.New(fleetsync.Config{Self: "a", Rand: rng}, st, openly{})
		engine.Connected("b")
		greet(engine)
		for _, s := range engine.Drain().Send {
			if request, ok := s.Message.(*fleetsync.Recon); ok {
				seen[request.ID] = true
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("8 processes number their first requests %v", seen)
	}
}

// TestASectionThatThePeerLost: what a peer had told of a section, and lost with
// its disk, kept both out of sync for ever although neither held anything.
func TestASectionThatThePeerLost(t *testing.T) {
	engine, _ := newPuller(t, store.NewMemory())
	if peers := engine.Peers(); len(peers) != 1 || peers[0].InSync {
		t.Fatalf("in sync with a peer that has more: %+v", peers)
	}
	engine.Receive("b", &fleetsync.Heartbeat{Incarnation: 1, Heads: fleetsync.Heads{Salt: salt}})
	if peers := engine.Peers(); len(peers) != 1 || !peers[0].InSync {
		t.Errorf("not in sync with a peer that has nothing either: %+v", peers)
	}
}

// TestAVersionParkedByAMergeThatFailed: a version from the future that was
// parked although the disk said otherwise was not looked for when its time came.
func TestAVersionParkedByAMergeThatFailed(t *testing.T) {
	disk := &brittle{Engine: store.NewMemory()}
	now := time.UnixMilli(1_790_000_000_000)
	wall := now
	engine, st := newPullerBy(t, disk, func() time.Time { return wall })
	passes := func(from, to time.Duration) (judged bool) {
		for at := from; at < to; at += time.Second {
			wall = now.Add(at)
			engine.Tick(wall)
			for _, b := range engine.Drain().Apply {
				judged = judged || b.Reconsider
				engine.Applied(b.ID, store.Result{}, nil)
			}
		}
		return judged
	}
	passes(0, 20*time.Second) // the engine has looked for what is parked: nothing
	stamp := hlc.Timestamp{Wall: now.Add(hlc.DriftMax + 40*time.Second).UnixMilli()}
	record, err := sealWrite("b", merge.Key{Kind: "memory", ID: "early"}, nil, stamp, "text")
	if err != nil {
		t.Fatal(err)
	}
	engine.Gossip("b", fleetsync.GossipBatch{Records: []*merge.Record{&record}})
	for _, b := range engine.Drain().Apply {
		disk.doubt = true
		res, err := st.Merge(t.Context(), b.Batch)
		disk.doubt = false
		if !errors.Is(err, errBrittle) {
			t.Fatalf("merged with %v", err)
		}
		engine.Applied(b.ID, res, err)
	}
	if passes(20*time.Second, 40*time.Second) {
		t.Error("parked versions were judged again too early")
	}
	if !passes(40*time.Second, 50*time.Second) {
		t.Error("nothing was judged again when the time of the version had come")
	}
}

// TestAClockThatIsSetReleasesWhatWaitsForIt holds that the time of day decides
// when a stamp has come, whatever the steady clock says by which an engine
// lives: a machine that started in 1970 takes what waits once its clock is set,
// and one that is set back takes nothing too early.
func TestAClockThatIsSetReleasesWhatWaitsForIt(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	wall, steady := time.UnixMilli(0), now
	engine, st := newPullerBy(t, store.NewMemory(), func() time.Time { return wall })
	passes := func(d time.Duration) (judged bool) {
		for end := steady.Add(d); steady.Before(end); {
			wall, steady = wall.Add(time.Second), steady.Add(time.Second)
			engine.Tick(steady)
			for _, b := range engine.Drain().Apply {
				judged = judged || b.Reconsider
				engine.Applied(b.ID, store.Result{}, nil)
			}
		}
		return judged
	}
	passes(time.Minute)
	record, err := sealWrite("b", merge.Key{Kind: "memory", ID: "k"}, nil, hlc.Timestamp{Wall: now.UnixMilli()}, "text")
	if err != nil {
		t.Fatal(err)
	}
	engine.Gossip("b", fleetsync.GossipBatch{Records: []*merge.Record{&record}})
	for _, b := range engine.Drain().Apply {
		res, err := st.Merge(t.Context(), b.Batch)
		if err != nil || res.Parked != 1 {
			t.Fatalf("merged with %+v, %v, want it parked", res, err)
		}
		engine.Applied(b.ID, res, err)
	}
	if passes(time.Hour) {
		t.Error("a version of today was judged again in 1970")
	}
	wall = now
	if !passes(time.Second) {
		t.Error("nothing was judged again when the clock was set")
	}
	wall = now.Add(-time.Hour)
	passes(time.Minute)
	if passes(30 * time.Minute) {
		t.Error("a version was judged again although the clock was set back")
	}
}

// brittle is an engine whose snapshots and updates fail while told so; the
// updates happen all the same.
type brittle struct {
	store.Engine
	fail, doubt bool
}

var errBrittle = errors.New("brittle: failed")

func (b *brittle) View(fn func(store.Txn) error) error {
	if b.fail {
		return errBrittle
	}
	return b.Engine.View(fn)
}

func (b *brittle) Update(fn func(store.Txn) error) error {
	if err := b.Engine.Update(fn); err != nil || !b.doubt {
		return err
	}
	return errBrittle
}

// TestNobodyIsBlamedForTheOwnDisk: a page of the feed that could not be
// compared with the own store was taken for a breach of the protocol.
func TestNobodyIsBlamedForTheOwnDisk(t *testing.T) {
	disk := &brittle{Engine: store.NewMemory()}
	engine, _ := newPuller(t, disk)
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
