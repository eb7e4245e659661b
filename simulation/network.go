package simulation

import (
	"slices"
	"time"
)

// Network carries frames and gossip between replicas, and decides who is
// connected to whom. A connection belongs to a pair; each end learns of its
// begin and end by itself, and maybe late. It belongs to one goroutine.
type Network struct {
	clock *Clock
	dice  dice
	trace *Trace
	cover *counter
	watch *observation
	ends  []endpoint
	pairs []*pair   // all that can connect, in the order in which they were wired
	of    [][]*pair // by replica its own, by the number of the other
	seen  []uint64  // by gossip message: who has it, one bit each
	era   int       // counts the healings
}

// endpoint is what the network tells a replica. Its process may be down.
type endpoint interface {
	// running returns the number of the process that runs, 0 for none.
	running() uint64
	connected(peer int)
	disconnected(peer int)
	receive(from int, frame []byte)
	gossip(from int, g rumour)
}

// pair is what two replicas have between them that can connect. a is less
// than b.
type pair struct {
	a, b    int
	links   [2]link // from a to b, and back
	up      bool
	serial  uint64 // numbers the connections of the pair
	noticed [2]uint64
	barred  bool // no connection may begin
}

// rumour is one gossip message on its way.
type rumour struct {
	id   int
	data []byte
}

func newNetwork(clock *Clock, d dice, trace *Trace, cover *counter) *Network {
	return &Network{clock: clock, dice: d, trace: trace, cover: cover}
}

// attach adds an endpoint; its number is the count of earlier ones.
func (n *Network) attach(e endpoint) {
	n.ends = append(n.ends, e)
	n.of = append(n.of, nil)
}

// wire lets two replicas connect, a being less than b. there and back are the
// weather of their links. Pairs are wired in the order of b, then a.
func (n *Network) wire(a, b int, there, back Weather) {
	p := &pair{a: a, b: b, links: [2]link{{weather: there}, {weather: back}}}
	n.pairs = append(n.pairs, p)
	n.of[a] = append(n.of[a], p)
	n.of[b] = append(n.of[b], p)
}

// other returns the other end of a pair.
func (p *pair) other(number int) int { return p.a + p.b - number }

// pair returns what two replicas have between them, nil when they can never
// connect.
func (n *Network) pair(a, b int) *pair {
	own := n.of[a]
	i, found := slices.BinarySearchFunc(own, b, func(p *pair, other int) int { return p.other(a) - other })
	if !found {
		return nil
	}
	return own[i]
}

// from returns the link of a pair that one of its ends sends on.
func (p *pair) from(number int) *link {
	if number == p.a {
		return &p.links[0]
	}
	return &p.links[1]
}

func (p *pair) open() bool { return !p.links[0].cut && !p.links[1].cut }

// dial begins the connections that can begin. The owner calls it every now and
// then; each pair tries with the probability eager.
func (n *Network) dial(eager float64) {
	for _, p := range n.pairs {
		if p.up || p.barred || !p.open() || n.ends[p.a].running() == 0 || n.ends[p.b].running() == 0 {
			continue
		}
		if n.dice.chance(eager) {
			n.connect(p)
		}
	}
}

func (n *Network) connect(p *pair) {
	p.up = true
	p.serial++
	n.trace.note("net", "connect %d-%d", p.a, p.b)
	n.watch.of(EventConnect, p.a, p.b)
	for side := range p.noticed {
		n.clock.After(n.dice.duration(time.Millisecond, 60*time.Millisecond), n.noticing(p, side, p.serial))
	}
}

// noticing returns what tells one end of a connection that it began. When the
// end of the one before was never noticed, the end may also see but one long
// connection, though the process at the other side may be another.
func (n *Network) noticing(p *pair, side int, serial uint64) func() {
	return func() {
		end, peer := n.side(p, side)
		if !p.up || p.serial != serial || end.running() == 0 {
			return
		}
		stale := p.noticed[side] != 0
		p.noticed[side] = serial
		if stale {
			if n.dice.chance(0.5) {
				n.cover.fault(FaultUnseenReconnect)
				return
			}
			end.disconnected(peer)
		}
		end.connected(peer)
	}
}

func (n *Network) side(p *pair, side int) (end endpoint, peer int) {
	if side == 0 {
		return n.ends[p.a], p.b
	}
	return n.ends[p.b], p.a
}

