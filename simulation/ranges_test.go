package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// TestAJoinerComparesWithALiar holds that who joins, and so compares by ranges
// with everybody, becomes one with the honest although one of them lies about
// what it holds, divides without end, does not answer, or asks for far too much.
func TestAJoinerComparesWithALiar(t *testing.T) {
	const joiner, liar = 3, 4
	for _, lie := range []simulation.Step{
		{Act: simulation.ActForgeAnswers, Count: 100},
		{Act: simulation.ActForgeAnswers, Count: 40},
		{Act: simulation.ActForgeRequests, Count: 100},
		{Act: simulation.ActEndless},
		{Act: simulation.ActMute, Count: 100},
		{Act: simulation.ActFlood, Count: 100},
		{Act: simulation.ActPry, Count: 100},
		{Act: simulation.ActUnasked, Count: 100},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s %d seed %d", lie.Act, lie.Count, seed), func(t *testing.T) {
				plan := simulation.Calm(41+seed, 5)
				plan.Gossip, plan.PageBytes, plan.Absent = false, 2000, []int{joiner}
				c := newCluster(t, plan)
				for k := range 200 { // memory items of the global scope
					c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 3, Count: 1 + 6*k})
				}
				c.RunFor(time.Minute)
				lie.Replica, lie.For = liar, 24*time.Hour
				c.Do(lie)
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: liar, Count: 7})
				began := c.Clock().Now()
				c.Do(simulation.Step{Act: simulation.ActJoin, Replica: joiner})
				for sums(c, 0) != sums(c, joiner) || sums(c, 0) != sums(c, 1) || sums(c, 0) != sums(c, 2) {
					if c.Clock().Now().Sub(began) > c.Bound() {
						t.Fatalf("not one after %s", c.Bound())
					}
					c.RunFor(500 * time.Millisecond)
				}
				t.Logf("one after %s, %s", c.Clock().Now().Sub(began), c.Coverage())
				finish(t, c)
			})
		}
	}
}
