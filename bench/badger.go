package main

import (
	"encoding/binary"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// valueBytes is the size of a record in every measurement.
const valueBytes = 1000

// writeTime is how long each rate of writes is measured.
const writeTime = 3 * time.Second

// openRaw opens badger alone, synced, with the options of the store.
func openRaw(dir string) (*badger.DB, error) {
	return badger.Open(badger.DefaultOptions(dir).WithSyncWrites(true).WithLogger(nil).WithMetricsEnabled(false).
		WithMemTableSize(16 << 20).WithBaseLevelSize(64 << 20).WithValueThreshold(1 << 20).WithValueLogFileSize(16 << 20).
		WithNumLevelZeroTables(10).WithNumLevelZeroTablesStall(20).WithNumMemtables(2).WithNumCompactors(2).WithBlockCacheSize(16 << 20).WithIndexCacheSize(8 << 20).
		WithDetectConflicts(false).WithChecksumVerificationMode(options.NoVerification))
}

// rawBadger measures synced transactions of badger alone, from a number of goroutines; the result is in puts a second.
func rawBadger(dir string, goroutines, keysPerTxn int) (float64, error) {
	db, err := openRaw(filepath.Join(dir, "raw"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	var next atomic.Uint64
	return rate(goroutines, func(int) (int, error) {
		txn := db.NewTransaction(true)
		defer txn.Discard()
		for range keysPerTxn {
			key := binary.BigEndian.AppendUint64([]byte("memory/"), next.Add(1))
			if err := txn.Set(key, text(valueBytes)); err != nil {
				return 0, err
			}
		}
		return keysPerTxn, txn.Commit()
	})
}

// rate runs op in a loop on each of a number of goroutines and returns how
// much it did in a second, all together.
func rate(goroutines int, op func(worker int) (int, error)) (float64, error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for worker := range goroutines {
		all.Go(func() {
			for time.Since(began) < writeTime && failed.Load() == nil {
				n, err := op(worker)
				if err != nil {
					failed.Store(&err)
					return
				}
				done.Add(int64(n))
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}
