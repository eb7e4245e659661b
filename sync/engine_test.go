package sync_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func TestTwoNodesWithoutGossipBecomeEqual(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 20 {
		m.write(a, fmt.Sprintf("from-a-%d", i), "text")
		m.write(b, fmt.Sprintf("from-b-%d", i), "text")
	}
	m.connect("a", "b")
	m.settle(3)
	m.wantEqual(40)
}

func TestGossipedWritesArriveWithoutAPull(t *testing.T) {
	m := newMesh(t, true)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.connect("a", "b")
	m.settle(1)
	for i := range 100 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	m.drain()
	if got := b.store.State(merge.Section{Family: "memory"}).Count; got != 100 {
		t.Errorf("b holds %d versions, want 100", got)
	}
	m.settle(2)
	m.wantEqual(100)
	if c := b.engine.Counters(); c.Pulls != 0 {
		t.Errorf("b pulled %d times for what gossip had brought", c.Pulls)
	}
}

func TestAnEmptyNodeJoinsByPages(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 3000 {
		m.write(a, fmt.Sprintf("item-%d", i), strings.Repeat("x", 1000))
	}
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(3000)
	pages := 0
	for _, line := range m.log {
		if strings.HasSuffix(line, "*sync.Page") {
			pages++
		}
	}
	if pages < 3 {
		t.Errorf("%d pages for 3 MB, want several", pages)
	}
	_ = b
}

func TestALineOfSixPassesOnWhatTheFarEndWrote(t *testing.T) {
	m := newMesh(t, false)
	ids := []merge.InstanceID{"a", "b", "c", "d", "e", "f"}
	for _, id := range ids {
		m.add(id, openly{})
	}
	m.write(m.nodes["f"], "far", "away")
	for i := range ids[1:] {
		m.connect(ids[i], ids[i+1])
	}
	m.settle(3 * 5)
	m.wantEqual(1)
}

func TestConflictsAndDeletesAreEqualEverywhere(t *testing.T) {
	m := newMesh(t, true)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.connect("a", "b")
	m.write(a, "shared", "first")
	m.settle(1)
	m.isolate(a)
	m.write(a, "shared", "edit on a")
	m.write(b, "shared", "edit on b")
	m.drain()
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(2) // the winner and its conflict
}

func TestAReopenedStoreGoesOnFromItsCursor(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 200 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	m.connect("a", "b")
	m.settle(2)
	m.isolate(a)
	m.reopen(a)
	m.reopen(b)
	m.write(a, "one more", "text")
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(201)
	if c := b.engine.Counters(); c.Known > 0 || c.Applied != 1 {
		t.Errorf("b was sent %d known and %d new records, want the new one alone", c.Known, c.Applied)
	}
}

func TestAWipedStoreIsFilledAgain(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 200 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	m.connect("a", "b")
	m.settle(2)
	m.isolate(a)
	a.disk = store.NewMemory()
	m.reopen(a)
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(200)
	_ = b
}

func TestARestoredBackupIsNotMistakenForItsFuture(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.write(a, "before", "text")
	m.connect("a", "b")
	m.settle(2)
	backup := a.disk.Clone()
	m.write(a, "after the backup", "text")
	m.settle(2)
	m.isolate(a)
	a.disk = backup
	m.reopen(a)
	m.write(a, "in the new life", "text")
	m.connect("a", "b")
	m.settle(3)
	m.wantEqual(3)
	_ = b
}

func TestAGapBelowTheCursorIsFoundByListing(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 10 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	section := merge.Section{Family: "memory"}
	move := &store.CursorMove{Peer: "a", Section: section, Cursor: store.Cursor{
		Store: a.store.ID(), Incarnation: a.store.Incarnation(), Seq: a.store.State(section).Head,
	}}
	if _, err := b.store.Merge(t.Context(), store.Batch{Path: store.PathFeed, Cursor: move}); err != nil {
		t.Fatal(err)
	}
	m.connect("a", "b")
	m.settle(4)
	m.wantEqual(10)
}

