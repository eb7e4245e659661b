package simulation_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/simulation"
)

// roundTrip reads what a plan writes.
func roundTrip(t rapid.TB, plan simulation.Plan) simulation.Plan {
	t.Helper()
	if err := plan.Validate(); err != nil {
		t.Fatalf("%v\n%s", err, plan.Text())
	}
	got, err := simulation.ParsePlan(plan.Text())
	if err != nil {
		t.Fatalf("%v\n%s", err, plan.Text())
	}
	return got
}

// TestEveryFieldHasItsSetting gives every field of a plan, and of all that it
// consists of, a value that is not zero, and holds that the text form keeps it.
// A field that is lost here needs a line in planfields.go.
func TestEveryFieldHasItsSetting(t *testing.T) {
	var plan simulation.Plan
	fill(t, reflect.ValueOf(&plan).Elem(), "Plan")
	plan.Replicas, plan.Grants[0], plan.PageBytes, plan.Limits[0] = 2, simulation.GrantKnown, 300, simulation.LimitNone
	if diff := cmp.Diff(plan, roundTrip(t, plan)); diff != "" {
		t.Errorf("the text form loses (-) or changes:\n%s\n%s", diff, plan.Text())
	}
}

// fill sets everything to one, or what is like it.
func fill(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	switch v.Interface().(type) {
	case simulation.Act:
		v.SetString(string(simulation.ActWrite))
		return
	case time.Duration:
		v.SetInt(int64(time.Second))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2)) // lists by replica need two
		for i := range 2 {
			fill(t, v.Index(i), name)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.String:
		v.SetString("skill")
	default:
		t.Fatalf("%s is a %s: this test and setting.go know no such field", name, v.Type())
	}
}

// TestEveryActIsListed holds that Acts has every constant of its type.
func TestEveryActIsListed(t *testing.T) {
	sources := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", sources, parser.SkipObjectResolution) //nolint:staticcheck // build tags do not matter here
	if err != nil {
		t.Fatal(err)
	}
	var want []simulation.Act
	ast.Inspect(packages["simulation"], func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Act" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Error(err)
			}
			want = append(want, simulation.Act(text))
		}
		return true
	})
	if len(want) == 0 {
		t.Fatal("found no acts")
	}
	order := cmpopts.SortSlices(func(a, b simulation.Act) bool { return a < b })
	if diff := cmp.Diff(want, simulation.Acts(), order); diff != "" {
		t.Errorf("constants (-) and Acts (+) differ:\n%s", diff)
	}
}

func TestDrawnPlansSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := simulation.NewPlan(rapid.Uint64().Draw(t, "seed"))
		if diff := cmp.Diff(plan, roundTrip(t, plan)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestPlansByHandSurviveTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := planByHand(t, time.Hour)
		if diff := cmp.Diff(plan, roundTrip(t, plan), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// planByHand draws any valid plan whose steps are no further apart than pace.
func planByHand(t *rapid.T, pace time.Duration) simulation.Plan {
	duration := func(low, high time.Duration, name string) time.Duration {
		return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
	}
	chance := func(name string) float64 { return rapid.Float64Range(0, 1).Draw(t, name) }
	plan := simulation.Calm(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(2, 5).Draw(t, "replicas"))
	replica := rapid.IntRange(0, plan.Replicas-1)
	plan.Topology = rapid.SampledFrom([]simulation.Topology{simulation.Mesh, simulation.Ring, simulation.Line, simulation.Star}).Draw(t, "topology")
	plan.Gossip = rapid.Bool().Draw(t, "gossip")
	plan.HeartbeatEvery = duration(time.Second, 20*time.Second, "heartbeat")
	plan.RequestTimeout = duration(time.Second, 20*time.Second, "timeout")
	plan.PageBytes = rapid.SampledFrom([]int{0, 256, 500}).Draw(t, "page bytes")
	plan.ParkedMax = rapid.IntRange(0, 3).Draw(t, "parked")
	plan.Absent = rapid.SliceOfNDistinct(replica, 0, plan.Replicas, rapid.ID[int]).Draw(t, "absent")
	weather := func() (w simulation.Weather) {
		w.LatencyMax = duration(0, 2*time.Second, "latency")
		w.LatencyMin = duration(0, w.LatencyMax, "latency")
		w.Ordered = rapid.Bool().Draw(t, "ordered")
		w.Loss, w.GossipLoss, w.Duplicate, w.Straggle = chance("loss"), chance("loss"), chance("duplicate"), chance("straggle")
		w.Stray, w.StrayMax = chance("stray"), duration(0, time.Minute, "stray")
		return w
	}
	plan.Weather = weather()
	for range rapid.IntRange(0, 2).Draw(t, "paths") {
		plan.Paths = append(plan.Paths, simulation.Path{
			From: rapid.IntRange(0, 2).Draw(t, "from"), To: rapid.IntRange(0, 2).Draw(t, "to"), Weather: weather(),
		})
		plan.Sites = make([]int, plan.Replicas)
		plan.Sites[replica.Draw(t, "who")] = 1
	}
	plan.Limits = make([]simulation.GrantLimit, plan.Replicas)
	for n := 1; n < plan.Replicas; n++ {
		plan.Skews[n] = duration(-time.Hour, time.Hour, "skew")
		plan.Limits[n] = rapid.SampledFrom([]simulation.GrantLimit{simulation.LimitNone, simulation.LimitScope, simulation.LimitFamily, simulation.LimitTime}).Draw(t, "limit")
		plan.Grants[n] = rapid.SampledFrom([]simulation.GrantMode{simulation.GrantKnown, simulation.GrantOwn, simulation.GrantLate, simulation.GrantNever}).Draw(t, "grant")
	}
	if slices.Max(plan.Limits) == simulation.LimitNone {
		plan.Limits = nil
	}
	plan.Withheld[replica.Draw(t, "who")] = rapid.SampledFrom([]string{"", "skill", "memory", "memory/web"}).Draw(t, "withheld")
	for range rapid.IntRange(0, 20).Draw(t, "steps") {
		s := simulation.Step{
			After: duration(0, pace, "after"), Act: rapid.SampledFrom(simulation.Acts()).Draw(t, "act"),
			Replica: replica.Draw(t, "replica"), Count: rapid.IntRange(0, 20).Draw(t, "count"),
			For: duration(0, pace, "for"), Group: rapid.Uint64Range(0, 1<<plan.Replicas-1).Draw(t, "group"),
		}
		s.Peer = (s.Replica + rapid.IntRange(1, plan.Replicas-1).Draw(t, "peer")) % plan.Replicas
		plan.Steps = append(plan.Steps, s)
	}
	plan.Rest = duration(0, pace, "rest")
	return plan
}

// TestAnyValidPlanRuns holds that nothing that Validate lets pass makes the
// kernel panic. Whether the fleet holds its promises is for other tests.
func TestAnyValidPlanRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := planByHand(t, 2*time.Second)
		c, err := simulation.New(plan, simulation.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(); err != nil && !errors.Is(err, simulation.ErrFailed) {
			t.Fatal(err)
		}
	})
}

const header = "plan 1\nreplicas 3\nheartbeat 10s\ntimeout 10s\ntick 250ms\n"

func TestABadPlanIsRefusedWithItsLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an empty text", " \n# only a comment\n", "no lines"},
		{"another file", "\nhello\n", `line 2: it begins with "hello"`},
		{"a later version", "plan 2\n", `line 1: it begins with "plan 2"`},
		{"an unknown setting", header + "los 0.5\n", `line 6: unknown setting "los"; there are absent, degree, gossip,`},
		{"an unknown setting of the weather", header + "weather los 0.5\n", `line 6: unknown setting "los"`},
		{"an unknown setting of a step", header + "+1s write 0 key 5\n", `line 6: write: unknown setting "key"`},
		{"an unknown act", header + "+1s crash badly 0\n", `line 6: "crash badly" is no act; acts are write, delete,`},
		{"a setting without a value", header + "rest\n", "line 6: rest has 0 values"},
		{"a setting with two", header + "rest 1s 2s\n", "line 6: rest has 2 values"},
		{"a pair without a value", header + "weather loss\n", "line 6: loss has no value"},
		{"a setting twice", header + "tick 1s\n", "line 6: tick was set before, in line 5"},
		{"a setting twice in a line", header + "weather loss 0 loss 0\n", "line 6: loss is set twice"},
		{"a replica twice", header + "replica 1 skew 1s\nreplica 1 skew 1s\n", "line 7: replica 1 was set before, in line 6"},
		{"no unit", header + "rest 5\n", "line 6: rest 5: time: missing unit"},
		{"no number", header + "weather loss much\n", "line 6: loss much:"},
		{"not a number", header + "weather loss nan\n", "line 6: loss is NaN, not within 0 to 1"},
		{"no choice", header + "topology tree\n", "line 6: topology tree: it is one of mesh, ring, line, star"},
		{"no boolean", header + "gossip yes\n", "line 6: gossip yes: it is on or off"},
		{"no list", header + "absent 1-2\n", "line 6: absent 1-2: it is a list"},
		{"out of range", header + "weather gossip-loss 1.5\n", "line 6: gossip-loss is 1.5, not within 0 to 1"},
		{"a tick of nothing", "plan 1\nreplicas 2\nheartbeat 1s\ntimeout 1s\n", "tick is 0s, not within 10ms"},
		{"too many replicas", "plan 1\nreplicas 5000\n", "line 2: replicas is 5000, not within 2 to 4096"},
		{"an absent one that is not there", header + "absent 3\n", "line 6: absent is 3, not within 0 to 2"},
		{"a replica before their number", "plan 1\nreplica 0 skew 1s\n", "line 2: the line replicas comes before"},
		{"a replica that is not there", header + "replica 3 skew 1s\n", `line 6: "3" is none of 3 replicas`},
		{"a replica without a number", header + "replica\n", "line 6: which replica"},
		{"an admin with limits", header + "replica 0 limit time\n", "line 6: replica 0 is the admin"},
		{"no limit", header + "replica 1 limit much\n", "line 6: limit much: it is one of none, scope, family, time"},
		{"an admin whom nobody knows", header + "replica 0 grant late\n", "line 6: replica 0 is the admin"},
		{"a family with a space", header + "replica 1 withheld A\n", `line 6: replica 1: withheld is "A"`},
		{"latencies that cross", header + "weather latency-min 2s latency-max 1s\n", "line 6: latency-min is 2s, not within 0s to 1s"},
		{"a path that is wrong", header + "path from 0 to 1\npath from 0 to 5000\n", "path 2: to is 5000"},
		{"a step at nobody", header + "\n+1s write 0\n+1s write 3\n", "line 8: step 2: write: the replica is 3, not within 0 to 2"},
		{"a step without a time", header + "+soon write 0\n", "line 6: the time since the step before"},
		{"a step before another", header + "+-1s write 0\n", "line 6: step 1: write: the time since the step before is -1s"},
		{"a step without an act", header + "+1s\n", `line 6: "" is no act`},
		{"a link to itself", header + "+1s asymmetric 1 peer 1\n", "line 6: step 1: asymmetric: the peer of replica 1 is another"},
		{"a group of others", header + "+1s partition group 0,3\n", "line 6: step 1: partition: group is 3, not within 0 to 2"},
		{"a group of nobody", header + "+1s partition group 0,99\n", "line 6: partition: group 0,99: a group has no place for 99"},
		{"a jump back", header + "+1s jump for -1h\n", "line 6: step 1: jump: for is -1h0m0s"},
		{"a run of ages", header + "+500000h write 0\n+1s jump for 500000h\n", "line 7: step 2: the plan takes longer than"},
		{"a page of nothing", header + "page-bytes 3\n", "line 6: page-bytes is 3, neither 0 nor within 256 to"},
		{"more than memory holds", header + "+1s burst 0 count 20000 bytes 60000\n+0s burst 1 count 20000 bytes 60000\n", "line 7: step 2: with what this writes all replicas hold more than 4 GiB"},
		{"a setting after a step", header + "+1s write 0\nrest 1s\n", `line 7: "rest" is no step`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := simulation.ParsePlan(test.text)
			if !errors.Is(err, simulation.ErrPlan) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want an error with %q, got %v", test.want, err)
			}
		})
	}
}

