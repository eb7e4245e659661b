package sync_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// check has one node check another, and returns what it found within so long.
func (m *mesh) check(n, of *node, within time.Duration) fleetsync.Checked {
	m.t.Helper()
	var found *fleetsync.Checked
	n.engine.Check(of.id, func(c fleetsync.Checked) { found = &c })
	for end := m.now.Add(within); found == nil && m.now.Before(end); {
		m.drain()
		m.now = m.now.Add(250 * time.Millisecond)
		for _, id := range m.order {
			m.nodes[id].engine.Tick(m.now)
		}
	}
	if found == nil {
		n.engine.EndCheck(of.id)
	}
	return *found
}

// pair makes two nodes that never fetch anything of each other.
func pair(t *testing.T, pageBytes int) (m *mesh, a, b *node) {
	t.Helper()
	m = newMesh(t, false)
	m.pageBytes = pageBytes
	a, b = m.add("a", openly{}), m.add("b", openly{})
	m.lose = isFetching
	return m, a, b
}

// isFetching says which messages bring something over.
func isFetching(d delivery) bool {
	switch d.message.(type) {
	case *fleetsync.Records, *fleetsync.Page, *fleetsync.ChangesPage:
		return true
	}
	return false
}

// versionsOf returns the versions of every key of the memory section, and the
// keys in their order.
func versionsOf(t *testing.T, n *node) (keys []merge.Key, held map[merge.Key][]merge.Version) {
	t.Helper()
	held = map[merge.Key][]merge.Version{}
	err := n.store.View(func(r *store.Reader) error {
		return r.Range(merge.Section{Family: "memory"}, "", func(k merge.Key, hs []store.Held) bool {
			keys = append(keys, k)
			held[k] = store.Versions(hs)
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys, held
}

// without returns the hashes of the versions of one list that another lacks.
func without(of, others []merge.Version) []merge.Hash {
	var list []merge.Hash
	for _, v := range of {
		if !slices.ContainsFunc(others, func(o merge.Version) bool { return o.Hash == v.Hash }) {
			list = append(list, v.Hash)
		}
	}
	return list
}

// firstUnlike compares two stores version by version.
func firstUnlike(t *testing.T, a, b *node) (key merge.Key, onlyA, onlyB []merge.Version) {
	t.Helper()
	keysA, heldA := versionsOf(t, a)
	keysB, heldB := versionsOf(t, b)
	keys := slices.SortedFunc(slices.Values(append(keysA, keysB...)), func(x, y merge.Key) int {
		return slices.Compare([]byte(x.Order()), []byte(y.Order()))
	})
	pick := func(all []merge.Version, hashes []merge.Hash) (list []merge.Version) {
		for _, v := range all {
			if slices.Contains(hashes, v.Hash) {
				list = append(list, v)
			}
		}
		return list
	}
	for _, k := range keys {
		onlyA, onlyB := pick(heldA[k], without(heldA[k], heldB[k])), pick(heldB[k], without(heldB[k], heldA[k]))
		if len(onlyA)+len(onlyB) > 0 {
			return k, onlyA, onlyB
		}
	}
	return key, nil, nil
}

func names(versions []merge.Version) (list []string) {
	for _, v := range versions {
		list = append(list, fmt.Sprintf("%s at %s", v.Writer, v.Stamp))
	}
	slices.Sort(list)
	return list
}

func heldNames(versions []fleetsync.HeldVersion) []string {
	plain := make([]merge.Version, 0, len(versions))
	for _, v := range versions {
		plain = append(plain, v.Version)
	}
	return names(plain)
}

// TestACheckNamesTheFirstKeyThatDiffers holds a check to what two stores are
// when they are compared version by version, from either side.
func TestACheckNamesTheFirstKeyThatDiffers(t *testing.T) {
	for _, d := range []difference{
		{onlyA: 1},
		{onlyA: 64},
		{onlyA: 3000},
		{common: 1},
		{common: 1, onlyB: 1},
		{common: 40, newerA: 1},
		{common: 40, forked: 1},
		{common: 5000},
		{common: 5000, onlyA: 1},
		{common: 5000, onlyB: 1},
		{common: 5000, newerB: 1},
		{common: 5000, forked: 2},
		{common: 3000, onlyA: 20, onlyB: 30, newerA: 40, newerB: 50, forked: 60},
		{common: 3000, onlyA: 200, clustered: true},
		{common: 30, onlyA: 2500},
		{common: 600, onlyA: 9, onlyB: 8, newerA: 3, newerB: 4, forked: 5, pageBytes: 700},
		{common: 300, onlyA: 500, clustered: true, pageBytes: 1},
	} {
		t.Run(d.String(), func(t *testing.T) {
			m, a, b := pair(t, d.pageBytes)
			d.fill(t, a, b)
			m.connect("a", "b")
			m.settle(1)
			for _, of := range [][2]*node{{a, b}, {b, a}} {
				got := m.check(of[0], of[1], time.Minute)
				if got.Unfinished != "" || len(got.Sections) != 1 {
					t.Fatalf("%+v", got)
				}
				s := got.Sections[0]
				key, here, there := firstUnlike(t, of[0], of[1])
				if key == (merge.Key{}) {
					if s.Outcome != fleetsync.OutcomeEqual || s.First != nil {
						t.Errorf("equal stores are %s, %+v", s.Outcome, s.First)
					}
					continue
				}
				if s.Outcome != fleetsync.OutcomeDiffers || s.First == nil || s.First.Key != key {
					t.Fatalf("%s checks %s: %s, %+v; want a difference at %s", of[0].id, of[1].id, s.Outcome, s.First, key)
				}
				if got, want := heldNames(s.First.OnlyHere), names(here); !slices.Equal(got, want) {
					t.Errorf("only at %s: %v, want %v", of[0].id, got, want)
				}
				if got, want := heldNames(s.First.OnlyThere), names(there); !slices.Equal(got, want) {
					t.Errorf("only at %s: %v, want %v", of[1].id, got, want)
				}
			}
		})
	}
}

// TestACheckOfAFleetThatWrites holds that what is under way is not reported as a
// difference, and that equal stores are found equal once it has arrived.
func TestACheckOfAFleetThatWrites(t *testing.T) {
	m, a, b := pair(t, 0)
	difference{common: 500}.fill(t, a, b)
	m.connect("a", "b")
	m.settle(1)
	m.lose = nil
	writes := 0
	for _, pause := range []int{1, 7, 13, 40} {
		var found *fleetsync.Checked
		b.engine.Check("a", func(c fleetsync.Checked) { found = &c })
		for i := 0; found == nil; i++ {
			if i%pause == 0 {
				writes++
				m.write(a, fmt.Sprintf("%04d", writes), "more")
			}
			m.drain()
			m.now = m.now.Add(100 * time.Millisecond)
			a.engine.Tick(m.now)
			b.engine.Tick(m.now)
		}
		if o := found.Sections[0].Outcome; found.Unfinished != "" || o != fleetsync.OutcomeEqual && o != fleetsync.OutcomeChanging {
			t.Errorf("a write every %d ticks: %+v", pause, found)
		}
	}
	m.settle(2)
	if got := m.check(a, b, time.Minute); got.Sections[0].Outcome != fleetsync.OutcomeEqual {
		t.Errorf("at rest: %+v", got)
	}
}

// TestACheckFindsASectionThatThePeerAloneHas holds that what a peer began a
// moment ago counts, and what either side keeps to itself does not.
func TestACheckFindsASectionThatThePeerAloneHas(t *testing.T) {
	m, a, b := pair(t, 0)
	b.share = sharingBy(t, "keep note")
	m.open(b)
	m.connect("a", "b")
	m.settle(1)
	m.writeKey(b, merge.Key{Kind: "skill", ID: "new"}, "text")
	m.writeKey(a, merge.Key{Kind: "note", ID: "own"}, "text")
	got := m.check(a, b, time.Minute)
	if len(got.Sections) != 2 || got.Sections[0].Outcome != fleetsync.OutcomeNotShared ||
		got.Sections[1].Outcome != fleetsync.OutcomeDiffers || got.Sections[1].First.Key.ID != "new" {
		t.Errorf("%+v", got)
	}
}

func TestACheckThatDoesNotComeToItsEndSaysWhy(t *testing.T) {
	isRecon := func(d delivery) bool { _, is := d.message.(*fleetsync.Recon); return is }
	tests := map[string]struct {
		spoil func(m *mesh, a, b *node)
		want  string
	}{
		"never connected": {func(m *mesh, a, _ *node) { m.isolate(a) }, fleetsync.UnfinishedLost},
		"silent":          {func(m *mesh, _, _ *node) { m.lose = func(delivery) bool { return true } }, fleetsync.UnfinishedSilent},
		"no answers":      {func(m *mesh, _, _ *node) { m.lose = isRecon }, fleetsync.UnfinishedSilent},
		"leaves": {func(m *mesh, a, _ *node) {
			m.lose = func(d delivery) bool {
				if isRecon(d) {
					m.isolate(a)
				}
				return false
			}
		}, fleetsync.UnfinishedLost},
		"busy": {func(m *mesh, a, _ *node) {
			m.lose = func(d delivery) bool {
				if r, is := d.message.(*fleetsync.Recon); is {
					a.engine.Receive("b", &fleetsync.Busy{ID: r.ID, Retry: 100})
				}
				return isRecon(d)
			}
		}, fleetsync.UnfinishedBusy},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, a, b := pair(t, 0)
			difference{common: 100}.fill(t, a, b)
			m.connect("a", "b")
			m.settle(1)
			tt.spoil(m, a, b)
			if got := m.check(a, b, 2*time.Minute); got.Unfinished != tt.want {
				t.Errorf("%+v, want %q", got, tt.want)
			}
		})
	}
}

// TestACheckGoesOnAfterBusy holds that a peer over its budget is asked again.
func TestACheckGoesOnAfterBusy(t *testing.T) {
	m, a, b := pair(t, 0)
	m.answerRate = 100 << 10
	m.open(b)
	difference{common: 20_000}.fill(t, a, b)
	m.connect("a", "b")
	m.settle(1)
	got := m.check(a, b, 5*time.Minute)
	if got.Unfinished != "" || len(got.Sections) != 1 || got.Sections[0].Outcome != fleetsync.OutcomeEqual {
		t.Errorf("%+v", got)
	}
	if b.engine.Counters().BusySent == 0 {
		t.Error("b was never busy")
	}
}

// damage changes a row of v/ on the disk of a node between two of its lives.
func (m *mesh) damage(n *node, change func(tx store.Txn, key, value []byte) error) {
	m.t.Helper()
	disk := n.disk.Clone()
	err := disk.Update(func(tx store.Txn) error {
		var key, value []byte
		err := tx.Scan([]byte("v"), []byte("w"), false, func(k, v []byte) (bool, error) {
			key, value = slices.Clone(k), slices.Clone(v)
			return false, nil
		})
		if err != nil {
			return err
		}
		return change(tx, key, value)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	n.disk = disk
	n.writes++
	m.open(n)
}

// TestACheckSeesDamage holds that what is compared is what the rows are, and not
// what was once computed of them.
func TestACheckSeesDamage(t *testing.T) {
	tests := map[string]struct {
		change             func(tx store.Txn, key, value []byte) error
		fromDamaged, other fleetsync.Outcome
	}{
		"row removed": {
			func(tx store.Txn, key, _ []byte) error { return tx.Delete(key) },
			fleetsync.OutcomeDiffers, fleetsync.OutcomeDiffers,
		},
		"bit flipped": {
			func(tx store.Txn, key, value []byte) error {
				value[len(value)/2] ^= 1
				return tx.Set(key, value)
			},
			fleetsync.OutcomeDamagedHere, fleetsync.OutcomeDamagedThere,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, a, b := pair(t, 0)
			difference{common: 300}.fill(t, a, b)
			m.damage(b, tt.change)
			m.connect("a", "b")
			m.settle(1)
			if s := b.store.State(merge.Section{Family: "memory"}); !s.Suspect || s.Count != 299 {
				t.Errorf("%+v after the damage", s)
			}
			if got := m.check(b, a, time.Minute); len(got.Sections) != 1 || got.Sections[0].Outcome != tt.fromDamaged {
				t.Errorf("the damaged one finds %+v", got)
			}
			if got := m.check(a, b, time.Minute); len(got.Sections) != 1 || got.Sections[0].Outcome != tt.other {
				t.Errorf("the other finds %+v", got)
			}
		})
	}
}

// TestWhatIsNotHeldIsToldSo holds that an answer tells a span of which nothing is
// held from one that is equal.
func TestWhatIsNotHeldIsToldSo(t *testing.T) {
	m, _, b := pair(t, 0)
	m.connect("a", "b")
	m.settle(1)
	var answer *fleetsync.ReconAnswer
	m.lose = func(d delivery) bool {
		if r, is := d.message.(*fleetsync.ReconAnswer); is {
			answer = r
		}
		return false
	}
	for _, exact := range []bool{false, true} {
		b.engine.Receive("a", &fleetsync.Recon{
			ID: 7, Section: merge.Section{Family: "memory"}.ID(), Salt: make([]byte, 8), Exact: exact,
			Spans: []fleetsync.ReconSpan{{Mode: 1, Count: 3, Print: make([]byte, 8)}},
		})
		m.drain()
		if answer == nil || len(answer.Spans) != 1 || answer.Spans[0].Mode != 1 || answer.Spans[0].Count != 0 {
			t.Errorf("exact %t: %+v", exact, answer)
		}
	}
}
