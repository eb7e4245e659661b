package simulation

import (
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/store"
)

// errDisk is what a failing disk returns.
var errDisk = errors.New("simulation: disk failed")

// disk is the virtual disk of one replica: the memory engine, between which
// and the store faults happen. What one committed update has written survives
// the process. It belongs to one goroutine.
type disk struct {
	*store.Memory
	dice  dice
	cover *counter
	// refuse, doubt and unreadable are how many of the next updates fail without
	// effect, how many fail although they happened, and how many snapshots
	// fail.
	refuse, doubt, unreadable int
	// flaky is the probability that an update fails without effect.
	flaky float64
	// tripped is called after an update that failed; it may end the process.
	tripped func()
}

func newDisk(d dice, cover *counter) *disk {
	return &disk{Memory: store.NewMemory(), dice: d, cover: cover}
}

// Update implements store.Engine.
func (d *disk) Update(fn func(tx store.Txn) error) error {
	switch {
	case d.refuse > 0 || d.dice.chance(d.flaky):
		d.refuse = max(d.refuse-1, 0)
		d.cover.fault(FaultDiskRefused)
		if d.dice.chance(0.5) {
			return d.trip(fmt.Errorf("%w: before the update", errDisk))
		}
		return d.trip(d.Memory.Update(func(tx store.Txn) error {
			if err := fn(tx); err != nil {
				return err
			}
			return fmt.Errorf("%w: in the update", errDisk)
		}))
	case d.doubt > 0:
		d.doubt--
		if err := d.Memory.Update(fn); err != nil {
			return err
		}
		d.cover.fault(FaultDiskDoubt)
		return d.trip(fmt.Errorf("%w: after the update", errDisk))
	}
	return d.Memory.Update(fn)
}

func (d *disk) trip(err error) error {
	if d.tripped != nil {
		d.tripped()
	}
	return err
}

// View implements store.Engine.
func (d *disk) View(fn func(tx store.Txn) error) error {
	if d.unreadable > 0 {
		d.unreadable--
		d.cover.fault(FaultDiskRead)
		return fmt.Errorf("%w: while reading", errDisk)
	}
	return d.Memory.View(fn)
}

// repair ends every fault.
func (d *disk) repair() { d.refuse, d.doubt, d.unreadable, d.flaky, d.tripped = 0, 0, 0, 0, nil }

// restart returns the disk as the next process finds it. The process before
// cannot write to it any more.
func (d *disk) restart() *disk {
	next := *d
	next.Memory = d.Clone()
	next.tripped = nil
	return &next
}

// restore puts a backup in the place of what the disk holds.
func (d *disk) restore(backup *store.Memory) { d.Memory = backup.Clone() }
