package main

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// sizes are the numbers of replicas of the page.
func sizes() []int { return []int{3, 10, 30, 100, 300, 1000} }

// The fleets of the page.
const (
	seed     = 1
	dialled  = 48 // members that a node dials, as package node does
	mesh     = 6  // neighbours of a gossip topic, as gossipsub has them
	writers  = 10 // replicas that write at once
	settling = 90 * time.Second
	quiet    = 2 * time.Minute
	apart    = 2 * time.Minute
	giveUp   = 10 * time.Minute
	poll     = 50 * time.Millisecond
)

// row is what one fleet showed.
type row struct {
	replicas int
	gossip   bool
	// P50, P99 and Max are the times from a write to when every replica held it.
	p50, p99, max time.Duration
	// newcomer is how long an empty replica needed for everything, healed how
	// long two halves needed after the end of a partition.
	newcomer, healed time.Duration
	// burst is what the writes cost until they were everywhere, idle what a
	// minute costs in which nothing changes.
	burst, idle map[simulation.Route]simulation.Traffic
}

// String is the row in a line, for who waits.
func (r row) String() string {
	return fmt.Sprintf("%d replicas, gossip %t: writes everywhere after %s, newcomer %s, healed %s",
		r.replicas, r.gossip, r.max, r.newcomer, r.healed)
}

// plan is a fleet of one site a replica further apart than a room and nearer
// than an ocean, which loses one message in a hundred. The last replica joins
// later.
func plan(replicas int, gossip bool) simulation.Plan {
	p := simulation.Calm(seed, replicas)
	p.Gossip = gossip
	p.Degree, p.GossipDegree = dialled, mesh
	p.StartWithin = 10 * time.Second
	p.Weather.LatencyMin, p.Weather.LatencyMax = 10*time.Millisecond, 80*time.Millisecond
	p.Weather.Loss, p.Weather.GossipLoss = 0.01, 0.01
	p.Absent = []int{replicas - 1}
	return p
}

// measure runs one fleet: it comes to rest, some replicas write, nothing
// happens for a while, a newcomer joins, and two halves are apart.
func measure(replicas int, gossip bool) (row, error) {
	r := row{replicas: replicas, gossip: gossip}
	c, err := simulation.New(plan(replicas, gossip), simulation.Options{Sample: time.Minute})
	if err != nil {
		return r, err
	}
	c.RunFor(settling)
	before := c.ByRoute()
	for n := range min(writers, replicas-1) {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n * (replicas - 1) / min(writers, replicas-1), Count: n})
	}
	if _, err := untilOne(c); err != nil {
		return r, err
	}
	spread := c.Propagation()
	r.p50, r.p99, r.max = spread.Quantile(0.5), spread.Quantile(0.99), spread.Quantile(1)
	r.burst = since(before, c.ByRoute())

	c.RunFor(quiet)
	before = c.ByRoute()
	c.RunFor(time.Minute)
	r.idle = since(before, c.ByRoute())

	c.Do(simulation.Step{Act: simulation.ActJoin, Replica: replicas - 1})
	c.RunFor(poll)
	if r.newcomer, err = untilOne(c); err != nil {
		return r, err
	}
	r.healed, err = divide(c)
	return r, err
}

// divide keeps two halves apart while both write, and returns how long they
// need afterwards.
func divide(c *simulation.Cluster) (time.Duration, error) {
	c.Do(simulation.Step{Act: simulation.ActPartition, Count: c.Replicas() / 2, For: apart})
	c.RunFor(apart / 2)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 100})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: c.Replicas() - 1, Count: 102})
	c.RunFor(apart - apart/2)
	return untilOne(c)
}

// untilOne lets time pass until every replica that has started holds the same.
func untilOne(c *simulation.Cluster) (time.Duration, error) {
	began := c.Clock().Elapsed()
	for c.Divergence() > 0 {
		if c.Clock().Elapsed()-began > giveUp {
			return 0, fmt.Errorf("not one fleet within %s: %d copies are missing", giveUp, c.Divergence())
		}
		c.RunFor(poll)
		if err := c.Err(); err != nil {
			return 0, err
		}
	}
	return c.Clock().Elapsed() - began, nil
}

// since returns what was sent between two counts.
func since(before, after map[simulation.Route]simulation.Traffic) map[simulation.Route]simulation.Traffic {
	sent := map[simulation.Route]simulation.Traffic{}
	for _, route := range simulation.Routes() {
		sent[route] = simulation.Traffic{
			Messages: after[route].Messages - before[route].Messages,
			Bytes:    after[route].Bytes - before[route].Bytes,
		}
	}
	return sent
}
