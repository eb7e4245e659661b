package simulation

import (
	"slices"
	"time"
)

// Network carries frames and gossip between replicas, and decides who is
// connected to whom. A connection belongs to a pair; each end learns of its
// begin and end by itself, and maybe late. It belongs to one goroutine.
type Network struct {
	clock  *Clock
	dice   dice
	grafts dice // of the gossip mesh
	storm  dice // of what came later than dice, so that its draws stay as they were
	trace  *Trace
	cover  *counter
	watch  *observation
	hops   Traffic // of gossip
	ends   []endpoint
	pairs  []*pair   // all that can connect, in the order in which they were wired
	of     [][]*pair // by replica its own, by the number of the other
	away   []bool    // by replica: off the network
	twin   []int     // by replica: another machine of its identity, -1 for none
	late   []late    // what arrives weeks later
	era    int       // counts the healings
	// degree is that of the gossip mesh, 0 for none.
	degree int
}

// late is a message that arrives long after, whether anybody slept meanwhile
// or not.
type late struct {
	at     time.Time
	arrive func()
}

// endpoint is what the network tells a replica. Its process may be down.
type endpoint interface {
	// running returns the number of the process that runs, 0 for none.
	running() uint64
	// reachable reports whether a connection with it can begin, and welcomes
	// whether it wants one with that peer.
	reachable() bool
	welcomes(peer int) bool
	connected(peer int)
	disconnected(peer int)
	receive(from int, frame []byte)
	gossip(from int, g *rumour)
	// spoilt takes a damaged message, before anything is made of its end.
	spoilt(from int, data []byte, gossip bool)
}

// pair is what two replicas have between them that can connect. a is less
// than b.
type pair struct {
	a, b    int
	links   [2]link // from a to b, and back
	grafted bool    // gossip passes here, where not everybody gets it from everybody
	up      bool
	serial  uint64 // numbers the connections of the pair
	noticed [2]uint64
	barred  bool // no connection may begin
}

// rumour is one gossip message on its way.
type rumour struct {
	data []byte
	has  replicaSet
}

func (n *Network) newRumour(data []byte, has ...int) *rumour {
	g := &rumour{data: data, has: newReplicaSet(len(n.ends))}
	for _, number := range has {
		g.has.add(number)
	}
	return g
}

func newNetwork(clock *Clock, seed uint64, trace *Trace, cover *counter) *Network {
	return &Network{
		clock: clock, dice: newDice(seed, streamNetwork), storm: newDice(seed, streamStorm), grafts: newDice(seed, streamGraft),
		trace: trace, cover: cover,
	}
}

