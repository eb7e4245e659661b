package fleet_test

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// twin is the rule of admission written down naively: it knows all statements
// from the start, takes them stage by stage, and searches all of them for every
// answer.
type twin struct {
	root    merge.InstanceID
	all     []twinStatement // in merge order
	in      map[merge.Hash]bool
	asAdmin map[merge.Hash]bool // successions that count as an admin's
}

type twinStatement struct {
	rec    *merge.Record
	hash   merge.Hash
	issuer merge.InstanceID
	stamp  hlc.Timestamp
	grant  fleet.Grant
	ban    fleet.Ban
	floor  fleet.Floor
}

func (t twinStatement) is(kind string) bool { return t.rec.Key.Kind == kind }
func (t twinStatement) grants() bool        { return t.is("fleet.grant") && !t.succeeds() }
func (t twinStatement) succeeds() bool      { return t.grant.Role == fleet.RoleSuccessor }
func (t twinStatement) bans() bool          { return t.is("fleet.ban") && t.ban.Writer != "" }
func (t twinStatement) withdraws() bool     { return t.is("fleet.ban") && t.ban.Writer == "" }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newTwin(recs []*merge.Record, root merge.InstanceID) twin {
	w := twin{root: root, in: map[merge.Hash]bool{}, asAdmin: map[merge.Hash]bool{}}
	for _, rec := range recs {
		w.all = append(w.all, readTwin(rec))
	}
	slices.SortFunc(w.all, func(a, b twinStatement) int { return merge.Compare(a.rec.Version(), b.rec.Version()) })
	w.all = slices.CompactFunc(w.all, func(a, b twinStatement) bool { return a.hash == b.hash })
	w.evaluate()
	return w
}

func readTwin(rec *merge.Record) twinStatement {
	t := twinStatement{rec: rec, hash: rec.Hash(), issuer: rec.Envelope.LastWriterID, stamp: rec.Envelope.UpdatedHLC}
	switch rec.Key.Kind {
	case "fleet.grant":
		t.grant = must(fleet.GrantOf(rec))
	case "fleet.ban":
		t.ban = must(fleet.BanOf(rec))
	case "fleet.floor":
		t.floor = must(fleet.FloorOf(rec))
	}
	return t
}

// evaluate finds what is in force, stage by stage. What one stage finds good is
// in force when the next looks, and for successions when the next of them does.
func (w twin) evaluate() {
	w.admit(func(t twinStatement) bool { return t.issuer == w.root && !t.succeeds() })
	for _, asAdmin := range []bool{true, false} {
		for _, t := range w.all {
			if t.succeeds() && w.isAdmin(t.issuer, t.stamp) == asAdmin && w.maySucceed(t, asAdmin) {
				w.in[t.hash], w.asAdmin[t.hash] = true, asAdmin
			}
		}
		if asAdmin {
			w.admit(func(t twinStatement) bool { return t.issuer != w.root && !t.succeeds() && w.mayState(t) })
		}
	}
}

// admit puts all into force that are good now.
func (w twin) admit(isGood func(twinStatement) bool) {
	var good []merge.Hash
	for _, t := range w.all {
		if isGood(t) {
			good = append(good, t.hash)
		}
	}
	for _, h := range good {
		w.in[h] = true
	}
}

// those returns the statements in force that f likes.
func (w twin) those(f func(twinStatement) bool) []twinStatement {
	var found []twinStatement
	for _, t := range w.all {
		if w.in[t.hash] && f(t) {
			found = append(found, t)
		}
	}
	return found
}

func within(stamp, from, to hlc.Timestamp) bool {
	return stamp.Compare(from) >= 0 && (to.IsZero() || stamp.Compare(to) < 0)
}

// before returns the succession by which a key came about, after the one by
// which it ended.
func (w twin) before(id merge.InstanceID) []twinStatement {
	return w.those(func(t twinStatement) bool { return t.succeeds() && t.grant.Member == id })
}

