//go:build race

package scenario_test

// raced says that the race detector is on, which makes a run ten times slower.
const raced = true
