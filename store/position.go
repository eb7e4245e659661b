package store

import (
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// Position is a place in the order of a section's held versions: by order key,
// then by writer. That of a version is its order key, a separator and its
// writer; any other string is a place between two versions. The order is that
// of bytes, since no order key has two zero bytes in a row.
type Position string

// positionSeparator divides order key and writer.
const positionSeparator = terminator

// NewPosition returns the position of a writer's version of a key.
func NewPosition(k merge.Key, writer merge.InstanceID) Position {
	return keyPosition(k.Order()) + Position(writer)
}

// keyPosition is the place right before the versions of a key.
func keyPosition(order string) Position { return Position(order + positionSeparator) }

// Split returns order key and writer. ok is false for a position that is not
// one of a version.
func (p Position) Split() (order string, writer merge.InstanceID, ok bool) {
	order, name, found := strings.Cut(string(p), positionSeparator)
	return order, merge.InstanceID(name), found && name != ""
}

// between returns a short place that is not before one position and before
// another, which must come later: where a span may end that holds the first and
// not the second.
func between(earlier, later Position) Position {
	if n := commonLength(earlier, later) + 1; n < len(later) {
		return later[:n]
	}
	return earlier
}

// commonLength returns how many bytes both begin with.
func commonLength(a, b Position) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Span is a part of a section: the versions whose positions are after After and
// not after UpTo. An empty After is the beginning, an empty UpTo the end.
type Span struct{ After, UpTo Position }

// Contains reports whether a position lies within the span.
func (s Span) Contains(p Position) bool { return p > s.After && !s.endsBefore(p) }

// IsEmpty reports whether nothing can lie within the span.
func (s Span) IsEmpty() bool { return s.UpTo != "" && s.UpTo <= s.After }

// cuts reports whether the span may hold some versions of a key and not others.
func (s Span) cuts(order []byte) bool {
	return s.After != "" && beginsWith(s.After, order) || s.UpTo != "" && beginsWith(s.UpTo, order)
}

func beginsWith(p Position, order []byte) bool {
	return len(p) >= len(order) && string(p[:len(order)]) == string(order)
}

// firstRow returns where the rows of the keys that may have versions within the
// span begin, in the order of KEY: a key's row comes before its versions.
func (s Span) firstRow() string {
	order, _, found := strings.Cut(string(s.After), positionSeparator)
	if found {
		order += positionSeparator
	}
	return order
}

func (s Span) endsBefore(p Position) bool { return s.UpTo != "" && p > s.UpTo }
