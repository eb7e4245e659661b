package simulation

import (
	"fmt"

	"github.com/fleetsync/fleetd/store"
)

// fate is what becomes of an update in which the power goes.
type fate uint8

const (
	fateLost  fate = iota // nothing of it is there
	fateTorn              // a part of its bytes is there
	fateWhole             // all of it is there, and nobody was told
)

func (f fate) String() string { return [...]string{"lost", "torn", "whole"}[f] }

// powerLoss is a loss of power in one of the next updates.
type powerLoss struct {
	in   int // counts the updates down; the one at 1 is the last
	fate fate
	then func() // ends the process
}

// due counts one update, and reports whether the power goes in it.
func (p *powerLoss) due() bool {
	if p == nil {
		return false
	}
	p.in--
	return p.in <= 0
}

// losePower carries out an update in which the power goes: of its entry in the
// log nothing is there afterwards, or a part, or all.
func (d *disk) losePower(fn func(tx store.Txn) error) error {
	p := d.power
	d.power = nil
	before := d.Clone()
	entry, err := d.record(fn)
	if err != nil {
		p.in, d.power = 1, p // it failed by itself, and nothing was written
		return err
	}
	switch p.fate {
	case fateLost:
		d.cover.fault(FaultPowerLost)
		entry = nil
	case fateTorn:
		d.cover.fault(FaultPowerTorn)
		entry = d.tear(entry)
	case fateWhole:
		d.cover.fault(FaultPowerWhole)
	}
	if n, err := replay(before, entry); err != nil || (n == 1) != (p.fate == fateWhole) {
		return fmt.Errorf("simulation: %d entries replayed of an update that is %s: %w", n, p.fate, err)
	}
	d.Memory = before
	if d.cache != nil { // this time, what it had lied about is there
		d.cache = newDiskCache(before)
	}
	p.then()
	return fmt.Errorf("%w: power lost in the update", errDisk)
}

// tear returns an entry of which not every sector reached the disk: it is cut
// off, or has a hole.
func (d *disk) tear(entry []byte) []byte {
	cut := d.dice.IntN(len(entry))
	if d.dice.chance(0.5) {
		return entry[:cut]
	}
	torn := append([]byte(nil), entry...)
	hole := torn[cut:min(cut+d.dice.between(1, 512), len(torn))]
	for i := range hole {
		hole[i] ^= 0xa5 // what was there before the log came to this place
	}
	return torn
}

// spoil fills what is torn off an entry, so that what follows it in the log
// keeps its place.
func spoil(torn, entry []byte) []byte {
	log := append([]byte(nil), torn...)
	for _, b := range entry[len(torn):] {
		log = append(log, b^0xa5)
	}
	return log
}

// cacheEntriesMax bounds what a disk that lies has in its cache.
const cacheEntriesMax = 32

// diskCache is what a disk that lies has acknowledged and not written.
type diskCache struct {
	synced  *store.Memory // behind the barrier
	entries [][]byte      // oldest first
}

func newDiskCache(rows *store.Memory) *diskCache { return &diskCache{synced: rows.Clone()} }

// add takes one more entry, and writes out the oldest when there is no room.
func (c *diskCache) add(entry []byte) error {
	c.entries = append(c.entries, entry)
	if len(c.entries) <= cacheEntriesMax {
		return nil
	}
	_, err := replay(c.synced, c.entries[0])
	c.entries = c.entries[1:]
	return err
}

// lie makes the disk acknowledge updates before they are behind a barrier.
func (d *disk) lie() {
	if d.cache == nil {
		d.cache = newDiskCache(d.Memory)
	}
}

// cutPower takes the power from a disk that lies: the last count of what it had
// acknowledged did not reach it, the first of them in part, and perhaps a
// later one all the same. It returns how many are lost.
func (d *disk) cutPower(count int) (lost int, err error) {
	if d.cache == nil {
		return 0, nil
	}
	entries := d.cache.entries
	lost = min(count, len(entries))
	var log []byte
	for i, entry := range entries {
		switch kept := len(entries) - lost; {
		case i < kept, i > kept && d.dice.chance(0.3):
			log = append(log, entry...)
		case i == kept:
			log = append(log, spoil(d.tear(entry), entry)...)
		}
	}
	rows := d.cache.synced
	replayed, err := replay(rows, log)
	if err == nil && replayed != len(entries)-lost {
		err = fmt.Errorf("simulation: %d entries of a log replayed, want %d", replayed, len(entries)-lost)
	}
	d.Memory, d.cache = rows, nil
	return lost, err
}
