package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// sight is what an agent saw when it read one key.
type sight struct {
	live     bool
	envelope state.Envelope
	said     *said
}

// look reads a key as agents do.
func (r *Replica) look(t target) (sight, error) {
	ctx := context.Background()
	var seen sight
	var err error
	if t.skill {
		var sk state.Skill
		sk, err = r.State().SkillLibrary().GetIn(ctx, t.scope, t.name)
		seen = sight{err == nil, sk.Envelope, saidOfSkill(&sk)}
	} else {
		var it state.MemoryItem
		it, err = r.State().MemoryLibrary().GetIn(ctx, t.scope, t.name)
		seen = sight{err == nil, it.Envelope, saidOfItem(&it)}
	}
	switch {
	case errors.Is(err, state.ErrNotFound):
		err = nil
	case errors.Is(err, state.ErrIncomplete): // all but the text is known
		r.cluster.cover.sometimes(SometimesIncomplete)
		seen.live, err = true, nil
	}
	return seen, err
}

// lookAt reads a key and holds what it says to what this store has taken in:
// the newest of it, so also what the agent itself wrote last, unless something
// newer came.
func (r *Replica) lookAt(t target) error {
	seen, err := r.look(t)
	if err != nil {
		return err
	}
	r.cluster.model.saw(r, t.key(), seen)
	return nil
}

// saw checks one reading. A version that a failing disk has kept, though it
// said otherwise, may show; one that nobody wrote may not.
func (m *model) saw(r *Replica, key merge.Key, seen sight) {
	newest := r.newest[key]
	if m.tainted[key] {
		return
	}
	if r.damaged {
		newest = nil // it may be lost, without a trace
	}
	shown := m.shown(key, newest, seen)
	switch {
	case shown != nil && !shown.record.Envelope.Deleted && !m.cloned[key] && shown.said.otherwise(seen.said) != "":
		m.cluster.checkVersion(r, shown, seen.said)
	case shown == nil && newest != nil:
		m.cluster.fail(InvariantReads, "replica %d reads %s live %t, %s by %s, although it has %s",
			r.number, key, seen.live, seen.envelope.UpdatedHLC, seen.envelope.LastWriterID, m.describe(newest.record.Hash()))
	case shown == nil && seen.live:
		m.cluster.fail(InvariantReads, "replica %d reads a version of %s that nobody wrote: %s by %s",
			r.number, key, seen.envelope.UpdatedHLC, seen.envelope.LastWriterID)
	case shown == nil:
	case shown.record.Envelope.LastWriterID == r.ID():
		m.cluster.cover.sometimes(SometimesOwnRead)
	default:
		m.cluster.cover.sometimes(SometimesForeignRead)
	}
}

// shown returns the version that a reading showed: the newest, or a later one.
// A reading that found nothing showed a tombstone, or that there is nothing.
func (m *model) shown(key merge.Key, newest *written, seen sight) *written {
	is := func(w *written) bool {
		env := w.record.Envelope
		if w.record.Key != key || env.Deleted == seen.live {
			return false
		}
		return !seen.live || env.UpdatedHLC == seen.envelope.UpdatedHLC && env.LastWriterID.String() == seen.envelope.LastWriterID
	}
	if newest != nil && is(newest) {
		return newest
	}
	for _, w := range m.order {
		if is(w) && (newest == nil || byTime(w.record.Version(), newest.record.Version()) > 0) {
			return w
		}
	}
	return nil
}

// taken notes the newest version of a key that the store of a replica has taken
// in.
func (r *Replica) taken(w *written) {
	if last := r.newest[w.record.Key]; last == nil || byTime(w.record.Version(), last.record.Version()) > 0 {
		r.newest[w.record.Key] = w
	}
}

// revise reads a key, thinks, and writes it on condition that nobody else has
// in between.
func (r *Replica) revise(t target, think time.Duration) error {
	seen, err := r.look(t)
	if err != nil {
		return err
	}
	text := r.cluster.text(40)
	r.cluster.clock.After(think, func() {
		if r.busy() || r.cluster.healed {
			return
		}
		if err := r.compareAndSet(t, seen, text); err != nil {
			r.cluster.workFailed(r, ActRevise, err)
		}
		r.drain()
	})
	return nil
}

// compareAndSet writes a key as it was seen. It must succeed when the store
// still holds what was seen as its head, and be refused when not.
func (r *Replica) compareAndSet(t target, seen sight, text string) error {
	head, exists, err := r.head(t.key())
	if err != nil {
		return err
	}
	same := !seen.live && (!exists || head.Deleted)
	if seen.live && exists {
		e := seen.envelope
		same = head.SyncVersion == e.SyncVersion && head.Stamp == e.UpdatedHLC && head.Writer.String() == e.LastWriterID
	}
	token := seen.envelope
	if !seen.live {
		token = state.Envelope{SyncVersion: state.MustNotExist}
	}
	err = r.put(t, text, token)
	refused := errors.Is(err, state.ErrConflict)
	switch {
	case refused && same:
		r.cluster.fail(InvariantReads, "replica %d may not revise %s, although nothing was written since", r.number, t.key())
	case err == nil && !same:
		r.cluster.fail(InvariantReads, "replica %d revises %s, although %s by replica %d came in between",
			r.number, t.key(), head.Stamp, r.cluster.numberOf(head.Writer))
	case refused:
		r.cluster.cover.sometimes(SometimesReviseRefused)
		return nil
	case err == nil:
		r.cluster.cover.sometimes(SometimesRevised)
	}
	return err
}

// head returns the largest held version of a key.
func (r *Replica) head(key merge.Key) (head store.Held, exists bool, err error) {
	held, err := r.held(key)
	if n := len(held); n > 0 {
		head, exists = held[n-1], true
	}
	return head, exists, err
}

// held returns the held versions of a key, the largest last.
func (r *Replica) held(key merge.Key) (held []store.Held, err error) {
	err = r.read(func(s *store.Reader) error {
		held, err = s.Held(key)
		return err
	})
	return held, err
}

// put writes a key as agents do; token says what is stored there, and nothing
// when it does not matter.
func (r *Replica) put(t target, text string, token state.Envelope) error {
	if t.skill {
		return r.upsert(state.Skill{Slug: t.name, Scope: t.scope, Body: text, Envelope: token})
	}
	return r.memorize(state.MemoryItem{ID: t.name, Scope: t.scope, Content: text, Envelope: token})
}

func (r *Replica) edit(t target, text string) error {
	if err := r.put(t, text, state.Envelope{}); err != nil || r.process == nil {
		return err
	}
	return r.undisturbed(func() error { return r.lookAt(t) })
}

func (r *Replica) remove(t target) error {
	var err error
	if t.skill {
		err = r.State().SkillLibrary().DeleteIn(context.Background(), t.scope, t.name)
	} else {
		err = r.State().MemoryLibrary().DeleteIn(context.Background(), t.scope, t.name)
	}
	if err != nil || r.process == nil {
		return err
	}
	return r.undisturbed(func() error { return r.lookAt(t) })
}

// tolerable reports whether agents must live with an error: nothing was
// acknowledged.
func tolerable(err error) bool {
	return errors.Is(err, errDisk) || errors.Is(err, store.ErrFull) || errors.Is(err, hlc.ErrClockAhead) || errors.Is(err, state.ErrNotFound) ||
		errors.Is(err, state.ErrDenied)
}
