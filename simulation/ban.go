package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// What the admin, which is the first replica, takes away: all that a member
// writes from some stamp on, what it wrote within a range of stamps, or every
// version with one content. Root may lift one of these later.

// taking is one such statement. The model decides from these alone what may be
// held; but for digests it shares no code with package fleet.
type taking struct {
	statement merge.Record
	writer    merge.InstanceID // whose versions are taken away, from one stamp on, up to another unless that is zero
	from, to  hlc.Timestamp
	digest    merge.Hash // else those of this content
	lifted    *merge.Record
}

// takes reports whether the statement concerns a version.
func (t *taking) takes(rec *merge.Record) bool {
	if t.writer == "" {
		return rec.Key.Kind == "skill" && fleet.Digest(rec) == t.digest
	}
	stamp := rec.Envelope.UpdatedHLC
	return rec.Envelope.LastWriterID == t.writer && !stamp.Before(t.from) && (t.to.IsZero() || stamp.Before(t.to))
}

// takenAway reports whether a version may not be held: a statement that exists
// concerns it, and none that exists lifts that one; or it is one that was lifted.
func (m *model) takenAway(rec *merge.Record, exists func(*merge.Record) bool) bool {
	return slices.ContainsFunc(m.takings, func(t *taking) bool {
		isLifted := t.lifted != nil && exists(t.lifted)
		if rec.Hash() == t.statement.Hash() {
			return isLifted
		}
		return !isLifted && exists(&t.statement) && t.takes(rec)
	})
}

// mayBeTakenAway reports whether a version is one that some statement concerns or
// concerned, or a statement that was lifted.
func (m *model) mayBeTakenAway(rec *merge.Record) bool {
	return slices.ContainsFunc(m.takings, func(t *taking) bool {
		return t.takes(rec) || t.lifted != nil && rec.Hash() == t.statement.Hash()
	})
}

// retracted notes what a store has taken away: the newest of a key is what it
// shows now.
func (m *model) retracted(r *Replica, c *store.Commit) {
	m.cluster.cover.Markers[SometimesRetracted] += len(c.Covered)
	m.cluster.cover.Markers[SometimesRestored] += len(c.Records)
	for i := range c.Covered {
		ref := &c.Covered[i]
		if last := r.newest[ref.Key]; last == nil || last.record.Hash() != ref.Hash {
			continue
		}
		delete(r.newest, ref.Key)
		held, err := heldBy(r, ref.Key)
		m.cluster.mustRead(err, r)
		if err == nil && len(held) > 0 {
			r.newest[ref.Key] = m.versions[held[len(held)-1].Hash]
		}
	}
}

// existing returns which versions exist for good: those that were acknowledged,
// and those that a replica holds.
func (m *model) existing(extant map[merge.Hash]bool) func(*merge.Record) bool {
	return func(rec *merge.Record) bool {
		w := m.versions[rec.Hash()]
		return w != nil && w.acknowledged || extant[rec.Hash()]
	}
}

// owed leaves of the versions of one key those that the fleet owes: of what only
// a version had replaced that was taken away since, a store keeps as much as its
// history has room for, and one that has not kept it gets it from who has.
func (m *model) owed(versions, gone []*written, extant map[merge.Hash]bool) []*written {
	if len(gone) == 0 {
		return versions
	}
	replaced := m.replacedBy(gone)
	return slices.DeleteFunc(slices.Clone(versions), func(w *written) bool {
		h := w.record.Hash()
		return replaced[h] && !extant[h]
	})
}

// doBan carries out the steps by which something is taken away, or given back.
func (c *Cluster) doBan(r *Replica, s Step) (done bool) {
	var err error
	switch s.Act {
	case ActBan, ActVoid:
		err = c.ban(r, s)
	case ActWithdraw:
		err = c.withdraw(s.Count)
	case ActLift:
		err = c.lift()
	default:
		return false
	}
	if err != nil && !tolerable(err) {
		c.fail(InvariantProgress, "%s: %v", s.Act, err)
	}
	return true
}

