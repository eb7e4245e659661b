package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// oneOfEach returns an event of each kind of image by the name of that image.
func oneOfEach(t *testing.T) map[string]eventlog.Event {
	t.Helper()
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	defer func() { must(t, p.Close()) }()
	_, err := p.Sessions().Create(t.Context(), state.Session{ID: "s"})
	must(t, err)
	_, err = p.Sessions().AppendTurn(t.Context(), state.Turn{SessionID: "s", ID: "t"})
	must(t, err)
	_, err = p.Skills().Upsert(t.Context(), state.Skill{Slug: "k"})
	must(t, err)
	_, err = p.SkillLibrary().RecordOutcome(t.Context(), "k", true)
	must(t, err)
	_, err = p.Memory().Write(t.Context(), state.MemoryItem{ID: "m"})
	must(t, err)
	events, err := p.Log().Read(t.Context(), state.StateStream, 0, 0)
	must(t, err)
	return map[string]eventlog.Event{"session": events[0], "turn": events[1], "skill": events[2], "outcome": events[3], "item": events[4]}
}

// logOf returns a log of events as they are.
func logOf(t *testing.T, events ...eventlog.Event) eventlog.Log {
	t.Helper()
	log := eventlog.NewMemory(startTime)
	for _, e := range events {
		_, err := log.Append(t.Context(), eventlog.AppendInput{Stream: state.StateStream, Type: e.Type, Payload: e.Payload})
		must(t, err)
	}
	return log
}

// TestImagesThatBreakTheRulesAreRefused by a fold as by a provider, by the name
// of their event.
func TestImagesThatBreakTheRulesAreRefused(t *testing.T) {
	const decomposed = "cafe\u0301"
	badScope := map[string]any{"Instance": "", "Project": "a\nb", "Workspace": ""}
	for image, fields := range map[string]map[string][]any{
		"session": {"ID": {"", "a\x00b", decomposed, strings.Repeat("x", 257)}, "SyncVersion": {int64(0), int64(-1)}, "UpdatedHLC": {"0.0"}},
		"turn":    {"ID": {""}, "SessionID": {"", decomposed}, "Seq": {int64(0), int64(-1)}, "SyncVersion": {int64(0)}},
		"skill": {
			"ID": {""}, "Slug": {"", "..", "a/b", decomposed}, "Scope": {badScope},
			"Version": {int64(0), int64(-1)}, "Uses": {int64(-1)}, "Wins": {int64(-1)},
		},
		"item":    {"ID": {"", decomposed}, "Scope": {badScope}, "SyncVersion": {int64(0)}},
		"outcome": {"Slug": {""}, "StoreID": {"", "A"}, "Scope": {badScope}, "Uses": {int64(-1), int64(1<<48 + 1)}, "Wins": {int64(-1)}},
	} {
		for field, values := range fields {
			for _, value := range values {
				e := oneOfEach(t)[image]
				e.Payload[image].(map[string]any)[field] = value
				log := logOf(t, e)
				for name, read := range map[string]func() error{
					"fold":   func() error { _, _, err := state.Fold(t.Context(), log); return err },
					"replay": func() error { _, err := state.Replay(t.Context(), log); return err },
				} {
					err := read()
					if !errors.Is(err, state.ErrInvalid) || !strings.Contains(err.Error(), "event 1") {
						t.Errorf("%s of %s with %s %q: %v", name, image, field, value, err)
					}
				}
			}
		}
	}
}

// TestASnapshotThatBreaksTheRulesIsNone: the stream says what counts.
func TestASnapshotThatBreaksTheRulesIsNone(t *testing.T) {
	log := logOf(t, oneOfEach(t)["item"])
	whole, _, err := state.Fold(t.Context(), log)
	must(t, err)
	broken := whole
	broken.Items = append([]state.MemoryItem{{}}, whole.Items...)
	payload, err := state.MarshalSnapshot(broken)
	must(t, err)
	must(t, log.SaveSnapshot(t.Context(), eventlog.Snapshot{Stream: state.StateStream, Seq: 1, Payload: payload}))
	got, _, err := state.Fold(t.Context(), log)
	must(t, err)
	same(t, whole, got)
}

