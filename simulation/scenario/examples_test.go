package scenario_test

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
	"github.com/fleetsync/fleetd/simulation/scenario"
)

var (
	scenarioSeeds = flag.Int("scenarioseeds", 0, "how many seeds each example runs; 0 is as many as CI has time for")
	// The flag of the tests of package simulation, which run together with these.
	_ = flag.Int("seeds", 0, "without effect here")
)

// examples are the scenarios that users begin with.
func examples(t *testing.T) map[string]*scenario.Scenario {
	t.Helper()
	files, err := filepath.Glob("../../examples/scenarios/*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d examples (%v), want 3", len(files), err)
	}
	all := map[string]*scenario.Scenario{}
	for _, file := range files {
		s, err := scenario.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = s
	}
	return all
}

// TestExamplesRunClean runs every example, the large ones with fewer seeds.
func TestExamplesRunClean(t *testing.T) {
	for name, s := range examples(t) {
		t.Run(name, func(t *testing.T) {
			seeds := cmp.Or(*scenarioSeeds, affordable(s))
			if seeds == 0 {
				t.Skip("a run is one goroutine, and would take minutes under the race detector")
			}
			var spread simulation.Propagation
			result, err := campaign.Run(t.Context(), campaign.Config{
				Seeds: campaign.Fresh(1000, seeds), Plan: s.Plan, RepeatEvery: -1, Workers: 1,
				Options: func() simulation.Options { return simulation.Options{Sample: time.Hour} },
				Check: func(c *simulation.Cluster) error {
					spread = c.Propagation()
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range result.Failures {
				t.Errorf("seed %d: %v", f.Seed, f.Err)
			}
			if spread.Writes < 80 || len(spread.CatchUps) == 0 || spread.Quantile(0.5) > time.Second {
				t.Errorf("%d writes, everywhere after %s, %d returns: the example shows little", spread.Writes, spread.Quantile(0.5), len(spread.CatchUps))
			}
			t.Logf("%s\n%d writes, everywhere after %s (half), %s (99 of 100), %s (all); caught up after %v; %d conflicts",
				result, spread.Writes, spread.Quantile(0.5), spread.Quantile(0.99), spread.Quantile(1), spread.CatchUps, spread.Conflicts)
		})
	}
}

// affordable is how many seeds CI has time for.
func affordable(s *scenario.Scenario) int {
	const large = 10
	switch {
	case raced && s.Agents() > large:
		return 0
	case raced || s.Agents() > large:
		return 1
	}
	return 2
}

// TestEveryExampleSaysHowItIsRun holds that an example begins with what it is
// and names its own file.
func TestEveryExampleSaysHowItIsRun(t *testing.T) {
	for name := range examples(t) {
		text := readFile(t, "../../examples/scenarios/"+name+".yaml")
		if !strings.Contains(text, "#   fleetd simulate --scenario examples/scenarios/"+name+".yaml\n") {
			t.Errorf("%s does not say how it is run", name)
		}
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 100 {
				t.Errorf("%s has a line of %d columns: %s", name, len(line), line)
			}
		}
	}
}

// TestTheReferenceNamesEveryField holds docs/scenarios.md to the fields that
// there are, both ways, and its examples to the parser.
func TestTheReferenceNamesEveryField(t *testing.T) {
	page := readFile(t, "../../docs/scenarios.md")
	known := map[string]bool{}
	for _, f := range scenario.Fields() {
		known[f.Path] = true
		isList := f.Path == "sites" || f.Path == "links" || f.Path == "writes" || f.Path == "faults"
		if !isList && !strings.Contains(page, "`"+f.Path+"`") {
			t.Errorf("docs/scenarios.md does not name %s (%s)", f.Path, f.Want)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(page, -1) {
		for _, name := range strings.Split(row[1], ", ") {
			if name = strings.Trim(name, "`"); !known[name] {
				t.Errorf("docs/scenarios.md describes %s, which there is not", name)
			}
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Error("docs/scenarios.md has no example")
	}
	for _, block := range blocks {
		parse(t, block[1])
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
