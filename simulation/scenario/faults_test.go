package scenario_test

import (
	"testing"

	"github.com/fleetsync/fleetd/simulation"
)

// TestWhatAScenarioAsksForIsCounted holds that each way in which a scenario lets
// things go wrong is a kind of fault that the figures have, one by itself.
func TestWhatAScenarioAsksForIsCounted(t *testing.T) {
	const fleet = "duration: 6h\nheartbeat: 1m\nsites:\n- {name: a, agents: 2}\n"
	for name, test := range map[string]struct {
		text string
		want simulation.Fault
	}{
		"dropouts":           {fleet + "- name: b\nfaults: {dropouts: 2/h}\n", simulation.FaultDropout},
		"one at the end":     {fleet + "- {name: b, absences: [{at: 355m, for: 5m}]}\n", simulation.FaultDropout},
		"absences":           {fleet + "- {name: b, absences: [{at: 1h, for: 2h}]}\n", simulation.FaultAbsence},
		"one until the end":  {fleet + "- {name: b, absences: [{at: 1h, for: 5h}]}\n", simulation.FaultAbsence},
		"crashes":            {fleet + "- name: b\nfaults: {crashes: 2/h}\n", simulation.FaultCrash},
		"partitions":         {fleet + "- name: b\nfaults: {partitions: 2/h}\n", simulation.FaultPartition},
		"errors of a disk":   {fleet + "- name: b\nwrites: [{rate: 20/h}]\nfaults: {disk_errors: 2/h}\n", simulation.FaultDiskRefused},
		"the cut of a line":  {fleet + "- name: b\nlinks: [{between: [a, b], cuts: [{at: 1h, for: 1h}]}]\n", simulation.FaultAsymmetric},
		"one in a direction": {fleet + "- name: b\nlinks: [{from: a, to: b, cuts: [{at: 1h, for: 1h}]}]\n", simulation.FaultAsymmetric},
		"loss":               {fleet + "- name: b\nlinks: [{between: [a, b], loss: 5%}]\n", simulation.FaultLoss},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := simulation.Run(parse(t, test.text).Plan(3), simulation.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Coverage().Faults[test.want] == 0 {
				t.Errorf("no %q among %s", test.want, c.Coverage())
			}
		})
	}
}
