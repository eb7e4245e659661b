package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/node"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// hosts keeps the hosts that nodes make.
type hosts map[peer.ID]host.Host

func (hs hosts) factory(p node.HostParams) (host.Host, error) {
	h, err := node.NewHost(p)
	if err == nil {
		hs[h.ID()] = h
	}
	return h, err
}

// reconnects are how often a connection breaks as soon as it is there.
const reconnects = 200

// TestCase35RapidReconnect: connections that break as soon as they are there leave
// nobody deaf.
func TestCase35RapidReconnect(t *testing.T) {
	made := hosts{}
	f := newFixture(t, func(c *node.Config) { c.HostFactory = made.factory })
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	from, to := made[peer.ID(a.ID())], peer.ID(b.ID())
	broken := 0
	limit := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for broken < reconnects {
		select {
		case <-tick.C:
			if len(from.Network().ConnsToPeer(to)) > 0 {
				broken++
				_ = from.Network().ClosePeer(to)
				_ = from.Connect(t.Context(), b.addrInfo())
			}
		case <-limit:
			t.Fatalf("only %d reconnects", broken)
		}
	}
	there, back := a.remember("after the storm"), b.remember("the answer")
	f.eventually("both have it", []*member{a, b}, func() bool { return b.knows(there.ID) && a.knows(back.ID) })
	f.converge(a, b)
}

// TestCase35WithinAHeartbeat is the same in virtual time: what is written after the
// last break is on the other side within a heartbeat, in both directions.
func TestCase35WithinAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSimFleet(t)
		a := f.member(0, nil)
		b := f.member(1, a)
		f.settle(time.Minute, a, b)
		from, to := f.made[peer.ID(a.ID())], f.made[peer.ID(b.ID())]
		for i := range reconnects {
			_ = from.Network().ClosePeer(to.ID())
			if err := from.Connect(t.Context(), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i%7) * simLatency / 2) // in all states of a connection
		}
		there, back := a.remember("after the storm"), b.remember("the answer")
		time.Sleep(fleetsync.HeartbeatDefault)
		if !b.knows(there.ID) || !a.knows(back.ID) {
			t.Errorf("after a heartbeat: there %t, back %t\n%s", b.knows(there.ID), a.knows(back.ID), dump([]*member{a, b}))
		}
		time.Sleep(time.Minute)
		if !a.Hears(to.ID()) || !b.Hears(from.ID()) {
			t.Errorf("deaf: a %t, b %t", !a.Hears(to.ID()), !b.Hears(from.ID()))
		}
		a.stop()
		b.stop()
	})
}
