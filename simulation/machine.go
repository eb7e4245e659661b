package simulation

// What happens to a whole machine: its disk, its clock, its process.

// The acts.
const (
	ActPowerLost  Act = "power lost"  // the power goes in the Count-th next update of Replica, and the update with it
	ActPowerTorn  Act = "power torn"  // likewise; a part of it is on the disk
	ActPowerWhole Act = "power whole" // likewise; all of it is on the disk, unacknowledged
	ActLie        Act = "lying disk"  // the disk of Replica lies, For; then the last Count acknowledged updates are gone
	ActFull       Act = "disk full"   // there is no room on the disk of Replica, For
	ActRetire     Act = "retire"      // the machine of Replica is lost for good
	ActWipe       Act = "wipe"        // Replica starts without its disk, For; for good when that is 0
	ActSwap       Act = "swap"        // Replica and Peer start with each other's disk, For
	ActFlip       Act = "bit flip"    // a bit of a row on the disk of Replica is wrong; it starts anew after For, if that is set
	ActLoseRow    Act = "lost row"    // likewise; the row is gone
	ActClone      Act = "clone"       // Replica is copied to Peer, disk and key, and both run
	ActStep       Act = "clock step"  // Replica's clock is wrong by For from now on, and its process goes on
	ActFreeze     Act = "freeze"      // Replica's clock stands still, For
	ActEpoch      Act = "epoch"       // Replica starts in 1970; its clock is set after For
	ActPause      Act = "pause"       // Replica's process is stopped, For
	ActSuspend    Act = "suspend"     // Replica's machine sleeps, For
)

// The faults.
const (
	FaultPowerLost  Fault = "power lost"  // power went in an update, and the update with it
	FaultPowerTorn  Fault = "power torn"  // power went in an update, and left a part of it
	FaultPowerWhole Fault = "power whole" // power went in an update, which is there
	FaultLyingDisk  Fault = "lying disk"  // power went, and acknowledged updates with it
	FaultDiskFull   Fault = "disk full"   // an update found no room
	FaultRetired    Fault = "retired"     // a machine is lost, disk and all
	FaultWiped      Fault = "wiped"       // a machine did not start without its disk
	FaultSwapped    Fault = "swapped"     // a machine did not start with another's disk
	FaultBitFlip    Fault = "bit flip"    // a row is not what was written
	FaultLostRow    Fault = "lost row"    // a row is gone
	FaultClone      Fault = "clone"       // a machine and its copy wrote, both running

	FaultStepForward Fault = "step forward" // a clock was put forward under a process
	FaultStepBack    Fault = "step back"    // a clock was put back under a process
	FaultFrozen      Fault = "frozen clock" // somebody wrote while a clock stood still
	FaultEpoch       Fault = "1970"         // a machine started in 1970
	FaultPause       Fault = "pause"        // a process was stopped
	FaultSuspend     Fault = "suspend"      // a machine slept
)

func machineActs() []Act {
	return []Act{
		ActPowerLost, ActPowerTorn, ActPowerWhole, ActLie, ActFull, ActRetire, ActWipe, ActSwap,
		ActFlip, ActLoseRow, ActClone, ActStep, ActFreeze, ActEpoch, ActPause, ActSuspend,
	}
}

func machineFaults() []Fault {
	return []Fault{
		FaultPowerLost, FaultPowerTorn, FaultPowerWhole, FaultLyingDisk, FaultDiskFull,
		FaultRetired, FaultWiped, FaultSwapped,
		FaultBitFlip, FaultLostRow, FaultClone, FaultStepForward, FaultStepBack, FaultFrozen, FaultEpoch, FaultPause, FaultSuspend,
	}
}

// needsMachine reports whether a step makes no sense for a machine that is
// gone, or that has another's disk. What concerns links, the grant of a replica
// or the passing of time does all the same.
func (a Act) needsMachine() bool {
	switch a {
	case ActPartition, ActAsymmetric, ActCutLine, ActDisconnect, ActAbsence, ActReturn, ActJump, ActGrant, ActBan, ActVoid, ActWithdraw, ActLift, ActAudit,
		ActCorrupt, ActLossy, ActThrottle, ActClog, ActFlap, ActHoard, ActBusy:
		return false
	default:
		return true
	}
}

// replacesDisk reports whether a step puts something else in the place of what
// a disk holds.
func (a Act) replacesDisk() bool {
	switch a {
	case ActBackup, ActRollback, ActLie, ActWipe, ActSwap, ActRetire:
		return true
	default:
		return false
	}
}

// doToMachine carries out the steps that happen to a whole machine.
func (c *Cluster) doToMachine(r *Replica, s Step) (done bool) {
	switch s.Act {
	case ActPowerLost:
		c.losePower(r, s, fateLost)
	case ActPowerTorn:
		c.losePower(r, s, fateTorn)
	case ActPowerWhole:
		c.losePower(r, s, fateWhole)
	case ActLie:
		c.lie(r, s)
	case ActFull:
		c.fill(r, s)
	case ActFlip, ActLoseRow:
		c.damage(r, s)
	case ActClone:
		c.clone(r, c.replicas[s.Peer])
	case ActRetire:
		if c.expendable(r) {
			c.cover.fault(FaultRetired)
			c.retire(r)
		}
	case ActWipe:
		c.wipe(r, s)
	case ActSwap:
		c.swap(r, c.replicas[s.Peer], s)
	default:
		return c.doToTime(r, s)
	}
	return true
}

// doToTime carries out the steps that are about what a machine takes for time.
func (c *Cluster) doToTime(r *Replica, s Step) (done bool) {
	switch s.Act {
	case ActSkew:
		c.shift(r, s.For)
	case ActStep:
		c.step(r, s.For)
	case ActFreeze:
		c.freeze(r, s)
	case ActEpoch:
		c.forgetTime(r, s)
	case ActPause, ActSuspend:
		c.pause(r, s)
	default:
		return false
	}
	return true
}
