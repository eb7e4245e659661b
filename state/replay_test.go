package state_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/eventlog/eventlogtest"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/state/statetest"
	"github.com/fleetsync/fleetd/store"
)

// exported is the state of a provider in bytes.
func exported(t failer, p state.Provider) string {
	t.Helper()
	s, err := p.(state.Replica).Export(context.Background())
	must(t, err)
	return marshalled(t, s)
}

func marshalled(t failer, s state.Snapshot) string {
	t.Helper()
	payload, err := state.MarshalSnapshot(s)
	must(t, err)
	return string(payload)
}

// TestFoldingAStreamGivesTheState: whatever paths the changes came by, and with
// a snapshot at any point.
func TestFoldingAStreamGivesTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		defer h.close(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
			if rapid.IntRange(0, 9).Draw(t, "snapshot") == 0 {
				must(t, rapid.SampledFrom(h.nodes).Draw(t, "of").Snapshot(context.Background()))
			}
		}
		for _, n := range h.nodes {
			s, skipped, err := state.Fold(context.Background(), n.Log())
			must(t, err)
			if len(skipped) > 0 {
				t.Errorf("skipped %s", skipped)
			}
			same(t, exported(t, n), marshalled(t, s))
			paged, skipped, err := state.Fold(context.Background(), &reads{Log: n.Log()})
			must(t, err)
			same(t, []any{s, 0}, []any{paged, len(skipped)})
			again, err := state.UnmarshalSnapshot([]byte(marshalled(t, s)))
			must(t, err)
			same(t, s, again)
		}
	})
}

// memoryOver is a provider in memory that writes to a log, all of it by a clock
// that stands still unless it is moved.
func memoryOver(log eventlog.Log, clk clock.Clock, opts ...state.Option) state.Replica {
	return state.NewMemory(append(opts, state.WithEventLog(log), state.WithClock(clk))...).(state.Replica)
}

// mutateAll makes one of each of the seven mutations, each with a name.
func mutateAll(p state.Provider) []struct {
	name string
	do   func(ctx context.Context) error
} {
	return []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{state.EvSessionCreated, func(ctx context.Context) error {
			_, err := p.Sessions().Create(ctx, state.Session{ID: "s", Title: "t"})
			return err
		}},
		{state.EvTurnAppended, func(ctx context.Context) error {
			_, err := p.Sessions().AppendTurn(ctx, state.Turn{SessionID: "s", Content: "hello"})
			return err
		}},
		{state.EvSessionDeleted, func(ctx context.Context) error { return p.Sessions().Delete(ctx, "s") }},
		{state.EvSkillUpserted, func(ctx context.Context) error {
			_, err := p.Skills().Upsert(ctx, state.Skill{Slug: "k", Tags: []string{"a"}})
			return err
		}},
		{state.EvSkillDeleted, func(ctx context.Context) error { return p.Skills().Delete(ctx, "k") }},
		{state.EvMemoryWritten, func(ctx context.Context) error {
			_, err := p.Memory().Write(ctx, state.MemoryItem{ID: "m", Content: "c"})
			return err
		}},
		{state.EvMemoryDeleted, func(ctx context.Context) error { return p.Memory().Delete(ctx, "m") }},
	}
}

// TestBothLogsSayTheSame: an event looks alike whoever keeps it.
func TestBothLogsSayTheSame(t *testing.T) {
	read := func(p state.Replica) []eventlog.Event {
		defer func() { must(t, p.Close()) }()
		for _, m := range mutateAll(p) {
			must(t, m.do(t.Context()))
		}
		events, err := p.Log().Read(t.Context(), state.StateStream, 0, 0)
		must(t, err)
		for i := range events {
			if turn, ok := events[i].Payload["turn"].(map[string]any); ok {
				turn["ID"] = "minted"
			}
		}
		return events
	}
	clk := clock.NewManual(startTime())
	own := read(state.NewMemory(state.WithClock(clk)).(state.Replica))
	clk = clock.NewManual(startTime())
	same(t, own, read(memoryOver(eventlog.NewMemory(clk.Now), clk)))
}

