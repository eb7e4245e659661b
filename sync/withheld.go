package sync

import (
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// What a node does not share it says, so that partners do not wait for it: whole
// families to everybody, and a section of a family that it shares otherwise to
// who has just named it. To others it names none: names of projects are theirs
// who share them.

// withhold notes a family that is not shared here, once a peer or this build
// has named it.
func (e *Engine) withhold(family string) {
	if e.cfg.Sharing.SharesFamily(family) || len(e.withheld) == sectionsMax {
		return
	}
	if at, found := slices.BinarySearch(e.withheld, family); !found {
		e.withheld = slices.Insert(e.withheld, at, family)
	}
}

// withheldOf returns the ids of the sections of a list of heads that are not
// shared here, though others of their families are.
func (e *Engine) withheldOf(h *Heads) (ids []string) {
	for i := range h.Sections {
		s, err := merge.ParseSectionID(h.Sections[i].Section)
		if err == nil && !e.cfg.Sharing.Shares(s) && e.cfg.Sharing.SharesFamily(s.Family) {
			ids = append(ids, h.Sections[i].Section)
		}
	}
	return ids
}

// takeWithheld notes what a peer says that it does not share. It can only say so
// of a section that it was told of.
func (e *Engine) takeWithheld(p *peer, h *Heads) {
	p.withheld = h.Withheld
	for _, id := range h.WithheldSections {
		section, err := merge.ParseSectionID(id)
		if err == nil && e.store.State(section).Count > 0 && e.cfg.Sharing.Shares(section) {
			r := p.remote.named(section, id)
			r.withheld = p.remote.messages
			p.unwant(section)
		}
	}
}

// withholds reports whether a peer has said that it does not share a section, and
// nothing else since.
func (p *peer) withholds(s merge.Section) bool {
	if slices.Contains(p.withheld, s.Family) {
		return true
	}
	r := p.remote.of[s]
	return r != nil && r.withheld > r.told
}
