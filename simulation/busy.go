package simulation

import (
	"time"

	fleetsync "github.com/fleetsync/fleetd/sync"
)

// A peer may say BUSY to any request, and engines do when one asks too much of
// them. The fleets of a simulation ask too little for that, so it is said in
// the place of the engine.

const (
	// ActBusy makes Replica say BUSY to Count percent of what it is asked for, For.
	ActBusy Act = "busy"
	// FaultBusy is a request that was answered with BUSY.
	FaultBusy Fault = "busy"
)

const (
	streamBusy    uint64 = 1<<61 + 16 + iota // what a plan has of it
	streamBusyRun                            // which requests are turned away
)

// busyRetry is what a busy replica asks others to wait.
const busyRetry = 500 * time.Millisecond

// busyPeers draws who is busy when.
func (p *planner) busyPeers() {
	for p.chance(0.4) {
		p.add(p.at(), Step{
			Act: ActBusy, Replica: p.replica(), Count: p.between(20, 100), For: p.duration(time.Second, p.length/2),
		})
	}
}

// makeBusy lets a replica turn requests away for a while, whatever process of
// it runs.
func (c *Cluster) makeBusy(r *Replica, s Step) {
	r.turning = spell{float64(s.Count) / 100, c.clock.Now().Add(s.For)}
}

// turnsAway reports whether a replica is too busy for a request, and says so
// to who asked.
func (r *Replica) turnsAway(from int, m fleetsync.Message) bool {
	c := r.cluster
	id, request := requestID(m)
	if !request || !c.busy.chance(r.turning.at(c.clock.Now())) {
		return false
	}
	c.cover.fault(FaultBusy)
	r.send(fleetsync.Send{
		To: c.replicas[from].ID(), Message: &fleetsync.Busy{ID: id, Retry: uint64(busyRetry.Milliseconds())},
	})
	return true
}

// requestID returns the number of a request; ok is false for other messages.
func requestID(m fleetsync.Message) (id uint64, ok bool) {
	switch m := m.(type) {
	case *fleetsync.Changes:
		return m.ID, true
	case *fleetsync.Get:
		return m.ID, true
	case *fleetsync.PageReq:
		return m.ID, true
	case *fleetsync.Recon:
		return m.ID, true
	}
	return 0, false
}