func TestAProviderOverALogOfTheCallers(t *testing.T) {
	statetest.RunLogSuite(t, func(_ testing.TB, log eventlog.Log) state.Replica {
		return state.NewMemory(state.WithEventLog(log)).(state.Replica)
	})
}

// TestReplayGoesOn: the stream, the numbers and the stamps.
func TestReplayGoesOn(t *testing.T) {
	clk := clock.NewManual(startTime())
	log := eventlog.NewMemory(clk.Now)
	first := memoryOver(log, clk)
	for _, m := range mutateAll(first) {
		must(t, m.do(t.Context()))
	}
	must(t, first.Close())
	p, err := state.Replay(t.Context(), log, state.WithClock(clk))
	must(t, err)
	defer func() { must(t, p.Close()) }()
	sk, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: "k"})
	must(t, err)
	same(t, []any{3, int64(3)}, []any{sk.Version, sk.SyncVersion})
	_, err = p.Sessions().Create(t.Context(), state.Session{ID: "s"})
	if !errors.Is(err, state.ErrConflict) {
		t.Errorf("a deleted session: %v", err)
	}
	events, err := log.Read(t.Context(), state.StateStream, 7, 0)
	must(t, err)
	same(t, int64(8), events[0].Seq)
}

// TestASnapshotShortensAReplay, unless it does not open.
func TestASnapshotShortensAReplay(t *testing.T) {
	public, private, err := ed25519.GenerateKey(bytes.NewReader(make([]byte, 64)))
	must(t, err)
	signer, err := eventlog.NewEd25519Signer(private)
	must(t, err)
	verifier, err := eventlog.NewEd25519Verifier(public)
	must(t, err)
	clk := clock.NewManual(startTime())
	log := eventlog.NewMemory(clk.Now)
	p := memoryOver(log, clk, state.WithSnapshotCodec(signer), state.WithSnapshotEvery(3))
	defer func() { must(t, p.Close()) }()
	for _, m := range mutateAll(p) {
		clk.Advance(time.Second)
		must(t, m.do(t.Context()))
	}
	saved, err := log.LatestSnapshot(t.Context(), state.StateStream, 0)
	must(t, err)
	same(t, int64(6), saved.Seq)
	for name, codec := range map[string]eventlog.SnapshotCodec{"opens": verifier, "no codec": nil} {
		opts := []state.Option{state.WithSnapshotCodec(codec)}
		if codec == nil {
			opts = nil
		}
		counting := &reads{Log: log}
		s, _, err := state.Fold(t.Context(), counting, opts...)
		must(t, err)
		same(t, exported(t, p), marshalled(t, s))
		if want := map[string]int64{"opens": 6}[name]; counting.from != want {
			t.Errorf("%s: folded from %d, want %d", name, counting.from, want)
		}
	}
}

// reads notes where reading a log began.
type reads struct {
	eventlog.Log
	from int64
	once bool
}

func (r *reads) Read(ctx context.Context, stream string, after int64, limit int) ([]eventlog.Event, error) {
	if !r.once && limit != 1 { // one event is looked at, not folded
		r.from, r.once = after, true
	}
	return r.Log.Read(ctx, stream, after, limit)
}

func TestUnknownEventsAreSkippedAndCounted(t *testing.T) {
	clk := clock.NewManual(startTime())
	log := eventlog.NewMemory(clk.Now)
	for _, in := range []eventlog.AppendInput{
		{Stream: state.StateStream, Type: "plan.made", Payload: map[string]any{"plan": "x"}},
		{Stream: state.StateStream, Type: state.EvMemoryWritten, SchemaVersion: 2, Payload: map[string]any{"item": "of a later build"}},
		{Stream: "other", Type: state.EvMemoryWritten},
	} {
		_, err := log.Append(t.Context(), in)
		must(t, err)
	}
	s, skipped, err := state.Fold(t.Context(), log)
	must(t, err)
	same(t, "memory.written: 1, plan.made: 1", skipped.String())
	same(t, int64(2), s.LastSeq)

	_, err = log.Append(t.Context(), eventlog.AppendInput{Stream: state.StateStream, Type: state.EvMemoryWritten, Payload: map[string]any{"item": 1}})
	must(t, err)
	if _, err := state.Replay(t.Context(), log); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("a payload that is not what its type says: %v", err)
	}
}

