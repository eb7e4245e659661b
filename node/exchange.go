package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// PeersProtocol is the protocol by which members tell each other where members
// are.
const PeersProtocol protocol.ID = "/fleet/peers/1.0.0"

// addresses is the one message of PeersProtocol, sent in both directions. Keys
// are never reused.
type addresses struct {
	Entries []bookEntry `cbor:"1,keyasint"`
}

// exchange spreads addresses: each node asks its peers when it meets them, when
// it learns something new, and now and then.
type exchange struct {
	host      host.Host
	self      merge.InstanceID
	authority *fleet.Authority
	gater     *gater
	book      *book
	log       *slog.Logger
	// peers returns whom to exchange with.
	peers func() []peer.ID
	fault func(peer.ID, error)

	wake     chan struct{} // holds a value when all peers are to be asked
	met      chan peer.ID  // peers that were just met
	handlers handlers
}

// Run exchanges addresses until ctx ends.
func (x *exchange) Run(ctx context.Context) error {
	events, err := x.host.EventBus().Subscribe(new(event.EvtPeerIdentificationCompleted), eventbus.BufSize(256), eventbus.Name("exchange"))
	if err != nil {
		return fmt.Errorf("node: watch addresses: %w", err)
	}
	defer events.Close() //nolint:errcheck // nothing is lost
	x.host.SetStreamHandler(PeersProtocol, func(s network.Stream) { x.handlers.run(s, func() { x.serve(ctx, s) }) })
	defer func() {
		x.host.RemoveStreamHandler(PeersProtocol)
		x.handlers.close()
	}()
	ticker := time.NewTicker(exchangeEvery)
	defer ticker.Stop()
	var asked time.Time // when everybody was last asked
	later := time.NewTimer(time.Hour)
	later.Stop()
	defer later.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-events.Out():
			if !ok {
				return nil
			}
			if done, ok := e.(event.EvtPeerIdentificationCompleted); ok {
				x.identified(ctx, done)
			}
		case p := <-x.met:
			x.ask(ctx, p)
		case <-x.wake:
			// The first news goes at once, more of it in company.
			later.Reset(time.Until(asked.Add(exchangePause)))
		case <-later.C:
			x.askAll(ctx)
			asked = time.Now()
		case <-ticker.C:
			x.askAll(ctx)
			asked = time.Now()
		}
	}
}

// spread asks for an exchange with everybody: something new is known.
func (x *exchange) spread() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// meet asks for an exchange with a peer that was just met.
func (x *exchange) meet(p peer.ID) {
	select {
	case x.met <- p:
	default:
		x.spread()
	}
}

// identified takes the addresses that a member itself stated.
func (x *exchange) identified(ctx context.Context, e event.EvtPeerIdentificationCompleted) {
	if !x.gater.isMember(e.Peer) || e.Conn == nil {
		return
	}
	id := merge.InstanceID(e.Peer)
	x.book.learn(ctx, id, tellable(e.ListenAddrs, e.Conn.RemoteMultiaddr()), time.Now())
	x.book.met(ctx, id, time.Now())
}

func (x *exchange) askAll(ctx context.Context) {
	for _, p := range x.peers() {
		x.ask(ctx, p)
	}
}

// ask exchanges addresses with one peer, in the background.
func (x *exchange) ask(ctx context.Context, p peer.ID) {
	x.handlers.spawn(func() {
		ctx, cancel := context.WithTimeout(ctx, streamTimeout)
		defer cancel()
		if err := x.askOne(ctx, p); err != nil && ctx.Err() == nil {
			x.log.Debug("addresses not exchanged", "peer", p.String(), "err", err)
		}
	})
}

func (x *exchange) askOne(ctx context.Context, p peer.ID) error {
	s, err := x.host.NewStream(network.WithNoDial(ctx, "exchange"), p, PeersProtocol)
	if err != nil {
		return fmt.Errorf("node: exchange addresses: %w", err)
	}
	defer s.Close() //nolint:errcheck // everything was read by then
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	if err := x.tell(s); err != nil {
		return err
	}
	return x.hear(ctx, s)
}

// serve is the other side of askOne.
func (x *exchange) serve(ctx context.Context, s network.Stream) {
	if !x.gater.welcome(s.Conn().RemotePeer()) {
		_ = s.Reset()
		return
	}
	defer s.Close() //nolint:errcheck // everything was read by then
	ctx, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	if err := x.hear(ctx, s); err != nil {
		_ = s.Reset()
		return
	}
	_ = x.tell(s)
}

// tell writes what this node knows, itself first, and closes its side.
func (x *exchange) tell(s network.Stream) error {
	remote := s.Conn().RemoteMultiaddr()
	out := addresses{Entries: []bookEntry{{
		Member: x.self, Addrs: cleanAddrs(tellable(x.host.Addrs(), remote)), Told: time.Now().UnixMilli(),
	}}}
	out.Entries = append(out.Entries, x.others(merge.InstanceID(s.Conn().RemotePeer()), remote)...)
	b, err := merge.Marshal(out)
	if err != nil {
		return err
	}
	if _, err = s.Write(b); err == nil {
		err = s.CloseWrite()
	}
	if err != nil {
		return fmt.Errorf("node: exchange addresses: %w", err)
	}
	return nil
}

// others returns what is known of members but this one and the listener, the
// freshest first, as much as one message holds.
func (x *exchange) others(listener merge.InstanceID, remote multiaddr.Multiaddr) []bookEntry {
	var entries []bookEntry
	for _, m := range x.authority.Members() {
		e := x.book.entry(m.ID)
		addrs := tellableTexts(e.Addrs, remote)
		if m.ID != x.self && m.ID != listener && len(addrs) > 0 {
			entries = append(entries, bookEntry{Member: m.ID, Addrs: addrs, Told: e.Told})
		}
	}
	slices.SortStableFunc(entries, func(a, b bookEntry) int { return cmp.Compare(b.Told, a.Told) })
	size := 0
	for i, e := range entries {
		for _, a := range e.Addrs {
			size += len(a) + 8
		}
		if size += 64; i == bookEntriesMax-1 || size > exchangeBytesMax-bookAddrsMax*bookAddrBytesMax {
			return entries[:i]
		}
	}
	return entries
}

// hear takes what the other side knows of members.
func (x *exchange) hear(ctx context.Context, s network.Stream) error {
	p := s.Conn().RemotePeer()
	b, err := readBounded(s, exchangeBytesMax)
	if err != nil {
		return err
	}
	var in addresses
	if err := merge.Unmarshal(b, &in); err != nil || len(in.Entries) > bookEntriesMax {
		err = fmt.Errorf("%w: addresses: %w", fleetsync.ErrMalformed, err)
		x.fault(p, err)
		return err
	}
	for _, e := range in.Entries {
		if _, ok := x.authority.Member(e.Member); !ok || e.Member == x.self {
			continue
		}
		x.book.learn(ctx, e.Member, e.Addrs, time.UnixMilli(e.Told))
	}
	return nil
}
