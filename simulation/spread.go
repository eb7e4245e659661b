package simulation

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// spread measures how far what the members hold has spread among them: what
// each lacks, and how long a write takes to be everywhere. It follows commits,
// and reads a store only when its process begins or its sums say that something
// went past it. It decides nothing. All methods do nothing on nil.
type spread struct {
	cluster *Cluster
	every   time.Duration
	begun   replicaSet // members whose first process has started
	present replicaSet // of them, those that are not away
	shared  map[merge.Section]bool
	keys    map[merge.Key]*spreadKey
	order   []*spreadKey // as they appeared
	sums    []store.Sum  // by replica, of the versions that it holds as known here
	missing int          // of all keys
	peak    int          // its largest since the last sample
	debts   []debt       // by replica
	result  Propagation
}

// spreadKey is one key and what members hold of it.
type spreadKey struct {
	versions []*spreadVersion
	missing  int // pairs of a member and a version that it lacks
}

type spreadVersion struct {
	merge.Version
	key     merge.Key
	holders replicaSet
	pending bool          // not everywhere yet
	born    time.Duration // when it was acknowledged, jumps included
	awake   time.Duration // the same without jumps
	owed    replicaSet    // members that came back without it and lack it still
	lost    bool          // some member held it beside a larger one
}

func newSpread(c *Cluster, every time.Duration) *spread {
	if every <= 0 {
		return nil
	}
	s := &spread{
		cluster: c, every: every, shared: map[merge.Section]bool{}, keys: map[merge.Key]*spreadKey{},
		begun: newReplicaSet(c.plan.Replicas), present: newReplicaSet(c.plan.Replicas),
		sums: make([]store.Sum, c.plan.Replicas), debts: make([]debt, c.plan.Replicas),
	}
	c.clock.After(0, s.sample)
	return s
}

func (s *spread) sample() {
	missing := s.cluster.Divergence()
	s.cluster.watch.emit(Event{Kind: EventSample, Replica: Nobody, Peer: Nobody, Count: missing, Peak: max(s.peak, missing)})
	s.peak = missing
	s.cluster.clock.After(s.every, s.sample)
}

// sharing reports whether all members share a section.
func (s *spread) sharing(section merge.Section) bool {
	shared, known := s.shared[section]
	if !known {
		shared = s.cluster.shared(section)
		s.shared[section] = shared
	}
	return shared
}

// started reads anew what a replica holds: its disk may be another one.
func (s *spread) started(r *Replica) {
	if s == nil || !r.member() {
		return
	}
	if !s.begun.has(r.number) {
		s.begun.add(r.number)
		s.present.add(r.number)
	}
	s.reread(r)
}

// away notes that a replica leaves, or comes back.
func (s *spread) away(r *Replica, away bool) {
	if s == nil || !s.begun.has(r.number) {
		return
	}
	switch {
	case away:
		s.present.remove(r.number)
		s.forgive(r.number)
	case !s.present.has(r.number):
		s.present.add(r.number)
		s.returned(r.number)
	}
	s.weighAll()
}

// heal brings everybody back.
func (s *spread) heal() {
	if s == nil {
		return
	}
	for n := range s.debts {
		if s.begun.has(n) && !s.present.has(n) {
			s.present.add(n)
			s.returned(n)
		}
	}
	s.weighAll()
}

// catchUp reads anew the stores that took in what they did not tell, as after
// an update that failed and happened.
func (s *spread) catchUp() {
	for _, r := range s.cluster.replicas {
		if r.process == nil || !s.begun.has(r.number) {
			continue
		}
		var sum store.Sum
		for _, state := range r.Store().Sections() {
			if s.sharing(state.Section) {
				sum = sum.Join(state.Sum)
			}
		}
		if sum != s.sums[r.number] {
			s.reread(r)
		}
	}
}

// gone forgets a replica whose machine is lost.
func (s *spread) gone(r *Replica) {
	if s == nil || !s.begun.has(r.number) {
		return
	}
	s.begun.remove(r.number)
	s.present.remove(r.number)
	for _, k := range s.order {
		for _, v := range k.versions {
			v.holders.remove(r.number)
		}
	}
	s.weighAll()
}

