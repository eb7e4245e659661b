package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// links keeps one link for every connected member and serves the streams that
// members open. It is the stream half of fleetsync.Transport.
type links struct {
	host  host.Host
	codec *fleetsync.Codec
	loop  *loop
	gater *gater
	log   *slog.Logger
	// fault is told of what a peer did wrong.
	fault func(peer.ID, error)
	// linked is told of each link that came up; it must not block.
	linked func(peer.ID)

	wake    chan struct{} // holds a value when all peers are to be looked at
	dropped atomic.Uint64 // messages that found a full queue

	handlers handlers // links, and streams being served

	mu      sync.Mutex // guards all following fields
	byPeer  map[peer.ID]*link
	reasons map[peer.ID]string // why connected peers are incompatible
	inbound map[peer.ID]network.Stream
}

func newLinks(h host.Host, codec *fleetsync.Codec, l *loop, g *gater, log *slog.Logger) *links {
	return &links{
		host: h, codec: codec, loop: l, gater: g, log: log,
		wake:   make(chan struct{}, 1),
		byPeer: map[peer.ID]*link{}, reasons: map[peer.ID]string{}, inbound: map[peer.ID]network.Stream{},
	}
}

// Send queues a message for a peer, or drops it.
func (t *links) Send(to merge.InstanceID, m fleetsync.Message) {
	if k := t.linkTo(to); k != nil {
		enqueue(t, k.queue.messages, m)
	}
}

// answer queues the answer to a request of a peer; false when it is dropped.
func (t *links) answer(a fleetsync.Answer) bool {
	k := t.linkTo(a.To)
	return k != nil && enqueue(t, k.queue.answers, a)
}

func (t *links) linkTo(id merge.InstanceID) *link {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byPeer[peerOf(id)]
}

// enqueue counts what finds a full queue.
func enqueue[T any](t *links, queue chan<- T, out T) bool {
	select {
	case queue <- out:
		return true
	default:
		t.dropped.Add(1)
		return false
	}
}

// Run keeps the links until ctx ends, and ends them.
func (t *links) Run(ctx context.Context) error {
	events, err := t.host.EventBus().Subscribe([]any{
		new(event.EvtPeerConnectednessChanged), new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerProtocolsUpdated),
	}, eventbus.BufSize(256), eventbus.Name("links"))
	if err != nil {
		return fmt.Errorf("node: watch connections: %w", err)
	}
	defer events.Close() //nolint:errcheck // nothing is lost
	t.host.SetStreamHandler(SyncProtocol, func(s network.Stream) { t.handlers.run(s, func() { t.serve(ctx, s) }) })
	defer t.end()
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events.Out():
			if !ok {
				return nil
			}
			t.update(ctx, peerOfEvent(e))
		case <-t.wake:
			t.sweep(ctx)
		case <-ticker.C:
			t.sweep(ctx)
		}
	}
}

// end resets what is open and waits for it.
func (t *links) end() {
	t.host.RemoveStreamHandler(SyncProtocol)
	t.mu.Lock()
	for _, k := range t.byPeer {
		k.cancel()
	}
	t.mu.Unlock()
	t.handlers.close()
}

func peerOfEvent(e any) peer.ID {
	switch e := e.(type) {
	case event.EvtPeerConnectednessChanged:
		return e.Peer
	case event.EvtPeerIdentificationCompleted:
		return e.Peer
	case event.EvtPeerProtocolsUpdated:
		return e.Peer
	}
	return ""
}

// look asks for a sweep: who is a member has changed.
func (t *links) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// sweep compares the table with the network, and turns out peers that are no
// members any more, or never became any.
func (t *links) sweep(ctx context.Context) {
	for _, p := range t.host.Network().Peers() {
		t.update(ctx, p)
	}
	t.mu.Lock()
	var gone []peer.ID
	for p := range t.byPeer {
		if t.host.Network().Connectedness(p) != network.Connected {
			gone = append(gone, p)
		}
	}
	t.mu.Unlock()
	for _, p := range gone {
		t.update(ctx, p)
	}
	for _, c := range t.host.Network().Conns() {
		p := c.RemotePeer()
		if t.gater.outcast(p) || !t.gater.welcome(p) && time.Since(c.Stat().Opened) > strangerTimeout {
			_ = c.Close()
		}
	}
}

