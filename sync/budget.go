package sync

import "time"

// budget is a token bucket of one peer. What something costs is known when it
// is done, so it may be overdrawn by what is in progress; nothing more is done
// until that is made up for.
type budget struct {
	rate float64 // units a second
	left float64 // at most budgetBurst seconds of rate
	at   time.Time
}

func newBudget(rate int, now time.Time) budget {
	return budget{rate: float64(rate), left: float64(rate) * budgetBurst, at: now}
}

// refill moves time on. It reports whether the budget is full, and so says
// nothing.
func (b *budget) refill(now time.Time) (full bool) {
	b.left = min(b.left+now.Sub(b.at).Seconds()*b.rate, b.rate*budgetBurst)
	b.at = now
	return b.left == b.rate*budgetBurst
}

// overdrawn returns how long it takes until a good part may be asked for again;
// zero while something is left.
func (b *budget) overdrawn() time.Duration {
	if b.left > 0 {
		return 0
	}
	const part = budgetBurst / 8.0
	return time.Duration((part - b.left/b.rate) * float64(time.Second))
}

func (b *budget) charge(cost int) { b.left -= float64(cost) }

// budgets are what one peer may make this node do.
type budgets struct {
	answers  budget // in bytes that are read and sent
	compares budget // in sections
}

// refill is that of each.
func (b *budgets) refill(now time.Time) (full bool) {
	answers, compares := b.answers.refill(now), b.compares.refill(now)
	return answers && compares
}

// budgetsOf returns the budgets of a peer. One that comes again finds them as
// they were, so that nothing is gained by leaving.
func (e *Engine) budgetsOf(id PeerID) *budgets {
	b := e.budgets[id]
	if b == nil {
		b = &budgets{answers: newBudget(e.cfg.AnswerRate, e.now), compares: newBudget(compareRate, e.now)}
		e.budgets[id] = b
	}
	return b
}

// mayCompare takes the cost of comparing a list of heads of a peer from its
// budget: the sections that it lists, and those of this node that it speaks of.
// Beyond it the message counts as lost.
func (e *Engine) mayCompare(p *peer, h *Heads) bool {
	b := &p.budgets.compares
	if b.refill(e.now); b.overdrawn() > 0 {
		e.counters.HeadsIgnored++
		return false
	}
	b.charge(max(compareCost, len(h.Sections)+len(h.WithheldSections)+len(e.ownWithin(h))))
	return true
}

// forgetBudgets drops those of peers that have left and would find them full.
func (e *Engine) forgetBudgets() {
	for id, b := range e.budgets {
		if e.peers[id] == nil && b.refill(e.now) {
			delete(e.budgets, id)
		}
	}
}
