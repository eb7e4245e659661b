package simulation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
)

// sums lists what a replica holds of the shared families.
func sums(c *simulation.Cluster, n int) string {
	var text strings.Builder
	for _, scope := range []merge.Scope{{}, {Project: "web"}, {Project: "web", Workspace: "feature"}} {
		for _, family := range []string{"fleet", "skill", "memory", "note"} {
			s := c.Replica(n).Store().State(merge.Section{Family: family, Scope: scope})
			sum := s.Sum.Bytes()
			fmt.Fprintf(&text, "%s %d %x; ", s.Section, s.Count, sum[:3])
		}
	}
	return text.String()
}

// TestHonestMembersConvergeWhileOneLies holds that a member which lies in one
// way all the time keeps nothing from the others: they become one within the
// bound, whoever of them writes, with nothing but their own connections.
func TestHonestMembersConvergeWhileOneLies(t *testing.T) {
	lies := []simulation.Step{
		{Act: simulation.ActForgeHeads, Count: 100},
		{Act: simulation.ActForgeHeads, Count: 30},
		{Act: simulation.ActForgeAnswers, Count: 100},
		{Act: simulation.ActForgeAnswers, Count: 30},
		{Act: simulation.ActForgeContents, Count: 100},
		{Act: simulation.ActForgeContents, Count: 50},
		{Act: simulation.ActForgeRequests, Count: 100},
		{Act: simulation.ActForgeRecords, Count: 100},
		{Act: simulation.ActForgeGossip, Count: 100},
		{Act: simulation.ActFlipBits, Count: 50},
		{Act: simulation.ActReplay, Count: 100},
		{Act: simulation.ActUnasked, Count: 100},
		{Act: simulation.ActFlood, Count: 100},
		{Act: simulation.ActClaim, Count: 300},
		{Act: simulation.ActEndless},
		{Act: simulation.ActPry, Count: 100},
		{Act: simulation.ActMute, Count: 100},
	}
	for _, gossip := range []bool{true, false} {
		for _, lie := range lies {
			t.Run(fmt.Sprintf("%s %d gossip %t", lie.Act, lie.Count, gossip), func(t *testing.T) {
				plan := simulation.Calm(21, 4)
				plan.Gossip = gossip
				if lie.Act == simulation.ActForgeContents {
					plan.InlineBytes = 10
				}
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

// TestHonestMembersConvergeWhileMostOfTheOthersLie holds the same of eleven
// members of whom five lie, without end or by silence: as long as there is an
// honest way, and within a turn of each liar more.
func TestHonestMembersConvergeWhileMostOfTheOthersLie(t *testing.T) {
	for _, act := range []simulation.Act{simulation.ActMute, simulation.ActEndless} {
		t.Run(string(act), func(t *testing.T) {
			plan := simulation.Calm(31, 11)
			plan.Gossip = false
			c := newCluster(t, plan)
			c.RunFor(time.Minute)
			const honest = 6
			for n := honest; n < 11; n++ {
				c.Do(simulation.Step{Act: act, Replica: n, Count: 100, For: 24 * time.Hour})
			}
			for n := range 11 {
				for k := range 6 {
					c.Do(simulation.Step{Act: simulation.ActWrite, Replica: n, Count: 100*n + k})
				}
			}
			limit := c.Bound() + 5*plan.RequestTimeout
			began := c.Clock().Now()
			for different := true; different; {
				c.RunFor(500 * time.Millisecond)
				different = false
				for n := range honest {
					different = different || !hasAll(c, n, honest)
				}
				if took := c.Clock().Now().Sub(began); took > limit {
					t.Fatalf("not one after %s", took)
				}
			}
			t.Logf("one after %s of %s", c.Clock().Now().Sub(began), limit)
			finish(t, c)
		})
	}
}

// hasAll reports whether a replica shows what the first so many have written.
func hasAll(c *simulation.Cluster, n, writers int) bool {
	items, err := c.Replica(n).State().Memory().Recall(context.Background(), state.RecallQuery{})
	if err != nil {
		return false
	}
	skills, err := c.Replica(n).State().Skills().Search(context.Background(), "", 0)
	if err != nil {
		return false
	}
	shown := map[string]bool{}
	for _, it := range items {
		shown[it.ID] = true
	}
	for _, sk := range skills {
		shown[sk.Slug] = true
	}
	for w := range writers {
		for k := range 6 {
			if !shown[fmt.Sprintf("shared-%d", 100*w+k)] {
				return false
			}
		}
	}
	return true
}
