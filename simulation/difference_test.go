package simulation_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestAFleetApartSaysWhoLacksWhat cuts the last replica off for good, and holds
// that the violation begins with what it lacks, in words and few of them.
func TestAFleetApartSaysWhoLacksWhat(t *testing.T) {
	const skill, memory = "1 version of skill, global that ", "1 version of memory, global that "
	for name, test := range map[string]struct {
		writes [][2]int // by whom, of which key
		want   string
	}{
		"one section":           {[][2]int{{0, 0}, {0, 6}}, "replica 2 lacks 2 versions of skill, global that replica 0 holds"},
		"what is replaced":      {[][2]int{{0, 0}, {0, 0}, {2, 1}, {2, 1}}, "replica 0 lacks " + memory + "replica 2 holds; replica 1 lacks " + memory + "replica 2 holds; replica 2 lacks " + skill + "replica 0 holds"},
		"many sections":         {[][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}}, `replica 2 lacks 1 version of memory, [^;]* that replica 0 holds; [^;]*; [^;]*; and 3 more`},
		"one key on both sides": {[][2]int{{0, 0}, {2, 0}}, "replica 0 lacks " + skill + "replica 2 holds; replica 1 lacks " + skill + "replica 2 holds; replica 2 lacks " + skill + "replica 0 holds"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := simulation.Calm(5, 3)
			plan.Gossip = false
			for _, w := range test.writes {
				plan.Steps = append(plan.Steps, simulation.Step{After: time.Minute, Act: simulation.ActWrite, Replica: w[0], Count: w[1]})
			}
			plan.Rest = time.Minute
			_, err := simulation.Run(plan, simulation.Options{Intercept: func(from, to int, _ uint64, _ fleetsync.Message) bool {
				return from != 2 && to != 2
			}}, nil)
			var v *simulation.Violation
			if !errors.As(err, &v) || v.Invariant != simulation.InvariantLiveness {
				t.Fatalf("want a fleet that is not one, got %v", err)
			}
			first, roots, _ := strings.Cut(v.Text, "\n")
			if !regexp.MustCompile(" after the last fault: " + test.want + "$").MatchString(first) {
				t.Errorf("got\n%s\nwant\n%s", first, test.want)
			}
			if !strings.Contains(roots, "replica 0 has ") || !strings.Contains(roots, "\nreplica 2 has ") {
				t.Errorf("the roots are missing: %s", roots)
			}
		})
	}
}
