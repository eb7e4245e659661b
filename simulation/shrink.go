package simulation

import (
	"context"
	"errors"
	"reflect"
	"time"
)

// shrinkRuns is how many plans Shrink runs when nobody says otherwise: a minute
// or two.
const shrinkRuns = 2_000

// ErrSound is returned for a plan that should fail and does not.
var ErrSound = errors.New("simulation: the plan does not fail")

// ShrinkConfig says how to shrink; the zero value will do.
type ShrinkConfig struct {
	// Fails runs a plan and returns what it violates, nil for nothing, the same
	// each time. Nil runs it without options.
	Fails func(Plan) *Violation
	// Own says that Fails has more than the plan: a workload, a check, or messages
	// that it intercepts. The text of what is left then says that it needs them.
	Own bool
	// Runs is how many plans are run at most; 0 is 2,000.
	Runs int
	// Progress is told after each run, of the shortest plan so far; nil is nobody.
	Progress func(runs int, best *Plan)
}

// Shrunk is a plan made short.
type Shrunk struct {
	// Plan fails, and is valid.
	Plan Plan
	// Violation is what it violates: the invariant that From does, and of own
	// checks the one of the same name.
	Violation Violation
	// Own is that of ShrinkConfig, and true of InvariantOwn.
	Own bool
	// From is what it was made of.
	From Plan
	// Runs is how many plans were run for it.
	Runs int
}

// Shrink makes a plan that fails as short and calm as it can, so that a person
// can see what it is that fails: it leaves out steps, replicas and faults,
// shortens times and counts, and keeps what still violates the same invariant, or
// fails the own check of the same name, see Named.
// The result depends on the plan and on Fails alone. Errors: ErrSound, ErrPlan,
// and that of ctx together with the shortest plan until then.
func Shrink(ctx context.Context, plan Plan, cfg ShrinkConfig) (*Shrunk, error) {
	if cfg.Fails == nil {
		cfg.Fails = func(p Plan) *Violation {
			_, err := Run(p, Options{}, nil)
			return ViolationOf(err)
		}
	}
	if cfg.Runs == 0 {
		cfg.Runs = shrinkRuns
	}
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	v := cfg.Fails(plan)
	if v == nil {
		return nil, ErrSound
	}
	s := shrinker{
		ctx: ctx.Err, cfg: cfg, tried: map[string]bool{},
		Shrunk: Shrunk{Plan: plan.normal(), Violation: *v, From: plan, Runs: 1, Own: cfg.Own || v.Invariant == InvariantOwn},
	}
	for s.round() {
	}
	s.Plan.settle()
	return &s.Shrunk, ctx.Err()
}

// shrinker tries one plan after the other.
type shrinker struct {
	Shrunk
	cfg   ShrinkConfig
	ctx   func() error
	tried map[string]bool // texts of plans that were run
}

// round tries everything once, the coarsest first, and reports whether anything
// helped.
func (s *shrinker) round() (shorter bool) {
	passes := []func() bool{s.dropTail, s.dropReplicas, s.dropSteps, s.calm, s.reseed, s.shorten}
	for _, pass := range passes {
		shorter = pass() || shorter
	}
	return shorter
}

// try runs a changed copy of the shortest plan, and takes it when it fails
// likewise.
func (s *shrinker) try(change func(p *Plan)) bool {
	if s.Runs >= s.cfg.Runs || s.ctx() != nil {
		return false
	}
	p := s.Plan.clone()
	change(&p)
	if reflect.DeepEqual(p, s.Plan) || p.Validate() != nil {
		return false
	}
	text := p.Text()
	if s.tried[text] {
		return false
	}
	s.tried[text] = true
	s.Runs++
	v := s.cfg.Fails(p)
	same := v != nil && v.likewise(&s.Violation)
	if same {
		s.Plan, s.Violation = p, *v
	}
	if s.cfg.Progress != nil {
		s.cfg.Progress(s.Runs, &s.Plan)
	}
	return same
}

// dropTail leaves out what happens after the failure, by halving.
func (s *shrinker) dropTail() (shorter bool) {
	for n := (len(s.Plan.Steps) + 1) / 2; n > 0; n /= 2 { // the only step too
		for s.try(func(p *Plan) { p.dropSteps(len(p.Steps)-n, len(p.Steps)) }) {
			shorter = true
			n = min(n, (len(s.Plan.Steps)+1)/2)
		}
	}
	return shorter
}

// dropSteps leaves out runs of steps, long ones first.
func (s *shrinker) dropSteps() (shorter bool) {
	for n := (len(s.Plan.Steps) + 1) / 2; n > 0; n /= 2 {
		for from := len(s.Plan.Steps) - n; from > -n; from -= n {
			if s.try(func(p *Plan) { p.dropSteps(max(from, 0), min(from+n, len(p.Steps))) }) {
				shorter = true
			}
		}
	}
	return shorter
}