func (w twin) after(id merge.InstanceID) []twinStatement {
	return w.those(func(t twinStatement) bool { return t.succeeds() && t.issuer == id })
}

// grantsAt returns the grants that a key has at a stamp.
func (w twin) grantsAt(id merge.InstanceID, stamp hlc.Timestamp) []twinStatement {
	grants := w.those(func(t twinStatement) bool {
		return t.grants() && t.grant.Member == id && within(stamp, t.grant.Issued, t.grant.Expires)
	})
	for _, s := range w.before(id) {
		for _, g := range w.grantsAt(s.issuer, stamp) {
			if stamp.Compare(s.stamp) >= 0 && (w.asAdmin[s.hash] || g.grant.Role != fleet.RoleAdmin) {
				grants = append(grants, g)
			}
		}
	}
	return grants
}

func (w twin) isAdmin(id merge.InstanceID, stamp hlc.Timestamp) bool {
	return slices.ContainsFunc(w.grantsAt(id, stamp), func(g twinStatement) bool { return g.grant.Role == fleet.RoleAdmin })
}

// onlyRootBans: root made it an admin at any time, or one whose role it has.
func (w twin) onlyRootBans(id merge.InstanceID) bool {
	made := w.those(func(t twinStatement) bool { return t.grant.Member == id && t.grant.Role == fleet.RoleAdmin })
	return len(made) > 0 || slices.ContainsFunc(w.before(id), func(s twinStatement) bool { return w.asAdmin[s.hash] })
}

// bansOn returns the bans that reach a key, as an admin or as whatever it is.
func (w twin) bansOn(id merge.InstanceID, asAdmin bool) []twinStatement {
	bans := w.those(func(t twinStatement) bool { return t.bans() && t.ban.Writer == id && (t.issuer == w.root || !asAdmin) })
	for _, s := range w.before(id) {
		if asAdmin && !w.asAdmin[s.hash] {
			continue
		}
		for _, b := range w.bansOn(s.issuer, asAdmin) {
			if b.issuer == w.root || !w.onlyRootBans(id) {
				bans = append(bans, b)
			}
		}
	}
	return bans
}

func (w twin) struck(t twinStatement, asAdmin bool) bool {
	return slices.ContainsFunc(w.bansOn(t.issuer, asAdmin), func(b twinStatement) bool {
		return (b.ban.To.IsZero() || within(t.stamp, b.ban.From, b.ban.To)) && !slices.Contains(b.ban.Stands, t.hash)
	})
}

func (w twin) maySucceed(t twinStatement, asAdmin bool) bool {
	isOld := w.those(func(o twinStatement) bool {
		return o.grants() && o.grant.Member == t.grant.Member && merge.Compare(o.rec.Version(), t.rec.Version()) < 0
	})
	return len(isOld) == 0 && len(w.before(t.grant.Member)) == 0 && len(w.after(t.grant.Member)) == 0 &&
		len(w.grantsAt(t.issuer, t.stamp)) > 0 && len(w.after(t.issuer)) == 0 && !w.struck(t, asAdmin)
}

func (w twin) mayState(t twinStatement) bool {
	if !w.isAdmin(t.issuer, t.stamp) || w.struck(t, true) || t.grant.Role == fleet.RoleAdmin ||
		t.bans() && w.onlyRootBans(t.ban.Writer) {
		return false
	}
	return !slices.ContainsFunc(w.after(t.issuer), func(s twinStatement) bool {
		return w.asAdmin[s.hash] && t.stamp.Compare(s.stamp) >= 0
	})
}

