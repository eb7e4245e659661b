package main

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// measures are what the runs of a scenario took, by seed: a seed that runs twice
// counts once.
type measures struct {
	mu     sync.Mutex // guards bySeed
	bySeed map[uint64]runMeasures
}

// runMeasures are what one run took.
type runMeasures struct {
	spread    simulation.Propagation
	routes    map[simulation.Route]simulation.Traffic
	agentDays float64
}

func newMeasures() *measures { return &measures{bySeed: map[uint64]runMeasures{}} }

// take is a campaign's Check: it only looks.
func (m *measures) take(c *simulation.Cluster) error {
	awake := c.Clock().Elapsed() - c.Clock().Jumped()
	one := runMeasures{c.Propagation(), c.ByRoute(), awake.Hours() / 24 * float64(c.Replicas())}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bySeed[c.Plan().Seed] = one
	return nil
}

// scenarioResult is a scenario, and what its runs took.
type scenarioResult struct {
	Name   string  `json:"name"`
	Agents int     `json:"agents"`
	Days   float64 `json:"days"` // of virtual time, of one run
	// Machines are what the agents are called, by the numbers of replicas.
	Machines []string `json:"machines"`
	// Nothing is known, and nothing said, where every run failed.
	*scenarioFigures
}

// scenarioFigures are what the runs without a failure took.
type scenarioFigures struct {
	// Writes are the acknowledged ones of all runs, Conflicts those of them that
	// lost to a concurrent one.
	Writes    int `json:"writes"`
	Conflicts int `json:"conflicts"`
	// Everywhere is from a write to every agent that is there, or from the return
	// of its writer.
	Everywhere *quantilesResult `json:"everywhere,omitempty"`
	// Returns are those of agents that lacked something, CatchUp from there until
	// they had it.
	Returns int              `json:"returns"`
	CatchUp *quantilesResult `json:"catch_up,omitempty"`
	// Traffic is by the part of the protocol.
	Traffic map[simulation.Route]trafficResult `json:"traffic"`
}

// trafficResult is what was sent of one kind.
type trafficResult struct {
	Messages         int     `json:"messages"`
	Bytes            int64   `json:"bytes"`
	BytesPerAgentDay float64 `json:"bytes_per_agent_day"`
}

// quantilesResult is of durations in seconds. Of none there is no such thing,
// which is not the same as 0: nil.
type quantilesResult struct {
	P50 float64 `json:"p50_s"`
	P99 float64 `json:"p99_s"`
	Max float64 `json:"max_s"`
}

// quantilesOf takes durations in any order.
func quantilesOf(all []time.Duration) *quantilesResult {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	at := func(percent int) float64 { return seconds(all[(len(all)*percent+99)/100-1]) }
	return &quantilesResult{at(50), at(99), at(100)}
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// sum adds up all runs. The order of the seeds changes nothing.
func (m *measures) sum(s *simulated) *scenarioResult {
	r := &scenarioResult{
		Name: s.source.Name, Agents: s.source.Agents(), Days: math.Round(s.source.Duration.Hours()/24*1000) / 1000,
		Machines: s.source.Machines(),
	}
	if len(m.bySeed) == 0 {
		return r
	}
	r.scenarioFigures = &scenarioFigures{Traffic: map[simulation.Route]trafficResult{}}
	var everywhere, catchUp []time.Duration
	var agentDays float64
	for i := range s.count {
		one, ran := m.bySeed[s.first+uint64(i)]
		if !ran {
			continue
		}
		r.Writes += one.spread.Writes
		r.Conflicts += one.spread.Conflicts
		everywhere = append(everywhere, one.spread.Times...)
		catchUp = append(catchUp, one.spread.CatchUps...)
		agentDays += one.agentDays
		for route, t := range one.routes {
			sum := r.Traffic[route]
			r.Traffic[route] = trafficResult{Messages: sum.Messages + t.Messages, Bytes: sum.Bytes + t.Bytes}
		}
	}
	for _, route := range simulation.Routes() {
		t := r.Traffic[route]
		if agentDays > 0 {
			t.BytesPerAgentDay = math.Round(float64(t.Bytes) / agentDays)
		}
		r.Traffic[route] = t
	}
	r.Everywhere, r.Returns, r.CatchUp = quantilesOf(everywhere), len(catchUp), quantilesOf(catchUp)
	return r
}