// TestASnapshotUnderAnotherNumberIsNone: what it was saved as says where the
// stream goes on.
func TestASnapshotUnderAnotherNumberIsNone(t *testing.T) {
	each := oneOfEach(t)
	log := logOf(t, each["session"], each["skill"], each["item"])
	whole, _, err := state.Fold(t.Context(), log)
	must(t, err)
	for _, says := range []int64{1, 3} {
		payload, err := state.MarshalSnapshot(state.Snapshot{LastSeq: says})
		must(t, err)
		must(t, log.SaveSnapshot(t.Context(), eventlog.Snapshot{Stream: state.StateStream, Seq: 2, Payload: payload}))
		got, _, err := state.Fold(t.Context(), log)
		must(t, err)
		same(t, whole, got)
	}
}

// TestAHiddenRecordTakesItsImageAway, of whatever kind, from a log as from the
// store that has it.
func TestAHiddenRecordTakesItsImageAway(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	_, err := n.Sessions().Create(t.Context(), state.Session{ID: "s", Title: "title"})
	must(t, err)
	_, err = n.Sessions().Create(t.Context(), state.Session{ID: "kept"})
	must(t, err)
	n.say(t, "hello")
	n.upsert(t, state.Skill{Slug: "k"})
	n.record(t, "k", true)
	n.write(t, state.MemoryItem{ID: "m"})
	for i, rec := range n.log {
		if rec.Key.ID == merge.NewID("kept") {
			continue
		}
		n.receive(t, version(t, rec.Key, "b", merge.Envelope{
			UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli() + 1, Counter: uint16(i)}, SyncVersion: 2,
		}, []byte{0x60}))
	}
	events, err := n.Log().Read(t.Context(), state.StateStream, 0, 0)
	must(t, err)
	for name, log := range map[string]eventlog.Log{"store": n.Log(), "log": logOf(t, events...)} {
		s, skipped, err := state.Fold(t.Context(), log)
		must(t, err)
		same(t, []any{name, 1, 0, 0, 0, 0}, []any{name, len(s.Sessions), len(s.Turns), len(s.Skills), len(s.Items), len(s.Outcomes)})
		same(t, "kept", s.Sessions[0].ID)
		same(t, 5, len(skipped))
	}
}

// TestAHiddenImageComesBack when a later version of its record can be shown.
func TestAHiddenImageComesBack(t *testing.T) {
	each := oneOfEach(t)
	var image map[string]any
	encoded, err := json.Marshal(each["item"].Payload["item"])
	must(t, err)
	must(t, json.Unmarshal(encoded, &image))
	hidden := maps.Clone(image)
	hidden["Kind"], hidden["ID"], hidden["Body"] = "memory", []any{"m"}, ""
	hide := eventlog.Event{Type: state.EvMemoryWritten, Payload: map[string]any{"record": hidden}}
	s, _, err := state.Fold(t.Context(), logOf(t, each["item"], hide, each["skill"], each["item"], each["item"]))
	must(t, err)
	same(t, []any{1, "m"}, []any{len(s.Items), s.Items[0].ID})
}

// TestAReplayLeavesTheClockAsItIs: what was loaded from ahead of it holds it no
// longer than the load.
func TestAReplayLeavesTheClockAsItIs(t *testing.T) {
	clk := clock.NewManual(startTime().Add(1000 * time.Hour))
	log := eventlog.NewMemory(clk.Now)
	p := memoryOver(log, clk)
	_, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: "m"})
	must(t, err)
	must(t, p.Close())
	replayed, err := state.Replay(t.Context(), log, state.WithClock(clock.NewManual(startTime())))
	must(t, err)
	defer func() { must(t, replayed.Close()) }()
	if _, err := replayed.Memory().Write(t.Context(), state.MemoryItem{}); !errors.Is(err, hlc.ErrClockAhead) {
		t.Errorf("a write from long before the newest: %v, want %v", err, hlc.ErrClockAhead)
	}
}

// TestADeletedSessionSaysNothing: of its head only the id and its creation stay.
func TestADeletedSessionSaysNothing(t *testing.T) {
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	defer func() { must(t, p.Close()) }()
	created, err := p.Sessions().Create(t.Context(), state.Session{ID: "s", Title: "title", Model: "model"})
	must(t, err)
	must(t, p.Sessions().Delete(t.Context(), "s"))
	events, err := p.Log().Read(t.Context(), state.StateStream, 1, 0)
	must(t, err)
	s, _, err := state.Fold(t.Context(), p.Log())
	must(t, err)
	told, err := state.DecodeSession(events[0].Payload)
	must(t, err)
	stamper, _ := newStamper()
	stamped, _, err := stamper.DeleteSession(created)
	must(t, err)
	for _, ses := range []state.Session{s.Sessions[0], told, stamped} {
		same(t, []any{"s", "", "", created.CreatedAt, true}, []any{ses.ID, ses.Title, ses.Model, ses.CreatedAt, ses.Deleted})
	}
}

