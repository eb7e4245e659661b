package sync_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// crowd is an engine with peers that say what a test lets them say.
type crowd struct {
	t      *testing.T
	engine *fleetsync.Engine
	store  *store.Store
	now    time.Time
	blamed map[fleetsync.PeerID]int
	// answer takes each request of a peer.
	answer func(to fleetsync.PeerID, m fleetsync.Message)
	queue  []fleetsync.Send
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t, now: time.UnixMilli(1_790_000_000_000), blamed: map[fleetsync.PeerID]int{}}
	rng := readFrom{rand.New(rand.NewPCG(5, 6))} //nolint:gosec // a test wants the same salts each time
	var err error
	c.store, err = store.Open(store.NewMemory(), store.Config{Now: func() time.Time { return c.now }, Rand: rng})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.store.Close() })
	c.engine = fleetsync.New(fleetsync.Config{
		Self: "self", Rand: rng, Now: c.now,
		EventType: func(kind string, _ bool) string { return kind },
	}, c.store, openly{})
	return c
}

// heads say that a peer has some versions of the global section of a family.
func headsOf(count uint64, families ...string) fleetsync.Heads {
	h := fleetsync.Heads{Salt: salt}
	for _, family := range families {
		h.Sections = append(h.Sections, fleetsync.SectionHead{
			Section: merge.Section{Family: family}.ID(), Head: count, Count: count, Root: make([]byte, 16),
		})
	}
	return h
}

// join connects a peer that has something.
func (c *crowd) join(id fleetsync.PeerID, families ...string) {
	c.engine.Connected(id)
	c.engine.Receive(id, &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: headsOf(9, families...)})
	c.settle()
}

// settle carries out what the engine wants, and lets peers answer.
func (c *crowd) settle() {
	c.t.Helper()
	for range 1000 {
		carryAll(c)
		if len(c.queue) == 0 {
			return
		}
		next := c.queue[0]
		c.queue = c.queue[1:]
		if c.answer != nil {
			c.answer(next.To, next.Message)
		}
	}
	// A peer that answers for ever is given up at some time, or not: that is what
	// tests are about.
	c.queue = nil
}

// carryAll does what a driver does, with verdicts that are good.
func carryAll(c *crowd) {
	for {
		out := c.engine.Drain()
		c.queue = append(c.queue, out.Send...)
		for _, b := range out.Blame {
			c.blamed[b.Peer]++
		}
		for _, v := range out.Verify {
			ok := make([]bool, len(v.Records))
			for i := range ok {
				ok[i] = true
			}
			c.engine.Verified(v, ok)
		}
		for _, b := range out.Apply {
			if b.Reconsider {
				c.engine.Applied(b.ID, store.Result{}, nil)
				continue
			}
			res, err := c.store.Merge(c.t.Context(), b.Batch)
			c.engine.Applied(b.ID, res, err)
		}
		if len(out.Verify)+len(out.Apply) == 0 {
			return
		}
	}
}

// pass lets time pass, second by second.
func (c *crowd) pass(d time.Duration) {
	for range int(d / time.Second) {
		c.now = c.now.Add(time.Second)
		c.engine.Tick(c.now)
		c.settle()
	}
}

// differ is the answer of a peer to a heartbeat: it has something still.
func (c *crowd) differ(id fleetsync.PeerID, m *fleetsync.Heartbeat, families ...string) {
	if len(m.Echo) == 0 {
		c.engine.Receive(id, &fleetsync.Heartbeat{Heads: headsOf(9, families...), Echo: m.Heads.Salt, Incarnation: 1})
	}
}

// give answers a request for changes with one record, the last.
func (c *crowd) give(id fleetsync.PeerID, m *fleetsync.Changes, name string) {
	c.t.Helper()
	section, err := merge.ParseSectionID(m.Section)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := sealWrite(id, merge.Key{Kind: section.Family, ID: merge.NewID(name)}, nil, hlc.Timestamp{Wall: 1000}, "text")
	if err != nil {
		c.t.Fatal(err)
	}
	c.engine.Receive(id, &fleetsync.ChangesPage{ID: m.ID, Records: [][]byte{r.Encode()}, Next: 9, Done: true})
}

func (c *crowd) holds(family string) int64 { return c.store.State(merge.Section{Family: family}).Count }

// TestWhoWaitsLongestIsNext: two peers that answer heartbeats and nothing else,
// whose names come first, took turns for ever, and a third with the same
// section was never asked.
func TestWhoWaitsLongestIsNext(t *testing.T) {
	c := newCrowd(t)
	c.answer = func(to fleetsync.PeerID, m fleetsync.Message) {
		switch m := m.(type) {
		case *fleetsync.Heartbeat:
			c.differ(to, m, "memory")
		case *fleetsync.Changes:
			if to == "z honest" {
				c.give(to, m, "x")
			}
		}
	}
	for _, id := range []fleetsync.PeerID{"a silent", "b silent", "z honest"} {
		c.join(id, "memory")
	}
	c.pass(3 * fleetsync.RequestTimeoutDefault)
	if c.holds("memory") != 1 {
		t.Error("the peer that answers was not asked")
	}
}

