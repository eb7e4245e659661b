package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// A store keeps the newest snapshot that was saved of it in node-private values:
// the payload in parts, in one of two slots, and a head that names the slot and
// is written last, so that a crash in between leaves the one before.
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
	Slot  int    `cbor:"4,keyasint"` // 0 or 1
}

func (h savedHead) part(i int) string { return fmt.Sprintf("%s%d/%d", snapshotPartPrefix, h.Slot, i) }

// SaveSnapshot implements eventlog.Log. A store keeps one: the newest. Once it
// has begun it does not stop for the end of ctx, which would leave parts behind.
func (l storeLog) SaveSnapshot(ctx context.Context, s eventlog.Snapshot) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Stream != StateStream {
		return fmt.Errorf("%w: a store has the stream %q alone, not %.60q", eventlog.ErrInvalid, StateStream, s.Stream)
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	former, err := l.savedHead(ctx)
	switch {
	case errors.Is(err, eventlog.ErrNotFound):
		former = savedHead{Slot: 1}
	case err != nil:
		return err
	case former.Seq > s.Seq:
		return nil // an older one is of no use
	}
	ctx = context.WithoutCancel(ctx)
	sum := sha256.Sum256(s.Payload)
	next := savedHead{Seq: s.Seq, Sum: sum[:], Slot: 1 - former.Slot}
	for part := range slices.Chunk(s.Payload, snapshotPartBytes) {
		if err := l.store.SetLocal(ctx, next.part(next.Parts), part); err != nil {
			return err
		}
		next.Parts++
	}
	encoded, err := merge.Marshal(next)
	if err != nil {
		return err
	}
	if err := l.store.SetLocal(ctx, snapshotHead, encoded); err != nil {
		return err
	}
	return errors.Join(l.dropParts(ctx, next, next.Parts), l.dropParts(ctx, former, 0))
}

// dropParts deletes the parts of a slot from one on, those of snapshots before
// included.
func (l storeLog) dropParts(ctx context.Context, slot savedHead, from int) error {
	for i := from; ; i++ {
		name, there := slot.part(i), false
		err := l.store.UpdateLocal(ctx, name, func(old []byte) ([]byte, error) {
			there = old != nil
			return nil, nil
		})
		if err != nil || !there {
			return err
		}
	}
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
