package simulation

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// GrantLimit is what the grant of a replica leaves out.
type GrantLimit uint8

// The limits.
const (
	LimitNone   GrantLimit = iota
	LimitScope             // it may write within one project alone
	LimitFamily            // it may write memory alone
	LimitTime              // it may write for half a minute
)

// grantLimits are their names.
var grantLimits = [...]string{"none", "scope", "family", "time"}

// limitedFor is how long a grant lasts that is limited in time.
const limitedFor = 30 * time.Second

// expiry is the first stamp that such a grant covers no more.
func expiry() hlc.Timestamp { return hlc.Timestamp{Wall: epoch().Add(limitedFor).UnixMilli()} }

// limited writes a limit into a grant.
func (l GrantLimit) limited(g fleet.Grant) fleet.Grant {
	switch l {
	case LimitScope:
		g.Scopes = []merge.Scope{{Project: "web"}}
	case LimitFamily:
		g.Capabilities = []string{"memory"}
	case LimitTime:
		g.Expires = expiry()
	default: // it may write everything, always
	}
	return g
}

// allows says what may be written under a limit. It shares no code with package
// fleet.
func (l GrantLimit) allows(rec *merge.Record) bool {
	switch l {
	case LimitScope:
		return rec.Key.Scope.Project == "web"
	case LimitFamily:
		return rec.Key.Family() == "memory"
	case LimitTime:
		return rec.Envelope.UpdatedHLC.Before(expiry())
	default:
		return true
	}
}

// allows reports whether the grant of its writer covers a version, if the fleet
// takes anything of it at all.
func (m *model) allows(rec *merge.Record) bool {
	n := m.cluster.numberOf(rec.Envelope.LastWriterID)
	return n < 0 || m.cluster.plan.Limits[n].allows(rec)
}

// permit judges a write of its own, as a node does; of a replica without a limit
// nothing, since what it writes before its grant comes is parked by others. What
// is refused must be what its grant does not cover, and the other way round.
func (r *Replica) permit(rec *merge.Record) error {
	m := r.cluster.model
	n := r.cluster.numberOf(rec.Envelope.LastWriterID)
	judged := r.process.authority.Authority.Judge(rec)
	if taken := !judged.Admitted && judged.Cause != fleet.CauseAuthority; taken && n >= 0 {
		if !m.mayBeTakenAway(rec) {
			r.cluster.fail(InvariantAuthority, "replica %d may not write %s %s, which nobody has taken away: %s", r.number, rec.Key, rec.Envelope.UpdatedHLC, judged.Reason)
		}
		r.cluster.cover.sometimes(SometimesDenied)
		return fmt.Errorf("%w: %s", state.ErrDenied, judged.Reason)
	}
	if n < 0 || r.cluster.plan.Limits[n] == LimitNone {
		return nil
	}
	_, known := r.process.authority.Member(rec.Envelope.LastWriterID)
	switch allowed := m.allows(rec); {
	case judged.Admitted && !allowed:
		r.cluster.fail(InvariantAuthority, "replica %d may write %s %s, which its grant does not cover", r.number, rec.Key, rec.Envelope.UpdatedHLC)
	case !judged.Admitted && allowed && known:
		r.cluster.fail(InvariantAuthority, "replica %d may not write %s %s, which its grant covers: %s", r.number, rec.Key, rec.Envelope.UpdatedHLC, judged.Reason)
	}
	if judged.Admitted {
		return nil
	}
	r.cluster.cover.sometimes(SometimesDenied)
	return fmt.Errorf("%w: %s", state.ErrDenied, judged.Reason)
}
