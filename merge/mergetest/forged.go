package mergetest

import (
	"encoding/binary"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
)

// Forged draws up to n versions of one key that pass every check of the format
// and whose bases say anything at all: entries that are too old, too new for
// what could have been seen, or missing. Distinct versions have distinct hashes.
func Forged(n int) *rapid.Generator[[]merge.Version] {
	return rapid.Custom(func(t *rapid.T) []merge.Version {
		versions := make([]merge.Version, rapid.IntRange(0, n).Draw(t, "versions"))
		for i := range versions {
			versions[i] = drawForged(t)
			binary.BigEndian.PutUint64(versions[i].Hash[:], rapid.Uint64Range(0, 2).Draw(t, "hash"))
			binary.BigEndian.PutUint64(versions[i].Hash[24:], uint64(i))
		}
		return versions
	})
}

func drawForged(t *rapid.T) merge.Version {
	writers := []merge.InstanceID{"a", "b", "c", "d"}
	v := merge.Version{
		Writer:      rapid.SampledFrom(writers).Draw(t, "writer"),
		Stamp:       closeStamp().Draw(t, "stamp"),
		SyncVersion: rapid.Int64Range(1, 3).Draw(t, "sync version"),
		Deleted:     rapid.Bool().Draw(t, "deleted"),
	}
	for _, w := range writers {
		switch s := closeStamp().Draw(t, "seen"); {
		case w == v.Writer:
			v.Basis = append(v.Basis, merge.BasisEntry{Writer: w, Stamp: v.Stamp})
		case rapid.Bool().Draw(t, "listed") && !earlier(v.Stamp, s):
			v.Basis = append(v.Basis, merge.BasisEntry{Writer: w, Stamp: s})
		}
	}
	return v
}
