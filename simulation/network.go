package simulation

import (
	"time"
)

// Network carries frames and gossip between replicas, and decides who is
// connected to whom. A connection belongs to a pair; each end learns of its
// begin and end by itself, and maybe late. It belongs to one goroutine.
type Network struct {
	clock   *Clock
	dice    dice
	weather Weather
	trace   *Trace
	cover   *Coverage
	ends    []endpoint
	links   [][]link
	pairs   [][]*pair // pairs[a][b] == pairs[b][a]
	seen    []uint64  // by gossip message: who has it, one bit each
	era     int       // counts the healings
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

// pair is what two replicas have between them.
type pair struct {
	a, b    int
	wired   bool // the topology lets them connect
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

func newNetwork(clock *Clock, d dice, trace *Trace, cover *Coverage) *Network {
	return &Network{clock: clock, dice: d, trace: trace, cover: cover}
}

// attach adds an endpoint; its number is the count of earlier ones.
func (n *Network) attach(e endpoint) {
	number := len(n.ends)
	n.ends = append(n.ends, e)
	for i := range n.links {
		n.links[i] = append(n.links[i], link{})
	}
	n.links = append(n.links, make([]link, number+1))
	n.pairs = append(n.pairs, make([]*pair, number+1))
	for i := range number {
		p := &pair{a: i, b: number}
		n.pairs[i] = append(n.pairs[i], p)
		n.pairs[number][i] = p
	}
}

// each calls fn for every pair of the topology.
func (n *Network) each(fn func(p *pair)) {
	for b := range n.pairs {
		for a := range b {
			if p := n.pairs[a][b]; p.wired {
				fn(p)
			}
		}
	}
}

func (n *Network) open(p *pair) bool {
	return !n.links[p.a][p.b].cut && !n.links[p.b][p.a].cut
}

// dial begins the connections that can begin. The owner calls it every now and
// then; each pair tries with the probability eager.
func (n *Network) dial(eager float64) {
	n.each(func(p *pair) {
		if p.up || p.barred || !n.open(p) || n.ends[p.a].running() == 0 || n.ends[p.b].running() == 0 {
			return
		}
		if n.dice.chance(eager) {
			n.connect(p)
		}
	})
}

func (n *Network) connect(p *pair) {
	p.up = true
	p.serial++
	n.trace.note("net", "connect %d-%d", p.a, p.b)
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
	n.each(func(p *pair) {
		if p.a != number && p.b != number {
			return
		}
		n.disconnect(p, late)
		if p.a == number {
			p.noticed[0] = 0
		} else {
			p.noticed[1] = 0
		}
	})
}

// send carries one frame, best effort.
func (n *Network) send(from, to int, frame []byte) {
	p := n.pairs[from][to]
	if !p.up {
		n.cover.fault(FaultUnsent)
		return
	}
	serial, process := p.serial, n.ends[to].running()
	for _, d := range n.passage(&n.links[from][to], n.weather.Loss) {
		overdue := n.overdue(d)
		n.clock.After(d, func() {
			if process == 0 || n.ends[to].running() != process || overdue() {
				return
			}
			if !p.up || p.serial != serial {
				if !n.dice.chance(n.weather.Straggle) {
					return
				}
				n.cover.fault(FaultStraggler)
			}
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
	for to := range n.ends {
		if to == from || !n.pairs[from][to].up || n.seen[g.id]&(1<<to) != 0 {
			continue
		}
		for _, d := range n.passage(&n.links[from][to], n.weather.GossipLoss) {
			overdue := n.overdue(d)
			n.clock.After(d, func() {
				if n.ends[to].running() == 0 || n.seen[g.id]&(1<<to) != 0 || overdue() {
					return
				}
				n.seen[g.id] |= 1 << to
				n.ends[to].gossip(from, g)
			})
		}
	}
}

// overdue returns what tells, on arrival, whether a message was a stray of the
// time before the healing: those are lost with it.
func (n *Network) overdue(d time.Duration) func() bool {
	era, stray := n.era, d > n.weather.LatencyMax
	return func() bool { return stray && n.era != era }
}

// heal ends every cut and lets everybody connect.
func (n *Network) heal(w Weather) {
	n.era++
	n.weather = w
	for from := range n.links {
		for to := range n.links[from] {
			n.links[from][to].cut = false
		}
	}
	n.each(func(p *pair) { p.barred = false })
}

// notice ends the connections that cannot carry messages both ways any more,
// as keepalives do.
func (n *Network) notice() {
	n.each(func(p *pair) {
		if p.up && !n.open(p) {
			n.disconnect(p, 5*time.Second)
		}
	})
}

// allow takes a replica off the network, or lets it back.
func (n *Network) allow(number int, allowed bool) {
	n.each(func(p *pair) {
		if p.a != number && p.b != number {
			return
		}
		p.barred = !allowed
		if !allowed {
			n.disconnect(p, 20*time.Second)
		}
	})
}
