package simulation

import "time"

// habits draws what agents do besides single steps at random times: some learn
// in bouts and sleep in between, some edit the same skill as another all the
// time, some delete and revive, import what they were given, read, and revise
// what they have read.
func (p *planner) habits() {
	for _, habit := range []struct {
		share float64
		draw  func()
	}{
		{0.3, p.student}, {0.3, p.duel}, {0.25, p.flicker}, {0.25, p.importer}, {0.6, p.readers}, {0.5, p.revisers}, {0.4, p.judges}, {0.25, p.clone},
	} {
		if p.chance(habit.share) {
			habit.draw()
		}
	}
}

// student learns much in little time, and nothing until the next bout.
func (p *planner) student() {
	r, keys := p.replica(), p.between(p.keys, 40)
	for range p.between(1, 3) {
		at := p.at()
		for range p.between(5, 20) {
			at += p.duration(0, 300*time.Millisecond)
			p.add(at, Step{Act: ActWrite, Replica: r, Count: p.IntN(keys)})
		}
	}
}

// duel lets two agents edit one skill at the same time, again and again.
func (p *planner) duel() {
	a, b := p.two()
	at, key := p.at()/2, 2*p.IntN(p.keys)
	for range p.between(4, 12) {
		at += p.duration(300*time.Millisecond, 5*time.Second)
		p.add(at, Step{Act: ActWrite, Replica: a, Count: key})
		p.add(at+p.duration(0, 200*time.Millisecond), Step{Act: ActWrite, Replica: b, Count: key})
	}
}

// flicker lets a key be deleted and revived, by whoever comes.
func (p *planner) flicker() {
	at, key := p.at()/2, p.IntN(p.keys)
	for range p.between(3, 8) {
		at += p.duration(100*time.Millisecond, 4*time.Second)
		p.add(at, Step{Act: ActDelete, Replica: p.replica(), Count: key})
		at += p.duration(0, 4*time.Second)
		p.add(at, Step{Act: ActWrite, Replica: p.replica(), Count: key})
	}
}

// importer writes a pack of skills; now and then another agent has been given
// the same one.
func (p *planner) importer() {
	pack, count, at := p.IntN(3), p.between(10, 60), p.at()
	a, b := p.two()
	p.add(at, Step{Act: ActImport, Replica: a, Peer: pack, Count: count})
	if p.chance(0.4) {
		p.add(at+p.duration(0, 10*time.Second), Step{Act: ActImport, Replica: b, Peer: pack, Count: count})
	}
}

func (p *planner) readers() {
	for range p.between(2, 12) {
		p.add(p.at(), Step{Act: ActRead, Replica: p.replica(), Count: p.IntN(p.keys)})
	}
}

// judges count how shared skills worked out, a few of them again and again.
func (p *planner) judges() {
	keys := p.between(1, p.keys)
	for range p.between(4, 24) {
		p.add(p.at(), Step{Act: ActJudge, Replica: p.replica(), Count: 2 * p.IntN(keys)})
	}
}

func (p *planner) revisers() {
	for range p.between(2, 12) {
		p.add(p.at(), Step{Act: ActRevise, Replica: p.replica(), Count: p.IntN(p.keys), For: p.duration(0, 4*time.Second)})
	}
}

// clone lets two machines write under one identity and stamp.
func (p *planner) clone() {
	for range p.between(1, 2) {
		a, b := p.two()
		p.add(p.at(), Step{Act: ActTwin, Replica: a, Peer: b, Count: p.IntN(p.keys)})
	}
}
