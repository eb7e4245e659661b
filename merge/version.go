package merge

import (
	"bytes"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
)

// Hash is the SHA-256 of a record's order key and header: the identity of one
// version, and the item that digests count.
type Hash [32]byte

// Version is what the merge rule looks at in a record.
type Version struct {
	Writer      InstanceID
	Stamp       hlc.Timestamp
	Hash        Hash
	Basis       Basis
	SyncVersion int64
	Deleted     bool
}

// Compare orders two versions of one key: by stamp, then writer, then hash. It
// is total, so also two machines that share one identity agree.
func Compare(a, b Version) int {
	if c := a.Stamp.Compare(b.Stamp); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.Writer), string(b.Writer)); c != 0 {
		return c
	}
	return bytes.Compare(a.Hash[:], b.Hash[:])
}

// Covers reports whether w replaces v: w is larger, and was written by someone
// who had seen v.
func Covers(w, v Version) bool {
	return Compare(w, v) > 0 && !v.Stamp.After(w.Basis.Stamp(v.Writer))
}