func TestOldPayloadsAreBroughtUpToDate(t *testing.T) {
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: "c"})
	must(t, err)
	events, err := p.Log().Read(t.Context(), state.StateStream, 0, 0)
	must(t, err)
	item := events[0].Payload["item"].(map[string]any)
	item["Text"] = item["Content"]
	delete(item, "Content")
	log := eventlog.NewMemory(clk.Now)
	_, err = log.Append(t.Context(), eventlog.AppendInput{Stream: state.StateStream, Type: state.EvMemoryWritten, Payload: map[string]any{"item": item}})
	must(t, err)
	upcasters, err := eventlog.NewUpcasters(eventlog.Upcaster{Type: state.EvMemoryWritten, From: 1, Up: func(p map[string]any) (map[string]any, error) {
		item := p["item"].(map[string]any)
		item["Content"] = item["Text"]
		return p, nil
	}})
	must(t, err)
	s, _, err := state.Fold(t.Context(), log, state.WithUpcasters(upcasters))
	must(t, err)
	same(t, "c", s.Items[0].Content)
}

// TestAReplayIsOfItsTime: events that were stamped far ahead of the present clock
// are state like any other.
func TestAReplayIsOfItsTime(t *testing.T) {
	clk := clock.NewManual(startTime().Add(1000 * time.Hour))
	log := eventlog.NewMemory(clk.Now)
	p := memoryOver(log, clk)
	_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: "m"})
	must(t, err)
	replayed, err := state.Replay(t.Context(), log, state.WithClock(clock.NewManual(startTime())))
	must(t, err)
	same(t, exported(t, p), exported(t, replayed))
}

// TestOutcomesAreReplayed: a call that counts and writes is one event, and the
// sums are there again.
func TestOutcomesAreReplayed(t *testing.T) {
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	defer func() { must(t, p.Close()) }()
	_, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: "k", Uses: 5, Wins: 3})
	must(t, err)
	want, err := p.SkillLibrary().RecordOutcome(t.Context(), "k", true)
	must(t, err)
	same(t, []any{6, 4}, []any{want.Uses, want.Wins})
	events, err := p.Log().Read(t.Context(), state.StateStream, 0, 0)
	must(t, err)
	same(t, []any{2, state.EvSkillUpserted, state.EvOutcomeRecorded}, []any{len(events), events[0].Type, events[1].Type})
	replayed, err := state.Replay(t.Context(), p.Log(), state.WithClock(clk))
	must(t, err)
	defer func() { must(t, replayed.Close()) }()
	got, err := replayed.Skills().Get(t.Context(), "k")
	must(t, err)
	same(t, want, got)
	same(t, exported(t, p), exported(t, replayed))
}

// TestASnapshotThatFailsFailsNoWrite: an automatic one is as good as it gets.
func TestASnapshotThatFailsFailsNoWrite(t *testing.T) {
	clk := clock.NewManual(startTime())
	log := eventlogtest.NewFaulty(eventlog.NewMemory(clk.Now), eventlogtest.FailOn(eventlogtest.OpSaveSnapshot))
	p := memoryOver(log, clk, state.WithSnapshotEvery(1))
	defer func() { must(t, p.Close()) }()
	for i := range 3 {
		_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: strconv.Itoa(i)})
		must(t, err)
	}
	same(t, 3, log.Calls(eventlogtest.OpSaveSnapshot))
}

// TestWhatIsRestoredIsAnEvent like any write.
func TestWhatIsRestoredIsAnEvent(t *testing.T) {
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	defer func() { must(t, p.Close()) }()
	for _, content := range []string{"first", "second"} {
		_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: content})
		must(t, err)
	}
	past, err := p.MemoryLibrary().History(t.Context(), "m")
	must(t, err)
	_, err = p.Restore(t.Context(), merge.Key{Kind: "memory", ID: "m"}, past[1].Hash)
	must(t, err)
	events, err := p.Log().Read(t.Context(), state.StateStream, 2, 0)
	must(t, err)
	it, err := state.DecodeMemoryItem(events[0].Payload)
	must(t, err)
	same(t, []any{"first", int64(3)}, []any{it.Content, it.SyncVersion})
	s, _, err := state.Fold(t.Context(), p.Log())
	must(t, err)
	same(t, exported(t, p), marshalled(t, s))
}

