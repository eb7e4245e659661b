package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
)

// office is a fleet of three at one site and two laptops at another, behind a
// slow line that loses messages. For twenty minutes the laptops are cut off;
// meanwhile one machine of the office crashes, and one laptop goes away.
func office(seed uint64) simulation.Plan {
	plan := simulation.Calm(seed, 5)
	plan.Sites = []int{0, 0, 0, 1, 1}
	slow := simulation.Weather{LatencyMin: 40 * time.Millisecond, LatencyMax: 200 * time.Millisecond, Loss: 0.05, GossipLoss: 0.3}
	plan.Paths = []simulation.Path{{From: 0, To: 1, Weather: slow}, {From: 1, To: 0, Weather: slow}}
	plan.Steps = []simulation.Step{
		{After: time.Minute, Act: simulation.ActPartition, Group: 0b11000, For: 20 * time.Minute},
		{After: 2 * time.Minute, Act: simulation.ActCrash, Replica: 1, For: 30 * time.Second},
		{After: time.Minute, Act: simulation.ActAbsence, Replica: 4},
		{After: 30 * time.Minute, Act: simulation.ActReturn, Replica: 4},
	}
	plan.Rest = 5 * time.Minute
	return plan
}

var runbooks = merge.Scope{Project: "runbooks"}

// writing is what the agents of the office do: each begins a runbook, and every
// three minutes adds a line to that of its neighbour.
func writing(c *simulation.Cluster) {
	for n := range c.Replicas() {
		c.Agent(n, time.Duration(n)*time.Second, func(ctx context.Context, agent state.Replica) error {
			_, err := agent.Skills().Upsert(ctx, state.Skill{Slug: fmt.Sprintf("runbook-%d", n), Scope: runbooks, Body: "# Runbook\n"})
			return err
		})
		c.Every(3*time.Minute, func() {
			c.Agent(n, time.Duration(n)*time.Second, func(ctx context.Context, agent state.Replica) error {
				book, err := agent.SkillLibrary().GetIn(ctx, runbooks, fmt.Sprintf("runbook-%d", (n+1)%c.Replicas()))
				if errors.Is(err, state.ErrNotFound) {
					return nil // it has not come yet
				}
				if err != nil {
					return err
				}
				book.Body += fmt.Sprintf("%d was here\n", n)
				_, err = agent.Skills().Upsert(ctx, book)
				return err
			})
		})
	}
}

// authors holds that no runbook is missing anywhere, or lost its author.
func authors(c *simulation.Cluster) error {
	for n := range c.Replicas() {
		books, err := c.Replica(n).State().Skills().List(context.Background(), runbooks)
		if err != nil {
			return err
		}
		if len(books) != c.Replicas() {
			return simulation.Named("every runbook arrives", fmt.Errorf("replica %d shows %d", n, len(books)))
		}
		for i, book := range books {
			if author := c.Replica(i).ID().String(); book.OriginInstanceID != author {
				return fmt.Errorf("replica %d says that %s is by %s", n, book.Slug, book.OriginInstanceID)
			}
		}
	}
	return nil
}

// A fleet with two sites, an own workload, faults by hand, and an own check.
func Example_ownFleet() {
	c, err := simulation.Run(office(1), simulation.Options{Workload: writing, Sample: time.Second}, authors)
	if err != nil {
		fmt.Println(err)
		return
	}
	writes := c.Propagation()
	fmt.Println("every write came everywhere:", len(writes.Times) == writes.Writes)
	fmt.Println("the last after the partition:", writes.Quantile(1) > 10*time.Minute)
	fmt.Println("missing in the end:", c.Divergence())
	// Output:
	// every write came everywhere: true
	// the last after the partition: true
	// missing in the end: 0
}
