package scenario_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation"
)

// happening is a step at its absolute time.
type happening struct {
	at   time.Duration
	step simulation.Step
}

func happenings(p *simulation.Plan, acts ...simulation.Act) []happening {
	var all []happening
	var at time.Duration
	for _, s := range p.Steps {
		at += s.After
		s.After = 0
		for _, act := range acts {
			if s.Act == act {
				all = append(all, happening{at, s})
			}
		}
	}
	return all
}

const busy = `
duration: 4d
sites:
- {name: west, agents: 3, zone: -8h, clock_error: 2s}
- {name: east, agents: 2, zone: 9h}
links:
- {from: west, to: east, latency: 90ms..120ms, loss: 3%, bandwidth: 1MiB/s, cuts: [{at: 1h, for: 30m, every: 1d}, {at: 25h15m, for: 1h}]}
writes:
- {sites: west, rate: 10/h, quiet: 20:00..08:00, new: 20%, edits: 70%, deletes: 10%, keys: 6, size: 100B..200B}
- {sites: east, rate: 2/h}
faults: {crashes: 5/d, downtime: 1m..2m, dropouts: 12/d, dropout_for: 1m..3h, partitions: 3/d, partition_for: 10m..20m, disk_errors: 4/d}
`

// TestAPlanIsDrawnAsTheScenarioSays holds the plan of a scenario to its numbers.
func TestAPlanIsDrawnAsTheScenarioSays(t *testing.T) {
	s := parse(t, busy)
	p := s.Plan(5)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 0, 0, 1, 1}, p.Sites); diff != "" {
		t.Errorf("sites: %s", diff)
	}
	for n, skew := range p.Skews {
		if wrong := skew != 0 && skew.Abs() <= 2*time.Second; wrong != (n < 3) {
			t.Errorf("the clock of agent %d is wrong by %s", n, skew)
		}
	}
	want := simulation.Weather{LatencyMin: 90 * time.Millisecond, LatencyMax: 120 * time.Millisecond, Loss: 0.03, GossipLoss: 0.03, Bandwidth: 1 << 20, Ordered: true}
	for _, path := range p.Paths {
		if there := path.From == 0 && path.To == 1; there != cmp.Equal(want, path.Weather) {
			t.Errorf("the weather from %d to %d is %+v", path.From, path.To, path.Weather)
		}
	}
	length := p.Rest
	for _, step := range p.Steps {
		length += step.After
	}
	if length != 96*time.Hour {
		t.Errorf("the plan lasts %s", length)
	}
}

func TestASeedDecidesThePlan(t *testing.T) {
	s := parse(t, busy)
	if diff := cmp.Diff(s.Plan(5), s.Plan(5)); diff != "" {
		t.Errorf("the same seed drew another plan: %s", diff)
	}
	if cmp.Equal(s.Plan(5).Steps, s.Plan(6).Steps) {
		t.Error("another seed drew the same steps")
	}
}

// TestRatesAreKeptOnAverage counts over many seeds.
func TestRatesAreKeptOnAverage(t *testing.T) {
	s := parse(t, busy)
	const seeds = 40
	counts := map[simulation.Act]int{}
	east := 0
	for seed := range uint64(seeds) {
		p := s.Plan(seed)
		for _, step := range p.Steps {
			isEast := step.Replica >= 3 && (step.Act == simulation.ActWrite || step.Act == simulation.ActBurst || step.Act == simulation.ActDelete)
			if isEast {
				east++
				continue
			}
			counts[step.Act]++
		}
	}
	// West writes 10 an hour for the 12 hours of its day: 3 agents, 4 days.
	const west = 10 * 12 * 3 * 4
	for _, want := range []struct {
		what      string
		got, want float64
	}{
		{"new items", float64(counts[simulation.ActBurst]), 0.2 * west},
		{"edits", float64(counts[simulation.ActWrite]), 0.7 * west},
		{"deletes", float64(counts[simulation.ActDelete]), 0.1 * west},
		{"writes in the east", float64(east), 2 * 24 * 2 * 4},
		{"crashes", float64(counts[simulation.ActCrash]), 5 * 5 * 4},
		{"disk errors", float64(counts[simulation.ActRefuse]), 4 * 5 * 4},
		{"partitions", float64(counts[simulation.ActPartition]), 3 * 4},
	} {
		if mean := want.got / seeds; math.Abs(mean-want.want) > 0.12*want.want {
			t.Errorf("%s: %.1f a run, want about %.1f", want.what, mean, want.want)
		}
	}
}

func TestNobodyWritesInQuietHours(t *testing.T) {
	p := parse(t, busy).Plan(7)
	hours := map[int]int{}
	for _, w := range happenings(&p, simulation.ActWrite, simulation.ActBurst, simulation.ActDelete) {
		if w.step.Replica < 3 {
			hours[int(w.at.Hours())%24]++ // a run begins at midnight in the west
			if w.step.Act == simulation.ActDelete != (w.step.Bytes == 0) || w.step.Bytes > 200 {
				t.Errorf("%s writes %d bytes", w.step, w.step.Bytes)
			}
		}
	}
	for hour := range 24 {
		if day := hour >= 8 && hour < 20; day != (hours[hour] > 0) {
			t.Errorf("%d writes between %d:00 and %d:00 in the west", hours[hour], hour, hour+1)
		}
	}
}

