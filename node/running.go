package node

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// running is the part of a node that lives while Run runs.
type running struct {
	host      host.Host
	loop      *loop
	committer *committer
	verify    *signatures
	links     *links
	gossip    *gossip // nil when gossip is off
	exchange  *exchange
	dialer    *dialer
	joins     handlers
}

// transport joins the two halves of fleetsync.Transport.
type transport struct {
	*links
	gossip *gossip
}

func (t transport) Publish(topic string, data []byte) {
	if t.gossip != nil {
		t.gossip.Publish(topic, data)
	}
}

// Run is the node's part in the fleet: it listens, dials, exchanges and
// gossips until ctx ends or Close is called, and returns nil then. Every
// goroutine that it began has ended when it returns. It runs once. Errors:
// ErrListen, that of a network that cannot start, and store.ErrCorrupt: a disk
// that cannot be trusted.
func (n *Node) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.mu.Lock()
	if n.started || n.closed {
		n.mu.Unlock()
		return errors.New("node: Run runs once, before Close")
	}
	n.started, n.stop = true, cancel
	n.mu.Unlock()
	defer close(n.done)
	r, err := n.assemble()
	if err != nil {
		return err
	}
	defer func() {
		if err := r.host.Close(); err != nil {
			n.log.Warn("network not closed", "err", err)
		}
	}()
	n.setNetwork(r)
	defer n.setNetwork(nil)
	n.log.Info("node starts", "replica", n.ID().String(), "addrs", addrTexts(r.host))
	err = n.drive(ctx, r)
	n.log.Info("node ends", "replica", n.ID().String())
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (n *Node) setNetwork(r *running) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.net = r
}

// drive runs every part until ctx ends or one fails. The parts that answer to
// others end after those that ask them.
func (n *Node) drive(ctx context.Context, r *running) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(n.buildDigests)
	group.Go(func() error { return n.scrub(ctx) })
	group.Go(func() error { return r.verify.Run(ctx) })
	group.Go(func() error { return r.committer.Run(ctx) })
	group.Go(func() error { return r.loop.Run(ctx) })
	group.Go(func() error { return r.exchange.Run(ctx) })
	group.Go(func() error { return r.links.Run(ctx) })
	group.Go(func() error { return n.serveJoins(ctx, r) })
	if n.cfg.MDNS {
		d := &discovery{host: r.host, gater: n.gater, book: n.book, log: n.log, found: make(chan peer.AddrInfo, bookAddrsMax)}
		group.Go(func() error { return d.Run(ctx) })
	}
	start := func() {
		group.Go(func() error { return r.dialer.Run(ctx) })
		close(n.ready)
	}
	if r.gossip == nil {
		start()
	} else {
		// Dial once the topics are joined: the first thing that a peer hears of
		// this node then names them.
		group.Go(func() error { return r.gossip.Run(ctx, start) })
	}
	group.Go(func() error { return n.watch(ctx, r) })
	return group.Wait()
}

// assemble builds the parts and wires them; none runs yet.
func (n *Node) assemble() (*running, error) {
	codec, err := fleetsync.NewCodec()
	if err != nil {
		return nil, err
	}
	factory := n.cfg.HostFactory
	if factory == nil {
		factory = newHost
	}
	h, err := factory(HostParams{Key: n.key.PrivKey(), Listen: n.cfg.Listen, Gater: n.gater})
	if err != nil {
		return nil, err
	}
	r := &running{
		host: h, verify: newSignatures(fleet.NewVerifier(rand.Reader)), committer: newCommitter(n.store, n.admission, &n.judging),
	}
	r.loop = &loop{
		engine: n.newEngine(), verify: r.verify, commits: n.commits, committer: r.committer, inputs: make(chan input, inputsMax),
		silence: silence{}, ended: make(chan struct{}),
	}
	r.committer.applied = r.loop.applied
	r.links = newLinks(h, codec, r.loop, n.gater, n.log)
	r.links.fault = n.fault
	r.loop.blame, r.loop.answer = r.links.blame, r.links.answer
	if n.cfg.Gossip {
		r.gossip = n.newGossip(r)
	}
	r.loop.transport = transport{links: r.links, gossip: r.gossip}
	r.exchange = &exchange{
		host: h, self: n.ID(), authority: n.authority, gater: n.gater, book: n.book, log: n.log,
		peers: r.links.peers, fault: n.fault, wake: make(chan struct{}, 1), met: make(chan peer.ID, bookAddrsMax),
	}
	r.links.linked = r.exchange.meet
	r.dialer = &dialer{
		host: h, self: n.ID(), authority: n.authority, gater: n.gater, book: n.book, log: n.log,
		min: n.cfg.ReconnectMin, max: n.cfg.ReconnectMax, peersMax: n.cfg.PeersMax,
		wake: make(chan struct{}, 1), plans: map[merge.InstanceID]*dialPlan{},
	}
	return r, nil
}

func (n *Node) newEngine() *fleetsync.Engine {
	return fleetsync.New(fleetsync.Config{
		Self: n.ID(), Fleet: n.Fleet(), Sharing: *n.cfg.sharing(), EventType: state.Indexer{}.EventType,
		Rand: rand.Reader, Gossip: n.cfg.Gossip, HeartbeatEvery: n.cfg.HeartbeatEvery, Now: time.Now(),
	}, n.store, n.admission)
}

func (n *Node) newGossip(r *running) *gossip {
	return &gossip{
		host: r.host, gater: n.gater, scores: n.scores, loop: r.loop, log: n.log,
		topics: fleetsync.Topics(n.Fleet(), n.cfg.sharing()),
		queue:  make(chan fleetsync.Publish, publishQueueMax),
		check: &gossipCheck{
			self: r.host.ID(), fleet: n.Fleet(), gater: n.gater, admission: n.admission, store: n.store, verify: r.verify,
		},
	}
}

// serveJoins answers joiners until ctx ends.
func (n *Node) serveJoins(ctx context.Context, r *running) error {
	r.host.SetStreamHandler(JoinProtocol, func(s network.Stream) { r.joins.run(s, func() { n.serveJoin(ctx, s) }) })
	<-ctx.Done()
	r.host.RemoveStreamHandler(JoinProtocol)
	r.joins.close()
	return nil
}

// watch notes now and then who is there, and makes connections anew on which
// gossip is deaf.
func (n *Node) watch(ctx context.Context, r *running) error {
	var deafness deafness
	for sleep(ctx, sweepEvery) {
		var deaf []peer.ID
		for _, p := range r.links.peers() {
			n.book.met(ctx, merge.InstanceID(p), time.Now())
			if r.gossip != nil && r.links.isOpen(p) && r.gossip.speaks(p) && !r.gossip.hears(p) {
				deaf = append(deaf, p)
			}
		}
		for _, p := range deafness.look(deaf, time.Now()) {
			n.log.Warn("connection made anew: the peer is in no topic", "peer", merge.InstanceID(p).String())
			r.gossip.counts.renewed.Add(1)
			_ = r.host.Network().ClosePeer(p)
		}
	}
	return nil
}

// expel closes every connection of a peer.
func (r *running) expel(p peer.ID) {
	for _, c := range r.host.Network().ConnsToPeer(p) {
		_ = c.Close()
	}
	r.links.look()
}
