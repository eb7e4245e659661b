package eventlogtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// modelCases hold a log against a naive twin over random histories, some of
// whose calls fail. All histories run on one log, each on streams of its own:
// that they do not meet is a part of the contract.
func modelCases() []testCase {
	return []testCase{{"a log does what its naive twin does", func(t *run) {
		histories := 0
		rapid.Check(t.T, func(rt *rapid.T) {
			histories++
			m := &machine{
				t: rt, run: t, faulty: NewFaulty(t.log, nil),
				streams: []string{fmt.Sprintf("%d/a", histories), fmt.Sprintf("%d/b", histories)},
			}
			rt.Repeat(map[string]func(*rapid.T){
				"append": m.append, "read": m.read, "save": m.save, "latest": m.latest,
			})
		})
	}}}
}

// machine runs one history on a log and on its twin.
type machine struct {
	t       *rapid.T
	run     *run
	faulty  *Faulty
	streams []string
	twin    twin
}

// fails draws whether the next call of op does.
func (m *machine) fails(t *rapid.T, op Op) bool {
	fails := rapid.IntRange(0, 4).Draw(t, "fault") == 4
	m.faulty.SetPlan(nil)
	if fails {
		m.faulty.SetPlan(FailOn(op))
	}
	return fails
}

// failed reports whether the call did, and checks that it did as drawn.
func failed(t *rapid.T, wanted bool, err error) bool {
	if errors.Is(err, ErrInjected) != wanted {
		t.Fatalf("error %v, fault drawn: %v", err, wanted)
	}
	return wanted
}

func (m *machine) stream(t *rapid.T) string { return rapid.SampledFrom(m.streams).Draw(t, "stream") }

func (m *machine) append(t *rapid.T) {
	in := eventlog.AppendInput{
		Stream:        m.stream(t),
		Type:          rapid.StringN(1, 8, 20).Draw(t, "type"),
		Actor:         rapid.SampledFrom([]eventlog.ActorType{"", eventlog.ActorAgent, eventlog.ActorSystem}).Draw(t, "actor"),
		Payload:       drawObject(t, 3),
		SchemaVersion: rapid.IntRange(0, 3).Draw(t, "schema version"),
		Time:          time.Unix(rapid.Int64Range(1, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")),
		Path:          rapid.SampledFrom([]string{"", "gossip"}).Draw(t, "path"),
		CausationID:   rapid.String().Draw(t, "cause"),
	}
	fails := m.fails(t, OpAppend)
	got, err := m.faulty.Append(m.run.ctx(), in)
	if failed(t, fails, err) {
		return
	}
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	same(t, []shownEvent{m.twin.append(in)}, shown([]eventlog.Event{got}))
	spoil(in.Payload)
	spoil(got.Payload)
}

func (m *machine) read(t *rapid.T) {
	stream := m.stream(t)
	after, limit := rapid.Int64Range(-1, 12).Draw(t, "after"), rapid.IntRange(-1, 5).Draw(t, "limit")
	fails := m.fails(t, OpRead)
	got, err := m.faulty.Read(m.run.ctx(), stream, after, limit)
	if failed(t, fails, err) {
		return
	}
	if err != nil || got == nil {
		t.Fatalf("read: %v, %v", got, err)
	}
	same(t, m.twin.read(stream, after, limit), shown(got))
	for _, e := range got {
		spoil(e.Payload)
	}
}

func (m *machine) save(t *rapid.T) {
	s := eventlog.Snapshot{
		Stream:  m.stream(t),
		Seq:     rapid.Int64Range(0, 12).Draw(t, "seq"),
		Payload: rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "payload"),
	}
	fails := m.fails(t, OpSaveSnapshot)
	err := m.faulty.SaveSnapshot(m.run.ctx(), s)
	if failed(t, fails, err) {
		return
	}
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	m.twin.save(s)
	clear(s.Payload)
}

func (m *machine) latest(t *rapid.T) {
	stream, upTo := m.stream(t), rapid.Int64Range(-1, 13).Draw(t, "up to")
	fails := m.fails(t, OpLatestSnapshot)
	got, err := m.faulty.LatestSnapshot(m.run.ctx(), stream, upTo)
	if failed(t, fails, err) {
		return
	}
	want, exists := m.twin.latest(stream, upTo)
	if !exists {
		if !errors.Is(err, eventlog.ErrNotFound) {
			t.Fatalf("latest: %v, want %v", err, eventlog.ErrNotFound)
		}
		return
	}
	if err != nil {
		t.Fatalf("latest: %v", err)
	}
	same(t, want, shownSnapshot{got.Stream, got.Seq, string(got.Payload)})
	clear(got.Payload)
}

func same(t *rapid.T, want, got any) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-twin +log):\n%s", diff)
	}
}
