package simulation_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/store"
)

// tally counts what a run tells.
type tally struct {
	t      *testing.T
	kinds  map[simulation.EventKind]int
	faults map[simulation.Fault]int
	open   int // faults that began and did not end
	last   simulation.Event
}

func (a *tally) add(e simulation.Event) {
	a.kinds[e.Kind]++
	if e.At < a.last.At || e.Since > e.At {
		a.t.Errorf("%s at %s since %s, after %s at %s", e.Kind, e.At, e.Since, a.last.Kind, a.last.At)
	}
	a.last = e
	switch e.Kind { //nolint:exhaustive // the others are counted
	case simulation.EventFault:
		a.faults[e.Fault]++
	case simulation.EventFaultBegin:
		a.open++
	case simulation.EventFaultEnd:
		a.open--
	}
}

// check holds the counts to what the run has counted itself.
func (a *tally) check(c *simulation.Cluster) {
	for fault, want := range c.Coverage().Faults {
		if got := a.faults[fault]; got != want {
			a.t.Errorf("%d events of %s, %d counted", got, fault, want)
		}
	}
	if a.open != 0 {
		a.t.Errorf("%d faults never end", a.open)
	}
	for _, kind := range []simulation.EventKind{
		simulation.EventStart, simulation.EventConnect, simulation.EventSend, simulation.EventReceive,
		simulation.EventStep, simulation.EventHeal, simulation.EventConverged, simulation.EventSample,
	} {
		if a.kinds[kind] == 0 {
			a.t.Errorf("no %s", kind)
		}
	}
	p := c.Propagation()
	if p.Writes < len(p.Times) || p.Writes > a.kinds[simulation.EventWrite] || len(p.Times) == 0 {
		a.t.Errorf("%d writes, %d of them everywhere, %d told", p.Writes, len(p.Times), a.kinds[simulation.EventWrite])
	}
	if n := c.Divergence(); n != 0 {
		a.t.Errorf("%d versions are missing although the fleet is one", n)
	}
}

// TestObservingChangesNothing holds that a run is the same whether somebody
// looks on or not, and that what is told agrees with what is counted.
func TestObservingChangesNothing(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			alone, err := runSeed(seed, simulation.Options{})
			if err != nil {
				t.Fatal(err)
			}
			told := &tally{t: t, kinds: map[simulation.EventKind]int{}, faults: map[simulation.Fault]int{}}
			seen, err := runSeed(seed, simulation.Options{Sample: time.Second, Observe: told.add})
			if err != nil {
				t.Fatal(err)
			}
			if alone.TraceSum() != seen.TraceSum() {
				t.Errorf("the trace is %s alone and %s observed", alone.TraceSum(), seen.TraceSum())
			}
			told.check(seen)
		})
	}
}

