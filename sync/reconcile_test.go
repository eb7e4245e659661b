package sync_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// difference is how two stores that never met differ, in versions of memory
// items.
type difference struct {
	common    int // both hold these
	onlyA     int
	onlyB     int
	newerA    int // of what is common, A has a version that covers it
	newerB    int
	forked    int  // of what is common, both have a version that the other has not seen
	clustered bool // what differs is next to each other in order
	pageBytes int
}

func (d difference) String() string {
	return fmt.Sprintf("%d common %d+%d only %d+%d newer %d forked clustered %t pages %d",
		d.common, d.onlyA, d.onlyB, d.newerA, d.newerB, d.forked, d.clustered, d.pageBytes)
}

// fill makes the two stores of a difference. It returns how many versions both
// hold once they are equal.
func (d difference) fill(t *testing.T, a, b *node) (held int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(d.common), uint64(d.onlyA))) //nolint:gosec // a test wants the same keys each time
	total := d.common + d.onlyA + d.onlyB
	// kinds says what becomes of each item, in their order.
	kinds := make([]string, 0, total)
	for _, k := range []struct {
		kind string
		n    int
	}{{"only a", d.onlyA}, {"only b", d.onlyB}, {"newer a", d.newerA}, {"newer b", d.newerB}, {"forked", d.forked}} {
		kinds = append(kinds, slices.Repeat([]string{k.kind}, k.n)...)
	}
	for len(kinds) < total {
		kinds = append(kinds, "common")
	}
	if !d.clustered {
		rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	}
	var inA, inB []merge.Record
	for i, kind := range kinds {
		key := merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("%06d-%04x", i, rng.Uint32N(1<<16)))}
		first := sealAt(t, "c", key, nil, 1000)
		next := func(writer merge.InstanceID, wall int64) merge.Record {
			return sealAt(t, writer, key, []merge.Version{first.Version()}, wall)
		}
		if kind != "only b" {
			inA = append(inA, first)
		}
		if kind != "only a" {
			inB = append(inB, first)
		}
		held++
		switch kind {
		case "newer a":
			inA = append(inA, next("a", 2000))
		case "newer b":
			inB = append(inB, next("b", 2000))
		case "forked":
			inA, inB = append(inA, next("a", 2000)), append(inB, next("b", 2001))
			held++
		}
	}
	mergeShuffled(t, rng, a, inA)
	mergeShuffled(t, rng, b, inB)
	return held
}

func mergeShuffled(t *testing.T, rng *rand.Rand, n *node, records []merge.Record) {
	t.Helper()
	rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	if _, err := n.store.Merge(context.Background(), store.Batch{Path: store.PathRestore, Records: records}); err != nil {
		t.Fatal(err)
	}
}

func sealAt(t *testing.T, writer merge.InstanceID, key merge.Key, held []merge.Version, wall int64) merge.Record {
	t.Helper()
	r, err := sealWrite(writer, key, held, hlc.Timestamp{Wall: wall}, "text of "+string(key.ID))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// recordsIn are the records that a message brings.
func recordsIn(m fleetsync.Message) [][]byte {
	switch m := m.(type) {
	case *fleetsync.Records:
		return m.Records
	case *fleetsync.Page:
		return m.Records
	case *fleetsync.ChangesPage:
		return m.Records
	}
	return nil
}

// shipped counts the records that are sent, and finds those that are of no use
// to whoever gets them.
func (m *mesh) shipped(count *int) func(delivery) bool {
	return func(d delivery) bool {
		for _, wire := range recordsIn(d.message) {
			*count++
			r, err := merge.Decode(wire)
			if err != nil {
				m.t.Fatal(err)
			}
			err = m.nodes[d.to].store.View(func(reader *store.Reader) error {
				known, err := fleetsync.Known(reader, r.Key, r.Version())
				if known {
					m.t.Errorf("%s is sent %s by %s, which it holds or has covered, in a %T", d.to, r.Key, r.Envelope.LastWriterID, d.message)
				}
				return err
			})
			if err != nil {
				m.t.Fatal(err)
			}
		}
		return false
	}
}

// TestStoresThatNeverMet holds that two stores become equal whatever they
// differ in, and that nothing is sent to who has no use for it: each version
// that one side lacks travels once, and no covered one at all.
func TestStoresThatNeverMet(t *testing.T) {
	for _, d := range []difference{
		{onlyA: 1},
		{onlyA: 63},
		{onlyA: 64},
		{onlyA: 3000},
		{common: 1, onlyB: 1},
		{common: 40, onlyA: 3, onlyB: 2, newerA: 4, newerB: 5, forked: 6},
		{common: 3000, onlyA: 1},
		{common: 3000, newerB: 1},
		{common: 3000, onlyA: 20, onlyB: 30, newerA: 40, newerB: 50, forked: 60},
		{common: 3000, onlyA: 20, onlyB: 30, newerA: 40, newerB: 50, forked: 60, clustered: true},
		{common: 2000, onlyA: 900, onlyB: 800, newerA: 300, newerB: 400, forked: 500},
		{common: 2000, onlyA: 900, onlyB: 800, newerA: 300, newerB: 400, forked: 500, clustered: true},
		{common: 600, onlyA: 90, onlyB: 80, newerA: 30, newerB: 40, forked: 50, pageBytes: 700},
		{common: 100, onlyA: 500, onlyB: 5, newerA: 3, newerB: 4, forked: 5, clustered: true, pageBytes: 1},
		{common: 30, onlyB: 4000},
	} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, false)
			m.pageBytes = d.pageBytes
			a, b := m.add("a", openly{}), m.add("b", openly{})
			held := d.fill(t, a, b)
			sent := 0
			m.lose = m.shipped(&sent)
			m.connect("a", "b")
			m.settle(4)
			m.wantEqual(held)
			if want := d.onlyA + d.onlyB + d.newerA + d.newerB + 2*d.forked; sent != want {
				t.Errorf("%d records were sent, want %d", sent, want)
			}
		})
	}
}