// TestAnErrorOfAPlanIsShort holds that what is wrong with a text is said in a few
// lines, however long what stands there is.
func TestAnErrorOfAPlanIsShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	digits := strings.Repeat("7", 1<<20)
	for _, text := range []string{
		long, header + long, header + long + " 1", header + "rest " + long, header + "rest " + digits, header + "tick " + digits + "s", header + "seed " + digits,
		header + "topology " + long, header + "gossip " + long, header + "absent " + long, header + "replica " + long, header + "replica 1 withheld " + strings.ToUpper(long),
		header + "replica 1 skew " + long, header + "weather loss " + long, header + "weather loss " + digits, header + "weather " + long + " 1",
		header + "+" + long + " write 0", header + "+" + digits + "s write 0", header + "+1s " + long, header + "+1s write " + digits, header + "+1s write 0 count " + digits,
		header + "+1s write 0 " + long, header + "+1s write 0 group " + digits, header + "+1s write 0\n" + long,
	} {
		_, err := simulation.ParsePlan(text)
		if !errors.Is(err, simulation.ErrPlan) || len(err.Error()) > 1500 {
			t.Errorf("%.80q: an error of %d bytes: %.300v", text, len(fmt.Sprint(err)), err)
		}
	}
}

// TestAMarkOfByteOrderIsNoPartOfAPlan holds it of the one that editors write.
func TestAMarkOfByteOrderIsNoPartOfAPlan(t *testing.T) {
	if _, err := simulation.ParsePlan("\ufeff" + header); err != nil {
		t.Error(err)
	}
}

func TestAPlanByHand(t *testing.T) {
	got, err := simulation.ParsePlan(`
# What a person writes.
plan 1
seed 42          # the answer
replicas 3
heartbeat 10s
timeout 10s
tick 250ms
absent 2
weather latency-max 40ms  loss 0.1
path from 0 to 1 ordered on
replica 1 skew -3s grant late

+1s     write 0 count 5
+3.2s   crash write 1 for 5s
+0s     partition for 10s group 0,2
+1s     asymmetric 2 peer 0 for 1m
+100ms  audit
`)
	if err != nil {
		t.Fatal(err)
	}
	want := simulation.Plan{
		Seed: 42, Replicas: 3, HeartbeatEvery: 10 * time.Second, RequestTimeout: 10 * time.Second, TickEvery: 250 * time.Millisecond,
		Absent: []int{2}, Weather: simulation.Weather{LatencyMax: 40 * time.Millisecond, Loss: 0.1},
		Paths: []simulation.Path{{From: 0, To: 1, Weather: simulation.Weather{Ordered: true}}},
		Skews: []time.Duration{0, -3 * time.Second, 0}, Withheld: []string{"", "", ""},
		Grants: []simulation.GrantMode{simulation.GrantKnown, simulation.GrantLate, simulation.GrantKnown},
		Steps: []simulation.Step{
			{After: time.Second, Act: simulation.ActWrite, Count: 5},
			{After: 3200 * time.Millisecond, Act: simulation.ActCrashWrite, Replica: 1, For: 5 * time.Second},
			{Act: simulation.ActPartition, For: 10 * time.Second, Group: 0b101},
			{After: time.Second, Act: simulation.ActAsymmetric, Replica: 2, For: time.Minute},
			{After: 100 * time.Millisecond, Act: simulation.ActAudit},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const text = `plan 1
seed 42
replicas 3
topology mesh
gossip off
heartbeat 10s
timeout 10s
tick 250ms
absent 2
weather latency-max 40ms loss 0.1
path from 0 to 1 ordered on
replica 1 skew -3s grant late

+1s write 0 count 5
+3.2s crash write 1 for 5s
+0s partition for 10s group 0,2
+1s asymmetric 2 peer 0 for 1m0s
+100ms audit
`
	if diff := cmp.Diff(text, got.Text()); diff != "" {
		t.Error(diff)
	}
}

// FuzzParsePlan holds that no text makes the reader panic, and that what it
// takes is valid and means the same when it is written again.
func FuzzParsePlan(f *testing.F) {
	for seed := range uint64(8) {
		plan := simulation.NewPlan(seed)
		f.Add(plan.Text())
	}
	f.Add(header + "+1s asymmetric 1 peer 2 for 5s # cut\n")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := simulation.ParsePlan(text)
		if err != nil {
			if !errors.Is(err, simulation.ErrPlan) {
				t.Errorf("%v is no ErrPlan", err)
			}
			return
		}
		if diff := cmp.Diff(plan, roundTrip(t, plan), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
