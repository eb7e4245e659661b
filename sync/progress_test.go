package sync_test

import (
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestAPullTellsHowFarItHasCome joins a node and looks at each record that
// arrives.
func TestAPullTellsHowFarItHasCome(t *testing.T) {
	m, a, b := pair(t, 4000)
	m.lose = nil
	difference{common: 10, onlyA: 2000}.fill(t, a, b)
	var seen []fleetsync.Progress
	m.lose = func(d delivery) bool {
		if p := b.engine.Peers()[0].Pull; d.to == "b" && p != nil {
			seen = append(seen, *p)
		}
		return false
	}
	m.connect("a", "b")
	m.settle(2)
	m.wantEqual(2010)
	if len(seen) < 10 {
		t.Fatalf("%d looks", len(seen))
	}
	last := uint64(0)
	for _, p := range seen {
		if p.Section != (merge.Section{Family: "memory"}) || p.Expected != 2000 || !p.Join || p.Received < last || p.Received > p.Expected {
			t.Fatalf("%+v after %d", p, last)
		}
		last = p.Received
	}
	if last < 1000 {
		t.Errorf("the last look shows %d", last)
	}
	if p := b.engine.Peers()[0]; p.Pull != nil || p.IsWaiting {
		t.Errorf("at the end %+v", p)
	}
}

func TestAPeerStateSaysWhy(t *testing.T) {
	m, a, b := pair(t, 0)
	b.share = sharingBy(t, "keep note")
	m.open(b)
	difference{onlyA: 3, onlyB: 100}.fill(t, a, b)
	m.writeKey(a, merge.Key{Kind: "note", ID: "own"}, "text")
	m.lose = func(d delivery) bool {
		if r, is := d.message.(*fleetsync.Recon); is && d.from == "a" {
			a.engine.Receive("b", &fleetsync.Busy{ID: r.ID, Retry: 60_000})
			return true
		}
		return isFetching(d)
	}
	m.connect("a", "b")
	m.settle(1)
	p := a.engine.Peers()[0]
	if !p.IsBusy || !p.IsWaiting || len(p.Withholds) != 1 || p.Withholds[0] != "note" {
		t.Errorf("%+v", p)
	}
}

// TestWhatTheDiskLostIsRepairedAndCounted holds that a store that has lost a row
// does not pass for equal: the row comes from a peer.
func TestWhatTheDiskLostIsRepairedAndCounted(t *testing.T) {
	m, a, b := pair(t, 0)
	m.lose = nil
	difference{common: 300}.fill(t, a, b)
	m.connect("a", "b")
	m.settle(1)
	m.isolate(b)
	m.damage(b, func(tx store.Txn, key, _ []byte) error { return tx.Delete(key) })
	m.connect("a", "b")
	m.settle(3)
	m.wantEqual(300)
	if n := b.engine.Counters().Repaired; n != 1 {
		t.Errorf("%d were repaired", n)
	}
}
