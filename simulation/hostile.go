package simulation

import (
	"time"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// A hostile member belongs to the fleet, and lies. Its engine, its store and its
// agents are those of everybody; an adversary stands between them and the
// network, changes what they say and says more. It ends with all faults: the
// machine is set up anew, with its disk, and is believed again. What the others
// hold of it until then must harm nobody but its own keys.

// adversary is what stands between a hostile member and the network. It belongs
// to the cluster's goroutine.
type adversary struct {
	replica *Replica
	dice    dice
	lies    map[Act]lie
	past    []letter // what was sent before, the newest last
	cargo   map[merge.Section][]cargo
	marks   map[*byte]Fault // what is on its way and not what it seems
	awake   bool            // act is going to be called
	serial  int             // of what it makes up
	pried   []uint64        // questions about what is private, the newest last
}

// lie is how a member lies for a while.
type lie struct {
	count int // what it means is the act's
	until time.Time
}

// question is a request that somebody has sent to a replica.
type question struct {
	id, after uint64
	section   merge.Section
}

// letter is one frame of before.
type letter struct {
	to    int
	frame []byte
}

// cargo is a record that goes with the answers of a section.
type cargo struct {
	wire  []byte
	fault Fault
	// sides is how many there are of it, each told to other replicas, and side
	// which one this is.
	side, sides int
}

const (
	// pastMax bounds what a hostile member remembers to send again.
	pastMax = 64
	// hostileEvery is how often one does what nobody asked for.
	hostileEvery = 250 * time.Millisecond
	// graceAfter is how long after the end of all faults a lie may still arrive.
	graceAfter = 5 * time.Second
	// poisonNear is how far ahead a version may be stamped for which the end of
	// all faults waits: until nobody looks any more, none that is farther away can
	// come due.
	poisonNear = 2 * time.Hour
)

// lieKinds are the acts of hostile members, and what each of them counts as.
func lieKinds() map[Act]Fault {
	return map[Act]Fault{
		ActForgeHeads: FaultForgedHeads, ActForgeAnswers: FaultForgedAnswer, ActForgeContents: FaultForgedContent, ActForgeRequests: FaultForgedRequest,
		ActForgeRecords: FaultForgedRecord, ActForgeGossip: FaultForgedGossip, ActFlipBits: FaultFlippedBits,
		ActReplay: FaultReplay, ActUnasked: FaultUnasked, ActPoison: FaultPoison, ActEquivocate: FaultEquivocation,
		ActForgeBasis: FaultForgedBasis, ActMadeUp: FaultMadeUp, ActFlood: FaultFlood, ActClaim: FaultClaim,
		ActEndless: FaultEndless, ActPry: FaultPry, ActMute: FaultMute,
	}
}

// doHostile carries out the steps of hostile members.
func (c *Cluster) doHostile(r *Replica, s Step) (done bool) {
	if _, hostile := lieKinds()[s.Act]; !hostile {
		return false
	}
	if r.busy() || !r.member() || r.clone != nil {
		return true
	}
	if r.adversary == nil {
		r.adversary = &adversary{
			replica: r, dice: newDice(c.plan.Seed, streamAdversary+uint64(r.number)<<32), lies: map[Act]lie{},
			cargo: map[merge.Section][]cargo{}, marks: map[*byte]Fault{},
		}
	}
	a := r.adversary
	switch s.Act {
	case ActPoison, ActEquivocate, ActForgeBasis, ActMadeUp:
		if err := a.craft(s); err != nil && !tolerable(err) {
			c.fail(InvariantProgress, "replica %d cannot %s: %v", r.number, s.Act, err)
		}
	default:
		a.lies[s.Act] = lie{count: s.Count, until: c.clock.Now().Add(s.For)}
	}
	a.wake()
	return true
}

// active reports whether a member lies in this way now; when Count is a share in
// percent, whether it does so this time.
func (a *adversary) active(act Act) (count int, lies bool) {
	l := a.lies[act]
	return l.count, a.replica.cluster.clock.Now().Before(l.until)
}

func (a *adversary) now(act Act) bool {
	percent, lies := a.active(act)
	return lies && a.dice.IntN(100) < percent
}

// send gives the network what is to be said to a peer, true or not.
func (a *adversary) send(to int, m fleetsync.Message, frame []byte) {
	n := a.replica.cluster.network
	if a.now(ActMute) && !speaks(m) {
		a.replica.cluster.cover.fault(FaultMute)
		return
	}
	if lied, fault := a.alter(to, m, frame); fault != "" {
		if forged, err := a.replica.cluster.codec.Encode(lied); err == nil {
			frame = forged
			a.marks[&frame[0]] = fault
		}
	}
	if len(a.past) == pastMax {
		a.past = a.past[1:]
	}
	a.past = append(a.past, letter{to, frame})
	if a.now(ActFlipBits) {
		frame = damage(a.dice, frame)
		if len(frame) == 0 {
			return
		}
		a.marks[&frame[0]] = FaultFlippedBits
	}
	n.send(a.replica.number, to, frame)
}

// speaks reports whether a message answers no request.
func speaks(m fleetsync.Message) bool {
	switch m.(type) {
	case *fleetsync.ChangesPage, *fleetsync.Page, *fleetsync.Records, *fleetsync.ReconAnswer, *fleetsync.Blob,
		*fleetsync.CursorInvalid, *fleetsync.Busy, *fleetsync.Error:
		return false
	}
	return true
}

// say sends a message that its engine did not think of.
func (a *adversary) say(to int, m fleetsync.Message, fault Fault) {
	frame, err := a.replica.cluster.codec.Encode(m)
	if err != nil {
		return
	}
	a.marks[&frame[0]] = fault
	a.replica.cluster.network.send(a.replica.number, to, frame)
}

// took counts what has arrived of an adversary.
func (a *adversary) took(data []byte) {
	if len(data) > 0 && a.marks[&data[0]] != "" {
		a.replica.cluster.cover.fault(a.marks[&data[0]])
	}
}

// hears notes what others ask, for those who do not answer as this build does.
func (r *Replica) hears(from int, m fleetsync.Message) {
	if r.adversary == nil && r.dialect == nil {
		return
	}
	q, id := question{}, ""
	switch m := m.(type) {
	case *fleetsync.Changes:
		q.id, q.after, id = m.ID, m.After, m.Section
	case *fleetsync.Get:
		q.id, id = m.ID, m.Section
	case *fleetsync.PageReq:
		q.id, id = m.ID, m.Section
	case *fleetsync.Recon:
		q.id, id = m.ID, m.Section
	default:
		return
	}
	if section, err := merge.ParseSectionID(id); err == nil {
		q.section = section
		r.asked[from] = q
	}
}

// wake lets the adversary act, again and again while it has a reason to.
func (a *adversary) wake() {
	if a.awake {
		return
	}
	a.awake = true
	a.replica.cluster.clock.After(hostileEvery, a.act)
}

// act does what nobody asked for.
func (a *adversary) act() {
	a.awake = false
	if a.replica.cluster.healed {
		return
	}
	for _, l := range a.lies {
		if a.replica.cluster.clock.Now().Before(l.until) {
			a.wake()
			break
		}
	}
	if !a.replica.reachable() {
		return
	}
	for _, to := range a.replica.cluster.network.neighbours(a.replica.number) {
		a.pester(to)
	}
	if a.now(ActForgeGossip) {
		a.rumour(a.forgedGossip(), FaultForgedGossip, nil)
	}
}

// pester sends one peer what it did not ask for.
func (a *adversary) pester(to int) {
	if a.now(ActReplay) && len(a.past) > 0 {
		frame := append([]byte(nil), a.past[a.dice.IntN(len(a.past))].frame...)
		a.marks[&frame[0]] = FaultReplay
		a.replica.cluster.network.send(a.replica.number, to, frame)
	}
	if a.now(ActUnasked) {
		a.say(to, a.unasked(to), FaultUnasked)
	}
	if a.now(ActPry) {
		a.say(to, a.prying(to), FaultPry)
	}
	if rate, lies := a.active(ActFlood); lies {
		for range rate * int(hostileEvery) / int(time.Second) {
			a.say(to, a.flood(), FaultFlood)
		}
	}
}

// rumour gossips something to those of the neighbours that only names, or to
// all.
func (a *adversary) rumour(data []byte, fault Fault, only func(number int) bool) {
	if len(data) == 0 {
		return
	}
	n := a.replica.cluster.network
	g := n.newRumour(data, a.replica.number)
	for number := range a.replica.cluster.replicas {
		if only != nil && !only(number) {
			g.has.add(number)
		}
	}
	a.marks[&data[0]] = fault
	n.forward(a.replica.number, a.replica.number, g)
}
