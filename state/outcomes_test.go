package state_test

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

// Two stores that are not here.
const (
	storeA = "000102030405060708090a0b0c0d0e0f"
	storeB = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
)

// anyOutcomeID draws the id of an outcome record, sound or not.
func anyOutcomeID() *rapid.Generator[merge.ID] {
	return rapid.SampledFrom([]merge.ID{
		merge.NewID("a", storeA), merge.NewID("a", storeB), merge.NewID("b", storeA),
		merge.NewID("a", strings.ToUpper(storeB)), merge.NewID("..", storeA), "a",
	})
}

// anyOutcomeBody draws the body of an outcome record, sound or not.
func anyOutcomeBody() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		if rapid.IntRange(0, 7).Draw(t, "raw") == 0 {
			return rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "bytes")
		}
		count := rapid.SampledFrom([]int64{0, 1, 2, 1000, 1 << 48, 1<<48 + 1, -1, math.MaxInt64})
		return outcomeBody(t, count.Draw(t, "uses"), count.Draw(t, "wins"))
	})
}

func outcomeBody(t failer, uses, wins int64) []byte {
	t.Helper()
	body, err := merge.Marshal(map[uint64]any{4: uses, 5: wins})
	must(t, err)
	return body
}

// outcomeOf is a version by "b" of an outcome of a global skill.
func outcomeOf(t failer, slug, storeID string, counter uint16, body []byte) merge.Record {
	t.Helper()
	key := merge.Key{Kind: "skill.outcome", ID: merge.NewID(slug, storeID)}
	stamp := hlc.Timestamp{Wall: startTime().UnixMilli(), Counter: counter}
	return version(t, key, "b", merge.Envelope{UpdatedHLC: stamp}, body)
}

func (n *node) storeID() string {
	id := n.store.ID()
	return hex.EncodeToString(id[:])
}

func (n *node) record(t failer, slug string, won bool) state.Skill {
	t.Helper()
	sk, err := n.SkillLibrary().RecordOutcome(context.Background(), slug, won)
	must(t, err)
	return sk
}

// totals are the sums that a node shows of skill "a".
func (n *node) totals(t failer) [2]int {
	t.Helper()
	sk, err := n.Skills().Get(context.Background(), "a")
	must(t, err)
	return [2]int{sk.Uses, sk.Wins}
}

func (n *node) byStore(t failer) map[string][2]int64 {
	t.Helper()
	report, err := n.SkillLibrary().Report(context.Background(), nil, 1)
	must(t, err)
	counts := map[string][2]int64{}
	for _, o := range report[0].ByStore {
		counts[o.StoreID] = [2]int64{o.Uses, o.Wins}
	}
	return counts
}

// TestOutcomesAreExactOverReplicas records on replicas that exchange now and
// then, and compares the sums with the calls that went through.
func TestOutcomesAreExactOverReplicas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clk := clock.NewManual(startTime())
		var nodes []*node
		for _, name := range []string{"a", "b", "c", "d"}[:rapid.IntRange(2, 4).Draw(t, "replicas")] {
			n := openNode(t, store.NewMemory(), clk, state.Config{InstanceID: name})
			defer func() { must(t, n.Close()) }()
			nodes = append(nodes, n)
		}
		nodes[0].upsert(t, state.Skill{Slug: "a"})
		exchange(t, nodes...)
		want, byStore := [2]int{}, map[string][2]int64{}
		count := func(n *node, uses, wins int) {
			want[0], want[1] = want[0]+uses, want[1]+wins
			own := byStore[n.storeID()]
			byStore[n.storeID()] = [2]int64{own[0] + int64(uses), own[1] + int64(wins)}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := rapid.SampledFrom(nodes).Draw(t, "replica")
			clk.Advance(time.Duration(rapid.IntRange(0, 1).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				n.record(t, "a", true)
				count(n, 1, 1)
			case 2:
				n.record(t, "a", false)
				count(n, 1, 0)
			case 3:
				have, more := n.totals(t), rapid.IntRange(0, 3).Draw(t, "more")
				n.upsert(t, state.Skill{Slug: "a", Uses: have[0] + more})
				if more > 0 {
					count(n, more, 0)
				}
			default:
				from := rapid.SampledFrom(nodes).Draw(t, "from")
				if len(from.log) > 0 {
					n.receive(t, rapid.SliceOfN(rapid.SampledFrom(from.log), 1, 5).Draw(t, "versions")...)
				}
			}
		}
		exchange(t, nodes...)
		for _, n := range nodes {
			same(t, want, n.totals(t))
			same(t, byStore, n.byStore(t))
			same(t, n.derived(t), n.indexOf(t))
			same(t, nodes[0].sums(), n.sums())
		}
	})
}

