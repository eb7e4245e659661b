package sync

import "time"

// budget is the token bucket of one peer: what it may make this node read and
// send, in bytes. What an answer costs is known afterwards, so it may be
// overdrawn by those in progress; nothing more is read until that is made up
// for.
type budget struct {
	rate float64 // bytes a second
	left float64 // at most answerBurst seconds of rate
	at   time.Time
}

func newBudget(rate int, now time.Time) *budget {
	return &budget{rate: float64(rate), left: float64(rate) * answerBurst, at: now}
}

// refill moves time on. It reports whether the budget is full, and so says
// nothing.
func (b *budget) refill(now time.Time) (full bool) {
	b.left = min(b.left+now.Sub(b.at).Seconds()*b.rate, b.rate*answerBurst)
	b.at = now
	return b.left == b.rate*answerBurst
}

// overdrawn returns how long it takes until a good part may be asked for again;
// zero while something is left.
func (b *budget) overdrawn() time.Duration {
	if b.left > 0 {
		return 0
	}
	const part = answerBurst / 8.0
	return time.Duration((part - b.left/b.rate) * float64(time.Second))
}

func (b *budget) charge(cost int) { b.left -= float64(cost) }

// budgetOf returns the budget of a peer. One that comes again finds it as it
// was, so that nothing is gained by leaving.
func (e *Engine) budgetOf(id PeerID) *budget {
	b := e.budgets[id]
	if b == nil {
		b = newBudget(e.cfg.AnswerRate, e.now)
		e.budgets[id] = b
	}
	return b
}

// forgetBudgets drops those of peers that have left and would find them full.
func (e *Engine) forgetBudgets() {
	for id, b := range e.budgets {
		if e.peers[id] == nil && b.refill(e.now) {
			delete(e.budgets, id)
		}
	}
}
