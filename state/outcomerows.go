package state

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// outcomeSums is the value of an index row: what all live outcome records of
// one skill count, and how many records those are. It is one row for a skill,
// so that reading Uses and Wins costs one lookup and no scan.
//
// The row is changed by what a new head counts more or less than the one
// before. Sums are exact, so that taking away is, and the row follows from the
// heads whatever their order.
type outcomeSums struct {
	uses, wins total
	records    uint64
}

func (s outcomeSums) plus(o outcomeSums) outcomeSums {
	return outcomeSums{s.uses.plus(o.uses), s.wins.plus(o.wins), s.records + o.records}
}

func (s outcomeSums) minus(o outcomeSums) outcomeSums {
	return outcomeSums{s.uses.minus(o.uses), s.wins.minus(o.wins), s.records - o.records}
}

// shownBy returns a skill with these sums, as far as an int goes.
func (s outcomeSums) shownBy(sk Skill) Skill {
	sk.Uses, sk.Wins = s.uses.shown(), s.wins.shown()
	return sk
}

// outcomeSumsBytes is the length of a row: uses16, wins16, records8.
const outcomeSumsBytes = 2*totalBytes + 8

func (s outcomeSums) encode() []byte {
	b := s.uses.append(make([]byte, 0, outcomeSumsBytes))
	b = s.wins.append(b)
	return binary.BigEndian.AppendUint64(b, s.records)
}

// decodeOutcomeSums reads a row; no row is zero. Errors: store.ErrCorrupt.
func decodeOutcomeSums(row []byte) (outcomeSums, error) {
	switch len(row) {
	case 0:
		return outcomeSums{}, nil
	case outcomeSumsBytes:
		return outcomeSums{
			decodeTotal(row), decodeTotal(row[totalBytes:]), binary.BigEndian.Uint64(row[2*totalBytes:]),
		}, nil
	}
	return outcomeSums{}, fmt.Errorf("%w: sums of outcomes in %d bytes", store.ErrCorrupt, len(row))
}

// outcomeSumsName is the name of a skill's row.
func outcomeSumsName(scope Scope, slug string) string {
	return indexName(indexSkillSums, scopeID(scope), slug)
}

// countedBy returns which row a head counts in and what; nothing for one that
// counts nothing: of another kind, a tombstone, one that breaks the rules.
func countedBy(head *merge.Record) (name string, _ outcomeSums) {
	if head == nil || head.Key.Kind != kindOutcome || head.Envelope.Deleted {
		return "", outcomeSums{}
	}
	o, err := decodeOutcome(head)
	if err != nil {
		return "", outcomeSums{}
	}
	return outcomeSumsName(o.Scope, o.Slug), outcomeSums{totalOf(o.Uses), totalOf(o.Wins), 1}
}

// outcomeChanges returns how the row of a skill changes when the head of one of
// its outcome records goes from previous to next. Errors: store.ErrCorrupt.
func outcomeChanges(previous, next *merge.Record, read func(store.IndexName) []byte) ([]store.IndexRow, error) {
	nameBefore, before := countedBy(previous)
	nameAfter, after := countedBy(next)
	if before == after {
		return nil, nil
	}
	name := store.IndexName(cmp.Or(nameBefore, nameAfter)) // one key is of one skill
	sums, err := decodeOutcomeSums(read(name))
	if err != nil {
		return nil, err
	}
	if sums.records < before.records {
		return nil, fmt.Errorf("%w: outcomes that the index has not summed", store.ErrCorrupt)
	}
	sums = sums.minus(before).plus(after)
	if sums.records == 0 {
		return []store.IndexRow{{Name: name}}, nil
	}
	return []store.IndexRow{{Name: name, Value: sums.encode()}}, nil
}

// outcomeSumsOf returns the sums of a skill's outcomes. A write that read them
// is validated. Errors: store.ErrCorrupt.
func outcomeSumsOf(r *store.Reader, scope Scope, slug string) (outcomeSums, error) {
	row, err := r.Index(indexSkillSums, scopeID(scope), slug)
	if errors.Is(err, store.ErrNotFound) {
		return outcomeSums{}, nil
	}
	if err != nil {
		return outcomeSums{}, fmt.Errorf("state: index %s: %w", indexSkillSums, err)
	}
	return decodeOutcomeSums(row)
}

// countedSkill is liveSkill with the sums of its outcomes.
func countedSkill(r *store.Reader, key merge.Key) (Skill, error) {
	sk, err := liveSkill(r, key)
	if err != nil {
		return Skill{}, err
	}
	return counted(r, sk)
}

// counted returns a skill with the sums of its outcomes.
func counted(r *store.Reader, sk Skill) (Skill, error) {
	sums, err := outcomeSumsOf(r, sk.Scope, sk.Slug)
	if err != nil {
		return Skill{}, err
	}
	return sums.shownBy(sk), nil
}
