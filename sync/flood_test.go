package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// everything asks for a whole section, with its records.
func everything(id uint64) *fleetsync.Changes {
	return &fleetsync.Changes{ID: id, Section: merge.Section{Family: "memory"}.ID(), Inline: true}
}

// TestAFloodOfRequestsIsNotAnswered holds I5 for requests: a member that asks
// again and again without waiting is told BUSY, and the engine reads nothing
// while it hears that.
func TestAFloodOfRequestsIsNotAnswered(t *testing.T) {
	m := newMesh(t, false)
	a := m.add("a", openly{})
	for i := range 100 {
		m.write(a, fmt.Sprintf("item-%d", i), strings.Repeat("x", 1000))
	}
	m.drain()
	a.engine.Connected("flood")
	a.engine.Drain()
	for i := range 300 {
		a.engine.Receive("flood", everything(uint64(i+1)))
	}
	out := a.engine.Drain()
	busy := 0
	for _, s := range out.Send {
		switch s.Message.(type) {
		case *fleetsync.Busy:
			busy++
		default:
			t.Errorf("a request is answered at once with a %T", s.Message)
		}
	}
	if len(out.Answer) != 4 || busy != 296 {
		t.Fatalf("of 300 requests at once %d are answered and %d are told BUSY, want 4 and 296", len(out.Answer), busy)
	}
	a.engine.Answered(out.Answer[0], out.Answer[0].Read())
	for _, unsent := range out.Answer[1:] {
		a.engine.Answered(unsent, fleetsync.Reply{})
	}
	a.engine.Receive("flood", everything(301))
	if out := a.engine.Drain(); len(out.Answer) != 1 {
		t.Errorf("after its answers a peer may not ask again: %+v", out.Send)
	}
}

// budgeted is a node of 100 records of 1 KB whose peer asks for all of them.
func budgeted(t *testing.T) (m *mesh, a *node, ask func() (wait time.Duration)) {
	t.Helper()
	m = newMesh(t, false)
	m.answerRate = 64 << 10
	a = m.add("a", openly{})
	for i := range 100 {
		m.write(a, fmt.Sprintf("item-%d", i), strings.Repeat("x", 1000))
	}
	m.drain()
	a.engine.Connected("eager")
	a.engine.Drain()
	return m, a, func() time.Duration {
		a.engine.Receive("eager", everything(7))
		out := a.engine.Drain()
		for _, answer := range out.Answer {
			a.engine.Answered(answer, answer.Read())
			return 0
		}
		return time.Duration(out.Send[0].Message.(*fleetsync.Busy).Retry) * time.Millisecond
	}
}

// TestAPeerHasABudgetOfBytes: answers cost what was read for them, not one
// each, and BUSY says when the next is worth asking for.
func TestAPeerHasABudgetOfBytes(t *testing.T) {
	m, a, ask := budgeted(t)
	answered := 0
	var wait time.Duration
	for ; wait == 0; wait = ask() {
		answered++
	}
	// Four seconds' worth is 256 KiB, and each answer has more than 100 KB.
	if answered-1 < 2 || answered-1 > 3 {
		t.Errorf("%d answers of 100 KB at once for a budget of 64 KiB a second", answered-1)
	}
	m.now = m.now.Add(wait)
	a.engine.Tick(m.now)
	a.engine.Drain()
	if again := ask(); again != 0 {
		t.Errorf("told to wait for %s, and then for %s", wait, again)
	}
}

// TestComingBackFillsNoBudget: a peer that breaks the connection does not gain
// by it; one that stayed away for long does.
func TestComingBackFillsNoBudget(t *testing.T) {
	m, a, ask := budgeted(t)
	for ask() == 0 {
	}
	comeBack := func() {
		a.engine.Disconnected("eager")
		a.engine.Tick(m.now)
		a.engine.Connected("eager")
		a.engine.Drain()
	}
	comeBack()
	if ask() == 0 {
		t.Error("a peer that broke the connection has its whole budget again")
	}
	m.now = m.now.Add(time.Minute)
	comeBack()
	if ask() != 0 {
		t.Error("a peer that was away for a minute is still busied")
	}
}

// TestTwoThatJoinAtOnceBothProceed, each within its own budget, although that
// is far too small.
func TestTwoThatJoinAtOnceBothProceed(t *testing.T) {
	m := newMesh(t, false)
	m.answerRate = 64 << 10
	a := m.add("a", openly{})
	b, c := m.add("b", openly{}), m.add("c", openly{})
	for i := range 3000 {
		m.write(a, fmt.Sprintf("item-%d", i), strings.Repeat("x", 1000))
	}
	m.connect("a", "b")
	m.connect("a", "c")
	m.settle(10)
	m.wantEqual(3000)
	if a.engine.Counters().BusySent == 0 {
		t.Error("nobody was told BUSY, so nothing was shown")
	}
	for _, n := range []*node{b, c} {
		if known := n.engine.Counters().Known; known > 0 {
			t.Errorf("%s was sent %d records twice", n.id, known)
		}
	}
}