func TestLostAnswersAreAskedForAgain(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 300 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	count := 0
	m.lose = func(delivery) bool { count++; return count%3 == 0 }
	m.connect("a", "b")
	m.settle(12)
	m.lose = nil
	m.settle(3)
	m.wantEqual(300)
	if b.engine.Counters().Timeouts == 0 {
		t.Error("nothing timed out, so nothing was lost")
	}
}

// gate admits the records of one writer only once it is open, and all others.
type gate struct {
	writer merge.InstanceID
	open   bool
}

func (g *gate) Check(*merge.Record) error { return nil }
func (g *gate) Judge(r *merge.Record) store.Reason {
	if g.open || r.Envelope.LastWriterID != g.writer || r.Key.Family() == fleetsync.FleetFamily {
		return 0
	}
	return store.ReasonAuthority
}

func (*gate) JudgeVersion(merge.Key, merge.Version) (reason store.Reason, sure bool) { return 0, false }

func (*gate) Mark() [32]byte { return [32]byte{} }

func (g *gate) Learn(r *merge.Record) bool {
	was := g.open
	g.open = true
	return !was
}

func TestParkedUntilGranted(t *testing.T) {
	m := newMesh(t, false)
	door := &gate{writer: "a"}
	a, b := m.add("a", openly{}), m.add("b", door)
	m.write(a, "item", "text")
	m.connect("a", "b")
	m.settle(2)
	if got := b.store.State(merge.Section{Family: "memory"}).Count; got != 0 {
		t.Fatalf("b merged %d versions of an unknown writer", got)
	}
	if c := b.engine.Counters(); c.Parked != 1 {
		t.Fatalf("b parked %d versions, want 1 and only once", c.Parked)
	}
	m.writeKey(a, merge.Key{Kind: "fleet.grant", ID: "a statement"}, "grant")
	m.settle(3)
	m.wantEqual(1)
}

func TestCursorStaysOnRefusal(t *testing.T) {
	m := newMesh(t, false)
	m.parkedMax = 5
	door := &gate{writer: "a"}
	a, b := m.add("a", openly{}), m.add("b", door)
	for i := range 20 {
		m.write(a, fmt.Sprintf("item-%d", i), "text")
	}
	m.connect("a", "b")
	m.settle(3)
	if c := b.engine.Counters(); c.Refused == 0 {
		t.Fatal("nothing was refused")
	}
	m.writeKey(a, merge.Key{Kind: "fleet.grant", ID: "a statement"}, "grant")
	m.settle(4)
	m.wantEqual(20)
}

func TestVersionsFromTheFutureWaitForTheirTime(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.skew["a"] = hlc.DriftMax + 40*time.Second
	m.write(a, "item", "text")
	m.connect("a", "b")
	m.settle(2)
	if got := b.store.State(merge.Section{Family: "memory"}).Count; got != 0 {
		t.Fatalf("b merged a version that is %s ahead", m.skew["a"])
	}
	m.settle(5)
	m.wantEqual(1)
}

func TestThousandsOfSectionsAreCompared(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 1500 {
		key := merge.Key{Kind: "memory", ID: "item", Scope: merge.Scope{Project: fmt.Sprintf("p-%04d", i)}}
		m.writeKey(map[bool]*node{true: a, false: b}[i%2 == 0], key, "text")
	}
	m.connect("a", "b")
	m.settle(60) // one exchange a section
	for i := range 1500 {
		section := merge.Section{Family: "memory", Scope: merge.Scope{Project: fmt.Sprintf("p-%04d", i)}}
		if a.store.State(section).Sum != b.store.State(section).Sum || a.store.State(section).Count != 1 {
			t.Fatalf("section %s differs", section)
		}
	}
	for _, p := range append(a.engine.Peers(), b.engine.Peers()...) {
		if !p.InSync {
			t.Errorf("not known to be in sync with %s: %d sections", p.ID, len(p.Differing))
		}
	}
}

func TestAWithheldFamilyIsNoDifference(t *testing.T) {
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	b.share = sharingBy(t, "keep notes")
	m.reopen(b)
	m.write(a, "item", "text")
	m.writeKey(a, merge.Key{Kind: "notes", ID: "private to a"}, "text")
	m.connect("a", "b")
	m.settle(3)
	m.wantEqual(1)
	if got := b.store.State(merge.Section{Family: "notes"}).Count; got != 0 {
		t.Errorf("b took %d versions of a family that it does not share", got)
	}
}

