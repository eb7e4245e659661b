package node_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
)

// simFleet is a fleet of real nodes over a simulated QUIC network in virtual
// time.
type simFleet struct {
	*fixture
	kind node.StoreKind
	net  *simnet.Simnet
	made hosts                              // as they are without wrap
	wrap func(i int, h host.Host) host.Host // of each new host; nil for none
	cut  atomic.Int32                       // members below it do not hear the others; 0 for no cut
}

const simLatency = 20 * time.Millisecond

func newSimFleet(t *testing.T) *simFleet {
	t.Helper()
	f := &simFleet{made: hosts{}, kind: node.StoreMemory}
	f.net = &simnet.Simnet{LatencyFunc: f.latency}
	f.fixture = newFixture(t, nil)
	f.net.Start()
	t.Cleanup(f.net.Close)
	return f
}

// latency lets what crosses a cut arrive long after the test.
func (f *simFleet) latency(p *simnet.Packet) time.Duration {
	if cut := int(f.cut.Load()); cut > 0 && (simIndex(p.From) < cut) != (simIndex(p.To) < cut) {
		return 1000 * time.Hour
	}
	return simLatency
}

func simIP(i int) net.IP { return net.IPv4(10, 0, 0, byte(i+1)) }

func simIndex(addr net.Addr) int { return int(addr.(*net.UDPAddr).IP.To4()[3]) - 1 }

// factory makes hosts of one machine; each takes a port of its own.
func (f *simFleet) factory(i int) node.HostFactory {
	port := 8000
	link := simnet.LinkSettings{BitsPerSecond: 100 * simlibp2p.OneMbps}
	return func(p node.HostParams) (host.Host, error) {
		port++
		options := []libp2p.Option{
			libp2p.Identity(p.Key),
			libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/udp/%d/quic-v1", simIP(i), port)),
			simlibp2p.QUICSimnet(f.net, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}),
			libp2p.ResourceManager(&network.NullResourceManager{}),
			libp2p.DisableIdentifyAddressDiscovery(),
			libp2p.DisableMetrics(),
			libp2p.DisableRelay(),
			libp2p.ForceReachabilityPrivate(),
		}
		if p.Gater != nil {
			options = append(options, libp2p.ConnectionGater(p.Gater))
		}
		h, err := libp2p.New(options...)
		if err != nil {
			return nil, err
		}
		f.made[h.ID()] = h
		if f.wrap != nil {
			h = f.wrap(i, h)
		}
		return h, nil
	}
}

// member starts the i-th machine, which joins by the first.
func (f *simFleet) member(i int, first *member) *member {
	f.t.Helper()
	name := fmt.Sprintf("m%d", i)
	dir := filepath.Join(f.dir, name)
	factory := f.factory(i)
	f.tweak = func(c *node.Config) {
		def := node.DefaultConfig()
		c.HostFactory, c.StoreKind = factory, f.kind
		c.HeartbeatEvery, c.ReconnectMin, c.ReconnectMax = def.HeartbeatEvery, def.ReconnectMin, def.ReconnectMax
	}
	var err error
	if first == nil {
		_, err = node.Init(f.t.Context(), node.InitConfig{Dir: dir, Name: name, Listen: loopback(), StoreKind: f.kind})
	} else {
		_, err = node.Join(f.t.Context(), node.JoinConfig{
			Dir: dir, Ticket: first.ticket(fleet.InvitationConfig{}), Name: name, Listen: loopback(), StoreKind: f.kind, HostFactory: factory,
		})
	}
	if err != nil {
		f.t.Fatalf("%s: %v", name, err)
	}
	return f.start(dir)
}

// settle waits in virtual time until all agree, and returns how long it took.
func (f *simFleet) settle(limit time.Duration, members ...*member) time.Duration {
	f.t.Helper()
	began := time.Now()
	for time.Since(began) < limit {
		equal := true
		for _, m := range members {
			ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
			probe, err := m.Probe(ctx)
			cancel()
			equal = equal && err == nil && probe.Converged() && m.Root() == members[0].Root()
		}
		if equal {
			return time.Since(began)
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatalf("not equal after %s\n%s", limit, dump(members))
	return 0
}

// Five machines, cut in two for ten minutes while both sides write, find each
// other again by themselves.
func TestAPartitionHeals(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a quarter of an hour")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSimFleet(t)
		first := f.member(0, nil)
		all := []*member{first}
		for i := 1; i < 5; i++ {
			all = append(all, f.member(i, first))
		}
		first.teach("deploy", "together")
		f.settle(time.Minute, all...)

		f.cut.Store(2)
		time.Sleep(2 * time.Minute)
		all[0].teach("deploy", "on the left")
		time.Sleep(time.Second)
		all[3].teach("deploy", "on the right")
		items := []string{all[1].remember("left").ID, all[4].remember("right").ID}
		time.Sleep(8 * time.Minute)
		if left, right := all[0].Root(), all[3].Root(); left == right {
			t.Error("the cut did not cut")
		}
		f.settle(time.Minute, all[:2]...)
		f.settle(time.Minute, all[2:]...)

		f.cut.Store(0)
		took := f.settle(5*time.Minute, all...)
		t.Logf("equal %s after the cut was mended", took)
		if took > time.Minute {
			t.Errorf("it took %s of virtual time, want at most a minute: pauses are 30 s at most", took)
		}
		for _, m := range all {
			if got := m.skillBody("deploy"); got != "on the right" || len(m.conflicts()) != 1 {
				t.Errorf("%s: deploy is %q with %d conflicts", m.dir, got, len(m.conflicts()))
			}
			for _, id := range items {
				if !m.knows(id) {
					t.Errorf("%s lacks %s", m.dir, id)
				}
			}
		}
		for _, m := range all {
			m.stop()
		}
	})
}
