package state

import (
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
)

// Stamper computes the post-image of a change: the record's id, times, stamp,
// content and sync version, and the event that records it. It checks the rules
// of the kind and compares-and-sets. It stores nothing and reads no store: the
// caller passes the existing record and persists the result. Every write of
// this package goes through one Stamper, so the rules are written once. It is
// safe for concurrent use.
type Stamper struct {
	instance string
	clock    clock.Clock
	stamps   *hlc.Clock
	ids      *ids.Generator
}

// NewStamper returns a Stamper that writes as instanceID (an instance's text
// form) with the given sources of time, stamps and ids.
func NewStamper(instanceID string, clk clock.Clock, hc *hlc.Clock, gen *ids.Generator) *Stamper {
	return &Stamper{instance: instanceID, clock: clk, stamps: hc, ids: gen}
}

// InstanceID is the instance that writes are attributed to.
func (s *Stamper) InstanceID() string { return s.instance }

// UpsertSkill stamps a create, or an update or revival of existing: the record
// of the same scope and slug, tombstones included, nil if there is none.
// Errors: ErrInvalid, ErrConflict, hlc.ErrClockAhead.
func (s *Stamper) UpsertSkill(existing *Skill, sk Skill) (Skill, eventlog.AppendInput, error) {
	stamped, err := s.upsertSkill(existing, sk)
	if err != nil {
		return Skill{}, eventlog.AppendInput{}, err
	}
	return stamped, skillEvent(stamped), nil
}

// upsertSkill is UpsertSkill without the event, which a store keeps as its record.
func (s *Stamper) upsertSkill(existing *Skill, sk Skill) (Skill, error) {
	sk, err := normalSkill(sk)
	if err != nil {
		return Skill{}, err
	}
	now := storedClock(s.clock.Now())
	var stored *Envelope
	if existing != nil {
		if existing.Scope != sk.Scope || existing.Slug != sk.Slug {
			return Skill{}, fmt.Errorf("%w: skill %q in %s is not %q in %s",
				ErrInvalid, sk.Slug, sk.Scope, existing.Slug, existing.Scope)
		}
		stored = &existing.Envelope
		sk.ID, sk.CreatedAt, sk.Version = existing.ID, existing.CreatedAt, successor(existing.Version)
	} else {
		sk.Version = 1
		if sk.ID == "" {
			sk.ID = SkillID(sk.Scope, sk.Slug)
		}
		if sk.CreatedAt.IsZero() {
			sk.CreatedAt = now
		}
	}
	if sk.CreatedAt, err = storedTime("CreatedAt", sk.CreatedAt); err != nil {
		return Skill{}, err
	}
	sk.UpdatedAt = now
	if existing != nil { // totals that are not larger say nothing
		sk.Uses, sk.Wins = max(sk.Uses, existing.Uses), max(sk.Wins, existing.Wins)
	}
	if sk.Envelope, err = s.stamp(stored, sk.Envelope, false); err != nil {
		return Skill{}, err
	}
	return sk, nil
}

// DeleteSkill stamps the tombstone of a live skill: of its content only ID,
// CreatedAt and Version remain, and Version counts on, since a delete is a
// revision too. Errors: ErrNotFound for a tombstone, hlc.ErrClockAhead.
func (s *Stamper) DeleteSkill(sk Skill) (Skill, eventlog.AppendInput, error) {
	stamped, err := s.deleteSkill(sk)
	if err != nil {
		return Skill{}, eventlog.AppendInput{}, err
	}
	return stamped, skillEvent(stamped), nil
}

// deleteSkill is DeleteSkill without the event, which a store keeps as its record.
func (s *Stamper) deleteSkill(sk Skill) (Skill, error) {
	if sk.Deleted {
		return Skill{}, fmt.Errorf("%w: skill %q is deleted", ErrNotFound, sk.Slug)
	}
	envelope, err := s.stamp(&sk.Envelope, Envelope{}, true)
	if err != nil {
		return Skill{}, err
	}
	sk = Skill{
		ID: sk.ID, Slug: sk.Slug, Scope: sk.Scope, Tags: []string{},
		Version: successor(sk.Version), CreatedAt: sk.CreatedAt, UpdatedAt: envelope.UpdatedHLC.Time(),
		Envelope: envelope,
	}
	return sk, nil
}

// WriteMemory stamps a new memory item. Errors as UpsertMemory.
func (s *Stamper) WriteMemory(it MemoryItem) (MemoryItem, eventlog.AppendInput, error) {
	return s.UpsertMemory(nil, it)
}

