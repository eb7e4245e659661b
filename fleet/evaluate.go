package fleet

import (
	"crypto/sha256"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// snapshot is everything that follows from one set of statements. It is
// immutable once evaluate has returned it.
type snapshot struct {
	known []*stated // all that were learnt, in merge order
	valid []bool    // of each of them, whether it is in force

	keys  map[merge.InstanceID]*standing // all that a statement in force names
	names map[string]*standing
	// refused says why successions that are known are not in force.
	refused map[*stated]Judgement

	floors    map[merge.Section]*sectionFloor
	withdrawn map[string]map[merge.Hash]*stated // by kind and digest
	contents  map[withdrawnContent]bool
	mark      [sha256.Size]byte
}

type withdrawnContent struct {
	kind    string
	content [32]byte
}

// evaluate derives what follows from known statements in merge order, stage by
// stage, so that whether a statement is in force never depends on one of a
// later stage, nor, within a stage of successions, on a later one: the result
// is a function of the set. A statement that is not in force has no effect on
// it. last is only a store of results that may still be right.
func evaluate(known []*stated, last *snapshot) *snapshot {
	s := &snapshot{
		known: known, valid: make([]bool, len(known)),
		keys: map[merge.InstanceID]*standing{}, names: map[string]*standing{}, refused: map[*stated]Judgement{},
	}
	s.admitAll(func(st *stated) bool { return st.byRoot })
	s.succeed(true)
	s.admitAll(func(st *stated) bool { return !st.byRoot })
	s.succeed(false)
	s.settle(last)
	return s
}

// key returns the standing of a key, a new one when it was not named before.
func (s *snapshot) key(id merge.InstanceID) *standing {
	k := s.keys[id]
	if k == nil {
		k = &standing{Member: Member{ID: id}}
		s.keys[id] = k
	}
	return k
}

// admitAll puts those statements, but for successions, into force that are
// judged good by what was admitted in earlier stages. Those of one stage do not
// look at each other.
func (s *snapshot) admitAll(of func(*stated) bool) {
	for i, st := range s.known {
		if st.topic == topicSuccession || !of(st) || !s.judgeStated(st).Admitted {
			continue
		}
		s.valid[i] = true
		switch st.topic {
		case topicGrant:
			k := s.key(st.grant.Member)
			k.own = append(k.own, st)
			k.protected = k.protected || st.grant.Role == RoleAdmin // which is root's
		case topicBan:
			k := s.key(st.ban.Writer)
			k.bans = append(k.bans, st)
		case topicWithdrawal, topicFloor: // looked at when all is settled
		case topicSuccession, topicRole, topicOther:
		}
	}
}

// succeed puts successions into force in merge order: those of admins first,
// which bear on what admins state, then those of members.
func (s *snapshot) succeed(asAdmin bool) {
	for i, st := range s.known {
		if st.topic != topicSuccession || s.valid[i] {
			continue
		}
		k := s.keys[st.issuer()]
		if k == nil {
			s.refused[st] = refuse(CauseAuthority, reasonStranger)
			continue
		}
		if _, reason := k.admin(st.stamp()); (reason == "") != asAdmin {
			if asAdmin {
				s.refused[st] = refuse(CauseAuthority, reason)
			}
			continue
		}
		if j := s.judgeSuccession(k, st, asAdmin); !j.Admitted {
			s.refused[st] = j
			continue
		}
		delete(s.refused, st)
		s.valid[i] = true
		n := s.key(st.grant.Member)
		n.predecessor, n.succession, n.asAdmin, n.depth = k, st, asAdmin, k.depth+1
		n.protected = n.protected || asAdmin
		k.successor = n
	}
}

// judgeSuccession judges a succession by k, when the earlier ones of its stage
// are in force and later ones are not.
func (s *snapshot) judgeSuccession(k *standing, st *stated, asAdmin bool) Judgement {
	stamp := st.stamp()
	if k.grantAt(stamp) == nil {
		return refuse(CauseAuthority, reasonNotThen)
	}
	if b := k.struckBy(st, asAdmin); b != nil {
		return refuse(CauseBanned, reasonStruck)
	}
	if k.successor != nil {
		return refuse(CauseClosed, closedReason(k.successor.succession.stamp()))
	}
	if k.depth+1 >= lineageMax {
		return refuse(CauseAuthority, reasonLineage)
	}
	// It must be a new key: neither a member by then, nor part of a lineage.
	n := s.keys[st.grant.Member]
	if n != nil && (n.predecessor != nil || n.successor != nil ||
		slices.ContainsFunc(n.own, func(g *stated) bool { return compareStated(g, st) < 0 })) {
		return refuse(CauseAuthority, reasonTaken)
	}
	return Judgement{Admitted: true}
}

// settle derives what is asked for: members, names, floors, withdrawals, mark.
func (s *snapshot) settle(last *snapshot) {
	for _, k := range s.keys {
		k.settle()
	}
	inForce := s.inForce()
	s.name(inForce)
	s.floors = layFloors(inForce, last.laid())
	mark := sha256.New()
	marked := false
	for _, st := range inForce {
		var as byte
		switch st.topic {
		case topicSuccession:
			// What one means for statements depends on how it was judged.
			if s.keys[st.grant.Member].asAdmin {
				as = 1
			}
		case topicWithdrawal:
			s.withdraw(st)
		case topicBan, topicFloor:
		case topicGrant, topicRole, topicOther:
			continue
		}
		hash := st.rec.Hash()
		mark.Write(append(hash[:], as))
		marked = true
	}
	if marked {
		mark.Sum(s.mark[:0])
	}
}

func (s *snapshot) withdraw(st *stated) {
	if s.withdrawn == nil {
		s.withdrawn, s.contents = map[string]map[merge.Hash]*stated{}, map[withdrawnContent]bool{}
	}
	of := s.withdrawn[st.ban.Kind]
	if of == nil {
		of = map[merge.Hash]*stated{}
		s.withdrawn[st.ban.Kind] = of
	}
	if of[st.ban.Digest] == nil {
		of[st.ban.Digest] = st
	}
	if st.ban.Content != [32]byte{} {
		s.contents[withdrawnContent{st.ban.Kind, st.ban.Content}] = true
	}
}

// laid returns the floors of a snapshot that may be nil.
func (s *snapshot) laid() map[merge.Section]*sectionFloor {
	if s == nil {
		return nil
	}
	return s.floors
}

// inForce returns the statements in force, in merge order.
func (s *snapshot) inForce() []*stated {
	inForce := make([]*stated, 0, len(s.known))
	for i, st := range s.known {
		if s.valid[i] {
			inForce = append(inForce, st)
		}
	}
	return inForce
}

// find returns the statement with the version of st that is known.
func (s *snapshot) find(st *stated) (known *stated, ok bool) {
	at, ok := slices.BinarySearchFunc(s.known, st, compareStated)
	if !ok {
		return nil, false
	}
	return s.known[at], true
}

// with returns the snapshot in which those of the statements are known too that
// are in force then; added is false, and the snapshot this one, when none of
// them is new. What is left out would change nothing in it.
func (s *snapshot) with(news []*stated) (next *snapshot, added bool) {
	known := slices.Clone(s.known)
	fresh := map[*stated]bool{}
	for _, st := range news {
		at, found := slices.BinarySearchFunc(known, st, compareStated)
		if !found {
			known = slices.Insert(known, at, st)
			fresh[st] = true
		}
	}
	if len(fresh) == 0 {
		return s, false
	}
	next = evaluate(known, s)
	known, valid := known[:0:0], next.valid[:0:0]
	for i, st := range next.known {
		if fresh[st] && !next.valid[i] {
			delete(next.refused, st)
			continue
		}
		known, valid = append(known, st), append(valid, next.valid[i])
		added = added || fresh[st]
	}
	if !added {
		return s, false
	}
	next.known, next.valid = known, valid
	return next, true
}