// update begins or ends the link of one peer, as the network and the fleet
// are.
func (t *links) update(ctx context.Context, p peer.ID) {
	if p == "" {
		return
	}
	connected := t.host.Network().Connectedness(p) == network.Connected
	wanted := connected && t.gater.welcome(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !connected {
		delete(t.reasons, p)
	}
	k := t.byPeer[p]
	switch {
	case k != nil && !wanted:
		k.cancel() // remove follows
	case k == nil && wanted:
		linkCtx, cancel := context.WithCancel(ctx)
		k = &link{
			links: t, peer: p, queue: newOutgoing(), cancel: cancel,
			post: func(in input) { _ = t.loop.do(ctx, in) },
		}
		t.byPeer[p] = k
		t.handlers.spawn(func() {
			k.run(linkCtx)
			cancel()
			t.remove(k)
		})
	}
}

// remove forgets a link that ended. The peer may be connected again by now.
func (t *links) remove(k *link) {
	t.mu.Lock()
	if t.byPeer[k.peer] == k {
		delete(t.byPeer, k.peer)
	}
	t.mu.Unlock()
	t.look()
}

// serve reads a stream that a peer opened. A newer one takes the place of an
// older one.
func (t *links) serve(ctx context.Context, s network.Stream) {
	p := s.Conn().RemotePeer()
	if !t.gater.welcome(p) {
		_ = s.Reset()
		return
	}
	t.replaceInbound(p, s)
	t.followConn(p, s.Conn())
	err := readFrames(ctx, s, t.codec, t.loop)
	_ = s.Reset()
	t.mu.Lock()
	if t.inbound[p] == s {
		delete(t.inbound, p)
	}
	t.mu.Unlock()
	if ReactionTo(err) == Score {
		t.fault(p, err)
	}
}

func (t *links) replaceInbound(p peer.ID, s network.Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.inbound[p]; old != nil {
		_ = old.Reset()
	}
	t.inbound[p] = s
}

// followConn notes on which connection a peer has opened a stream. When it does
// so again and on another one than the link uses, the peer has begun anew, and
// the others are dead: a killed machine does not close them, and QUIC would
// take half a minute to notice.
func (t *links) followConn(p peer.ID, now network.Conn) {
	t.mu.Lock()
	k := t.byPeer[p]
	t.mu.Unlock()
	if k == nil || k.inbound.Add(1) < 2 {
		return
	}
	used := k.conn.Load()
	if used == nil || (*used).ID() == now.ID() {
		return
	}
	for _, c := range t.host.Network().ConnsToPeer(p) {
		if c.ID() != now.ID() {
			_ = c.Close()
		}
	}
}

// setIncompatible notes why nothing can be exchanged with a connected peer;
// empty when it can.
func (t *links) setIncompatible(p peer.ID, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reason == "" {
		delete(t.reasons, p)
		return
	}
	t.reasons[p] = reason
}

// incompatible returns what setIncompatible noted.
func (t *links) incompatible() map[peer.ID]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	reasons := make(map[peer.ID]string, len(t.reasons))
	for p, reason := range t.reasons {
		reasons[p] = reason
	}
	return reasons
}

// peers returns the peers with a link.
func (t *links) peers() []peer.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	ps := make([]peer.ID, 0, len(t.byPeer))
	for p := range t.byPeer {
		ps = append(ps, p)
	}
	return ps
}

// isOpen reports whether the stream to a peer is open.
func (t *links) isOpen(p peer.ID) bool {
	k := t.linkTo(merge.InstanceID(p))
	return k != nil && k.conn.Load() != nil
}

// blame acts on what the engine says of a peer; it does not block.
func (t *links) blame(b fleetsync.Blame) {
	p := peerOf(b.Peer)
	switch ReactionTo(b.Err) {
	case Refuse:
		t.setIncompatible(p, b.Err.Error())
	case Score:
		t.fault(p, b.Err)
	case Retry, Stop, Ignore:
		if !errors.Is(b.Err, context.Canceled) {
			t.log.Debug("exchange ended", "peer", b.Peer.String(), "err", b.Err)
		}
	}
}
