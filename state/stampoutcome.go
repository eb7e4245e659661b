package state

import "github.com/fleetsync/fleetd/state/eventlog"

// StampOutcome stamps that a store has counted more of a skill: the Uses and
// Wins of o are added to those of existing, the outcome record of the same
// scope, slug and store, tombstones included, nil if there is none. Counts
// stand still at 2^48. Errors: ErrInvalid, ErrConflict, hlc.ErrClockAhead.
func (s *Stamper) StampOutcome(existing *Outcome, o Outcome) (Outcome, eventlog.AppendInput, error) {
	stamped, err := s.stampOutcome(existing, o)
	if err != nil {
		return Outcome{}, eventlog.AppendInput{}, err
	}
	return stamped, outcomeEvent(stamped), nil
}

// stampOutcome is StampOutcome without the event, which a store keeps as its record.
func (s *Stamper) stampOutcome(existing *Outcome, o Outcome) (Outcome, error) {
	o, err := normalOutcome(o)
	if err != nil {
		return Outcome{}, err
	}
	o.Uses, o.Wins = min(o.Uses, outcomeMax), min(o.Wins, outcomeMax)
	err = checkCounts(o.Uses, o.Wins)
	var stored *Envelope
	if existing != nil && err == nil {
		err = checkCounts(existing.Uses, existing.Wins)
		stored = &existing.Envelope
		o.Uses, o.Wins = min(o.Uses+existing.Uses, outcomeMax), min(o.Wins+existing.Wins, outcomeMax)
	}
	if err != nil {
		return Outcome{}, err
	}
	if o.Envelope, err = s.stamp(stored, o.Envelope, false); err != nil {
		return Outcome{}, err
	}
	return o, nil
}