// TestCountsStandStillAtTheirEnd: neither the versions of a session nor the places
// of its turns begin anew, whatever others have written.
func TestCountsStandStillAtTheirEnd(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime().Add(time.Second)))
	at := hlc.Timestamp{Wall: startTime().UnixMilli()}
	session, err := merge.Marshal(map[uint64]any{3: int64(1), 4: int64(1)})
	must(t, err)
	turn, err := merge.Marshal(map[uint64]any{3: int64(1), 4: int64(math.MaxInt64)})
	must(t, err)
	n.receive(t,
		version(t, merge.Key{Kind: "session", ID: "s"}, "b", merge.Envelope{UpdatedHLC: at, SyncVersion: math.MaxInt64 - 1}, session),
		version(t, merge.Key{Kind: "session.turn", ID: merge.NewID("s", "last")}, "b", merge.Envelope{UpdatedHLC: at}, turn))
	same(t, int64(math.MaxInt64), n.say(t, "more").Seq)
	ses, err := n.Sessions().Get(t.Context(), "s")
	must(t, err)
	same(t, int64(math.MaxInt64), ses.SyncVersion)
}

// TestTheNewestOfASessionIsTheLargerWriter where stamps are equal: of its record
// and its turns, and of its turns among each other.
func TestTheNewestOfASessionIsTheLargerWriter(t *testing.T) {
	at := hlc.Timestamp{Wall: startTime().UnixMilli()}
	session, err := merge.Marshal(map[uint64]any{3: int64(1), 4: int64(1)})
	must(t, err)
	turn, err := merge.Marshal(map[uint64]any{3: int64(1), 4: int64(1)})
	must(t, err)
	of := func(writer string) merge.Record {
		return version(t, merge.Key{Kind: "session.turn", ID: merge.NewID("s", writer)}, writer, merge.Envelope{UpdatedHLC: at}, turn)
	}
	for want, turns := range map[string][]merge.Record{
		"m": {of("b"), of("c")},
		"z": {of("z"), of("b")},
		"y": {of("b"), of("y")},
	} {
		n := newNode(t, "a", clock.NewManual(startTime()))
		n.receive(t, version(t, merge.Key{Kind: "session", ID: "s"}, "m", merge.Envelope{UpdatedHLC: at}, session))
		n.receive(t, turns[0])
		n.receive(t, turns[1])
		ses, err := n.Sessions().Get(t.Context(), "s")
		must(t, err)
		same(t, []any{want, int64(3)}, []any{ses.LastWriterID, ses.SyncVersion})
		s, _, err := state.Fold(t.Context(), n.Log())
		must(t, err)
		same(t, []state.Session{ses}, s.Sessions)
	}
}

// TestAnImpossibleScopeIsNoWayRoundAnEnd: a list of what cannot be fails like any
// other when the provider is closed or the context has ended.
func TestAnImpossibleScopeIsNoWayRoundAnEnd(t *testing.T) {
	p := state.NewMemory().(state.Replica)
	impossible := state.Scope{Project: "a\nb"}
	ended, end := context.WithCancel(t.Context())
	lists := map[string]func() (int, error){
		"skills": func() (int, error) { l, err := p.Skills().List(ended, impossible); return len(l), err },
		"recall": func() (int, error) {
			l, err := p.Memory().Recall(ended, state.RecallQuery{Scope: impossible})
			return len(l), err
		},
		"items":  func() (int, error) { l, err := p.MemoryLibrary().List(ended, impossible, ""); return len(l), err },
		"report": func() (int, error) { l, err := p.SkillLibrary().Report(ended, &impossible, 0); return len(l), err },
	}
	check := func(want error) {
		t.Helper()
		for name, list := range lists {
			if n, err := list(); n != 0 || !errors.Is(err, want) {
				t.Errorf("%s: %d, %v, want %v", name, n, err, want)
			}
		}
	}
	check(nil)
	must(t, p.Close())
	check(store.ErrClosed)
	end()
	check(context.Canceled)
}
