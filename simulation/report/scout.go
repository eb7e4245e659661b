package report

import (
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
)

// messagesMax is how many messages a window has at most, so that single ones
// can be told apart.
const messagesMax = 150

// scout goes through a run before it is recorded: it learns how long the run is
// and which part is worth showing message by message. Events are named by their
// count, which is the same in every run of a plan; what depends on how often is
// sampled is not counted.
type scout struct {
	length   time.Duration
	ordinal  int
	messages int
	pending  map[merge.Hash]stretch // writes that are not everywhere
	best     stretch
	recent   [messagesMax]int // the ordinals of the newest messages, round
	failed   bool
}

// stretch is a part of a run: from one event to another.
type stretch struct {
	from, to int // ordinals
	messages int // that arrive or are lost in it
	why      string
}

func newScout() *scout { return &scout{pending: map[merge.Hash]stretch{}} }

func (s *scout) see(e simulation.Event) {
	if !counted(e.Kind) {
		s.spread(e)
		return
	}
	s.ordinal++
	s.length = e.At
	switch {
	case isMessage(e):
		s.recent[s.messages%messagesMax] = s.ordinal
		s.messages++
	case e.Kind == simulation.EventWrite:
		s.pending[e.Version] = stretch{from: s.ordinal, messages: s.messages}
	case e.Kind == simulation.EventViolation && !s.failed:
		s.failed = true
		s.best = stretch{from: 1, to: s.ordinal, messages: s.messages, why: "the messages before what went wrong"}
		if s.messages > messagesMax {
			s.best.from = s.recent[s.messages%messagesMax]
		}
	}
}

// spread looks at a write that is everywhere: of all, the one is shown whose
// way has the most messages among those that have not too many.
func (s *scout) spread(e simulation.Event) {
	write, known := s.pending[e.Version]
	if e.Kind != simulation.EventEverywhere || !known || s.failed {
		return
	}
	delete(s.pending, e.Version)
	write.to, write.messages = s.ordinal, s.messages-write.messages
	write.why = fmt.Sprintf("from the write of %s on replica %d until every present member held it", e.Key, e.Replica)
	if s.best.why == "" || write.messages <= messagesMax && (write.messages > s.best.messages || s.best.messages > messagesMax) {
		s.best = write
	}
}

// counted reports whether an event happens whatever is measured.
func counted(k simulation.EventKind) bool {
	return k != simulation.EventSample && k != simulation.EventEverywhere
}

// isMessage reports whether a message ends with an event.
func isMessage(e simulation.Event) bool {
	return e.Kind == simulation.EventReceive || e.Kind == simulation.EventFault && takes(e.Fault)
}

// takes reports whether a fault takes the message that is being sent.
func takes(f simulation.Fault) bool {
	switch f {
	case simulation.FaultLoss, simulation.FaultLossy, simulation.FaultCut, simulation.FaultUnsent, simulation.FaultOverflow:
		return true
	default:
		return false
	}
}
