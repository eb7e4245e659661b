package main

import (
	"bytes"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetsync/fleetd/store"
)

// losesRow does to a store what a bad disk does: a row of versions is gone. The
// item is the only one whose name holds the id.
func losesRow(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: losesrow STORE ID")
	}
	disk, err := store.OpenBadger(ts.MkAbs(args[0]), store.BadgerOptions{})
	ts.Check(err)
	removed := 0
	ts.Check(disk.Update(func(tx store.Txn) error {
		var rows [][]byte
		err := tx.Scan([]byte("v"), []byte("w"), false, func(key, _ []byte) (bool, error) {
			if bytes.Contains(key, []byte(args[1])) {
				rows = append(rows, slices.Clone(key))
			}
			return true, nil
		})
		for _, row := range rows {
			removed++
			if err := tx.Delete(row); err != nil {
				return err
			}
		}
		return err
	}))
	ts.Check(disk.Close())
	if removed != 1 {
		ts.Fatalf("%d rows removed", removed)
	}
}
