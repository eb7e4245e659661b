package state_test

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// otherFleet is a signer that writes for another fleet.
type otherFleet struct{ *signingKey }

func (otherFleet) Fleet() merge.FleetID { return merge.FleetID{2} }

func TestAStoreOpensForItsOwnerAlone(t *testing.T) {
	mine := newKey()
	another := &signingKey{key: ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))}
	disk := store.NewMemory()
	open := func(signer state.Signer) error {
		st, err := store.Open(disk.Clone(), store.Config{Now: clock.System{}.Now, Rand: &countingEntropy{}, Indexer: state.Indexer{}})
		must(t, err)
		defer func() { must(t, st.Close()) }()
		_, err = state.Open(st, state.Config{Signer: signer})
		return err
	}
	// A store of before the owner was remembered is the first opener's.
	st, err := store.Open(disk, store.Config{Now: clock.System{}.Now, Rand: &countingEntropy{}, Indexer: state.Indexer{}})
	must(t, err)
	if _, err := state.OwnerOf(st); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("the owner of a new store: %v, want ErrNotFound", err)
	}
	must(t, open(another))
	_, err = state.Open(st, state.Config{Signer: mine})
	must(t, err)
	owner, err := state.OwnerOf(st)
	if want := (state.Owner{Instance: mine.InstanceID(), Fleet: mine.Fleet()}); err != nil || owner != want {
		t.Errorf("the owner is %+v, %v, want %+v", owner, err, want)
	}
	must(t, open(mine))
	for name, signer := range map[string]state.Signer{"another key": another, "another fleet": otherFleet{mine}} {
		err := open(signer)
		if !errors.Is(err, state.ErrForeignStore) {
			t.Errorf("%s: %v, want ErrForeignStore", name, err)
			continue
		}
		for _, part := range []string{mine.InstanceID().String(), "put the store of that key back"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
	}
}

func TestADamagedOwnerIsNoOwner(t *testing.T) {
	for name, value := range map[string][]byte{
		"no CBOR":       {0xff},
		"a short fleet": {0xa2, 0x01, 0x61, 'a', 0x02, 0x41, 0x01},
	} {
		st, err := store.Open(store.NewMemory(), store.Config{Now: clock.System{}.Now, Rand: &countingEntropy{}, Indexer: state.Indexer{}})
		must(t, err)
		must(t, st.SetLocal(t.Context(), "identity", value))
		if owner, err := state.OwnerOf(st); err == nil || errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s: %+v, %v", name, owner, err)
		}
		if _, err := state.Open(st, state.Config{Signer: newKey()}); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
}
