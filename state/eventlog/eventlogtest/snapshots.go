package eventlogtest

import (
	"math"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// at is a snapshot of stream a.
func at(seq int64, payload string) eventlog.Snapshot {
	return eventlog.Snapshot{Stream: "a", Seq: seq, Payload: []byte(payload)}
}

func snapshotCases() []testCase {
	return []testCase{
		{"without a snapshot there is none", func(t *run) {
			t.absent("a", 0)
			t.appendMany(2)
			t.absent("a", 0)
			t.absent("a", 2)
		}},
		{"a saved snapshot is found", func(t *run) {
			t.appendMany(3)
			t.save("a", 3, "three")
			t.equal(at(3, "three"), t.latest("a", 0))
		}},
		{"a second save at one number replaces the first", func(t *run) {
			t.save("a", 3, "old")
			t.save("a", 3, "new")
			t.equal(at(3, "new"), t.latest("a", 0))
			t.equal(at(3, "new"), t.latest("a", 3))
			t.absent("a", 2)
		}},
		{"the latest is the largest number up to the bound, saved in any order", func(t *run) {
			for _, seq := range []int64{20, 10, 30} {
				t.save("a", seq, string(rune('a'+seq)))
			}
			for upTo, want := range map[int64]int64{
				math.MinInt64: 30, -1: 30, 0: 30, 10: 10, 19: 10, 20: 20, 29: 20, 30: 30, 31: 30, math.MaxInt64: 30,
			} {
				t.equal(at(want, string(rune('a'+want))), t.latest("a", upTo))
			}
			t.absent("a", 9)
			t.absent("a", 1)
		}},
		{"streams have snapshots of their own", func(t *run) {
			t.save("a", 5, "a")
			t.absent("b", 0)
			t.save("b", 2, "b")
			t.equal(at(5, "a"), t.latest("a", 0))
			t.equal(eventlog.Snapshot{Stream: "b", Seq: 2, Payload: []byte("b")}, t.latest("b", 0))
		}},
		{"a snapshot is no event", func(t *run) {
			t.append(numbered("a", 0))
			t.save("a", 1, "x")
			t.equal(int64(2), t.append(numbered("a", 1)).Seq)
			t.equal(2, len(t.read("a", 0, 0)))
		}},
		{"a snapshot before the first event is kept", func(t *run) {
			t.save("a", 0, "nothing yet")
			t.equal(at(0, "nothing yet"), t.latest("a", 0))
			t.equal(at(0, "nothing yet"), t.latest("a", 1))
		}},
	}
}

func snapshotPayloadCases() []testCase {
	return []testCase{
		{"a payload may be any bytes, and empty", func(t *run) {
			t.save("a", 1, "\x00\xff\xfe{")
			t.equal(at(1, "\x00\xff\xfe{"), t.latest("a", 0))
			t.equal(nil, t.log.SaveSnapshot(t.ctx(), eventlog.Snapshot{Stream: "a", Seq: 2}))
			t.equal(at(2, ""), t.latest("a", 0))
		}},
		{"a payload is copied in and out", func(t *run) {
			saved := at(1, "payload")
			t.equal(nil, t.log.SaveSnapshot(t.ctx(), saved))
			saved.Payload[0] = '!'
			got := t.latest("a", 0)
			t.equal(at(1, "payload"), got)
			got.Payload[1] = '!'
			t.equal(at(1, "payload"), t.latest("a", 0))
		}},
	}
}
