package state_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

func (n *node) say(t failer, text string) state.Turn {
	t.Helper()
	turn, err := n.Sessions().AppendTurn(context.Background(), state.Turn{SessionID: "s", Role: "user", Content: text})
	must(t, err)
	return turn
}

// said is the transcript of session "s", and say adds to it.
func (n *node) said(t failer) []string {
	t.Helper()
	turns, err := n.Sessions().Turns(context.Background(), "s")
	must(t, err)
	texts := make([]string, len(turns))
	for i, turn := range turns {
		texts[i] = fmt.Sprint(turn.Seq, " ", turn.Content)
	}
	return texts
}

// TestTwoInstancesTalkInOneSessionOffline: what both said while apart is there
// on both, in one order, and the session counts all of it.
func TestTwoInstancesTalkInOneSessionOffline(t *testing.T) {
	clkA, clkB := clock.NewManual(startTime()), clock.NewManual(startTime().Add(time.Second))
	a, b := newNode(t, "a", clkA), newNode(t, "b", clkB)
	_, err := a.Sessions().Create(t.Context(), state.Session{ID: "s", Title: "Deploy"})
	must(t, err)
	a.say(t, "hello")
	exchange(t, a, b)

	a.say(t, "a one")
	b.say(t, "b one")
	clkA.Advance(time.Minute)
	a.say(t, "a two")
	clkB.Advance(2 * time.Minute)
	b.say(t, "b two")
	exchange(t, a, b)

	want := []string{"1 hello", "2 a one", "2 b one", "3 a two", "3 b two"}
	same(t, want, a.said(t))
	same(t, want, b.said(t))
	same(t, a.answers(t), b.answers(t))
	ses, err := a.Sessions().Get(t.Context(), "s")
	must(t, err)
	same(t, []any{int64(6), "b", "Deploy"}, []any{ses.SyncVersion, ses.LastWriterID, ses.Title})
	same(t, int64(4), a.say(t, "a three").Seq)
}

// TestAnAppendNeverRevivesASession: one that was deleted elsewhere stays
// deleted, and what was said meanwhile is hidden, not lost.
func TestAnAppendNeverRevivesASession(t *testing.T) {
	a, b := newNode(t, "a", clock.NewManual(startTime())), newNode(t, "b", clock.NewManual(startTime().Add(time.Second)))
	_, err := a.Sessions().Create(t.Context(), state.Session{ID: "s"})
	must(t, err)
	exchange(t, a, b)
	must(t, a.Sessions().Delete(t.Context(), "s"))
	late := b.say(t, "too late")
	exchange(t, a, b)
	for _, n := range []*node{a, b} {
		if _, err := n.Sessions().Get(t.Context(), "s"); err == nil {
			t.Error("the session is live again")
		}
		must(t, n.store.View(func(r *store.Reader) error {
			_, err := r.Head(merge.Key{Kind: "session.turn", ID: merge.NewID("s", late.ID)})
			return err
		}))
	}
}

// TestTurnsBeforeTheirSession: replication knows no order between records.
func TestTurnsBeforeTheirSession(t *testing.T) {
	a, b := newNode(t, "a", clock.NewManual(startTime())), newNode(t, "b", clock.NewManual(startTime()))
	_, err := a.Sessions().Create(t.Context(), state.Session{ID: "s"})
	must(t, err)
	a.say(t, "one")
	a.say(t, "two")
	b.receive(t, a.log[2], a.log[1])
	if _, err := b.Sessions().Turns(t.Context(), "s"); err == nil {
		t.Error("turns of an unknown session are shown")
	}
	b.receive(t, a.log[0])
	same(t, []string{"1 one", "2 two"}, b.said(t))
	same(t, a.answers(t), b.answers(t))
}
