package node

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Rights are what the statements of the fleet say of a member.
type Rights struct {
	// Capabilities are the families that it may write, "*" for every one, by all
	// of its grants that are not over; an admin's are "*". None is a member that
	// only reads.
	Capabilities []string
	// Scopes are those in which it may write; none is every scope.
	Scopes []merge.Scope
	// Expires is when the last of its grants is over; zero is never.
	Expires time.Time
	// Revoked says from when on it is banned for ever; nil when it is not.
	Revoked *Revoked
	// Voids are the ranges of what it wrote that count no more.
	Voids []Revoked
	// Successor is the key that took its place; empty when there is none.
	Successor merge.InstanceID
}

// Revoked is a ban of a member, as people see it.
type Revoked struct {
	// From and To are the first and the last stamp that count no more; a zero To
	// is for ever.
	From, To hlc.Timestamp
	Note     string
	// By is the name of who issued it, "root" for the root key.
	By string
	// At is when.
	At time.Time
}

// rightsOf joins what the grants and bans in force say of a member.
func (n *Node) rightsOf(m *fleet.Member, bans []fleet.Imposed) Rights {
	r := Rights{Successor: m.Successor}
	isAny, never := false, false
	var expires hlc.Timestamp
	now := hlc.Timestamp{Wall: n.store.Clock().Wall()}
	for _, g := range m.Grants {
		if !g.Expires.IsZero() && g.Expires.Before(now) && len(m.Grants) > 1 {
			continue // others may hold
		}
		never = never || g.Expires.IsZero()
		if g.Expires.After(expires) {
			expires = g.Expires
		}
		if g.Role == fleet.RoleAdmin {
			r.Capabilities, isAny = append(r.Capabilities, fleet.CapabilityAll), true
			continue
		}
		r.Capabilities = append(r.Capabilities, g.Capabilities...)
		isAny = isAny || len(g.Scopes) == 0
		for _, s := range g.Scopes {
			if !slices.Contains(r.Scopes, s) {
				r.Scopes = append(r.Scopes, s)
			}
		}
	}
	slices.Sort(r.Capabilities)
	r.Capabilities = slices.Compact(r.Capabilities)
	if slices.Contains(r.Capabilities, fleet.CapabilityAll) {
		r.Capabilities = []string{fleet.CapabilityAll}
	}
	if isAny {
		r.Scopes = nil
	}
	if !never && !expires.IsZero() {
		r.Expires = expires.Time()
	}
	n.addBans(&r, m, bans)
	return r
}

// addBans fills in the bans that reach a member, its own or one that it
// succeeded.
func (n *Node) addBans(r *Rights, m *fleet.Member, bans []fleet.Imposed) {
	for i := range bans {
		b := &bans[i]
		if !slices.Contains(n.lineage(b.Writer), m.ID) {
			continue
		}
		view := Revoked{From: b.From, Note: b.Note, By: n.issuerName(b.Issuer), At: b.Stamp.Time()}
		switch {
		case !b.To.IsZero():
			view.To = last(b.To)
			r.Voids = append(r.Voids, view)
		case m.Ban != nil && b.From == m.Ban.From && r.Revoked == nil:
			r.Revoked = &view
		}
	}
}

// last is the stamp before one that a range covers no more.
func last(to hlc.Timestamp) hlc.Timestamp {
	stamp, err := hlc.Unpack(to.Pack() - 1)
	if err != nil { // there is none before the first
		return to
	}
	return stamp
}

// overHere says that this instance belongs to the fleet no more; empty when it
// does, as far as it knows.
func (n *Node) overHere() string {
	m, ok := n.authority.Member(n.key.ID())
	if !ok || n.isActive(&m) {
		return ""
	}
	r := n.rightsOf(&m, n.authority.Bans())
	switch {
	case r.Revoked != nil:
		text := "this machine was revoked by " + r.Revoked.By + " at " + r.Revoked.At.UTC().Format(time.RFC3339)
		if r.Revoked.Note != "" {
			text += " (" + r.Revoked.Note + ")"
		}
		return text + ": nothing is exchanged with it any more; join anew in another --dir"
	case m.Successor != "":
		return "another key took the place of this one: nothing is exchanged with it any more"
	}
	return "the grant of this machine is over: nothing is exchanged with it any more; join anew in another --dir"
}
