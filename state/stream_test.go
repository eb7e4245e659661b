package state_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// stream reads the whole state stream.
func (n *node) stream(t failer) []eventlog.Event {
	t.Helper()
	events, err := n.Log().Read(context.Background(), state.StateStream, 0, 0)
	must(t, err)
	return events
}

func TestAWatcherSeesEachChangeOnce(t *testing.T) {
	const each = 300 // more than a watcher reads at a time
	a := newNode(t, "a", clock.NewManual(startTime()))
	var group sync.WaitGroup
	for w := range 2 {
		group.Go(func() {
			for i := range each {
				a.write(t, state.MemoryItem{ID: fmt.Sprint(w, "-", i)})
			}
		})
	}
	defer group.Wait()
	next := int64(1)
	watch := func(upTo int64) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for e, err := range a.Watch(ctx, next-1) {
			must(t, err)
			same(t, next, e.Seq)
			if next++; next > upTo {
				return
			}
		}
	}
	watch(100) // and later on from there
	watch(2 * each)
	group.Wait()
	same(t, 2*each, len(a.stream(t)))
}

func TestAWatcherSeesWhatIsMerged(t *testing.T) {
	a, b := newNode(t, "a", clock.NewManual(startTime())), newNode(t, "b", clock.NewManual(startTime()))
	a.write(t, state.MemoryItem{ID: "m", Content: "c"})
	b.receive(t, a.log...)
	for e, err := range b.Watch(t.Context(), 0) {
		must(t, err)
		it, err := state.DecodeMemoryItem(e.Payload)
		must(t, err)
		same(t, []any{"feed", "a", "c"}, []any{e.Path, e.OriginInstanceID, it.Content})
		break
	}
}

func TestAWatcherEndsWithItsContextOrTheProvider(t *testing.T) {
	clk := clock.NewManual(startTime())
	for name, p := range map[string]state.Replica{
		"own":             state.NewMemory(state.WithClock(clk)).(state.Replica),
		"of the caller's": memoryOver(eventlog.NewMemory(clk.Now), clk),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			for _, err := range p.Watch(ctx, 0) {
				ended <- err
			}
		}()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
		must(t, p.Close())
		for _, err := range p.Watch(t.Context(), 0) {
			if !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s, closed: %v", name, err)
			}
		}
	}
}

// TestTheStreamIsCompacted: an event goes with its image, the newest of each
// record stays, and folding gives the state all the same.
func TestTheStreamIsCompacted(t *testing.T) {
	a := newNode(t, "a", clock.NewManual(startTime()))
	a.write(t, state.MemoryItem{ID: "old"})
	for i := range 200 {
		a.write(t, state.MemoryItem{ID: "m", Content: strconv.Itoa(i)})
	}
	events := a.stream(t)
	if len(events) > 80 || events[0].Seq != 1 || events[len(events)-1].Seq != 201 {
		t.Errorf("%d events from %d to %d", len(events), events[0].Seq, events[len(events)-1].Seq)
	}
	whole, err := a.Log().(eventlog.Compacted).Retained(t.Context(), state.StateStream)
	must(t, err)
	for i := len(events) - 1; events[i].Seq >= whole; i-- {
		same(t, int64(201-(len(events)-1-i)), events[i].Seq)
	}
	if missing := events[len(events)-1].Seq - whole + 1; whole <= 2 || missing >= int64(len(events)) {
		t.Errorf("whole from %d", whole)
	}
	s, _, err := state.Fold(t.Context(), a.Log())
	must(t, err)
	same(t, exported(t, a), marshalled(t, s))
}

// TestTheStreamShowsWhatNobodyReads: records of unknown kinds and such that
// break their rules are events too, and a fold knows that they hide.
func TestTheStreamShowsWhatNobodyReads(t *testing.T) {
	a := newNode(t, "a", clock.NewManual(startTime()))
	a.write(t, state.MemoryItem{ID: "m", Content: "seen"})
	e := merge.Envelope{UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli() + 5}}
	a.receive(t,
		version(t, merge.Key{Kind: "memory", ID: "m"}, "evil", e, []byte{0x01}),
		version(t, merge.Key{Kind: "plan.step", Scope: merge.Scope{Project: "p"}, ID: merge.NewID("x", "y")}, "later", e, []byte{0xa0}))
	events := a.stream(t)
	same(t, []any{3, "memory.written", "plan.step.written"}, []any{len(events), events[1].Type, events[2].Type})
	record := events[2].Payload["record"].(map[string]any)
	same(t, []any{"plan.step", []any{"x", "y"}, "oA=="}, []any{record["Kind"], record["ID"], record["Body"]})
	s, skipped, err := state.Fold(t.Context(), a.Log())
	must(t, err)
	same(t, "memory.written: 1, plan.step.written: 1", skipped.String())
	same(t, exported(t, a), marshalled(t, s))
	same(t, 0, len(s.Items))
	paged, again, err := state.Fold(t.Context(), &reads{Log: a.Log()})
	must(t, err)
	same(t, []any{s, skipped}, []any{paged, again})
}

