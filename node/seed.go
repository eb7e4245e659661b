package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// ErrMemoryUsed is returned when an instance would run a second time on a store
// in memory: what it writes then would seem to have seen what it wrote before,
// and replace it everywhere.
var ErrMemoryUsed = errors.New("node: this instance has run once on a store in memory, which is gone: make a new instance with fleetd init or fleetd join in another --dir")

// owner is state.Owner in a seed. Keys are never reused.
type owner struct {
	Instance merge.InstanceID `cbor:"1,keyasint"`
	Fleet    []byte           `cbor:"2,keyasint"` // 32 bytes
}

// seed is what a new store begins with. For a store in memory it is kept as a
// file until the first run. Keys are never reused.
type seed struct {
	Owner owner `cbor:"1,keyasint"`
	// Statements are encoded records that make the instance a member.
	Statements [][]byte `cbor:"2,keyasint"`
	// Peers are members whose addresses are known.
	Peers []bookEntry `cbor:"3,keyasint,omitempty"`
}

// plant fills a new store, the owner last: without it the store counts as
// empty.
func (s *seed) plant(ctx context.Context, st *store.Store) error {
	batch := store.Batch{Path: store.PathFeed}
	for _, b := range s.Statements {
		rec, err := merge.Decode(b)
		if err != nil {
			return fmt.Errorf("node: seed: %w", err)
		}
		batch.Records = append(batch.Records, rec)
	}
	res, err := st.Merge(ctx, batch)
	if err != nil {
		return fmt.Errorf("node: seed: %w", err)
	}
	if waits := res.Parked + res.Refused; waits > 0 {
		// Without its statements this instance would be nobody's member.
		return fmt.Errorf("node: seed: %w: %d statements are from the future", fleet.ErrClock, waits)
	}
	for _, e := range s.Peers {
		if err := saveEntry(ctx, st, e); err != nil {
			return err
		}
	}
	if len(s.Owner.Fleet) != len(merge.FleetID{}) {
		return fmt.Errorf("node: seed: %w: fleet of %d bytes", merge.ErrMalformed, len(s.Owner.Fleet))
	}
	return state.Own(ctx, st, state.Owner{Instance: s.Owner.Instance, Fleet: merge.FleetID(s.Owner.Fleet)})
}

// keep writes the seed for a later run.
func (s *seed) keep(at layout) error {
	b, err := merge.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.Mkdir(at.storeDir(), 0o700); err != nil {
		return fmt.Errorf("node: seed: %w", err)
	}
	return writeFile(at.seedFile(), b)
}

// takeSeed returns the kept seed and removes it, so that it grows one store.
// Errors: ErrMemoryUsed when that has happened; fleet.ErrClock, and it is kept,
// when the clock says that it is of the future.
func takeSeed(at layout, now time.Time) (*seed, error) {
	b, err := os.ReadFile(at.seedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMemoryUsed
	}
	if err != nil {
		return nil, fmt.Errorf("node: seed: %w", err)
	}
	var s seed
	if err := merge.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("node: seed %s: %w", at.seedFile(), err)
	}
	if err := fleet.CheckStamps(s.Statements, now); err != nil {
		return nil, err
	}
	if err := os.Remove(at.seedFile()); err != nil {
		return nil, fmt.Errorf("node: seed: %w", err)
	}
	return &s, syncDir(at.storeDir())
}

// setLocal stores a local value in the house CBOR.
func setLocal(ctx context.Context, st *store.Store, name string, v any) error {
	b, err := merge.Marshal(v)
	if err != nil {
		return fmt.Errorf("node: local value %s: %w", name, err)
	}
	if err := st.SetLocal(ctx, name, b); err != nil {
		return fmt.Errorf("node: local value %s: %w", name, err)
	}
	return nil
}

// getLocal reads a local value; ok is false when there is none.
func getLocal(st *store.Store, name string, v any) (ok bool, err error) {
	var b []byte
	err = st.View(func(r *store.Reader) error {
		b, err = r.Local(name)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = merge.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("node: local value %s: %w", name, err)
	}
	return true, nil
}
