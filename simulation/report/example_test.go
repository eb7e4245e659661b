package report_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/simulation/campaign"
	"github.com/fleetsync/fleetd/simulation/report"
)

// A page about a fleet of three of which one is away for an hour. File writes
// it to a file; this example only counts what is on it.
func ExampleWrite() {
	plan := simulation.Calm(1, 3)
	plan.Steps = []simulation.Step{
		{After: time.Minute, Act: simulation.ActAbsence, Replica: 2},
		{After: time.Minute, Act: simulation.ActBurst, Replica: 0, Count: 20},
		{After: time.Hour, Act: simulation.ActReturn, Replica: 2},
	}
	plan.Rest = time.Minute
	run, err := report.Observe(plan, simulation.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := campaign.Run(context.Background(), campaign.Config{Seeds: campaign.Fresh(0, 2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	if err := report.Write(&page, report.Data{Title: "An hour away", Campaign: result, Run: run}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("plots:", bytes.Count(page.Bytes(), []byte(`role="img"`)))
	// Output: plots: 4
}
