package node_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fleetsync/fleetd/node"
)

// haltable is a host whose incoming streams can be halted: the connections
// stay, and nobody reads, as when the process is stopped.
type haltable struct {
	host.Host
	halted *atomic.Bool
}

type haltableStream struct {
	network.Stream
	halted *atomic.Bool
}

func (h haltable) SetStreamHandler(p protocol.ID, handle network.StreamHandler) {
	if p != node.SyncProtocol {
		h.Host.SetStreamHandler(p, handle)
		return
	}
	h.Host.SetStreamHandler(p, func(s network.Stream) { handle(haltableStream{s, h.halted}) })
}

// Read drops what comes while halted.
func (s haltableStream) Read(b []byte) (int, error) {
	for {
		n, err := s.Stream.Read(b)
		if err != nil || !s.halted.Load() {
			return n, err
		}
	}
}

// A member that is connected and does not answer is not called in sync.
func TestASilentMemberIsNotInSync(t *testing.T) {
	var halted atomic.Bool
	var deaf peer.ID
	f := newFixture(t, func(c *node.Config) {
		c.HeartbeatEvery = time.Hour // nothing is asked by itself
		c.HostFactory = func(p node.HostParams) (host.Host, error) {
			h, err := node.NewHost(p)
			if err != nil || strings.HasSuffix(c.Dir, "a") {
				return h, err
			}
			deaf = h.ID()
			return haltable{h, &halted}, nil
		}
	})
	a := f.found("a")
	b := f.join(a, "b")
	f.eventually("a is in sync", []*member{a, b}, func() bool { return inSync(t, a) })
	if deaf != peer.ID(b.ID()) {
		t.Fatal("the wrong host can be halted")
	}
	began := time.Now()
	halted.Store(true)
	// It is found out by its silence and not by the end of the connection, which
	// the state below still has. That takes longer when it was halted in an exchange.
	f.eventually("a finds out", []*member{a}, func() bool { return !inSync(t, a) })
	status, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := status.Members[1]
	if got.State != node.MemberOffline || got.Via == "" || !strings.Contains(got.Why, "does not answer") {
		t.Errorf("the silent member is shown as %+v", got)
	}
	if got.Since.Before(began.Add(-time.Minute)) || got.Since.After(time.Now().Add(-time.Second)) {
		t.Errorf("silent since %s; it was halted at %s", got.Since, began)
	}
	if !strings.HasPrefix(status.Verdict, "in sync with 0 of 1 members: b is offline since ") {
		t.Errorf("verdict %q", status.Verdict)
	}
	silentProbe(t, a)
	halted.Store(false)
	f.eventually("it is in sync again", []*member{a, b}, func() bool { return inSync(t, a) })
}

// silentProbe checks what a probe says of a member that does not answer.
func silentProbe(t *testing.T, a *member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	probe, err := a.Probe(ctx)
	if err != nil || len(probe.Members) != 1 || probe.Members[0].Answered || probe.Members[0].Why != "no answer from b" {
		t.Errorf("probe: %+v, %v", probe, err)
	}
}