// allOfIt answers a question of who holds nothing: there is so much.
func allOfIt(m *fleetsync.Recon, count uint64) *fleetsync.ReconAnswer {
	return &fleetsync.ReconAnswer{
		ID: m.ID, Head: count, Incarnation: 1,
		Spans: []fleetsync.ReconSpan{{Mode: 1, Count: count, Print: make([]byte, 8)}},
	}
}

func TestACorruptPeerIsBlamed(t *testing.T) {
	for name, message := range map[string]fleetsync.Message{
		"a page of another section's record":    &fleetsync.Page{Done: true, Sum: make([]byte, 32)},
		"a page with a sum that is not its own": &fleetsync.Page{Done: true, Sum: []byte(strings.Repeat("x", 32))},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMesh(t, false)
			a := m.add("a", openly{})
			a.engine.Connected("evil")
			hello := &fleetsync.Hello{
				Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1,
				Heads: fleetsync.Heads{Salt: salt, Sections: []fleetsync.SectionHead{
					{Section: "memory\x1f\x1f\x1f", Head: 500, Count: 500, Root: make([]byte, 16)},
				}},
			}
			a.engine.Receive("evil", hello)
			var asked *fleetsync.PageReq
			for range 2 {
				for _, s := range a.engine.Drain().Send {
					switch m := s.Message.(type) {
					case *fleetsync.Recon:
						a.engine.Receive("evil", allOfIt(m, 500))
					case *fleetsync.PageReq:
						asked = m
					}
				}
			}
			if asked == nil {
				t.Fatal("no page was asked for")
			}
			page := message.(*fleetsync.Page)
			page.ID = asked.ID
			if strings.Contains(name, "another section") {
				r, err := sealWrite("evil", merge.Key{Kind: "skill", ID: "x"}, nil, hlc.Timestamp{Wall: 5}, "text")
				if err != nil {
					t.Fatal(err)
				}
				page.Records = [][]byte{r.Encode()}
			}
			a.engine.Receive("evil", page)
			if blames := a.engine.Drain().Blame; len(blames) != 1 || !errors.Is(blames[0].Err, fleetsync.ErrProtocol) {
				t.Errorf("blamed %v, want one breach of the protocol", blames)
			}
		})
	}
}

func TestAFleetAtRestKnowsSoonThatItIsInSync(t *testing.T) {
	m := newMesh(t, true)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.connect("a", "b")
	m.settle(2)
	m.write(a, "item", "text")
	m.drain()
	for range 10 { // 2.5 seconds, a quarter of a heartbeat
		m.now = m.now.Add(250 * time.Millisecond)
		a.engine.Tick(m.now)
		b.engine.Tick(m.now)
		m.drain()
	}
	m.wantEqual(1)
}

// TestWhatAPeerClaimsIsBounded holds I5 for heads: a member that claims ever
// new sections makes this node remember a bounded number of them.
func TestWhatAPeerClaimsIsBounded(t *testing.T) {
	m := newMesh(t, false)
	a := m.add("a", openly{})
	a.engine.Connected("liar")
	claim := func(message, i int) fleetsync.SectionHead {
		section := merge.Section{Family: "memory", Scope: merge.Scope{Project: fmt.Sprintf("%03d-%04d", message, i)}}
		return fleetsync.SectionHead{Section: section.ID(), Head: 1, Count: 1, Root: make([]byte, 16)}
	}
	a.engine.Receive("liar", &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Heads: fleetsync.Heads{Salt: salt}})
	told := "a"
	for message := range 80 {
		heads := fleetsync.Heads{Salt: salt, After: told}
		for i := range 1024 {
			heads.Sections = append(heads.Sections, claim(message, i))
		}
		told = heads.Sections[1023].Section
		heads.To = told
		a.engine.Receive("liar", &fleetsync.Heartbeat{Heads: heads})
		a.engine.Drain()
	}
	if got := len(a.engine.Peers()[0].Differing); got != 1<<16 {
		t.Errorf("%d sections of a peer are remembered, want the bound", got)
	}
}
