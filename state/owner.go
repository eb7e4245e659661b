package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// ErrForeignStore is returned by Open for a store that belongs to another
// instance or fleet: what the signer writes into it would seem to have seen
// what it never saw, and replace it everywhere.
var ErrForeignStore = errors.New("state: store belongs to another instance")

// Owner says whose store one is. A store remembers it from the first time that
// it is opened with a Signer.
type Owner struct {
	Instance merge.InstanceID
	Fleet    merge.FleetID
}

// localOwner is the store's local value that holds its owner.
const localOwner = "identity"

// storedOwner is the value of localOwner. Keys are never reused.
type storedOwner struct {
	Instance merge.InstanceID `cbor:"1,keyasint"`
	Fleet    []byte           `cbor:"2,keyasint"` // 32 bytes
}

// Own makes a store that belongs to nobody that of an owner. It changes nothing
// in one that is the owner's already. Errors: ErrForeignStore, those of the
// store.
func Own(ctx context.Context, st *store.Store, o Owner) error {
	switch known, err := OwnerOf(st); {
	case err == nil:
		return known.admits(o)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	b, err := merge.Marshal(storedOwner{Instance: o.Instance, Fleet: o.Fleet[:]})
	if err == nil {
		err = st.SetLocal(ctx, localOwner, b)
	}
	if err != nil {
		return fmt.Errorf("state: owner of the store: %w", err)
	}
	return nil
}

// OwnerOf returns whose store one is. Errors: ErrNotFound for one that belongs
// to nobody yet, store.ErrCorrupt, those of the store.
func OwnerOf(st *store.Store) (Owner, error) {
	var b []byte
	err := st.View(func(r *store.Reader) (err error) {
		b, err = r.Local(localOwner)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return Owner{}, fmt.Errorf("%w: owner of the store", ErrNotFound)
	}
	var stored storedOwner
	if err == nil {
		err = merge.Unmarshal(b, &stored)
	}
	if err != nil {
		return Owner{}, fmt.Errorf("state: owner of the store: %w", err)
	}
	if len(stored.Fleet) != len(merge.FleetID{}) {
		return Owner{}, fmt.Errorf("%w: owner of the store in a fleet of %d bytes", store.ErrCorrupt, len(stored.Fleet))
	}
	return Owner{Instance: stored.Instance, Fleet: merge.FleetID(stored.Fleet)}, nil
}

// admits reports whether another owner is this one. Errors: ErrForeignStore.
func (o Owner) admits(other Owner) error {
	if o == other {
		return nil
	}
	return fmt.Errorf("%w: it was made by %s in the fleet %x, the key is of %s in the fleet %x: put the store of that key back, or begin with an empty store and a new key",
		ErrForeignStore, o.Instance, o.Fleet[:4], other.Instance, other.Fleet[:4])
}
