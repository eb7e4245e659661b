package simulation_test

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// Two laptops edit one skill while apart; once they meet again both hold the
// newer edit, and the older one as a conflict.
func ExampleCluster() {
	c, err := simulation.New(simulation.Calm(7, 2), simulation.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 1})
	for replica := range 2 {
		c.Do(simulation.Step{Act: simulation.ActWrite, Replica: replica, Count: 0})
		c.RunFor(time.Hour)
	}
	c.Do(simulation.Step{Act: simulation.ActReturn, Replica: 1})
	for _, step := range []func() error{c.Heal, c.Converge, c.Check} {
		if err := step(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("converged:", c.Took() < time.Minute)
	// Output: converged: true
}
