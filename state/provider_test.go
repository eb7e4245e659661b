package state_test

import (
	"path/filepath"
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/statetest"
	"github.com/fleetsync/fleetd/store"
)

func TestMemoryProvider(t *testing.T) {
	statetest.RunSuite(t, func(testing.TB) state.Provider { return state.NewMemory() })
}

func TestMemoryProviderOnAClockThatStandsStill(t *testing.T) {
	statetest.RunSuite(t, func(testing.TB) state.Provider {
		return state.NewMemory(state.WithClock(clock.NewManual(startTime())), state.WithInstanceID("agent 7"))
	})
}

func TestBadgerProvider(t *testing.T) {
	statetest.RunSuite(t, func(tb testing.TB) state.Provider {
		tb.Helper()
		return openNode(tb, openBadger(tb, tb.TempDir()), clock.System{}, state.Config{Name: "badger", InstanceID: "disk"})
	})
}

func TestSignedProvider(t *testing.T) {
	statetest.RunSuite(t, func(tb testing.TB) state.Provider {
		tb.Helper()
		return openSigned(tb, store.NewMemory(), newKey(), nil)
	})
}

func TestMemoryProviderReopens(t *testing.T) {
	statetest.RunReopenSuite(t, func(tb testing.TB) func() state.Provider {
		tb.Helper()
		engine := store.NewMemory()
		return func() state.Provider {
			engine = engine.Clone()
			return openNode(tb, engine, clock.System{}, state.Config{InstanceID: "again"})
		}
	})
}

func TestBadgerProviderReopens(t *testing.T) {
	statetest.RunReopenSuite(t, func(tb testing.TB) func() state.Provider {
		tb.Helper()
		dir := tb.TempDir()
		return func() state.Provider {
			return openNode(tb, openBadger(tb, dir), clock.System{}, state.Config{InstanceID: "again"})
		}
	})
}

func TestMemoryReplicasExchange(t *testing.T) {
	statetest.RunExchangeSuite(t, func(tb testing.TB, replicas int) statetest.Fleet {
		tb.Helper()
		return newFleet(tb, replicas, clock.NewManual(startTime()), func() store.Engine { return store.NewMemory() })
	})
}

func TestBadgerReplicasExchange(t *testing.T) {
	statetest.RunExchangeSuite(t, func(tb testing.TB, replicas int) statetest.Fleet {
		tb.Helper()
		return newFleet(tb, replicas, clock.System{}, func() store.Engine { return openBadger(tb, tb.TempDir()) })
	})
}

func newFleet(tb testing.TB, replicas int, clk clock.Clock, engine func() store.Engine) statetest.Fleet {
	tb.Helper()
	var fleet statetest.Fleet
	var nodes []*node
	for _, name := range []string{"a", "b", "c"}[:replicas] {
		n := openNode(tb, engine(), clk, state.Config{InstanceID: name})
		nodes, fleet.Replicas = append(nodes, n), append(fleet.Replicas, n)
	}
	fleet.Exchange = func() { exchange(tb, nodes...) }
	return fleet
}

// openBadger leaves syncing to the system: these tests are not about the loss
// of power.
func openBadger(tb testing.TB, dir string) store.Engine {
	tb.Helper()
	engine, err := store.OpenBadger(filepath.Join(dir, "store"), store.BadgerOptions{Relaxed: true})
	if err != nil {
		tb.Fatal(err)
	}
	return engine
}
