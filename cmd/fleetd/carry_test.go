package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// carries merges the records of one store into another, and none of their content:
// what a machine has whose partner went offline in between.
func carries(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: carries STORE STORE")
	}
	from, to := openStore(ts, args[0]), openStore(ts, args[1])
	var records []merge.Record
	ts.Check(from.View(func(r *store.Reader) error {
		for _, s := range from.Sections() {
			var failed error
			err := r.Range(s.Section, "", func(k merge.Key, held []store.Held) bool {
				for _, h := range held {
					var rec merge.Record
					if rec, failed = r.Load(k, h); failed != nil {
						return false
					}
					records = append(records, rec)
				}
				return true
			})
			if err != nil || failed != nil {
				return errors.Join(err, failed)
			}
		}
		return nil
	}))
	_, err := to.Merge(context.Background(), store.Batch{Path: store.PathFeed, Records: records})
	ts.Check(err)
	ts.Check(from.Close())
	ts.Check(to.Close())
}

// openStore opens the store of a daemon that does not run.
func openStore(ts *testscript.TestScript, dir string) *store.Store {
	disk, err := store.OpenBadger(ts.MkAbs(dir), store.BadgerOptions{})
	ts.Check(err)
	st, err := store.Open(disk, store.Config{Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{}})
	ts.Check(err)
	return st
}