// TestOutagesDoNotEndEachOther holds that an agent that is away twice at a time
// comes back once, when both are over, and so with lines that are cut.
func TestOutagesDoNotEndEachOther(t *testing.T) {
	s := parse(t, busy)
	for seed := range uint64(20) {
		p := s.Plan(seed)
		away := map[int]bool{}
		for _, h := range happenings(&p, simulation.ActAbsence, simulation.ActReturn) {
			leaves := h.step.Act == simulation.ActAbsence
			if away[h.step.Replica] == leaves {
				t.Errorf("seed %d: %s: %s, away already: %t", seed, h.at, h.step, leaves)
			}
			away[h.step.Replica] = leaves
		}
	}
	p := s.Plan(1)
	hour := time.Hour
	cut := func(at, lasts time.Duration) happening {
		return happening{at, simulation.Step{Act: simulation.ActCutLine, Replica: 0, Peer: 3, For: lasts}}
	}
	want := []happening{cut(hour, hour/2), cut(25*hour, 75*time.Minute), cut(49*hour, hour/2), cut(73*hour, hour/2)}
	if diff := cmp.Diff(want, happenings(&p, simulation.ActCutLine), cmp.AllowUnexported(happening{})); diff != "" {
		t.Errorf("cuts (-want +got):\n%s", diff)
	}
}

// TestOneMoreSiteLeavesTheOthers holds that what is added at the end changes
// nothing of what was drawn before.
func TestOneMoreSiteLeavesTheOthers(t *testing.T) {
	const one = "sites:\n- {name: a, agents: 2}\n- {name: b, agents: 2}\n"
	const work = "writes:\n- sites: [a, b]\n"
	small := parse(t, one+work).Plan(3)
	large := parse(t, one+"- {name: c, agents: 2, absences: [{at: 1h, for: 1h}]}\n"+work+"- {sites: c, rate: 9/h}\nfaults: {disk_errors: 5/d}\n").Plan(3)
	writes := func(p *simulation.Plan) (own []happening) {
		for _, h := range happenings(p, simulation.ActWrite, simulation.ActBurst, simulation.ActDelete) {
			if h.step.Replica < 4 {
				own = append(own, h)
			}
		}
		return own
	}
	if diff := cmp.Diff(writes(&small), writes(&large), cmp.AllowUnexported(happening{})); diff != "" {
		t.Errorf("the writes of the four agents changed:\n%s", diff)
	}
}

// TestTheHubIsWhereEverybodyMeets holds that the agent of the hub is the one
// that all others connect to, wherever it stands in the list.
func TestTheHubIsWhereEverybodyMeets(t *testing.T) {
	p := parse(t, "hub: b\nsites:\n- {name: a, agents: 2}\n- {name: b, clock_error: 1h}\n- name: c\n").Plan(1)
	if diff := cmp.Diff([]int{1, 0, 0, 2}, p.Sites); diff != "" || p.Topology != simulation.Star || p.Skews[0] == 0 {
		t.Errorf("sites %v, topology %s, clocks %v", p.Sites, p.Topology, p.Skews)
	}
}

// TestTimersAreAsFineAsARunCanAfford holds that a long run has coarse timers,
// and never coarser ones than a tenth of its heartbeat.
// TestMachinesAreCalledByTheirSite holds that a name stands at the number of the
// replica that plays the machine.
func TestMachinesAreCalledByTheirSite(t *testing.T) {
	s := parse(t, "hub: cellar\nsites:\n- {name: desk, agents: 2, clock_error: 1s}\n- name: cellar\n- name: sofa\n")
	want := []string{"cellar", "desk 1", "desk 2", "sofa"}
	if diff := cmp.Diff(want, s.Machines()); diff != "" {
		t.Error(diff)
	}
	plan := s.Plan(1)
	for n, name := range want {
		if onDesk := strings.HasPrefix(name, "desk"); onDesk != (plan.Skews[n] != 0) || onDesk != (plan.Sites[n] == 0) {
			t.Errorf("replica %d, %s, is of site %d and its clock is wrong by %s", n, name, plan.Sites[n], plan.Skews[n])
		}
	}
	if got := parse(t, "sites:\n- name: a\n- {name: b, agents: 2}\n").Machines(); !slices.Equal(got, []string{"a", "b 1", "b 2"}) {
		t.Errorf("without a hub: %q", got)
	}
}

func TestTimersAreAsFineAsARunCanAfford(t *testing.T) {
	for _, test := range []struct {
		head string
		want time.Duration
	}{
		{"duration: 1h\n", 100 * time.Millisecond},
		{"duration: 30d\nheartbeat: 10m\n", 520 * time.Millisecond},
		{"duration: 400d\nheartbeat: 20s\n", 2 * time.Second},
		{"duration: 400d\nheartbeat: 200ms\n", 100 * time.Millisecond},
	} {
		got := parse(t, test.head+two).Plan(1).TickEvery
		if got < test.want*9/10 || got > test.want*11/10 {
			t.Errorf("%q has timers of %s, want about %s", test.head, got, test.want)
		}
	}
}
