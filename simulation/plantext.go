package simulation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// planVersion is that of the text form. Settings are added, and never change
// their meaning; a text without one means what it meant before.
const planVersion = "plan 1"

// Text returns the plan in the form that ParsePlan reads: a header of settings,
// then a line for each step.
//
//	plan 1
//	seed 42
//	replicas 3
//	topology mesh
//	gossip on
//	heartbeat 10s
//	timeout 10s
//	tick 250ms
//	weather latency-min 1ms latency-max 40ms ordered on loss 0.1
//	replica 2 skew -3s grant late
//
//	+1s write 0 count 5
//	+3.2s crash 1 for 5s
//	+0s partition for 10s group 0,2
//
// A # begins a comment, up to the end of the line. What is not mentioned is
// zero. The plan must be valid.
func (p *Plan) Text() string {
	whole := p.normal()
	var b strings.Builder
	b.WriteString(planVersion + "\n")
	for _, s := range whole.settings() {
		if s.always || !s.zero() {
			fmt.Fprintf(&b, "%s %s\n", s.name, s.text())
		}
	}
	writeLine(&b, "weather", whole.Weather.settings())
	for i := range whole.Paths {
		writeLine(&b, "path", whole.Paths[i].settings())
	}
	for n := range whole.Replicas {
		writeLine(&b, "replica "+strconv.Itoa(n), whole.replicaSettings(n))
	}
	if len(whole.Steps) > 0 {
		b.WriteString("\n")
	}
	for i := range whole.Steps {
		fmt.Fprintf(&b, "+%s %s\n", whole.Steps[i].After, whole.Steps[i])
	}
	return b.String()
}

// writeLine writes the settings of one thing, unless all are zero.
func writeLine(b *strings.Builder, name string, settings []setting) {
	if text := pairs(settings); text != "" {
		b.WriteString(name + text + "\n")
	}
}

func pairs(settings []setting) string {
	var b strings.Builder
	for i := range settings {
		if s := &settings[i]; s.always || !s.zero() {
			b.WriteString(" " + s.name + " " + s.text())
		}
	}
	return b.String()
}

// String is the step as traces and texts show it, but for its After.
func (s Step) String() string {
	text := string(s.Act)
	if s.Replica != 0 || !s.Act.everybody() {
		text += " " + strconv.Itoa(s.Replica)
	}
	return text + pairs(s.settings(replicasMax))
}

// planReader reads a text line by line.
type planReader struct {
	plan  Plan
	begun bool           // the version was read
	steps []int          // by step, its line
	lines map[string]int // by how a line of settings begins, its number
}

// ParsePlan reads a plan from its text. Errors: ErrPlan, with the line.
func ParsePlan(text string) (Plan, error) {
	r := planReader{lines: map[string]int{}}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) { // some editors begin every text with it
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := r.line(number, fields); err != nil {
			return Plan{}, fmt.Errorf("%w: line %d: %w", ErrPlan, number, err)
		}
	}
	if !r.begun {
		return Plan{}, fmt.Errorf("%w: it has no lines; it begins with %q", ErrPlan, planVersion)
	}
	if w := r.plan.wrong(); w != nil {
		if n := r.lineOf(w); n > 0 {
			return Plan{}, fmt.Errorf("%w: line %d: %w", ErrPlan, n, w)
		}
		return Plan{}, fmt.Errorf("%w: %w", ErrPlan, w)
	}
	r.plan.settle()
	return r.plan, nil
}

// lineOf returns the line that says what is wrong, 0 when none does.
func (r *planReader) lineOf(w *wrong) int {
	if w.step >= 0 && w.step < len(r.steps) {
		return r.steps[w.step]
	}
	return r.lines[w.setting]
}

func (r *planReader) line(number int, fields []string) error {
	if !r.begun {
		r.begun = true
		if got := strings.Join(fields, " "); got != planVersion {
			return fmt.Errorf("it begins with %.60q, a plan begins with %q", got, planVersion)
		}
		return nil
	}
	if after, isStep := strings.CutPrefix(fields[0], "+"); isStep {
		r.steps = append(r.steps, number)
		return r.step(after, fields[1:])
	}
	if len(r.steps) > 0 {
		return fmt.Errorf("%.60q is no step: a step begins with + and the time since the one before, and settings come before all steps", fields[0])
	}
	key, rest := fields[0], fields[1:]
	if key == "replica" && len(rest) > 0 {
		key, rest = key+" "+rest[0], rest[1:]
	}
	if r.lines[key] != 0 && key != "path" {
		return fmt.Errorf("%s was set before, in line %d", key, r.lines[key])
	}
	r.lines[key] = number
	return r.header(key, fields, rest)
}

