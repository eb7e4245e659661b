package main

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// valueBytes is the size of a record in every measurement.
const valueBytes = 1000

// writeTime is how long each rate of writes is measured.
const writeTime = 3 * time.Second

// rawBadger measures synced transactions of badger alone, with the options of
// the store, from a number of goroutines; the result is in puts a second.
func rawBadger(dir string, goroutines, keysPerTxn int) (float64, error) {
	opts := badger.DefaultOptions(filepath.Join(dir, "raw")).WithSyncWrites(true).WithLogger(nil).
		WithMemTableSize(8 << 20).WithValueThreshold(1 << 20).WithValueLogFileSize(16 << 20).WithNumMemtables(2).
		WithNumCompactors(2).WithBlockCacheSize(16 << 20).WithIndexCacheSize(8 << 20).WithDetectConflicts(false)
	db, err := badger.Open(opts)
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

// words make texts that compress about as well as people's do.
var words = [...]string{
	"the", "deploy", "script", "fails", "when", "cache", "is", "cold", "run", "again", "after", "clearing", "token", "expired",
	"use", "a", "smaller", "batch", "timeout", "of", "thirty", "seconds", "check", "logs", "before", "restarting", "service", "port",
}

// text returns n bytes of words.
func text(n int) []byte {
	b := make([]byte, 0, n+16)
	for len(b) < n {
		b = append(b, words[rand.IntN(len(words))]...)
		b = append(b, ' ')
	}
	return b[:n]
}
