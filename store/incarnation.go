package store

import (
	"encoding/binary"
	"fmt"
	"io"
)

// opening is one incarnation of a store and the place in the feed after which
// it began to write.
type opening struct {
	number      uint64 // counts the openings, from 1
	incarnation Incarnation
	begin       uint64
}

// endOf returns the last place of an incarnation: where the next one began, or
// the newest place for the last. Openings are ascending.
func endOf(openings []opening, in Incarnation, newest uint64) (end uint64, known bool) {
	for i, o := range openings {
		if o.incarnation != in {
			continue
		}
		if i+1 < len(openings) {
			return openings[i+1].begin, true
		}
		return newest, true
	}
	return 0, false
}

func incarnationKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(prefixIncarnation), number)
}

func loadOpenings(tx Txn) ([]opening, error) {
	var openings []opening
	err := scan(tx, []byte(prefixIncarnation), nil, false, func(key, value []byte) (bool, error) {
		number, err := lastSeq(key)
		if err != nil {
			return false, err
		}
		d := decoder{rest: string(value)}
		o := opening{number: number, incarnation: Incarnation(d.uint64()), begin: d.uint64()}
		if !d.done() {
			return false, fmt.Errorf("%w: incarnation %d", ErrCorrupt, number)
		}
		openings = append(openings, o)
		return true, nil
	})
	return openings, err
}

// addOpening records a new incarnation that begins after a place in the feed,
// and forgets those beyond incarnationsMax.
func addOpening(tx Txn, openings []opening, begin uint64, rand io.Reader) ([]opening, error) {
	var random [8]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return nil, fmt.Errorf("store: incarnation: %w", err)
	}
	o := opening{number: 1, incarnation: Incarnation(binary.BigEndian.Uint64(random[:])), begin: begin}
	if n := len(openings); n > 0 {
		o.number = openings[n-1].number + 1
	}
	openings = append(openings, o)
	if err := put(tx, incarnationKey(o.number), appendUint64(appendUint64(nil, uint64(o.incarnation)), begin)); err != nil {
		return nil, err
	}
	for len(openings) > incarnationsMax {
		if err := tx.Delete(incarnationKey(openings[0].number)); err != nil {
			return nil, err
		}
		openings = openings[1:]
	}
	return openings, nil
}
