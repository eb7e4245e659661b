package eventlogtest

import (
	"encoding/json"
	"math"
	"time"

	"github.com/fleetsync/fleetd/state/eventlog"
)

func appendCases() []testCase {
	return []testCase{
		{"events of a stream are numbered densely from 1", func(t *run) {
			for i, e := range t.appendMany(5) {
				t.equal(int64(i)+1, e.Seq)
			}
		}},
		{"streams are numbered independently", func(t *run) {
			t.appendMany(3)
			t.equal(int64(1), t.append(numbered("b", 0)).Seq)
			t.equal(int64(4), t.append(numbered("a", 3)).Seq)
			t.equal(int64(2), t.append(numbered("b", 1)).Seq)
			t.equal(1, len(t.read("b", 1, 0)))
		}},
		{"names of streams are exact", func(t *run) {
			names := []string{"a", "A", "a ", "a\x00", "a\x00b", "ab", "a/b", "\u00e9", "e\u0301"}
			for _, name := range names {
				t.equal(int64(1), t.append(numbered(name, 0)).Seq)
			}
			for _, name := range names {
				for _, e := range t.read(name, 0, 0) {
					t.equal(name, e.Stream)
				}
			}
		}},
		{"every field is kept", func(t *run) {
			e := t.append(fullInput())
			want := eventlog.Event{
				Stream: "a", Seq: 1, Time: fullInput().Time.UTC(), Type: "skill.upserted", Actor: eventlog.ActorHuman,
				Payload: fullInput().Payload, SchemaVersion: 7, Path: "gossip",
				TraceID: "trace", SpanID: "span", CausationID: "cause", OriginInstanceID: "origin", Principal: "principal",
			}
			t.sameEvents([]eventlog.Event{want}, []eventlog.Event{e})
			t.sameEvents([]eventlog.Event{want}, t.read("a", 0, 0))
		}},
		{"what nobody names has its default", func(t *run) {
			e := t.append(eventlog.AppendInput{Stream: "a", Type: "b"})
			want := eventlog.Event{
				Stream: "a", Seq: 1, Type: "b", Time: e.Time, Payload: map[string]any{},
				SchemaVersion: eventlog.SchemaVersion, Path: eventlog.PathLocal,
			}
			t.sameEvents([]eventlog.Event{want}, []eventlog.Event{e})
			t.sameEvents([]eventlog.Event{want}, t.read("a", 0, 0))
			if e.Time.IsZero() {
				t.Error("the time is zero")
			}
			t.equal("UTC", e.Time.Location().String())
		}},
		{"an explicit time is kept to the nanosecond, in UTC", func(t *run) {
			for _, at := range []time.Time{
				time.Date(2026, 2, 3, 4, 5, 6, 123_456_789, time.FixedZone("east", 5*3600)),
				time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
				time.Unix(0, 0),
			} {
				e := t.append(eventlog.AppendInput{Stream: "a", Type: "b", Time: at})
				t.equal(at.UTC(), e.Time)
				t.equal(at.UTC(), t.read("a", e.Seq-1, 1)[0].Time)
				t.equal("UTC", e.Time.Location().String())
			}
		}},
	}
}

// fullInput has a value in every field.
func fullInput() eventlog.AppendInput {
	return eventlog.AppendInput{
		Stream: "a", Type: "skill.upserted", Actor: eventlog.ActorHuman, Payload: nestedPayload(), SchemaVersion: 7,
		Time: time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("west", -3600)), Path: "gossip",
		TraceID: "trace", SpanID: "span", CausationID: "cause", OriginInstanceID: "origin", Principal: "principal",
	}
}

// nestedPayload returns objects and lists in one another, new with each call.
func nestedPayload() map[string]any {
	return map[string]any{
		"skill": map[string]any{
			"Slug":  "deploy",
			"Tags":  []any{"a", "b", []any{"c"}, map[string]any{"d": "e"}},
			"Scope": map[string]any{"Project": "web"},
		},
	}
}

func payloadCases() []testCase {
	cases := make([]testCase, 0, len(payloads()))
	for name, payload := range payloads() {
		cases = append(cases, testCase{name, func(t *run) {
			want := asJSON(payload)
			e := t.append(eventlog.AppendInput{Stream: "a", Type: "b", Payload: payload})
			t.equal(want, asJSON(e.Payload))
			t.equal(want, asJSON(t.read("a", 0, 0)[0].Payload))
		}})
	}
	return cases
}

// payloads are the payloads that every log gives back with the same JSON.
func payloads() map[string]map[string]any {
	return map[string]map[string]any{
		"empty":                      {},
		"nested":                     nestedPayload(),
		"as deep as it may be":       deepPayload(100),
		"empty objects and lists":    {"object": map[string]any{}, "list": []any{}, "lists": []any{[]any{}, map[string]any{}}},
		"null, true and false":       {"null": nil, "yes": true, "no": false, "list": []any{nil, true, false}},
		"integers of 64 bits":        {"max": int64(math.MaxInt64), "min": int64(math.MinInt64), "beyond floats": int64(1<<53 + 1), "int": -1},
		"fractions":                  {"half": 0.5, "small": 1e-9, "negative": -2.25},
		"numbers read from JSON":     {"max": json.Number("9223372036854775807"), "zero": json.Number("0")},
		"empty keys and texts":       {"": "", "a": map[string]any{"": []any{""}}},
		"control characters":         {"a\x00b": "c\x00\x1f\x7f\r\n\t"},
		"text of every plane":        {"\u00e9": "e\u0301", "\u65e5\u672c": "\U0001f600", "\u2028": "\u2029\ufeff\ufffd"},
		"what pages must not run":    {"<script>": "</script>&"},
		"keys that differ in letter": {"a": 1, "A": 2},
	}
}
