package eventlog_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/state/eventlog"
)

type payload = map[string]any

// note returns an upcaster that writes down its version, and spoils what it got
// and what it gave if those are anybody else's.
func note(eventType string, from int) eventlog.Upcaster {
	return eventlog.Upcaster{Type: eventType, From: from, Up: func(p payload) (payload, error) {
		steps, _ := p["steps"].([]any)
		next := payload{"steps": append(append([]any{}, steps...), from)}
		clear(steps)
		clear(p)
		return next, nil
	}}
}

func upcasters(tb testing.TB, list ...eventlog.Upcaster) eventlog.Upcasters {
	tb.Helper()
	u, err := eventlog.NewUpcasters(list...)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func event(eventType string, version int, steps ...any) eventlog.Event {
	return eventlog.Event{
		Stream: "state", Seq: 4, Type: eventType, SchemaVersion: version, Principal: "kept",
		Payload: payload{"steps": append([]any{}, steps...)},
	}
}

func TestApply(t *testing.T) {
	u := upcasters(t, note("gap", 4), note("a", 2), note("a", 1), note("gap", 1), note("gap", 2))
	tests := map[string]struct {
		in, want eventlog.Event
		result   eventlog.UpcastResult
	}{
		"every step is taken in order":       {event("a", 1), event("a", 3, 1, 2), eventlog.UpcastDone},
		"one step":                           {event("a", 2, "x"), event("a", 3, "x", 2), eventlog.UpcastDone},
		"the newest version":                 {event("a", 3), event("a", 3), eventlog.UpcastCurrent},
		"a type that never changed":          {event("b", 1), event("b", 1), eventlog.UpcastCurrent},
		"a newer version":                    {event("a", 4), event("a", 4), eventlog.UpcastNewer},
		"a newer version of an unknown type": {event("b", 2), event("b", 2), eventlog.UpcastNewer},
		"a gap at the event":                 {event("gap", 3), event("gap", 3), eventlog.UpcastMissing},
		"a gap further on":                   {event("gap", 1), event("gap", 1), eventlog.UpcastMissing},
		"after the gap":                      {event("gap", 4), event("gap", 5, 4), eventlog.UpcastDone},
		"no version":                         {event("b", 0), event("b", 0), eventlog.UpcastMissing},
		"a version below any":                {event("a", math.MinInt), event("a", math.MinInt), eventlog.UpcastMissing},
		"a version above any":                {event("a", math.MaxInt), event("a", math.MaxInt), eventlog.UpcastNewer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.in.Clone()
			got, result, err := u.Apply(test.in)
			if err != nil || result != test.result {
				t.Errorf("%v, %v, want %v", result, err, test.result)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.in); diff != "" {
				t.Errorf("the input changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestResultsAreWords(t *testing.T) {
	words := map[eventlog.UpcastResult]string{
		0: "unknown", eventlog.UpcastCurrent: "current", eventlog.UpcastDone: "upcast",
		eventlog.UpcastMissing: "step missing", eventlog.UpcastNewer: "newer",
	}
	for result, want := range words {
		if got := result.String(); got != want {
			t.Errorf("%d is %q, want %q", result, got, want)
		}
	}
}

func TestAFailingUpcasterLeavesTheEvent(t *testing.T) {
	broken := errors.New("broken")
	give := func(p payload, err error) eventlog.Upcaster {
		return eventlog.Upcaster{Type: "a", From: 2, Up: func(payload) (payload, error) { return p, err }}
	}
	tests := map[string]struct {
		second eventlog.Upcaster
		in     eventlog.Event
		want   error
	}{
		"an error":                  {give(payload{}, broken), event("a", 1), broken},
		"no payload":                {give(nil, nil), event("a", 1), eventlog.ErrInvalid},
		"what is no payload":        {give(payload{"a": math.NaN()}, nil), event("a", 1), eventlog.ErrInvalid},
		"an event of no payload":    {give(payload{}, nil), event("a", 1, []string{"x"}), eventlog.ErrInvalid},
		"an event of no payload, 2": {give(payload{}, nil), event("a", 2, make(chan int)), eventlog.ErrInvalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, result, err := upcasters(t, note("a", 1), test.second).Apply(test.in)
			if !errors.Is(err, test.want) || result.Usable() {
				t.Errorf("%v, %v, want %v", result, err, test.want)
			}
			if got.SchemaVersion != test.in.SchemaVersion || len(got.Payload) != 1 {
				t.Errorf("event %+v", got)
			}
		})
	}
}

// TestWhatAnUpcasterKeepsIsItsOwn: an upcaster that gives the same map each time.
func TestWhatAnUpcasterKeepsIsItsOwn(t *testing.T) {
	kept := payload{"a": []any{"b"}}
	u := upcasters(t, eventlog.Upcaster{Type: "a", From: 1, Up: func(payload) (payload, error) { return kept, nil }})
	got, _, err := u.Apply(event("a", 1))
	if err != nil {
		t.Fatal(err)
	}
	got.Payload["a"].([]any)[0] = "spoilt"
	if diff := cmp.Diff(payload{"a": []any{"b"}}, kept); diff != "" {
		t.Errorf("what it keeps (-want +got):\n%s", diff)
	}
}

func TestBadUpcastersAreRefused(t *testing.T) {
	tests := map[string][]eventlog.Upcaster{
		"no type":      {note("", 1)},
		"no version":   {note("a", 0)},
		"no function":  {{Type: "a", From: 1}},
		"a step twice": {note("a", 1), note("b", 1), note("a", 1)},
	}
	for name, list := range tests {
		if _, err := eventlog.NewUpcasters(list...); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheZeroUpcastersKnowNone(t *testing.T) {
	var u eventlog.Upcasters
	if got := u.Newest("a"); got != eventlog.SchemaVersion {
		t.Errorf("newest %d", got)
	}
	if _, result, err := u.Apply(event("a", 1)); err != nil || result != eventlog.UpcastCurrent {
		t.Errorf("%v, %v", result, err)
	}
}

// TestAnUpcastIsWholeOrNothing: over any set of steps, an event comes to the
// newest version by every step between, or stays; the input never changes.
func TestAnUpcastIsWholeOrNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfNDistinct(rapid.IntRange(1, 6), 0, 6, rapid.ID).Draw(t, "steps")
		list := make([]eventlog.Upcaster, len(known))
		newest, has := 1, map[int]bool{}
		for i, from := range known {
			list[i], has[from], newest = note("a", from), true, max(newest, from+1)
		}
		u, err := eventlog.NewUpcasters(list...)
		if err != nil {
			t.Fatal(err)
		}
		in := event("a", rapid.IntRange(1, 8).Draw(t, "version"))
		before := in.Clone()
		want, taken, whole := in.Clone(), []any{}, in.SchemaVersion <= newest
		for v := in.SchemaVersion; v < newest; v++ {
			taken, whole = append(taken, v), whole && has[v]
		}
		if whole {
			want.SchemaVersion, want.Payload = newest, payload{"steps": taken}
		}
		got, result, err := u.Apply(in)
		if err != nil || result.Usable() != whole {
			t.Fatalf("%v, %v, whole: %v", result, err, whole)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("event (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, in); diff != "" {
			t.Fatalf("the input changed (-before +after):\n%s", diff)
		}
	})
}
