package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
)

func TestTheExitCodeSaysWhatAFleetBroke(t *testing.T) {
	for _, test := range []struct {
		name        string
		invariants  []simulation.Invariant
		interrupted bool
		want        int
	}{
		{"nothing", nil, false, exitOK},
		{"late", []simulation.Invariant{simulation.InvariantLiveness}, false, exitNotConverged},
		{"different", []simulation.Invariant{simulation.InvariantAgreement, simulation.InvariantLiveness}, false, exitNotConverged},
		{"lost a write", []simulation.Invariant{simulation.InvariantDurability}, false, exitError},
		{"late, and lost a write", []simulation.Invariant{simulation.InvariantLiveness, simulation.InvariantDurability}, false, exitError},
		{"interrupted", nil, true, exitError},
		{"interrupted and late", []simulation.Invariant{simulation.InvariantLiveness}, true, exitError},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := simulateResult{Seeds: 9, Asked: 9}
			for _, i := range test.invariants {
				r.Failures = append(r.Failures, simulateFailure{Invariant: i})
			}
			got := exitOK
			if f := r.verdict(test.interrupted); f != nil {
				got = f.code
			}
			if got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

// TestAPageThatIsNotWrittenThrowsNothingAway holds that the result is printed all
// the same, and that what failed of the seeds has the exit code.
func TestAPageThatIsNotWrittenThrowsNothingAway(t *testing.T) {
	unwritten := &fs.PathError{Op: "write", Path: "page.html", Err: fs.ErrPermission}
	late := []simulateFailure{{Seed: 7, Invariant: simulation.InvariantLiveness, Message: "not one fleet", Replay: "fleetd simulate --seed 7"}}
	for _, test := range []struct {
		name     string
		failures []simulateFailure
		want     int
	}{
		{"a sound fleet", []simulateFailure{}, exitError},
		{"a late one", late, exitNotConverged},
	} {
		for _, output := range []string{"", outputJSON} {
			t.Run(test.name+output, func(t *testing.T) {
				folder := t.TempDir()
				file := func(name string) *os.File {
					f, err := os.Create(filepath.Join(folder, name))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = f.Close() })
					return f
				}
				a := &app{out: newStream(file("out")), errOut: newStream(file("err")), output: output}
				r := &simulateResult{Seeds: 1, Asked: 1, FirstSeed: 7, Failures: test.failures, TraceHash: "cafe"}
				if got := a.report(a.conclude(r, false, unwritten)); got != test.want {
					t.Errorf("exit code %d, want %d", got, test.want)
				}
				out, err := os.ReadFile(filepath.Join(folder, "out"))
				errOut, err2 := os.ReadFile(filepath.Join(folder, "err"))
				if err = errors.Join(err, err2); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(out), "cafe") || !strings.Contains(string(errOut), "the page was not written: write page.html: permission denied") {
					t.Errorf("printed %s, and beside it %s", out, errOut)
				}
				if strings.Contains(string(errOut), "data directory") {
					t.Errorf("it has no data directory: %s", errOut)
				}
			})
		}
	}
}

