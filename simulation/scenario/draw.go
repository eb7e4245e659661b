package scenario

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// Streams of dice, apart from those of package simulation. Those of agents have
// the agent's number below the stream.
const (
	streamFleet uint64 = 1<<62 + iota<<32
	streamWrites
	streamCrashes
	streamDropouts
	streamDisks
	streamPartitions
)

// drawer makes one plan.
type drawer struct {
	*Scenario
	plan   simulation.Plan
	first  []int // by site: its first replica
	sites  []int // by replica: its site
	events []event
}

// event is a step at an absolute time.
type event struct {
	at   time.Duration
	step simulation.Step
}

// Plan draws the plan of a seed: the same each time. The scenario must be
// valid.
func (s *Scenario) Plan(seed uint64) simulation.Plan {
	d := &drawer{Scenario: s, plan: simulation.Plan{
		Seed: seed, Replicas: s.Agents(), Gossip: s.Gossip, GossipDegree: gossipDegree,
		HeartbeatEvery: s.Heartbeat, RequestTimeout: s.Timeout, TickEvery: s.tick(),
	}}
	if s.Hub == "" && s.Agents() > dialled+1 {
		d.plan.Degree = dialled
	}
	d.place()
	d.lines()
	d.clocks(d.dice(streamFleet))
	for i := range s.Writes {
		d.writes(&s.Writes[i], i)
	}
	d.absences()
	d.cuts()
	d.faults()
	d.arrange()
	return d.plan
}

func (d *drawer) dice(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(d.plan.Seed, stream)) //nolint:gosec // a plan must be repeatable
}

// What nodes do that nobody configured.
const (
	dialled      = 48 // members that a node dials
	gossipDegree = 6  // of gossipsub
)

// ticksMax is about how many ticks a run may cost, one for each engine and each
// peer that it looks after.
const ticksMax = 10_000_000

// tick is the resolution of timers: as fine as a node's where a run can afford
// it, and a tenth of a heartbeat at worst.
func (s *Scenario) tick() time.Duration {
	const finest = 100 * time.Millisecond
	n := s.Agents()
	affordable := time.Duration(n*min(n-1, dialled)) * (s.Duration / ticksMax)
	return max(finest, min(affordable, s.Heartbeat/10)).Round(time.Millisecond)
}

// place gives each agent a number: those of the hub first, then site by site.
func (d *drawer) place() {
	if d.Hub != "" {
		d.plan.Topology = simulation.Star
	}
	d.first = make([]int, len(d.Sites))
	for _, i := range d.order() {
		d.first[i] = len(d.sites)
		for range d.Sites[i].Agents {
			d.sites = append(d.sites, i)
			d.plan.Withheld = append(d.plan.Withheld, d.Sites[i].Withholds)
			d.plan.Grants = append(d.plan.Grants, simulation.GrantKnown)
		}
	}
	d.plan.Sites = d.sites
}

// lines gives each pair of sites its weather.
func (d *drawer) lines() {
	d.plan.Weather = defaultLink().weather()
	for from := range d.Sites {
		for to := range d.Sites {
			l := defaultLink()
			if from == to {
				l = within()
			}
			for i := range d.Links {
				if slices.Contains(d.Links[i].directions(), [2]string{d.Sites[from].Name, d.Sites[to].Name}) {
					l = d.Links[i]
				}
			}
			d.plan.Paths = append(d.plan.Paths, simulation.Path{From: from, To: to, Weather: l.weather()})
		}
	}
}

func (l Link) weather() simulation.Weather {
	return simulation.Weather{
		LatencyMin: l.Latency.Min, LatencyMax: l.Latency.Max,
		Loss: l.Loss, GossipLoss: l.Loss, Ordered: true, Bandwidth: l.Bandwidth,
	}
}

func (d *drawer) clocks(dice *rand.Rand) {
	for _, site := range d.sites {
		wrong := d.Sites[site].ClockError
		d.plan.Skews = append(d.plan.Skews, between(dice, Range[time.Duration]{-wrong, wrong}))
	}
}

// between draws from a range.
func between[T int | time.Duration](dice *rand.Rand, r Range[T]) T {
	return r.Min + T(dice.Int64N(int64(r.Max-r.Min)+1))
}

func (d *drawer) add(at time.Duration, s simulation.Step) { d.events = append(d.events, event{at, s}) }

// arrange turns times since the begin into times since the step before. What
// would happen after the end does not happen.
func (d *drawer) arrange() {
	d.events = slices.DeleteFunc(d.events, func(e event) bool { return e.at >= d.Duration })
	slices.SortStableFunc(d.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	d.plan.Steps = make([]simulation.Step, len(d.events))
	var last time.Duration
	for i, e := range d.events {
		d.plan.Steps[i] = e.step
		d.plan.Steps[i].After = e.at - last
		last = e.at
	}
	d.plan.Rest = d.Duration - last
}
