package merge_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// TestLaws holds I1, I2 and I3 for versions of honest writers.
func TestLaws(t *testing.T) {
	honest := mergetest.Histories(mergetest.HistoryConfig{})
	t.Run("joining is commutative, associative and idempotent", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { joinLaws(t, honest.Draw(t, "history")) })
	})
	t.Run("any order and repetition of arrival gives the store of the twin", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { arrivalLaw(t, honest.Draw(t, "history")) })
	})
	t.Run("every order of up to five versions gives one store", func(t *testing.T) {
		small := mergetest.Histories(mergetest.HistoryConfig{StepsMax: 9})
		rapid.Check(t, func(t *rapid.T) { everyOrderLaw(t, small.Draw(t, "history")) })
	})
	t.Run("replicas that also write stay equal to their twins and become equal", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			f := newTestFleet(t, rapid.IntRange(2, 5).Draw(t, "replicas"), false)
			t.Repeat(rapid.StateMachineActions(f))
			f.convergeToTwin(t)
		})
	})
	t.Run("the order of versions is total", func(t *testing.T) { rapid.Check(t, totalOrder) })
}

func joinLaws(t *rapid.T, h mergetest.History) {
	all := h.Versions(h.Keys()[0])
	a, b, c := merge.Resolve(someOf(t, all)), merge.Resolve(someOf(t, all)), merge.Resolve(someOf(t, all))
	join := func(a, b []merge.Version) []merge.Version { return merge.Resolve(slices.Concat(a, b)) }
	equalHeld(t, "a+b and b+a", join(a, b), join(b, a))
	equalHeld(t, "(a+b)+c and a+(b+c)", join(join(a, b), c), join(a, join(b, c)))
	equalHeld(t, "a+a and a", join(a, a), a)
	inserted := a
	for _, v := range b {
		inserted, _, _ = merge.Insert(inserted, v)
	}
	equalHeld(t, "a with b inserted and a+b", inserted, join(a, b))
}

func arrivalLaw(t *rapid.T, h mergetest.History) {
	all := h.Versions(h.Keys()[0])
	arrivals := shuffled(t, slices.Concat(all, someOf(t, all)))
	var twin mergetest.Twin
	var held []merge.Version
	for _, v := range arrivals {
		before := slices.Clone(held)
		next, covered, added := merge.Insert(held, v)
		equalHeld(t, "the argument of Insert before and after", held, before)
		checkInsert(t, before, v, next, covered, added)
		held = next
		twin.Add(v)
		equalHeld(t, "inserted and twin", held, twin.Held())
		equalHeld(t, "resolved and twin", merge.Resolve(twin.Known()), twin.Held())
		checkHeld(t, held, &twin)
	}
	equalHeld(t, "some order and the order of writing", held, merge.Resolve(all))
}

// checkInsert holds Insert to its documentation: nothing appears or vanishes
// that is not reported.
func checkInsert(t *rapid.T, before []merge.Version, v merge.Version, next, covered []merge.Version, added bool) {
	want := slices.Concat(next, covered)
	got := slices.Clone(before)
	if added {
		got = append(got, v)
	}
	slices.SortFunc(want, merge.Compare)
	slices.SortFunc(got, merge.Compare)
	equalHeld(t, "held and covered after, held and new before", want, got)
	for _, c := range covered {
		if !merge.Covers(v, c) {
			t.Fatalf("Insert reports %v as covered by %v", c, v)
		}
	}
}

// checkHeld checks what is true of the held versions of any key.
func checkHeld(t *rapid.T, held []merge.Version, twin *mergetest.Twin) {
	if !slices.IsSortedFunc(held, merge.Compare) {
		t.Fatalf("held versions are not ascending: %v", held)
	}
	writers := map[merge.InstanceID]bool{}
	for _, h := range held {
		if writers[h.Writer] {
			t.Fatalf("two held versions of writer %s: %v", h.Writer, held)
		}
		writers[h.Writer] = true
	}
	head, ok := merge.Head(held)
	want, wantOK := twin.LastWriterWins()
	if ok != wantOK || merge.Compare(head, want) != 0 {
		t.Fatalf("head %v, %v; last-writer-wins says %v, %v", head, ok, want, wantOK)
	}
}

