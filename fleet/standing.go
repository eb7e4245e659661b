package fleet

import (
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// standing is what the statements in force say of one key. It changes only
// while a snapshot is made.
type standing struct {
	Member

	own  []*stated // grants for this key
	bans []*stated // of this key
	hit  []*stated // bans that reach it: its own, then those of its predecessors

	predecessor, successor *standing
	// succession is the statement by which it followed its predecessor.
	succession *stated
	// asAdmin says that its predecessor was an admin then: only so the role of
	// an admin is passed on, and statements by it are closed and banned with
	// its predecessor's.
	asAdmin bool
	// depth counts its predecessors.
	depth int
	// protected says that root made it, or a predecessor whose role it has, an
	// admin: only root bans it.
	protected bool
}

// admin returns the grant that makes the key an admin at a stamp, its own or
// one that it inherits; nil, and why, when there is none.
func (k *standing) admin(stamp hlc.Timestamp) (g *stated, reason string) {
	reason = reasonNoAdmin
	for at := k; at != nil; at = at.predecessor {
		for _, g := range at.own {
			switch {
			case g.grant.Role != RoleAdmin:
			case g.grant.includes(stamp):
				return g, ""
			case g.grant.expired(stamp):
				reason = reasonExpired
			case reason == reasonNoAdmin:
				reason = reasonBefore
			}
		}
		if !at.asAdmin {
			break
		}
		if stamp.Before(at.succession.stamp()) {
			if reason == reasonNoAdmin {
				reason = reasonBefore // its predecessor was one
			}
			break
		}
	}
	return nil, reason
}

// grantAt returns a grant that covers a stamp, the key's own or one that it
// inherits, whatever it lists; nil when there is none.
func (k *standing) grantAt(stamp hlc.Timestamp) *stated {
	withAdmin := true
	for at := k; at != nil; at = at.predecessor {
		for _, g := range at.own {
			if g.grant.includes(stamp) && (withAdmin || g.grant.Role != RoleAdmin) {
				return g
			}
		}
		if at.predecessor == nil || stamp.Before(at.succession.stamp()) {
			break
		}
		withAdmin = withAdmin && at.asAdmin
	}
	return nil
}

// struckBy returns the first ban that takes a statement by the key out of
// force; nil when there is none. As an admin, which is protected, it answers
// for those alone whose role it has.
func (k *standing) struckBy(st *stated, asAdmin bool) *stated {
	shielded := false
	for at := k; at != nil; at = at.predecessor {
		shielded = shielded || at.protected
		for _, b := range at.bans {
			if (b.byRoot || !shielded) && b.ban.strikes(st) {
				return b
			}
		}
		if asAdmin && !at.asAdmin {
			break
		}
	}
	return nil
}

// reached returns the bans that hit what the key writes. A ban hits successors
// too, but an admin's none that only root may ban.
func (k *standing) reached() []*stated {
	var hit []*stated
	shielded := false
	for at := k; at != nil; at = at.predecessor {
		shielded = shielded || at.protected
		for _, b := range at.bans {
			if b.byRoot || !shielded {
				hit = append(hit, b)
			}
		}
	}
	return hit
}

// inherit fills in Grants: the key's own and, from its succession on, those of
// its predecessor, which has to be filled in before.
func (k *standing) inherit() {
	k.Grants = make([]Granted, 0, len(k.own))
	for _, g := range k.own {
		k.Grants = append(k.Grants, Granted{Grant: g.grant, Issuer: g.issuer(), Stamp: g.stamp(), statement: g})
	}
	if k.predecessor != nil {
		for _, g := range k.predecessor.Grants {
			if g.Issued.Before(k.succession.stamp()) {
				g.Issued = k.succession.stamp()
			}
			if !g.expired(g.Issued) && (k.asAdmin || g.Role != RoleAdmin) {
				k.Grants = append(k.Grants, g)
			}
		}
	}
	slices.SortFunc(k.Grants, func(a, b Granted) int { return compareStated(a.statement, b.statement) })
	for _, g := range k.Grants {
		k.Role = max(k.Role, g.Role)
	}
}

// settle fills in what callers see but the name; its predecessor comes first.
func (k *standing) settle() {
	if k.Grants != nil {
		return
	}
	if k.predecessor != nil {
		k.predecessor.settle()
		k.Predecessor = k.predecessor.ID
	}
	if k.successor != nil {
		k.Successor, k.Closed = k.successor.ID, k.successor.succession.stamp()
	}
	k.inherit()
	k.hit = k.reached()
	for _, b := range k.hit {
		if b.ban.To.IsZero() && (k.Ban == nil || b.ban.From.Before(k.Ban.From)) {
			k.Ban = &b.ban
		}
	}
}

// newest returns the last key of its lineage, the one that is in use.
func (k *standing) newest() *standing {
	for k.successor != nil {
		k = k.successor
	}
	return k
}

// closedAt reports whether the key had been succeeded at a stamp.
func (k *standing) closedAt(stamp hlc.Timestamp) bool {
	return k.successor != nil && !stamp.Before(k.successor.succession.stamp())
}

// bannedAt returns a ban that covers a stamp of the key.
func (k *standing) bannedAt(stamp hlc.Timestamp) *stated {
	for _, b := range k.hit {
		if b.ban.covers(stamp) {
			return b
		}
	}
	return nil
}

// ids returns the key and its successors.
func (k *standing) ids() []merge.InstanceID {
	var ids []merge.InstanceID
	for at := k; at != nil; at = at.successor {
		ids = append(ids, at.ID)
	}
	return ids
}
