package fleet

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fleetsync/fleetd/merge"
)

// Authority is the set of a fleet's statements that were learnt, and what
// follows from those of them that are in force. It is safe for concurrent use:
// readers see one immutable snapshot each and never wait.
type Authority struct {
	fleet merge.FleetID

	mu       sync.Mutex // held by writers, one at a time
	snapshot atomic.Pointer[snapshot]
}

// NewAuthority returns the authority of a fleet of which only the id is known:
// nobody but its root is trusted yet.
func NewAuthority(fleet merge.FleetID) *Authority {
	a := &Authority{fleet: fleet}
	a.snapshot.Store(evaluate(nil, nil))
	return a
}

// Fleet returns the id of the fleet.
func (a *Authority) Fleet() merge.FleetID { return a.fleet }

// Learn adds one statement, whose signature the caller has verified. changed
// says that judgements may differ from now on, so that the caller judges what
// it parked, and what it holds, again. A statement that Judge does not admit is
// not kept: the caller parks it, and learns it again when it is admitted. One
// that was learnt stays known, in force or not, and may come into force again.
// Errors: those of Check, and ErrMalformed for a record of another family.
func (a *Authority) Learn(rec *merge.Record) (changed bool, err error) {
	return a.LearnAll([]*merge.Record{rec})
}

// LearnAll is Learn of many statements at once, in any order. It adds none
// when it returns an error.
func (a *Authority) LearnAll(recs []*merge.Record) (changed bool, err error) {
	news := make([]*stated, 0, len(recs))
	for _, rec := range recs {
		if err := Check(rec, a.fleet); err != nil {
			return false, err
		}
		if rec.Key.Family() != Family {
			return false, fmt.Errorf("%w: %s is not a statement", ErrMalformed, rec.Key)
		}
		st, err := read(rec)
		if err != nil {
			return false, err
		}
		if st.topic != topicOther && st.topic != topicRole {
			news = append(news, st)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	next, changed := a.snapshot.Load().with(news)
	a.snapshot.Store(next)
	return changed, nil
}

// Statements returns the statements in force, in merge order.
func (a *Authority) Statements() []*merge.Record {
	inForce := a.snapshot.Load().inForce()
	recs := make([]*merge.Record, 0, len(inForce))
	for _, st := range inForce {
		recs = append(recs, st.rec)
	}
	return recs
}

// Mark returns a hash over the bans, withdrawals, floors and successions in
// force, in merge order; zero when there are none. While it is equal nothing
// that was admitted, and learnt if it is a statement, has become inadmissible:
// grants only add. One that was left may come back: a grant ends a succession to
// the same key.
func (a *Authority) Mark() [sha256.Size]byte { return a.snapshot.Load().mark }
