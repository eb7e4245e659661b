package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// signer signs as one member of a fleet.
type signer struct {
	fleet.Identity
	of merge.FleetID
}

func (s signer) InstanceID() merge.InstanceID { return s.ID() }
func (s signer) Fleet() merge.FleetID         { return s.of }

// writes measures acknowledged (synced, signed) writes of memory items of 1 KB
// through the agent-facing API, beside badger alone.
func writes(dir string) ([]row, error) {
	single, err := rawBadger(filepath.Join(dir, "single"), 64, 1)
	if err != nil {
		return nil, err
	}
	hundred, err := rawBadger(filepath.Join(dir, "hundred"), 1, 100)
	if err != nil {
		return nil, err
	}
	rows := []row{
		{name: "badger alone, 64 goroutines, one key a synced transaction", value: single, unit: "puts/s"},
		{name: "badger alone, 100 keys a synced transaction", value: hundred, unit: "puts/s"},
	}
	for _, writers := range []int{1, 16, 64} {
		got, err := stateWrites(filepath.Join(dir, strconv.Itoa(writers)), writers)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{
			name: fmt.Sprintf("state, signed and synced, %d writers", writers), value: got, unit: "writes/s",
			ratio: got / single, versus: "badger alone, 64 goroutines",
		})
	}
	return rows, nil
}

func stateWrites(dir string, writers int) (float64, error) {
	engine, err := store.OpenBadger(dir, store.BadgerOptions{})
	if err != nil {
		return 0, err
	}
	st, err := store.Open(engine, store.Config{Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{}})
	if err != nil {
		return 0, err
	}
	identity, err := fleet.NewIdentity(rand.Reader)
	if err != nil {
		return 0, err
	}
	provider, err := state.Open(st, state.Config{Signer: signer{identity, fleet.FleetIDOf(identity.Public())}})
	if err != nil {
		return 0, err
	}
	defer func() { _ = provider.Close() }()
	return rate(writers, func(int) (int, error) {
		_, err := provider.Memory().Write(context.Background(), state.MemoryItem{Kind: "fact", Content: string(text(valueBytes))})
		return 1, err
	})
}