// TestAJoinGoesOnAfterEachCrash kills the joiner again and again, at another
// place each time: what it had stored is not sent again.
func TestAJoinGoesOnAfterEachCrash(t *testing.T) {
	const records, crashes = 3000, 12
	m := newMesh(t, false)
	m.pageBytes = 8 << 10
	a, b := m.add("a", openly{}), m.add("b", openly{})
	difference{onlyA: records, common: 10}.fill(t, a, b)
	sent, messages := 0, 0
	count := m.shipped(&sent)
	m.lose = func(d delivery) bool {
		count(d)
		if d.to != "b" {
			return false
		}
		if messages++; messages%7 == 0 && b.writes < crashes {
			m.reopen(b)
			m.nodes["a"].engine.Disconnected("b")
			m.nodes["a"].engine.Connected("b")
			b.engine.Connected("a")
			return true
		}
		return false
	}
	m.connect("a", "b")
	m.settle(6)
	m.wantEqual(records + 10)
	if b.writes < crashes {
		t.Errorf("only %d crashes", b.writes)
	}
	if again := sent - records; again > crashes*120 { // three pages of forty
		t.Errorf("%d of %d records were sent again over %d crashes", again, records, crashes)
	}
}

// TestAJoinFromSeveral holds that a joiner asks several members for parts of
// what it lacks, that their answers add up also when one of them holds less and
// one goes away, and that little is sent twice.
func TestAJoinFromSeveral(t *testing.T) {
	const records = 4000
	m := newMesh(t, false)
	m.pageBytes = 4 << 10
	a, b, c := m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
	difference{common: records, onlyA: 40}.fill(t, a, b)
	difference{common: records, onlyA: 40}.fill(t, a, c)
	d := m.add("d", openly{})
	sent, by := 0, map[merge.InstanceID]int{}
	m.lose = func(x delivery) bool {
		if page, ok := x.message.(*fleetsync.Page); ok && x.to == "d" {
			sent += len(page.Records)
			by[x.from] += len(page.Records)
			if by["c"] > 300 && m.links[[2]merge.InstanceID{"c", "d"}] {
				m.isolate(c)
			}
		}
		return false
	}
	m.connect("a", "d")
	m.connect("b", "d")
	m.connect("c", "d")
	m.settle(6)
	if state := d.store.State(merge.Section{Family: "memory"}); state.Count != records+40 || state.Sum != a.store.State(state.Section).Sum {
		t.Fatalf("the joiner holds %d versions, want %d", state.Count, records+40)
	}
	if by["a"] == 0 || by["b"] == 0 || by["c"] == 0 || d.engine.Counters().Lent == 0 {
		t.Errorf("records came from %v, %d gaps were lent", by, d.engine.Counters().Lent)
	}
	if sent > records+40+records/10 {
		t.Errorf("%d records were sent for %d", sent, records+40)
	}
}

// TestAnAuditFindsWhatSumsHide: a peer seems equal by count and sum, and is not.
func TestAnAuditFindsWhatSumsHide(t *testing.T) {
	c := newCrowd(t)
	first, second := pageOf(c, "a"), pageOf(c, "b")
	exact := 0
	c.answer = func(_ fleetsync.PeerID, m fleetsync.Message) {
		switch m := m.(type) {
		case *fleetsync.Heartbeat: // nothing differs, it says
			c.engine.Receive("b", &fleetsync.Heartbeat{
				Heads: fleetsync.Heads{Salt: salt, Clock: 1, Sections: []fleetsync.SectionHead{}}, Echo: m.Heads.Salt, Incarnation: 1,
			})
		case *fleetsync.Changes:
			c.engine.Receive("b", &fleetsync.ChangesPage{ID: m.ID, Records: first.Records, Next: 9, Done: true})
		case *fleetsync.Recon:
			if !m.Exact {
				return
			}
			exact++
			answer := allOfIt(m, 2)
			if exact > 1 { // now it is asked for its list
				answer.Spans[0].Mode = 0
				answer.Writers = []merge.InstanceID{"b"}
				answer.Items = []fleetsync.ReconItem{{Rest: []byte("memory\x00b"), Stamp: hlc.Timestamp{Wall: 1000}.Pack(), Tag: make([]byte, 6)}}
			}
			c.engine.Receive("b", answer)
		case *fleetsync.Get:
			c.engine.Receive("b", &fleetsync.Records{ID: m.ID, Answered: 1, Records: second.Records})
		}
	}
	c.engine.Connected("b")
	c.engine.Receive("b", &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: headsOf(1, "memory")})
	c.pass(3 * time.Minute)
	if c.engine.Counters().Audits == 0 || exact < 2 || c.holds("memory") != 2 {
		t.Errorf("%d audits, %d exact questions, %d of 2 held", c.engine.Counters().Audits, exact, c.holds("memory"))
	}
}
