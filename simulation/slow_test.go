package simulation_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestASlowLineIsEnough holds that a newcomer gets what a fleet holds also on a
// line that does not carry a full page before it is asked for again, and wastes
// little of it; and that on a fast line pages are large.
func TestASlowLineIsEnough(t *testing.T) {
	for _, line := range []struct {
		name      string
		bandwidth int64
		within    time.Duration
		pagesMax  int
	}{
		{"8 kB a second", 8_000, 20 * time.Minute, 600},
		{"50 kB a second", 50_000, 3 * time.Minute, 60},
		{"any amount", 0, 20 * time.Second, 10},
	} {
		t.Run(line.name, func(t *testing.T) {
			plan := simulation.Calm(61, 2)
			plan.Weather.Bandwidth, plan.Absent = line.bandwidth, []int{1}
			c := newCluster(t, plan)
			skills := merge.Section{Family: "skill"}
			for range 4 { // of 15 kB each
				c.Do(simulation.Step{Act: simulation.ActLarge, Replica: 0, Count: 80})
			}
			c.Do(simulation.Step{Act: simulation.ActJoin, Replica: 1})
			c.RunFor(line.within)
			want, got := c.Replica(0).Store().State(skills), c.Replica(1).Store().State(skills)
			if got.Count != want.Count {
				t.Errorf("%d of %d records after %s", got.Count, want.Count, line.within)
			}
			pages := c.Traffic(fleetsync.TypePage)
			if pages.Messages > line.pagesMax || pages.Bytes > 6_000_000 {
				t.Errorf("%d pages of %d bytes for 4.8 MB, want at most %d", pages.Messages, pages.Bytes, line.pagesMax)
			}
			t.Logf("%d pages of %d bytes", pages.Messages, pages.Bytes)
		})
	}
}
