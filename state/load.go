package state

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// loadRecords is how many records are loaded at a time: what one transaction of
// a store takes. So what was made last is still at hand when it is written.
const loadRecords = 512

// keeper stores content that is too long for a body (see replica.keep).
type keeper func(content string, others ...string) (*merge.BlobRef, error)

// eachRecord calls fn with the unsigned records of a snapshot's images, each with
// its own envelope and a basis of its own stamp alone. Errors: ErrInvalid,
// ErrTooLarge, ErrIncomplete, those of keep and fn.
func (s *Snapshot) eachRecord(home Scope, keep keeper, fn func(merge.Record) error) error {
	if s.isIncomplete() {
		return fmt.Errorf("%w: a snapshot with content that is missing", ErrIncomplete)
	}
	s.eachTime(func(at *time.Time) {
		if at.IsZero() {
			*at = time.Unix(0, 0).UTC() // bodies have no other
		}
	})
	l := loader{keep: keep, fn: fn}
	tallies := s.tallies()
	for _, ses := range s.Sessions {
		ses = discount(ses, tallies[ses.ID].turns)
		l.add(sessionKey(home, ses.ID), ses.Envelope, func(*merge.BlobRef) (encoded, error) { return encodeSession(ses) }, "")
	}
	for _, t := range s.Turns {
		l.add(turnKey(home, t.SessionID, t.ID), t.Envelope, func(apart *merge.BlobRef) (encoded, error) { return encodeTurn(t, apart) }, t.Content, t.Role)
	}
	for _, sk := range s.Skills {
		l.add(skillKey(sk.Scope, sk.Slug), sk.Envelope, func(apart *merge.BlobRef) (encoded, error) { return encodeSkill(sk, apart) }, sk.Body, skillTexts(sk)...)
	}
	for _, it := range s.Items {
		l.add(memoryKey(it.Scope, it.ID), it.Envelope, func(apart *merge.BlobRef) (encoded, error) { return encodeMemory(it, apart) }, it.Content, it.Kind, it.Source)
	}
	for _, o := range s.Outcomes {
		l.add(outcomeKey(o), o.Envelope, func(*merge.BlobRef) (encoded, error) { return encodeOutcome(o) }, "")
	}
	return l.err
}

// loader makes records of images until the first error.
type loader struct {
	keep keeper
	fn   func(merge.Record) error
	err  error
}

func (l *loader) add(key merge.Key, e Envelope, encode func(apart *merge.BlobRef) (encoded, error), content string, others ...string) {
	if l.err != nil {
		return
	}
	apart, err := l.keep(content, others...)
	var enc encoded
	if err == nil {
		enc, err = encode(apart)
	}
	var rec merge.Record
	if err == nil {
		rec, err = unsigned(key, e, enc)
	}
	if err != nil {
		l.err = fmt.Errorf("state: snapshot: %s: %w", key, err)
		return
	}
	l.err = l.fn(rec)
}

func unsigned(key merge.Key, e Envelope, enc encoded) (merge.Record, error) {
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
		Body:  enc.body,
		Blobs: enc.blobs(),
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
	var releases []func()
	release := func() {
		for _, release := range releases {
			release()
		}
		releases = releases[:0]
	}
	defer release() // of what no record came to refer to
	flush := func() error {
		defer release()
		_, err := p.store.Merge(ctx, batch)
		batch.Records = batch.Records[:0]
		return err
	}
	keep := func(content string, others ...string) (*merge.BlobRef, error) {
		apart, release, err := p.keep(ctx, content, others...)
		if apart != nil {
			releases = append(releases, release)
		}
		return apart, err
	}
	err := s.eachRecord(p.home[0], keep, func(rec merge.Record) error {
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

// isIncomplete reports whether content of the snapshot is missing.
func (s *Snapshot) isIncomplete() bool {
	return slices.ContainsFunc(s.Turns, func(t Turn) bool { return t.Incomplete }) ||
		slices.ContainsFunc(s.Skills, func(sk Skill) bool { return sk.Incomplete }) ||
		slices.ContainsFunc(s.Items, func(it MemoryItem) bool { return it.Incomplete })
}
