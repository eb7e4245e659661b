package store

import (
	"encoding/binary"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// Row is a row of v/ for tests of its codec.
type Row struct {
	Held    []Held
	History int
}

// AppendRow is appendRow.
func AppendRow(dst []byte, r Row) []byte {
	return appendRow(dst, &row{held: r.Held, history: r.History})
}

// DecodeRow is decodeRow.
func DecodeRow(b []byte) (Row, error) {
	r, err := decodeRow(b)
	return Row{r.held, r.history}, err
}

// RowBytes is rowBytes: what the encoded form may take at most.
func RowBytes(r Row) int { return rowBytes(&row{held: r.Held}) }

// Join is join; held says whether h is held since.
func Join(versions []Held, h Held) (next, covered []Held, held bool) {
	next, covered, outcome := join(versions, &h)
	return next, covered, outcome == outcomeHeld
}

// Surplus is surplus.
func Surplus(past []Past, limit int, now time.Time) []Past { return surplus(past, limit, now) }

// RowKeys returns the keys of v/ of two keys of one section.
func RowKeys(a, b merge.Key) (string, string) {
	return string(appendRowKey(nil, prefixVersions, 1, a)), string(appendRowKey(nil, prefixVersions, 1, b))
}

// Decoders are the decoders of the other rows, by prefix: none may panic, and
// each gives back what it was given when it is encoded again.
func Decoders() map[string]func(b []byte) (again []byte, err error) {
	sec := merge.Section{Family: "skill"}
	return map[string]func(b []byte) ([]byte, error){
		prefixHistory: func(b []byte) ([]byte, error) {
			p, err := decodePast(b)
			if err != nil {
				return nil, err
			}
			return appendPast(nil, &p), nil
		},
		prefixFeed: func(b []byte) ([]byte, error) {
			k, writer, err := decodeFeed(sec, b)
			return appendFeed(nil, k, writer), err
		},
		prefixEvent: func(b []byte) ([]byte, error) {
			e, n, order, err := decodeEvent(1, b)
			if err != nil {
				return nil, err
			}
			e.Ref.Key, err = parseOrder(sec, order)
			return appendEvent(nil, n, &e), err
		},
		prefixBlob: func(b []byte) ([]byte, error) {
			state, err := decodeBlob(b)
			return appendBlob(nil, state), err
		},
		prefixBlobRef: func(b []byte) ([]byte, error) {
			n, err := decodeBlobRef(b)
			return binary.AppendUvarint(nil, n), err
		},
		prefixCursor: func(b []byte) ([]byte, error) {
			c, err := decodeCursor(b)
			return appendCursor(nil, c), err
		},
		prefixSection: func(b []byte) ([]byte, error) {
			s, err := decodeSectionRow(b)
			return appendSectionRow(nil, &s), err
		},
		prefixParked: func(b []byte) ([]byte, error) {
			p, err := decodeParked(b)
			if err != nil {
				return nil, err
			}
			return appendParked(nil, &parkWrite{p, pack(&p.Record), false}), nil
		},
	}
}

// Snapshots numbers transactions from one on.
type Snapshots struct{ of snapshots }

func NewSnapshots(newest uint64) *Snapshots {
	return &Snapshots{snapshots{newest: newest, open: map[uint64]int{}}}
}

func (s *Snapshots) Begin() uint64                     { return s.of.begin() }
func (s *Snapshots) End(seen uint64)                   { s.of.end(seen) }
func (s *Snapshots) Next() uint64                      { return s.of.next() }
func (s *Snapshots) Advance(to uint64) (oldest uint64) { return s.of.advance(to) }
