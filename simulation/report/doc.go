// Package report writes one HTML page about simulations: what a campaign of
// many seeds has found, and, drawn, what one run did and how long fleets of
// several sizes take to converge.
//
//	run, err := report.Observe(simulation.NewPlan(42), simulation.Options{})
//	sweep, err := report.RunSweep(ctx, report.SweepConfig{})
//	err = report.File("fleet.html", report.Data{Campaign: result, Run: run, Sweep: sweep})
//
// The page needs nothing but itself: no script, no font and no picture from
// anywhere. Each plot has the numbers behind it in a table. Equal data give
// equal pages, byte for byte.
package report
