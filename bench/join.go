package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// joinRecords is how much an empty node fetches.
const joinRecords = 10_000

// join measures a new member that fetches everything over loopback, every
// signature checked and every page synced, beside checking as many signatures
// in batches on one core and nothing else.
func join(dir string) (rows []row, err error) {
	ctx := context.Background()
	a, err := founder(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.end()) }()
	if _, err := a.fill(ctx, joinRecords); err != nil {
		return nil, err
	}
	floor, err := checkOnly(a.Store())
	if err != nil {
		return nil, err
	}
	dirB, err := joiner(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	b, err := start(ctx, dirB)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.await(1); err != nil {
		return nil, err
	}
	first := time.Since(began)
	if err := b.await(joinRecords); err != nil {
		return nil, err
	}
	whole := time.Since(began)
	got := joinRecords / (whole - first).Seconds()
	return []row{
		{name: "signature checks alone, batches of 256, one core", value: floor, unit: "records/s"},
		{name: "cold join of 10,000 records of 1 KB, from the first page on", value: got, unit: "records/s", ratio: got / floor, versus: "signature checks alone"},
		{name: "the same, start of the node and connecting included", value: joinRecords / whole.Seconds(), unit: "records/s"},
		{name: "start of the node until its first page is stored", value: float64(first.Milliseconds()), unit: "ms"},
	}, nil
}

// checkOnly checks the signatures of a store's memory items.
func checkOnly(st *store.Store) (float64, error) {
	var records []*merge.Record
	err := st.View(func(r *store.Reader) error {
		var failed error
		err := r.Range(memorySection, "", func(k merge.Key, held []store.Held) bool {
			rec, err := r.Load(k, held[0])
			if err != nil {
				failed = err
				return false
			}
			records = append(records, &rec)
			return true
		})
		return errors.Join(failed, err)
	})
	if err != nil {
		return 0, err
	}
	verifier := fleet.NewVerifier(rand.Reader)
	began := time.Now()
	for at := 0; at < len(records); at += 256 {
		for _, ok := range verifier.Verify(records[at:min(at+256, len(records))]) {
			if !ok {
				return 0, errors.New("a signature of our own is bad")
			}
		}
	}
	return float64(len(records)) / time.Since(began).Seconds(), nil
}