func (s *shrinker) dropReplicas() (shorter bool) {
	for n := s.Plan.Replicas - 1; n >= 0; n-- {
		if s.Plan.Replicas > 2 && s.try(func(p *Plan) { p.dropReplica(n) }) {
			shorter = true
		}
	}
	return shorter
}

// calm takes away what is not as in a calm plan: faults of the weather, lines,
// skews, grants, and intervals.
func (s *shrinker) calm() (shorter bool) {
	for i := len(s.Plan.Paths) - 1; i >= 0; i-- {
		shorter = s.try(func(p *Plan) { p.Paths = append(p.Paths[:i], p.Paths[i+1:]...) }) || shorter
	}
	shorter = s.try(func(p *Plan) { p.Weather = calm() }) || shorter
	sizes := []int{len(s.Plan.settings()), len(s.Plan.Weather.settings()), len(s.Plan.replicaSettings(0))}
	for i := range sizes[0] {
		shorter = s.try(func(p *Plan) {
			quiet := Calm(p.Seed, p.Replicas)
			p.settings()[i].set(&quiet.settings()[i])
		}) || shorter
	}
	for i := range sizes[1] {
		shorter = s.try(func(p *Plan) {
			quiet := calm()
			p.Weather.settings()[i].set(&quiet.settings()[i])
		}) || shorter
	}
	for n := range s.Plan.Replicas {
		for i := range sizes[2] {
			shorter = s.try(func(p *Plan) {
				quiet := Calm(p.Seed, p.Replicas)
				quiet.pad()
				p.replicaSettings(n)[i].set(&quiet.replicaSettings(n)[i])
			}) || shorter
		}
	}
	return shorter
}

// shorten makes the numbers of steps smaller and rounder. A peer is one of them:
// of most acts it means nothing, or is the number of a pack.
func (s *shrinker) shorten() (shorter bool) {
	for i := len(s.Plan.Steps) - 1; i >= 0; i-- {
		shorter = s.lessen(func(p *Plan) *time.Duration { return &p.Steps[i].After }) || shorter
		shorter = s.lessen(func(p *Plan) *time.Duration { return &p.Steps[i].For }) || shorter
		shorter = s.fewer(func(p *Plan) *int { return &p.Steps[i].Count }) || shorter
		shorter = s.fewer(func(p *Plan) *int { return &p.Steps[i].Bytes }) || shorter
		shorter = s.fewer(func(p *Plan) *int { return &p.Steps[i].Peer }) || shorter
		shorter = s.try(func(p *Plan) { p.Steps[i].Group &= p.Steps[i].Group - 1 }) || shorter
	}
	return s.lessen(func(p *Plan) *time.Duration { return &p.Rest }) || shorter
}

// lessen makes a duration zero, or round, or half as long again and again.
func (s *shrinker) lessen(field func(*Plan) *time.Duration) bool {
	set := func(to func(d time.Duration) time.Duration) bool {
		return s.try(func(p *Plan) { *field(p) = to(*field(p)) })
	}
	if set(func(time.Duration) time.Duration { return 0 }) {
		return true
	}
	shorter := false
	for field(&s.Plan).Abs() >= time.Second && set(func(d time.Duration) time.Duration { return d / 2 }) {
		shorter = true
	}
	for _, unit := range []time.Duration{time.Hour, time.Minute, time.Second, 100 * time.Millisecond, time.Millisecond} {
		if set(func(d time.Duration) time.Duration { return d.Truncate(unit) }) {
			return true
		}
	}
	return shorter
}

// fewer makes a number zero, one, or half as large again and again.
func (s *shrinker) fewer(field func(*Plan) *int) bool {
	set := func(to func(n int) int) bool {
		return s.try(func(p *Plan) { *field(p) = to(*field(p)) })
	}
	if set(func(int) int { return 0 }) || set(func(n int) int { return min(n, 1) }) {
		return true
	}
	shorter := false
	for set(func(n int) int { return n / 2 }) {
		shorter = true
	}
	return shorter
}

// reseed leaves out steps and replicas once more, under other seeds: what is
// drawn in a run falls otherwise with each change, and a step may have been
// needed for that alone.
func (s *shrinker) reseed() (shorter bool) {
	reseeded := func(change func(p *Plan)) {
		const seeds = 10
		for seed := range uint64(seeds) {
			if s.try(func(p *Plan) { p.Seed = seed + 1; change(p) }) {
				shorter = true
				return
			}
		}
	}
	for n := s.Plan.Replicas - 1; n >= 0 && s.Plan.Replicas > 2; n-- {
		reseeded(func(p *Plan) { p.dropReplica(n) })
	}
	for n := min(len(s.Plan.Steps)/2, 8); n > 0; n /= 2 {
		for from := len(s.Plan.Steps) - n; from > -n; from -= n {
			reseeded(func(p *Plan) { p.dropSteps(max(from, 0), min(from+n, len(p.Steps))) })
		}
	}
	return shorter
}
