package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/simulation"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// forget plants a fault: engines that compare heads on the first connection of
// a pair alone. After a reconnect they have only gossip.
func forget(_, _ int, connection uint64, m fleetsync.Message) (deliver bool) {
	switch m.(type) {
	case *fleetsync.Hello, *fleetsync.HelloAck, *fleetsync.Heartbeat:
		return connection == 1
	}
	return true
}

// failsWith runs plans with a planted fault.
func failsWith(options simulation.Options) func(simulation.Plan) *simulation.Violation {
	return func(plan simulation.Plan) *simulation.Violation {
		_, err := simulation.Run(plan, options, nil)
		return simulation.ViolationOf(err)
	}
}

// TestAPlanShrinksToWhatFails plants a fault and holds that little is left of the
// plans that find it, and that what is left finds it again from its text.
func TestAPlanShrinksToWhatFails(t *testing.T) {
	fails := failsWith(simulation.Options{Intercept: forget})
	shrunk := 0
	for seed := uint64(1); shrunk < 2; seed++ {
		plan := simulation.NewPlan(seed)
		if len(plan.Steps) < 60 || fails(plan) == nil {
			continue
		}
		shrunk++
		began := time.Now()
		got, err := simulation.Shrink(t.Context(), plan, simulation.ShrinkConfig{Fails: fails})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.1f seconds\n%s", time.Since(began).Seconds(), got.Text())
		if len(got.Plan.Steps) > 8 || got.Plan.Replicas > 3 {
			t.Errorf("seed %d: %d steps and %d replicas are left, of %d and %d", seed, len(got.Plan.Steps), got.Plan.Replicas, len(plan.Steps), plan.Replicas)
		}
		again, err := simulation.ParsePlan(got.Text())
		if err != nil {
			t.Fatal(err)
		}
		v := fails(again)
		if v == nil || *v != got.Violation {
			t.Errorf("seed %d: the text violates %v, want %v", seed, v, got.Violation)
		}
		if first := fails(plan); first.Invariant != got.Violation.Invariant {
			t.Errorf("seed %d violates %s, what is left of it %s", seed, first.Invariant, got.Violation.Invariant)
		}
		if _, err := simulation.Run(again, simulation.Options{}, nil); err != nil {
			t.Errorf("seed %d: what is left fails without the fault too: %v", seed, err)
		}
	}
}

// needs fails a plan that has all of these steps, in any order and number, and
// no other of its kind matters. It stands for a run.
func needs(acts ...simulation.Act) func(simulation.Plan) *simulation.Violation {
	return func(plan simulation.Plan) *simulation.Violation {
		have := map[simulation.Act]bool{}
		for _, s := range plan.Steps {
			have[s.Act] = true
		}
		for _, act := range acts {
			if !have[act] {
				return &simulation.Violation{Invariant: simulation.InvariantQuiet} // another one
			}
		}
		return &simulation.Violation{Invariant: simulation.InvariantRows, Text: "planted"}
	}
}

func TestNothingIsLeftThatIsNotNeeded(t *testing.T) {
	fails := needs(simulation.ActWrite, simulation.ActDelete)
	for seed := range uint64(40) {
		plan := simulation.NewPlan(seed)
		for i := range plan.Steps { // numbers that these acts do not look at, or may do without
			if s := &plan.Steps[i]; s.Act == simulation.ActWrite || s.Act == simulation.ActDelete {
				s.Peer, s.Bytes = 1, 300
			}
		}
		if fails(plan).Invariant != simulation.InvariantRows {
			continue
		}
		got, err := simulation.Shrink(t.Context(), plan, simulation.ShrinkConfig{Fails: fails})
		if err != nil {
			t.Fatal(err)
		}
		want := simulation.Calm(got.Plan.Seed, 2)
		want.Steps = got.Plan.Steps
		if diff := cmp.Diff(want, got.Plan, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: not calm:\n%s", seed, diff)
		}
		for _, s := range got.Plan.Steps {
			if s.After+s.For != 0 || s.Count != 0 || s.Group != 0 || s.Peer != 0 || s.Bytes != 0 {
				t.Errorf("seed %d: not simple: %+v", seed, s)
			}
		}
		if len(got.Plan.Steps) != 2 {
			t.Errorf("seed %d: %d steps are left, of %d", seed, len(got.Plan.Steps), len(plan.Steps))
		}
	}
}

func TestTheOnlyStepIsLeftOut(t *testing.T) {
	plan := simulation.Calm(1, 2)
	plan.Steps = []simulation.Step{{Act: simulation.ActCrash}}
	got, err := simulation.Shrink(t.Context(), plan, simulation.ShrinkConfig{
		Fails: func(simulation.Plan) *simulation.Violation {
			return &simulation.Violation{Invariant: simulation.InvariantRows}
		},
	})
	if err != nil || len(got.Plan.Steps) != 0 {
		t.Errorf("%v: left is\n%s", err, got.Text())
	}
}

// TestAPlanWithoutAReplicaIsAPlan holds that every plan stays valid when any of
// its replicas is left out, and that nothing is left of that one.
func TestAPlanWithoutAReplicaIsAPlan(t *testing.T) {
	for seed := range uint64(300) {
		plan := simulation.NewPlan(seed)
		for n := range plan.Replicas {
			// A mark that nothing else has shows what becomes of whom.
			for i := range plan.Skews {
				plan.Skews[i] = time.Duration(i)
			}
			plan.Absent, plan.Newer = nil, nil
			for i := range plan.Replicas {
				plan.Absent, plan.Newer = append(plan.Absent, i), append(plan.Newer, i)
			}
			left := simulation.Without(plan, n)
			if err := left.Validate(); err != nil {
				t.Fatalf("seed %d without replica %d: %v", seed, n, err)
			}
			for i := range left.Replicas {
				if was := int(left.Skews[i]); was != i && was != i+1 || was == n || left.Absent[i] != i || left.Newer[i] != i {
					t.Errorf("seed %d without replica %d: replica %d was %d", seed, n, i, was)
				}
			}
		}
	}
}