func everyOrderLaw(t *rapid.T, h mergetest.History) {
	all := h.Versions(h.Keys()[0])
	if len(all) > 5 {
		all = shuffled(t, all)[:5]
	}
	want := merge.Resolve(all)
	permute(all, func(order []merge.Version) {
		var held []merge.Version
		for _, v := range order {
			held, _, _ = merge.Insert(held, v)
		}
		equalHeld(t, "one order and another", held, want)
	})
}

// permute calls fn with every order of s, which it changes meanwhile.
func permute[T any](s []T, fn func([]T)) {
	var from func(int)
	from = func(i int) {
		if i == len(s) {
			fn(s)
			return
		}
		for j := i; j < len(s); j++ {
			s[i], s[j] = s[j], s[i]
			from(i + 1)
			s[i], s[j] = s[j], s[i]
		}
	}
	from(0)
}

func totalOrder(t *rapid.T) {
	versions := mergetest.Forged(6).Draw(t, "versions")
	for _, a := range versions {
		for _, b := range versions {
			ab := merge.Compare(a, b)
			if ab != -merge.Compare(b, a) || (ab == 0) != (a.Hash == b.Hash) {
				t.Fatalf("Compare(%v, %v) = %d, the other way %d", a, b, ab, merge.Compare(b, a))
			}
			byFields := cmp.Or(a.Stamp.Compare(b.Stamp), cmp.Compare(a.Writer, b.Writer), slices.Compare(a.Hash[:], b.Hash[:]))
			if ab != byFields {
				t.Fatalf("Compare(%v, %v) = %d, want %d", a, b, ab, byFields)
			}
			for _, c := range versions {
				if ab < 0 && merge.Compare(b, c) < 0 && merge.Compare(a, c) >= 0 {
					t.Fatalf("%v < %v < %v, but not the first and the last", a, b, c)
				}
			}
		}
	}
}

// testFleet is a fleet of replicas that hold one key by Resolve, Insert and
// Supersede, each beside a replica of the twin.
type testFleet struct {
	key      merge.Key
	clones   bool // the first two replicas share one identity
	replicas []*testReplica
	written  []merge.Record
}

type testReplica struct {
	twin *mergetest.Replica
	held []merge.Version
	own  *merge.Version // newest version of its own, held or not
}

func newTestFleet(t *rapid.T, replicas int, clones bool) *testFleet {
	f := &testFleet{key: merge.Key{Kind: "skill", ID: "deploy"}, clones: clones}
	for i := range replicas {
		number := byte(i)
		if clones && i == 1 {
			number = 0
		}
		twin := mergetest.NewReplica(mergetest.NewIdentity(number), false)
		twin.Skew(rapid.Int64Range(-2, 2).Draw(t, "skew"))
		f.replicas = append(f.replicas, &testReplica{twin: twin})
	}
	return f
}

func (f *testFleet) at(t *rapid.T, label string) *testReplica {
	return f.replicas[rapid.IntRange(0, len(f.replicas)-1).Draw(t, label)]
}

// Write writes at one replica and holds Supersede to the twin. Among clones the
// twin may hold less, so there the twin decides alone.
func (f *testFleet) Write(t *rapid.T) {
	at := f.at(t, "at")
	write := mergetest.DrawWrite(t, f.key)
	before, own := at.held, at.own
	record := at.twin.Write(write)
	f.written = append(f.written, record)
	v := record.Version()
	at.insert(v)
	if head, _ := merge.Head(at.held); head.Hash != v.Hash {
		t.Fatalf("a new write is not the head: %v", at.held)
	}
	if f.clones {
		return
	}
	supersede := merge.Supersede
	if write.Settle {
		supersede = merge.SupersedeAll
	}
	basis, syncVersion := supersede(before, own, v.Writer, v.Stamp)
	if diff := gocmp.Diff(v.Basis, basis); diff != "" || syncVersion != v.SyncVersion {
		t.Fatalf("sync version %d, the twin says %d; basis (-twin +got):\n%s", syncVersion, v.SyncVersion, diff)
	}
	if write.Settle && len(at.held) != 1 {
		t.Fatalf("a write that settles left conflicts: %v", at.held)
	}
}

