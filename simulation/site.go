package simulation

import "time"

// sites draws where the replicas stand: most fleets at one place, some at two
// or three with lines of their own between them, and some with a line of its
// own for each direction of each pair.
func (p *Plan) sites(d dice) {
	sites := 0
	switch {
	case d.chance(0.2):
		sites = d.between(2, 3)
	case d.chance(0.1):
		sites = p.Replicas
	default:
		return
	}
	p.Sites = make([]int, p.Replicas)
	for i := range p.Sites {
		p.Sites[i] = i % sites
	}
	for from := range sites {
		for to := range sites {
			if from != to && d.chance(0.8) {
				p.Paths = append(p.Paths, Path{From: from, To: to, Weather: p.line(d)})
			}
		}
	}
}

// line draws the weather of one line: that of the place, at a distance, and now
// and then worse.
func (p *Plan) line(d dice) Weather {
	w := p.Weather
	w.LatencyMin = d.duration(time.Millisecond, 150*time.Millisecond)
	w.LatencyMax = w.LatencyMin + d.duration(time.Millisecond, 100*time.Millisecond)
	w.Ordered = d.chance(0.5)
	if d.chance(0.3) {
		w.Loss = 0.3 * d.Float64()
	}
	return w
}
