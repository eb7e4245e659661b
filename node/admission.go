package node

import (
	"fmt"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// admission is the fleet's authority as the engine and local writers see it.
// It is safe for concurrent use.
type admission struct {
	authority *fleet.Authority
	// changed is called after a statement was learnt; it must not block.
	changed func()
}

// Check implements fleetsync.Admission.
func (a *admission) Check(r *merge.Record) error { return fleet.Check(r, a.authority.Fleet()) }

// Judge implements store.Judge.
func (a *admission) Judge(r *merge.Record) store.Reason {
	return store.Reason(a.authority.Judge(r).Cause)
}

// JudgeVersion implements store.Judge.
func (a *admission) JudgeVersion(k merge.Key, v merge.Version) (reason store.Reason, sure bool) {
	j, sure := a.authority.JudgeVersion(k, v)
	return store.Reason(j.Cause), sure
}

// Mark implements store.Judge.
func (a *admission) Mark() [32]byte { return a.authority.Mark() }

// Learn implements fleetsync.Admission.
func (a *admission) Learn(r *merge.Record) (changed bool) {
	changed, err := a.authority.Learn(r)
	if err != nil || !changed {
		return false
	}
	a.changed()
	return true
}

// admitLocal judges a local write; the provider turns an error into
// state.ErrDenied.
func (a *admission) admitLocal(r *merge.Record) error {
	if err := a.Check(r); err != nil {
		return err
	}
	switch j := a.authority.Judge(r); {
	case j.Admitted:
		return a.admitContent(r)
	case j.Cause == fleet.CauseAuthority:
		return fmt.Errorf("%s: ask an admin of the fleet for a grant", j.Reason)
	default:
		return fmt.Errorf("%s: ask an admin of the fleet", j.Reason)
	}
}

// admitContent refuses what the fleet has withdrawn when somebody here writes it
// anew: another version, with a digest of its own. It binds nobody else.
func (a *admission) admitContent(r *merge.Record) error {
	content, ok := state.SkillDigest(r)
	if !ok || !a.authority.WithdrawnContent(r.Key.Kind, content) {
		return nil
	}
	why := ""
	for _, w := range a.authority.Withdrawals() {
		if w.Content == content && w.Note != "" {
			why = " (" + w.Note + ")"
		}
	}
	return fmt.Errorf("the fleet has withdrawn this text%s: write another one", why)
}