// TestACopiedStoreCountsInOneRecord is a hazard, not a wish: two stores of one
// id write one record, the last of them wins, and what the other counted since
// the copy is a conflict and not in the sums.
func TestACopiedStoreCountsInOneRecord(t *testing.T) {
	clk, disk := clock.NewManual(startTime()), store.NewMemory()
	a := openNode(t, disk, clk, state.Config{InstanceID: "a"})
	defer func() { must(t, a.Close()) }()
	a.upsert(t, state.Skill{Slug: "a"})
	a.record(t, "a", true)
	b := openNode(t, disk.Clone(), clk, state.Config{InstanceID: "b"})
	defer func() { must(t, b.Close()) }()
	same(t, a.storeID(), b.storeID())
	a.record(t, "a", true)
	a.record(t, "a", true)
	clk.Advance(time.Second)
	b.record(t, "a", false)
	exchange(t, a, b)
	same(t, a.answers(t), b.answers(t))
	same(t, [2]int{2, 1}, a.totals(t))
	conflicts, err := a.Conflicts(t.Context())
	must(t, err)
	if len(conflicts) != 1 || conflicts[0].Winner.Outcome == nil || conflicts[0].Loser.Outcome == nil {
		t.Fatalf("conflicts %+v", conflicts)
	}
	winner, loser := conflicts[0].Winner.Outcome, conflicts[0].Loser.Outcome
	same(t, []int64{2, 1, 3, 3}, []int64{winner.Uses, winner.Wins, loser.Uses, loser.Wins})
	same(t, []string{"a", a.storeID()}, []string{loser.Slug, loser.StoreID})

	// A person chooses.
	clk.Advance(time.Second)
	_, err = a.Restore(t.Context(), conflicts[0].Key, conflicts[0].Loser.Hash)
	must(t, err)
	exchange(t, a, b)
	same(t, a.answers(t), b.answers(t))
	same(t, [2]int{3, 3}, b.totals(t))
	conflicts, err = b.Conflicts(t.Context())
	must(t, err)
	same(t, []state.Conflict{}, conflicts)
}

func TestOutcomesOfAWriterAreReverted(t *testing.T) {
	for name, c := range map[string]struct {
		ever bool
		left [2]int64 // of the counts of b; zero for no outcome
	}{
		"since a stamp": {false, [2]int64{2, 1}},
		"ever":          {true, [2]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, clk := apart(t, func(a *node) { a.upsert(t, state.Skill{Slug: "a"}) })
			a.record(t, "a", true)
			b.record(t, "a", true)
			b.record(t, "a", false)
			clk.Advance(time.Second)
			since := hlc.Timestamp{Wall: clk.Now().UnixMilli()}
			b.upsert(t, state.Skill{Slug: "a", Uses: 1000, Wins: 1000})
			b.record(t, "a", true)
			exchange(t, a, b)
			same(t, [2]int{1002, 1002}, a.totals(t))
			clk.Advance(time.Second)
			if c.ever {
				since = hlc.Timestamp{}
			}
			changes, err := a.Revert(t.Context(), "b", since)
			must(t, err)
			same(t, 2, len(changes)) // the text of the skill, and what the store of b has counted
			exchange(t, a, b)
			want := map[string][2]int64{a.storeID(): {1, 1}}
			if c.left != [2]int64{} {
				want[b.storeID()] = c.left
			}
			for _, n := range []*node{a, b} {
				same(t, want, n.byStore(t))
				same(t, n.derived(t), n.indexOf(t))
			}
			// The store counts on from there.
			before := b.totals(t)
			clk.Advance(time.Second)
			b.record(t, "a", false)
			same(t, [2]int{before[0] + 1, before[1]}, b.totals(t))
		})
	}
}

