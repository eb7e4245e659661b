package sync

import (
	"github.com/fleetsync/fleetd/store"
)

// audit compares every item of a part of a section with a peer that seems to
// hold the same. Who may write can craft two sets of equal count and sum, and so
// hide from all others what one of them lacks; nobody can craft it for the
// hashes of all items.
func (e *Engine) audit() {
	if len(e.order) == 0 || !e.store.Ready() {
		return
	}
	p := e.peers[e.order[e.random(len(e.order))]]
	var equal []ownSection
	for _, own := range e.sections() {
		if r := p.remote.of[own.Section]; own.Count > 0 && r != nil && r.isEqual && !p.withholds(own.Section) && r.equal.Sum == own.Sum {
			equal = append(equal, own)
		}
	}
	if !p.greeted || len(equal) == 0 {
		return
	}
	own := equal[e.random(len(equal))]
	var parts []store.Part
	err := e.store.View(func(r *store.Reader) (err error) {
		parts, err = r.Parts(own.Section, store.Span{}, int(own.Count)/auditCountGoal+1)
		return err
	})
	if err != nil {
		e.counters.StoreErrors++
		return
	}
	i := e.random(len(parts))
	span := store.Span{UpTo: parts[i].UpTo}
	if i > 0 {
		span.After = parts[i-1].UpTo
	}
	e.counters.Audits++
	p.want(wish{section: own.Section, audit: &span})
}
