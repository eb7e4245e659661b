package sync

// Gauge is how full one of the engine's queues or maps is. N never exceeds Max:
// that is invariant I9, for what one node holds on behalf of its peers.
type Gauge struct {
	Name   string
	N, Max int
}

// Load returns how full the engine is, always the same gauges in the same order.
// Those that each peer has are of the peer that has most.
func (e *Engine) Load() []Gauge {
	pulls := Gauge{Name: "exchanges", Max: pullsMax + pullsBarrenMax}
	pages := Gauge{Name: "pages of an exchange", Max: stepsMax}
	paused := Gauge{Name: "exchanges that wait for a busy peer", Max: pausedMax}
	wants := Gauge{Name: "sections to be pulled from a peer", Max: wantsMax}
	answers := Gauge{Name: "answers to a peer", Max: answersMax}
	sections := Gauge{Name: "sections of a peer", Max: remoteMax + len(e.sections())}
	for _, p := range e.peers {
		if p.pull != nil {
			pulls.N++
			pages.N = max(pages.N, len(p.pull.steps))
		}
		for _, pl := range p.paused {
			pages.N = max(pages.N, len(pl.steps))
		}
		paused.N = max(paused.N, len(p.paused))
		wants.N = max(wants.N, len(p.wants.list))
		sections.N = max(sections.N, len(p.remote.of))
		answers.N = max(answers.N, len(p.answering))
	}
	fetches, absent := e.blobGauges()
	return []Gauge{
		fetches, absent, pulls, pages, paused, wants, answers, sections,
		{Name: "gossiped records", N: len(e.gossiped), Max: gossipPendingMax},
		{Name: "gossiped batches at the store", N: e.gossipApplying, Max: gossipApplyingMax},
		{Name: "checks", N: len(e.checks), Max: len(e.peers)},
		{Name: "families not shared", N: len(e.withheld), Max: sectionsMax},
	}
}
