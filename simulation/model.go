package simulation

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// model knows every version that was ever made and which of them the fleet
// owes to somebody. It is told of writes by those who make them, never by what
// replication does, and shares no code with the merge.
type model struct {
	cluster  *Cluster
	versions map[merge.Hash]*written
	order    []*written // as they were made
	newest   []issued   // by replica
	// acknowledged counts the versions that their writers were told are durable.
	acknowledged int
	reached      []hlc.Timestamp // by replica: the newest stamp that its disk holds
	// cloned are the keys that two machines, or two pasts of one, wrote under one
	// identity, or one machine after a version of its own was taken away. Covering is
	// not transitive there, so what is held besides the
	// head may depend on the order of arrival; replicas agree all the same.
	cloned map[merge.Key]bool
	// tainted are the keys of which a hostile member has made versions: replicas
	// agree on what is held of them, and nothing more is owed.
	tainted map[merge.Key]bool
	// takings are what the admin has taken away.
	takings []*taking
}

// issued is the newest stamp of a machine.
type issued struct {
	stamp   hlc.Timestamp
	process uint64 // that issued it
	durable bool
}

// written is one version that a caller made.
type written struct {
	record merge.Record
	// acknowledged says that its writer was told that it is durable, and that no
	// disk with its only copy was lost since. A version that is not may exist or
	// not, but only as it is.
	acknowledged bool
	parents      []merge.Hash // see Replica.seen
	said         *said        // what its agent said; nil when unknown
	counted      *counted     // of an outcome
	newer        bool         // of a later build
	crafted      bool         // by a hostile member, behind its engine's back
}

func newModel(c *Cluster) *model {
	return &model{cluster: c, versions: map[merge.Hash]*written{}, cloned: map[merge.Key]bool{}, tainted: map[merge.Key]bool{}}
}

func (m *model) grow() {
	m.reached, m.newest = append(m.reached, hlc.Timestamp{}), append(m.newest, issued{})
}

// attempted notes a version before its commit. Stamps of one instance rise
// strictly, across restarts too, and follow all that its store has committed.
// A stamp that no disk and no network has seen may be issued again after a
// restart.
func (m *model) attempted(r *Replica, rec *merge.Record, settles bool) {
	stamp := rec.Envelope.UpdatedHLC
	r.stamps()
	if last := m.newest[r.number]; !stamp.After(last.stamp) && (last.durable || last.process == r.started) {
		m.cluster.fail(InvariantStamps, "replica %d stamps %s with %s after it had issued %s", r.number, rec.Key, stamp, last.stamp)
	}
	if seen := m.reached[r.number]; !stamp.After(seen) {
		m.cluster.fail(InvariantCausality, "replica %d stamps %s with %s after it had committed %s", r.number, rec.Key, stamp, seen)
	}
	if stamp.Wall > r.Now().Add(hlc.DriftMax).UnixMilli() {
		m.cluster.fail(InvariantClockDefence, "replica %d stamps %s with %s, far ahead of its own time", r.number, rec.Key, stamp)
	}
	m.newest[r.number] = issued{stamp: stamp, process: r.started}
	m.copies(r, rec.Key)
	w := m.add(rec)
	var err error
	w.said, err = m.saying(r, rec)
	m.cluster.mustRead(err, r)
	again := false
	w.parents, again, err = r.seen(rec, settles)
	m.cloned[rec.Key] = m.cloned[rec.Key] || again
	m.cluster.mustRead(err, r)
	m.cluster.mustRead(m.counts(r, w), r)
	if r.damaged {
		m.overlooks(r, rec)
	}
}

// add notes a version that exists from now on, acknowledged or not.
func (m *model) add(rec *merge.Record) *written {
	w := m.versions[rec.Hash()]
	if w == nil {
		w = &written{record: *rec}
		m.versions[rec.Hash()] = w
		m.order = append(m.order, w)
	}
	return w
}

// committed checks what a store has taken in, and notes what it owes.
func (m *model) committed(r *Replica, c *store.Commit) {
	m.keepsTime(r)
	if c.Path == store.PathRetract {
		m.retracted(r, c)
	}
	for i := range c.Records {
		rec := &c.Records[i]
		stamp := rec.Envelope.UpdatedHLC
		if stamp.After(m.reached[r.number]) {
			m.reached[r.number] = stamp
		}
		w := m.versions[rec.Hash()]
		if w != nil {
			r.taken(w)
			m.carried(r, w)
		}
		if !m.allows(rec) {
			m.cluster.fail(InvariantAuthority, "replica %d holds %s of replica %d, whose grant does not cover it", r.number, rec.Key, m.cluster.numberOf(rec.Envelope.LastWriterID))
		}
		switch {
		case w == nil:
			m.cluster.fail(InvariantBytes, "replica %d holds a version of %s that nobody wrote", r.number, rec.Key)
		case c.Path == store.PathLocal:
			w.acknowledged = !r.damaged // nothing is owed of what only that disk has
			m.acknowledged++
			m.newest[r.number] = issued{stamp: stamp, process: r.started, durable: true}
			m.observe(r, rec)
		case r.process != nil && r.process.authority.Judge(rec) != 0 && !m.mayBeTakenAway(rec):
			// What was admitted before a ban came is taken away right after.
			m.cluster.fail(InvariantAuthority, "replica %d merged %s of replica %d, which nothing admits", r.number, rec.Key, m.cluster.numberOf(rec.Envelope.LastWriterID))
		case c.Path != store.PathRetract && stamp.Wall > r.Now().Add(hlc.DriftMax).UnixMilli():
			m.cluster.fail(InvariantClockDefence, "replica %d merged %s stamped %s, far ahead of its time", r.number, rec.Key, stamp)
		}
	}
}