func TestTheReplayCommandSaysAllThatDecidesTheRun(t *testing.T) {
	for _, test := range []struct {
		flags simulateFlags
		want  string
	}{
		{simulateFlags{}, "fleetd simulate --seed 7 --trace"},
		{simulateFlags{seeds: 40, shrink: true, report: "x.html"}, "fleetd simulate --seed 7 --trace"},
		{simulateFlags{nodes: 12}, "fleetd simulate --nodes 12 --seed 7 --trace"},
		{simulateFlags{scenario: "my fleet.yaml"}, "fleetd simulate --scenario 'my fleet.yaml' --seed 7 --trace"},
		{simulateFlags{plan: "simulate-3.plan"}, "fleetd simulate --plan simulate-3.plan --trace"},
	} {
		s := simulated{simulateFlags: test.flags}
		if got := s.replay(7); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestProgressIsOneLine holds that progress is written over itself, is told at a
// bounded rate, and leaves nothing behind.
func TestProgressIsOneLine(t *testing.T) {
	var shown strings.Builder
	m := &meter{to: &shown, began: time.Now()}
	for done := range 1000 {
		m.seed(campaign.Progress{Done: done + 1, Total: 1000, NodeHours: 12345, Faults: 1234567, Failures: 2})
	}
	m.end()
	parts := strings.Split(shown.String(), "\r\x1b[K")
	if len(parts) < 3 || len(parts) > 100 || strings.Contains(shown.String(), "\n") || parts[len(parts)-1] != "" {
		t.Errorf("%d parts: %.300q", len(parts), shown.String())
	}
	if !strings.HasPrefix(parts[1], "1 of 1,000 seeds, ") || !strings.HasSuffix(parts[1], " a second, 12,345 node-hours, 1,234,567 faults, 2 failures") {
		t.Errorf("shown: %q", parts[1])
	}
	var nobody meter
	nobody.seed(campaign.Progress{Done: 1})
	nobody.end()
}

// TestMeasuresCountASeedOnce holds that a seed which runs twice counts once, and
// that quantiles are of all runs together.
func TestMeasuresCountASeedOnce(t *testing.T) {
	m := newMeasures()
	s := &simulated{first: 4, count: 2}
	described := simulateFlags{scenario: "../../examples/scenarios/two-laptops-and-a-server.yaml"}
	of, err := described.simulation(t.Context(), func(flag string) bool { return flag == "scenario" })
	if err != nil {
		t.Fatal(err)
	}
	s.source = of.source
	for _, seed := range []uint64{4, 5, 4} {
		plan := simulation.Calm(seed, 3)
		plan.Steps = []simulation.Step{{After: time.Minute, Act: simulation.ActWrite, Count: int(seed)}}
		if _, err := simulation.Run(plan, simulation.Options{Sample: time.Hour}, m.take); err != nil {
			t.Fatal(err)
		}
	}
	r := m.sum(s)
	if r.Writes != 2 || r.Everywhere.Max <= 0 || r.Everywhere.Max > 1 || r.Traffic[simulation.RouteGossip].Messages == 0 {
		t.Errorf("measured %+v", r)
	}
	ms := time.Millisecond
	want := &quantilesResult{0.002, 0.003, 0.003}
	if diff := cmp.Diff(want, quantilesOf([]time.Duration{3 * ms, ms, 2 * ms})); diff != "" {
		t.Errorf("quantiles: %s", diff)
	}
	if none := quantilesOf(nil); none != nil || none.text(0) != "-" {
		t.Errorf("of no durations: %v", none)
	}
}

// TestOneSeedSaysTheTraceOfItsRun holds that fleetd says of a seed, a plan and
// the seed of a scenario, which is measured too, what a Go test of it says.
func TestOneSeedSaysTheTraceOfItsRun(t *testing.T) {
	scenarios := "../../examples/scenarios/"
	for _, flags := range []simulateFlags{
		{seed: "3"},
		{plan: "../../simulation/testdata/regressions/" + firstRegression(t)},
		{seed: "3", scenario: scenarios + "two-laptops-and-a-server.yaml"},
	} {
		given := func(flag string) bool {
			return flag == "seed" && flags.seed != "" || flag == "plan" && flags.plan != "" || flag == "scenario" && flags.scenario != ""
		}
		s, err := flags.simulation(t.Context(), given)
		if err != nil {
			t.Fatal(err)
		}
		m := newMeasures()
		cfg := s.config(m)
		cfg.Options = func() simulation.Options { return simulation.Options{Sample: s.sample()} }
		result, err := campaign.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		c, err := simulation.Run(s.draw(s.first), simulation.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := s.result(result, m, 0); r.TraceHash != c.TraceSum() || r.TracesHash != "" {
			t.Errorf("%+v: fleetd says trace %q and traces %q, the run %s", flags, r.TraceHash, r.TracesHash, c.TraceSum())
		}
	}
}

// firstRegression is the name of a plan.
func firstRegression(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir("../../simulation/testdata/regressions")
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	return entries[0].Name()
}

// TestNoTestLibraryIsLinked holds that the program, which links the simulation,
// has nothing in it that is for tests.
func TestNoTestLibraryIsLinked(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	out, err := list.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %v\n%s", err, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Errorf("the program has %d packages: the list means nothing", len(packages))
	}
	for _, p := range packages {
		for _, library := range []string{
			"testing", "pgregory.net/rapid", "github.com/google/go-cmp", "go.uber.org/goleak", "go.uber.org/mock",
			"github.com/stretchr/testify", "github.com/rogpeppe/go-internal", "github.com/marcopolo/simnet",
		} {
			if p == library || strings.HasPrefix(p, library+"/") {
				t.Errorf("the program links %s", p)
			}
		}
		if strings.HasPrefix(p, "github.com/fleetsync/") && strings.HasSuffix(p, "test") {
			t.Errorf("the program links %s", p)
		}
	}
}
