package state_test

import (
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/statetest"
)

func TestMemoryProvider(t *testing.T) {
	statetest.RunSuite(t, func(testing.TB) state.Provider { return state.NewMemory() })
}