// TestDivergenceIsWhatStoresLack holds the measure, which follows commits, to a
// naive count over all stores.
func TestDivergenceIsWhatStoresLack(t *testing.T) {
	diverged := 0
	for seed := uint64(1); seed <= 8; seed++ {
		plan := simulation.NewPlan(seed)
		clear(plan.Withheld)
		c, err := simulation.New(plan, simulation.Options{Sample: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range plan.Steps {
			c.RunFor(step.After)
			c.Do(step)
			want, countable := naiveDivergence(t, c, plan)
			if !countable {
				continue
			}
			if got := c.Divergence(); got != want {
				t.Fatalf("seed %d: divergence %d after %s, counted %d", seed, got, step, want)
			}
			if want > 0 {
				diverged++
			}
		}
	}
	if diverged < 100 {
		t.Errorf("the replicas differed at %d steps, too few to mean anything", diverged)
	}
}

// naiveDivergence counts over all stores; not while one is down or fails, since
// its disk cannot be read from here.
func naiveDivergence(t *testing.T, c *simulation.Cluster, plan simulation.Plan) (missing int, countable bool) {
	t.Helper()
	var holdings []map[merge.Hash]bool
	union := map[merge.Key]map[merge.Hash]merge.Version{}
	for n := range c.Replicas() {
		if plan.Grants[n] == simulation.GrantNever {
			continue
		}
		if !c.Replica(n).Running() {
			return 0, false
		}
		held := map[merge.Hash]bool{}
		if err := listShared(c.Replica(n).Store(), held, union); err != nil {
			return 0, false
		}
		holdings = append(holdings, held)
	}
	for _, versions := range union {
		for hash, v := range versions {
			covered := false
			for _, w := range versions {
				covered = covered || merge.Covers(w, v)
			}
			for _, held := range holdings {
				if !covered && !held[hash] {
					missing++
				}
			}
		}
	}
	return missing, true
}

// listShared adds what a store holds of the sections that everybody shares.
func listShared(st *store.Store, held map[merge.Hash]bool, union map[merge.Key]map[merge.Hash]merge.Version) error {
	return st.View(func(rd *store.Reader) error {
		for _, s := range st.Sections() {
			if s.Section.Scope.Instance != "" || s.Section.Family == "session" {
				continue
			}
			err := rd.Range(s.Section, "", func(k merge.Key, versions []store.Held) bool {
				if union[k] == nil {
					union[k] = map[merge.Hash]merge.Version{}
				}
				for _, v := range versions {
					held[v.Hash] = true
					union[k][v.Hash] = v.Version
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestPropagationOfOneWrite holds that a write in a calm fleet is everywhere
// within a second, and one that a member is away for as soon as the others have
// it.
func TestPropagationOfOneWrite(t *testing.T) {
	var spread []simulation.Event
	c, err := simulation.New(simulation.Calm(3, 4), simulation.Options{Sample: time.Second, Observe: func(e simulation.Event) {
		if e.Kind == simulation.EventEverywhere {
			spread = append(spread, e)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 2, Count: 1})
	c.RunFor(time.Minute)
	c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 0})
	c.Do(simulation.Step{Act: simulation.ActWrite, Replica: 1, Count: 2})
	c.RunFor(time.Minute)
	if n := c.Divergence(); n != 1 {
		t.Errorf("%d versions are missing, want that which replica 0 is away for", n)
	}
	if len(spread) != 2 || spread[0].Replica != 2 || spread[1].Replica != 1 {
		t.Fatalf("everywhere came %d writes: %+v", len(spread), spread)
	}
	p := c.Propagation()
	if p.Writes != 2 || len(p.Times) != 2 || p.Quantile(1) > time.Second || p.Quantile(0) <= 0 {
		t.Errorf("propagation %+v, want two times below a second", p)
	}
	finish(t, c)
	if n := c.Divergence(); n != 0 {
		t.Errorf("%d versions are missing in the end", n)
	}
}

// TestWhoComesBackCatchesUp holds that an absence is measured from its end until
// the member has what it missed, edits of what it missed included, that one
// which missed nothing does not count, and that concurrent writes are counted as
// conflicts once.
func TestWhoComesBackCatchesUp(t *testing.T) {
	plan := simulation.Calm(4, 3)
	c, err := simulation.New(plan, simulation.Options{Sample: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c.RunFor(time.Minute)
	away := func(work ...simulation.Step) {
		c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 2})
		c.RunFor(time.Minute)
		for _, s := range work {
			c.Do(s)
			c.RunFor(time.Minute)
		}
		c.Do(simulation.Step{Act: simulation.ActReturn, Replica: 2})
		c.RunFor(5 * time.Minute)
	}
	away()
	if p := c.Propagation(); len(p.CatchUps) != 0 || p.Conflicts != 0 {
		t.Fatalf("without a write: %+v", p)
	}
	away(
		simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 1},
		simulation.Step{Act: simulation.ActWrite, Replica: 1, Count: 1},
		simulation.Step{Act: simulation.ActWrite, Replica: 2, Count: 1}, // has seen neither
		simulation.Step{Act: simulation.ActWrite, Replica: 0, Count: 3},
	)
	p := c.Propagation()
	if len(p.CatchUps) != 1 || p.CatchUps[0] <= 0 || p.CatchUps[0] > time.Minute {
		t.Errorf("caught up after %v, want once within a minute", p.CatchUps)
	}
	if p.Conflicts != 1 {
		t.Errorf("%d conflicts, want that of replicas 1 and 2", p.Conflicts)
	}
	finish(t, c)
}

// TestTrafficByRouteIsThatOfEvents holds that ByRoute counts what events tell
// of.
func TestTrafficByRouteIsThatOfEvents(t *testing.T) {
	seen := map[simulation.Route]simulation.Traffic{}
	c, err := simulation.New(simulation.NewPlan(21), simulation.Options{Observe: func(e simulation.Event) {
		if e.Kind == simulation.EventSend {
			sum := seen[e.Route]
			seen[e.Route] = simulation.Traffic{Messages: sum.Messages + 1, Bytes: sum.Bytes + int64(e.Bytes)}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seen, c.ByRoute()); diff != "" || seen[simulation.RouteGossip].Bytes == 0 {
		t.Errorf("events and ByRoute differ:\n%s", diff)
	}
}
