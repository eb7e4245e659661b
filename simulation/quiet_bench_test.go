package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
)

// BenchmarkQuietHour is what one hour costs in which five replicas compare
// heads and an agent writes every minute.
func BenchmarkQuietHour(b *testing.B) {
	for b.Loop() {
		c, err := simulation.New(simulation.Calm(31, 5), simulation.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for k := range 60 {
			c.RunFor(time.Minute)
			c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 5, Count: k % 12})
		}
		if err := c.Err(); err != nil {
			b.Fatal(err)
		}
	}
}
