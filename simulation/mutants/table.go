package main

import (
	"fmt"
	"slices"
	"strings"
)

// tableFile is the page that a run over all mutants writes, beside the
// simulation.
const tableFile = "MUTANTS.md"

const tableHead = `# Mutants

Written by ` + "`make mutants`" + `; do not edit. Each mutant is a fault that was planted in production code, alone
(simulation/mutants/NAME.patch); seeds were run from 1 up until one failed. Without any mutant none of these seeds fails.

| mutant | what it breaks | noticed by | in seed |
|---|---|---|---|
`

const tableFoot = `
Mutants that wait for the code that they break: reuse a sequence after a wipe (with successor keys); collect a tombstone too early
(with collection).
`

// table is the page. It says nothing of time and machine, so that it changes
// only when the code does.
func table(mutants []mutant, catches []catch) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for i, m := range mutants {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", m.Name, m.Breaks, catches[i].Invariant, catches[i].Seed)
	}
	b.WriteString(tableFoot)
	return b.String()
}

// judge says whether a mutant was caught as its patch says.
func (m *mutant) judge(c catch, seeds uint64) error {
	switch {
	case c.Seed == 0:
		return fmt.Errorf("mutants: %s survives %d seeds: strengthen the simulation, or prove that it changes nothing and remove it", m.Name, seeds)
	case !slices.Contains(m.Notices, c.Invariant):
		return fmt.Errorf("mutants: %s is noticed by %q in seed %d (%s); its patch says %q: is that still the fault that it wants to be?",
			m.Name, c.Invariant, c.Seed, c.Text, strings.Join(m.Notices, ", "))
	}
	return nil
}
