//go:build mutant_notiebreak

package simulation_test

// mutant names the fault that is planted in this build.
const mutant = "no tie-break"