// header reads one line of settings.
func (r *planReader) header(key string, fields, rest []string) error {
	switch fields[0] {
	case "weather":
		return parsePairs(r.plan.Weather.settings(), rest)
	case "path":
		r.plan.Paths = append(r.plan.Paths, Path{})
		return parsePairs(r.plan.Paths[len(r.plan.Paths)-1].settings(), rest)
	case "replica":
		return r.replica(fields, rest)
	}
	if settingsByName(r.plan.settings())[key] != nil && len(rest) != 1 {
		return fmt.Errorf("%s has %d values, it takes one", key, len(rest))
	}
	return parsePairs(r.plan.settings(), fields)
}

func (r *planReader) replica(fields, rest []string) error {
	if r.plan.Replicas < 2 || r.plan.Replicas > replicasMax {
		return fmt.Errorf("the line replicas comes before, with 2 to %d", replicasMax)
	}
	if len(fields) < 2 {
		return errors.New("which replica: its number comes first")
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n < 0 || n >= r.plan.Replicas {
		return fmt.Errorf("%.60q is none of %d replicas, which are numbered from 0", fields[1], r.plan.Replicas)
	}
	r.plan.pad()
	return parsePairs(r.plan.replicaSettings(n), rest)
}

// step reads a line as "+3s crash write 2 for 5s", without the plus.
func (r *planReader) step(after string, fields []string) error {
	var s Step
	var err error
	if s.After, err = time.ParseDuration(after); err != nil {
		return fmt.Errorf("the time since the step before: %w", brief(err))
	}
	words := 0
	known := settingsByName(s.settings(replicasMax))
	for words < len(fields) && known[fields[words]] == nil && !isNumber(fields[words]) {
		words++
	}
	s.Act = Act(strings.Join(fields[:words], " "))
	if !slices.Contains(Acts(), s.Act) {
		return fmt.Errorf("%.60q is no act; acts are %s", s.Act, actNames())
	}
	fields = fields[words:]
	if len(fields) > 0 && isNumber(fields[0]) {
		if s.Replica, err = strconv.Atoi(fields[0]); err != nil {
			return fmt.Errorf("%.60q is the number of no replica", fields[0])
		}
		fields = fields[1:]
	}
	if err := parsePairs(s.settings(replicasMax), fields); err != nil {
		return fmt.Errorf("%s: %w", s.Act, err)
	}
	r.plan.Steps = append(r.plan.Steps, s)
	return nil
}

// brief is an error of package time or strconv without what it quotes, which may
// be as long as a text.
func brief(err error) error {
	if text := err.Error(); len(text) > 120 {
		return errors.New(strings.ToValidUTF8(text[:60], "") + "...")
	}
	return err
}

func isNumber(text string) bool { return text[0] >= '0' && text[0] <= '9' || text[0] == '-' }

func actNames() string {
	var names []string
	for _, a := range Acts() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

func settingsByName(settings []setting) map[string]*setting {
	byName := make(map[string]*setting, len(settings))
	for i := range settings {
		byName[settings[i].name] = &settings[i]
	}
	return byName
}

// parsePairs reads names and values that take turns, each name at most once.
func parsePairs(settings []setting, fields []string) error {
	byName := settingsByName(settings)
	for ; len(fields) > 0; fields = fields[min(2, len(fields)):] {
		name := fields[0]
		s, known := byName[name]
		switch {
		case !known:
			return fmt.Errorf("unknown setting %.60q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(settingsByName(settings))), ", "))
		case s == nil:
			return fmt.Errorf("%s is set twice", name)
		case len(fields) < 2:
			return fmt.Errorf("%s has no value", name)
		}
		byName[name] = nil
		if err := s.parse(fields[1]); err != nil {
			return fmt.Errorf("%s %.60s: %w", name, fields[1], brief(err))
		}
	}
	return nil
}
