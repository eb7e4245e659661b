package simulation

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// What the fleet owes to nobody any more, because a disk was lost or came back
// as it had been before.

// forgets is called when the disk of a replica is as it was at an earlier
// time. Under its old identity it must not write before its clock has passed
// all that it had issued. Of keys that it forgets to have written, its next
// write covers what it has not seen, as that of a clone does.
func (m *model) forgets(r *Replica) error {
	r.muteUntil = time.UnixMilli(m.newest[r.number].stamp.Wall + 1) // whatever it had counted up to within one
	m.reached[r.number] = hlc.Timestamp{}
	clear(r.newest)
	err := r.read(func(s *store.Reader) error {
		for _, w := range m.order {
			if w.record.Envelope.LastWriterID != r.ID() {
				continue
			}
			remembered, err := remembers(s, &w.record)
			if err != nil {
				return err
			}
			if !remembered {
				m.cloned[w.record.Key] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.lost()
}

// overlooks notes that a replica whose disk is damaged writes a key, of which
// it may have lost what it wrote before: then it covers what it has not seen.
func (m *model) overlooks(r *Replica, rec *merge.Record) {
	key := rec.Key
	err := r.read(func(s *store.Reader) error {
		for _, w := range m.order {
			if w.record.Key != key || w.record.Envelope.LastWriterID != r.ID() || w.record.Hash() == rec.Hash() {
				continue
			}
			remembered, err := remembers(s, &w.record)
			if err != nil {
				return err
			}
			m.cloned[key] = m.cloned[key] || !remembered
		}
		return nil
	})
	m.cloned[key] = m.cloned[key] || err != nil
}

// lost is called when a disk has lost something: what is on no disk of a member
// is owed to nobody any more.
func (m *model) lost() error {
	kept := map[*written]bool{}
	for _, r := range m.cluster.members() {
		err := r.read(func(s *store.Reader) error {
			for _, w := range m.order {
				if !w.acknowledged || kept[w] {
					continue
				}
				received, err := hasReceived(s, w.record.Key, w.record.Version())
				if err != nil {
					return err
				}
				kept[w] = received
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, w := range m.order {
		w.acknowledged = w.acknowledged && kept[w]
	}
	return nil
}

// remembers reports whether a disk knows a version that its owner wrote.
func remembers(s *store.Reader, rec *merge.Record) (known bool, err error) {
	writer, stamp := rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC
	held, err := s.Held(rec.Key)
	if err != nil {
		return false, err
	}
	own, err := s.OwnCovered(rec.Key, writer)
	known = own != nil && !stamp.After(own.Stamp) ||
		slices.ContainsFunc(held, func(h store.Held) bool { return h.Writer == writer && !stamp.After(h.Stamp) })
	return known, err
}
