package sync

import (
	"cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// LearnHeld gives every held fleet statement of a store to admission, as
// often as needed for statements that stand on others. Its owner calls it once
// before New. Errors: those of the store.
func LearnHeld(st *store.Store, admission Admission) error {
	return st.View(func(r *store.Reader) error {
		for changed := true; changed; {
			changed = false
			for _, s := range st.Sections() {
				if s.Section.Family != FleetFamily {
					continue
				}
				learnt, err := learnSection(r, s.Section, admission)
				if err != nil {
					return err
				}
				changed = changed || learnt
			}
		}
		return nil
	})
}

func learnSection(r *store.Reader, section merge.Section, admission Admission) (changed bool, err error) {
	var failed error
	err = r.Range(section, "", func(key merge.Key, held []store.Held) bool {
		for _, h := range held {
			record, err := r.Load(key, h)
			if err != nil {
				failed = err
				return false
			}
			if admission.Judge(&record) == 0 && admission.Learn(&record) {
				changed = true
			}
		}
		return true
	})
	return changed, cmp.Or(failed, err)
}

// learn takes a statement into account that is on its way into the store.
func (e *Engine) learn(r *merge.Record) {
	if e.admission.Judge(r) == 0 && e.admission.Learn(r) {
		e.reconsider = true
	}
}

// relearn learns the held statements again when the fleet sections have
// changed since: one may have come in past the engine, as a local write that
// the disk had denied and that is there all the same.
func (e *Engine) relearn() {
	var sum store.Sum
	for _, s := range e.store.Sections() {
		if s.Section.Family == FleetFamily {
			sum = sum.Join(s.Sum)
		}
	}
	if sum == e.learnt {
		return
	}
	if err := LearnHeld(e.store, e.admission); err != nil {
		e.counters.StoreErrors++
		return
	}
	e.learnt, e.reconsider = sum, true
}
