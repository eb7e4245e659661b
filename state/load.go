package state

import (
	"context"
	"fmt"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// loadRecords is how many records are loaded at a time: what one transaction of
// a store takes. So what was made last is still at hand when it is written.
const loadRecords = 512

// eachRecord calls fn with the unsigned records of a snapshot's images, each with
// its own envelope and a basis of its own stamp alone. Errors: ErrInvalid,
// ErrTooLarge, that of fn.
func (s *Snapshot) eachRecord(home Scope, fn func(merge.Record) error) error {
	s.eachTime(func(at *time.Time) {
		if at.IsZero() {
			*at = time.Unix(0, 0).UTC() // bodies have no other
		}
	})
	add := func(key merge.Key, e Envelope, body []byte, err error) error {
		var rec merge.Record
		if err == nil {
			rec, err = unsigned(key, e, body)
		}
		if err != nil {
			return fmt.Errorf("state: snapshot: %s: %w", key, err)
		}
		return fn(rec)
	}
	tallies := s.tallies()
	for _, ses := range s.Sessions {
		ses = discount(ses, tallies[ses.ID].turns)
		body, err := encodeSession(ses)
		if err := add(sessionKey(home, ses.ID), ses.Envelope, body, err); err != nil {
			return err
		}
	}
	for _, t := range s.Turns {
		body, err := encodeTurn(t)
		if err := add(turnKey(home, t.SessionID, t.ID), t.Envelope, body, err); err != nil {
			return err
		}
	}
	for _, sk := range s.Skills {
		body, err := encodeSkill(sk)
		if err := add(skillKey(sk.Scope, sk.Slug), sk.Envelope, body, err); err != nil {
			return err
		}
	}
	for _, it := range s.Items {
		body, err := encodeMemory(it)
		if err := add(memoryKey(it.Scope, it.ID), it.Envelope, body, err); err != nil {
			return err
		}
	}
	for _, o := range s.Outcomes {
		body, err := encodeOutcome(o)
		if err := add(outcomeKey(o), o.Envelope, body, err); err != nil {
			return err
		}
	}
	return nil
}

func unsigned(key merge.Key, e Envelope, body []byte) (merge.Record, error) {
	writer, err := parseInstance(e.LastWriterID)
	if err != nil {
		return merge.Record{}, err
	}
	origin, err := parseInstance(e.OriginInstanceID)
	if err != nil {
		return merge.Record{}, err
	}
	rec, err := merge.Seal(merge.Record{
		Key: key,
		Envelope: merge.Envelope{
			SyncVersion: e.SyncVersion, OriginInstanceID: origin, UpdatedHLC: e.UpdatedHLC, LastWriterID: writer, Deleted: e.Deleted,
		},
		Basis: merge.Basis{}.With(writer, e.UpdatedHLC),
		Body:  body,
	}, merge.Unsigned, nil)
	if err != nil {
		return merge.Record{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return rec, nil
}

// load puts a snapshot into the empty store of a provider. hold is called with
// the newest stamp for as long as the store must take it for the past: what was
// stamped by a clock ahead of this one is loaded all the same.
func (p *replica) load(ctx context.Context, s *Snapshot, hold func(hlc.Timestamp) (release func())) error {
	var newest hlc.Timestamp
	s.eachEnvelope(func(e *Envelope) {
		if e.UpdatedHLC.After(newest) {
			newest = e.UpdatedHLC
		}
	})
	defer hold(newest)()
	batch := store.Batch{Path: store.PathRestore, Records: make([]merge.Record, 0, loadRecords)}
	flush := func() error {
		_, err := p.store.Merge(ctx, batch)
		batch.Records = batch.Records[:0]
		return err
	}
	err := s.eachRecord(p.home[0], func(rec merge.Record) error {
		if batch.Records = append(batch.Records, rec); len(batch.Records) < loadRecords {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
