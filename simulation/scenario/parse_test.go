package scenario_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/simulation/scenario"
)

// two is the smallest fleet, for tests of what stands beside it.
const two = "sites: [{name: a}, {name: b}]\n"

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	got := parse(t, "sites:\n  - name: a\n  - name: b\nlinks:\n  - between: [a, b]\nwrites:\n  - {}\n")
	want := &scenario.Scenario{
		Duration: 24 * time.Hour, Heartbeat: 10 * time.Second, Timeout: 10 * time.Second, Gossip: true,
		Sites: []scenario.Site{{Name: "a", Agents: 1}, {Name: "b", Agents: 1}},
		Links: []scenario.Link{{
			From: "a", To: "b", Both: true, Latency: scenario.Range[time.Duration]{Min: 20 * time.Millisecond, Max: 60 * time.Millisecond},
		}},
		Writes: []scenario.Writes{{
			Rate: 5, New: 0.5, Edits: 0.45, Deletes: 0.05, Keys: 20, Size: scenario.Range[int]{Min: 200, Max: 2000},
		}},
		Faults: scenario.Faults{
			Downtime:     scenario.Range[time.Duration]{Min: 10 * time.Second, Max: 5 * time.Minute},
			DropoutFor:   scenario.Range[time.Duration]{Min: 10 * time.Second, Max: 5 * time.Minute},
			PartitionFor: scenario.Range[time.Duration]{Min: time.Minute, Max: time.Hour},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestEveryFormOfAValueIsRead(t *testing.T) {
	got := parse(t, `
name: "quoted: text"
seed: 18446744073709551615
duration: 1d12h          # a comment
heartbeat: 1.5s
timeout: 250ms
gossip: false
hub: a
sites:
- {name: a, clock_error: 0, zone: +9h}
- name: b
  agents: 3
  zone: -5h
  withholds: memory
  absences:
  - {agents: 2, at: 1h, for: 90m, every: 1d}
links:
- from: a
  to: b
  latency: 20ms
  loss: 0.5%
  bandwidth: 64KiB/s
  cuts: [{at: 2h, for: 10m}]
- {from: b, to: a, bandwidth: 8Mbit/s, latency: 1ms..2s}
writes:
- {sites: b, rate: 12/d, quiet: 22:30..07:00, new: 100%, edits: 0, deletes: 0%, size: 300B..4KiB}
- {sites: [a, b], rate: 2/m, keys: 7, size: 1000}
faults: {crashes: 7/w, downtime: 0..1m, dropouts: 0, partitions: 2/d, disk_errors: 1/h}
`)
	ms := time.Millisecond
	want := &scenario.Scenario{
		Name: "quoted: text", Seed: 1<<64 - 1, Seeded: true, Duration: 36 * time.Hour, Heartbeat: 1500 * ms, Timeout: 250 * ms, Hub: "a",
		Sites: []scenario.Site{
			{Name: "a", Agents: 1, Zone: 9 * time.Hour},
			{Name: "b", Agents: 3, Zone: -5 * time.Hour, Withholds: "memory", Absences: []scenario.Absence{
				{Agents: 2, Window: scenario.Window{At: time.Hour, For: 90 * time.Minute, Every: 24 * time.Hour}},
			}},
		},
		Links: []scenario.Link{
			{
				From: "a", To: "b", Latency: scenario.Range[time.Duration]{Min: 20 * ms, Max: 20 * ms}, Loss: 0.005,
				Bandwidth: 64 << 10, Cuts: []scenario.Window{{At: 2 * time.Hour, For: 10 * time.Minute}},
			},
			{From: "b", To: "a", Latency: scenario.Range[time.Duration]{Min: ms, Max: 2000 * ms}, Bandwidth: 1_000_000},
		},
		Writes: []scenario.Writes{
			{
				Sites: []string{"b"}, Rate: 0.5, Quiet: scenario.Range[time.Duration]{Min: 22*time.Hour + 30*time.Minute, Max: 7 * time.Hour},
				New: 1, Keys: 20, Size: scenario.Range[int]{Min: 300, Max: 4096},
			},
			{Sites: []string{"a", "b"}, Rate: 120, New: 0.5, Edits: 0.45, Deletes: 0.05, Keys: 7, Size: scenario.Range[int]{Min: 1000, Max: 1000}},
		},
		Faults: scenario.Faults{
			Crashes: 1.0 / 24, Downtime: scenario.Range[time.Duration]{Max: time.Minute},
			DropoutFor: scenario.Range[time.Duration]{Min: 10 * time.Second, Max: 5 * time.Minute},
			Partitions: 1.0 / 12, PartitionFor: scenario.Range[time.Duration]{Min: time.Minute, Max: time.Hour}, DiskErrors: 1,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scenario (-want +got):\n%s", diff)
	}
}

// TestSeedZeroIsASeed holds that a seed which was chosen is told from none, and
// that a byte order mark is no part of the text.
func TestSeedZeroIsASeed(t *testing.T) {
	for text, seeded := range map[string]bool{two: false, two + "seed: 0\n": true, "\ufeff" + two + "seed: 0\n": true} {
		if s := parse(t, text); s.Seeded != seeded || s.Seed != 0 {
			t.Errorf("%q: seed %d, chosen %t", text, s.Seed, s.Seeded)
		}
	}
}

// TestAnErrorIsShort holds that errors quote little of a text, however long what
// stands there is.
func TestAnErrorIsShort(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	zeros := strings.Repeat("0", 25_000)
	for _, text := range []string{
		long, long + ": 1", two + long + ": 1", "name: " + long + "\nsites: [{name: a, agents: 2}]", two + "hub: " + long, two + "duration: " + long,
		"sites: [{name: " + long + "}]", "sites: [{name: a, agents: 2, withholds: " + long + "}]", two + "links: [{from: a, to: " + long + "}]",
		two + "links: [{between: [a, b], latency: " + zeros + "2s.." + zeros + "1s}]", two + "writes: [{sites: " + long + "}]", "a: b\n" + long + "\n- x: [",
		"{" + long, "\"" + long, "a: " + long + "\na: 1\n", long + ": 1\n" + long + ": 2\n",
	} {
		_, err := scenario.Parse(strings.NewReader(text))
		if !errors.Is(err, scenario.ErrScenario) || len(err.Error()) > 500 {
			t.Errorf("%.60q: an error of %d bytes: %.300v", text, len(fmt.Sprint(err)), err)
		}
	}
}

// TestAMistakeIsNamedWithItsLine holds the text of each error: people mend a
// file by it.
func TestAMistakeIsNamedWithItsLine(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"nothing":               {"", "it is empty; a scenario has sites, see docs/scenarios.md"},
		"only a comment":        {"# later\n", "it is empty; a scenario has sites, see docs/scenarios.md"},
		"no mapping":            {"- a\n", "line 1: want fields: name, seed, duration, heartbeat, timeout, gossip, hub, sites, links, writes, faults"},
		"no YAML":               {"name: a\nsites: [\n", "line 2: it is no YAML: sequence end token ']' not found"},
		"two documents":         {two + "---\n" + two, "line 2: a second document begins here; a scenario is one"},
		"an alias":              {"sites: &all\n- name: a\nlinks: *all\n", "line 1: anchors, aliases and tags are not supported; write it out"},
		"an unknown field":      {two + "\ndurration: 3d\n", "line 3: durration: there is no such field here, did you mean duration?; there is name, seed, duration, heartbeat, timeout, gossip, hub, sites, links, writes, faults"},
		"an unknown inside":     {"sites:\n- name: a\n  agnets: 3\n", "line 3: sites[0].agnets: there is no such field here, did you mean agents?; there is name, agents, clock_error, zone, withholds, absences"},
		"a field twice":         {"name: a\nname: b\n", `line 2: it is no YAML: mapping key "name" already defined at [1:1]`},
		"no value":              {two + "duration:\n", "line 2: duration: it has no value; want a duration such as 30d, 4h, 90s or 1d12h"},
		"a list for a value":    {two + "duration: [1d]\n", "line 2: duration: want a duration such as 30d, 4h, 90s or 1d12h"},
		"a value for a list":    {"sites: a\n", "line 1: sites: want a list of sites, each behind a hyphen"},
		"a word in a list":      {"sites:\n- a\n", "line 2: sites[0]: want fields: name, agents, clock_error, zone, withholds, absences"},
		"no unit":               {two + "duration: 30\n", `line 2: duration: "30", want a duration such as 30d, 4h, 90s or 1d12h`},
		"a negative time":       {two + "duration: -3d\n", `line 2: duration: "-3d", want a duration such as 30d, 4h, 90s or 1d12h`},
		"an endless time":       {two + "duration: 999999999999w\n", `line 2: duration: "999999999999w", want a duration such as 30d, 4h, 90s or 1d12h`},
		"too long a time":       {two + "duration: 2000d\n", "line 2: duration: 2000d, want 1m0s to 400d"},
		"a negative rate":       {two + "writes:\n- rate: -5/h\n", `line 3: writes[0].rate: "-5/h", want a rate such as 5/h or 2/d, or 0`},
		"a bare rate":           {two + "writes:\n- rate: 5\n", `line 3: writes[0].rate: "5", want a rate such as 5/h or 2/d, or 0`},
		"too high a rate":       {two + "writes:\n- rate: 99/s\n", "line 3: writes[0].rate: 356400 an hour, want 0 to 3600"},
		"a share of more":       {two + "links:\n- between: [a, b]\n  loss: 70%\n", "line 4: links[0].loss: 70%, want up to 50%"},
		"a share without %":     {two + "links:\n- between: [a, b]\n  loss: 0.1\n", `line 4: links[0].loss: "0.1", want a share such as 5% or 0.5%`},
		"a mix of 120%":         {two + "writes:\n- new: 70%\n  edits: 50%\n  deletes: 0\n", "line 3: writes[0]: new, edits and deletes are 120% together, want 100%"},
		"a range backwards":     {two + "links:\n- between: [a, b]\n  latency: 80ms..20ms\n", `line 4: links[0].latency: "80ms..20ms": 80ms is more than 20ms`},
		"too large a body":      {two + "writes:\n- size: 1MiB\n", "line 3: writes[0].size: 1048576 to 1048576 bytes, want 1 to 61440"},
		"a bare bandwidth":      {two + "links:\n- {between: [a, b], bandwidth: 10}\n", `line 3: links[0].bandwidth: "10", want a bandwidth such as 10Mbit/s or 64KiB/s`},
		"too narrow a line":     {two + "links:\n- {between: [a, b], bandwidth: 1B/s}\n", `line 3: links[0].bandwidth: "1B/s": too little, want 1KiB/s or more`},
		"bits that are no byte": {two + "links:\n- {between: [a, b], bandwidth: 7bit/s}\n", `line 3: links[0].bandwidth: "7bit/s": too little, want 8192bit/s or more`},
		"no bandwidth":          {two + "links:\n- {between: [a, b], bandwidth: 0.001Mbit/s}\n", `line 3: links[0].bandwidth: "0.001Mbit/s": too little, want 0.008192Mbit/s or more`},
		"writes at no site":     {two + "writes:\n- sites: []\n", "line 3: writes[0].sites: 0 names, want names of sites"},
		"an absence at the end": {"duration: 1d\nsites:\n- {name: a, agents: 2, absences: [{at: 1d, for: 1s}]}\n", "line 3: sites[0].absences[0].at: 1d, want 0s to 23h59m59s"},
		"absences without end": {
			"duration: 400d\nsites:\n- {name: a, agents: 2, absences: [{for: 1s, every: 1001ms}]}\n",
			"line 3: sites[0].absences[0].every: with this there are about 138101900 writes and faults in 400d, want up to 200000: let it come less often",
		},
		"cuts without end": {
			"duration: 400d\n" + two + "links:\n- {between: [a, b], cuts: [{for: 1s, every: 1001ms}]}\n",
			"line 4: links[0].cuts[0].every: with this there are about 69050950 writes and faults in 400d, want up to 200000: let it come less often",
		},
		"too many bytes": {
			"duration: 400d\n" + two + "writes:\n- {rate: 10/h, size: 60KiB}\n",
			"line 3: writes: about 20.9 GiB on all agents together, want up to 2: take a shorter time, fewer agents, lower rates or smaller sizes",
		},
		"half a line":        {two + "links:\n- from: a\n", "line 3: links[0]: want between, or from and to"},
		"three ends":         {two + "links:\n- between: [a, b, a]\n", "line 3: links[0].between: 3 names, want the names of two sites, such as [home, office]"},
		"no such site":       {two + "links:\n- between: [a, c]\n", `line 3: links[0]: there is no site "c"; there is a, b`},
		"a line twice":       {two + "links:\n- between: [a, b]\n- {from: b, to: a}\n", "line 4: links[1]: the line from b to a is described already"},
		"a line to itself":   {two + "links:\n- between: [a, a]\n", "line 3: links[0]: a has one agent, so there is no line within it"},
		"writes nowhere":     {two + "writes:\n- sites: [a, x]\n", `line 3: writes[0].sites: there is no site "x"; there is a, b`},
		"no sites":           {"name: x\n", "sites: 0 sites, want 1 to 32"},
		"one agent":          {"sites:\n- name: a\n", "line 1: sites: 1 agents in all, want 2 to 256"},
		"too many agents":    {"sites:\n- {name: a, agents: 250}\n- {name: b, agents: 7}\n", "line 1: sites: 257 agents in all, want 2 to 256"},
		"agents that are no": {"sites:\n- {name: a, agents: many}\n", `line 2: sites[0].agents: "many", want a whole number`},
		"no name":            {"sites:\n- agents: 2\n", "line 2: sites[0].name: 0 bytes, want a name of 1 to 64"},
		"a name twice":       {"sites:\n- name: a\n- name: a\n", `line 3: sites[1].name: "a" is the name of another site already`},
		"what is withheld":   {"sites:\n- {name: a, agents: 2, withholds: all}\n", `line 2: sites[0].withholds: "all", want skill or memory`},
		"more absent agents": {"sites:\n- name: a\n  agents: 2\n  absences:\n  - {agents: 3, at: 0, for: 1h}\n", "line 5: sites[0].absences[0].agents: 3, want 0 to 2"},
		"an absence of zero": {"sites:\n- name: a\n  agents: 2\n  absences:\n  - {at: 1h}\n", "line 5: sites[0].absences[0].for: 0s, want 1s to 400d"},
		"one after the end":  {"sites:\n- name: a\n  agents: 2\n  absences:\n  - {at: 3d, for: 1h}\n", "line 5: sites[0].absences[0].at: 3d, want 0s to 23h59m59s"},
		"one that is cut":    {"sites:\n- name: a\n  agents: 2\n  absences:\n  - {at: 20h, for: 5h}\n", "line 5: sites[0].absences[0].for: 5h0m0s from 20h0m0s on is longer than the duration of 1d, at which it would end"},
		"a cut that is cut":  {two + "links:\n- {between: [a, b], cuts: [{at: 0, for: 30h}]}\n", "line 3: links[0].cuts[0].for: 30h0m0s from 0s on is longer than the duration of 1d, at which it would end"},
		"one in itself":      {"sites:\n- name: a\n  agents: 2\n  absences:\n  - {at: 0, for: 3h, every: 2h}\n", "line 5: sites[0].absences[0].every: 2h0m0s, want more than the 3h0m0s that it lasts"},
		"no hub":             {two + "hub: c\n", `line 2: hub: there is no site "c"; there is a, b`},
		"a hub of many":      {"hub: a\nsites:\n- {name: a, agents: 2}\n", "line 1: hub: a has 2 agents, want a site with one"},
		"a hub that hides":   {"hub: a\nsites:\n- {name: a, withholds: skill}\n- name: b\n", "line 1: hub: a withholds skill, so nobody would get it"},
		"a seed that is no":  {two + "seed: many\n", `line 2: seed: "many", want a number from 0`},
		"a fault unknown":    {two + "faults:\n  earthquakes: 1/d\n", "line 3: faults.earthquakes: there is no such field here; there is crashes, downtime, dropouts, dropout_for, partitions, partition_for, disk_errors"},
		"an empty silence":   {two + "writes:\n- quiet: 07:00..07:00\n", `line 3: writes[0].quiet: "07:00..07:00": it is empty: leave it out for a day without quiet`},
		"a time of day":      {two + "writes:\n- quiet: 25:00..07:00\n", `line 3: writes[0].quiet: "25:00..07:00", want a part of the day such as 22:00..07:00`},
		"far too much": {
			"duration: 400d\n" + two + "writes:\n- rate: 60/h\n",
			"line 1: duration: 400d of these rates is about 1152000 writes and faults, want up to 200000: take a shorter time, fewer agents or lower rates",
		},
		"deep brackets":  {"sites: " + strings.Repeat("[", 17), "line 1: brackets nest deeper than 16"},
		"a large file":   {strings.Repeat("# ten bytes\n", 10_000), "it is larger than 65536 bytes"},
		"a text of junk": {"\x00\x01: {[", "line 1: it is no YAML: could not find flow map content"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := scenario.Parse(strings.NewReader(test.text))
			if !errors.Is(err, scenario.ErrScenario) {
				t.Fatalf("error %v, want %s", err, test.want)
			}
			if got := err.Error(); got != test.want {
				t.Errorf("error\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// FuzzParse holds that no text brings the parser down, and that what it accepts
// can be planned.
func FuzzParse(f *testing.F) {
	f.Add(two + "links:\n- between: [a, b]\nwrites:\n- rate: 5/h\n")
	f.Add("sites:\n- {name: a, agents: 3}\nhub: a\n")
	f.Add("sites: [{name: a, agents: 2, absences: [{at: 0, for: 1h, every: 2h}]}]\nduration: 2h\nfaults: {partitions: 9/h}\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse(strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, scenario.ErrScenario) {
				t.Errorf("error %v is not ErrScenario", err)
			}
			return
		}
		plan := s.Plan(1)
		if err := plan.Validate(); err != nil {
			t.Errorf("its plan is not valid: %v", err)
		}
	})
}
