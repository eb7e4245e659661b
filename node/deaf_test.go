package node_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fleetsync/fleetd/node"
)

// A connection is made anew when a peer was deaf four times in a row, and not again
// for five minutes.
func TestCase35WhoIsDeafForLong(t *testing.T) {
	const peers = "abc" // by name; in the steps: who is deaf
	now := time.Unix(1_790_000_000, 0)
	for name, c := range map[string]struct {
		steps []string
		want  string // whose connections were made anew, in order
	}{
		"nobody":                    {[]string{"", "", "", "", ""}, ""},
		"not for long":              {[]string{"a", "a", "a", "", "a", "a", "a", ""}, ""},
		"for long":                  {[]string{"a", "a", "a", "a", "", ""}, "a"},
		"each by itself":            {[]string{"ab", "ab", "abc", "bc", "bc", "c", "c"}, "bc"},
		"for good":                  {slices.Repeat([]string{"a"}, 720), strings.Repeat("a", 12)}, // an hour
		"again after it was mended": {slices.Concat(slices.Repeat([]string{"a"}, 4), slices.Repeat([]string{""}, 60), slices.Repeat([]string{"a"}, 4)), "aa"},
	} {
		t.Run(name, func(t *testing.T) {
			var watch node.Deafness
			var got strings.Builder
			now := now
			for _, step := range c.steps {
				var deaf []peer.ID
				for _, p := range peers {
					if strings.ContainsRune(step, p) {
						deaf = append(deaf, peer.ID(p))
					}
				}
				for _, p := range watch.Look(deaf, now) {
					got.WriteString(string(p))
				}
				now = now.Add(5 * time.Second)
			}
			if got.String() != c.want {
				t.Errorf("made anew: %q, want %q", got.String(), c.want)
			}
		})
	}
}

// brittle is a host that resets the next gossip streams that others open.
type brittle struct {
	host.Host
	left *atomic.Int32
}

func (h brittle) SetStreamHandler(p protocol.ID, handle network.StreamHandler) {
	if slices.Contains(pubsub.GossipSubDefaultProtocols, p) {
		through := handle
		handle = func(s network.Stream) {
			if h.left.Add(-1) >= 0 {
				_ = s.Reset()
				return
			}
			through(s)
		}
	}
	h.Host.SetStreamHandler(p, handle)
}

// gossipsub gives up a connected peer after its fifth stream that broke, and neither
// hears the other from then on. The connection is made anew then, once.
func TestCase35ADeafConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSimFleet(t)
		var left atomic.Int32
		left.Store(5)
		f.wrap = func(i int, h host.Host) host.Host {
			if i == 0 {
				return brittle{h, &left}
			}
			return h
		}
		a := f.member(0, nil)
		b := f.member(1, a)
		f.settle(time.Minute, a, b)
		time.Sleep(10 * time.Second)
		if a.Hears(peer.ID(b.ID())) || b.Hears(peer.ID(a.ID())) {
			t.Fatalf("nobody is deaf; %d streams may still break", left.Load())
		}
		item := a.remember("what gossip does not bring")
		f.settle(10*time.Second, a, b) // a heartbeat
		if !b.knows(item.ID) || renewals(t, a, b) > 0 {
			t.Errorf("%d connections were made anew for a record", renewals(t, a, b))
		}
		time.Sleep(time.Minute)
		if !a.Hears(peer.ID(b.ID())) || !b.Hears(peer.ID(a.ID())) {
			t.Error("a new connection did not help")
		}
		time.Sleep(6 * time.Minute)
		if n := renewals(t, a, b); n == 0 || n > 2 { // each side may see to it
			t.Errorf("%d connections were made anew", n)
		}
		a.stop()
		b.stop()
	})
}

// renewals counts the connections that members made anew.
func renewals(t *testing.T, members ...*member) (n uint64) {
	t.Helper()
	for _, m := range members {
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n += status.Counters.GossipRenewed
	}
	return n
}

// Who does not gossip is in no topic, and is left alone; also one that did before.
func TestCase35WhoDoesNotGossipIsNotDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSimFleet(t)
		f.kind = node.StoreBadger // b is started twice
		a := f.member(0, nil)
		b := f.member(1, a)
		f.settle(time.Minute, a, b)
		if !a.Hears(peer.ID(b.ID())) {
			t.Fatal("a does not hear b")
		}
		b.stop()
		with := f.tweak
		f.tweak = func(c *node.Config) {
			with(c)
			c.Gossip = false
		}
		b = f.start(b.dir)
		f.settle(time.Minute, a, b)
		time.Sleep(2 * time.Minute)
		if n := renewals(t, a, b); n > 0 || a.Hears(peer.ID(b.ID())) {
			t.Errorf("%d connections were made anew", n)
		}
		a.stop()
		b.stop()
	})
}
