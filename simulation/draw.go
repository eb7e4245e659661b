package simulation

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
)

// planner draws a plan from a seed.
type planner struct {
	dice
	plan   Plan
	size   int // of the fleet; 0: to be drawn
	length time.Duration
	events []timed
	keys   int
}

// NewPlan returns the plan of a seed.
func NewPlan(seed uint64) Plan { return NewPlanOf(seed, 0) }

// DrawnMin and DrawnMax bound the fleets that plans are drawn for.
const (
	DrawnMin = 3
	DrawnMax = 50
)

// NewPlanOf returns the plan of a seed for a fleet of a size, DrawnMin to
// DrawnMax; 0 leaves it to the seed. A few that join an old fleet may come on
// top.
func NewPlanOf(seed uint64, replicas int) Plan {
	d := newDice(seed, streamPlan)
	p := planner{dice: d, plan: Plan{Seed: seed}, size: replicas}
	p.fleet()
	p.plan.Weather = p.weather()
	p.length = p.duration(20*time.Second, 100*time.Second)
	p.keys = p.between(2, 10)
	p.work()
	p.networkFaults()
	p.processFaults()
	p.diskFaults()
	p.clockFaults()
	p.members()
	p.absences()
	p.storms(newDice(seed, streamStorms))
	p.plan.Rest = p.duration(0, 20*time.Second)
	p.plan.sites(newDice(seed, streamSites))
	p.with(newDice(seed, streamHabits), p.habits)
	p.with(newDice(seed, streamMachines), p.machines)
	p.with(newDice(seed, streamBusy), p.busyPeers)
	p.quiet(newDice(seed, streamQuiet))
	p.with(newDice(seed, streamLeaves), p.leaves) // nothing stretches them afterwards
	p.with(newDice(seed, streamSharing), p.sharing)
	p.with(newDice(seed, streamCrowd), p.massJoin)
	p.with(newDice(seed, streamNewer), p.newer)
	p.with(newDice(seed, streamHostile), p.hostile)
	p.with(newDice(seed, streamLimits), p.limits)
	p.with(newDice(seed, streamBans), p.bans)
	p.plan.Steps = arrange(p.events)
	return p.plan
}

// limits draws stores that keep little of what was, or short texts beside their
// records, and members that may not
// write everything.
func (p *planner) limits() {
	if p.chance(0.25) {
		p.plan.HistoryMax = p.between(1, 5)
	}
	if p.chance(0.25) {
		p.plan.InlineBytes = p.between(1, 60)
	}
	if p.chance(0.25) {
		p.plan.Limits = make([]GrantLimit, p.plan.Replicas)
		for n := 1; n < p.plan.Replicas; n++ {
			if p.plan.Grants[n] != GrantNever && p.chance(0.4) {
				p.plan.Limits[n] = pick(p.dice, LimitScope, LimitFamily, LimitTime)
			}
		}
		p.plan.settle()
	}
}

// with lets draw take its decisions from dice of its own.
func (p *planner) with(d dice, draw func()) {
	p.dice = d
	draw()
}

func (p *planner) add(at time.Duration, s Step) { p.events = append(p.events, timed{at, s}) }

// at draws a time within the run.
func (p *planner) at() time.Duration { return p.duration(0, p.length) }

func (p *planner) replica() int { return p.IntN(p.plan.Replicas) }

// two draws two replicas.
func (p *planner) two() (a, b int) {
	a = p.replica()
	b = (a + 1 + p.IntN(p.plan.Replicas-1)) % p.plan.Replicas
	return a, b
}

func (p *planner) fleet() {
	p.plan.Replicas = p.between(3, 7)
	if p.chance(0.5) {
		p.plan.Replicas = p.between(3, 4)
	}
	if p.size > 0 {
		p.plan.Replicas = p.size
	}
	p.plan.Topology = Mesh
	if p.chance(0.3) {
		p.plan.Topology = pick(p.dice, Ring, Line, Star)
	}
	p.plan.Gossip = p.chance(0.7)
	p.plan.HeartbeatEvery = pick(p.dice, 2*time.Second, 5*time.Second, 10*time.Second, 10*time.Second)
	p.plan.RequestTimeout = pick(p.dice, 2*time.Second, 10*time.Second)
	p.plan.TickEvery = pick(p.dice, 200*time.Millisecond, 500*time.Millisecond)
	if p.chance(0.5) {
		p.plan.PageBytes = p.between(300, 3000)
	}
	p.plan.Skews = make([]time.Duration, p.plan.Replicas)
	p.plan.Grants = make([]GrantMode, p.plan.Replicas)
	p.plan.Withheld = make([]string, p.plan.Replicas)
	if p.plan.Topology == Mesh && p.chance(0.1) {
		p.plan.Withheld[p.replica()] = pick(p.dice, "skill", "memory", "memory/web", "skill/web")
	}
}

