package ids_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/ids"
)

// counting is entropy without end that never repeats soon.
type counting struct{ n byte }

func (c *counting) Read(b []byte) (int, error) {
	for i := range b {
		c.n += 7
		b[i] = c.n
	}
	return len(b), nil
}

func TestIDIsUUIDv7OfTheClock(t *testing.T) {
	clk := clock.NewManual(time.UnixMilli(1_790_000_000_123))
	id, err := uuid.Parse(ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&counting{})).New())
	if err != nil {
		t.Fatal(err)
	}
	if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
		t.Errorf("%s has version %d, variant %s", id, id.Version(), id.Variant())
	}
	seconds, nanos := id.Time().UnixTime()
	if got := time.Unix(seconds, nanos).UnixMilli(); got != 1_790_000_000_123 {
		t.Errorf("%s holds the time %d", id, got)
	}
}

func TestEqualSourcesMintEqualIDs(t *testing.T) {
	mint := func() string {
		g := ids.NewGenerator(ids.WithClock(clock.NewManual(time.Unix(9, 0))), ids.WithEntropy(&counting{}))
		return strings.Join([]string{g.New(), g.New(), g.New()}, " ")
	}
	if first, second := mint(), mint(); first != second {
		t.Errorf("%s, then %s", first, second)
	}
}

func TestIDsAscendWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clk := clock.NewManual(time.UnixMilli(rapid.Int64Range(-10, 1<<40).Draw(t, "start")))
		g := ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&counting{}))
		last := ""
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			clk.Advance(time.Duration(rapid.Int64Range(-5, 5).Draw(t, "step")) * time.Millisecond)
			for range rapid.SampledFrom([]int{1, 2, 5000}).Draw(t, "burst") {
				id := g.New()
				if id <= last {
					t.Fatalf("%s after %s", id, last)
				}
				last = id
			}
		}
	})
}

func TestFailingEntropyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	ids.NewGenerator(ids.WithEntropy(bytes.NewReader(nil))).New()
}
