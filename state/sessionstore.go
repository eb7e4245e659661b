package state

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// sessions implements SessionStore in the home scope.
type sessions struct{ *replica }

// scope is where sessions live.
func (s sessions) scope() Scope { return s.home[0] }

func (s sessions) Create(ctx context.Context, ses Session) (Session, error) {
	ses, err := normalSession(ses)
	if err != nil {
		return Session{}, err
	}
	minted := ses.ID == ""
	if minted {
		ses.ID = s.stamper.mint()
	}
	key := sessionKey(s.scope(), ses.ID)
	v := s.judge(s.scope(), sessionTexts(ses)...)
	var written Session
	err = s.write(ctx, lockOf(key), func(r *store.Reader) (merge.Record, error) {
		if minted {
			ses.ID, err = s.unused(r, ses.ID, func(id string) merge.Key { return sessionKey(s.scope(), id) })
			if err != nil {
				return merge.Record{}, err
			}
		}
		key = sessionKey(s.scope(), ses.ID)
		existing, err := s.either(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		if existing != nil {
			return merge.Record{}, fmt.Errorf("%w: session %.60q exists%s", ErrConflict, ses.ID, deletedWord(existing))
		}
		stamped, err := s.stamper.createSession(ses)
		if err != nil {
			return merge.Record{}, err
		}
		// Turns may be here before their session.
		t, err := s.tally(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		stamped.Warned = v.warned()
		if v.hold {
			key, _ = s.heldPlace(key)
			stamped.Held = v.rules
		}
		rec, err := s.sessionVersion(r, key.Scope, stamped)
		written = stamped
		written.Envelope = envelopeOf(rec.Envelope)
		written = t.over(written)
		return rec, err
	})
	if err != nil {
		return Session{}, err
	}
	s.noticed(key, v)
	return written, nil
}

// deletedWord says of a record that is in the way that nobody sees it.
func deletedWord(rec *merge.Record) string {
	if rec.Envelope.Deleted {
		return " as a deleted one"
	}
	return " already"
}

func (s sessions) sessionVersion(r *store.Reader, scope Scope, stamped Session) (merge.Record, error) {
	body, err := encodeSession(stamped)
	if err != nil {
		return merge.Record{}, err
	}
	return s.version(r, sessionKey(scope, stamped.ID), stamped.Envelope, body)
}

func (s sessions) Get(ctx context.Context, id string) (Session, error) {
	var found Session
	err := s.view(ctx, func(r *store.Reader) (err error) {
		found, err = s.live(r, id)
		return err
	})
	return found, err
}

// live returns the session of an id as callers see it, its turns counted.
// Errors: ErrNotFound.
func (s sessions) live(r *store.Reader, id string) (Session, error) {
	key, err := keyOf(kindSession, s.scope(), id, idText)
	if err != nil {
		return Session{}, err
	}
	at, err := s.shown(r, key)
	if err != nil {
		return Session{}, err
	}
	ses, err := liveSession(r, at)
	if err != nil {
		return Session{}, err
	}
	t, err := s.tally(r, key)
	return t.over(ses), err
}

// liveSession returns the record of a session, without its turns.
func liveSession(r *store.Reader, key merge.Key) (Session, error) { return live(r, key, decodeSession) }

// tallyOf reads the tally of a session. Writers that have read it see each
// other's turns: it changes with every one.
func tallyOf(r *store.Reader, session merge.Key) (tally, error) {
	value, err := r.Index(indexTurnTally, scopeID(session.Scope), string(session.ID))
	if errors.Is(err, store.ErrNotFound) {
		return tally{}, nil
	}
	if err != nil {
		return tally{}, fmt.Errorf("state: index %s: %w", indexTurnTally, err)
	}
	t, err := decodeTally(value)
	if err == nil && t.writer == "" {
		t.stamp, t.writer, err = newestTurn(r, session)
	}
	return t, err
}

// newestTurn looks for the newest of a session's turns.
func newestTurn(r *store.Reader, session merge.Key) (stamp hlc.Timestamp, writer merge.InstanceID, err error) {
	var newest tally
	err = scanIndex(r, func(rest []string, _ []byte) (bool, error) {
		number, err := strconv.ParseUint(rest[1], 16, 64)
		if err != nil {
			return false, fmt.Errorf("%w: index %s: %w", store.ErrCorrupt, indexTurnIn, err)
		}
		at, err := hlc.Unpack(number)
		if err != nil {
			return false, fmt.Errorf("%w: index %s: %w", store.ErrCorrupt, indexTurnIn, err)
		}
		by, err := hex.DecodeString(rest[2])
		if err != nil {
			return false, fmt.Errorf("%w: index %s: %w", store.ErrCorrupt, indexTurnIn, err)
		}
		newest.take(at, merge.InstanceID(by))
		return true, nil
	}, indexTurnIn, scopeID(session.Scope), string(session.ID))
	return newest.stamp, newest.writer, err
}

func (s sessions) List(ctx context.Context) ([]Session, error) {
	list := []Session{}
	err := s.view(ctx, func(r *store.Reader) error {
		add := func(id string) error {
			ses, err := s.live(r, id)
			list = append(list, ses)
			return cmp.Or(promised(err), ctx.Err())
		}
		err := scanIndex(r, func(rest []string, _ []byte) (bool, error) {
			return true, add(rest[1])
		}, indexSessionIn, scopeID(s.scope()))
		if err != nil {
			return err
		}
		shared := len(list)
		err = s.heldRows(r, s.scope(), func(rest []string) error {
			key := sessionKey(s.scope(), rest[1])
			if at, err := s.shown(r, key); at == key || err != nil {
				return err
			}
			return add(rest[1])
		}, indexSessionIn)
		if len(list) > shared {
			slices.SortStableFunc(list, func(a, b Session) int {
				return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s sessions) Turns(ctx context.Context, sessionID string) ([]Turn, error) {
	turns := []Turn{}
	err := s.view(ctx, func(r *store.Reader) error {
		ses, err := s.live(r, sessionID)
		if err != nil {
			return err
		}
		err = scanIndex(r, func(rest []string, _ []byte) (bool, error) {
			t, err := live(r, turnKey(s.scope(), ses.ID, rest[len(rest)-1]), decodeTurn)
			turns = append(turns, t)
			return true, cmp.Or(promised(err), ctx.Err())
		}, indexTurnIn, scopeID(s.scope()), ses.ID)
		if err != nil {
			return err
		}
		shared := len(turns)
		err = s.heldTurns(r, ses.ID, func(rec *merge.Record) error {
			t, err := live(r, rec.Key, decodeTurn)
			turns = append(turns, t)
			return promised(err)
		})
		if len(turns) > shared { // each in its place
			slices.SortStableFunc(turns, func(a, b Turn) int { return compareTurns(&a, &b) })
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return turns, nil
}

func (s sessions) AppendTurn(ctx context.Context, t Turn) (Turn, error) {
	t, err := normalTurn(t)
	if err != nil {
		return Turn{}, err
	}
	minted := t.ID == ""
	if minted {
		t.ID = s.stamper.mint()
	}
	v := s.judge(s.scope(), turnTexts(t)...)
	apart, release, err := s.keep(ctx, t.Content, t.Role)
	if err != nil {
		return Turn{}, err
	}
	defer release()
	var appended Turn
	var key merge.Key
	isNew := false
	err = s.writeAll(ctx, lockOf(sessionKey(s.scope(), t.SessionID)), func(r *store.Reader) ([]merge.Record, error) {
		ses, err := s.live(r, t.SessionID)
		if err != nil {
			return nil, err
		}
		if minted {
			t.ID, err = s.unused(r, t.ID, func(id string) merge.Key { return turnKey(s.scope(), t.SessionID, id) })
			if err != nil {
				return nil, err
			}
		}
		key = turnKey(s.scope(), t.SessionID, t.ID)
		existing, err := s.either(r, key)
		if err != nil {
			return nil, err
		}
		if isNew = existing == nil; !isNew {
			appended, err = sameTurn(r, existing, t)
			return nil, err
		}
		highest, err := s.highestSeq(r, t.SessionID)
		if err != nil {
			return nil, err
		}
		stamped, _, err := s.stamper.appendTurn(ses, t, successor(highest))
		if err != nil {
			return nil, err
		}
		var rec merge.Record
		if appended, rec, err = s.turnVersion(r, key, stamped, apart, v); err != nil {
			return nil, err
		}
		key = rec.Key
		return []merge.Record{rec}, nil
	})
	if err != nil {
		return Turn{}, err
	}
	if isNew {
		s.noticed(key, v)
	}
	return appended, nil
}

// sameTurn returns the turn that has an id already when it says what is to be
// appended, so that an append can be tried again after an unclear outcome.
// Errors: ErrConflict, ErrIncomplete for one that cannot be compared yet.
func sameTurn(r *store.Reader, existing *merge.Record, t Turn) (Turn, error) {
	existing, err := whole(r, existing)
	if err != nil {
		return Turn{}, err
	}
	stored, err := decodeTurn(existing)
	if err == nil && stored.Incomplete {
		return Turn{}, lacking(existing.Key, stored.LastWriterID, true)
	}
	same := err == nil && !stored.Deleted && stored.Role == t.Role && stored.Content == t.Content &&
		(t.CreatedAt.IsZero() || t.CreatedAt.Equal(stored.CreatedAt))
	if !same {
		return Turn{}, fmt.Errorf("%w: session %.60q has another turn %.60q%s", ErrConflict, t.SessionID, t.ID, deletedWord(existing))
	}
	return stored, nil
}

// highestSeq is that of the turns of one scope.
func highestSeq(r *store.Reader, scope Scope, sessionID string) (highest int64, err error) {
	err = scanIndexDown(r, func(rest []string, _ []byte) (more bool, err error) {
		if highest, err = strconv.ParseInt(rest[0], 16, 64); err != nil {
			err = fmt.Errorf("%w: sequence number %.20q", store.ErrCorrupt, rest[0])
		}
		return false, err
	}, indexTurnIn, scopeID(scope), sessionID)
	return highest, err
}

func (s sessions) Delete(ctx context.Context, id string) error {
	key, err := keyOf(kindSession, s.scope(), id, idText)
	if err != nil {
		return err
	}
	return s.write(ctx, lockOf(key), func(r *store.Reader) (merge.Record, error) {
		ses, err := s.live(r, id)
		if err != nil {
			return merge.Record{}, err
		}
		at, err := s.shown(r, key)
		if err != nil {
			return merge.Record{}, err
		}
		stamped, err := s.stamper.deleteSession(ses)
		if err != nil {
			return merge.Record{}, err
		}
		return s.sessionVersion(r, at.Scope, stamped)
	})
}
