package simulation_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets memory grow further before it is collected: a run holds little,
// makes much garbage, and is over soon.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
