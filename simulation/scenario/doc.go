// Package scenario describes somebody's own fleet in YAML and makes plans of
// it: the sites and their agents, the lines between them, what agents write,
// who is away when, and which faults happen how often.
//
//	s, err := scenario.Read("fleet.yaml")
//	c, err := simulation.New(s.Plan(42), simulation.Options{})
//	err = c.Run()
//
// A scenario says how often things happen, and a plan when: [Scenario.Plan]
// draws one from a seed, always the same, in the plain steps of package
// simulation. Each agent and each fault draws from dice of its own, so that
// adding a site or a fault leaves the writes of the others as they were.
//
// docs/scenarios.md is the reference of all fields; a test holds that it
// names each of them.
package scenario
