package state

import (
	"fmt"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// CreateSession stamps a new session. Errors: ErrInvalid, ErrConflict,
// hlc.ErrClockAhead.
func (s *Stamper) CreateSession(ses Session) (Session, eventlog.AppendInput, error) {
	stamped, err := s.createSession(ses)
	if err != nil {
		return Session{}, eventlog.AppendInput{}, err
	}
	return stamped, sessionEvent(stamped), nil
}

// createSession is CreateSession without the event, which a store keeps as its record.
func (s *Stamper) createSession(ses Session) (Session, error) {
	ses, err := normalSession(ses)
	if err != nil {
		return Session{}, err
	}
	now := storedClock(s.clock.Now())
	if ses.ID == "" {
		ses.ID = s.mint()
	}
	if ses.CreatedAt.IsZero() {
		ses.CreatedAt = now
	}
	if ses.CreatedAt, err = storedTime("CreatedAt", ses.CreatedAt); err != nil {
		return Session{}, err
	}
	ses.UpdatedAt = now
	if ses.Envelope, err = s.stamp(nil, ses.Envelope, false); err != nil {
		return Session{}, err
	}
	return ses, nil
}

// AppendTurn stamps a turn at nextSeq, and the change of the envelope that it
// brings to its live session as callers see it: both and the one event that
// records the pair. Errors: ErrNotFound for a tombstone; ErrInvalid,
// ErrConflict, hlc.ErrClockAhead.
func (s *Stamper) AppendTurn(ses Session, t Turn, nextSeq int64) (Turn, Session, eventlog.AppendInput, error) {
	t, ses, err := s.appendTurn(ses, t, nextSeq)
	if err != nil {
		return Turn{}, Session{}, eventlog.AppendInput{}, err
	}
	return t, ses, turnEvent(t, &ses), nil
}

// appendTurn is AppendTurn without the event.
func (s *Stamper) appendTurn(ses Session, t Turn, nextSeq int64) (Turn, Session, error) {
	fail := func(err error) (Turn, Session, error) { return Turn{}, Session{}, err }
	if ses.Deleted {
		return fail(fmt.Errorf("%w: session %q is deleted", ErrNotFound, ses.ID))
	}
	if t.SessionID == "" {
		t.SessionID = ses.ID
	}
	t, err := normalTurn(t)
	switch {
	case err != nil:
		return fail(err)
	case t.SessionID != ses.ID:
		return fail(fmt.Errorf("%w: a turn of session %q for session %q", ErrInvalid, t.SessionID, ses.ID))
	case nextSeq < 1:
		return fail(fmt.Errorf("%w: sequence number %d", ErrInvalid, nextSeq))
	}
	if t.ID == "" {
		t.ID = s.mint()
	}
	t.Seq = nextSeq
	if t.CreatedAt.IsZero() {
		t.CreatedAt = storedClock(s.clock.Now())
	}
	if t.CreatedAt, err = storedTime("CreatedAt", t.CreatedAt); err != nil {
		return fail(err)
	}
	if err := s.follow(ses.UpdatedHLC); err != nil {
		return fail(err)
	}
	if t.Envelope, err = s.stamp(nil, t.Envelope, false); err != nil {
		return fail(err)
	}
	ses.SyncVersion = successor(ses.SyncVersion)
	ses.UpdatedHLC, ses.LastWriterID = t.UpdatedHLC, t.LastWriterID
	if at := t.UpdatedHLC.Time(); at.After(ses.UpdatedAt) { // a stamp has milliseconds
		ses.UpdatedAt = at
	}
	return t, ses, nil
}

// DeleteSession stamps the tombstone of a live session: of its content only ID
// and CreatedAt remain. Errors: ErrNotFound for a tombstone, hlc.ErrClockAhead.
func (s *Stamper) DeleteSession(ses Session) (Session, eventlog.AppendInput, error) {
	stamped, err := s.deleteSession(ses)
	if err != nil {
		return Session{}, eventlog.AppendInput{}, err
	}
	return stamped, sessionEvent(stamped), nil
}

// deleteSession is DeleteSession without the event, which a store keeps as its record.
func (s *Stamper) deleteSession(ses Session) (Session, error) {
	if ses.Deleted {
		return Session{}, fmt.Errorf("%w: session %q is deleted", ErrNotFound, ses.ID)
	}
	envelope, err := s.stamp(&ses.Envelope, Envelope{}, true)
	if err != nil {
		return Session{}, err
	}
	ses = Session{ID: ses.ID, CreatedAt: ses.CreatedAt, UpdatedAt: envelope.UpdatedHLC.Time(), Envelope: envelope}
	return ses, nil
}
