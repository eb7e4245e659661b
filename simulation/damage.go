package simulation

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// Disks whose bytes are not what was written. Nothing repairs them yet, so a
// replica with such a disk ends as a lost machine does: when its node notices,
// or at the latest when all faults end. Until then it lives on, and neither
// shows a wrong value nor passes one on.

// damage flips a bit of a row of the disk, or removes the row, and returns the
// row's key. Every kind of row is as likely as any other.
func (d *disk) damage(lose bool) (damaged []byte, err error) {
	kinds := map[string][]string{}
	err = d.Memory.View(func(tx store.Txn) error {
		return tx.Scan(nil, nil, false, func(key, _ []byte) (bool, error) {
			kind := kindOfRow(string(key))
			kinds[kind] = append(kinds[kind], string(key))
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	rows := kinds[pick(d.dice, slices.Sorted(maps.Keys(kinds))...)]
	key := []byte(pick(d.dice, rows...))
	return key, d.Memory.Update(func(tx store.Txn) error {
		if lose {
			return tx.Delete(key)
		}
		value, err := tx.Get(key)
		if err != nil {
			return err
		}
		flipped := slices.Clone(value)
		flipped[d.dice.IntN(len(flipped))] ^= 1 << d.dice.IntN(8)
		return tx.Set(key, flipped)
	})
}

// kindOfRow is what the key of a row of a store begins with: a letter and a
// slash, and what tells apart the rows that share them.
func kindOfRow(key string) string {
	switch {
	case strings.HasPrefix(key, "m/"):
		name, _, _ := strings.Cut(key[2:], "/")
		return "m/" + name
	case strings.HasPrefix(key, "i/"):
		return key[:3]
	default:
		return key[:2]
	}
}

// damage spoils a row of a replica's disk. What only that disk has is owed to
// nobody any more.
func (c *Cluster) damage(r *Replica, s Step) {
	if !r.damaged && !c.expendable(r) || r.number == 0 || r.started == 0 {
		return
	}
	lose := s.Act == ActLoseRow
	key, err := r.disk.damage(lose)
	if err != nil {
		c.fail(InvariantSoundDisk, "damaging a disk: %v", err)
		return
	}
	f := FaultBitFlip
	if lose {
		f = FaultLostRow
	}
	c.cover.fault(f)
	r.note("has a %s in %.24q", f, key)
	if !r.damaged {
		r.damaged = true
		c.spread.gone(r)
		c.mustRead(c.model.lost())
	}
	if s.For > 0 { // it is met at the next opening
		r.goDark(s.For)
	}
}

// noticed ends a replica whose node has found its disk damaged.
func (r *Replica) noticed(err error) {
	r.note("finds its disk damaged: %v", err)
	r.cluster.cover.sometimes(SometimesDamageNoticed)
	r.cluster.setAside(r)
}

// setAside ends a replica whose disk is damaged, after a last look at what it
// would have told.
func (c *Cluster) setAside(r *Replica) {
	c.checkDamaged(r)
	r.kill(0)
	r.gone = true
	r.note("is gone")
}

// tells reports whether an error is what a damaged disk has to say: that it is.
func (r *Replica) tells(err error) bool {
	return r.damaged && errors.Is(err, store.ErrCorrupt)
}

// mustRead fails the run by an error of reading the disks of replicas, unless
// one of them is damaged and says so.
func (c *Cluster) mustRead(err error, from ...*Replica) {
	if err == nil || slices.ContainsFunc(from, func(r *Replica) bool { return r.tells(err) }) {
		return
	}
	c.fail(InvariantSoundDisk, "reading a store: %v", err)
}

// checkDamaged holds that whatever a damaged disk gives is as it was written,
// and all else a loud error.
func (c *Cluster) checkDamaged(r *Replica) {
	st := r.damagedStore()
	if st == nil {
		return
	}
	errs := []error{st.View(func(s *store.Reader) error {
		var errs []error
		for _, sec := range st.Sections() {
			errs = append(errs, s.Range(sec.Section, "", func(k merge.Key, held []store.Held) bool {
				for _, h := range held {
					wire, err := s.Wire(k, h)
					errs = append(errs, err)
					w := c.model.versions[h.Hash]
					if err == nil && (w == nil || w.record.Key != k || !slices.Equal(wire, w.record.Encode())) {
						c.fail(InvariantCorruption, "replica %d gives other bytes for %s than were written", r.number, k)
					}
				}
				return true
			}))
		}
		return errors.Join(errs...)
	})}
	if r.process != nil {
		errs = append(errs, r.undisturbed(func() error {
			reading, err := r.reading(c.model.scopes())
			c.checkReading(r, &reading)
			return err
		}))
	}
	for _, err := range errs {
		c.mustRead(err, r)
	}
}

// damagedStore is the store of a damaged replica, opened for a look if it does
// not run; nil when it does not open, which is loud enough.
func (r *Replica) damagedStore() *store.Store {
	if r.process != nil {
		return r.process.store
	}
	st, err := store.Open(r.disk.Clone(), store.Config{Now: r.Now, Rand: entropy(0, 0), Indexer: state.Indexer{}})
	r.cluster.mustRead(err, r)
	return st
}

// checkReading holds that what agents read at a damaged replica was written so.
func (c *Cluster) checkReading(r *Replica, seen *reading) {
	check := func(kind string, e state.Envelope, seen *said) {
		wrote := slices.ContainsFunc(c.model.order, func(w *written) bool {
			env := w.record.Envelope
			return w.record.Key.Kind == kind && env.UpdatedHLC == e.UpdatedHLC && env.LastWriterID.String() == e.LastWriterID &&
				w.said.otherwise(seen) == ""
		})
		if !wrote {
			c.fail(InvariantCorruption, "replica %d shows a %s that says %.60q, of %s by %s, which nobody wrote", r.number, kind, seen.Text, e.UpdatedHLC, e.LastWriterID)
		}
	}
	for _, skills := range seen.Skills {
		for i := range skills {
			check("skill", skills[i].Envelope, saidOfSkill(&skills[i]))
		}
	}
	for _, items := range seen.Memory {
		for i := range items {
			check("memory", items[i].Envelope, saidOfItem(&items[i]))
		}
	}
}
