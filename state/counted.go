package state

import (
	"math"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// What agents read of a session counts its turns, and of a skill its outcomes.
// A Snapshot shows both; a record has neither.

// count makes what a snapshot's records are into what agents read, and
// SlugToID. It counts what is in the snapshot, so that it follows from it alone.
func (s *Snapshot) count() {
	tallies := s.tallies()
	for i := range s.Sessions {
		s.Sessions[i] = tallies[s.Sessions[i].ID].over(s.Sessions[i])
	}
	sums := s.sums()
	s.SlugToID = nil
	for i := range s.Skills {
		sk := &s.Skills[i]
		sk.Uses, sk.Wins = 0, 0
		if sk.Deleted {
			continue
		}
		*sk = sums[skillKey(sk.Scope, sk.Slug)].shownBy(*sk)
		if s.SlugToID == nil {
			s.SlugToID = map[string]string{}
		}
		s.SlugToID[strings.Join([]string{sk.Scope.Instance, sk.Scope.Project, sk.Scope.Workspace, sk.Slug}, scopeSeparator)] = sk.ID
	}
}

// tallies counts the turns of each session.
func (s *Snapshot) tallies() map[string]tally {
	tallies := map[string]tally{}
	for _, t := range s.Turns {
		of := tallies[t.SessionID]
		of.turns++
		of.take(t.UpdatedHLC, merge.InstanceID(instanceBytes(t.LastWriterID)))
		tallies[t.SessionID] = of
	}
	return tallies
}

// sums adds up the outcomes of each skill.
func (s *Snapshot) sums() map[merge.Key]outcomeSums {
	sums := map[merge.Key]outcomeSums{}
	for _, o := range s.Outcomes {
		key := skillKey(o.Scope, o.Slug)
		sums[key] = sums[key].plus(sumsOf(o))
	}
	return sums
}

// sumsOf is what one outcome adds; a deleted one nothing.
func sumsOf(o Outcome) outcomeSums {
	if o.Deleted {
		return outcomeSums{}
	}
	return outcomeSums{uses: totalOf(o.Uses), wins: totalOf(o.Wins)}
}

// discount is the inverse of tally.over for the SyncVersion of a session: that
// of its own record. The stamp may stay that of a turn, which is read again.
func discount(ses Session, turns int64) Session {
	ses.SyncVersion = max(1, ses.SyncVersion-min(turns, math.MaxInt64-1))
	return ses
}

// noStore is who counted what a host's own stream or snapshot says of a skill
// without telling which store did.
const noStore = "00000000000000000000000000000000"

// claim is what the images of a skill had above the sums of its outcomes.
type claim struct{ uses, wins int }

// credit adds to the outcomes what is claimed of skills above them.
func (s *Snapshot) credit(claims map[merge.Key]claim) {
	for _, sk := range s.Skills {
		claim, claimed := claims[skillKey(sk.Scope, sk.Slug)]
		if !claimed {
			continue
		}
		o := Outcome{
			Slug: sk.Slug, Scope: sk.Scope, StoreID: noStore,
			Uses: min(int64(claim.uses), outcomeMax), Wins: min(int64(claim.wins), outcomeMax), Envelope: sk.Envelope,
		}
		o.Deleted = false
		s.Outcomes = append(s.Outcomes, o)
	}
}