func TestTotalsAreCreditedWithTheirSkillOrNotAtAll(t *testing.T) {
	for name, fault := range map[string]storetest.Fault{
		"before": storetest.FaultBefore, "at a write": storetest.FaultWrite, "at the commit": storetest.FaultCommit,
	} {
		t.Run(name, func(t *testing.T) {
			n, next := faulty(t, store.NewMemory())
			answers, sums, events := n.answers(t), n.sums(), n.events(t)
			*next = fault
			_, err := n.Skills().Upsert(t.Context(), state.Skill{Slug: "a", Uses: 3})
			if !errors.Is(err, storetest.ErrInjected) {
				t.Errorf("got %v, want %v", err, storetest.ErrInjected)
			}
			*next = storetest.FaultNone
			same(t, answers, n.answers(t))
			same(t, sums, n.sums())
			same(t, events, n.events(t))

			n.upsert(t, state.Skill{Slug: "a", Uses: 3})
			same(t, events+2, n.events(t))
			same(t, [2]int{3, 0}, n.totals(t))
		})
	}
	n := openSignedNode(t, store.NewMemory(), newKey(), func(rec *merge.Record) error {
		if rec.Key.Kind == "skill.outcome" {
			return errors.New("no authority")
		}
		return nil
	})
	defer func() { must(t, n.Close()) }()
	if _, err := n.Skills().Upsert(t.Context(), state.Skill{Slug: "a", Uses: 3}); !errors.Is(err, state.ErrDenied) {
		t.Errorf("totals without authority: %v, want ErrDenied", err)
	}
	if _, err := n.Skills().Get(t.Context(), "a"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("the skill of refused totals: %v, want ErrNotFound", err)
	}
	n.upsert(t, state.Skill{Slug: "a"})
	if _, err := n.SkillLibrary().RecordOutcome(t.Context(), "a", true); !errors.Is(err, state.ErrDenied) {
		t.Errorf("an outcome without authority: %v, want ErrDenied", err)
	}
}

// TestOutcomesOfOthers: what counts, and what is hidden.
func TestOutcomesOfOthers(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	n.upsert(t, state.Skill{Slug: "a"})
	n.record(t, "a", true)
	n.receive(t,
		outcomeOf(t, "a", storeA, 10, outcomeBody(t, 5, 3)),
		outcomeOf(t, "a", storeB, 11, outcomeBody(t, 1<<48, 1<<48)),
		outcomeOf(t, "unknown", storeB, 12, outcomeBody(t, 9, 9)),
	)
	same(t, [2]int{1<<48 + 6, 1<<48 + 4}, n.totals(t))
	// Another head: invalid, then a tombstone, then live again.
	n.receive(t, outcomeOf(t, "a", storeB, 13, outcomeBody(t, 1<<48+1, 0)))
	same(t, [2]int{6, 4}, n.totals(t))
	hidden, err := n.Invalid(t.Context())
	must(t, err)
	if len(hidden) != 1 || !strings.Contains(hidden[0].Reason, "281474976710657") {
		t.Errorf("hidden %+v", hidden)
	}
	same(t, map[string][2]int64{n.storeID(): {1, 1}, storeA: {5, 3}}, n.byStore(t))
	gone := outcomeOf(t, "a", storeB, 14, []byte{0xa0})
	gone = version(t, gone.Key, "b", merge.Envelope{UpdatedHLC: gone.Envelope.UpdatedHLC, Deleted: true}, gone.Body)
	n.receive(t, gone)
	same(t, [2]int{6, 4}, n.totals(t))
	same(t, map[string][2]int64{n.storeID(): {1, 1}, storeA: {5, 3}}, n.byStore(t))
	n.receive(t, outcomeOf(t, "a", storeB, 15, outcomeBody(t, 2, 0)))
	same(t, [2]int{8, 4}, n.totals(t))
	// The skill came after its outcomes.
	same(t, 9, n.upsert(t, state.Skill{Slug: "unknown"}).Uses)
	same(t, n.derived(t), n.indexOf(t))
}