// TestSessionsOfAnotherScopeAreNotState of a provider that lives elsewhere.
func TestSessionsOfAnotherScopeAreNotState(t *testing.T) {
	a := newNode(t, "a", clock.NewManual(startTime()))
	web := openNode(t, store.NewMemory(), clock.NewManual(startTime()), state.Config{InstanceID: "w", Scope: state.Scope{Project: "web"}})
	defer func() { must(t, web.Close()) }()
	for _, n := range []*node{a, web} {
		_, err := n.Sessions().Create(t.Context(), state.Session{ID: "s", Title: "here"})
		must(t, err)
		n.say(t, "hello")
	}
	exchange(t, a, web)
	for _, n := range []*node{a, web} {
		sessions, err := n.Sessions().List(t.Context())
		must(t, err)
		same(t, 1, len(sessions))
	}
	s, skipped, err := state.Fold(t.Context(), web.Log(), state.WithScope(state.Scope{Project: "web"}))
	must(t, err)
	same(t, exported(t, web), marshalled(t, s))
	same(t, "session.created of another scope: 1, session.turn_appended of another scope: 1", skipped.String())
	paged, again, err := state.Fold(t.Context(), &reads{Log: web.Log()}, state.WithScope(state.Scope{Project: "web"}))
	must(t, err)
	same(t, []any{s, skipped}, []any{paged, again})
}

// TestTheSavedSnapshotIsTheNewest: a store keeps one, in parts.
func TestTheSavedSnapshotIsTheNewest(t *testing.T) {
	a := newNode(t, "a", clock.NewManual(startTime()))
	log := a.Log()
	_, err := log.LatestSnapshot(t.Context(), state.StateStream, 0)
	if !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("no snapshot: %v", err)
	}
	payload := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i % 251)
		}
		return b
	}
	for _, s := range []eventlog.Snapshot{{Seq: 3, Payload: payload(300_000)}, {Seq: 3, Payload: payload(1)}, {Seq: 5, Payload: payload(140_000)}, {Seq: 4, Payload: payload(9)}, {Seq: 6}} {
		s.Stream = state.StateStream
		must(t, log.SaveSnapshot(t.Context(), s))
		saved, err := log.LatestSnapshot(t.Context(), state.StateStream, 0)
		must(t, err)
		if s.Seq != 4 && (saved.Seq != s.Seq || string(saved.Payload) != string(s.Payload)) {
			t.Errorf("saved %d, found %d with %d bytes", s.Seq, saved.Seq, len(saved.Payload))
		}
	}
	_, err = log.LatestSnapshot(t.Context(), state.StateStream, 5)
	if !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("up to 5: %v", err)
	}
	if err := log.SaveSnapshot(t.Context(), eventlog.Snapshot{Stream: "other"}); !errors.Is(err, eventlog.ErrInvalid) {
		t.Errorf("another stream: %v", err)
	}
	if _, err := log.Append(t.Context(), eventlog.AppendInput{Stream: state.StateStream, Type: "x"}); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("append: %v", err)
	}
}

// FuzzUnmarshalSnapshot: what a snapshot file says is taken or refused, and what
// was taken comes out the same again.
func FuzzUnmarshalSnapshot(f *testing.F) {
	f.Add([]byte(`{"lastSeq":1,"sessions":[{"ID":"s"}],"turns":[],"skills":[{"Slug":"k","Tags":null}],"items":[]}`))
	f.Add([]byte(`{"outcomes":[{"Slug":"k","UpdatedHLC":"1.2"}]}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s, err := state.UnmarshalSnapshot(payload)
		if err != nil {
			if !errors.Is(err, state.ErrInvalid) {
				t.Errorf("error %v, want ErrInvalid", err)
			}
			return
		}
		first := marshalled(t, s)
		again, err := state.UnmarshalSnapshot([]byte(first))
		must(t, err)
		same(t, first, marshalled(t, again))
	})
}

// FuzzFold: an event of any payload is folded or refused.
func FuzzFold(f *testing.F) {
	for _, kind := range []string{state.EvSessionCreated, state.EvTurnAppended, state.EvSkillUpserted, state.EvMemoryWritten, state.EvOutcomeRecorded} {
		f.Add(kind, []byte(`{"session":{},"turn":{},"skill":{"Scope":{}},"item":{"Tags":[1]},"scope":{"Project":1},"record":{"ID":["a"]}}`))
	}
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		decoder := json.NewDecoder(bytes.NewReader(payload))
		decoder.UseNumber()
		in := eventlog.AppendInput{Stream: state.StateStream, Type: kind}
		if decoder.Decode(&in.Payload) != nil {
			return
		}
		log := eventlog.NewMemory(startTime)
		if _, err := log.Append(t.Context(), in); err != nil {
			return
		}
		p, err := state.Replay(t.Context(), log)
		if err != nil {
			if !errors.Is(err, state.ErrInvalid) && !errors.Is(err, state.ErrTooLarge) {
				t.Errorf("error %v, want ErrInvalid", err)
			}
			return
		}
		must(t, p.Close())
	})
}
