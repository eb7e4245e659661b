package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
)

// countingEntropy is deterministic entropy without end.
type countingEntropy struct{ n byte }

func (c *countingEntropy) Read(b []byte) (int, error) {
	for i := range b {
		c.n += 7
		b[i] = c.n
	}
	return len(b), nil
}

func startTime() time.Time { return time.UnixMilli(1_790_000_000_000).UTC() }

// newStamper returns a stamper of instance "a" on a clock that stands still.
func newStamper() (*state.Stamper, *clock.Manual) {
	clk := clock.NewManual(startTime())
	gen := ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&countingEntropy{}))
	return state.NewStamper("a", clk, hlc.NewClock(clk.Now, hlc.Timestamp{}), gen), clk
}

func TestStampedSkillIsComplete(t *testing.T) {
	s, clk := newStamper()
	created, event, err := s.UpsertSkill(nil, state.Skill{
		Slug: "cafe\u0301", Body: "x", Uses: 3, Version: 9, Envelope: state.Envelope{Deleted: true, LastWriterID: "forged"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := state.Skill{
		ID: state.SkillID(state.Scope{}, "café"), Slug: "café", Body: "x", Tags: []string{}, Uses: 3, Version: 1,
		CreatedAt: startTime(), UpdatedAt: startTime(),
		Envelope: state.Envelope{
			SyncVersion: 1, OriginInstanceID: "a", UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli()}, LastWriterID: "a",
		},
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	if event.Type != state.EvSkillUpserted || event.Stream != state.StateStream || !event.Time.Equal(startTime()) {
		t.Errorf("event %+v", event)
	}

	clk.Advance(time.Minute)
	updated, _, err := s.UpsertSkill(&created, state.Skill{ID: "ignored", Slug: "café", Name: "n", Envelope: created.Envelope})
	if err != nil {
		t.Fatal(err)
	}
	want.Body, want.Name, want.Version, want.SyncVersion = "", "n", 2, 2
	want.UpdatedAt, want.UpdatedHLC = clk.Now(), hlc.Timestamp{Wall: clk.Now().UnixMilli()}
	if diff := cmp.Diff(want, updated); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}

	deleted, event, err := s.DeleteSkill(updated)
	if err != nil {
		t.Fatal(err)
	}
	want.Name, want.Uses, want.Version, want.SyncVersion, want.Deleted = "", 0, 3, 3, true
	want.UpdatedHLC.Counter = 1
	if diff := cmp.Diff(want, deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	if event.Type != state.EvSkillDeleted {
		t.Errorf("event type %q", event.Type)
	}
	if _, _, err := s.DeleteSkill(deleted); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}

	clk.Set(startTime().Add(-time.Second))
	revived, _, err := s.UpsertSkill(&deleted, state.Skill{Slug: "café", Body: "again"})
	if err != nil {
		t.Fatal(err)
	}
	want.Body, want.Version, want.SyncVersion, want.Deleted = "again", 4, 4, false
	want.UpdatedAt, want.UpdatedHLC = clk.Now(), revived.UpdatedHLC
	if diff := cmp.Diff(want, revived); diff != "" {
		t.Errorf("revived (-want +got):\n%s", diff)
	}
	if !revived.UpdatedHLC.After(deleted.UpdatedHLC) {
		t.Errorf("stamp %s after %s although the clock went back", revived.UpdatedHLC, deleted.UpdatedHLC)
	}
}

func TestStampFollowsARecordFromElsewhere(t *testing.T) {
	s, _ := newStamper()
	ahead := hlc.Timestamp{Wall: startTime().UnixMilli() + 60_000, Counter: 5}
	existing := state.MemoryItem{
		ID: "x", CreatedAt: startTime(),
		Envelope: state.Envelope{SyncVersion: 1, OriginInstanceID: "b", UpdatedHLC: ahead, LastWriterID: "b"},
	}
	it, _, err := s.UpsertMemory(&existing, state.MemoryItem{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if !it.UpdatedHLC.After(ahead) || it.OriginInstanceID != "b" || it.LastWriterID != "a" {
		t.Errorf("got %+v after %s", it.Envelope, ahead)
	}
	existing.UpdatedHLC.Wall += hlc.DriftMax.Milliseconds()
	if _, _, err := s.DeleteMemory(existing); !errors.Is(err, hlc.ErrClockDrift) {
		t.Errorf("a record beyond the drift bound: %v, want ErrClockDrift", err)
	}
}

func TestCompareAndSet(t *testing.T) {
	s, _ := newStamper()
	stored, _, err := s.WriteMemory(state.MemoryItem{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	other := stored.UpdatedHLC
	other.Counter++
	tests := []struct {
		name     string
		existing *state.MemoryItem
		passed   state.Envelope
		want     error
	}{
		{"zero is unconditional", &stored, state.Envelope{}, nil},
		{"zero with a stale stamp is unconditional", &stored, state.Envelope{UpdatedHLC: other}, nil},
		{"a match passes", &stored, state.Envelope{SyncVersion: 1}, nil},
		{"a match with its stamp passes", &stored, stored.Envelope, nil},
		{"a smaller version conflicts", &stored, state.Envelope{SyncVersion: -1}, state.ErrConflict},
		{"a larger version conflicts", &stored, state.Envelope{SyncVersion: 2}, state.ErrConflict},
		{"another stamp conflicts", &stored, state.Envelope{SyncVersion: 1, UpdatedHLC: other}, state.ErrConflict},
		{"another writer conflicts", &stored, state.Envelope{SyncVersion: 1, LastWriterID: "b"}, state.ErrConflict},
		{"a version of no record conflicts", nil, state.Envelope{SyncVersion: 1}, state.ErrConflict},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := s.UpsertMemory(test.existing, state.MemoryItem{ID: "x", Envelope: test.passed})
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func TestStamperRefusesWhatBreaksTheRules(t *testing.T) {
	s, _ := newStamper()
	existing := state.Skill{Slug: "a"}
	skill := func(existing *state.Skill, sk state.Skill) func() error {
		return func() error { _, _, err := s.UpsertSkill(existing, sk); return err }
	}
	memory := func(it state.MemoryItem) func() error {
		return func() error { _, _, err := s.WriteMemory(it); return err }
	}
	tests := []struct {
		name  string
		write func() error
	}{
		{"the record of another slug", skill(&existing, state.Skill{Slug: "b"})},
		{"the record of another scope", skill(&existing, state.Skill{Slug: "a", Scope: state.Scope{Project: "p"}})},
		{"negative uses", skill(nil, state.Skill{Slug: "a", Uses: -1})},
		{"tags whose halves join to UTF-8", skill(nil, state.Skill{Slug: "a", Tags: []string{"\xc3", "\xa9"}})},
		{"an origin that names nobody", skill(nil, state.Skill{Slug: "a", Envelope: state.Envelope{OriginInstanceID: "\n"}})},
		{"a time before 1678", memory(state.MemoryItem{CreatedAt: time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)})},
		{"a time after 2262", memory(state.MemoryItem{CreatedAt: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.write(); !errors.Is(err, state.ErrInvalid) {
				t.Errorf("got %v, want ErrInvalid", err)
			}
		})
	}
}

func TestStamperRepeatsItself(t *testing.T) {
	stampAll := func() []any {
		s, _ := newStamper()
		sk, e1, err1 := s.UpsertSkill(nil, state.Skill{Slug: "a"})
		it, e2, err2 := s.WriteMemory(state.MemoryItem{Content: "x"})
		return []any{sk, e1, err1, it, e2, err2}
	}
	if diff := cmp.Diff(stampAll(), stampAll()); diff != "" {
		t.Errorf("second run (-first +second):\n%s", diff)
	}
}

func TestPayloadsDecodeToTheirRecord(t *testing.T) {
	s, _ := newStamper()
	sk, skillEvent, err := s.UpsertSkill(nil, state.Skill{
		Slug: "deploy", Name: "n", Body: "b\u2028", Tags: []string{"x", ""}, Scope: state.Scope{Project: "p"}, Check: "c",
		CreatedAt: time.Unix(3, 7),
	})
	if err != nil {
		t.Fatal(err)
	}
	it, memoryEvent, err := s.WriteMemory(state.MemoryItem{Kind: "fact", Content: "c", Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, through := range []func(*testing.T, eventlog.AppendInput) map[string]any{
		func(_ *testing.T, e eventlog.AppendInput) map[string]any { return e.Payload },
		jsonTrip,
	} {
		gotSkill, err := state.DecodeSkill(through(t, skillEvent))
		if diff := cmp.Diff(sk, gotSkill); err != nil || diff != "" {
			t.Errorf("skill (-want +got), %v:\n%s", err, diff)
		}
		gotItem, err := state.DecodeMemoryItem(through(t, memoryEvent))
		if diff := cmp.Diff(it, gotItem); err != nil || diff != "" {
			t.Errorf("item (-want +got), %v:\n%s", err, diff)
		}
	}
	for field := range skillEvent.Payload["skill"].(map[string]any) {
		payload := jsonTrip(t, skillEvent)
		delete(payload["skill"].(map[string]any), field)
		if got, err := state.DecodeSkill(payload); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("without %s: %+v, %v, want ErrInvalid", field, got, err)
		}
	}
	if _, err := state.DecodeMemoryItem(skillEvent.Payload); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("an item from a skill's payload: %v, want ErrInvalid", err)
	}
}

func jsonTrip(t *testing.T, e eventlog.AppendInput) map[string]any {
	t.Helper()
	text, err := json.Marshal(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var payload map[string]any
	if err := decoder.Decode(&payload); err != nil {
		t.Fatal(err)
	}
	return payload
}