// TestSumsOfNoOutcomeHaveNoRow: so that an index that grew is that of the heads.
func TestSumsOfNoOutcomeHaveNoRow(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	live := outcomeOf(t, "a", storeA, 1, outcomeBody(t, 0, 0))
	gone := outcomeOf(t, "a", storeA, 2, []byte{0xa0})
	gone = version(t, live.Key, "b", merge.Envelope{UpdatedHLC: gone.Envelope.UpdatedHLC, Deleted: true}, gone.Body)
	broken := outcomeOf(t, "a", storeA, 3, outcomeBody(t, -1, 0))
	for _, c := range []struct {
		head merge.Record
		rows int
	}{{live, 1}, {gone, 0}, {broken, 0}, {outcomeOf(t, "a", storeA, 4, outcomeBody(t, 1, 0)), 1}} {
		n.receive(t, c.head)
		rows := 0
		for name := range n.indexOf(t) {
			if strings.HasPrefix(name, "skill.sums\x00") {
				rows++
			}
		}
		same(t, c.rows, rows)
	}
}

// TestAnOwnRecordThatOthersBrokeIsBegunAnew: one that is a tombstone or breaks
// the rules has counted nothing, and the next outcome puts it right.
func TestAnOwnRecordThatOthersBrokeIsBegunAnew(t *testing.T) {
	for name, broken := range map[string]struct {
		body    []byte
		deleted bool
	}{
		"invalid": {[]byte("junk"), false}, "a tombstone": {[]byte{0xa0}, true}, "an invalid tombstone": {[]byte{1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			clk := clock.NewManual(startTime())
			n := newNode(t, "a", clk)
			n.upsert(t, state.Skill{Slug: "a"})
			n.record(t, "a", true)
			own := outcomeOf(t, "a", n.storeID(), 100, broken.body)
			n.receive(t, version(t, own.Key, "b", merge.Envelope{UpdatedHLC: own.Envelope.UpdatedHLC, Deleted: broken.deleted}, own.Body))
			same(t, [2]int{0, 0}, n.totals(t))
			clk.Advance(time.Second)
			got := n.record(t, "a", false)
			same(t, [2]int{1, 0}, [2]int{got.Uses, got.Wins})
			same(t, [2]int{1, 0}, n.totals(t))
			hidden, err := n.Invalid(t.Context())
			must(t, err)
			same(t, []state.Invalid{}, hidden)
			same(t, n.derived(t), n.indexOf(t))
		})
	}
}

// TestSkillsThatCouldNotBeWrittenHereAreCounted: others name theirs as they
// like.
func TestSkillsThatCouldNotBeWrittenHereAreCounted(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	body, err := merge.Marshal(map[uint64]any{2: 1})
	must(t, err)
	stamp := hlc.Timestamp{Wall: startTime().UnixMilli()}
	n.receive(t, version(t, merge.Key{Kind: "skill", ID: "con"}, "b", merge.Envelope{UpdatedHLC: stamp}, body))
	same(t, 1, n.record(t, "con", true).Uses)
}

func TestSumsBeyondAnIntReadAsTheLargest(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	n.upsert(t, state.Skill{Slug: "a"})
	count := func(stores int, sync int64, uses, wins int64) {
		records := make([]merge.Record, stores)
		for i := range records {
			id := make([]byte, 16)
			id[0], id[1] = byte(i>>8), byte(i)
			at := hlc.Timestamp{Wall: startTime().UnixMilli() + sync, Counter: uint16(i)}
			key := merge.Key{Kind: "skill.outcome", ID: merge.NewID("a", hex.EncodeToString(id))}
			records[i] = version(t, key, "b", merge.Envelope{UpdatedHLC: at, SyncVersion: sync}, outcomeBody(t, uses, wins))
		}
		n.receive(t, records...)
	}
	count(1<<16, 1, 1<<48, 1<<47)
	same(t, [2]int{math.MaxInt, math.MaxInt}, n.totals(t))
	s, _, err := state.Fold(t.Context(), n.Log())
	must(t, err)
	same(t, [2]int{math.MaxInt, math.MaxInt}, [2]int{s.Skills[0].Uses, s.Skills[0].Wins})
	count(1<<15+1, 2, 0, 0)
	same(t, [2]int{1<<63 - 1<<48, 1<<62 - 1<<47}, n.totals(t))
}

