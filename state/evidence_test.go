package state_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/state"
)

// TestWilsonLowerBound: the first four rows are method 3 in table I of R. G.
// Newcombe, Two-Sided Confidence Intervals for the Single Proportion,
// Statistics in Medicine 17, 1998.
func TestWilsonLowerBound(t *testing.T) {
	for _, c := range []struct {
		wins, uses int
		want       float64
	}{
		{81, 263, 0.2553},
		{15, 148, 0.0624},
		{0, 20, 0},
		{1, 29, 0.0061},
		{1, 1, 0.2065},
		{10, 10, 0.7225},
		{5, 10, 0.2366},
		{90, 100, 0.8256},
		{0, 0, 0},
		{3, 0, 0},
		{3, -1, 0},
		{-1, 10, 0},
		{11, 10, 0.7225},
	} {
		if got := state.WilsonLowerBound(c.wins, c.uses); math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%d of %d: %.5f, want %.4f", c.wins, c.uses, got, c.want)
		}
	}
}

func TestWilsonLowerBoundLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uses := rapid.IntRange(1, 1_000_000).Draw(t, "uses")
		wins := rapid.IntRange(0, uses).Draw(t, "wins")
		bound := state.WilsonLowerBound(wins, uses)
		if share := float64(wins) / float64(uses); bound < 0 || bound > share || bound == share && wins > 0 {
			t.Errorf("%d of %d: %v is not between 0 and %v", wins, uses, bound, share)
		}
		times := rapid.IntRange(2, 1000).Draw(t, "times")
		if more := state.WilsonLowerBound(times*wins, times*uses); more < bound || more == bound && wins > 0 {
			t.Errorf("%d of %d: %v, %d times as many: %v", wins, uses, bound, times, more)
		}
		if wins > 0 && state.WilsonLowerBound(wins-1, uses) >= bound {
			t.Errorf("%d of %d: one win less gives no less than %v", wins, uses, bound)
		}
		if wins < uses && state.WilsonLowerBound(wins, uses+1) > bound {
			t.Errorf("%d of %d: one loss more gives more than %v", wins, uses, bound)
		}
	})
}
