package statetest

import (
	"context"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/eventlog/eventlogtest"
)

// mutation is one call that changes something, by the type of its event.
type mutation struct {
	event string
	do    func(ctx context.Context, p state.Provider) error
}

// mutations are one of each type, each possible after those before it.
func mutations() []mutation {
	return []mutation{
		{state.EvSessionCreated, func(ctx context.Context, p state.Provider) error {
			_, err := p.Sessions().Create(ctx, state.Session{ID: "s", Title: "t"})
			return err
		}},
		{state.EvTurnAppended, func(ctx context.Context, p state.Provider) error {
			_, err := p.Sessions().AppendTurn(ctx, state.Turn{SessionID: "s", ID: "t", Content: "hello"})
			return err
		}},
		{state.EvSessionDeleted, func(ctx context.Context, p state.Provider) error { return p.Sessions().Delete(ctx, "s") }},
		{state.EvSkillUpserted, func(ctx context.Context, p state.Provider) error {
			_, err := p.Skills().Upsert(ctx, state.Skill{Slug: "k", Tags: []string{"a"}, Uses: 4, Wins: 1})
			return err
		}},
		{state.EvSkillDeleted, func(ctx context.Context, p state.Provider) error { return p.Skills().Delete(ctx, "k") }},
		{state.EvMemoryWritten, func(ctx context.Context, p state.Provider) error {
			_, err := p.Memory().Write(ctx, state.MemoryItem{ID: "m", Content: "c"})
			return err
		}},
		{state.EvMemoryDeleted, func(ctx context.Context, p state.Provider) error { return p.Memory().Delete(ctx, "m") }},
	}
}

// RunLogSuite holds a provider to how it writes to a log of the caller's.
// newProvider returns an empty one over a log that is empty; it is closed by the
// suite.
func RunLogSuite(t *testing.T, newProvider func(testing.TB, eventlog.Log) state.Replica) {
	t.Helper()
	newLog := func(t *testing.T, plan eventlogtest.Plan) (*eventlogtest.Faulty, state.Replica) {
		t.Helper()
		log := eventlogtest.NewFaulty(eventlog.NewMemory(clock.System{}.Now), plan)
		p := newProvider(t, log)
		t.Cleanup(func() {
			if err := p.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return log, p
	}
	t.Run("one of each of the seven mutations is seven events", func(t *testing.T) {
		log, p := newLog(t, nil)
		r := newRun(t, p)
		for i, m := range mutations() {
			r.must(m.do(t.Context(), p))
			events := r.events(log)
			last := events[len(events)-1]
			r.equal([]any{i + 1, int64(i + 1), m.event, eventlog.PathLocal}, []any{len(events), last.Seq, last.Type, last.Path})
			r.replays(p, log)
		}
	})
	for i, m := range mutations() {
		t.Run("a failed append of "+m.event+" leaves nothing", func(t *testing.T) {
			log, p := newLog(t, eventlogtest.FailOn(eventlogtest.OpAppend, i+1))
			r := newRun(t, p)
			for _, before := range mutations()[:i] {
				r.must(before.do(t.Context(), p))
			}
			state, stream := r.exported(p), r.events(log)
			if err := m.do(t.Context(), p); !errors.Is(err, eventlogtest.ErrInjected) {
				t.Errorf("error %v, want the injected one", err)
			}
			r.equal(state, r.exported(p))
			r.equal(stream, r.events(log))
			for _, rest := range mutations()[i:] {
				r.must(rest.do(t.Context(), p))
			}
			r.equal(int64(len(mutations())), r.events(log)[len(mutations())-1].Seq)
			r.replays(p, log)
		})
	}
	t.Run("a log that cannot be read is an error of whoever reads it", func(t *testing.T) {
		log, p := newLog(t, nil)
		r := newRun(t, p)
		r.must(mutations()[0].do(t.Context(), p))
		for _, op := range []eventlogtest.Op{eventlogtest.OpRead, eventlogtest.OpLatestSnapshot} {
			log.SetPlan(eventlogtest.FailOn(op))
			_, err := state.Replay(t.Context(), log)
			r.fails(eventlogtest.ErrInjected, err)
		}
		log.SetPlan(eventlogtest.FailOn(eventlogtest.OpSaveSnapshot))
		r.fails(eventlogtest.ErrInjected, p.Snapshot(t.Context()))
		r.must(mutations()[1].do(t.Context(), p))
	})
}

// eventCases hold the stream of a provider that keeps it itself.
func eventCases() []testCase {
	return []testCase{
		{"one of each of the seven mutations is an event", func(t *run) {
			p := t.replica()
			var types []string
			for _, m := range mutations() {
				t.must(m.do(t.ctx(), p))
				t.replays(p, p.Log())
			}
			for i, e := range t.events(p.Log()) {
				t.equal(int64(i+1), e.Seq)
				if e.Type != state.EvOutcomeRecorded { // of the totals of the skill, in a record of its own
					types = append(types, e.Type)
				}
			}
			var want []string
			for _, m := range mutations() {
				want = append(want, m.event)
			}
			t.equal(want, types)
		}},
		{"what changes nothing is no event", func(t *run) {
			p := t.replica()
			t.create(state.Session{ID: "s"})
			t.append(state.Turn{SessionID: "s", ID: "t"})
			before := t.events(p.Log())
			t.append(state.Turn{SessionID: "s", ID: "t"})
			t.fails(state.ErrNotFound, t.skills.Delete(t.ctx(), "nope"))
			_, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: "\x00"})
			t.fails(state.ErrInvalid, err)
			t.equal(before, t.events(p.Log()))
		}},
		{"a saved snapshot and the rest of the stream are the state", func(t *run) {
			p := t.replica()
			for i, m := range mutations() {
				t.must(m.do(t.ctx(), p))
				if i == 3 {
					t.must(p.Snapshot(t.ctx()))
					saved, err := p.Log().LatestSnapshot(t.ctx(), state.StateStream, 0)
					t.must(err)
					s, err := state.UnmarshalSnapshot(saved.Payload)
					t.must(err)
					s.LastEvent, s.Covers = "", 0
					payload, err := state.MarshalSnapshot(s)
					t.must(err)
					t.equal(t.exported(p), string(payload))
				}
			}
			t.replays(p, p.Log())
		}},
	}
}