func TestStampOutcome(t *testing.T) {
	s, clk := newStamper()
	first, event, err := s.StampOutcome(nil, state.Outcome{Slug: "cafe\u0301", Scope: state.Scope{Project: "p"}, StoreID: storeA, Uses: 2, Wins: 1})
	must(t, err)
	want := state.Outcome{
		Slug: "caf\u00e9", Scope: state.Scope{Project: "p"}, StoreID: storeA, Uses: 2, Wins: 1,
		Envelope: state.Envelope{
			SyncVersion: 1, OriginInstanceID: "a", UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli()}, LastWriterID: "a",
		},
	}
	same(t, want, first)
	same(t, []any{state.EvOutcomeRecorded, state.StateStream, startTime()}, []any{event.Type, event.Stream, event.Time})
	for _, payload := range []map[string]any{event.Payload, jsonTrip(t, event)} {
		got, err := state.DecodeOutcome(payload)
		must(t, err)
		same(t, first, got)
	}
	for field := range event.Payload["outcome"].(map[string]any) {
		payload := jsonTrip(t, event)
		delete(payload["outcome"].(map[string]any), field)
		if got, err := state.DecodeOutcome(payload); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("without %s: %+v, %v, want ErrInvalid", field, got, err)
		}
	}

	clk.Advance(time.Minute)
	second, _, err := s.StampOutcome(&first, state.Outcome{Slug: want.Slug, Scope: want.Scope, StoreID: storeA, Uses: math.MaxInt64})
	must(t, err)
	want.Uses, want.SyncVersion, want.UpdatedHLC = 1<<48, 2, hlc.Timestamp{Wall: clk.Now().UnixMilli()}
	same(t, want, second)

	stale := state.Outcome{Slug: "a", StoreID: storeA, Uses: 1, Envelope: state.Envelope{SyncVersion: 7}}
	if _, _, err := s.StampOutcome(&first, stale); !errors.Is(err, state.ErrConflict) {
		t.Errorf("a stale version: %v, want ErrConflict", err)
	}
	for name, bad := range map[string]state.Outcome{
		"no slug":       {StoreID: storeA},
		"a path":        {Slug: "../x", StoreID: storeA},
		"no store":      {Slug: "a"},
		"a scope":       {Slug: "a", StoreID: storeA, Scope: state.Scope{Project: "\n"}},
		"negative uses": {Slug: "a", StoreID: storeA, Uses: -1},
		"negative wins": {Slug: "a", StoreID: storeA, Wins: math.MinInt64},
	} {
		if got, _, err := s.StampOutcome(nil, bad); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%s: %+v, %v, want ErrInvalid", name, got, err)
		}
	}
	if got, _, err := s.StampOutcome(&state.Outcome{Uses: math.MaxInt64}, state.Outcome{Slug: "a", StoreID: storeA}); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("more than a store counts: %+v, %v, want ErrInvalid", got, err)
	}
}

// TestAStampedSkillKeepsItsTotals: a host that stores what a Stamper returns has
// them, and its stream too.
func TestAStampedSkillKeepsItsTotals(t *testing.T) {
	s, _ := newStamper()
	stamped, event, err := s.UpsertSkill(nil, state.Skill{Slug: "a", Uses: 3, Wins: 2})
	must(t, err)
	decoded, err := state.DecodeSkill(event.Payload)
	must(t, err)
	same(t, []int{3, 2, 3, 2}, []int{stamped.Uses, stamped.Wins, decoded.Uses, decoded.Wins})
}
