package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
)

// A fleet of 100 behind one address comes back at once: all of it gets in, over
// both transports, against the real limits.
func TestAHundredMembersBehindOneAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("opens a hundred hosts")
	}
	server := bareHost(t, newIdentity(t))
	group, ctx := errgroup.WithContext(t.Context())
	for i := range 100 {
		h, err := node.NewHost(node.HostParams{Key: newIdentity(t).PrivKey()})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close() //nolint:errcheck // the test is over
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			one := peer.AddrInfo{ID: server.ID(), Addrs: server.Addrs()[i%2 : i%2+1]}
			return h.Connect(ctx, one)
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	// The server's side of the last ones may take a little longer.
	newFixture(t, nil).eventually("all 100 are connected", nil, func() bool { return len(server.Network().Peers()) == 100 })
}

func TestRunEndsWithItsContext(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	a.stop()
	n, err := node.New(t.Context(), f.config(a.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close() //nolint:errcheck // it ends twice
	if _, err := n.Probe(t.Context()); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("probe before Run: %v", err)
	}
	if _, err := n.Invite(t.Context(), fleet.InvitationConfig{}); !errors.Is(err, node.ErrNotRunning) {
		t.Errorf("invite before Run: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	<-n.Ready()
	if probe, err := n.Probe(t.Context()); err != nil || !probe.Converged() {
		t.Errorf("a fleet of one has not converged: %+v, %v", probe, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := n.Run(t.Context()); err == nil {
		t.Error("Run ran twice")
	}
	if status, err := n.Status(t.Context()); err != nil || !status.InSync {
		t.Errorf("status after Run: %+v, %v", status, err)
	}
	for range 2 {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	addrs, err := a.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	b := f.join(a, "b")
	b.stop()
	for _, taken := range addrs {
		cfg := f.config(b.dir)
		cfg.Listen = []string{taken, "/ip4/127.0.0.1/tcp/0"}
		n, err := node.New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if err := n.Run(ctx); !isListenError(err, taken) {
			t.Errorf("listening on %s, which is taken: %v", taken, err)
		}
		cancel()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// isListenError reports whether the error names the address in one line and
// says what to do.
func isListenError(err error, addr string) bool {
	return errors.Is(err, node.ErrListen) && strings.Contains(err.Error(), " "+addr+": ") &&
		strings.Contains(err.Error(), "--listen") && !strings.Contains(err.Error(), "\n")
}

func TestAnAddressThatCannotBeIsAnError(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	addrs, err := a.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	for what, listen := range map[string][]string{
		"the only one is taken":         addrs[:1],
		"all are taken":                 addrs,
		"an address of another machine": {"/ip4/192.0.2.1/tcp/0"},
		"one of them over QUIC":         {"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/192.0.2.1/udp/0/quic-v1"},
	} {
		h, err := node.NewHost(node.HostParams{Key: newIdentity(t).PrivKey(), Listen: listen})
		if err == nil {
			_ = h.Close()
		}
		if !isListenError(err, listen[len(listen)-1]) && !isListenError(err, listen[0]) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestLocalDiscoveryMayFail(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.MDNS = true })
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b) // whether or not the machine has multicast
}
