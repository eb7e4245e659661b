package state

import (
	"context"
	"fmt"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (im *importer) session(ctx context.Context, ses Session) error {
	passed := sessionKey(Scope{}, ses.ID)
	if ses.Deleted {
		im.sessions[ses.ID] = importedSession{deleted: true}
		return nil
	}
	id, wasHeld := ses.ID, ses.Held
	ses.Envelope = Envelope{}
	ses, err := normalSession(ses)
	if err == nil && ses.ID == "" {
		_, err = idText("") // a snapshot names every session
	}
	if err == nil && !ses.CreatedAt.IsZero() {
		ses.CreatedAt, err = storedTime("CreatedAt", ses.CreatedAt)
	}
	var outcome imported
	if err == nil {
		outcome, err = im.putSession(ctx, ses, wasHeld)
	}
	im.sessions[id] = importedSession{ses: ses, refused: err != nil}
	return im.count(&im.result.Sessions, passed, outcome, err)
}

// putSession writes a session over whatever is there: a deleted one is live
// again, with the turns that it had.
func (im *importer) putSession(ctx context.Context, ses Session, wasHeld string) (imported, error) {
	s := sessions{im.replica}
	key := sessionKey(s.scope(), ses.ID)
	v := im.judgeImported(wasHeld, key.Scope, sessionTexts(ses)...)
	outcome, err := im.put(ctx, lockOf(key), []string{""}, func(r *store.Reader, _ *merge.BlobRef) ([]merge.Record, imported, error) {
		was, err := im.seen(r, key, v)
		if err != nil {
			return nil, 0, err
		}
		outcome, err := becomes(r, was, decodeSession, func(stored Session) bool {
			return stored.Title == ses.Title && stored.Model == ses.Model
		})
		if err != nil || outcome == importedEqual {
			return nil, outcome, err
		}
		next, to := ses, key
		if v.hold {
			to, _ = im.heldPlace(key)
			next.Held = v.rules
		}
		if next.UpdatedAt = storedClock(s.stamper.clock.Now()); next.CreatedAt.IsZero() {
			next.CreatedAt = next.UpdatedAt
		}
		var before *Envelope
		if was != nil {
			e := envelopeOf(was.Envelope)
			before = &e
			if known, err := decodeSession(was); err == nil {
				next.CreatedAt = known.CreatedAt
			}
		}
		if next.Envelope, err = s.stamper.stamp(before, Envelope{}, false); err != nil {
			return nil, 0, err
		}
		rec, err := s.sessionVersion(r, to.Scope, next)
		if err != nil {
			return nil, 0, err
		}
		recs, err := im.replacing(r, rec, was)
		return recs, outcome, err
	})
	im.tell(key, v, outcome, err)
	return outcome, err
}

func (im *importer) turn(ctx context.Context, t Turn) error {
	passed := turnKey(Scope{}, t.SessionID, t.ID)
	of, known := im.sessions[t.SessionID]
	if t.Deleted || of.deleted {
		return nil
	}
	wasHeld := t.Held
	t.Envelope = Envelope{}
	t, err := normalTurn(t)
	switch {
	case err != nil:
	case !known:
		err = fmt.Errorf("%w: its session is not in the snapshot", ErrInvalid)
	case of.refused:
		err = fmt.Errorf("%w: its session was refused", ErrInvalid)
	case t.Seq < 1:
		err = fmt.Errorf("%w: sequence number %d", ErrInvalid, t.Seq)
	case t.ID == "":
		_, err = idText("") // a snapshot names every turn
	}
	var outcome imported
	if err == nil {
		outcome, err = im.putTurn(ctx, of.ses, t, wasHeld)
	}
	return im.count(&im.result.Turns, passed, outcome, err)
}

// putTurn writes a turn at the place that it has in the snapshot. Turns are
// never rewritten: another turn of its id is a conflict.
func (im *importer) putTurn(ctx context.Context, ses Session, t Turn, wasHeld string) (imported, error) {
	s := sessions{im.replica}
	key := turnKey(s.scope(), t.SessionID, t.ID)
	v := im.judgeImported(wasHeld, key.Scope, turnTexts(t)...)
	outcome, err := im.put(ctx, lockOf(sessionKey(s.scope(), ses.ID)), []string{t.Content, t.Role}, func(r *store.Reader, apart *merge.BlobRef) ([]merge.Record, imported, error) {
		in := ses
		if !im.dryRun { // then it is there
			var err error
			if in, err = s.live(r, ses.ID); err != nil {
				return nil, 0, err
			}
		}
		was, err := im.seen(r, key, v)
		if err != nil {
			return nil, 0, err
		}
		outcome, err := becomes(r, was, decodeTurn, func(stored Turn) bool { return stored.Role == t.Role && stored.Content == t.Content })
		if err != nil {
			return nil, 0, err
		}
		switch outcome {
		case importedEqual:
			return nil, outcome, nil
		case importedUpdated:
			return nil, 0, fmt.Errorf("%w: session %.60q has another turn %.60q", ErrConflict, t.SessionID, t.ID)
		case importedCreated:
		}
		if was != nil { // the new version is later than the one that it brings back
			if err := s.stamper.follow(was.Envelope.UpdatedHLC); err != nil {
				return nil, 0, err
			}
		}
		stamped, _, err := s.stamper.appendTurn(in, t, t.Seq)
		if err != nil {
			return nil, 0, err
		}
		to := key
		if v.hold {
			to, _ = im.heldPlace(key)
			stamped.Held = v.rules
		}
		body, err := encodeTurn(stamped, apart)
		if err != nil {
			return nil, 0, err
		}
		rec, err := s.version(r, to, stamped.Envelope, body)
		return []merge.Record{rec}, outcome, err
	})
	im.tell(key, v, outcome, err)
	return outcome, err
}
