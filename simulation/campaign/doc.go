// Package campaign runs many plans of package simulation, one on each
// processor, and adds up what happened.
//
//	result, err := campaign.Run(ctx, campaign.Config{Seeds: campaign.Fresh(base, 1000)})
//
// A run is one goroutine and follows from its plan alone, so the sum of many is
// the same whatever the number of workers and the order in which they finish:
// [Result.TracesHash] says so in one word. Now and then a run is done twice, and
// must be the same to the last event. A panic, be it of production code or of
// the simulation, is a failure of its seed, not the end of the campaign.
//
// A [Failure] has the plan: simulation.Run replays it, and [Config.Shrink] makes
// it short.
package campaign
