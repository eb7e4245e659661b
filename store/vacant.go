package store

import (
	"cmp"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// vacantMin is from how many records on one walk costs less than as many reads.
const vacantMin = 64

// vacant is a span of v/ in which the engine has no row, the ends included: a
// page of what was lacking altogether needs no read a key. The zero value holds
// nothing.
type vacant struct{ from, to string }

func (v vacant) has(rowKey []byte) bool { return string(rowKey) >= v.from && string(rowKey) <= v.to }

// findVacant looks whether the span of a request's keys is vacant.
func (g *stage) findVacant(entries []entry) error {
	g.vacant = vacant{}
	if len(entries) < vacantMin {
		return nil
	}
	first, last := &entries[0].rec.Key, &entries[0].rec.Key
	for i := range entries {
		k := &entries[i].rec.Key
		if k.Section() != first.Section() {
			return nil
		}
		if compareKeys(k, first) < 0 {
			first = k
		}
		if compareKeys(k, last) > 0 {
			last = k
		}
	}
	sec := g.lookup(first.Section())
	if sec == nil {
		return nil
	}
	from, to := appendRowKey(nil, prefixVersions, sec.ordinal, *first), appendRowKey(nil, prefixVersions, sec.ordinal, *last)
	met := false
	err := g.tx.Scan(from, successor(to), false, func(_, _ []byte) (bool, error) {
		met = true
		return false, nil
	})
	if err != nil {
		g.fatal = err
		return err
	}
	if !met {
		g.vacant = vacant{string(from), string(to)}
	}
	return nil
}

// compareKeys orders keys of one section.
func compareKeys(a, b *merge.Key) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(string(a.ID), string(b.ID)))
}