func TestShrinkingIsBoundedAndRepeatable(t *testing.T) {
	plan := simulation.NewPlan(7)
	for _, runs := range []int{1, 2, 25, 200} {
		var texts [2]string
		for i := range texts {
			ran := 0
			fails := needs(simulation.ActWrite, simulation.ActDelete)
			got, err := simulation.Shrink(t.Context(), plan, simulation.ShrinkConfig{Runs: runs, Fails: func(p simulation.Plan) *simulation.Violation {
				ran++
				return fails(p)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if ran > runs || ran != got.Runs {
				t.Errorf("ran %d plans and says %d, at most %d", ran, got.Runs, runs)
			}
			texts[i] = got.Text()
		}
		if texts[0] != texts[1] {
			t.Errorf("shrunk twice:\n%s", cmp.Diff(texts[0], texts[1]))
		}
	}
}

func TestAPlanWithoutAFailureDoesNotShrink(t *testing.T) {
	if _, err := simulation.Shrink(t.Context(), simulation.Calm(1, 2), simulation.ShrinkConfig{}); !errors.Is(err, simulation.ErrSound) {
		t.Errorf("want ErrSound, got %v", err)
	}
	if _, err := simulation.Shrink(t.Context(), simulation.Plan{}, simulation.ShrinkConfig{}); !errors.Is(err, simulation.ErrPlan) {
		t.Errorf("want ErrPlan, got %v", err)
	}
}

func TestACancelledShrinkHasWhatIsLeftSoFar(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	plan := simulation.NewPlan(7)
	got, err := simulation.Shrink(ctx, plan, simulation.ShrinkConfig{
		Fails: needs(simulation.ActWrite),
		Progress: func(runs int, _ *simulation.Plan) {
			if runs == 5 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || got == nil || got.Runs != 5 || len(got.Plan.Steps) >= len(plan.Steps) {
		t.Errorf("want what five runs have left, got %+v, %v", got, err)
	}
}

func TestAShrunkPlanSaysWhatFails(t *testing.T) {
	got, err := simulation.Shrink(t.Context(), simulation.NewPlan(7), simulation.ShrinkConfig{Fails: needs(simulation.ActWrite)})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# I14 rows: planted\n", "# Shrunk from seed 7: ", " steps to 1, ", "\nplan 1\n"} {
		if !strings.Contains(got.Text(), part) {
			t.Errorf("no %q in\n%s", part, got.Text())
		}
	}
	if want := "i14-rows-7.plan"; got.FileName() != want {
		t.Errorf("got the name %s, want %s", got.FileName(), want)
	}
}

func TestWhatNeedsMoreThanItsPlanSaysSo(t *testing.T) {
	planted := func(simulation.Plan) *simulation.Violation {
		return simulation.ViolationOf(simulation.Named("notes", errors.New("planted")))
	}
	for _, test := range []struct {
		name string
		cfg  simulation.ShrinkConfig
		own  bool
	}{
		{"an invariant of the package", simulation.ShrinkConfig{Fails: needs(simulation.ActWrite)}, false},
		{"the same with a workload", simulation.ShrinkConfig{Fails: needs(simulation.ActWrite), Own: true}, true},
		{"an own check", simulation.ShrinkConfig{Fails: planted}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Runs = 30
			got, err := simulation.Shrink(t.Context(), simulation.NewPlan(7), test.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got.Text(), simulation.NeedsOwn+"\n") != test.own {
				t.Errorf("want that it needs more %t:\n%s", test.own, got.Text())
			}
			if _, err := simulation.ParsePlan(got.Text()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestShrinkingStaysWithTheSameOwnCheck plants a check that finds two things: the
// one that it is about, and in every short plan another.
func TestShrinkingStaysWithTheSameOwnCheck(t *testing.T) {
	failing := needs(simulation.ActWrite, simulation.ActDelete)
	for _, test := range []struct {
		name  string
		other error
		same  bool // to the shrinker
	}{
		{"by another name", simulation.Named("everybody writes", errors.New("nothing was written")), false},
		{"without a name", errors.New("nothing was written"), false},
		{"by the same name", simulation.Named("deletes last", errors.New("one came back")), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := func(plan simulation.Plan) error {
				if failing(plan).Invariant == simulation.InvariantRows {
					return fmt.Errorf("wrapped: %w", simulation.Named("deletes last", fmt.Errorf("of %d steps", len(plan.Steps))))
				}
				return test.other
			}
			got, err := simulation.Shrink(t.Context(), simulation.NewPlan(7), simulation.ShrinkConfig{
				Fails: func(p simulation.Plan) *simulation.Violation { return simulation.ViolationOf(check(p)) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if v := got.Violation; v.Invariant != simulation.InvariantOwn || v.Check != "deletes last" {
				t.Errorf("shrunk to another failure: %v", &v)
			}
			if slid := len(got.Plan.Steps) < 2; slid != test.same {
				t.Errorf("%d steps are left", len(got.Plan.Steps))
			}
		})
	}
}
