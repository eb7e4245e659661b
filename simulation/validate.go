package simulation

import (
	"errors"
	"fmt"
	"slices"
)

// ErrPlan is wrapped by what is wrong with a plan or its text.
var ErrPlan = errors.New("simulation: no valid plan")

// wrong says what a plan may not be.
type wrong struct {
	err     error
	setting string // that begins the line of the text, empty for steps
	step    int    // -1 for settings
}

// Error implements error.
func (w *wrong) Error() string {
	if w.step >= 0 {
		return fmt.Sprintf("step %d: %v", w.step+1, w.err)
	}
	return w.err.Error()
}

// Unwrap returns what is wrong.
func (w *wrong) Unwrap() error { return w.err }

// Validate holds a plan to what a cluster can carry out without a panic: every
// number within its range, every replica one of the plan's. A list by replica
// may be shorter than the fleet; the rest of it is zero. Errors: ErrPlan.
func (p *Plan) Validate() error {
	if w := p.wrong(); w != nil {
		return fmt.Errorf("%w: %w", ErrPlan, w)
	}
	return nil
}

// wrong returns the first thing that is wrong with a plan, nil for nothing.
func (p *Plan) wrong() *wrong {
	if w := checkAll("", p.settings()); w != nil {
		return w
	}
	lists := []struct {
		name string
		len  int
	}{{"Skews", len(p.Skews)}, {"Grants", len(p.Grants)}, {"Limits", len(p.Limits)}, {"Withheld", len(p.Withheld)}, {"Sites", len(p.Sites)}}
	for _, list := range lists {
		if list.len > p.Replicas {
			return &wrong{step: -1, err: fmt.Errorf("%s has %d entries for %d replicas", list.name, list.len, p.Replicas)}
		}
	}
	whole := p.normal()
	if w := whole.wrongParts(); w != nil {
		return w
	}
	return whole.wrongSteps()
}

func checkAll(line string, settings []setting) *wrong {
	for i := range settings {
		if err := settings[i].check(); err != nil {
			name := line
			if name == "" {
				name = settings[i].name
			}
			return &wrong{step: -1, setting: name, err: err}
		}
	}
	return nil
}

// wrongParts checks the weather, the lines and the replicas.
func (p *Plan) wrongParts() *wrong {
	if w := checkAll("weather", p.Weather.settings()); w != nil {
		return w
	}
	if len(p.Paths) > pathsMax {
		return &wrong{step: -1, setting: "path", err: fmt.Errorf("%d lines between sites, at most %d", len(p.Paths), pathsMax)}
	}
	for i := range p.Paths {
		if w := checkAll("path", p.Paths[i].settings()); w != nil {
			w.err = fmt.Errorf("path %d: %w", i+1, w.err)
			return w
		}
	}
	for n := range p.Replicas {
		line := fmt.Sprintf("replica %d", n)
		if w := checkAll(line, p.replicaSettings(n)); w != nil {
			w.err = fmt.Errorf("%s: %w", line, w.err)
			return w
		}
	}
	if p.Grants[0] != GrantKnown || p.Limits[0] != LimitNone {
		return &wrong{step: -1, setting: "replica 0", err: errors.New("replica 0 is the admin, whom everybody knows and nothing limits")}
	}
	return nil
}

// wrongSteps checks the steps one by one, and how long they take and how much
// they write together.
func (p *Plan) wrongSteps() *wrong {
	if len(p.Steps) > stepsMax {
		return &wrong{step: stepsMax, err: fmt.Errorf("%d steps, at most %d", len(p.Steps), stepsMax)}
	}
	left, held := century-p.Rest, int64(0)
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := s.wrong(p.Replicas); err != nil {
			return &wrong{step: i, err: err}
		}
		if held += s.written() * int64(p.Replicas); held > heldMax {
			return &wrong{step: i, err: fmt.Errorf("with what this writes all replicas hold more than %d GiB together", heldMax>>30)}
		}
		if left -= s.After; left >= 0 && s.Act == ActJump {
			left -= s.For
		}
		if left < 0 {
			return &wrong{step: i, err: fmt.Errorf("the plan takes longer than %s", century)}
		}
	}
	return nil
}

// written is about how many bytes of records a step makes.
func (s *Step) written() int64 {
	count, body := 1, s.Bytes
	switch s.Act {
	case ActBurst:
		count = s.Count
	case ActImport:
		count, body = s.Count, 120
	case ActLarge:
		count, body = s.Count, largeBytes(s.Count)
	default: // one record at most
	}
	return int64(count) * int64(body+recordBytes)
}

func (s *Step) wrong(replicas int) error {
	first := []setting{
		setting{name: "the time since the step before", value: &s.After}.lasting(0, century),
		setting{name: "the replica", value: &s.Replica}.within(0, float64(replicas-1)),
	}
	if w := checkAll("", append(first, s.settings(replicas)...)); w != nil {
		return fmt.Errorf("%s: %w", s.Act, w.err)
	}
	switch {
	case !slices.Contains(Acts(), s.Act):
		return fmt.Errorf("%q is no act", s.Act)
	case s.Act.hasPeer() && s.Peer == s.Replica:
		return fmt.Errorf("%s: the peer of replica %d is another", s.Act, s.Replica)
	}
	return nil
}

// normal returns a copy whose lists by replica are whole, as the kernel and the
// text form take them.
func (p *Plan) normal() Plan {
	whole := *p
	whole.Skews = slices.Clone(p.Skews)
	whole.Grants = slices.Clone(p.Grants)
	whole.Limits = slices.Clone(p.Limits)
	whole.Withheld = slices.Clone(p.Withheld)
	whole.Sites = slices.Clone(p.Sites)
	whole.pad()
	return whole
}

// pad makes lists by replica whole.
func (p *Plan) pad() {
	p.Skews = padded(p.Skews, p.Replicas)
	p.Grants = padded(p.Grants, p.Replicas)
	p.Limits = padded(p.Limits, p.Replicas)
	p.Withheld = padded(p.Withheld, p.Replicas)
	p.Sites = padded(p.Sites, p.Replicas)
}

// settle makes the plan what its text is read as.
func (p *Plan) settle() {
	p.pad()
	if !slices.ContainsFunc(p.Sites, func(site int) bool { return site != 0 }) {
		p.Sites = nil
	}
	if !slices.ContainsFunc(p.Limits, func(l GrantLimit) bool { return l != LimitNone }) {
		p.Limits = nil
	}
}

func padded[T any](list []T, count int) []T {
	return append(list, make([]T, max(count-len(list), 0))...)
}
