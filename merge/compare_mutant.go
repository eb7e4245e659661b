//go:build mutant_notiebreak

package merge

// compareHashes is a planted fault: versions of one stamp and writer count as
// one, so whichever comes first stays. The simulation must find it.
func compareHashes(_, _ Hash) int { return 0 }
