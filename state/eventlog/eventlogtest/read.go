package eventlogtest

import (
	"math"

	"github.com/fleetsync/fleetd/state/eventlog"
)

func readCases() []testCase {
	return []testCase{
		{"an unknown stream is empty", func(t *run) {
			t.append(numbered("a", 0))
			t.equal(0, len(t.read("unknown", 0, 0)))
		}},
		{"a read gives what append gave, in order", func(t *run) {
			want := t.appendMany(5)
			t.sameEvents(want, t.read("a", 0, 0))
			t.sameEvents(want, t.read("a", 0, 0))
		}},
		{"afterSeq is exclusive", func(t *run) {
			want := t.appendMany(5)
			for after := range want {
				t.sameEvents(want[after:], t.read("a", int64(after), 0))
			}
		}},
		{"a negative afterSeq is the beginning", func(t *run) {
			want := t.appendMany(2)
			t.sameEvents(want, t.read("a", -1, 0))
			t.sameEvents(want, t.read("a", math.MinInt64, 0))
		}},
		{"beyond the end there is nothing", func(t *run) {
			t.appendMany(3)
			for _, after := range []int64{3, 4, 1000, math.MaxInt64} {
				t.equal(0, len(t.read("a", after, 0)))
				t.equal(0, len(t.read("a", after, 2)))
			}
		}},
		{"a limit is kept, and may be more than there is", func(t *run) {
			want := t.appendMany(5)
			t.sameEvents(want[:1], t.read("a", 0, 1))
			t.sameEvents(want[2:4], t.read("a", 2, 2))
			t.sameEvents(want[3:], t.read("a", 3, 9))
			t.sameEvents(want, t.read("a", 0, math.MaxInt))
		}},
		{"a limit of zero or less is none", func(t *run) {
			want := t.appendMany(5)
			for _, limit := range []int{0, -1, math.MinInt} {
				t.sameEvents(want[1:], t.read("a", 1, limit))
			}
		}},
		{"pages join without a gap", func(t *run) {
			want := t.appendMany(7)
			var got []eventlog.Event
			for {
				page := t.read("a", int64(len(got)), 3)
				if len(page) == 0 {
					break
				}
				got = append(got, page...)
			}
			t.sameEvents(want, got)
		}},
	}
}

// ownershipCases hold that nobody's slices and maps are anybody else's.
func ownershipCases() []testCase {
	return []testCase{
		{"what the appender changes later has no effect", func(t *run) {
			in := fullInput()
			e := t.append(in)
			spoil(in.Payload)
			t.equal(asJSON(nestedPayload()), asJSON(e.Payload))
			t.equal(asJSON(nestedPayload()), asJSON(t.read("a", 0, 0)[0].Payload))
		}},
		{"what append gave may be changed", func(t *run) {
			in := fullInput()
			spoil(t.append(in).Payload)
			t.equal(asJSON(nestedPayload()), asJSON(in.Payload))
			t.equal(asJSON(nestedPayload()), asJSON(t.read("a", 0, 0)[0].Payload))
		}},
		{"what a reader changes has no effect", func(t *run) {
			t.append(fullInput())
			t.append(fullInput())
			events := t.read("a", 0, 0)
			other := t.read("a", 0, 0)
			spoil(events[0].Payload)
			events[1] = eventlog.Event{}
			for _, e := range append(other, t.read("a", 0, 0)...) {
				t.equal(asJSON(nestedPayload()), asJSON(e.Payload))
			}
		}},
		{"a reader's slice does not grow into another's", func(t *run) {
			want := t.appendMany(3)
			page := t.read("a", 0, 1)
			_ = append(page, eventlog.Event{})
			t.sameEvents(want, t.read("a", 0, 0))
		}},
	}
}

// spoil changes a payload at every depth.
func spoil(payload map[string]any) {
	for key, v := range payload {
		spoilValue(v)
		payload[key] = "spoilt"
	}
	payload["spoilt"] = true
}

func spoilValue(v any) {
	switch v := v.(type) {
	case map[string]any:
		spoil(v)
	case []any:
		for i := range v {
			spoilValue(v[i])
			v[i] = "spoilt"
		}
	}
}