// ban closes a member, but for all that the admin holds of it and the Count
// newest of that; or only up to now.
func (c *Cluster) ban(r *Replica, s Step) error {
	admin := c.replicas[0]
	if admin.busy() || r == admin || !r.admitted() {
		return nil
	}
	stamps, err := admin.stampsOf(r.ID())
	if err != nil {
		return err
	}
	from := hlc.Timestamp{Wall: epoch().UnixMilli()}
	if n := len(stamps) - s.Count; n > 0 {
		from = stamps[n-1]
		from.Counter++
	}
	return c.take(func(stamp hlc.Timestamp) (t taking, b fleet.Ban) {
		b = fleet.Ban{Writer: r.ID(), From: from}
		c.cover.fault(FaultBan)
		if s.Act == ActVoid && from.Before(stamp) {
			b.To = stamp
			c.cover.fault(FaultVoid)
		}
		return taking{writer: b.Writer, from: b.From, to: b.To}, b
	})
}

// stampsOf returns the stamps of the versions of a writer that a replica holds,
// ascending.
func (r *Replica) stampsOf(writer merge.InstanceID) (stamps []hlc.Timestamp, err error) {
	err = r.eachHeld(func(_ merge.Key, v store.Held) {
		if v.Writer == writer {
			stamps = append(stamps, v.Stamp)
		}
	})
	slices.SortFunc(stamps, hlc.Timestamp.Compare)
	return stamps, err
}

// withdraw takes away every version with the content that the admin holds as
// the head of a skill: of the one with a number, or the next that it has.
func (c *Cluster) withdraw(n int) error {
	if c.replicas[0].busy() {
		return nil
	}
	for i := range withdrawTries {
		digest, err := c.digestOf(targetOf(n + 2*i)) // skills have the even numbers
		if err != nil {
			return err
		}
		if digest == (merge.Hash{}) {
			continue
		}
		return c.take(func(hlc.Timestamp) (taking, fleet.Ban) {
			c.cover.fault(FaultWithdrawal)
			return taking{digest: digest}, fleet.Ban{Kind: "skill", Digest: digest}
		})
	}
	return nil
}

// withdrawTries is how many skills are looked for.
const withdrawTries = 6

// digestOf returns the digest of what the admin holds as a live skill; zero for
// none.
func (c *Cluster) digestOf(t target) (digest merge.Hash, err error) {
	t.skill = true
	err = c.replicas[0].read(func(s *store.Reader) error {
		head, err := s.Head(t.key())
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err == nil && !head.Envelope.Deleted:
			digest = fleet.Digest(&head)
		}
		return err
	})
	return digest, err
}

// take states a ban at the admin.
func (c *Cluster) take(draw func(stamp hlc.Timestamp) (taking, fleet.Ban)) error {
	admin := c.replicas[0]
	return c.stateBan(admin.identity, func(stamp hlc.Timestamp) (fleet.Ban, func(merge.Record)) {
		t, b := draw(stamp)
		return b, func(rec merge.Record) {
			t.statement = rec
			c.model.takings = append(c.model.takings, &t)
		}
	})
}

// lift lets root take the newest statement out of force that it has left in it.
func (c *Cluster) lift() error {
	if c.replicas[0].busy() {
		return nil
	}
	i := len(c.model.takings) - 1
	for i >= 0 && c.model.takings[i].lifted != nil {
		i--
	}
	if i < 0 {
		return nil
	}
	t := c.model.takings[i]
	return c.stateBan(c.charter.root, func(hlc.Timestamp) (fleet.Ban, func(merge.Record)) {
		from := t.statement.Envelope.UpdatedHLC
		to := from
		to.Counter++
		c.cover.fault(FaultLift)
		return fleet.Ban{Writer: c.replicas[0].ID(), From: from, To: to}, func(rec merge.Record) { t.lifted = &rec }
	})
}

// stateBan writes a ban at the admin, and tells of its record before that is
// committed.
func (c *Cluster) stateBan(issuer fleet.Signer, draw func(stamp hlc.Timestamp) (fleet.Ban, func(merge.Record))) error {
	admin := c.replicas[0]
	err := admin.Store().Write(context.Background(), "ban", func(*store.Reader) ([]merge.Record, error) {
		stamp, err := admin.Store().Clock().Now()
		if err != nil {
			return nil, err
		}
		b, made := draw(stamp)
		rec, err := fleet.SealBan(c.charter.fleet, issuer, b, stamp)
		if err != nil {
			return nil, err
		}
		if err := admin.attempt(&rec); err != nil {
			return nil, err
		}
		made(rec)
		return []merge.Record{rec}, nil
	})
	if err != nil {
		return fmt.Errorf("ban: %w", err)
	}
	return nil
}
