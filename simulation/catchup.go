package simulation

import (
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// debt is what a member lacked when it came back, until it has all of it.
type debt struct {
	since    time.Duration // when it came back, without jumps
	versions int           // that it still lacks; 0: nothing is measured
}

// returned notes that a member is back, and what it lacks of all that those hold
// who are there. What it wrote itself while it was away begins to spread now.
func (s *spread) returned(number int) {
	s.forgive(number)
	d := debt{since: s.awake()}
	own := s.cluster.replicas[number].ID()
	for _, k := range s.order {
		for _, v := range k.versions {
			if v.Writer == own {
				v.awake = s.awake()
			}
			if have, _ := k.having(v); v.holders.meets(s.present) && !have.has(number) {
				v.owed.add(number)
				d.versions++
			}
		}
	}
	s.debts[number] = d
}

// forgive ends a measurement that came to no end, as when the member left again.
func (s *spread) forgive(number int) {
	if s.debts[number].versions == 0 {
		return
	}
	s.debts[number] = debt{}
	for _, k := range s.order {
		for _, v := range k.versions {
			v.owed.remove(number)
		}
	}
}

// repay strikes out a version for the members that have it by now.
func (s *spread) repay(v *spreadVersion, have replicaSet) {
	if v.owed.empty() {
		return
	}
	for n := range s.debts {
		if !v.owed.has(n) || !have.has(n) {
			continue
		}
		v.owed.remove(n)
		d := &s.debts[n]
		if d.versions--; d.versions == 0 {
			s.result.CatchUps = append(s.result.CatchUps, s.awake()-d.since)
		}
	}
}

// having returns who holds a version or what covers it, and whether anybody
// holds what covers it.
func (k *spreadKey) having(v *spreadVersion) (have replicaSet, covered bool) {
	have = slices.Clone(v.holders)
	for _, w := range k.versions {
		if w != v && merge.Covers(w.Version, v.Version) {
			covered = covered || !w.holders.empty()
			for i := range have {
				have[i] |= w.holders[i]
			}
		}
	}
	return have, covered
}

// collide counts a version as lost once some member holds it beside a larger
// one.
func (s *spread) collide(k *spreadKey) {
	for _, v := range k.versions {
		v.lost = v.lost || slices.ContainsFunc(k.versions, func(w *spreadVersion) bool {
			if merge.Compare(w.Version, v.Version) <= 0 || !w.holders.meets(v.holders) {
				return false
			}
			s.result.Conflicts++
			return true
		})
	}
}

// awake is the virtual time without jumps.
func (s *spread) awake() time.Duration {
	return s.cluster.clock.Elapsed() - s.cluster.clock.Jumped()
}