func (t *run) events(log eventlog.Log) []eventlog.Event {
	t.Helper()
	events, err := log.Read(t.ctx(), state.StateStream, 0, 0)
	t.must(err)
	return events
}

// exported is the state of a provider in bytes.
func (t *run) exported(p state.Replica) string {
	t.Helper()
	s, err := p.Export(t.ctx())
	t.must(err)
	payload, err := state.MarshalSnapshot(s)
	t.must(err)
	return string(payload)
}

// replays checks that folding a log gives the state of a provider, byte for
// byte, and a provider that answers alike.
func (t *run) replays(p state.Replica, log eventlog.Log) {
	t.Helper()
	folded, _, err := state.Fold(t.ctx(), log)
	t.must(err)
	payload, err := state.MarshalSnapshot(folded)
	t.must(err)
	t.equal(t.exported(p), string(payload))
	replayed, err := state.Replay(t.ctx(), log)
	t.must(err)
	defer func() { t.must(replayed.Close()) }()
	if again, ok := replayed.(state.Replica); ok {
		s, err := again.Export(t.ctx())
		t.must(err)
		s.LastSeq = folded.LastSeq // over the stream of a store it counts events of its own
		t.equal(folded, s)
	}
	want, got := newRun(t.T, p), newRun(t.T, replayed)
	t.equal(want.search("", 0), got.search("", 0))
	t.equal(want.recall(state.RecallQuery{}), got.recall(state.RecallQuery{}))
	sessions := want.listSessions()
	t.equal(sessions, got.listSessions())
	for _, ses := range sessions {
		t.equal(want.turns(ses.ID), got.turns(ses.ID))
	}
}