// TestWhatCameBeforeBusyIsKept: a page that was still being checked when the
// peer said BUSY was thrown away and fetched again.
func TestWhatCameBeforeBusyIsKept(t *testing.T) {
	engine, _ := newPuller(t, store.NewMemory())
	out := engine.Drain()
	asked := out.Send[len(out.Send)-1].Message.(*fleetsync.Changes).ID
	record, err := sealWrite("b", merge.Key{Kind: "memory", ID: "x"}, nil, hlc.Timestamp{Wall: 1000}, "text")
	if err != nil {
		t.Fatal(err)
	}
	engine.Receive("b", &fleetsync.ChangesPage{ID: asked, Records: [][]byte{record.Encode()}, Next: 1})
	out = engine.Drain()
	next := out.Send[len(out.Send)-1].Message.(*fleetsync.Changes)
	engine.Receive("b", &fleetsync.Busy{ID: next.ID, Retry: 1000})
	engine.Verified(out.Verify[0], []bool{true})
	out = engine.Drain()
	if len(out.Apply) != 1 || len(out.Apply[0].Batch.Records) != 1 || out.Apply[0].Batch.Cursor == nil {
		t.Fatalf("at the store: %+v; want the page that came", out.Apply)
	}
	engine.Applied(out.Apply[0].ID, store.Result{Applied: 1}, nil)
	if out = engine.Drain(); len(out.Send) != 0 {
		t.Fatalf("a busy peer is asked at once: %+v", out.Send)
	}
	engine.Tick(time.UnixMilli(1_790_000_000_000).Add(3 * time.Second))
	for _, s := range engine.Drain().Send {
		if again, ok := s.Message.(*fleetsync.Changes); ok && again.Section == next.Section {
			return
		}
	}
	t.Error("the peer is not asked again when its time has come")
}

// TestAFloodOfHeadsIsNotCompared holds I5 for heads: a member that sends lists
// again and again is not answered for a while, and then it is. An empty list
// counts as 256 sections.
func TestAFloodOfHeadsIsNotCompared(t *testing.T) {
	m := newMesh(t, false)
	a := m.add("a", openly{})
	a.engine.Connected("flood")
	a.engine.Receive("flood", &fleetsync.Hello{Fleet: make([]byte, 32), Store: make([]byte, 16), Heads: fleetsync.Heads{Salt: salt}})
	a.engine.Drain()
	answers := func(messages int) (n int) {
		for range messages {
			a.engine.Receive("flood", &fleetsync.Heartbeat{Heads: fleetsync.Heads{Salt: salt}})
		}
		for _, s := range a.engine.Drain().Send {
			if beat, ok := s.Message.(*fleetsync.Heartbeat); ok && len(beat.Echo) > 0 {
				n++
			}
		}
		return n
	}
	if got := answers(3000); got < 2000 || got > 2100 {
		t.Errorf("of 3000 lists at once %d are answered, want 2047", got)
	}
	if got := answers(10); got != 0 || a.engine.Counters().HeadsIgnored < 900 {
		t.Errorf("beyond the budget %d are answered, %+v", got, a.engine.Counters())
	}
	m.now = m.now.Add(time.Second)
	a.engine.Tick(m.now)
	if got := answers(10); got != 10 {
		t.Errorf("a second later %d of 10 are answered", got)
	}
}

// TestAReconciliationWithABusyPeerGoesOn: an exchange that costs more than a
// peer may ask for at once was begun anew after each BUSY, and never came to its
// end.
func TestAReconciliationWithABusyPeerGoesOn(t *testing.T) {
	m := newMesh(t, false)
	m.answerRate = 64 << 10
	a, b := m.add("a", openly{}), m.add("b", openly{})
	for i := range 3000 {
		m.write(map[bool]*node{true: a, false: b}[i%2 == 0], fmt.Sprintf("item-%d", i), "x")
	}
	m.connect("a", "b")
	m.settle(30)
	m.wantEqual(3000)
	if a.engine.Counters().BusySent == 0 {
		t.Error("the exchange was never told BUSY, so nothing was shown")
	}
	if n := b.engine.Counters().Pulls; n > 200 {
		t.Errorf("%d pulls", n)
	}
}
