package simulation

import (
	"fmt"
	"strings"
)

// NeedsOwn is the comment at the head of a plan that does not fail by itself:
// the workload, the check and the like with which it was found are Go, and stand
// in no plan.
const NeedsOwn = "# Found with a workload or a check of its own: simulation.Run of this plan needs the same Options and check."

// Text is the plan, after comments that say what fails and what it was made of.
func (s *Shrunk) Text() string {
	what, _, _ := strings.Cut(s.Violation.Text, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n# Shrunk from seed %d: %d steps to %d, %d replicas to %d, in %d runs.\n",
		s.Violation.Invariant, what, s.From.Seed, len(s.From.Steps), len(s.Plan.Steps), s.From.Replicas, s.Plan.Replicas, s.Runs)
	if s.Plan.Seed != s.From.Seed {
		fmt.Fprintf(&b, "# On the way its own seed has become %d: what is drawn in the run falls so that fewer steps are needed.\n", s.Plan.Seed)
	}
	if s.Own {
		b.WriteString(NeedsOwn + "\n")
	}
	return b.String() + "\n" + s.Plan.Text()
}

// FileName is a name for the text, by the invariant and the seed.
func (s *Shrunk) FileName() string {
	return fmt.Sprintf("%s-%d.plan", strings.ToLower(strings.ReplaceAll(string(s.Violation.Invariant), " ", "-")), s.From.Seed)
}
