package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fleetsync/fleetd/store"
)

// ErrInjected is what a Faulty engine fails with.
var ErrInjected = errors.New("storetest: injected failure")

// Fault is how one update fails.
type Fault uint8

const (
	// FaultNone lets the update happen.
	FaultNone Fault = iota
	// FaultBefore refuses the update before it begins, like a full disk.
	FaultBefore
	// FaultWrite fails its first write, and rolls it back.
	FaultWrite
	// FaultCommit fails at its end, and rolls it back.
	FaultCommit
	// FaultAfter lets it happen and says that it failed, like a disk that is lost
	// before it could answer.
	FaultAfter
)

// Faulty is an engine that fails on demand. The fields are set before it is
// used.
type Faulty struct {
	store.Engine
	// Plan says how the n-th update fails, counted from 1; nil for never. It may
	// block, to hold the update back.
	Plan func(n int) Fault
	// TxnBytesMax bounds the keys and values of one update; 0 for no bound.
	TxnBytesMax int

	updates atomic.Int64
}

// Updates returns how many updates have begun.
func (f *Faulty) Updates() int { return int(f.updates.Load()) }

// Update implements store.Engine.
func (f *Faulty) Update(fn func(tx store.Txn) error) error {
	n := int(f.updates.Add(1))
	fault := FaultNone
	if f.Plan != nil {
		fault = f.Plan(n)
	}
	failure := fmt.Errorf("%w: update %d", ErrInjected, n)
	if fault == FaultBefore {
		return failure
	}
	err := f.Engine.Update(func(tx store.Txn) error {
		limited := &faultyTxn{Txn: tx, room: f.TxnBytesMax, bounded: f.TxnBytesMax > 0}
		if fault == FaultWrite {
			limited.failure = failure
		}
		err := fn(limited)
		if err == nil && fault == FaultCommit {
			err = failure
		}
		return err
	})
	if err == nil && fault == FaultAfter {
		return failure
	}
	return err
}

type faultyTxn struct {
	store.Txn
	room    int
	bounded bool
	failure error
}

// Set implements store.Txn.
func (t *faultyTxn) Set(key, value []byte) error {
	if t.failure != nil {
		return t.failure
	}
	if t.room -= len(key) + len(value); t.bounded && t.room < 0 {
		return store.ErrTooLarge
	}
	return t.Txn.Set(key, value)
}

// lasting is an engine that outlives the stores over it.
type lasting struct{ store.Engine }

// Close implements store.Engine.
func (lasting) Close() error { return nil }
