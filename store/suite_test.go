package store_test

import (
	"sync"
	"testing"

	"github.com/fleetsync/fleetd/store"
	"github.com/fleetsync/fleetd/store/storetest"
)

// memoryDisks returns an Opener whose directories hold memory engines: opening
// one again gives what the last engine over it left.
func memoryDisks() storetest.Opener {
	var mu sync.Mutex
	disks := map[string]*store.Memory{}
	return func(_ testing.TB, dir string) store.Engine {
		mu.Lock()
		defer mu.Unlock()
		fresh := store.NewMemory()
		if last, ok := disks[dir]; ok {
			fresh = last.Clone()
		}
		disks[dir] = fresh
		return fresh
	}
}

func openBadger(tb testing.TB, dir string) store.Engine {
	tb.Helper()
	e, err := store.OpenBadger(dir, store.BadgerOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.RunSuite(t, memoryDisks())
}

func TestBadger(t *testing.T) {
	t.Parallel()
	storetest.RunSuite(t, openBadger)
}
