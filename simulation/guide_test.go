package simulation_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/simulation"
)

// TestTheGuideIsTrue runs the plan that docs/simulation.md shows, and holds that
// what it says of it happens.
func TestTheGuideIsTrue(t *testing.T) {
	guide, err := os.ReadFile("../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```plan\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the guide shows no plan")
	}
	plan, err := simulation.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	var trace strings.Builder
	c, err := simulation.Run(plan, simulation.Options{Trace: &trace}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Coverage().Markers[simulation.SometimesConflict]; n != 1 {
		t.Errorf("%d conflicts, want that of the skill which both wrote", n)
	}
	for _, line := range []string{
		"00:01:10.000 plan write 0 count 0\n", "00:01:10.000 r0   writes skill/shared-0 1803888070000.0\n", "00:01:10.000 r0   gossip ",
		"01:01:11.000 plan return 1\n", "01:01:12.000 net  connect 0-1\n", " hello of ", " question 337340328 about 1 spans of skill", " answer 337340328: 1 spans, 1 items", " get 337340329: 1 refs", " apply 337340331 by reconcile: 1 records",
	} {
		if !strings.Contains(trace.String(), line) {
			t.Errorf("the trace has no %q, which the guide shows", line)
		}
	}
}
