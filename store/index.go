package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// IndexName names a row that an Indexer derives: components joined by 0x00.
type IndexName string

// NewIndexName joins components, which must not contain 0x00.
func NewIndexName(components ...string) IndexName {
	return IndexName(strings.Join(components, "\x00"))
}

// Components returns the parts that NewIndexName joined.
func (n IndexName) Components() []string { return strings.Split(string(n), "\x00") }

// IndexRow is one row to be written; a nil Value deletes it.
type IndexRow struct {
	Name  IndexName
	Value []byte
}

// Indexer derives rows from the heads of keys. It must be pure: the same
// arguments give the same rows. Its rows are written in the transaction that
// moves the head, and all made anew at opening when Version is not the one
// that wrote them.
type Indexer interface {
	// Version changes whenever Index would derive something else.
	Version() uint32
	// EventType names the change of a head in the state stream.
	EventType(kind string, deleted bool) string
	// Index returns the rows that change when the head of a key goes from old to
	// new; nil stands for no head. read returns a row as the transaction has it
	// so far, nil when there is none, valid until Index returns. An error fails
	// the write, so a body that means nothing to the indexer must not be one.
	Index(old, new *merge.Record, read func(name IndexName) []byte) ([]IndexRow, error)
}

// index stages what the indexer derives from a new head; nil is none.
func (g *stage) index(old, rec *merge.Record) error {
	var failed error
	rows, err := g.s.cfg.Indexer.Index(old, rec, func(name IndexName) []byte {
		key := append([]byte(prefixIndex), name...)
		stored, err := g.getRow(key)
		if err == nil && stored != nil {
			stored, err = openValue(key, stored)
		}
		if err != nil {
			failed = err
			return nil
		}
		return stored
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("store: index %s: %w", cmp.Or(rec, old).Key, err)
	}
	for _, row := range rows {
		if len(row.Name)+len(row.Value) > indexBytesMax {
			return fmt.Errorf("%w: index row %.60q of %d bytes", ErrTooLarge, row.Name, len(row.Value))
		}
		key := append(append(g.arena.room(len(prefixIndex)+len(row.Name)), prefixIndex...), row.Name...)
		g.arena.keep(key)
		g.setRow(key, row.Value)
	}
	return nil
}

// Index returns the indexer's row of a name given by its components. The
// caller owns it. Errors: ErrNotFound, ErrCorrupt.
func (r *Reader) Index(components ...string) ([]byte, error) {
	return r.value(append([]byte(prefixIndex), NewIndexName(components...)...))
}

// IndexScan calls fn for the indexer's rows whose name begins with all the
// components of prefix and has more, in byte order of the names, until fn
// returns false. The empty prefix stands for all rows. The value is valid
// during the call. Errors: ErrCorrupt.
func (r *Reader) IndexScan(prefix IndexName, fn func(name IndexName, value []byte) (more bool)) error {
	return r.indexScan(prefix, "", false, fn)
}

// IndexScanDown is IndexScan in descending order.
func (r *Reader) IndexScanDown(prefix IndexName, fn func(name IndexName, value []byte) (more bool)) error {
	return r.indexScan(prefix, "", true, fn)
}

// IndexScanAfter is IndexScan over what lies after a name, which begins with the
// components of prefix and need not be there: so a list is read in pages.
func (r *Reader) IndexScanAfter(prefix, after IndexName, fn func(name IndexName, value []byte) (more bool)) error {
	return r.indexScan(prefix, after, false, fn)
}

// IndexScanDownAfter is IndexScanDown over what lies before a name, as
// IndexScanAfter.
func (r *Reader) IndexScanDownAfter(prefix, after IndexName, fn func(name IndexName, value []byte) (more bool)) error {
	return r.indexScan(prefix, after, true, fn)
}

// indexScan scans from the place after a name on; from the first row on when it
// is empty.
func (r *Reader) indexScan(prefix, after IndexName, reverse bool, fn func(IndexName, []byte) bool) error {
	begin := []byte(prefixIndex)
	if prefix != "" {
		begin = append(append(begin, prefix...), 0)
	}
	var from []byte
	if after != "" {
		from = append([]byte(prefixIndex), after...)
		if !reverse {
			from = append(from, 0) // the first name after it
		}
	}
	return scan(r.tx, begin, from, reverse, func(key, value []byte) (bool, error) {
		return fn(IndexName(key[len(prefixIndex):]), value), nil
	})
}

// rebuildIndex makes the indexer's rows anew when another version wrote them,
// or none. The version is removed first and written last, so that a crash in
// between starts it over.
func (s *Store) rebuildIndex() error {
	want := noIndex
	if s.cfg.Indexer != nil {
		want = int64(s.cfg.Indexer.Version())
	}
	have, err := s.indexVersion()
	if err != nil || have == want {
		return err
	}
	version := []byte(keyIndexVersion)
	if err := s.engine.Update(func(tx Txn) error { return tx.Delete(version) }); err != nil {
		return err
	}
	if err := s.clearIndex(); err != nil || s.cfg.Indexer == nil {
		return err
	}
	for _, sec := range s.sections.ordinals().names {
		if err := s.indexSection(sec); err != nil {
			return err
		}
	}
	return s.engine.Update(func(tx Txn) error {
		return put(tx, version, binary.BigEndian.AppendUint32(nil, uint32(want)))
	})
}

// noIndex stands for the version of no indexer.
const noIndex int64 = -1

// indexVersion returns the version that wrote i/ 2, or noIndex.
func (s *Store) indexVersion() (int64, error) {
	version := noIndex
	err := s.engine.View(func(tx Txn) error {
		value, err := get(tx, []byte(keyIndexVersion))
		if err == nil && len(value) != 4 {
			err = fmt.Errorf("%w: index version", ErrCorrupt)
		}
		if err == nil {
			version = int64(binary.BigEndian.Uint32(value))
		}
		return err
	})
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return version, err
}

// clearIndex deletes every row of i/ 2, a transaction at a time.
func (s *Store) clearIndex() error {
	for {
		var keys [][]byte
		err := s.engine.View(func(tx Txn) error {
			from := []byte(prefixIndex)
			return tx.Scan(from, successor(from), false, func(key, _ []byte) (bool, error) {
				keys = append(keys, append([]byte(nil), key...))
				return len(keys) < txnRecordsMax, nil
			})
		})
		if err != nil || len(keys) == 0 {
			return err
		}
		err = s.engine.Update(func(tx Txn) error {
			for _, key := range keys {
				if err := tx.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// indexSection indexes the heads of one section, a transaction at a time.
func (s *Store) indexSection(sec merge.Section) error {
	after := ""
	for {
		var heads []merge.Record
		err := s.View(func(r *Reader) error {
			var failed error
			err := r.Range(sec, after, func(k merge.Key, held []Held) bool {
				rec, err := r.Load(k, held[len(held)-1])
				heads, after, failed = append(heads, rec), k.Order(), err
				return err == nil && len(heads) < txnRecordsMax/4
			})
			return errors.Join(failed, err)
		})
		if err != nil || len(heads) == 0 {
			return err
		}
		g := s.stage
		err = s.engine.Update(func(tx Txn) error {
			g.begin(tx)
			for i := range heads {
				if err := g.index(nil, &heads[i]); err != nil {
					return err
				}
			}
			return g.flush()
		})
		if err != nil {
			return err
		}
	}
}
