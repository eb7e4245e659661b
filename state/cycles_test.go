package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// TestCase8PutAndDelete: a key is written and deleted a thousand times. It has
// one version then, and all that its store holds for it, history, events, index and
// content included, is no more than after the first hundred.
func TestCase8PutAndDelete(t *testing.T) {
	long := strings.Repeat("long ", 8_000) // content beside its record
	for name, text := range map[string]string{"short": "text", "long": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk, disk := clock.NewManual(startTime()), store.NewMemory()
			n := openNode(t, disk, clk, state.Config{InstanceID: "a"})
			defer func() { must(t, n.Close()) }()
			var early, late rowCount
			for i := range 1000 {
				clk.Advance(time.Second)
				n.upsert(t, state.Skill{Slug: "s", Body: fmt.Sprint(text, i)})
				wantVersions(t, n.store, merge.Key{Kind: "skill", ID: "s"}, 1)
				clk.Advance(time.Second)
				must(t, n.SkillLibrary().DeleteIn(t.Context(), state.Scope{}, "s"))
				wantVersions(t, n.store, merge.Key{Kind: "skill", ID: "s"}, 1)
				n.log = nil
				switch {
				case i < 100:
					early = early.peak(rowsOf(t, disk))
				case i >= 900:
					late = late.peak(rowsOf(t, disk))
				}
			}
			// Numbers of more digits take a few bytes more.
			if late.rows > early.rows || late.bytes > early.bytes+8*early.rows {
				t.Errorf("the store holds up to %+v after 900 cycles, and %+v before 100", late, early)
			}
		})
	}
}

// rowCount is what a disk holds.
type rowCount struct{ rows, bytes int }

func (c rowCount) peak(other rowCount) rowCount {
	return rowCount{max(c.rows, other.rows), max(c.bytes, other.bytes)}
}

func rowsOf(t *testing.T, disk *store.Memory) (c rowCount) {
	t.Helper()
	must(t, disk.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, value []byte) (bool, error) {
			c.rows, c.bytes = c.rows+1, c.bytes+len(key)+len(value)
			return true, nil
		})
	}))
	return c
}

// wantVersions fails unless a store holds that many versions of a key, and no
// version of any other.
func wantVersions(t *testing.T, st *store.Store, key merge.Key, want int) {
	t.Helper()
	var held []store.Held
	must(t, st.View(func(r *store.Reader) (err error) {
		held, err = r.Held(key)
		return err
	}))
	total := int64(0)
	for _, s := range st.Sections() {
		total += s.Count
	}
	if len(held) != want || total != int64(want) {
		t.Fatalf("%d versions of %s are held, %d in all; want %d", len(held), key, total, want)
	}
}