// TestALogThatLostItsEnd: a snapshot of what is gone does not hide what was
// written since.
func TestALogThatLostItsEnd(t *testing.T) {
	clk := clock.NewManual(startTime())
	whole := eventlog.NewMemory(clk.Now)
	p := memoryOver(whole, clk)
	write := func(p state.Provider, id string) {
		_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: id})
		must(t, err)
	}
	for i := range 5 {
		write(p, strconv.Itoa(i))
	}
	must(t, p.Snapshot(t.Context()))
	must(t, p.Close())
	saved, err := whole.LatestSnapshot(t.Context(), state.StateStream, 0)
	must(t, err)
	events, err := whole.Read(t.Context(), state.StateStream, 0, 2)
	must(t, err)
	cut := eventlog.NewMemory(clk.Now)
	for _, e := range events {
		_, err := cut.Append(t.Context(), eventlog.AppendInput{Stream: e.Stream, Type: e.Type, Payload: e.Payload, Time: e.Time, OriginInstanceID: e.OriginInstanceID})
		must(t, err)
	}
	must(t, cut.SaveSnapshot(t.Context(), saved))
	for i := range 6 { // below, at and above the number of the snapshot
		p, err := state.Replay(t.Context(), cut, state.WithClock(clk))
		must(t, err)
		items, err := p.Memory().Recall(t.Context(), state.RecallQuery{})
		must(t, err)
		same(t, 2+i, len(items))
		clk.Advance(time.Millisecond)
		write(p, "new"+strconv.Itoa(i))
		must(t, p.Close())
	}
}

// TestAHostsOwnStreamIsReplayed: one that was made by a Stamper alone, by the
// rules of the published page: totals in the image of the skill, turns counted in
// that of the session.
func TestAHostsOwnStreamIsReplayed(t *testing.T) {
	clk := clock.NewManual(startTime().Add(123_456_789))
	stamper := state.NewStamper("host", clk, hlc.NewClock(clk.Now, hlc.Timestamp{}), ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&countingEntropy{})))
	log := eventlog.NewMemory(clk.Now)
	add := func(in eventlog.AppendInput, err error) {
		must(t, err)
		_, err = log.Append(t.Context(), in)
		must(t, err)
	}
	ses, in, err := stamper.CreateSession(state.Session{ID: "s"})
	add(in, err)
	turn, ses, in, err := stamper.AppendTurn(ses, state.Turn{ID: "t", Content: "hello"}, 1)
	add(in, err)
	gone, in, err := stamper.CreateSession(state.Session{ID: "gone"})
	add(in, err)
	_, gone, in, err = stamper.AppendTurn(gone, state.Turn{ID: "t"}, 1)
	add(in, err)
	gone, in, err = stamper.DeleteSession(gone)
	add(in, err)
	sk, in, err := stamper.UpsertSkill(nil, state.Skill{Slug: "k", Uses: 3, Wins: 2})
	add(in, err)
	sk, in, err = stamper.UpsertSkill(&sk, state.Skill{Slug: "k", Uses: 1})
	add(in, err)
	same(t, []any{3, 2}, []any{sk.Uses, sk.Wins})
	if ses.UpdatedAt.Before(ses.CreatedAt) {
		t.Errorf("updated at %s, created at %s", ses.UpdatedAt, ses.CreatedAt)
	}

	s, _, err := state.Fold(t.Context(), log)
	must(t, err)
	same(t, []any{ses, gone, sk}, []any{s.Sessions[1], s.Sessions[0], s.Skills[0]})
	p, err := state.Replay(t.Context(), log, state.WithClock(clk))
	must(t, err)
	defer func() { must(t, p.Close()) }()
	got, err := p.Sessions().Get(t.Context(), "s")
	must(t, err)
	turns, err := p.Sessions().Turns(t.Context(), "s")
	must(t, err)
	skill, err := p.Skills().Get(t.Context(), "k")
	must(t, err)
	same(t, []any{ses, []state.Turn{turn}, sk}, []any{got, turns, skill})

	// The host's own snapshot, and ours of the same.
	payload, err := state.MarshalSnapshot(state.Snapshot{
		LastSeq: 7, Sessions: []state.Session{ses}, Turns: []state.Turn{turn}, Skills: []state.Skill{sk},
	})
	must(t, err)
	must(t, log.SaveSnapshot(t.Context(), eventlog.Snapshot{Stream: state.StateStream, Seq: 7, Payload: payload}))
	from, _, err := state.Fold(t.Context(), log)
	must(t, err)
	same(t, []any{1, ses, sk}, []any{len(from.Sessions), from.Sessions[0], from.Skills[0]})
}