// attach adds an endpoint; its number is the count of earlier ones.
func (n *Network) attach(e endpoint) {
	n.ends, n.twin = append(n.ends, e), append(n.twin, -1)
	n.of = append(n.of, nil)
	n.away = append(n.away, false)
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

// open reports whether a connection can begin.
func (p *pair) open() bool { return p.whole() && !p.links[0].clogged && !p.links[1].clogged }

// whole reports whether messages pass both ways, sooner or later.
func (p *pair) whole() bool {
	return p.links[0].cuts == 0 && !p.links[0].down && p.links[1].cuts == 0 && !p.links[1].down
}

// dial begins the connections that can begin. The owner calls it every now and
// then; each pair tries with the probability eager.
func (n *Network) dial(eager float64) {
	for _, p := range n.pairs {
		if p.up || p.barred || n.aliased(p) || n.away[p.a] || n.away[p.b] || !p.open() || !n.ends[p.a].reachable() || !n.ends[p.b].reachable() {
			continue
		}
		if !n.ends[p.a].welcomes(p.b) || !n.ends[p.b].welcomes(p.a) {
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
	p.up, p.grafted = false, false
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

// silent ends the connections of a process that does not answer any more, as
// keepalives do. It learns that itself once it goes on.
func (n *Network) silent(number int) {
	for _, p := range n.of[number] {
		n.disconnect(p, 5*time.Second)
	}
}

// neighbours returns those with whom a replica is connected, ascending.
func (n *Network) neighbours(number int) []int {
	var connected []int
	for _, p := range n.of[number] {
		if p.up {
			connected = append(connected, p.other(number))
		}
	}
	return connected
}

// alias tells that two machines have one identity.
func (n *Network) alias(a, b int) { n.twin[a], n.twin[b] = b, a }

// aliased reports whether the ends of a pair are one identity, or whether one of
// them is connected with another machine of the other.
func (n *Network) aliased(p *pair) bool {
	return n.twin[p.a] == p.b ||
		n.twin[p.a] >= 0 && n.linked(p.b, n.twin[p.a]) || n.twin[p.b] >= 0 && n.linked(p.a, n.twin[p.b])
}

// linked reports whether two replicas are connected.
func (n *Network) linked(a, b int) bool {
	p := n.pair(a, b)
	return p != nil && p.up
}

// believes reports whether a replica takes itself to be connected with another.
func (n *Network) believes(a, b int) bool {
	p := n.pair(a, b)
	switch {
	case p == nil:
		return false
	case a == p.a:
		return p.noticed[0] != 0
	default:
		return p.noticed[1] != 0
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
	if process == 0 {
		return
	}
	sent := n.clock.Elapsed()
	n.carry(l, parcel{
		size: len(frame), loss: l.weather.Loss,
		arrive: func(spoilt bool) {
			switch {
			case n.ends[to].running() != process:
				return
			case p.up && p.serial == serial:
				if spoilt {
					n.spoil(p, from, frame, false)
					return
				}
			case spoilt || !n.dice.chance(l.weather.Straggle):
				return
			default:
				n.cover.fault(FaultStraggler)
			}
			n.watch.arrives(sent)
			n.ends[to].receive(from, frame)
		},
		late: func() {
			if n.ends[to].running() == process {
				n.cover.fault(FaultLate)
				n.watch.arrives(sent)
				n.ends[to].receive(from, frame)
			}
		},
	})
}

// publish floods one gossip message from a replica through whoever is
// connected; each replica gets it once at most.
func (n *Network) publish(from int, data []byte) {
	n.forward(from, from, n.newRumour(data, from))
}

// forward passes a gossip message on that came from a replica, its own when
// that is itself.
func (n *Network) forward(from, cameFrom int, g *rumour) {
	sent := n.clock.Elapsed()
	for _, p := range n.of[from] {
		to := p.other(from)
		if !p.up || to == cameFrom || !n.wants(p, to, g, from == cameFrom) {
			continue
		}
		l := p.from(from)
		n.hops = n.hops.add(1, int64(len(g.data)))
		n.watch.hop(from, to, len(g.data))
		n.carry(l, parcel{
			size: len(g.data), loss: l.weather.GossipLoss,
			arrive: func(spoilt bool) {
				switch {
				case n.ends[to].running() == 0 || g.has.has(to):
				case spoilt:
					n.spoil(p, from, g.data, true)
				default:
					g.has.add(to)
					n.watch.arrives(sent)
					n.ends[to].gossip(from, g)
				}
			},
			late: func() {
				// Those who have had it have forgotten that by now.
				if n.ends[to].running() != 0 {
					n.cover.fault(FaultLate)
					n.watch.arrives(sent)
					n.ends[to].gossip(from, n.newRumour(g.data, from, to))
				}
			},
		})
	}
}

// wants reports whether a gossip message is sent on a connection. In a mesh
// nobody knows who has it already.
func (n *Network) wants(p *pair, to int, g *rumour, own bool) bool {
	if n.degree == 0 {
		return !g.has.has(to)
	}
	return own || p.grafted
}

// spoil damages what arrives from one end of a pair. The transport refuses it
// and gives the connection up; both ends notice.
func (n *Network) spoil(p *pair, from int, data []byte, gossip bool) {
	n.cover.fault(FaultCorrupt)
	n.ends[p.other(from)].spoilt(from, damage(n.storm, data), gossip)
	n.disconnect(p, time.Second)
}

// damage returns a copy of a message of which some bits are others, or the end
// is missing.
func damage(d dice, data []byte) []byte {
	bad := slices.Clone(data)
	if d.chance(0.2) {
		bad = bad[:d.IntN(len(bad))]
	}
	for range d.between(1, 8) {
		if len(bad) > 0 {
			bad[d.IntN(len(bad))] ^= 1 << d.IntN(8)
		}
	}
	return bad
}

// keep lets something arrive when that much time has passed, jumps included.
func (n *Network) keep(after time.Duration, arrive func()) {
	n.late = append(n.late, late{at: n.clock.Now().Add(after), arrive: arrive})
}

// ripen lets arrive what was kept until now. The owner calls it every now and
// then.
func (n *Network) ripen() {
	n.late = slices.DeleteFunc(n.late, func(l late) bool {
		due := !n.clock.Now().Before(l.at)
		if due {
			n.clock.After(n.storm.duration(0, 5*time.Second), l.arrive)
		}
		return due
	})
}

// heal ends every cut and lets everybody connect. The weather of each link
// becomes what after makes of it.
func (n *Network) heal(after func(from, to int) Weather) {
	n.era++
	for _, p := range n.pairs {
		p.links[0].heal(after(p.a, p.b))
		p.links[1].heal(after(p.b, p.a))
		p.barred = false
		n.changed(&p.links[0])
		n.changed(&p.links[1])
	}
	n.late = nil
	clear(n.away)
}

// notice ends the connections that cannot carry messages both ways any more,
// as keepalives do.
func (n *Network) notice() {
	for _, p := range n.pairs {
		if p.up && !p.whole() {
			n.disconnect(p, 5*time.Second)
		}
	}
}

// allow takes a replica off the network, or lets it back.
func (n *Network) allow(number int, allowed bool) {
	n.away[number] = !allowed
	if allowed {
		return
	}
	for _, p := range n.of[number] {
		n.disconnect(p, 20*time.Second)
	}
}

// cut lets nothing through links until end is called, or the network heals.
// Another cut of the same link may go on.
func (n *Network) cut(links []*link) (end func()) {
	for _, l := range links {
		l.cuts++
	}
	era := n.era
	return func() {
		if n.era != era {
			return
		}
		for _, l := range links {
			l.cuts--
		}
	}
}
