package sync

import (
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Progress is how far a pull has come, in versions.
type Progress struct {
	Section merge.Section
	// Expected is how many more the peer held than this node when the pull began.
	Expected uint64
	// Received is how many more this node holds since, from whomever, at most
	// Expected.
	Received uint64
	// Join says that this node held less than half of the section then.
	Join bool
}

// aim is what a pull began with.
type aim struct{ mine, theirs uint64 }

func newAim(mine store.SectionState, theirs *remote) aim {
	return aim{uint64(mine.Count), theirs.count}
}

// progress returns how far a pull has come; nil for one of which nobody knows
// what it will bring.
func (pl *pull) progress(mine store.SectionState) *Progress {
	if pl.aim.theirs <= pl.aim.mine {
		return nil
	}
	now := max(uint64(mine.Count), pl.aim.mine)
	p := &Progress{Section: pl.section, Expected: pl.aim.theirs - pl.aim.mine, Join: 2*pl.aim.mine < pl.aim.theirs}
	p.Received = min(now-pl.aim.mine, p.Expected)
	return p
}

// countRepaired counts what a pull by ranges brought into a section whose rows
// were found damaged: what is lacking there was lost.
func (e *Engine) countRepaired(pl *pull, applied int) {
	if pl.mode == byRanges && e.store.State(pl.section).Suspect {
		e.counters.Repaired += uint64(applied)
	}
}

// tellWhy adds to the state of a peer why it is as it is.
func (e *Engine) tellWhy(st *PeerState, p *peer, mine []ownSection) {
	if p.pull != nil {
		st.Pull = p.pull.progress(e.store.State(p.pull.section))
	}
	st.IsWaiting = p.pull == nil && len(p.wants.list) > 0
	st.IsBusy = e.now.Before(p.busyUntil)
	for _, own := range mine {
		if own.Count == 0 || !p.withholds(own.Section) {
			continue
		}
		switch f := own.Section.Family; {
		case !slices.Contains(p.withheld, f):
			st.WithholdsSections = append(st.WithholdsSections, own.Section)
		case !slices.Contains(st.Withholds, f):
			st.Withholds = append(st.Withholds, f) // sections are in order of their families
		}
	}
	for _, section := range st.Differing {
		r := p.remote.of[section]
		st.IsRefused = st.IsRefused || r != nil && r.refusedRoom == e.rooms && e.now.Before(r.refusedUntil)
	}
}
