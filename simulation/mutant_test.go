package simulation_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// catchMax is within how many seeds a planted fault must be found.
const catchMax = 100

// caught runs seeds until one fails, and returns how many it took; 0 when none
// did.
func caught(t *testing.T, options simulation.Options) int {
	t.Helper()
	for n := 1; n <= catchMax; n++ {
		if _, err := runSeed(uint64(n), options); err != nil {
			t.Logf("caught by seed %d: %.300s", n, err)
			if _, sound := runSeed(uint64(n), simulation.Options{}); mutant == "" && sound != nil {
				t.Errorf("seed %d fails without the fault too: %v", n, sound)
			}
			return n
		}
	}
	return 0
}

// TestForgottenRepairIsCaught plants a fault: engines that compare heads on the
// first connection of a pair alone. After a reconnect they have only gossip.
func TestForgottenRepairIsCaught(t *testing.T) {
	forget := func(_, _ int, connection uint64, m fleetsync.Message) (deliver bool) {
		switch m.(type) {
		case *fleetsync.Hello, *fleetsync.HelloAck, *fleetsync.Heartbeat:
			return connection == 1
		}
		return true
	}
	if caught(t, simulation.Options{Intercept: forget}) == 0 {
		t.Errorf("%d seeds do not notice that nothing is repaired after a reconnect", catchMax)
	}
}

// TestMissingTieBreakIsCaught builds merge with a planted fault, no order
// between versions of one stamp and writer, and lets TestMutantIsCaught of that
// build prove that it is found.
func TestMissingTieBreakIsCaught(t *testing.T) {
	if mutant != "" {
		t.Skip("already within a mutant")
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-tags", "mutant_notiebreak", "-run", "^TestMutantIsCaught$", "-count=1", "-v", ".")
	out, err := build.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "caught by seed") {
		t.Errorf("the fault is not found: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestMutantIsCaught runs in builds with a planted fault alone.
func TestMutantIsCaught(t *testing.T) {
	if mutant == "" {
		t.Skip("no fault is planted in this build")
	}
	if caught(t, simulation.Options{}) == 0 {
		t.Errorf("%d seeds do not notice the fault %s", catchMax, mutant)
	}
}
