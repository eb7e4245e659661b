package report_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/report"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func observe(t *testing.T, plan simulation.Plan) *report.Run {
	t.Helper()
	run, err := report.Observe(plan, simulation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestARunIsRecordedTheSameEachTime holds that a page follows from the plan, and
// that what it shows is consistent.
func TestARunIsRecordedTheSameEachTime(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		run := observe(t, simulation.NewPlan(seed))
		if diff := cmp.Diff(run, observe(t, simulation.NewPlan(seed))); diff != "" {
			t.Fatalf("seed %d is recorded otherwise the second time:\n%s", seed, diff)
		}
		if last := run.Samples[len(run.Samples)-1]; last.Missing != 0 || run.Failure != "" {
			t.Errorf("seed %d ends with %d versions missing, %s", seed, last.Missing, run.Failure)
		}
		if n := len(run.Samples); n < 100 || n > 500 {
			t.Errorf("seed %d has %d samples in %s", seed, n, run.Length)
		}
		checkWindow(t, seed, run)
		for _, s := range run.Spans {
			if s.From > s.To || s.To > run.Length {
				t.Errorf("seed %d: %+v in a run of %s", seed, s, run.Length)
			}
		}
		examine(t, write(t, report.Data{Run: run}))
	}
}

func checkWindow(t *testing.T, seed uint64, run *report.Run) {
	t.Helper()
	w := &run.Window
	if len(w.Messages) == 0 || len(w.Messages) > 150 || w.From > w.To || w.To > run.Length {
		t.Errorf("seed %d: a window of %d messages from %s to %s", seed, len(w.Messages), w.From, w.To)
	}
	if len(w.Points) == 0 || w.Points[0].Kind != simulation.EventWrite || w.Points[0].At != w.From {
		t.Errorf("seed %d: the window does not begin with a write", seed)
	}
	for _, m := range w.Messages {
		if m.Sent > m.Arrived || m.Arrived < w.From || m.Arrived > w.To {
			t.Errorf("seed %d: a message outside of %s to %s: %+v", seed, w.From, w.To, m)
		}
	}
}

// TestAFailureIsShown plants a fault, and holds that the page shows the messages
// before it was noticed.
func TestAFailureIsShown(t *testing.T) {
	run, err := report.Record("a fleet that compares nothing", func(o simulation.Options) (*simulation.Cluster, error) {
		o.Intercept = func(_, _ int, _ uint64, m fleetsync.Message) bool {
			return m.Type() != fleetsync.TypeHeartbeat && m.Type() != fleetsync.TypeHello && m.Type() != fleetsync.TypeHelloAck
		}
		plan := simulation.Calm(1, 3)
		plan.Gossip = false
		plan.Steps = []simulation.Step{{After: time.Minute, Act: simulation.ActWrite, Replica: 1}}
		c, err := simulation.New(plan, o)
		if err != nil {
			return nil, err
		}
		return c, c.Run()
	})
	if err != nil {
		t.Fatal(err)
	}
	text := examine(t, write(t, report.Data{Run: run}))
	for _, want := range []string{"This run failed", "I12 liveness"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if last := run.Marks[len(run.Marks)-1]; last.Kind != simulation.EventViolation || last.At != run.Window.To {
		t.Errorf("the window ends at %s, the run went wrong at %+v", run.Window.To, last)
	}
}

func TestARunThatIsAnotherTheSecondTimeIsRefused(t *testing.T) {
	seed := uint64(0)
	_, err := report.Record("two runs", func(o simulation.Options) (*simulation.Cluster, error) {
		seed++
		c, err := simulation.New(simulation.Calm(seed, 2), o)
		if err != nil {
			return nil, err
		}
		return c, c.Run()
	})
	if err == nil || !strings.Contains(err.Error(), "another one") {
		t.Errorf("got %v", err)
	}
	broken := errors.New("broken")
	if _, err := report.Record("none", func(simulation.Options) (*simulation.Cluster, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want what the run returned", err)
	}
}

func TestALargeFleetStaysLegible(t *testing.T) {
	plan := simulation.Calm(4, 50)
	for n := range 2 {
		plan.Steps = append(plan.Steps, simulation.Step{After: 10 * time.Second, Act: simulation.ActWrite, Replica: 9 * n, Count: n})
	}
	run := observe(t, plan)
	if n := len(run.Window.Messages); n == 0 || n > 150 {
		t.Errorf("a window of %d messages", n)
	}
	if n := run.Window.LeftOut; n == 0 || strings.HasPrefix(run.Window.Why, "the first") {
		t.Errorf("%d heartbeats are left out, and still it is %s", n, run.Window.Why)
	}
	page := write(t, report.Data{Run: run})
	text := examine(t, page)
	for _, want := range []string{"Of 50 replicas the 40", "heartbeats are left out", "kB a second"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if bytes.Contains(page, []byte(`x="-`)) {
		t.Error("something is drawn beside the picture")
	}
}

func TestASweepFollowsFromItsSeeds(t *testing.T) {
	sweep := func() *report.Sweep {
		calls := 0
		s, err := report.RunSweep(t.Context(), report.SweepConfig{
			Sizes: []int{2, 4}, Losses: []float64{0, 1}, Seeds: 2, Base: 7,
			Progress: func(done, total int) {
				if calls++; done != calls || total != 16 {
					t.Errorf("call %d says %d of %d", calls, done, total)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := sweep()
	if diff := cmp.Diff(first, sweep()); diff != "" {
		t.Errorf("the second sweep differs:\n%s", diff)
	}
	for _, c := range first.Cells {
		if finished := c.Loss == 0; finished != (len(c.Times) == 2) || finished == (c.Unfinished == 2) {
			t.Errorf("%+v: nothing arrives where everything is lost, and everything where nothing is", c)
		}
	}
	examine(t, write(t, report.Data{Sweep: first}))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := report.RunSweep(ended, report.SweepConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v from a sweep that was called off", err)
	}
}
