package eventlogtest

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/fleetsync/fleetd/state/eventlog"
)

const notUTF8 = "a\xffb"

// badInputCases hold that what no log takes is refused and leaves nothing.
func badInputCases() []testCase {
	cases := []testCase{
		{"no method takes a bad stream", func(t *run) {
			for _, stream := range []string{"", notUTF8} {
				_, err := t.log.Read(t.ctx(), stream, 0, 0)
				t.fails(eventlog.ErrInvalid, err)
				_, err = t.log.LatestSnapshot(t.ctx(), stream, 0)
				t.fails(eventlog.ErrInvalid, err)
				t.fails(eventlog.ErrInvalid, t.log.SaveSnapshot(t.ctx(), eventlog.Snapshot{Stream: stream, Seq: 1}))
			}
		}},
		{"no snapshot has a negative number", func(t *run) {
			t.fails(eventlog.ErrInvalid, t.log.SaveSnapshot(t.ctx(), eventlog.Snapshot{Stream: "a", Seq: -1}))
			t.absent("a", 0)
		}},
	}
	for name, spoilInput := range badInputs() {
		cases = append(cases, testCase{"an event with " + name, func(t *run) {
			t.refuses(spoilInput)
		}})
	}
	for name, value := range badValues() {
		cases = append(cases, testCase{"a payload with " + name, func(t *run) {
			for _, payload := range []map[string]any{
				{"v": value},
				{"fine": 1, "object": map[string]any{"list": []any{"fine", value}}},
			} {
				t.refuses(func(in *eventlog.AppendInput) { in.Payload = payload })
			}
		}})
	}
	return cases
}

// refuses checks that an input spoilt so is refused, and uses no number.
func (t *run) refuses(spoilInput func(*eventlog.AppendInput)) {
	t.Helper()
	before := t.append(fullInput())
	in := fullInput()
	spoilInput(&in)
	e, err := t.log.Append(t.ctx(), in)
	t.fails(eventlog.ErrInvalid, err)
	t.sameEvents([]eventlog.Event{{}}, []eventlog.Event{e})
	t.equal(before.Seq+1, t.append(fullInput()).Seq)
	t.equal(2, len(t.read("a", before.Seq-1, 0)))
}

func badInputs() map[string]func(*eventlog.AppendInput) {
	return map[string]func(*eventlog.AppendInput){
		"no stream":                 func(in *eventlog.AppendInput) { in.Stream = "" },
		"no type":                   func(in *eventlog.AppendInput) { in.Type = "" },
		"a negative schema version": func(in *eventlog.AppendInput) { in.SchemaVersion = -1 },
		"a stream not UTF-8":        func(in *eventlog.AppendInput) { in.Stream = notUTF8 },
		"a type not UTF-8":          func(in *eventlog.AppendInput) { in.Type = notUTF8 },
		"an actor not UTF-8":        func(in *eventlog.AppendInput) { in.Actor = notUTF8 },
		"a path not UTF-8":          func(in *eventlog.AppendInput) { in.Path = notUTF8 },
		"a trace id not UTF-8":      func(in *eventlog.AppendInput) { in.TraceID = notUTF8 },
		"a span id not UTF-8":       func(in *eventlog.AppendInput) { in.SpanID = notUTF8 },
		"a causation id not UTF-8":  func(in *eventlog.AppendInput) { in.CausationID = notUTF8 },
		"an origin not UTF-8":       func(in *eventlog.AppendInput) { in.OriginInstanceID = notUTF8 },
		"a principal not UTF-8":     func(in *eventlog.AppendInput) { in.Principal = notUTF8 },
		"a payload that holds itself": func(in *eventlog.AppendInput) {
			in.Payload["self"] = []any{in.Payload}
		},
		"a payload one too deep": func(in *eventlog.AppendInput) {
			in.Payload = deepPayload(101)
		},
	}
}

// deepPayload returns depth objects in one another.
func deepPayload(depth int) map[string]any {
	payload := map[string]any{}
	for range depth - 1 {
		payload = map[string]any{"deeper": payload}
	}
	return payload
}

// badValues are the values that no payload holds.
func badValues() map[string]any {
	return map[string]any{
		"NaN":                          math.NaN(),
		"infinity":                     math.Inf(1),
		"negative infinity":            math.Inf(-1),
		"text not UTF-8":               notUTF8,
		"a key not UTF-8":              map[string]any{notUTF8: 1},
		"a channel":                    make(chan int),
		"a function":                   func() {},
		"a struct":                     struct{ A int }{1},
		"a time":                       time.Unix(0, 0),
		"a pointer":                    new(int),
		"bytes":                        []byte("a"),
		"a list of texts":              []string{"a"},
		"an object of texts":           map[string]string{"a": "b"},
		"an object with numbered keys": map[int]any{1: 1},
		"an unsigned number":           uint64(1),
		"a short float":                float32(1),
		"a complex number":             complex(1, 1),
		"no number":                    json.Number(""),
		"a number after a space":       json.Number(" 1"),
		"a number before a space":      json.Number("1 "),
		"a number in hex":              json.Number("0x1"),
		"a number that is text":        json.Number(`"1"`),
	}
}

func contextCases() []testCase {
	return []testCase{
		{"a cancelled context writes nothing", func(t *run) {
			t.append(numbered("a", 0))
			t.save("a", 1, "kept")
			cancelled, cancel := context.WithCancel(t.ctx())
			cancel()
			_, err := t.log.Append(cancelled, numbered("a", 1))
			t.fails(context.Canceled, err)
			_, err = t.log.Append(cancelled, numbered("new", 0))
			t.fails(context.Canceled, err)
			for _, seq := range []int64{1, 2} {
				err = t.log.SaveSnapshot(cancelled, eventlog.Snapshot{Stream: "a", Seq: seq, Payload: []byte("lost")})
				t.fails(context.Canceled, err)
			}
			t.equal(1, len(t.read("a", 0, 0)))
			t.equal(0, len(t.read("new", 0, 0)))
			t.equal("kept", string(t.latest("a", 0).Payload))
			t.equal(int64(2), t.append(numbered("a", 1)).Seq)
		}},
	}
}
