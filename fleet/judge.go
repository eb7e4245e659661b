package fleet

import (
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Judgement is what the statements say of one record. A record that is not
// admitted is parked by the caller: a later statement may admit it.
type Judgement struct {
	Admitted bool
	// Reason says why not, for people; empty when admitted. One of
	//	no grant for this writer
	//	grant lacks FAMILY
	//	outside its scopes
	//	before its grant
	//	expired
	// or, for statements,
	//	issuer is not an admin
	//	only root grants admins
	//	unknown role
	Reason string
}

const (
	reasonStranger   = "no grant for this writer"
	reasonScope      = "outside its scopes"
	reasonBefore     = "before its grant"
	reasonExpired    = "expired"
	reasonNoAdmin    = "issuer is not an admin"
	reasonOnlyRoot   = "only root grants admins"
	reasonRole       = "unknown role"
	reasonLacksStart = "grant lacks "
)

// Judge decides whether a record is admissible: a pure function of the record
// and the statements learnt, the same on every path. The record has passed
// Check and its signature was verified; neither is looked at here.
//
// Outside of the family fleet one of the writer's grants has to cover the
// family, the scope and the stamp; several add up, but never within one
// record. An admin's covers every family and scope. In the family fleet
// capabilities count for nothing: root may issue everything; an admin, at a
// stamp within its grant, everything but the grant of an admin; nobody else
// anything.
func (a *Authority) Judge(rec *merge.Record) Judgement {
	s := a.snapshot.Load()
	if rec.Key.Family() == Family {
		return s.judgeStatement(rec, a.fleet)
	}
	m := s.members[rec.Envelope.LastWriterID]
	if m == nil {
		return Judgement{Reason: reasonStranger}
	}
	return m.judge(rec)
}

// judge asks every grant of the member, and reports the nearest miss.
func (m *Member) judge(rec *merge.Record) Judgement {
	family, stamp := rec.Key.Family(), rec.Envelope.UpdatedHLC
	nearest := missFamily
	for i := range m.Grants {
		g := &m.Grants[i]
		switch {
		case !g.covers(family):
		case !g.reaches(rec.Key.Scope):
			nearest = max(nearest, missScope)
		case !g.includes(stamp):
			nearest = max(nearest, missTime(&g.Grant, stamp))
		default:
			return Judgement{Admitted: true}
		}
	}
	return Judgement{Reason: nearest.reason(family)}
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

// judgeStatement is Judge in the family fleet. Root comes first, then admins:
// whether an issuer is an admin follows from root's statements alone.
func (s *snapshot) judgeStatement(rec *merge.Record, fleet merge.FleetID) Judgement {
	var grant Grant
	if rec.Key.Kind == KindGrant {
		var err error
		if grant, err = GrantOf(rec); err != nil {
			return Judgement{Reason: err.Error()} // Check refuses it
		}
		if grant.Role != RoleMember && grant.Role != RoleAdmin {
			return Judgement{Reason: reasonRole}
		}
	}
	if IsRoot(fleet, rec.Envelope.LastWriterID) {
		return Judgement{Admitted: true}
	}
	if j := s.judgeAdmin(rec); !j.Admitted {
		return j
	}
	if grant.Role == RoleAdmin {
		return Judgement{Reason: reasonOnlyRoot}
	}
	return Judgement{Admitted: true}
}

// judgeAdmin reports whether the writer is an admin at the record's stamp.
func (s *snapshot) judgeAdmin(rec *merge.Record) Judgement {
	reason := reasonNoAdmin
	m := s.members[rec.Envelope.LastWriterID]
	if m == nil {
		return Judgement{Reason: reason}
	}
	stamp := rec.Envelope.UpdatedHLC
	for i := range m.Grants {
		g := &m.Grants[i]
		switch {
		case g.Role != RoleAdmin:
		case g.includes(stamp):
			return Judgement{Admitted: true}
		case g.expired(stamp):
			reason = reasonExpired
		case reason == reasonNoAdmin:
			reason = reasonBefore
		}
	}
	return Judgement{Reason: reason}
}

// String returns "admitted" or the reason.
func (j Judgement) String() string {
	if j.Admitted {
		return "admitted"
	}
	return "not admitted: " + j.Reason
}
