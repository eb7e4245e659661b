package clock_test

import (
	"testing"
	"time"

	"github.com/fleetsync/fleetd/state/clock"
)

func TestManualMovesOnlyWhenTold(t *testing.T) {
	start := time.Date(2026, 1, 1, 1, 0, 0, 5, time.FixedZone("x", 3600))
	m := clock.NewManual(start)
	for _, step := range []struct {
		do   func()
		want time.Time
	}{
		{func() {}, start.UTC()},
		{func() { m.Advance(time.Hour) }, start.Add(time.Hour).UTC()},
		{func() { m.Advance(-2 * time.Hour) }, start.Add(-time.Hour).UTC()},
		{func() { m.Set(start) }, start.UTC()},
	} {
		step.do()
		if got := m.Now(); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
}

func TestSystemIsUTC(t *testing.T) {
	before := time.Now()
	got := clock.System{}.Now()
	if got.Location() != time.UTC || got.Before(before.Round(0)) || time.Since(got) > time.Minute {
		t.Errorf("got %s, began at %s", got, before)
	}
}
