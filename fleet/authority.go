package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Authority is the set of a fleet's valid statements, and what follows from
// it. It is safe for concurrent use: readers see one immutable snapshot each
// and never wait.
type Authority struct {
	fleet merge.FleetID

	mu       sync.Mutex // held by writers, one at a time
	snapshot atomic.Pointer[snapshot]
}

// Granted is one valid grant and who issued it, when.
type Granted struct {
	Grant
	Issuer merge.InstanceID
	Stamp  hlc.Timestamp

	statement *merge.Record
}

// Member is an instance that holds at least one valid grant, over or not.
type Member struct {
	ID merge.InstanceID
	// Name is unique in the fleet: that of the member's newest grant. When
	// several members were granted one name, the first of them by merge order
	// keeps it; the others are shown with "~" and the end of their id.
	Name string
	// Role is the highest of the grants.
	Role Role
	// Grants are in merge order. The caller must not change them.
	Grants []Granted
}

// ActiveAt reports whether one of the member's grants is not over at the stamp:
// whether its connections are welcome. One that begins later counts, since
// clocks differ, and a member may read before it may write.
func (m *Member) ActiveAt(stamp hlc.Timestamp) bool {
	return slices.ContainsFunc(m.Grants, func(g Granted) bool { return !g.expired(stamp) })
}

// snapshot is everything that follows from one set of statements.
type snapshot struct {
	grants  []Granted // in merge order of their statements
	members map[merge.InstanceID]*Member
	names   map[string]*Member
}

// NewAuthority returns the authority of a fleet of which only the id is known:
// nobody but its root is trusted yet.
func NewAuthority(fleet merge.FleetID) *Authority {
	a := &Authority{fleet: fleet}
	a.snapshot.Store(evaluate(nil))
	return a
}

// Fleet returns the id of the fleet.
func (a *Authority) Fleet() merge.FleetID { return a.fleet }

// Learn adds one statement, whose signature the caller has verified. changed
// says that judgements may differ from now on, so that the caller judges what
// it parked again. A statement that Judge does not admit is not kept: the
// caller parks it, and learns it again when it is admitted. Errors: those of
// Check, and ErrMalformed for a record of another family.
func (a *Authority) Learn(rec *merge.Record) (changed bool, err error) {
	return a.LearnAll([]*merge.Record{rec})
}

// LearnAll is Learn of many statements at once, in any order. It adds none
// when it returns an error.
func (a *Authority) LearnAll(recs []*merge.Record) (changed bool, err error) {
	for _, rec := range recs {
		if err := Check(rec, a.fleet); err != nil {
			return false, err
		}
		if rec.Key.Family() != Family {
			return false, fmt.Errorf("%w: %s is not a statement", ErrMalformed, rec.Key)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	// Root's statements first, then what the admins that they make have issued:
	// nothing is granted deeper, so two passes find all.
	for range 2 {
		next, added := a.snapshot.Load().with(recs, a.fleet)
		if !added {
			break
		}
		a.snapshot.Store(next)
		changed = true
	}
	return changed, nil
}

// with returns the snapshot that has those of the statements, too, that s
// admits; added is false when there is no new one among them.
func (s *snapshot) with(recs []*merge.Record, fleet merge.FleetID) (next *snapshot, added bool) {
	grants := s.grants // cloned once there is something new
	for _, rec := range recs {
		if rec.Key.Kind != KindGrant || !s.judgeStatement(rec, fleet).Admitted {
			continue
		}
		g, err := GrantOf(rec)
		if err != nil {
			continue // Check has seen it
		}
		granted := Granted{Grant: g, Issuer: rec.Envelope.LastWriterID, Stamp: rec.Envelope.UpdatedHLC, statement: rec}
		at, found := slices.BinarySearchFunc(grants, granted, compareGranted)
		if found {
			continue
		}
		if !added {
			grants, added = slices.Clone(grants), true
		}
		grants = slices.Insert(grants, at, granted)
	}
	if !added {
		return s, false
	}
	return evaluate(grants), true
}

func compareGranted(a, b Granted) int {
	return merge.Compare(a.statement.Version(), b.statement.Version())
}

// evaluate derives members and names from valid grants in merge order.
func evaluate(grants []Granted) *snapshot {
	s := &snapshot{grants: grants, members: map[merge.InstanceID]*Member{}, names: map[string]*Member{}}
	for _, g := range grants {
		m := s.members[g.Member]
		if m == nil {
			m = &Member{ID: g.Member}
			s.members[g.Member] = m
		}
		m.Name = g.Name
		m.Role = max(m.Role, g.Role)
		m.Grants = append(m.Grants, g)
	}
	// Who was first granted a name that it still has keeps it.
	var later []*Member
	for _, g := range grants {
		m := s.members[g.Member]
		switch holder := s.names[g.Name]; {
		case g.Name != m.Name || holder == m || slices.Contains(later, m):
		case holder == nil:
			s.names[g.Name] = m
		default:
			later = append(later, m)
		}
	}
	for _, m := range later {
		m.Name = s.suffixed(m)
		s.names[m.Name] = m
	}
	return s
}

// suffixed returns the member's name with as much of the end of its id, six
// characters or more, as makes it unique.
func (s *snapshot) suffixed(m *Member) string {
	id := m.ID.String()
	for n := 6; n < len(id); n++ {
		name := m.Name + suffixMark + id[len(id)-n:]
		if s.names[name] == nil {
			return name
		}
	}
	return m.Name + suffixMark + id
}

// Members returns all members ordered by name.
func (a *Authority) Members() []Member {
	s := a.snapshot.Load()
	members := make([]Member, 0, len(s.members))
	for _, m := range s.members {
		members = append(members, *m)
	}
	slices.SortFunc(members, func(x, y Member) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(string(x.ID), string(y.ID)))
	})
	return members
}

// Member returns the member with this id.
func (a *Authority) Member(id merge.InstanceID) (m Member, ok bool) {
	return found(a.snapshot.Load().members[id])
}

// ByName returns the member that is shown under this name.
func (a *Authority) ByName(name string) (m Member, ok bool) {
	return found(a.snapshot.Load().names[name])
}

func found(m *Member) (Member, bool) {
	if m == nil {
		return Member{}, false
	}
	return *m, true
}

// Statements returns the statements learnt, in merge order.
func (a *Authority) Statements() []*merge.Record {
	s := a.snapshot.Load()
	recs := make([]*merge.Record, 0, len(s.grants))
	for _, g := range s.grants {
		recs = append(recs, g.statement)
	}
	return recs
}

// Chain returns the statements that prove a statement to somebody who knows
// nothing but the fleet id: the grant that makes its issuer an admin, unless
// that is root, then itself. It returns nil for a statement that is not
// admitted.
func (a *Authority) Chain(rec *merge.Record) []*merge.Record {
	s := a.snapshot.Load()
	if rec.Key.Family() != Family || !s.judgeStatement(rec, a.fleet).Admitted {
		return nil
	}
	if IsRoot(a.fleet, rec.Envelope.LastWriterID) {
		return []*merge.Record{rec}
	}
	for _, g := range s.members[rec.Envelope.LastWriterID].Grants {
		if g.Role == RoleAdmin && g.includes(rec.Envelope.UpdatedHLC) {
			return []*merge.Record{g.statement, rec}
		}
	}
	return nil
}
