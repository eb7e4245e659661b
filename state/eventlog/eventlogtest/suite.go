// Package eventlogtest is the conformance suite of eventlog.Log: what every log
// does alike, wherever it keeps its events. [Faulty] is a log that fails on
// demand, for the tests of what stands on one.
package eventlogtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// testCase is one row of the suite.
type testCase struct {
	name string
	test func(t *run)
}

// RunSuite holds a log to its whole contract. newLog returns an empty one that
// has dropped nothing; what must be closed it gives to the test's cleanup. Cases
// run in parallel, so it is called concurrently.
func RunSuite(t *testing.T, newLog func(testing.TB) eventlog.Log) {
	t.Helper()
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"append", appendCases()},
		{"payload", payloadCases()},
		{"read", readCases()},
		{"ownership", ownershipCases()},
		{"snapshots", snapshotCases()},
		{"payloads of snapshots", snapshotPayloadCases()},
		{"bad input", badInputCases()},
		{"context", contextCases()},
		{"concurrency", concurrencyCases()},
		{"model", modelCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.test(&run{T: t, log: newLog(t)})
				})
			}
		})
	}
}

// run is what a case works with: calls that must succeed, and checks.
type run struct {
	*testing.T
	log eventlog.Log
}

func (t *run) ctx() context.Context { return t.Context() }

// append appends what must be taken.
func (t *run) append(in eventlog.AppendInput) eventlog.Event {
	t.Helper()
	e, err := t.log.Append(t.ctx(), in)
	if err != nil {
		t.Fatalf("append to %q: %v", in.Stream, err)
	}
	return e
}

// appendMany appends n events to stream a.
func (t *run) appendMany(n int) []eventlog.Event {
	t.Helper()
	events := make([]eventlog.Event, n)
	for i := range events {
		events[i] = t.append(numbered("a", i))
	}
	return events
}

// numbered is an input that differs from that of every other i.
func numbered(stream string, i int) eventlog.AppendInput {
	return eventlog.AppendInput{Stream: stream, Type: "tested", Payload: map[string]any{"i": i}}
}

func (t *run) read(stream string, afterSeq int64, limit int) []eventlog.Event {
	t.Helper()
	events, err := t.log.Read(t.ctx(), stream, afterSeq, limit)
	if err != nil {
		t.Fatalf("read %q after %d: %v", stream, afterSeq, err)
	}
	if events == nil {
		t.Fatalf("read %q after %d: the slice is nil", stream, afterSeq)
	}
	return events
}

func (t *run) save(stream string, seq int64, payload string) {
	t.Helper()
	s := eventlog.Snapshot{Stream: stream, Seq: seq, Payload: []byte(payload)}
	if err := t.log.SaveSnapshot(t.ctx(), s); err != nil {
		t.Fatalf("save a snapshot of %q at %d: %v", stream, seq, err)
	}
}

func (t *run) latest(stream string, upTo int64) eventlog.Snapshot {
	t.Helper()
	s, err := t.log.LatestSnapshot(t.ctx(), stream, upTo)
	if err != nil {
		t.Fatalf("latest snapshot of %q up to %d: %v", stream, upTo, err)
	}
	return s
}

// absent checks that the stream has no snapshot up to upTo.
func (t *run) absent(stream string, upTo int64) {
	t.Helper()
	s, err := t.log.LatestSnapshot(t.ctx(), stream, upTo)
	t.fails(eventlog.ErrNotFound, err)
	t.equal(eventlog.Snapshot{}, s)
}

// sameEvents compares events with payloads as JSON.
func (t *run) sameEvents(want, got []eventlog.Event) {
	t.Helper()
	if diff := cmp.Diff(shown(want), shown(got)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func (t *run) equal(want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (t *run) fails(want, got error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got error %v, want %v", got, want)
	}
}

// shownEvent is an event whose payload is JSON text: logs may give numbers in
// types of their own, and JSON shows their value.
type shownEvent struct {
	eventlog.Event

	JSON string
}

func shown(events []eventlog.Event) []shownEvent {
	list := make([]shownEvent, len(events))
	for i, e := range events {
		list[i] = shownEvent{Event: e, JSON: asJSON(e.Payload)}
		list[i].Payload = nil
	}
	return list
}

// asJSON says why when a payload has no JSON, so that a comparison shows it.
func asJSON(payload map[string]any) string {
	text, err := json.Marshal(payload)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
