package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// A store keeps the newest snapshot that was saved of it in node-private values:
// the payload in parts, and a head that names them and is written last, so that
// a crash in between leaves the one before.
const (
	snapshotHead       = "state/snapshot"
	snapshotPartPrefix = "state/snapshot/"
	snapshotPartBytes  = 128 << 10
)

// savedHead says which snapshot is saved.
type savedHead struct {
	Seq   int64  `cbor:"1,keyasint"`
	Parts int    `cbor:"2,keyasint"`
	Sum   []byte `cbor:"3,keyasint"` // SHA-256 of the payload
}

func (h savedHead) part(i int) string { return fmt.Sprintf("%s%d/%d", snapshotPartPrefix, h.Seq, i) }

// SaveSnapshot implements eventlog.Log. A store keeps one: the newest.
func (l storeLog) SaveSnapshot(ctx context.Context, s eventlog.Snapshot) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Stream != StateStream {
		return fmt.Errorf("%w: a store has the stream %q alone, not %.60q", eventlog.ErrInvalid, StateStream, s.Stream)
	}
	former, err := l.savedHead(ctx)
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		return err
	}
	if err == nil && former.Seq > s.Seq {
		return nil // an older one is of no use
	}
	sum := sha256.Sum256(s.Payload)
	next := savedHead{Seq: s.Seq, Sum: sum[:]}
	if err == nil && former.Seq == s.Seq {
		if err := l.store.SetLocal(ctx, snapshotHead, nil); err != nil { // its parts are about to be overwritten
			return err
		}
	}
	for rest := s.Payload; len(rest) > 0; next.Parts++ {
		n := min(len(rest), snapshotPartBytes)
		if err := l.store.SetLocal(ctx, next.part(next.Parts), rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	encoded, err := merge.Marshal(next)
	if err != nil {
		return err
	}
	if err := l.store.SetLocal(ctx, snapshotHead, encoded); err != nil {
		return err
	}
	first := 0
	if former.Seq == next.Seq {
		first = next.Parts
	}
	for i := first; i < former.Parts; i++ {
		if err := l.store.SetLocal(ctx, former.part(i), nil); err != nil {
			return err
		}
	}
	return nil
}

// LatestSnapshot implements eventlog.Log. One whose parts are damaged is not
// found: what it would save is folding the stream.
func (l storeLog) LatestSnapshot(ctx context.Context, stream string, upTo int64) (eventlog.Snapshot, error) {
	if err := eventlog.CheckStream(stream); err != nil {
		return eventlog.Snapshot{}, err
	}
	missing := fmt.Errorf("%w: a snapshot of %.60q", eventlog.ErrNotFound, stream)
	head, err := l.savedHead(ctx)
	if err != nil {
		return eventlog.Snapshot{}, err
	}
	if stream != StateStream || upTo > 0 && head.Seq > upTo {
		return eventlog.Snapshot{}, missing
	}
	var payload []byte
	err = l.view(ctx, func(r *store.Reader) error {
		for i := range head.Parts {
			part, err := r.Local(head.part(i))
			if err != nil {
				return err
			}
			payload = append(payload, part...)
		}
		return nil
	})
	sum := sha256.Sum256(payload)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrCorrupt), err == nil && !bytes.Equal(sum[:], head.Sum):
		return eventlog.Snapshot{}, missing
	case err != nil:
		return eventlog.Snapshot{}, err
	}
	return eventlog.Snapshot{Stream: StateStream, Seq: head.Seq, Payload: payload}, nil
}

// savedHead returns which snapshot is saved. Errors: eventlog.ErrNotFound.
func (l storeLog) savedHead(ctx context.Context) (head savedHead, err error) {
	err = l.view(ctx, func(r *store.Reader) error {
		value, err := r.Local(snapshotHead)
		if err == nil {
			err = merge.Unmarshal(value, &head)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: a snapshot of %q", eventlog.ErrNotFound, StateStream)
	}
	return head, err
}
