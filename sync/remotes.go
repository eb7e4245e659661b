package sync

import (
	"cmp"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// remotes are the sections of a peer, found by their names and walked in the
// order of their ids, in which messages list them.
type remotes struct {
	of       map[merge.Section]*remote
	sorted   []*remote // by id
	fresh    []*remote // not among sorted yet
	messages uint64    // lists of heads that were taken
}

func newRemotes() remotes { return remotes{of: map[merge.Section]*remote{}} }

// section returns what is known of a section, which may be nothing.
func (rs *remotes) section(s merge.Section) *remote {
	if r := rs.of[s]; r != nil {
		return r
	}
	return rs.named(s, s.ID())
}

// named is section for a caller that has the id.
func (rs *remotes) named(s merge.Section, id string) *remote {
	r := rs.of[s]
	if r == nil {
		r = &remote{section: s, id: id}
		rs.of[s] = r
		rs.fresh = append(rs.fresh, r)
	}
	return r
}

// isTold reports whether the message that is being taken lists a section.
func (rs *remotes) isTold(s merge.Section) bool {
	r := rs.of[s]
	return r != nil && r.told == rs.messages
}

// within returns the sections that a list of heads speaks of, by id.
func (rs *remotes) within(h *Heads) []*remote {
	if len(rs.fresh) > 0 {
		slices.SortFunc(rs.fresh, compareRemotes)
		rs.sorted = mergeRemotes(rs.sorted, rs.fresh)
		rs.fresh = nil
	}
	from, to := h.bounds(len(rs.sorted), func(i int) string { return rs.sorted[i].id })
	return rs.sorted[from:to]
}

func compareRemotes(a, b *remote) int { return cmp.Compare(a.id, b.id) }

// mergeRemotes merges two lists in order.
func mergeRemotes(a, b []*remote) []*remote {
	merged := make([]*remote, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareRemotes(a[0], b[0]) < 0 {
			merged, a = append(merged, a[0]), a[1:]
			continue
		}
		merged, b = append(merged, b[0]), b[1:]
	}
	return append(append(merged, a...), b...)
}
