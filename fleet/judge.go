package fleet

import (
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Judgement is what the statements say of one record. A record that is not
// admitted is parked by the caller: a later statement may admit it.
type Judgement struct {
	Admitted bool
	// Cause is 0 when admitted.
	Cause Cause
	// Reason says why not, for people; empty when admitted. One of
	//	no grant for this writer
	//	grant lacks FAMILY
	//	outside its scopes
	//	before its grant
	//	expired
	//	writer banned from STAMP on
	//	writer banned from STAMP to STAMP
	//	its key was succeeded at STAMP
	//	collected: below a floor
	//	version withdrawn
	// or, for statements,
	//	issuer is not an admin
	//	only root grants admins
	//	only root bans admins
	//	unknown role
	//	its issuer is banned, and the ban does not let it stand
	//	its issuer is not a member at its stamp
	//	its successor is no new key
	//	too many successions: the instance has to be granted anew
	// with STAMP as hlc prints it.
	Reason string
}

// Cause is what keeps a record from being admitted.
type Cause uint8

// The causes. They are looked for in this order: banned, closed, authority,
// which lie with the writer; floor, with the key; withdrawn, with the content.
// Numbers are those that package store keeps for what waits; they are never
// reused.
const (
	// CauseAuthority: no grant covers it, or its issuer may not state it.
	CauseAuthority Cause = 1
	// CauseBanned: the writer, or one that it succeeded, is banned.
	CauseBanned Cause = 3
	// CauseFloor: its key was collected.
	CauseFloor Cause = 4
	// CauseWithdrawn: this content was withdrawn.
	CauseWithdrawn Cause = 5
	// CauseClosed: the writer's key was succeeded by another.
	CauseClosed Cause = 6
)

const (
	reasonStranger   = "no grant for this writer"
	reasonScope      = "outside its scopes"
	reasonBefore     = "before its grant"
	reasonExpired    = "expired"
	reasonFloor      = "collected: below a floor"
	reasonWithdrawn  = "version withdrawn"
	reasonNoAdmin    = "issuer is not an admin"
	reasonOnlyRoot   = "only root grants admins"
	reasonOnlyBan    = "only root bans admins"
	reasonRole       = "unknown role"
	reasonStruck     = "its issuer is banned, and the ban does not let it stand"
	reasonNotThen    = "its issuer is not a member at its stamp"
	reasonTaken      = "its successor is no new key"
	reasonLineage    = "too many successions: the instance has to be granted anew"
	reasonLacksStart = "grant lacks "
)

func refuse(cause Cause, reason string) Judgement { return Judgement{Cause: cause, Reason: reason} }

func closedReason(stamp hlc.Timestamp) string { return "its key was succeeded at " + stamp.String() }

func bannedReason(b *Ban) string {
	if b.To.IsZero() {
		return "writer banned from " + b.From.String() + " on"
	}
	return "writer banned from " + b.From.String() + " to " + b.To.String()
}

// Judge decides whether a record is admissible: a pure function of the record
// and the statements learnt, the same on every path. The record has passed
// Check and its signature was verified; neither is looked at here.
//
// Outside of the family fleet the writer must not be banned, nor succeeded, at
// the stamp, and one of its grants has to cover the family, the scope and the
// stamp; several add up, but never within one record. An admin's covers every
// family and scope. The key must not be below a floor, the content not be
// withdrawn.
//
// In the family fleet capabilities count for nothing. Root may issue everything
// but a succession. An admin, at a stamp within its grant and before its
// succession, may issue everything but the grant and the ban of an admin; when
// root has banned it, what the ban leaves in force. A member may issue its own
// succession alone, and the first by merge order counts.
func (a *Authority) Judge(rec *merge.Record) Judgement {
	s := a.snapshot.Load()
	if rec.Key.Family() == Family {
		st, err := read(rec)
		if err != nil {
			return refuse(CauseAuthority, err.Error()) // Check refuses it
		}
		return s.judgeStatement(st)
	}
	j, sure := s.judgeVersion(&rec.Key, rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC)
	if !sure && s.withdrawn[rec.Key.Kind][Digest(rec)] != nil {
		return refuse(CauseWithdrawn, reasonWithdrawn)
	}
	return j
}

// JudgeVersion is Judge without the record, for scans. sure is false where the
// record is needed: in the family fleet, and, when nothing else speaks against
// it, for a kind of which something was withdrawn.
func (a *Authority) JudgeVersion(key merge.Key, v merge.Version) (j Judgement, sure bool) {
	if key.Family() == Family {
		return Judgement{}, false
	}
	return a.snapshot.Load().judgeVersion(&key, v.Writer, v.Stamp)
}

// judgeVersion judges all but the content, which has to be looked at unless
// sure.
func (s *snapshot) judgeVersion(key *merge.Key, writer merge.InstanceID, stamp hlc.Timestamp) (j Judgement, sure bool) {
	k := s.keys[writer]
	if k == nil {
		return refuse(CauseAuthority, reasonStranger), true
	}
	if b := k.bannedAt(stamp); b != nil {
		return refuse(CauseBanned, bannedReason(&b.ban)), true
	}
	if k.closedAt(stamp) {
		return refuse(CauseClosed, closedReason(k.Closed)), true
	}
	if j := k.judge(key, stamp); !j.Admitted {
		return j, true
	}
	if len(s.floors) > 0 && s.belowFloor(key, stamp) {
		return refuse(CauseFloor, reasonFloor), true
	}
	return Judgement{Admitted: true}, len(s.withdrawn[key.Kind]) == 0
}

func (s *snapshot) belowFloor(key *merge.Key, stamp hlc.Timestamp) bool {
	of := s.floors[key.Section()]
	if of == nil {
		return false
	}
	floor, listed := of.newest[FloorKeyHash(*key)]
	return listed && !stamp.After(floor)
}

// judge asks every grant of the member, and reports the nearest miss.
func (m *Member) judge(key *merge.Key, stamp hlc.Timestamp) Judgement {
	if len(m.Grants) == 0 {
		return refuse(CauseAuthority, reasonStranger)
	}
	family := key.Family()
	nearest := missFamily
	for i := range m.Grants {
		g := &m.Grants[i]
		switch {
		case !g.covers(family):
		case !g.reaches(key.Scope):
			nearest = max(nearest, missScope)
		case !g.includes(stamp):
			nearest = max(nearest, missTime(&g.Grant, stamp))
		default:
			return Judgement{Admitted: true}
		}
	}
	return refuse(CauseAuthority, nearest.reason(family))
}

// miss is how near a grant came to admitting a record.
type miss int

const (
	missFamily miss = iota
	missScope
	missBefore
	missExpired
)

func missTime(g *Grant, stamp hlc.Timestamp) miss {
	if g.expired(stamp) {
		return missExpired
	}
	return missBefore
}

func (m miss) reason(family string) string {
	switch m {
	case missFamily:
	case missScope:
		return reasonScope
	case missBefore:
		return reasonBefore
	case missExpired:
		return reasonExpired
	}
	return reasonLacksStart + family
}

// judgeStatement is Judge in the family fleet.
func (s *snapshot) judgeStatement(st *stated) Judgement {
	if st.topic != topicSuccession {
		return s.judgeStated(st)
	}
	if known, ok := s.find(st); ok {
		return s.judgeKnown(known)
	}
	// Whether one counts depends on the others, which it may put out of force. A
	// member alone can make this look.
	if k := s.keys[st.issuer()]; k == nil || len(k.Grants) == 0 {
		return refuse(CauseAuthority, reasonStranger)
	}
	at, _ := slices.BinarySearchFunc(s.known, st, compareStated)
	return evaluate(slices.Insert(slices.Clone(s.known), at, st), s).judgeKnown(st)
}

// judgeKnown judges a succession that is one of the known statements.
func (s *snapshot) judgeKnown(st *stated) Judgement {
	if j, refused := s.refused[st]; refused {
		return j
	}
	return Judgement{Admitted: true}
}

// judgeStated judges every statement but a succession, by those of earlier
// stages alone.
func (s *snapshot) judgeStated(st *stated) Judgement {
	switch {
	case st.topic == topicRole:
		return refuse(CauseAuthority, reasonRole)
	case st.byRoot:
		return Judgement{Admitted: true}
	}
	k := s.keys[st.issuer()]
	if k == nil {
		return refuse(CauseAuthority, reasonNoAdmin)
	}
	if _, reason := k.admin(st.stamp()); reason != "" {
		return refuse(CauseAuthority, reason)
	}
	if k.closedAt(st.stamp()) && k.successor.asAdmin {
		return refuse(CauseClosed, closedReason(k.successor.succession.stamp()))
	}
	if k.struckBy(st, true) != nil {
		return refuse(CauseBanned, reasonStruck)
	}
	switch {
	case st.topic == topicGrant && st.grant.Role == RoleAdmin:
		return refuse(CauseAuthority, reasonOnlyRoot)
	case st.topic == topicBan && s.isProtected(st.ban.Writer):
		return refuse(CauseAuthority, reasonOnlyBan)
	}
	return Judgement{Admitted: true}
}

// isProtected reports whether root made a key, or one whose role it has, an
// admin.
func (s *snapshot) isProtected(id merge.InstanceID) bool {
	k := s.keys[id]
	return k != nil && k.protected
}

// String returns "admitted" or the reason.
func (j Judgement) String() string {
	if j.Admitted {
		return "admitted"
	}
	return "not admitted: " + j.Reason
}