func (w twin) admits(rec *merge.Record) bool {
	if strings.HasPrefix(rec.Key.Kind, "fleet.") {
		if slices.ContainsFunc(w.all, func(t twinStatement) bool { return t.hash == rec.Hash() }) {
			return w.in[rec.Hash()]
		}
		recs := []*merge.Record{rec}
		for _, t := range w.all {
			recs = append(recs, t.rec)
		}
		return newTwin(recs, w.root).in[rec.Hash()]
	}
	writer, stamp := rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC
	return len(w.against(rec)) == 0 &&
		!slices.ContainsFunc(w.after(writer), func(s twinStatement) bool { return stamp.Compare(s.stamp) >= 0 }) &&
		slices.ContainsFunc(w.grantsAt(writer, stamp), func(g twinStatement) bool { return permits(g.grant, rec.Key) })
}

// against returns the bans, withdrawals and floors that speak against a record.
func (w twin) against(rec *merge.Record) []twinStatement {
	writer, stamp := rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC
	bans := w.bansOn(writer, false)
	order := sha256.Sum256([]byte(rec.Key.Kind + "\x00" + string(rec.Key.ID)))
	return w.those(func(t twinStatement) bool {
		switch {
		case t.bans():
			reaches := slices.ContainsFunc(bans, func(b twinStatement) bool { return b.hash == t.hash })
			return reaches && within(stamp, t.ban.From, t.ban.To)
		case t.withdraws():
			return t.ban.Kind == rec.Key.Kind && t.ban.Digest == fleet.Digest(rec)
		case t.is("fleet.floor"):
			return t.floor.Section == rec.Key.Section() && slices.ContainsFunc(t.floor.Entries, func(e fleet.FloorEntry) bool {
				return string(e.Key[:]) == string(order[:8]) && stamp.Compare(e.Stamp) <= 0
			})
		}
		return false
	})
}

func permits(g fleet.Grant, key merge.Key) bool {
	family := strings.SplitN(key.Kind, ".", 2)[0]
	return g.Role == fleet.RoleAdmin ||
		inScopes(key.Scope, g.Scopes) && (slices.Contains(g.Capabilities, family) || slices.Contains(g.Capabilities, "*"))
}

func inScopes(scope merge.Scope, granted []merge.Scope) bool {
	for _, s := range granted {
		differs := s.Instance != "" && s.Instance != scope.Instance ||
			s.Project != "" && s.Project != scope.Project ||
			s.Workspace != "" && s.Workspace != scope.Workspace
		if !differs {
			return true
		}
	}
	return len(granted) == 0
}

// lineage returns the newest key of the instance that has this one.
func (w twin) lineage(id merge.InstanceID) merge.InstanceID {
	for _, s := range w.after(id) {
		return w.lineage(s.grant.Member)
	}
	return id
}

// names returns for each member the name of the newest grant of its lineage,
// and whether it holds it: it is the newest key of the first lineage of all
// that have that name now.
func (w twin) names() map[string]string {
	current := map[merge.InstanceID]string{} // by lineage
	members := map[merge.InstanceID]bool{}
	grants := w.those(twinStatement.grants)
	for _, g := range grants {
		current[w.lineage(g.grant.Member)] = g.grant.Name
		members[g.grant.Member] = true
	}
	for _, s := range w.those(twinStatement.succeeds) {
		members[s.grant.Member] = true
	}
	names := map[string]string{}
	for member := range members {
		name := current[w.lineage(member)]
		names[member.String()] = name
		for _, g := range grants {
			if lineage := w.lineage(g.grant.Member); g.grant.Name == name && current[lineage] == name {
				if lineage == member {
					names[member.String()] += " (first)"
				}
				break
			}
		}
	}
	return names
}

// mark is Authority.Mark.
func (w twin) mark() (mark [32]byte) {
	var hashed []byte
	for _, t := range w.those(func(t twinStatement) bool { return !t.grants() }) {
		hashed = append(hashed, t.hash[:]...)
		if w.asAdmin[t.hash] {
			hashed = append(hashed, 1)
		} else {
			hashed = append(hashed, 0)
		}
	}
	if hashed == nil {
		return mark
	}
	return sha256.Sum256(hashed)
}
