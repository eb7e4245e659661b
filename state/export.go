package state

import (
	"cmp"
	"context"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Export implements Replica.
func (p *replica) Export(ctx context.Context) (Snapshot, error) {
	if p.recorder != nil { // its number and the store must say the same
		if err := p.recorder.enter(ctx); err != nil {
			return Snapshot{}, err
		}
		defer p.recorder.leave()
	}
	var s Snapshot
	err := p.view(ctx, func(r *store.Reader) (err error) {
		if s, err = p.snapshotOf(ctx, r); err != nil {
			return err
		}
		if p.recorder != nil {
			s.LastSeq = p.recorder.head()
			return nil
		}
		end, err := r.EventHead()
		s.LastSeq = int64(end)
		return err
	})
	return s, err
}

// snapshotOf collects the heads of the kinds that a snapshot holds.
func (p *replica) snapshotOf(ctx context.Context, r *store.Reader) (Snapshot, error) {
	s := Snapshot{Home: p.home[0]}
	place, _ := p.heldScope(p.home[0])
	for _, section := range p.store.Sections() {
		if section.Section.Family == kindSession && section.Section.Scope != p.home[0] && section.Section.Scope != place {
			continue
		}
		var failed error
		err := r.Range(section.Section, "", func(key merge.Key, held []store.Held) (more bool) {
			if !inSnapshot(key.Kind) {
				return true
			}
			rec, err := r.Load(key, held[len(held)-1])
			if err == nil && key.Family() == kindSession && key.Scope != p.home[0] {
				var left bool
				if left, err = isLeftOut(r, &rec); left {
					return true
				}
			}
			if err == nil {
				err = s.add(r, &rec)
			}
			failed = cmp.Or(err, ctx.Err())
			return failed == nil
		})
		if err := cmp.Or(failed, err); err != nil {
			return Snapshot{}, err
		}
	}
	s.count()
	return s.sorted(), nil
}

// isLeftOut reports whether a snapshot leaves out a session or turn that is not of
// the home scope: all but those that are held and have no record there.
func isLeftOut(r *store.Reader, rec *merge.Record) (left bool, err error) {
	if heldBy(rec) == "" {
		return true, nil
	}
	key := rec.Key
	key.Scope = meantFor(key.Scope)
	there, err := head(r, key)
	return there != nil, err
}

func inSnapshot(kind string) bool {
	switch kind {
	case kindSession, kindTurn, kindSkill, kindMemory, kindOutcome:
		return true
	}
	return false
}

// add puts a record into the snapshot; one that breaks the rules of its kind is
// hidden here as everywhere. Errors: those of the store.
func (s *Snapshot) add(r *store.Reader, rec *merge.Record) error {
	rec, err := whole(r, rec)
	if err != nil {
		return err
	}
	switch rec.Key.Kind {
	case kindSession:
		s.Sessions = appendValid(s.Sessions, rec, decodeSession)
	case kindTurn:
		s.Turns = appendValid(s.Turns, rec, decodeTurn)
	case kindSkill:
		s.Skills = appendValid(s.Skills, rec, decodeSkill)
	case kindMemory:
		s.Items = appendValid(s.Items, rec, decodeMemory)
	case kindOutcome:
		s.Outcomes = appendValid(s.Outcomes, rec, decodeOutcome)
	}
	return nil
}

func appendValid[T any](list []T, rec *merge.Record, decode func(*merge.Record) (T, error)) []T {
	if v, err := decode(rec); err == nil {
		list = append(list, v)
	}
	return list
}
