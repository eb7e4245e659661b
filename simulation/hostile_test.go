package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// sums lists what a replica holds of the shared families, but for keys that the
// hostile member may have made versions of.
func sums(c *simulation.Cluster, n int) string {
	text := ""
	for _, scope := range []merge.Scope{{}, {Project: "web"}, {Project: "web", Workspace: "feature"}} {
		for _, family := range []string{"fleet", "skill", "memory", "note"} {
			s := c.Replica(n).Store().State(merge.Section{Family: family, Scope: scope})
			sum := s.Sum.Bytes()
			text += fmt.Sprintf("%s %d %x; ", s.Section, s.Count, sum[:3])
		}
	}
	return text
}

// TestHonestMembersConvergeWhileOneLies holds that a member which lies in one
// way all the time keeps nothing from the others: they become one within the
// bound, whoever of them writes, with nothing but their own connections.
func TestHonestMembersConvergeWhileOneLies(t *testing.T) {
	lies := []simulation.Step{
		{Act: simulation.ActForgeHeads, Count: 100}, {Act: simulation.ActForgeHeads, Count: 30},
		{Act: simulation.ActForgeAnswers, Count: 100}, {Act: simulation.ActForgeAnswers, Count: 30},
		{Act: simulation.ActForgeRequests, Count: 100}, {Act: simulation.ActForgeRecords, Count: 100},
		{Act: simulation.ActForgeGossip, Count: 100}, {Act: simulation.ActFlipBits, Count: 50},
		{Act: simulation.ActReplay, Count: 100}, {Act: simulation.ActUnasked, Count: 100},
		{Act: simulation.ActFlood, Count: 400}, {Act: simulation.ActClaim, Count: 900},
		{Act: simulation.ActEndless}, {Act: simulation.ActPry, Count: 100},
	}
	for _, gossip := range []bool{true, false} {
		for _, lie := range lies {
			t.Run(fmt.Sprintf("%s %d gossip %t", lie.Act, lie.Count, gossip), func(t *testing.T) {
				plan := simulation.Calm(21, 4)
				plan.Gossip = gossip
				c := newCluster(t, plan)
				c.RunFor(time.Minute)
				lie.Replica, lie.For = 3, 24*time.Hour
				c.Do(lie)
				for round := range 6 {
					for n := range 4 {
						c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: round})
						c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: 100*n + round})
					}
					c.RunFor(7 * time.Second)
				}
				began := c.Clock().Now()
				for n := range 3 {
					c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: 1000 + n})
				}
				for sums(c, 0) != sums(c, 1) || sums(c, 0) != sums(c, 2) {
					if c.Clock().Now().Sub(began) > c.Bound() {
						t.Fatalf("not one after %s:\n%s\n%s\n%s", c.Bound(), sums(c, 0), sums(c, 1), sums(c, 2))
					}
					c.RunFor(500 * time.Millisecond)
				}
				t.Logf("one after %s, %s", c.Clock().Now().Sub(began), c.Coverage())
				if err := c.Err(); err != nil {
					t.Fatal(err)
				}
				finish(t, c)
			})
		}
	}
}
