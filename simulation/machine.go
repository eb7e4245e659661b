package simulation

// What happens to a whole machine: its disk, its clock, its process.

// The acts.
const (
	ActPowerLost  Act = "power lost"  // the power goes in the Count-th next update of Replica, and the update with it
	ActPowerTorn  Act = "power torn"  // likewise; a part of it is on the disk
	ActPowerWhole Act = "power whole" // likewise; all of it is on the disk, unacknowledged
	ActLie        Act = "lying disk"  // the disk of Replica lies, For; then the last Count acknowledged updates are gone
	ActFull       Act = "disk full"   // there is no room on the disk of Replica, For
)

// The faults.
const (
	FaultPowerLost  Fault = "power lost"  // power went in an update, and the update with it
	FaultPowerTorn  Fault = "power torn"  // power went in an update, and left a part of it
	FaultPowerWhole Fault = "power whole" // power went in an update, which is there
	FaultLyingDisk  Fault = "lying disk"  // power went, and acknowledged updates with it
	FaultDiskFull   Fault = "disk full"   // an update found no room
)

func machineFaults() []Fault {
	return []Fault{FaultPowerLost, FaultPowerTorn, FaultPowerWhole, FaultLyingDisk, FaultDiskFull}
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
	default:
		return false
	}
	return true
}
