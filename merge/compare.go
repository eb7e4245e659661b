//go:build !mutant_notiebreak

package merge

import "bytes"

// compareHashes breaks ties between versions of one stamp and writer.
func compareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }
