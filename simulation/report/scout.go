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
	length  time.Duration
	ordinal int
	seen    tally
	pending map[merge.Hash]stretch // writes that are not everywhere
	best    stretch
	recent  [messagesMax]int // the ordinals of the newest messages, round
	failed  bool
}

// tally counts messages that arrive or are lost.
type tally struct {
	all   int
	beats int // of them those that compare heads
}

// stretch is a part of a run: from one event to another.
type stretch struct {
	from, to int // ordinals
	messages tally
	quiet    bool // leaves out those that compare heads, or there are too many
	why      string
}

// shown is how many messages of a stretch are shown.
func (s *stretch) shown() int {
	if s.quiet {
		return s.messages.all - s.messages.beats
	}
	return s.messages.all
}

// better reports whether a stretch is the better one to show: one that can be
// shown as a whole, then one without what leaves things out, then the longer.
func (s *stretch) better(other *stretch) bool {
	fits := func(s *stretch) bool { return s.shown() <= messagesMax }
	switch {
	case other.why == "" || fits(s) != fits(other):
		return other.why == "" || fits(s)
	case !fits(s):
		return s.shown() < other.shown()
	case s.quiet != other.quiet:
		return !s.quiet
	}
	return s.shown() > other.shown()
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
		s.recent[s.seen.all%messagesMax] = s.ordinal
		s.seen.all++
		if e.Route == simulation.RouteHeartbeat {
			s.seen.beats++
		}
	case e.Kind == simulation.EventWrite:
		s.pending[e.Version] = stretch{from: s.ordinal, messages: s.seen}
	case e.Kind == simulation.EventViolation && !s.failed:
		s.failed = true
		s.best = stretch{from: 1, to: s.ordinal, why: "the last messages before what went wrong"}
		if s.seen.all > messagesMax {
			s.best.from = s.recent[s.seen.all%messagesMax]
		}
	}
}

// spread looks at a write that is everywhere, and keeps the best of all.
func (s *scout) spread(e simulation.Event) {
	write, known := s.pending[e.Version]
	if e.Kind != simulation.EventEverywhere || !known || s.failed {
		return
	}
	delete(s.pending, e.Version)
	write.to = s.ordinal
	write.messages = tally{s.seen.all - write.messages.all, s.seen.beats - write.messages.beats}
	write.quiet = write.messages.all > messagesMax
	write.why = fmt.Sprintf("from the write of %s on replica %d until every present member held it", e.Key, e.Replica)
	if write.shown() > messagesMax {
		write.why = fmt.Sprintf("the first %d messages %s", messagesMax, write.why)
	}
	if write.better(&s.best) {
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
