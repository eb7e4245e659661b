package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

func (p *replica) Restore(ctx context.Context, key merge.Key, hash merge.Hash) (Version, error) {
	return p.settle(ctx, key, func(known []knownVersion) (*knownVersion, error) {
		i := slices.IndexFunc(known, func(k knownVersion) bool { return k.Hash == hash })
		if i < 0 {
			return nil, fmt.Errorf("%w: version %x of %s: a history keeps only so many versions of a key, History lists those that are left; another replica may still have it",
				ErrNotFound, hash[:8], key)
		}
		return &known[i], nil
	})
}

func (p *replica) Keep(ctx context.Context, key merge.Key) (Version, error) {
	return p.settle(ctx, key, func(known []knownVersion) (*knownVersion, error) {
		if !inConflict(known) {
			return nil, fmt.Errorf("%w: a conflict of %s", ErrNotFound, key)
		}
		return headOf(known), nil
	})
}

func inConflict(known []knownVersion) bool {
	return slices.ContainsFunc(known, func(k knownVersion) bool { return k.standing == StandingConflict })
}

// settle writes anew, over all that a key holds, the version that choose picks
// of those that the store still has. It writes nothing when the head says so
// already and nothing is in conflict. Errors: that of choose, ErrNotFound,
// and those of anew.
func (p *replica) settle(
	ctx context.Context, key merge.Key, choose func(known []knownVersion) (*knownVersion, error),
) (Version, error) {
	if _, err := contentOf(key); err != nil {
		return Version{}, err
	}
	var settled Version
	var judged verdict
	at := key
	err := p.writeAll(ctx, lockOf(key), func(r *store.Reader) ([]merge.Record, error) {
		known, err := knownOf(r, key)
		if err != nil {
			return nil, err
		}
		chosen, err := choose(known)
		if err != nil {
			return nil, err
		}
		head := headOf(known)
		rec, v, err := p.holdAnew(r, key, head, chosen)
		if judged, at = v, key; err != nil {
			return nil, err
		}
		if v.hold {
			at = rec.Key
			settled, err = showVersion(r, rec)
			settled.Standing = StandingHead
			return []merge.Record{*rec}, err
		}
		rec, err = p.anew(r, key, rewrite{
			head: head, from: chosen, deleted: chosen.Deleted, covers: merge.SupersedeAll, force: inConflict(known),
		})
		if err != nil {
			return nil, err
		}
		if settled, err = showVersion(r, rec); err != nil {
			return nil, err
		}
		settled.Standing = StandingHead
		if rec.Hash() == head.Hash {
			return nil, nil
		}
		return []merge.Record{*rec}, nil
	})
	if err != nil {
		return Version{}, err
	}
	p.noticed(at, judged)
	return settled, nil
}

// judgeAnew is judge for a write of what a key has said before. What its head says
// already is out, and written anew as it is.
func (p *replica) judgeAnew(r *store.Reader, key merge.Key, head, from *knownVersion, deleted bool) (verdict, *merge.Record, error) {
	if deleted || key.Scope.Instance != "" || p.gate == GateOff || from.Hash == head.Hash {
		return verdict{}, nil, nil
	}
	rec, err := loadRecord(r, key, from.Held)
	if err != nil {
		return verdict{}, nil, err
	}
	v, err := showVersion(r, &rec)
	if err != nil {
		return verdict{}, nil, err
	}
	fields := fieldsOf(&v)
	texts := make([]string, 0, len(fields))
	for _, f := range fields {
		texts = append(texts, *f.text)
	}
	return p.judge(key.Scope, texts...), &rec, nil
}

// holdAnew is anew for what holds a secret: its content is held, and the key stays as
// it is. It returns no record unless the verdict is to hold it.
func (p *replica) holdAnew(r *store.Reader, key merge.Key, head, from *knownVersion) (*merge.Record, verdict, error) {
	v, rec, err := p.judgeAnew(r, key, head, from, from.Deleted)
	if err != nil || !v.hold {
		return nil, v, err
	}
	place, _ := p.heldPlace(key)
	held, err := p.carry(r, viewVersion(rec), apartOf(rec), place, v.rules)
	return &held, v, err
}

// rewrite is a write of what a key has said before.
type rewrite struct {
	head *knownVersion
	// from is the version whose content is written.
	from *knownVersion
	// deleted asks for a tombstone instead of content.
	deleted bool
	// covers decides what the write replaces.
	covers supersede
	// force asks for a write even when the head says the same.
	force bool
}

// idle reports whether the head says already what would be written.
func (w *rewrite) idle(kind content, head, from *merge.Record) bool {
	switch {
	case w.force:
		return false
	case w.deleted:
		return head.Envelope.Deleted
	}
	return kind.same(head, from)
}

// anew makes the version of a rewrite: an ordinary one, by this instance and
// admitted as any other. It returns the head when that says the same already,
// unless force is set. Errors: ErrInvalid, ErrTooLarge, ErrDenied,
// hlc.ErrClockAhead, those of the store and the signer.
func (p *replica) anew(r *store.Reader, key merge.Key, w rewrite) (*merge.Record, error) {
	kind, err := contentOf(key)
	if err != nil {
		return nil, err
	}
	head, err := loadRecord(r, key, w.head.Held)
	if err != nil {
		return nil, err
	}
	from, err := loadRecord(r, key, w.from.Held)
	if err != nil {
		return nil, err
	}
	if w.idle(kind, &head, &from) {
		return &head, nil
	}
	before := envelopeOf(head.Envelope)
	stamped, err := p.stamper.stamp(&before, Envelope{}, w.deleted)
	if err != nil {
		return nil, err
	}
	body, err := kind.next(&head, &from, w.deleted, storedClock(p.stamper.clock.Now()))
	if err != nil {
		return nil, err
	}
	rec, err := p.versionOver(r, key, stamped, body, w.covers)
	if err != nil {
		return nil, err
	}
	return &rec, nil
}