func (s *spread) reread(r *Replica) {
	for _, k := range s.order {
		for _, v := range k.versions {
			v.holders.remove(r.number)
		}
	}
	s.sums[r.number] = store.Sum{}
	_ = r.read(func(rd *store.Reader) error { // a disk that cannot be read holds nothing
		for _, state := range r.process.store.Sections() {
			if !s.sharing(state.Section) {
				continue
			}
			err := rd.Range(state.Section, "", func(k merge.Key, held []store.Held) bool {
				for _, h := range held {
					s.hold(r.number, s.key(k), k, h.Version)
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.weighAll()
}

func (s *spread) key(k merge.Key) *spreadKey {
	known := s.keys[k]
	if known == nil {
		known = &spreadKey{}
		s.keys[k] = known
		s.order = append(s.order, known)
	}
	return known
}

// hold notes that a replica holds a version.
func (s *spread) hold(number int, k *spreadKey, key merge.Key, version merge.Version) *spreadVersion {
	at := slices.IndexFunc(k.versions, func(v *spreadVersion) bool { return v.Hash == version.Hash })
	if at < 0 {
		at = len(k.versions)
		k.versions = append(k.versions, &spreadVersion{
			Version: version, key: key, holders: newReplicaSet(s.cluster.plan.Replicas), owed: newReplicaSet(s.cluster.plan.Replicas),
		})
	}
	v := k.versions[at]
	if !v.holders.has(number) {
		v.holders.add(number)
		s.sums[number] = s.sums[number].Add(v.Hash)
	}
	return v
}

// committed follows what a member's store has taken in.
func (s *spread) committed(r *Replica, c *store.Commit) {
	if s == nil || !s.begun.has(r.number) {
		return
	}
	for i := range c.Records {
		rec := &c.Records[i]
		if !s.sharing(rec.Key.Section()) {
			continue
		}
		v := s.hold(r.number, s.key(rec.Key), rec.Key, rec.Version())
		if c.Path == store.PathLocal {
			v.pending, v.born = true, s.cluster.clock.Elapsed()
			v.awake = s.awake()
			s.result.Writes++
		}
	}
	for _, ref := range c.Covered {
		if !s.sharing(ref.Key.Section()) {
			continue
		}
		for _, v := range s.key(ref.Key).versions {
			if v.Hash == ref.Hash && v.holders.has(r.number) {
				v.holders.remove(r.number)
				s.sums[r.number] = s.sums[r.number].Sub(v.Hash)
			}
		}
	}
	for i := range c.Records {
		if s.sharing(c.Records[i].Key.Section()) {
			s.weigh(s.key(c.Records[i].Key))
		}
	}
	if c.Path == store.PathRetract {
		s.weighTaken(c)
	}
	s.peak = max(s.peak, s.missing)
}

// weighTaken weighs what was taken away: nothing need have come in its place.
func (s *spread) weighTaken(c *store.Commit) {
	for _, ref := range c.Covered {
		if s.sharing(ref.Key.Section()) {
			s.weigh(s.key(ref.Key))
		}
	}
}

func (s *spread) weighAll() {
	for _, k := range s.order {
		s.weigh(k)
	}
	s.peak = max(s.peak, s.missing)
}

// weigh counts what members lack of a key, and notes what is everywhere now.
func (s *spread) weigh(k *spreadKey) {
	s.missing -= k.missing
	k.missing = 0
	for _, v := range k.versions {
		have, covered := k.having(v)
		s.repay(v, have)
		if !covered && !v.holders.empty() {
			k.missing += s.begun.lacking(have)
		}
		if v.pending && have.meets(s.present) && s.present.lacking(have) == 0 {
			s.everywhere(v)
		}
	}
	s.missing += k.missing
	s.collide(k)
	k.versions = slices.DeleteFunc(k.versions, func(v *spreadVersion) bool {
		return !v.pending && v.holders.empty() && v.owed.empty()
	})
}

// everywhere notes that all who are there have a version. Where nobody but its
// writer is, that says nothing of how long it took.
func (s *spread) everywhere(v *spreadVersion) {
	v.pending = false
	if s.present.size() < 2 {
		return
	}
	s.result.Times = append(s.result.Times, s.awake()-v.awake)
	s.cluster.watch.emit(Event{
		Kind: EventEverywhere, Replica: s.cluster.numberOf(v.Writer), Peer: Nobody,
		Key: v.key, Version: v.Hash, Deleted: v.Deleted, Since: v.born,
	})
}
