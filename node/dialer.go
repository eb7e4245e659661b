package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// dialer keeps the node connected with the members that it chose. The pause
// between attempts doubles, and begins anew when something says that a member
// can be reached: it was connected, or a new address came.
type dialer struct {
	host      host.Host
	self      merge.InstanceID
	authority *fleet.Authority
	gater     *gater
	book      *book
	log       *slog.Logger
	min, max  time.Duration
	peersMax  int

	wake chan struct{} // holds a value when the plan may have changed

	mu    sync.Mutex // guards plans
	plans map[merge.InstanceID]*dialPlan
}

// dialPlan is when to dial one member.
type dialPlan struct {
	next    time.Time
	pause   time.Duration
	dialing bool
	since   time.Time // when it was last connected
	told    int64     // of the addresses that the pause belongs to
	err     error     // why the last attempt failed
}

// Run dials until ctx ends.
func (d *dialer) Run(ctx context.Context) error {
	events, err := d.host.EventBus().Subscribe(new(event.EvtPeerConnectednessChanged), eventbus.BufSize(256), eventbus.Name("dialer"))
	if err != nil {
		return err
	}
	defer events.Close() //nolint:errcheck // nothing is lost
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(dialsMax)
	defer group.Wait() //nolint:errcheck // attempts return none
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-events.Out():
			if change, ok := e.(event.EvtPeerConnectednessChanged); ok {
				d.changed(merge.InstanceID(change.Peer), change.Connectedness)
			}
		case <-d.wake:
		case <-timer.C:
		}
		timer.Reset(d.round(ctx, group))
	}
}

// look asks for a new plan: members or addresses have changed.
func (d *dialer) look() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// changed notes that a member was connected or lost. A connection that held
// for a while begins the pauses anew; one that did not, as where this node is
// not known yet, counts as an attempt that failed.
func (d *dialer) changed(id merge.InstanceID, now network.Connectedness) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.plans[id]
	if p == nil {
		return
	}
	p.err = nil
	if now == network.Connected {
		p.since = time.Now()
		return
	}
	if time.Since(p.since) > stableAfter {
		p.pause = d.min
	}
	// The other side may dial as well: not both at one moment.
	p.next = time.Now().Add(jitter(p.pause))
	p.pause = min(2*p.pause, d.max)
}

// round dials who is due and returns how long until the next is.
func (d *dialer) round(ctx context.Context, group *errgroup.Group) time.Duration {
	now := time.Now()
	wait := d.max
	for _, id := range d.targets() {
		due := d.due(id, now)
		if due > 0 {
			wait = min(wait, due)
			continue
		}
		info, known := d.book.addrInfo(id)
		if !known {
			d.finish(id, errNoAddress)
			continue
		}
		if !group.TryGo(func() error { d.dial(ctx, id, info); return nil }) {
			d.postpone(id, now.Add(tickEvery))
			wait = min(wait, tickEvery)
		}
	}
	return max(wait, time.Millisecond)
}

// due returns how long to wait before a member is dialled; when it is 0 the
// member counts as being dialled.
func (d *dialer) due(id merge.InstanceID, now time.Time) time.Duration {
	told := d.book.entry(id).Told
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.plans[id]
	if p == nil {
		p = &dialPlan{pause: d.min, told: told, next: now}
		d.plans[id] = p
	}
	if told != p.told {
		p.told, p.pause, p.next = told, d.min, now
	}
	if p.dialing || d.host.Network().Connectedness(peerOf(id)) == network.Connected {
		return d.max
	}
	if wait := p.next.Sub(now); wait > 0 {
		return wait
	}
	p.dialing = true
	return 0
}

func (d *dialer) dial(ctx context.Context, id merge.InstanceID, info peer.AddrInfo) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	// The pauses of the dialler are the ones that count, and the addresses of
	// the book.
	forgetBackoff(d.host, info.ID)
	err := d.host.Connect(ctx, info)
	if err != nil {
		d.log.Debug("member not reached", "peer", id.String(), "err", err)
	}
	d.finish(id, err)
	d.look()
}

// forgetBackoff makes a host dial a peer whatever came of earlier attempts.
func forgetBackoff(h host.Host, p peer.ID) {
	if s, ok := h.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(p)
	}
}

// finish plans the next attempt.
func (d *dialer) finish(id merge.InstanceID, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.plans[id]
	if p == nil {
		return
	}
	p.dialing, p.err = false, err
	if err == nil {
		return
	}
	p.next = time.Now().Add(min(jitter(p.pause), d.max))
	p.pause = min(2*p.pause, d.max)
}

func (d *dialer) postpone(id merge.InstanceID, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.plans[id]
	p.dialing, p.next = false, until
}

// failure returns why a member could not be reached the last time.
func (d *dialer) failure(id merge.InstanceID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.plans[id]; p != nil {
		return p.err
	}
	return nil
}

// targets returns the members to be connected with: all of a small fleet, else
// as many as are allowed, chosen by rendezvous hashing, which spreads them
// evenly and changes little when members come and go.
func (d *dialer) targets() []merge.InstanceID {
	type scored struct {
		id    merge.InstanceID
		score [sha256.Size]byte
	}
	var all []scored
	for _, m := range d.authority.Members() {
		if m.ID != d.self && d.gater.welcome(peerOf(m.ID)) {
			all = append(all, scored{id: m.ID, score: sha256.Sum256([]byte(string(d.self) + string(m.ID)))})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		if c := bytes.Compare(a.score[:], b.score[:]); c != 0 {
			return c
		}
		return strings.Compare(string(a.id), string(b.id))
	})
	targets := make([]merge.InstanceID, 0, min(len(all), d.peersMax))
	for _, s := range all[:min(len(all), d.peersMax)] {
		targets = append(targets, s.id)
	}
	return targets
}
