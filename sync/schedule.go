package sync

import (
	"cmp"
	"slices"

	"github.com/fleetsync/fleetd/merge"
)

// Which exchanges run: one a peer, one a section, pullsMax in all. A peer may
// make its own last for ever, by pages without end or by none: so those who
// wait take turns, and a pull that brings nothing new for long takes no place of
// others, nor does the next of that peer before it brings something.

// schedule begins as many pulls as the bounds allow, fleet statements of a peer
// before its other sections, and blobs after all of them.
func (e *Engine) schedule() {
	e.schedulePulls()
	e.lend()
	e.scheduleBlobs()
}

func (e *Engine) schedulePulls() {
	waiting := e.waiting()
	if len(waiting) == 0 {
		return
	}
	running, count := e.running()
	for _, p := range waiting {
		if count >= pullsMax {
			return
		}
		for _, w := range p.wants.list {
			if running[w.section] || e.isFilling(p, w.section) {
				if w.section.Family == FleetFamily {
					break // the rest waits for it
				}
				continue
			}
			running[w.section] = true
			count++
			e.begin(p, w)
			break
		}
	}
}

// isFilling reports whether a peer that holds less of a section than this node
// is fetching it from here by pages. Its feed would name one after the other what
// it was just given; when it is done, both compare.
func (e *Engine) isFilling(p *peer, section merge.Section) bool {
	return p.fills == section && section.Family != FleetFamily && e.now.Sub(p.fillsAt) < e.cfg.RequestTimeout/4 &&
		p.remote.section(section).count < uint64(e.store.State(section).Count)
}

// waiting returns the peers of whom something may be pulled now: whoever waits
// for longest first, and after all others those who had nothing new.
func (e *Engine) waiting() []*peer {
	var waiting []*peer
	for _, id := range e.order {
		if p := e.peers[id]; len(p.wants.list) > 0 && p.pull == nil && p.greeted && !e.now.Before(p.notBefore) {
			waiting = append(waiting, p)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *peer) int {
		switch {
		case a.barren != b.barren && a.barren:
			return 1
		case a.barren != b.barren:
			return -1
		}
		return cmp.Compare(a.turn, b.turn)
	})
	return waiting
}

// running returns the sections that are being pulled and how many pulls there
// are, without those that bring nothing new. Of these it gives up those that have
// for longest when there are too many.
func (e *Engine) running() (map[merge.Section]bool, int) {
	sections := map[merge.Section]bool{}
	var barren []*pull
	count := 0
	for _, id := range e.order {
		switch pl := e.peers[id].pull; {
		case pl == nil:
		case e.barren(pl):
			barren = append(barren, pl)
		default:
			sections[pl.section] = true
			count++
		}
	}
	slices.SortStableFunc(barren, func(a, b *pull) int { return a.newsAt.Compare(b.newsAt) })
	for _, pl := range barren[:max(0, len(barren)-pullsBarrenMax)] {
		pl.peer.notBefore = e.now.Add(e.cfg.HeartbeatEvery)
		e.abort(pl)
	}
	return sections, count
}

// barren reports whether a pull has brought nothing new for as long as an answer
// may take, or nothing yet when those before it were so; and not because this
// node has yet to look at what came.
func (e *Engine) barren(pl *pull) bool {
	if slices.ContainsFunc(pl.steps, func(st *step) bool { return st.storing || st.verifying > 0 }) {
		return false
	}
	pl.peer.barren = pl.peer.barren || e.now.Sub(pl.newsAt) >= e.cfg.RequestTimeout
	return pl.peer.barren
}
