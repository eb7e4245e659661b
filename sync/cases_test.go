package sync_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Public faults of such systems that this package must not have, each by its
// number.

// TestCase20BothSidesOfOneKey: of one key both sides have a version and one is
// newer. Whoever of them says the first word, both have the newer one then.
func TestCase20BothSidesOfOneKey(t *testing.T) {
	for _, d := range []difference{
		{common: 1, newerA: 1}, {common: 1, newerB: 1}, {common: 200, newerA: 1}, {common: 200, newerB: 1},
	} {
		for _, first := range []merge.InstanceID{"a", "b"} {
			t.Run(fmt.Sprintf("%s says the first word, %s", first, d), func(t *testing.T) {
				t.Parallel()
				m := newMesh(t, false)
				a, b := m.add("a", openly{}), m.add("b", openly{})
				held := d.fill(t, a, b)
				m.lose = func(x delivery) bool { // the other only answers, and pulls
					beat, isBeat := x.message.(*fleetsync.Heartbeat)
					_, isHello := x.message.(*fleetsync.Hello)
					return x.from != first && (isHello || isBeat && len(beat.Echo) == 0)
				}
				m.connect("a", "b")
				m.settle(4)
				m.wantEqual(held)
			})
		}
	}
}

// TestCase26ACommitThatFails: whichever commit of an exchange fails, what was in
// it does not count as received, and comes again.
func TestCase26ACommitThatFails(t *testing.T) {
	for _, d := range []difference{
		{common: 300, onlyA: 40, newerA: 10, forked: 5},                  // by lists
		{common: 3, onlyA: 300},                                          // by pages
		{common: 300, onlyA: 60, clustered: true, newerA: 1, onlyB: 400}, // in one place
	} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			failures := 0
			for k := 1; ; k++ {
				m := newMesh(t, false)
				m.pageBytes = 2 << 10
				a, b := m.add("a", openly{}), m.add("b", openly{})
				held := d.fill(t, a, b)
				commits := 0
				m.fail = func(n *node, batch *fleetsync.ApplyBatch) error {
					if n != b || batch.Reconsider {
						return nil
					}
					if commits++; commits == k {
						return errBrittle
					}
					return nil
				}
				m.connect("a", "b")
				m.settle(6)
				m.wantEqual(held)
				if commits < k {
					break
				}
				failures++
			}
			if failures < 3 {
				t.Errorf("the exchange took %d commits, so little was shown", failures)
			}
		})
	}
}

// TestCase26GossipWhoseCommitFails: what is refused by the disk is not taken for
// seen, and comes by the feed.
func TestCase26GossipWhoseCommitFails(t *testing.T) {
	m := newMesh(t, true)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	m.connect("a", "b")
	m.settle(1)
	failed := false
	m.fail = func(n *node, batch *fleetsync.ApplyBatch) error {
		if n != b || failed || batch.Batch.Path != store.PathGossip {
			return nil
		}
		failed = true
		return errBrittle
	}
	m.write(a, "item", "text")
	m.settle(2)
	m.wantEqual(1)
	if !failed {
		t.Error("no commit failed")
	}
}

// TestCase34OneStampAcrossAnswers: many records share one stamp, and answers of
// every kind end between them. Each of three peers gets each once, also what
// comes by way of another, and nothing of a scope that is not shared.
func TestCase34OneStampAcrossAnswers(t *testing.T) {
	for name, count := range map[string]int{"by feed": 40, "by pages": 200} {
		for _, known := range []int{0, 100} { // by lists, where something is
			t.Run(fmt.Sprintf("%s, %d known", name, known), func(t *testing.T) {
				t.Parallel()
				m := newMesh(t, false)
				m.pageBytes = 700 // three records
				a, b, c := m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
				for i := range known + count {
					first := sealAt(t, "w", memoryKeyOf(fmt.Sprintf("%04d", i*7919%1000)), nil, 1000)
					to := []*node{a, b, c}
					if i >= known {
						to = to[:1]
					}
					for _, n := range to {
						if _, err := n.store.Merge(t.Context(), store.Batch{Path: store.PathRestore, Records: []merge.Record{first}}); err != nil {
							t.Fatal(err)
						}
					}
				}
				own := merge.Key{Kind: "memory", Scope: merge.Scope{Instance: "a"}, ID: "own"}
				m.writeKey(a, own, "text")
				times := map[string]int{}
				m.lose = func(x delivery) bool {
					for _, wire := range recordsIn(x.message) {
						r, err := merge.Decode(wire)
						if err != nil {
							t.Fatal(err)
						}
						times[fmt.Sprintf("%s to %s", r.Key, x.to)]++
					}
					return false
				}
				m.connect("a", "b")
				m.connect("b", "c")
				m.settle(6)
				m.wantEqual(int64(known + count))
				most := slices.Max(slices.Collect(maps.Values(times)))
				if want := 2 * count; len(times) != want || most != 1 {
					t.Errorf("%d records were sent, one of them %d times; want %d once", len(times), most, want)
				}
				if n := b.store.State(own.Section()).Count + c.store.State(own.Section()).Count; n > 0 {
					t.Errorf("%d versions came of a scope that is not shared", n)
				}
			})
		}
	}
}