// TestPagesWithoutEndTakeNoPlace: peers whose pages never end, all about what is
// known, keep the sections of nobody, and no place among those that are pulled
// at a time.
func TestPagesWithoutEndTakeNoPlace(t *testing.T) {
	c := newCrowd(t)
	families := []string{"fleet", "memory", "note", "skill", "todo", "wish"}
	c.answer = func(to fleetsync.PeerID, m fleetsync.Message) {
		switch m := m.(type) {
		case *fleetsync.Heartbeat:
			c.differ(to, m, families...)
		case *fleetsync.Changes:
			if to == "z honest" {
				c.give(to, m, "x")
				return
			}
			family, _, _ := strings.Cut(m.Section, "\x1f")
			bogus := fleetsync.Entry{Order: []byte(family + "\x00y"), Writer: to, Stamp: 1, Hash: make([]byte, 32)}
			c.engine.Receive(to, &fleetsync.ChangesPage{ID: m.ID, Entries: []fleetsync.Entry{bogus}, Next: m.After + 1})
		case *fleetsync.Get:
			c.engine.Receive(to, &fleetsync.Records{ID: m.ID, Answered: uint64(len(m.Refs)), Records: [][]byte{}})
		}
	}
	const liars = 8
	for n := range liars {
		c.join(fleetsync.PeerID("endless "+strconv.Itoa(n)), families...)
	}
	c.join("z honest", families...)
	c.pass((liars + 2) * fleetsync.RequestTimeoutDefault)
	for _, family := range families {
		if c.holds(family) == 0 {
			t.Errorf("%s was not fetched from the peer that has it", family)
		}
	}
	if len(c.blamed) > 0 {
		t.Errorf("blamed: %v", c.blamed)
	}
}

// TestAPageWithNothingIsTheLast: a page that is empty and not the last leads
// nowhere, and so does one after which nobody could go on.
func TestAPageWithNothingIsTheLast(t *testing.T) {
	for name, answer := range map[string]func(c *crowd, m fleetsync.Message){
		"changes": func(c *crowd, m fleetsync.Message) {
			if m, ok := m.(*fleetsync.Changes); ok {
				c.engine.Receive("b", &fleetsync.ChangesPage{ID: m.ID, Next: m.After + 1})
			}
		},
		"page": func(c *crowd, m fleetsync.Message) {
			if m, ok := m.(*fleetsync.PageReq); ok {
				c.engine.Receive("b", &fleetsync.Page{ID: m.ID, Records: [][]byte{}, Last: []byte("memory\x00a\x00\x00b"), Sum: make([]byte, 32)})
			}
		},
		"position": func(c *crowd, m fleetsync.Message) {
			if m, ok := m.(*fleetsync.PageReq); ok {
				page := pageOf(c, "a")
				page.ID, page.Last = m.ID, []byte("skill\x00a\x00\x00b")
				c.engine.Receive("b", page)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			c.answer = func(_ fleetsync.PeerID, m fleetsync.Message) {
				if m, ok := m.(*fleetsync.Recon); ok {
					c.engine.Receive("b", allOfIt(m, 900))
				}
				answer(c, m)
			}
			count := uint64(9)
			if name != "changes" {
				count = 900 // worth pages
			}
			c.engine.Connected("b")
			c.engine.Receive("b", &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: headsOf(count, "memory")})
			c.settle()
			if c.blamed["b"] != 1 {
				t.Errorf("blamed %d times, want once", c.blamed["b"])
			}
		})
	}
}

// pageOf is a page of memory items that goes on after the last.
func pageOf(c *crowd, names ...string) *fleetsync.Page {
	c.t.Helper()
	page := &fleetsync.Page{Head: 900}
	var sum store.Sum
	for _, name := range names {
		r, err := sealWrite("b", merge.Key{Kind: "memory", ID: merge.NewID(name)}, nil, hlc.Timestamp{Wall: 1000}, "text")
		if err != nil {
			c.t.Fatal(err)
		}
		sum = sum.Add(r.Hash())
		page.Records = append(page.Records, r.Encode())
		page.Last = []byte(r.Key.Order() + "\x00\x00b")
	}
	total := sum.Bytes()
	page.Sum = total[:]
	return page
}

// TestATransferGoesOnWhereItWas: what an interrupted transfer had brought is
// not fetched again, of whichever peer and life, and where the cursor goes is a
// place of the life in which it ends.
func TestATransferGoesOnWhereItWas(t *testing.T) {
	c := newCrowd(t)
	var pages []string
	life, gone := uint64(1), false
	c.answer = func(_ fleetsync.PeerID, m fleetsync.Message) {
		switch m := m.(type) {
		case *fleetsync.Recon:
			answer := allOfIt(m, 900*life)
			answer.Incarnation = life
			if m.Spans[0].Count > 0 { // up to "a" it is equal by now
				answer.Spans = []fleetsync.ReconSpan{
					{Rest: []byte("memory\x00a\x00\x00b")}, {Mode: 1, Count: 900, Print: make([]byte, 8)},
				}
			}
			c.engine.Receive("b", answer)
		case *fleetsync.PageReq:
			if gone {
				return
			}
			pages = append(pages, string(m.After))
			page := pageOf(c, string('a'+rune(len(pages))-1))
			page.ID, page.Done, page.Incarnation = m.ID, life == 2, life
			gone = life == 1 // after one page
			c.engine.Receive("b", page)
		}
	}
	hello := &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: headsOf(900, "memory")}
	c.engine.Connected("b")
	c.engine.Receive("b", hello)
	c.settle()
	life, gone, hello.Incarnation = 2, false, 2
	c.engine.Receive("b", hello)
	c.settle()
	if diff := cmp.Diff([]string{"", "memory\x00a\x00\x00b"}, pages); diff != "" || c.holds("memory") != 2 {
		t.Fatalf("the transfer brought %d of 2 by pages after (-want +got):\n%s", c.holds("memory"), diff)
	}
	err := c.store.View(func(r *store.Reader) error {
		at, err := r.Cursor("b", merge.Section{Family: "memory"})
		if at.Incarnation != 2 || at.Seq != 1800 {
			t.Errorf("the cursor is %+v, want 1800 of the second life", at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
