package campaign_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
	"github.com/fleetsync/fleetd/state"
)

// Many fleets of three on a bad network, in each of which one machine crashes,
// with an own workload and an own check of the fleet that has become one. A
// failure is made short, so that a person can see what it is that fails.
func ExampleRun() {
	plan := func(seed uint64) simulation.Plan {
		p := simulation.Calm(seed, 3)
		p.Weather.Loss, p.Weather.GossipLoss = 0.2, 0.5
		p.Steps = []simulation.Step{{After: 30 * time.Second, Act: simulation.ActCrash, Replica: 0, For: 5 * time.Second}}
		p.Rest = time.Minute
		return p
	}
	remembers := func(ctx context.Context, agent state.Replica) error {
		_, err := agent.Memory().Write(ctx, state.MemoryItem{Kind: "fact", Content: "the build is red"})
		return err
	}
	cfg := campaign.Config{
		Seeds: campaign.Fresh(2027, 50), // seeds 2028 to 2077
		Plan:  plan,
		Options: func() simulation.Options {
			return simulation.Options{Workload: func(c *simulation.Cluster) {
				c.Every(20*time.Second, func() { c.Agent(0, 0, remembers) })
			}}
		},
		Check: func(c *simulation.Cluster) error {
			items, err := c.Replica(1).State().MemoryLibrary().List(context.Background(), state.Scope{}, "fact")
			if err == nil && len(items) < 3 {
				err = fmt.Errorf("replica 1 remembers only %d facts", len(items))
			}
			return err
		},
	}
	ctx := context.Background()
	result, err := campaign.Run(ctx, cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range result.Failures {
		failure := &result.Failures[i]
		fmt.Println(failure)
		if short, err := cfg.Shrink(ctx, failure, 200); err == nil {
			fmt.Println(short.Text())
		}
	}
	fmt.Println(result.Seeds, "seeds,", len(result.Failures), "failures")
	// Output: 50 seeds, 0 failures
}
