package sync

import "time"

// pace is how many bytes one answer of a peer is asked to hold. A page that a
// slow line does not carry within the timeout would be asked for again and
// again, and never arrive; so answers begin small, grow while they come soon,
// and shrink when they come late or not at all.
type pace struct{ bytes int }

func newPace() pace { return pace{paceBytesBegin} }

// answered takes how long an answer took, of the time that it had, and whether
// it was full: one that is not says nothing of how long more would take.
func (p *pace) answered(took, timeout time.Duration, full bool) {
	switch {
	case took < timeout/8 && full:
		p.bytes = min(2*p.bytes, payloadBytesGoal)
	case took > timeout/2:
		p.shrink(2)
	}
}

// missed takes that an answer did not come in time.
func (p *pace) missed() { p.shrink(4) }

func (p *pace) shrink(by int) { p.bytes = max(p.bytes/by, paceBytesMin) }

// isFull reports whether answers are as large as they may be: the line is fast.
func (p *pace) isFull() bool { return p.bytes >= payloadBytesGoal }

// limit is what a request says; 0 leaves it to the responder.
func (p *pace) limit() uint64 {
	if p.isFull() {
		return 0
	}
	return uint64(p.bytes)
}
