package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// Scrub proves what [Store.Verify] proves of versions, records, feed, history
// and digests (I4), but in steps between which others commit, so that it may run
// beside them for as long as the store is open. After each step it calls pause,
// whose error ends it and is returned. Errors: ErrCorrupt joined with one error
// for each disagreement, up to a hundred; that of ctx, ErrClosed, the engine's.
func (s *Store) Scrub(ctx context.Context, pause func(ctx context.Context) error) error {
	var found []error
	for _, step := range [...]func(v *verifier, from []byte) (next []byte, err error){
		(*verifier).someKeys, (*verifier).someFeed, (*verifier).someRecords, (*verifier).someBuckets,
	} {
		for next, more := []byte(nil), true; more; {
			if err := ctx.Err(); err != nil {
				return err
			}
			v, after, err := s.scrubStep(next, step)
			if err != nil {
				return err
			}
			found = append(found, v.found[:min(len(v.found), disagreementsMax-len(found))]...)
			if next, more = after, after != nil; more {
				if err := pause(ctx); err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(found...)
}

// scrubStep runs one step while nothing commits.
func (s *Store) scrubStep(from []byte, step func(v *verifier, from []byte) ([]byte, error)) (v *verifier, next []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	s.digests.building.Lock()
	defer s.digests.building.Unlock()
	if err := s.settleDoubt(); err != nil {
		return nil, nil, err
	}
	err = s.view(nil, func(r *Reader) error {
		v = newVerifier(r)
		if v.end, err = loadTail(r.tx); err != nil {
			return err
		}
		next, err = step(v, from)
		return err
	})
	return v, next, err
}

// some calls fn for so many rows under a prefix, and returns from where the next
// step goes on; nil at the end.
func (v *verifier) some(prefix string, from []byte, fn func(key, stored []byte) error) (next []byte, err error) {
	if from == nil {
		from = []byte(prefix)
	}
	rows := 0
	err = v.r.tx.Scan(from, successor([]byte(prefix)), false, func(key, stored []byte) (bool, error) {
		if rows++; rows > scrubRowsMax {
			next = append([]byte{}, key...)
			return false, nil
		}
		return true, v.note(fn(key, stored))
	})
	return next, err
}

// someKeys looks up what the rows of v/ promise.
func (v *verifier) someKeys(from []byte) ([]byte, error) {
	return v.some(prefixVersions, from, func(key, stored []byte) error {
		value, err := openValue(key, stored)
		if err != nil {
			return err
		}
		return v.rowOf(key, value)
	})
}

// someFeed holds each row of s/ to a held version.
func (v *verifier) someFeed(from []byte) ([]byte, error) {
	return v.some(prefixFeed, from, func(key, stored []byte) error {
		value, err := openValue(key, stored)
		if err != nil {
			return err
		}
		seq, err := lastSeq(key)
		if err != nil {
			return err
		}
		sec, err := v.sectionAt(key, len(prefixFeed))
		if err != nil {
			return err
		}
		k, writer, err := decodeFeed(sec, value)
		if err != nil {
			return err
		}
		versions, err := v.r.row(k)
		if err != nil {
			return err
		}
		if h := versions.at(seq); h == nil || h.Writer != writer {
			v.wrong("feed row %d tells of %s by %s, which is not held there", seq, k, writer)
		}
		return nil
	})
}

// someRecords holds each row of r/ to a version, held or in history. What is in
// it, someKeys has read.
func (v *verifier) someRecords(from []byte) ([]byte, error) {
	return v.some(prefixRecord, from, func(key, _ []byte) error {
		n, order, err := splitRowKey(prefixRecord, key, seqBytes)
		if err != nil {
			return err
		}
		k, err := v.r.parseKey(n, order)
		if err != nil {
			return err
		}
		seq, err := lastSeq(key)
		if err != nil {
			return err
		}
		versions, err := v.r.row(k)
		if err != nil || versions.at(seq) != nil {
			return err
		}
		_, err = v.r.tx.Get(appendSeqKey(nil, prefixHistory, n, k, seq))
		if errors.Is(err, ErrNotFound) {
			v.wrong("record %d of %s is neither held nor in history", seq, k)
			return nil
		}
		return err
	})
}

// sectionAt returns the section whose ordinal stands in a key. Errors:
// ErrCorrupt.
func (v *verifier) sectionAt(key []byte, at int) (merge.Section, error) {
	if len(key) < at+ordinalBytes {
		return merge.Section{}, fmt.Errorf("%w: key %q", ErrCorrupt, key)
	}
	return v.r.table.section(ordinalAt(key[at:]))
}

// someBuckets holds some buckets of a section to their rows. It goes on by
// section and position, which together are the key of a row of v/.
func (v *verifier) someBuckets(from []byte) (next []byte, err error) {
	n := ordinal(1)
	if from != nil {
		n = ordinalAt(from)
		from = from[ordinalBytes:]
	}
	sec, err := v.r.table.section(n)
	if err != nil {
		return nil, nil //nolint:nilerr // there is no such section: this is the end
	}
	at, err := v.buckets(sec, Position(from), scrubBucketsMax)
	if err != nil {
		return nil, err
	}
	if at == "" {
		return appendOrdinal(nil, n+1), nil
	}
	return append(appendOrdinal(nil, n), at...), nil
}