// TestCase39TopicsOfManyScopes: twenty thousand scopes are written to, and there
// are as many topics as before.
func TestCase39TopicsOfManyScopes(t *testing.T) {
	const scopes = 20_000
	m := newMesh(t, true)
	a := m.add("a", openly{})
	records := make([]merge.Record, 0, scopes)
	for i := range scopes {
		key := merge.Key{
			Kind: []string{"memory", "skill", "note", "fleet"}[i%4], ID: "item",
			Scope: merge.Scope{Project: fmt.Sprintf("project-%d", i), Workspace: "main"},
		}
		records = append(records, sealAt(t, "a", key, nil, 1000))
	}
	a.engine.Local(store.Commit{Path: store.PathLocal, Records: records})
	topics := fleetsync.Topics(merge.FleetID{}, &fleetsync.Sharing{})
	used := map[string]bool{}
	for _, p := range a.engine.Drain().Publish {
		used[p.Topic] = true
		if !slices.Contains(topics, p.Topic) {
			t.Fatalf("%s is published to, which nobody subscribes to", p.Topic)
		}
	}
	if len(used) != 4 || len(topics) != 4 {
		t.Errorf("%d topics of %d are used for %d scopes, want 4 of 4", len(used), len(topics), scopes)
	}
}

// TestCase41ReplayedMessages: whatever one node has sent another arrives once
// more after minutes, and after hours. Nothing changes, and nothing is told to
// anybody.
func TestCase41ReplayedMessages(t *testing.T) {
	m := newMesh(t, true)
	a, b, c := m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
	difference{common: 100, onlyA: 100, newerB: 9, forked: 3}.fill(t, a, b)
	var captured []delivery
	m.lose = func(d delivery) bool {
		captured = append(captured, d)
		return false
	}
	m.connect("a", "b")
	m.connect("b", "c")
	m.settle(3)
	m.write(a, "live", "one")
	m.write(a, "live", "two")
	m.settle(3)
	m.lose = nil
	before := [3]nodeState{stateOf(t, a), stateOf(t, b), stateOf(t, c)}
	for _, later := range []time.Duration{130 * time.Second, 6 * time.Hour} {
		m.now = m.now.Add(later)
		m.settle(1)
		m.queue = append(m.queue, captured...)
		replayed := len(captured)
		m.lose = func(d delivery) bool {
			if replayed--; replayed < 0 && d.gossip != nil {
				t.Errorf("%s tells %s of what it has heard before", d.from, d.to)
			}
			return false
		}
		m.settle(3)
		m.lose = nil
		if after := [3]nodeState{stateOf(t, a), stateOf(t, b), stateOf(t, c)}; after != before {
			t.Errorf("after %s the replay changed %+v to %+v", later, before, after)
		}
	}
}

// nodeState is what a replay must not change.
type nodeState struct {
	sum         store.Sum
	count       int64
	head, event uint64
}

func stateOf(t *testing.T, n *node) (s nodeState) {
	t.Helper()
	memory := n.store.State(merge.Section{Family: "memory"})
	s = nodeState{sum: memory.Sum, count: memory.Count, head: n.store.Head()}
	err := n.store.View(func(r *store.Reader) (err error) {
		s.event, err = r.EventHead()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