// work draws what agents do.
func (p *planner) work() {
	for range p.between(10, 70) {
		s := Step{Act: ActWrite, Replica: p.replica(), Count: p.IntN(p.keys)}
		switch n := p.IntN(100); {
		case n < 20:
			s.Act = ActDelete
		case n < 24:
			s.Act, s.Count = ActBurst, p.between(2, 12)
		case n < 26:
			s.Act = ActPrivate
		case n < 30:
			s.Act = ActForeign
		case n < 38:
			s.Act = ActSettle
		}
		p.add(p.at(), s)
	}
	if p.chance(0.25) {
		p.add(p.at(), Step{Act: ActBurst, Replica: p.replica(), Count: p.between(70, 150)})
	}
	if p.chance(0.06) {
		p.add(p.at(), Step{Act: ActLarge, Replica: p.replica(), Count: p.between(1, 3)})
	}
	if p.chance(0.04) {
		p.add(p.duration(0, p.length/2), Step{Act: ActLarge, Replica: p.replica(), Count: p.between(66, 90)})
	}
	if p.chance(0.15) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActTwin, Replica: a, Peer: b, Count: p.IntN(p.keys)})
	}
}

func (p *planner) processFaults() {
	for range p.IntN(5) {
		p.add(p.at(), Step{Act: ActCrash, Replica: p.replica(), For: pick(p.dice, 50*time.Millisecond, p.duration(0, 20*time.Second))})
	}
	for range p.IntN(3) {
		p.add(p.at(), Step{Act: ActCrashWrite, Replica: p.replica(), Count: p.IntN(2), For: p.duration(0, 5*time.Second)})
	}
}

func (p *planner) diskFaults() {
	if p.chance(0.3) {
		p.add(p.at(), Step{Act: ActSlow, Replica: p.replica(), For: p.duration(100*time.Millisecond, 3*time.Second)})
	}
	for _, act := range []Act{ActRefuse, ActDoubt, ActUnreadable} {
		if p.chance(0.3) {
			p.add(p.at(), Step{Act: act, Replica: p.replica(), Count: p.between(1, 3)})
		}
	}
	if p.chance(0.2) {
		p.add(p.at(), Step{Act: ActFlaky, Replica: p.replica(), Count: p.between(10, 50), For: p.duration(time.Second, 20*time.Second)})
	}
	if p.chance(0.2) {
		p.rollback()
	}
	for range p.IntN(3) {
		p.add(p.at(), Step{Act: ActAudit})
	}
}

// rollback draws a disk that comes back from a backup, and an agent that goes
// on there as if nothing had been.
func (p *planner) rollback() {
	r, at := p.replica(), p.at()
	p.add(at, Step{Act: ActBackup, Replica: r})
	at += p.duration(0, p.length)
	down := p.duration(0, 10*time.Second)
	p.add(at, Step{Act: ActRollback, Replica: r, For: down})
	for range p.IntN(6) {
		p.add(at+down+p.duration(0, 30*time.Second), Step{Act: pick(p.dice, ActWrite, ActForeign), Replica: r, Count: p.IntN(p.keys)})
		p.add(at+down+p.duration(0, 35*time.Second), Step{Act: ActAudit})
	}
}

// join draws a replica that comes late to a fleet that goes on writing.
func (p *planner) join() {
	late, at := 1+p.IntN(p.plan.Replicas-1), p.at()
	p.plan.Absent = append(p.plan.Absent, late)
	p.add(at, Step{Act: ActJoin, Replica: late})
	for range p.IntN(10) {
		p.add(at+p.duration(0, 4*time.Second), Step{Act: pick(p.dice, ActWrite, ActDelete), Replica: p.replica(), Count: p.IntN(p.keys)})
	}
	p.add(at+p.duration(2*time.Second, 8*time.Second), Step{Act: ActAudit})
}

func (p *planner) clockFaults() {
	if p.chance(0.7) {
		for i := range p.plan.Skews {
			p.plan.Skews[i] = p.duration(-5*time.Second, 5*time.Second)
		}
	}
	for range p.IntN(3) {
		p.add(p.at(), Step{Act: ActSkew, Replica: p.replica(), For: p.duration(-10*time.Second, 10*time.Second)})
	}
	if p.chance(0.12) {
		ahead := hlc.DriftMax + p.duration(5*time.Second, 4*time.Minute)
		p.add(p.at(), Step{Act: ActSkew, Replica: p.replica(), For: ahead})
	}
}

// members draws how the fleet learns of its members. The first replica is the
// admin.
func (p *planner) members() {
	for i := 1; i < p.plan.Replicas; i++ {
		switch n := p.IntN(100); {
		case n < 12:
			p.plan.Grants[i] = GrantOwn
		case n < 24:
			p.plan.Grants[i] = GrantLate
			p.add(p.at(), Step{Act: ActGrant, Replica: i})
		case n < 26 && p.plan.Topology == Mesh:
			p.plan.Grants[i] = GrantNever
		}
	}
	if !slices.Contains(p.plan.Grants, GrantNever) && p.chance(0.15) {
		p.plan.ParkedMax = p.between(1, 6)
		late := 1 + p.IntN(p.plan.Replicas-1)
		p.plan.Grants[late] = GrantLate
		p.add(p.length-p.at()/4, Step{Act: ActGrant, Replica: late})
	}
	if p.chance(0.3) {
		p.join()
	}
}

// absences draws who is away for days.
func (p *planner) absences() {
	if !p.chance(0.2) {
		return
	}
	r, at := p.replica(), p.at()
	if slices.Contains(p.plan.Absent, r) {
		return
	}
	back := at + p.duration(0, p.length/2)
	p.add(at, Step{Act: ActAbsence, Replica: r})
	p.add(at+(back-at)/2, Step{Act: ActJump, For: p.duration(time.Hour, 40*24*time.Hour)})
	p.add(back, Step{Act: ActReturn, Replica: r})
}
