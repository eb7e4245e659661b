package eventlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/eventlog/eventlogtest"
)

func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("east", 3600)) }

func TestMemory(t *testing.T) {
	t.Parallel()
	eventlogtest.RunSuite(t, func(testing.TB) eventlog.Log { return eventlog.NewMemory(now) })
}

func TestMemoryGivesItsTimeToEventsWithout(t *testing.T) {
	log := eventlog.NewMemory(now)
	e, err := log.Append(t.Context(), eventlog.AppendInput{Stream: "a", Type: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if want := now().UTC(); e.Time != want {
		t.Errorf("time %v, want %v", e.Time, want)
	}
}

// TestMemoryReadsNothingWhenCancelled: more than a log must.
func TestMemoryReadsNothingWhenCancelled(t *testing.T) {
	log := eventlog.NewMemory(now)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if events, err := log.Read(cancelled, "a", 0, 0); !errors.Is(err, context.Canceled) || events != nil {
		t.Errorf("read %v, %v", events, err)
	}
	if _, err := log.LatestSnapshot(cancelled, "a", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("latest snapshot: %v", err)
	}
}

// TestMemoryKeepsTheTypesOfNumbers: more than a log must.
func TestMemoryKeepsTheTypesOfNumbers(t *testing.T) {
	log := eventlog.NewMemory(now)
	want := map[string]any{
		"int": 1, "int64": int64(math.MaxInt64), "float": 1.0,
		"literal": json.Number("1.50"), "large": json.Number("-12345678901234567890123e+5"),
		"none": nil, "list": []any(nil), "object": map[string]any(nil),
	}
	if _, err := log.Append(t.Context(), eventlog.AppendInput{Stream: "a", Type: "b", Payload: want}); err != nil {
		t.Fatal(err)
	}
	events, err := log.Read(t.Context(), "a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, events[0].Payload); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}

// TestTimesAreComparable: no monotonic reading is kept, which a log on a disk
// could not give back.
func TestTimesAreComparable(t *testing.T) {
	at := time.Now()
	e, err := eventlog.NewEvent(eventlog.AppendInput{Stream: "a", Type: "b", Time: at}, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Unix(0, at.UnixNano()).UTC(); e.Time != want {
		t.Errorf("time %#v, want %#v", e.Time, want)
	}
}

func TestACloneSharesNothing(t *testing.T) {
	e := eventlog.Event{Payload: map[string]any{"a": []any{map[string]any{"b": "c"}}}}
	e.Clone().Payload["a"].([]any)[0].(map[string]any)["b"] = "spoilt"
	want := map[string]any{"a": []any{map[string]any{"b": "c"}}}
	if diff := cmp.Diff(want, e.Payload); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}