// carried counts what a later build has written and another one has taken in.
func (m *model) carried(r *Replica, w *written) {
	if w.newer && r.dialect == nil {
		m.cluster.cover.fault(FaultNewerRecord)
	}
}

// craft notes a version that a hostile member has made: it may be held, or
// parked for good.
func (m *model) craft(rec *merge.Record) {
	m.add(rec).crafted = true
	m.tainted[rec.Key] = true
}

// unclear reports whether covering is not transitive among the versions of a
// key.
func (m *model) unclear(key merge.Key) bool { return m.cloned[key] || m.tainted[key] }

// observe notes what kind of write was acknowledged.
func (m *model) observe(r *Replica, rec *merge.Record) {
	r.note("writes %s %s%s", rec.Key, rec.Envelope.UpdatedHLC, deletedMark(rec))
	if rec.Envelope.Deleted {
		m.cluster.cover.sometimes(SometimesDelete)
		return
	}
	for _, e := range rec.Basis {
		for _, w := range m.order {
			if v := &w.record; v.Key == rec.Key && v.Envelope.LastWriterID == e.Writer && v.Envelope.UpdatedHLC == e.Stamp && v.Envelope.Deleted {
				m.cluster.cover.sometimes(SometimesRevival)
				return
			}
		}
	}
}

func deletedMark(rec *merge.Record) string {
	if rec.Envelope.Deleted {
		return " deleted"
	}
	return ""
}

// expected returns what every replica must hold of the shared sections: what is
// left of all acknowledged versions, and of those others that some replica
// holds, ascending.
func (m *model) expected(extant map[merge.Hash]bool) map[merge.Key][]merge.Version {
	all, gone := map[merge.Key][]*written{}, map[merge.Key][]*written{}
	exists := m.existing(extant)
	for _, w := range m.order {
		if len(m.takings) > 0 && m.takenAway(&w.record, exists) {
			gone[w.record.Key] = append(gone[w.record.Key], w)
			continue
		}
		if !w.acknowledged && !extant[w.record.Hash()] || !m.offered(&w.record) {
			continue
		}
		if !w.acknowledged {
			m.cluster.cover.sometimes(SometimesUnacknowledged)
		}
		all[w.record.Key] = append(all[w.record.Key], w)
	}
	left := make(map[merge.Key][]merge.Version, len(all))
	for key := range gone {
		if all[key] == nil && !m.tainted[key] {
			left[key] = nil // nobody may hold any of it
		}
	}
	for key, versions := range all {
		if m.tainted[key] {
			continue
		}
		left[key] = m.resolve(m.owed(versions, gone[key], extant))
		if len(left[key]) > 1 {
			m.cluster.cover.sometimes(SometimesConflict)
		}
	}
	return left
}

// offered reports whether the writer of a version shares it but while that is
// switched off, and the fleet takes it.
func (m *model) offered(rec *merge.Record) bool {
	n := m.cluster.numberOf(rec.Envelope.LastWriterID)
	if n < 0 {
		return true // the fleet's root
	}
	r := m.cluster.replicas[n]
	return r.admitted() && r.planned.Shares(rec.Key.Section())
}

// horizon returns the newest stamp of all versions, and of all that clocks have
// issued for none.
func (m *model) horizon() hlc.Timestamp {
	var newest hlc.Timestamp
	for _, r := range m.cluster.replicas {
		if r.process == nil {
			continue
		}
		if last := r.process.store.Clock().Last(); last.After(newest) {
			newest = last
		}
	}
	for _, w := range m.order {
		if w.crafted && w.record.Envelope.UpdatedHLC.Time().Sub(m.cluster.clock.Now()) > poisonNear {
			continue // it stays parked for longer than anybody looks
		}
		if stamp := w.record.Envelope.UpdatedHLC; stamp.After(newest) {
			newest = stamp
		}
	}
	return newest
}

// describe names a version for messages.
func (m *model) describe(h merge.Hash) string {
	w := m.versions[h]
	if w == nil {
		return fmt.Sprintf("%x, which nobody wrote", h[:4])
	}
	env := w.record.Envelope
	ack := "acknowledged"
	if !w.acknowledged {
		ack = "not acknowledged"
	}
	return fmt.Sprintf("%s %s of replica %d%s (%s, %x)", w.record.Key, env.UpdatedHLC, m.cluster.numberOf(env.LastWriterID), deletedMark(&w.record), ack, h[:4])
}
