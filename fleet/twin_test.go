package fleet_test

import (
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// twin is the rule of admission written down naively: it knows all statements
// from the start and searches them for every answer.
type twin struct {
	root  merge.InstanceID
	valid []twinGrant // in merge order
}

type twinGrant struct {
	fleet.Grant
	rec *merge.Record
}

func newTwin(recs []*merge.Record, root merge.InstanceID) twin {
	w := twin{root: root}
	sorted := slices.Clone(recs)
	slices.SortFunc(sorted, func(a, b *merge.Record) int { return merge.Compare(a.Version(), b.Version()) })
	sorted = slices.CompactFunc(sorted, func(a, b *merge.Record) bool { return a.Hash() == b.Hash() })
	for _, rec := range sorted {
		g, err := fleet.GrantOf(rec)
		if err != nil {
			panic(err)
		}
		if writer := rec.Envelope.LastWriterID; writer == root ||
			g.Role == fleet.RoleMember && w.isAdmin(recs, writer, rec.Envelope.UpdatedHLC) {
			w.valid = append(w.valid, twinGrant{g, rec})
		}
	}
	return w
}

func within(stamp, from, to hlc.Timestamp) bool {
	return stamp.Compare(from) >= 0 && (to.IsZero() || stamp.Compare(to) < 0)
}

// isAdmin looks for a grant of an admin that root itself has signed.
func (w twin) isAdmin(recs []*merge.Record, id merge.InstanceID, stamp hlc.Timestamp) bool {
	for _, rec := range recs {
		g, err := fleet.GrantOf(rec)
		if err == nil && rec.Envelope.LastWriterID == w.root && g.Member == id && g.Role == fleet.RoleAdmin &&
			within(stamp, g.Issued, g.Expires) {
			return true
		}
	}
	return false
}

func (w twin) admits(rec *merge.Record) bool {
	if rec.Key.Kind == "fleet.grant" {
		return slices.ContainsFunc(w.valid, func(g twinGrant) bool { return g.rec.Hash() == rec.Hash() })
	}
	family := strings.SplitN(rec.Key.Kind, ".", 2)[0]
	for _, g := range w.valid {
		if g.Member != rec.Envelope.LastWriterID || !within(rec.Envelope.UpdatedHLC, g.Issued, g.Expires) {
			continue
		}
		if g.Role == fleet.RoleAdmin {
			return true
		}
		if inScopes(rec.Key.Scope, g.Scopes) && (slices.Contains(g.Capabilities, family) || slices.Contains(g.Capabilities, "*")) {
			return true
		}
	}
	return false
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

// names returns for each member the name of its newest grant, and whether it
// is the first of all who have that name now.
func (w twin) names() map[string]string {
	current := map[merge.InstanceID]string{}
	for _, g := range w.valid {
		current[g.Member] = g.Name
	}
	names := map[string]string{}
	for member, name := range current {
		names[member.String()] = name
		for _, g := range w.valid {
			if g.Name == name && current[g.Member] == name {
				if g.Member == member {
					names[member.String()] += " (first)"
				}
				break
			}
		}
	}
	return names
}
