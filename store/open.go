package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/fleetsync/fleetd/hlc"
)

// formatVersion names the layout of keys.go and the codecs of the rows.
const formatVersion = 1

// Open opens the store that an engine holds, or makes a new one in an empty
// engine. Each opening is a new incarnation. The digests, and the state of the
// sections with them, are computed again from the version rows, by
// cfg.Background when there is one; a section that is not as it was written is
// Suspect then. The Store owns the engine from then on, also when Open fails.
// Errors: ErrFormat, ErrCorrupt, that of cfg.Rand, the engine's.
func Open(engine Engine, cfg Config) (*Store, error) {
	s := &Store{engine: engine, cfg: cfg.withDefaults(), digests: newDigests(), idle: make(chan struct{})}
	s.stage = newStage(s)
	if err := s.load(); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return s, nil
}

func (c Config) withDefaults() Config {
	if c.HistoryMax == 0 {
		c.HistoryMax = historyMaxDefault
	}
	if c.ParkedMax == 0 {
		c.ParkedMax = parkedMaxDefault
	}
	if c.ParkedPerWriterMax == 0 {
		c.ParkedPerWriterMax = parkedPerWriterMaxDefault
	}
	if c.ParkedPerPeerMax == 0 {
		c.ParkedPerPeerMax = parkedPerPeerMaxDefault
	}
	return c
}

func (s *Store) load() error {
	if err := s.engine.Update(s.beginIncarnation); err != nil {
		return err
	}
	err := s.engine.View(func(tx Txn) error {
		var err error
		if s.tail, err = loadTail(tx); err != nil {
			return err
		}
		states, err := loadSections(tx)
		if err != nil {
			return err
		}
		s.sections = newSectionTable(states)
		if s.parked, err = loadParked(tx); err != nil {
			return err
		}
		retracted, err := countRetracted(tx)
		if err != nil {
			return err
		}
		s.retracted.Store(retracted)
		s.blobs, err = loadBlobNotes(tx)
		return err
	})
	if err != nil {
		return err
	}
	s.clock = hlc.NewClock(s.cfg.Now, s.tail.stamp)
	if err := s.rebuildIndex(); err != nil {
		return err
	}
	if s.cfg.Background == nil {
		return s.build()
	}
	s.cfg.Background(s.build)
	return nil
}

// beginIncarnation makes the store's own rows when there are none, and records
// this opening.
func (s *Store) beginIncarnation(tx Txn) error {
	format, err := get(tx, []byte(keyFormat))
	switch {
	case errors.Is(err, ErrNotFound):
		if err := wantEmpty(tx); err != nil {
			return err
		}
		if err := s.create(tx); err != nil {
			return err
		}
	case err != nil:
		return err
	case len(format) != 4 || binary.BigEndian.Uint32(format) != formatVersion:
		return fmt.Errorf("%w: %x, this build knows %d", ErrFormat, format, formatVersion)
	default:
		id, err := get(tx, []byte(keyStore))
		if err != nil {
			return missing(err, "store id")
		}
		if copy(s.id[:], id) != len(s.id) || len(id) != len(s.id) {
			return fmt.Errorf("%w: store id of %d bytes", ErrCorrupt, len(id))
		}
	}
	end, err := loadTail(tx)
	if err != nil {
		return err
	}
	openings, err := loadOpenings(tx)
	if err != nil {
		return err
	}
	s.openings, err = addOpening(tx, openings, end.seq, s.cfg.Rand)
	return err
}

// wantEmpty makes sure that an engine without a format row holds nothing else
// either: a new store over the rows of an old one would begin its places in the
// feed and its stamps again. Errors: ErrCorrupt.
func wantEmpty(tx Txn) error {
	return tx.Scan(nil, nil, false, func(key, _ []byte) (bool, error) {
		return false, fmt.Errorf("%w: no format row, although there are others, such as %.40q", ErrCorrupt, key)
	})
}

// create writes the rows of a new store.
func (s *Store) create(tx Txn) error {
	if _, err := io.ReadFull(s.cfg.Rand, s.id[:]); err != nil {
		return fmt.Errorf("store: id: %w", err)
	}
	for _, row := range [...]op{
		{[]byte(keyFormat), binary.BigEndian.AppendUint32(nil, formatVersion)},
		{[]byte(keyStore), s.id[:]},
		{[]byte(keyTail), appendTail(nil, tail{})},
	} {
		if err := put(tx, row.key, row.value); err != nil {
			return err
		}
	}
	return nil
}

// put writes a value with its checksum. The value is copied.
func put(tx Txn, key, value []byte) error {
	return tx.Set(key, appendChecksum(append([]byte(nil), value...), key))
}

// rowBytes and heldBytes bound the stored form, for sizing buffers.
func rowBytes(r *row) int {
	n := 12
	for i := range r.held {
		n += heldBytes(&r.held[i])
	}
	return n
}

func heldBytes(h *Held) int {
	n := 96 + len(h.Writer)
	for _, e := range h.Basis {
		n += len(e.Writer) + 10
	}
	return n
}
