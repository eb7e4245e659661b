package node_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"path/filepath"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// addrInfo is how to dial a running member.
func (m *member) addrInfo() peer.AddrInfo {
	m.fixture.t.Helper()
	texts, err := m.Addrs()
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	info := peer.AddrInfo{ID: peer.ID(m.ID())}
	for _, text := range texts {
		info.Addrs = append(info.Addrs, multiaddr.StringCast(text))
	}
	return info
}

func newIdentity(tb testing.TB) fleet.Identity {
	tb.Helper()
	key, err := fleet.NewIdentity(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// bareHost is a host with a key and nothing behind it.
func bareHost(t *testing.T, key fleet.Identity) host.Host {
	t.Helper()
	h, err := node.NewHost(node.HostParams{Key: key.PrivKey(), Listen: loopback()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// impostor stops a member and returns a host with its key, connected with
// another member.
func (m *member) impostor(with *member) host.Host {
	t := m.fixture.t
	t.Helper()
	m.stop()
	h := m.bare()
	if err := h.Connect(t.Context(), with.addrInfo()); err != nil {
		t.Fatal(err)
	}
	return h
}

func (m *member) bare() host.Host {
	m.fixture.t.Helper()
	key, err := node.ReadKey(filepath.Join(m.dir, "identity.key"))
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	return bareHost(m.fixture.t, key)
}

// refuses reports whether a peer ends a stream without an answer.
func refuses(t *testing.T, h host.Host, p peer.ID, proto protocol.ID, send []byte) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := h.NewStream(ctx, p, proto)
	if err != nil {
		return true
	}
	defer s.Reset() //nolint:errcheck // it is over
	_ = s.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := s.Write(send); err != nil {
		return true
	}
	_ = s.CloseWrite()
	answer, err := io.ReadAll(s)
	return err != nil || len(answer) == 0
}

func TestStrangers(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	h := bareHost(t, newIdentity(t))
	hello := frame(byte(fleetsync.TypeHello), 0, 0xa0)
	protocols := []protocol.ID{node.SyncProtocol, node.PeersProtocol, node.JoinProtocol, pubsub.GossipSubID_v12}
	_ = h.Connect(t.Context(), a.addrInfo()) // over QUIC a refusal may come later
	for _, p := range protocols {
		if !refuses(t, h, a.addrInfo().ID, p, hello) {
			t.Errorf("with no invitation open %s answers a stranger", p)
		}
	}
	f.eventually("the stranger is turned out", []*member{a}, func() bool {
		return h.Network().Connectedness(a.addrInfo().ID) != network.Connected
	})

	a.ticket(fleet.InvitationConfig{})
	f.eventually("the stranger gets in", []*member{a}, func() bool { return h.Connect(t.Context(), a.addrInfo()) == nil })
	for _, p := range protocols {
		if refused := refuses(t, h, a.addrInfo().ID, p, hello); refused != (p != node.JoinProtocol) {
			t.Errorf("with an invitation open %s refuses a stranger: %v", p, refused)
		}
	}
}

// frame is a frame of the sync protocol.
func frame(content ...byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(content))), content...)
}

func TestMalformedFramesMakeAPeerUnwelcome(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	h := b.impostor(a)
	frames := map[string][]byte{
		"too long":         binary.AppendUvarint(nil, 1<<40),
		"empty":            frame(),
		"unknown flags":    frame(byte(fleetsync.TypeHello), 0x80, 0xa0),
		"no CBOR":          frame(byte(fleetsync.TypeHello), 0, 0xff),
		"not a zstd frame": frame(byte(fleetsync.TypeHello), 1, 1, 2, 3),
	}
	if len(frames) != node.StrikesMax {
		t.Fatalf("the test has %d frames, want %d", len(frames), node.StrikesMax)
	}
	for name, content := range frames {
		if a.Unwelcome(h.ID()) {
			t.Errorf("unwelcome before %s", name)
		}
		if !refuses(t, h, a.addrInfo().ID, node.SyncProtocol, content) {
			t.Errorf("%s: the stream goes on", name)
		}
	}
	f.eventually("the peer is kept away", []*member{a}, func() bool {
		return a.Unwelcome(h.ID()) && h.Network().Connectedness(a.addrInfo().ID) != network.Connected
	})
}

func TestALaterMessageIsSkipped(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	h := b.impostor(a)
	s, err := h.NewStream(t.Context(), a.addrInfo().ID, node.SyncProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset() //nolint:errcheck // it is over
	if _, err := s.Write(frame(250, 0, 0xa0)); err != nil {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := s.Read(make([]byte, 1)); !isTimeout(err) {
		t.Errorf("after a message of a later version the stream ended: %v", err)
	}
	if a.Unwelcome(h.ID()) {
		t.Error("it counted as a fault")
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(interface{ Timeout() bool })
	return ok && timeout.Timeout()
}

func TestAPeerWithoutTheProtocolIsIncompatible(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	b.impostor(a)
	f.eventually("b is shown as incompatible", []*member{a}, func() bool {
		members, err := a.Members(t.Context())
		return err == nil && members[1].State == node.MemberIncompatible
	})
}

// A machine that was killed and came back is talked to on its new connection,
// although the old one still seems to be there.
func TestAPeerThatBeganAnewIsFollowed(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	b.stop()
	meet := func(heard chan<- struct{}) host.Host {
		h := b.bare()
		h.SetStreamHandler(node.SyncProtocol, func(s network.Stream) {
			if _, err := s.Read(make([]byte, 1)); err == nil && heard != nil {
				heard <- struct{}{}
			}
		})
		if err := h.Connect(t.Context(), a.addrInfo()); err != nil {
			t.Fatal(err)
		}
		openSync(t, h, a)
		return h
	}
	old := make(chan struct{}, 8)
	dead := meet(old)
	<-old // a has a stream to it
	openSync(t, dead, a)
	fresh := make(chan struct{}, 8)
	meet(fresh)
	select {
	case <-fresh:
	case <-time.After(patience):
		t.Fatal("the new connection is not used")
	}
	f.eventually("the old connection is closed", []*member{a}, func() bool {
		return dead.Network().Connectedness(a.addrInfo().ID) != network.Connected
	})
}

func openSync(t *testing.T, h host.Host, with *member) {
	t.Helper()
	s, err := h.NewStream(t.Context(), with.addrInfo().ID, node.SyncProtocol)
	if err == nil {
		_, err = s.Write(frame(250, 0, 0xa0))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Gossip that breaks a rule is neither stored nor passed on; the same record,
// whole, is.
func TestGossipIsChecked(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.HeartbeatEvery = time.Hour })
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	b.stop()
	offline, err := node.New(t.Context(), f.config(b.dir))
	if err != nil {
		t.Fatal(err)
	}
	item, err := offline.State().Memory().Write(t.Context(), state.MemoryItem{Kind: "fact", Content: "by gossip alone"})
	if err != nil {
		t.Fatal(err)
	}
	wire := recordOf(t, offline, merge.Key{Kind: "memory", ID: merge.ID(item.ID)})
	if err := offline.Close(); err != nil {
		t.Fatal(err)
	}
	topic := newForger(t, b.impostor(a), a.Fleet(), a.addrInfo().ID)
	tampered := append([]byte{}, wire...)
	tampered[len(tampered)-1] ^= 1
	foreign := a.Fleet()
	foreign[0] ^= 1
	for _, g := range []fleetsync.Gossip{
		{Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: tampered}}},
		{Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryDeleted, Record: wire}}},
		{Fleet: fleetBytes(foreign), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: wire}}},
		{Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: wire[:40]}}},
	} {
		publish(t, topic, g)
	}
	f.eventually("all four are rejected", []*member{a}, func() bool {
		status, err := a.Status(t.Context())
		return err == nil && status.Counters.GossipRejected == 4
	})
	if a.knows(item.ID) {
		t.Error("a forged message was stored")
	}
	publish(t, topic, fleetsync.Gossip{Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: wire}}})
	f.eventually("the whole record arrives", []*member{a}, func() bool { return a.knows(item.ID) })
	// Played again, in another message, it goes nowhere (case 41).
	event := fleetsync.GossipEvent{Type: state.EvMemoryWritten, Record: wire}
	publish(t, topic, fleetsync.Gossip{Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{event, event}})
	f.eventually("the replay is ignored", []*member{a}, func() bool {
		status, err := a.Status(t.Context())
		return err == nil && status.Counters.GossipIgnored == 1
	})
}

func fleetBytes(id merge.FleetID) []byte { return id[:] }

func recordOf(t *testing.T, n *node.Node, key merge.Key) (wire []byte) {
	t.Helper()
	err := n.Store().View(func(r *store.Reader) error {
		rec, err := r.Head(key)
		wire = rec.Encode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// newForger joins the memory topic as a member without a node would, and waits
// until the other side is in it.
func newForger(t *testing.T, h host.Host, id merge.FleetID, other peer.ID) *pubsub.Topic {
	t.Helper()
	router, err := pubsub.NewGossipSub(t.Context(), h,
		pubsub.WithFloodPublish(true), pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(func(m *pb.Message) string { return string(m.GetData()) }))
	if err != nil {
		t.Fatal(err)
	}
	topic, err := router.Join(fleetsync.Topic(id, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := topic.EventHandler()
	if err != nil {
		t.Fatal(err)
	}
	for {
		event, err := events.NextPeerEvent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if event.Peer == other && event.Type == pubsub.PeerJoin {
			return topic
		}
	}
}

func publish(t *testing.T, topic *pubsub.Topic, g fleetsync.Gossip) {
	t.Helper()
	data, err := merge.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := topic.Publish(t.Context(), data); err != nil {
		t.Fatal(err)
	}
}