// disconnect ends the connection of a pair. Each end notices after up to late.
func (n *Network) disconnect(p *pair, late time.Duration) {
	if !p.up {
		return
	}
	p.up = false
	n.trace.note("net", "disconnect %d-%d", p.a, p.b)
	n.watch.of(EventDisconnect, p.a, p.b)
	for side := range p.noticed {
		serial := p.serial
		n.clock.After(n.dice.duration(0, late), func() {
			end, peer := n.side(p, side)
			if p.noticed[side] != serial || (p.up && p.serial == serial) {
				return
			}
			p.noticed[side] = 0
			if end.running() != 0 {
				end.disconnected(peer)
			}
		})
	}
}

// died ends the connections of a process that is no more. Its partners notice
// after up to late.
func (n *Network) died(number int, late time.Duration) {
	for _, p := range n.of[number] {
		n.disconnect(p, late)
		if p.a == number {
			p.noticed[0] = 0
		} else {
			p.noticed[1] = 0
		}
	}
}

// connection returns the number of the newest connection of two replicas,
// from 1; 0 when there was none.
func (n *Network) connection(a, b int) uint64 {
	if p := n.pair(a, b); p != nil {
		return p.serial
	}
	return 0
}

// send carries one frame, best effort.
func (n *Network) send(from, to int, frame []byte) {
	p := n.pair(from, to)
	if p == nil || !p.up {
		n.cover.fault(FaultUnsent)
		return
	}
	l, serial, process := p.from(from), p.serial, n.ends[to].running()
	sent := n.clock.Elapsed()
	for _, d := range n.passage(l, l.weather.Loss) {
		overdue := n.overdue(l, d)
		n.clock.After(d, func() {
			if process == 0 || n.ends[to].running() != process || overdue() {
				return
			}
			if !p.up || p.serial != serial {
				if !n.dice.chance(l.weather.Straggle) {
					return
				}
				n.cover.fault(FaultStraggler)
			}
			n.watch.arrives(sent)
			n.ends[to].receive(from, frame)
		})
	}
}

// publish floods one gossip message from a replica through whoever is
// connected; each replica gets it once at most.
func (n *Network) publish(from int, data []byte) {
	n.seen = append(n.seen, 1<<from)
	n.forward(from, rumour{id: len(n.seen) - 1, data: data})
}

func (n *Network) forward(from int, g rumour) {
	sent := n.clock.Elapsed()
	for _, p := range n.of[from] {
		to := p.other(from)
		if !p.up || n.seen[g.id]&(1<<to) != 0 {
			continue
		}
		l := p.from(from)
		n.watch.hop(from, to, len(g.data))
		for _, d := range n.passage(l, l.weather.GossipLoss) {
			overdue := n.overdue(l, d)
			n.clock.After(d, func() {
				if n.ends[to].running() == 0 || n.seen[g.id]&(1<<to) != 0 || overdue() {
					return
				}
				n.seen[g.id] |= 1 << to
				n.watch.arrives(sent)
				n.ends[to].gossip(from, g)
			})
		}
	}
}

// overdue returns what tells, on arrival, whether a message was a stray of the
// time before the healing: those are lost with it.
func (n *Network) overdue(l *link, d time.Duration) func() bool {
	era, stray := n.era, d > l.weather.LatencyMax
	return func() bool { return stray && n.era != era }
}

// heal ends every cut and lets everybody connect. The weather of each link
// becomes what after makes of it.
func (n *Network) heal(after func(from, to int) Weather) {
	n.era++
	for _, p := range n.pairs {
		p.links[0].heal(after(p.a, p.b))
		p.links[1].heal(after(p.b, p.a))
		p.barred = false
	}
}

// notice ends the connections that cannot carry messages both ways any more,
// as keepalives do.
func (n *Network) notice() {
	for _, p := range n.pairs {
		if p.up && !p.open() {
			n.disconnect(p, 5*time.Second)
		}
	}
}

// allow takes a replica off the network, or lets it back.
func (n *Network) allow(number int, allowed bool) {
	for _, p := range n.of[number] {
		p.barred = !allowed
		if !allowed {
			n.disconnect(p, 20*time.Second)
		}
	}
}
