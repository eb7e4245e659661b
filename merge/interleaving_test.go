package merge_test

import (
	"slices"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// TestCase27PutPutDeleteAgainstPut holds the fault of replicas with equal
// histories and different values: one writer puts, puts and deletes a key while
// another puts it, in every interleaving, each delivery made or left out, on
// two and three replicas, of which the third only listens.
func TestCase27PutPutDeleteAgainstPut(t *testing.T) {
	key := merge.Key{Kind: "memory", ID: "k"}
	script := [2][]mergetest.Write{
		{{Key: key, Body: []byte{1}}, {Key: key, Body: []byte{2}}, {Key: key, Delete: true}},
		{{Key: key, Body: []byte{3}}},
	}
	runs := 0
	// place is after how many writes of the first the second writes; deliver has
	// a bit for each write: whether the other writer sees it at once.
	for place := range len(script[0]) + 1 {
		for deliver := range 1 << 4 {
			var order []int
			order = append(order, slices.Repeat([]int{0}, place)...)
			order = append(order, 1)
			order = append(order, slices.Repeat([]int{0}, len(script[0])-place)...)
			written := runScript(script, order, deliver)
			checkEveryArrival(t, written)
			runs++
		}
	}
	if want := 4 * 16; runs != want {
		t.Errorf("%d runs, want %d", runs, want)
	}
}

func runScript(script [2][]mergetest.Write, order []int, deliver int) []merge.Version {
	replicas := [2]*mergetest.Replica{
		mergetest.NewReplica(mergetest.NewIdentity(1), false),
		mergetest.NewReplica(mergetest.NewIdentity(2), false),
	}
	var written []merge.Version
	var next [2]int
	for i, at := range order {
		record := replicas[at].Write(script[at][next[at]])
		next[at]++
		written = append(written, record.Version())
		if deliver&(1<<i) != 0 {
			replicas[1-at].Receive(record)
		}
	}
	return written
}

// checkEveryArrival brings the versions to a store in every order: it always
// holds the same, and its head is the last writer's.
func checkEveryArrival(t *testing.T, written []merge.Version) {
	t.Helper()
	last := slices.MaxFunc(written, merge.Compare)
	want := merge.Resolve(written)
	permute(written, func(arrivals []merge.Version) {
		var held []merge.Version
		for _, v := range arrivals {
			held, _, _ = merge.Insert(held, v)
		}
		same := slices.EqualFunc(held, want, func(a, b merge.Version) bool { return a.Hash == b.Hash })
		head, _ := merge.Head(held)
		if !same || head.Hash != last.Hash || head.Deleted != last.Deleted {
			t.Fatalf("arrivals %v give %v, want %v", arrivals, held, want)
		}
	})
}
