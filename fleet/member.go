package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Granted is one valid grant and who issued it, when.
type Granted struct {
	Grant
	Issuer merge.InstanceID
	Stamp  hlc.Timestamp

	statement *stated
}

// Member is an instance that holds at least one valid grant, its own or by
// succession, over or not.
type Member struct {
	ID merge.InstanceID
	// Name is unique in the fleet: that of the newest grant for the member, or
	// for any key that it succeeded or that succeeded it, and the newest of those
	// keys holds it. When several members were granted one name, the first of them
	// by merge order keeps it. The others, and the older keys of each, are shown
	// with "~" and the end of their id.
	Name string
	// Role is the highest of the grants.
	Role Role
	// Grants are in merge order. One that was inherited begins at the succession
	// at the earliest. The caller must not change them.
	Grants []Granted
	// Predecessor and Successor are the keys of the same instance before and
	// after this one; empty when there is none.
	Predecessor, Successor merge.InstanceID
	// Closed is the first stamp that was the successor's; zero when there is none.
	Closed hlc.Timestamp
	// Ban is the one without an end, of the member or of one that it succeeded,
	// that begins first; nil when there is none. The caller must not change it.
	Ban *Ban
}

// ActiveAt reports whether one of the member's grants is not over at the stamp,
// and it is neither banned for ever nor succeeded by then: whether its
// connections are welcome. A grant that begins later counts, since clocks
// differ, and a member may read before it may write.
func (m *Member) ActiveAt(stamp hlc.Timestamp) bool {
	if m.Ban != nil && !stamp.Before(m.Ban.From) || m.Successor != "" && !stamp.Before(m.Closed) {
		return false
	}
	return slices.ContainsFunc(m.Grants, func(g Granted) bool { return !g.expired(stamp) })
}

// Members returns all members ordered by name.
func (a *Authority) Members() []Member {
	s := a.snapshot.Load()
	members := make([]Member, 0, len(s.names))
	for _, k := range s.names {
		members = append(members, k.Member)
	}
	slices.SortFunc(members, func(x, y Member) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(string(x.ID), string(y.ID)))
	})
	return members
}

// Member returns the member with this id.
func (a *Authority) Member(id merge.InstanceID) (m Member, ok bool) {
	return found(a.snapshot.Load().keys[id])
}

// ByName returns the member that is shown under this name.
func (a *Authority) ByName(name string) (m Member, ok bool) {
	return found(a.snapshot.Load().names[name])
}

func found(k *standing) (Member, bool) {
	if k == nil || len(k.Grants) == 0 {
		return Member{}, false // a key that is banned only
	}
	return k.Member, true
}

// Banned returns the ban in force that keeps a key from being granted again:
// one without an end, of the key itself or of one that it succeeded. It need
// not be that of a member.
func (a *Authority) Banned(id merge.InstanceID) (b Ban, ok bool) {
	k := a.snapshot.Load().keys[id]
	if k == nil || k.Ban == nil {
		return Ban{}, false
	}
	return *k.Ban, true
}

// Imposed is one ban of a writer in force and who issued it, when.
type Imposed struct {
	Ban
	Issuer merge.InstanceID
	Stamp  hlc.Timestamp
}

// Bans returns the bans of writers in force, in merge order.
func (a *Authority) Bans() []Imposed {
	var bans []Imposed
	for _, st := range a.snapshot.Load().inForce() {
		if st.topic == topicBan {
			bans = append(bans, Imposed{Ban: st.ban, Issuer: st.issuer(), Stamp: st.stamp()})
		}
	}
	return bans
}

// Withdrawal is one withdrawal in force: versions of Kind with this Digest are
// inadmissible.
type Withdrawal struct {
	Kind   string
	Digest merge.Hash
	// Content is the digest of what people see; zero when it is not told.
	Content [32]byte
	Note    string
	Issuer  merge.InstanceID
	Stamp   hlc.Timestamp
}

// Withdrawals returns the withdrawals in force, in merge order.
func (a *Authority) Withdrawals() []Withdrawal {
	var all []Withdrawal
	for _, st := range a.snapshot.Load().inForce() {
		if st.topic == topicWithdrawal {
			all = append(all, Withdrawal{
				Kind: st.ban.Kind, Digest: st.ban.Digest, Content: st.ban.Content, Note: st.ban.Note,
				Issuer: st.issuer(), Stamp: st.stamp(),
			})
		}
	}
	return all
}

// WithdrawnContent reports whether a withdrawal in force names what people see
// of a version, by its digest. It is for local checks: admission looks at
// digests of versions.
func (a *Authority) WithdrawnContent(kind string, content [32]byte) bool {
	return a.snapshot.Load().contents[withdrawnContent{kind, content}]
}

// InForce returns the item hashes, ascending, of the statements in force by an
// instance and the keys that succeeded it: what a ban of it has to list in
// Stands to leave them in force.
func (a *Authority) InForce(issuer merge.InstanceID) []merge.Hash {
	s := a.snapshot.Load()
	k := s.keys[issuer]
	if k == nil {
		return nil
	}
	ids := k.ids()
	var hashes []merge.Hash
	for _, st := range s.inForce() {
		if slices.Contains(ids, st.issuer()) {
			hashes = append(hashes, st.rec.Hash())
		}
	}
	slices.SortFunc(hashes, compareHashes)
	return hashes
}
