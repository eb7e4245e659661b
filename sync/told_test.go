package sync_test

import (
	"testing"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestWhoWasInSyncIsToldOfAChange: right after a local write it is not known whether
// a peer that was equal has it, and nothing is wrong. That lasts for a heartbeat.
func TestWhoWasInSyncIsToldOfAChange(t *testing.T) {
	for name, key := range map[string]merge.Key{
		"where there was something":    {Kind: "memory", ID: "second"},
		"where there was nothing":      {Kind: "note", ID: "first"},
		"where something was replaced": {Kind: "memory", ID: "first"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMesh(t, true)
			a, _ := m.add("a", openly{}), m.add("b", openly{})
			m.write(a, "first", "text")
			m.connect("a", "b")
			m.settle(3)
			state := func() fleetsync.PeerState { return a.engine.Peers()[0] }
			m.now = m.now.Add(fleetsync.HeartbeatDefault) // the write above is an old one
			a.engine.Tick(m.now)
			m.drain()
			if p := state(); !p.InSync || p.IsTold {
				t.Fatalf("at rest: %+v", p)
			}
			m.writeKey(a, key, "new")
			if p := state(); p.InSync || !p.IsTold {
				t.Errorf("after a write: %+v", p)
			}
			m.lose = func(delivery) bool { return true }
			m.settle(1)
			if p := state(); p.InSync || p.IsTold {
				t.Errorf("without an answer for a heartbeat: %+v", p)
			}
			m.lose = nil
			m.settle(2)
			if p := state(); !p.InSync || p.IsTold {
				t.Errorf("at rest again: %+v", p)
			}
		})
	}
}

// TestWhoDiffersIsNotSaidToBeTold: neither one that was not compared, nor one that
// was seen to differ, nor one that nothing is gossiped to.
func TestWhoDiffersIsNotSaidToBeTold(t *testing.T) {
	for name, gossip := range map[string]bool{"not compared": true, "seen to differ": true, "no gossip": false} {
		t.Run(name, func(t *testing.T) {
			m := newMesh(t, gossip)
			a, b := m.add("a", openly{}), m.add("b", openly{})
			m.write(a, "first", "text")
			if name == "not compared" {
				m.lose = func(delivery) bool { return true }
			}
			m.connect("a", "b")
			m.settle(2)
			if name == "seen to differ" {
				m.lose = func(d delivery) bool { return d.gossip != nil || isFetching(d) }
				m.write(b, "of b", "text")
				m.settle(2)
			}
			m.write(a, "second", "text")
			if p := a.engine.Peers()[0]; p.InSync || p.IsTold {
				t.Errorf("after a write: %+v", p)
			}
		})
	}
}