// TestTheSameCallsGiveTheSameBytes, outcomes included, and a replay goes on
// counting where the process before did.
func TestTheSameCallsGiveTheSameBytes(t *testing.T) {
	var all []string
	for range 2 {
		clk := clock.NewManual(startTime())
		generator := ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&countingEntropy{}))
		log := eventlog.NewMemory(clk.Now)
		p := memoryOver(log, clk, state.WithIDGenerator(generator))
		_, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: "k", Uses: 2, Wins: 1})
		must(t, err)
		must(t, p.Close())
		for range 3 {
			again, err := state.Replay(t.Context(), log, state.WithClock(clk))
			must(t, err)
			_, err = again.(state.Replica).SkillLibrary().RecordOutcome(t.Context(), "k", false)
			must(t, err)
			s, err := again.(state.Replica).Export(t.Context())
			must(t, err)
			same(t, 1, len(s.Outcomes))
			must(t, again.Close())
		}
		s, _, err := state.Fold(t.Context(), log)
		must(t, err)
		same(t, []any{5, 1}, []any{s.Skills[0].Uses, s.Skills[0].Wins})
		all = append(all, marshalled(t, s))
	}
	same(t, all[0], all[1])
}

func TestReplayOfAStoresStreamWritesItsOwn(t *testing.T) {
	clk := clock.NewManual(startTime())
	own := state.NewMemory(state.WithClock(clk)).(state.Replica)
	defer func() { must(t, own.Close()) }()
	_, err := own.Memory().Write(t.Context(), state.MemoryItem{ID: "m"})
	must(t, err)
	p, err := state.Replay(t.Context(), own.Log(), state.WithClock(clk))
	must(t, err)
	defer func() { must(t, p.Close()) }()
	_, err = p.Memory().Write(t.Context(), state.MemoryItem{ID: "n"})
	must(t, err)
	if _, err := state.Replay(t.Context(), nil); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("no log: %v", err)
	}
}

// TestSnapshotsAreCountedAcrossOpenings: a replay folds few events however short
// the processes were.
func TestSnapshotsAreCountedAcrossOpenings(t *testing.T) {
	clk := clock.NewManual(startTime())
	log := eventlog.NewMemory(clk.Now)
	engine := store.NewMemory()
	for i := range 6 {
		p, err := state.Replay(t.Context(), log, state.WithClock(clk), state.WithSnapshotEvery(5))
		must(t, err)
		n := openNode(t, kept{engine}, clk, state.Config{InstanceID: "a", SnapshotEvery: 5})
		for _, p := range []state.Provider{p, n} {
			for range 2 {
				clk.Advance(time.Millisecond)
				_, err := p.Memory().Write(t.Context(), state.MemoryItem{})
				must(t, err)
			}
		}
		for name, l := range map[string]eventlog.Log{"log": log, "store": n.Log()} {
			saved, err := l.LatestSnapshot(t.Context(), state.StateStream, 0)
			if want := int64(2*(i+1)) / 5 * 5; want == 0 && !errors.Is(err, eventlog.ErrNotFound) || want > 0 && saved.Seq != want {
				t.Errorf("%s after %d writes: a snapshot at %d (%v), want %d", name, 2*(i+1), saved.Seq, err, want)
			}
		}
		must(t, p.Close())
		must(t, n.Close())
	}
}

// kept is an engine that outlives the providers over it.
type kept struct{ store.Engine }

func (kept) Close() error { return nil }
