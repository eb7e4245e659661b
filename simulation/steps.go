package simulation

import (
	"time"
)

// Do carries out one step now; its After is not looked at. A step that makes
// no sense now is skipped. What goes wrong is in Err.
func (c *Cluster) Do(s Step) {
	c.trace.note("plan", "%s", s)
	c.watch.step(s)
	r := c.replicas[s.Replica]
	if r.amiss() && s.Act.needsMachine() || r.damaged && s.Act.replacesDisk() {
		return
	}
	switch s.Act {
	case ActJump:
		c.jump(s.For)
		c.cover.fault(FaultSleep)
		c.network.ripen()
	case ActAudit:
		c.checkCursors()
	case ActGrant:
		c.stateGrant(r)
	case ActSlow, ActRefuse, ActDoubt, ActFlaky, ActUnreadable:
		c.spoil(r, s)
	case ActBusy:
		c.makeBusy(r, s)
	default:
		if !c.doBan(r, s) && !c.doToNetwork(s) && !c.doToProcess(r, s) && !c.doToMachine(r, s) && !c.doHostile(r, s) {
			c.work(r, s)
		}
	}
}

func (c *Cluster) stateGrant(r *Replica) {
	if err := c.state(r); err != nil && !tolerable(err) {
		c.fail(InvariantProgress, "%v", err)
	}
}

// doToProcess carries out the steps that start and end processes.
func (c *Cluster) doToProcess(r *Replica, s Step) (done bool) {
	switch s.Act {
	case ActCrash:
		c.crash(r, s.For)
	case ActCrashWrite:
		c.crashWriting(r, s)
	case ActAbsence:
		c.leave(r)
	case ActReturn:
		c.comeBack(r)
	case ActJoin:
		c.join(r)
	case ActBackup:
		r.backup = r.disk.Clone()
	case ActRollback:
		c.rollback(r, s.For)
	case ActShare:
		c.switchSharing(r, unshared[s.Count%len(unshared)])
	default:
		return false
	}
	return true
}

func (c *Cluster) crash(r *Replica, down time.Duration) {
	if r.process == nil {
		return
	}
	c.cover.fault(FaultCrash)
	r.kill(c.dice.duration(0, 30*time.Second))
	c.clock.After(down, r.launch)
}

// crashWriting lets the next update of a replica be its last: without effect,
// or with effect but without an answer.
func (c *Cluster) crashWriting(r *Replica, s Step) {
	if r.process == nil {
		return
	}
	if s.Count == 0 {
		r.disk.flaws.refuse++
	} else {
		r.disk.flaws.doubt++
	}
	r.disk.tripped = func() {
		c.cover.fault(FaultCrashWriting)
		r.kill(c.dice.duration(0, 30*time.Second))
		c.clock.After(s.For, r.launch)
	}
}

// spoil makes a disk slow or faulty.
func (c *Cluster) spoil(r *Replica, s Step) {
	if r.process == nil {
		return
	}
	switch s.Act {
	case ActSlow:
		c.cover.fault(FaultSlowDisk)
		r.process.slow = s.For
	case ActRefuse:
		r.disk.flaws.refuse += s.Count
	case ActDoubt:
		r.disk.flaws.doubt += s.Count
	case ActFlaky:
		r.disk.flaws.flaky = float64(s.Count) / 100
		ended := c.watch.begin(Event{Fault: FaultDiskRefused, Replica: r.number, Peer: Nobody})
		c.clock.After(s.For, func() {
			r.disk.flaws.flaky = 0
			ended()
		})
	default:
		r.disk.flaws.unreadable += s.Count
	}
}