// Deliver brings one version that anybody ever wrote to one replica.
func (f *testFleet) Deliver(t *rapid.T) {
	if len(f.written) == 0 {
		return
	}
	to, record := f.at(t, "to"), f.written[rapid.IntRange(0, len(f.written)-1).Draw(t, "record")]
	to.twin.Receive(record)
	to.insert(record.Version())
}

// Exchange brings what one replica holds to another, in some order.
func (f *testFleet) Exchange(t *rapid.T) {
	from, to := f.at(t, "from"), f.at(t, "to")
	if len(from.held) == 0 {
		return
	}
	for _, v := range shuffled(t, from.held) {
		f.deliverVersion(to, v)
	}
}

func (f *testFleet) deliverVersion(to *testReplica, v merge.Version) {
	i := slices.IndexFunc(f.written, func(r merge.Record) bool { return r.Hash() == v.Hash })
	to.twin.Receive(f.written[i])
	to.insert(v)
}

func (f *testFleet) Pass(t *rapid.T) { f.at(t, "at").twin.Pass(1) }

// Check runs after every step.
func (f *testFleet) Check(t *rapid.T) {
	for _, r := range f.replicas {
		equalHeld(t, "replica and twin", r.held, r.twin.Key(f.key).Held())
		checkHeld(t, r.held, r.twin.Key(f.key))
	}
}

func (f *testFleet) convergeToTwin(t *rapid.T) {
	var all mergetest.Twin
	for i := range f.written {
		all.Add(f.written[i].Version())
	}
	exchangeUntilQuiet(t, f.stores())
	for _, r := range f.replicas {
		equalHeld(t, "replica and everything ever written", r.held, all.Held())
	}
}

func (f *testFleet) stores() []*[]merge.Version {
	var stores []*[]merge.Version
	for _, r := range f.replicas {
		stores = append(stores, &r.held)
	}
	return stores
}

func (r *testReplica) insert(v merge.Version) {
	r.held, _, _ = merge.Insert(r.held, v)
	if v.Writer == r.twin.Writer().ID && (r.own == nil || merge.Compare(v, *r.own) > 0) {
		r.own = &v
	}
}

// exchangeUntilQuiet lets stores bring each other what they hold, in a drawn
// order, until nobody has anything new for anybody.
func exchangeUntilQuiet(t *rapid.T, stores []*[]merge.Version) {
	const roundsMax = 100
	order := shuffled(t, stores)
	for range roundsMax {
		quiet := true
		for _, from := range order {
			for _, to := range order {
				for _, v := range *from {
					var added bool
					*to, _, added = merge.Insert(*to, v)
					quiet = quiet && !added
				}
			}
		}
		if quiet {
			return
		}
	}
	t.Fatalf("not quiet after %d rounds", roundsMax)
}

// shuffled draws an order of s. It draws places, not elements, so that a failing
// case prints short.
func shuffled[T any](t *rapid.T, s []T) []T {
	places := make([]int, len(s))
	for i := range places {
		places[i] = i
	}
	drawn := make([]T, 0, len(s))
	if len(s) == 0 {
		return drawn
	}
	for _, i := range rapid.Permutation(places).Draw(t, "order") {
		drawn = append(drawn, s[i])
	}
	return drawn
}

// someOf draws some of s, in some order.
func someOf[T any](t *rapid.T, s []T) []T {
	return shuffled(t, s)[:rapid.IntRange(0, len(s)).Draw(t, "n")]
}

func equalHeld(t *rapid.T, what string, got, want []merge.Version) {
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s differ (-second +first):\n%s", what, diff)
	}
}
