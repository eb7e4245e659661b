package simulation

import (
	"math/bits"
	"slices"
)

// replicaSet is a set of replicas, one bit each.
type replicaSet []uint64

func newReplicaSet(n int) replicaSet { return make(replicaSet, (n+63)/64) }

func (s replicaSet) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }
func (s replicaSet) add(n int)      { s[n/64] |= 1 << (n % 64) }
func (s replicaSet) remove(n int)   { s[n/64] &^= 1 << (n % 64) }

func (s replicaSet) empty() bool {
	return !slices.ContainsFunc(s, func(w uint64) bool { return w != 0 })
}

// size returns how many are in the set.
func (s replicaSet) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// meets reports whether two sets have a member in common.
func (s replicaSet) meets(other replicaSet) bool {
	for i := range s {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// lacking returns how many of s are not in other.
func (s replicaSet) lacking(other replicaSet) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] &^ other[i])
	}
	return n
}
