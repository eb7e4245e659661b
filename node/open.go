package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// ErrForeignStore is returned for a store that another instance made, or an
// instance whose store is gone.
var ErrForeignStore = errors.New("node: store does not belong to this instance")

// openStore opens the store of a data directory as configured. The caller
// closes it. What may go on afterwards is given to background, unless that is
// nil.
func openStore(cfg *Config, onCommit func(store.Commit), background func(task func() error)) (*store.Store, error) {
	engine := cfg.Engine
	switch {
	case engine != nil:
	case cfg.StoreKind == StoreMemory:
		engine = store.NewMemory()
	default:
		var err error
		if engine, err = store.OpenBadger(layout(cfg.Dir).storeDir(), store.BadgerOptions{}); err != nil {
			if errors.Is(err, store.ErrLocked) {
				return nil, fmt.Errorf("%w: %w", ErrInUse, err)
			}
			return nil, fmt.Errorf("node: open the store: %w", err)
		}
	}
	st, err := store.Open(engine, store.Config{
		Now: cfg.clock(), Rand: rand.Reader, Indexer: state.Indexer{}, OnCommit: onCommit, Background: background,
	})
	if err != nil {
		_ = engine.Close()
		return nil, fmt.Errorf("node: open the store: %w", err)
	}
	return st, nil
}

// checkStoreKind makes sure that a data directory was made for the store asked for.
// A store of one kind never begins under a key that
// wrote into another.
func checkStoreKind(cfg *Config) error {
	if cfg.Engine != nil {
		return nil
	}
	entries, err := os.ReadDir(layout(cfg.Dir).storeDir())
	_, seeded := os.Stat(layout(cfg.Dir).seedFile())
	isBadger := err == nil && len(entries) > 0 && seeded != nil
	switch {
	case cfg.StoreKind == StoreMemory && isBadger:
		return fmt.Errorf("%w: %s is on the disk: run it with store badger", ErrForeignStore, layout(cfg.Dir).storeDir())
	case cfg.StoreKind == StoreBadger && seeded == nil:
		return fmt.Errorf("%w: this instance was made for a store in memory: run it with store memory", ErrForeignStore)
	case cfg.StoreKind == StoreBadger && !isBadger:
		return fmt.Errorf("%w: there is none in %s: a new store under an old key would replace what it never saw; join again in another --dir", ErrForeignStore, layout(cfg.Dir).storeDir())
	}
	return nil
}

// ownStore makes sure that a store is this instance's and returns its fleet. A
// store in memory, or an engine that is new, is planted first.
func ownStore(cfg *Config, st *store.Store, self merge.InstanceID, plant func(*seed) error) (merge.FleetID, error) {
	own, err := state.OwnerOf(st)
	if errors.Is(err, state.ErrNotFound) {
		if cfg.StoreKind == StoreBadger && cfg.Engine == nil {
			return merge.FleetID{}, fmt.Errorf("%w: it is empty: a new store under an old key would replace what it never saw; join again in another --dir", ErrForeignStore)
		}
		var s *seed
		if s, err = takeSeed(layout(cfg.Dir), cfg.clock()()); err == nil {
			err = plant(s)
		}
		if err == nil {
			own, err = state.OwnerOf(st)
		}
	}
	if err != nil {
		return merge.FleetID{}, err
	}
	if own.Instance != self {
		return merge.FleetID{}, fmt.Errorf("%w: it was made by %s, the key is of %s: put the right identity.key back, or join again in another --dir",
			ErrForeignStore, own.Instance, self)
	}
	return own.Fleet, nil
}

// readRoot reads the fleet's root key where the fleet began; ok is false
// elsewhere and after its export.
func readRoot(at layout, id merge.FleetID) (root fleet.Identity, ok bool, err error) {
	root, err = readKey(at.rootFile())
	if errors.Is(err, os.ErrNotExist) {
		return root, false, nil
	}
	if err != nil {
		return root, false, err
	}
	if fleet.FleetIDOf(root.Public()) != id {
		return root, false, fmt.Errorf("%w %s is of another fleet", ErrKeyFile, at.rootFile())
	}
	return root, true, nil
}