// UpsertMemory stamps a new memory item, or an update or revival of existing:
// the record of the same scope and ID, tombstones included, nil if there is
// none. Errors: ErrInvalid, ErrConflict, hlc.ErrClockAhead.
func (s *Stamper) UpsertMemory(existing *MemoryItem, it MemoryItem) (MemoryItem, eventlog.AppendInput, error) {
	stamped, err := s.upsertMemory(existing, it)
	if err != nil {
		return MemoryItem{}, eventlog.AppendInput{}, err
	}
	return stamped, memoryEvent(stamped), nil
}

// upsertMemory is UpsertMemory without the event, which a store keeps as its record.
func (s *Stamper) upsertMemory(existing *MemoryItem, it MemoryItem) (MemoryItem, error) {
	it, err := normalMemory(it)
	if err != nil {
		return MemoryItem{}, err
	}
	var stored *Envelope
	if existing != nil {
		if existing.Scope != it.Scope || existing.ID != it.ID {
			return MemoryItem{}, fmt.Errorf("%w: memory item %q in %s is not %q in %s",
				ErrInvalid, it.ID, it.Scope, existing.ID, existing.Scope)
		}
		stored = &existing.Envelope
		it.CreatedAt = existing.CreatedAt
	} else {
		if it.ID == "" {
			it.ID = s.mint()
		}
		if it.CreatedAt.IsZero() {
			it.CreatedAt = storedClock(s.clock.Now())
		}
	}
	if it.CreatedAt, err = storedTime("CreatedAt", it.CreatedAt); err != nil {
		return MemoryItem{}, err
	}
	if it.Envelope, err = s.stamp(stored, it.Envelope, false); err != nil {
		return MemoryItem{}, err
	}
	return it, nil
}

// mint returns the id of a new record.
func (s *Stamper) mint() string { return s.ids.New() }

// DeleteMemory stamps the tombstone of a live memory item: of its content only
// ID and CreatedAt remain. Errors: ErrNotFound for a tombstone,
// hlc.ErrClockAhead.
func (s *Stamper) DeleteMemory(it MemoryItem) (MemoryItem, eventlog.AppendInput, error) {
	stamped, err := s.deleteMemory(it)
	if err != nil {
		return MemoryItem{}, eventlog.AppendInput{}, err
	}
	return stamped, memoryEvent(stamped), nil
}

// deleteMemory is DeleteMemory without the event, which a store keeps as its record.
func (s *Stamper) deleteMemory(it MemoryItem) (MemoryItem, error) {
	if it.Deleted {
		return MemoryItem{}, fmt.Errorf("%w: memory item %q is deleted", ErrNotFound, it.ID)
	}
	envelope, err := s.stamp(&it.Envelope, Envelope{}, true)
	if err != nil {
		return MemoryItem{}, err
	}
	it = MemoryItem{ID: it.ID, Scope: it.Scope, CreatedAt: it.CreatedAt, Envelope: envelope}
	return it, nil
}

// stamp compares-and-sets and returns the envelope of the next version, whose
// stamp is later than the stored one. stored is nil for a new record. Errors:
// ErrInvalid, ErrConflict, hlc.ErrClockAhead.
func (s *Stamper) stamp(stored *Envelope, passed Envelope, deleted bool) (Envelope, error) {
	if err := compareAndSet(stored, passed); err != nil {
		return Envelope{}, err
	}
	next := Envelope{
		SyncVersion:      1,
		OriginInstanceID: s.instance,
		LastWriterID:     s.instance,
		Deleted:          deleted,
	}
	switch {
	case stored != nil:
		next.SyncVersion = successor(stored.SyncVersion)
		next.OriginInstanceID = stored.OriginInstanceID
		if err := s.follow(stored.UpdatedHLC); err != nil {
			return Envelope{}, err
		}
	case passed.OriginInstanceID != "":
		if _, err := parseInstance(passed.OriginInstanceID); err != nil {
			return Envelope{}, err
		}
		next.OriginInstanceID = passed.OriginInstanceID
	}
	var err error
	if next.UpdatedHLC, err = s.stamps.Now(); err != nil {
		return Envelope{}, fmt.Errorf("state: stamp: %w", err)
	}
	return next, nil
}

// follow makes the next stamp a later one than that of what is built on. A
// store has observed what it holds; a record from elsewhere may be ahead of
// this clock. Errors: hlc.ErrClockDrift.
func (s *Stamper) follow(stamp hlc.Timestamp) error {
	if !stamp.After(s.stamps.Last()) {
		return nil
	}
	if err := s.stamps.Observe(stamp); err != nil {
		return fmt.Errorf("state: stamp: %w", err)
	}
	return nil
}

// successor counts on without wrapping: a hostile count at the end of the
// range must not make a record unwritable.
func successor[N int | int64](n N) N {
	return max(n, n+1)
}
