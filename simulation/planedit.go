package simulation

import (
	"slices"
	"time"
)

// clone returns a plan that shares nothing with this one.
func (p *Plan) clone() Plan {
	c := p.normal()
	c.Absent = slices.Clone(p.Absent)
	c.Newer = slices.Clone(p.Newer)
	c.Paths = slices.Clone(p.Paths)
	c.Steps = slices.Clone(p.Steps)
	return c
}

// dropSteps leaves out the steps from one to before another. The others keep
// their time.
func (p *Plan) dropSteps(from, to int) {
	var gap time.Duration
	for i := from; i < to; i++ {
		gap += p.Steps[i].After
	}
	if to < len(p.Steps) {
		p.Steps[to].After += gap
	} else {
		p.Rest += gap
	}
	p.Steps = slices.Delete(p.Steps, from, to)
}

// dropReplica leaves out a replica, what happens to it, and its links. Those
// after it move up by one.
func (p *Plan) dropReplica(number int) {
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if !p.Steps[i].survives(number) {
			p.dropSteps(i, i+1)
		}
	}
	for _, list := range []*[]int{&p.Absent, &p.Newer} {
		*list = slices.DeleteFunc(*list, func(n int) bool { return n == number })
		for i, n := range *list {
			(*list)[i] = above(n, number)
		}
	}
	p.Skews = slices.Delete(p.Skews, number, number+1)
	p.Grants = slices.Delete(p.Grants, number, number+1)
	p.Limits = slices.Delete(p.Limits, number, number+1)
	p.Withheld = slices.Delete(p.Withheld, number, number+1)
	p.Sites = slices.Delete(p.Sites, number, number+1)
	p.Grants[0], p.Limits[0] = GrantKnown, LimitNone
	p.Replicas--
}

// above returns the number of a replica after another was left out.
func above(n, dropped int) int {
	if n > dropped {
		return n - 1
	}
	return n
}

// survives adapts a step to a fleet without a replica, and reports whether
// anything is left of it.
func (s *Step) survives(dropped int) bool {
	if s.Act == ActCutLine {
		return true // its numbers are those of sites
	}
	if s.Replica == dropped && !s.Act.everybody() || s.Peer == dropped && s.Act.hasPeer() {
		return false
	}
	if s.Replica = above(s.Replica, dropped); s.Act.everybody() {
		s.Replica = 0
	}
	if s.Act.hasPeer() {
		s.Peer = above(s.Peer, dropped)
	}
	if s.Group != 0 && dropped < 64 {
		low := s.Group & (1<<dropped - 1)
		high := s.Group >> dropped >> 1 << dropped
		s.Group = low | high
		return s.Group != 0
	}
	return true
}
