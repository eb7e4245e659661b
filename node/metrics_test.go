package node_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// metricsOf collects the metrics of a node, by name and labels but the id.
func metricsOf(t *testing.T, m *member) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(m.Collector()); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if strings.Contains(family.String(), "secret") {
			t.Errorf("%s tells what is stored", family)
		}
		for _, series := range family.GetMetric() {
			name := []string{family.GetName()}
			for _, label := range series.GetLabel() {
				if label.GetName() != "id" {
					name = append(name, label.GetValue())
				}
			}
			values[strings.Join(name, " ")] = series.GetGauge().GetValue() + series.GetCounter().GetValue()
		}
	}
	return values
}

// TestCase69MetricsTellNothingOfWhatIsStored holds that metrics say how the fleet
// is, and neither texts nor names of what is in it.
func TestCase69MetricsTellNothingOfWhatIsStored(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	scope := merge.Scope{Project: "secret-project", Workspace: "secret-workspace"}
	item := state.MemoryItem{ID: "secret-id", Kind: "secret-kind", Scope: scope, Content: "secret text"}
	if _, err := a.State().Memory().Write(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if _, err := a.State().Skills().Upsert(t.Context(), state.Skill{Slug: "secret-skill", Scope: scope, Body: "secret body"}); err != nil {
		t.Fatal(err)
	}
	f.converge(a, b)
	if _, is := metricsOf(t, a)["fleetd_member_clock_offset_seconds b"]; !is {
		t.Error("it does not tell how far the clock of b is off")
	}
	b.stop()
	f.eventually("a notices", []*member{a}, func() bool { return !inSync(t, a) })
	values := metricsOf(t, a)
	for name, want := range map[string]float64{
		"fleetd_in_sync": 0, "fleetd_records": 4, "fleetd_conflicts": 0, "fleetd_parked future": 0,
		"fleetd_member_connected b": 0, "fleetd_store_failing": 0, "fleetd_wanted_blobs": 0, "fleetd_sync_events_total store error": 0,
	} {
		if got, is := values[name]; !is || got != want {
			t.Errorf("%s is %v, want %v (there: %t)", name, got, want, is)
		}
	}
	for _, name := range []string{"fleetd_store_bytes", "fleetd_queue_limit exchanges", "fleetd_member_lag_seconds b"} {
		if values[name] <= 0 {
			t.Errorf("%s is %v", name, values[name])
		}
	}
	if t.Failed() {
		t.Log(values)
	}
}
