package store

import (
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
)

// FeedEntry is one held version at its place in the feed.
type FeedEntry struct {
	Key merge.Key
	Held
}

// appendFeed appends the value of s/: text order key, text writer.
func appendFeed(dst []byte, k merge.Key, writer merge.InstanceID) []byte {
	dst = appendOrder(dst, k)
	return appendText(dst, writer)
}

// decodeFeed is the inverse of appendFeed within a section. Errors: ErrCorrupt.
func decodeFeed(sec merge.Section, value []byte) (merge.Key, merge.InstanceID, error) {
	d := decoder{rest: string(value)}
	order, writer := d.text(), merge.InstanceID(d.text())
	if !d.done() || writer == "" {
		return merge.Key{}, "", fmt.Errorf("%w: feed row of %d bytes", ErrCorrupt, len(value))
	}
	k, err := parseOrder(sec, order)
	return k, writer, err
}

// Feed calls fn for every held version of a section whose place comes after
// the given one, in commit order, until fn returns false. Versions that were
// covered since are not in the feed. Errors: ErrCorrupt.
//
// A row that the key's versions do not know is skipped: the engine may bring
// back a deleted row after a fault, and only v/ says what is held.
func (r *Reader) Feed(sec merge.Section, after uint64, fn func(e FeedEntry) (more bool)) error {
	n, ok := r.table.of(sec)
	if !ok {
		return nil
	}
	prefix := appendSectionKey(nil, prefixFeed, n)
	return scan(r.tx, prefix, feedKey(nil, n, after+1), false, func(key, value []byte) (bool, error) {
		seq, err := lastSeq(key)
		if err != nil {
			return false, err
		}
		k, writer, err := decodeFeed(sec, value)
		if err != nil {
			return false, err
		}
		versions, err := r.row(k)
		if err != nil {
			return false, err
		}
		for i := range versions.held {
			if h := &versions.held[i]; h.Seq == seq && h.Writer == writer {
				return fn(FeedEntry{Key: k, Held: *h}), nil
			}
		}
		return true, nil
	})
}

// Range calls fn for every key of a section that holds a version, in order of
// Key.Order, beginning after the given order key (empty for the first), until
// fn returns false. The held versions are ascending, the head last. Errors:
// ErrCorrupt.
func (r *Reader) Range(sec merge.Section, afterOrder string, fn func(k merge.Key, held []Held) (more bool)) error {
	n, ok := r.table.of(sec)
	if !ok {
		return nil
	}
	prefix := appendSectionKey(nil, prefixVersions, n)
	from := prefix
	if afterOrder != "" {
		from = append(append(append([]byte(nil), prefix...), afterOrder...), terminator+"\x00"...)
	}
	return scan(r.tx, prefix, from, false, func(key, value []byte) (bool, error) {
		_, order, err := splitRowKey(prefixVersions, key, 0)
		if err != nil {
			return false, err
		}
		k, err := parseOrder(sec, order)
		if err != nil {
			return false, err
		}
		versions, err := decodeRow(value)
		if err != nil || len(versions.held) == 0 {
			return true, err
		}
		return fn(k, versions.held), nil
	})
}

// Conflicts calls fn for every key that holds more than its head, by section
// in order of its first appearance, then by order key, until fn returns false.
// Errors: ErrCorrupt.
func (r *Reader) Conflicts(fn func(k merge.Key, held []Held) (more bool)) error {
	return scan(r.tx, []byte(prefixConflict), nil, false, func(key, _ []byte) (bool, error) {
		n, order, err := splitRowKey(prefixConflict, key, 0)
		if err != nil {
			return false, err
		}
		k, err := r.parseKey(n, order)
		if errors.Is(err, errUnseen) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		versions, err := r.row(k)
		if err != nil || len(versions.held) < 2 {
			return true, err
		}
		return fn(k, versions.held), nil
	})
}
