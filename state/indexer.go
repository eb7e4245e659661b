package state

import (
	"errors"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Indexer derives the rows that lookups and lists read from the heads: it must
// be the Indexer of the store that Open is given. It is a pure function, has
// no state, and never fails on a record, whatever its body. The zero value is
// ready.
type Indexer struct{}

var _ store.Indexer = Indexer{}

// Version implements store.Indexer.
func (Indexer) Version() uint32 { return indexVersion }

// EventType implements store.Indexer: the type of the event for a new head.
// Kinds of newer builds get a type of their own, which readers skip.
func (Indexer) EventType(kind string, deleted bool) string {
	switch {
	case kind == kindSkill && deleted:
		return EvSkillDeleted
	case kind == kindSkill:
		return EvSkillUpserted
	case kind == kindMemory && deleted:
		return EvMemoryDeleted
	case kind == kindMemory:
		return EvMemoryWritten
	case kind == kindSession && deleted:
		return EvSessionDeleted
	case kind == kindSession:
		return EvSessionCreated
	case kind == kindTurn && !deleted:
		return EvTurnAppended
	case deleted:
		return kind + ".deleted"
	}
	return kind + ".written"
}

// Index implements store.Indexer: the rows that a change of a head from
// previous to next sets and deletes; nil is no head. Errors: store.ErrCorrupt
// for a row of read that this Indexer has not written.
func (Indexer) Index(previous, next *merge.Record, read func(store.IndexName) []byte) ([]store.IndexRow, error) {
	before, after := indexRows(previous), indexRows(next)
	changes := make([]store.IndexRow, 0, len(before)+len(after)+1) // and that of a tally or a sum
	for _, row := range before {
		stays := slices.ContainsFunc(after, func(r indexRow) bool { return r.name == row.name })
		if !stays {
			changes = append(changes, store.IndexRow{Name: store.IndexName(row.name)})
		}
	}
	for _, row := range after {
		if !slices.Contains(before, row) {
			changes = append(changes, store.IndexRow{Name: store.IndexName(row.name), Value: []byte(row.value)})
		}
	}
	tallied, errTurns := tallyRow(previous, next, read)
	summed, errOutcomes := outcomeChanges(previous, next, read)
	return append(append(changes, tallied...), summed...), errors.Join(errTurns, errOutcomes)
}
