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
// the process, and the loss of power unless the disk lies. It belongs to one
// goroutine.
type disk struct {
	*store.Memory
	dice  dice
	cover *counter
	flaws flaws
	power *powerLoss // due in a later update; nil for none
	cache *diskCache // of a disk that lies; nil for one that does not
	// tripped is called after an update that failed; it may end the process.
	tripped func()
}

// flaws are what a disk does wrong without losing anything.
type flaws struct {
	// refuse, doubt and unreadable are how many of the next updates fail without
	// effect, how many fail although they happened, and how many snapshots
	// fail.
	refuse, doubt, unreadable int
	// flaky is the probability that an update fails without effect.
	flaky float64
	// full refuses every update until there is room again.
	full bool
}

func newDisk(d dice, cover *counter) *disk {
	return &disk{Memory: store.NewMemory(), dice: d, cover: cover}
}

// Update implements store.Engine.
func (d *disk) Update(fn func(tx store.Txn) error) error {
	switch {
	case d.flaws.full:
		d.cover.fault(FaultDiskFull)
		return fmt.Errorf("%w: no room on the virtual disk", store.ErrFull)
	case d.power.due():
		return d.losePower(fn)
	case d.flaws.refuse > 0 || d.dice.chance(d.flaws.flaky):
		d.flaws.refuse = max(d.flaws.refuse-1, 0)
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
	case d.flaws.doubt > 0:
		d.flaws.doubt--
		if err := d.write(fn); err != nil {
			return err
		}
		d.cover.fault(FaultDiskDoubt)
		return d.trip(fmt.Errorf("%w: after the update", errDisk))
	}
	return d.write(fn)
}

// write carries out one update. A disk that lies keeps it in its cache as well.
func (d *disk) write(fn func(tx store.Txn) error) error {
	if d.cache == nil {
		return d.Memory.Update(fn)
	}
	entry, err := d.record(fn)
	if err != nil {
		return err
	}
	return d.cache.add(entry)
}

// record carries out one update and returns it as an entry of a log.
func (d *disk) record(fn func(tx store.Txn) error) (entry []byte, err error) {
	err = d.Memory.Update(func(tx store.Txn) error {
		r := &recorder{Txn: tx}
		if err := fn(r); err != nil {
			return err
		}
		entry = sealEntry(r.ops)
		return nil
	})
	return entry, err
}

func (d *disk) trip(err error) error {
	if d.tripped != nil {
		d.tripped()
	}
	return err
}

// View implements store.Engine.
func (d *disk) View(fn func(tx store.Txn) error) error {
	if d.flaws.unreadable > 0 {
		d.flaws.unreadable--
		d.cover.fault(FaultDiskRead)
		return fmt.Errorf("%w: while reading", errDisk)
	}
	return d.Memory.View(fn)
}

// repair ends every fault. What a disk that lied still had in its cache
// reaches it.
func (d *disk) repair() {
	d.flaws, d.power, d.cache, d.tripped = flaws{}, nil, nil, nil
}

// restart returns the disk as the next process finds it. The process before
// cannot write to it any more.
func (d *disk) restart() *disk {
	next := *d
	next.Memory = d.Clone()
	next.power, next.tripped = nil, nil
	return &next
}

// restore puts a backup in the place of what the disk holds.
func (d *disk) restore(backup *store.Memory) { d.Memory, d.cache = backup.Clone(), nil }
