package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// undo is how a writer is undone in one key.
type undo struct {
	// Change is what will have been done; its Now is the version that comes back.
	Change
	// rewrite is the write that does it; nil when nothing is to be written.
	rewrite *rewrite
}

// planOf decides how a writer is undone in a key; nil when it holds nothing to
// be undone.
func planOf(r *store.Reader, key merge.Key, what undone) (*undo, error) {
	known, err := knownOf(r, key)
	if err != nil {
		return nil, err
	}
	was := slices.IndexFunc(known, func(k knownVersion) bool {
		return k.standing != StandingCovered && what.has(&k.Version)
	})
	if was < 0 {
		return nil, nil //nolint:nilnil // nothing to undo is an answer, not an error
	}
	plan := &undo{Change: Change{Key: key}}
	if plan.Was, err = known[was].load(r, key); err != nil {
		return nil, err
	}
	if known[was].standing == StandingHead {
		err = plan.undoHead(r, known, what)
	} else {
		err = plan.write(r, ChangeSettled, rewrite{
			head: headOf(known), from: headOf(known), deleted: headOf(known).Deleted,
			covers: covering(known[was].Hash), force: true,
		})
	}
	return plan, err
}

// planOf is the function of that name, but that nothing comes back that holds a
// secret: whoever wants it restores that version, and releases it.
func (p *replica) planOf(r *store.Reader, key merge.Key, what undone) (*undo, error) {
	plan, err := planOf(r, key, what)
	if plan == nil || err != nil || plan.rewrite == nil {
		return plan, err
	}
	v, _, err := p.judgeAnew(r, key, plan.rewrite.head, plan.rewrite.from, plan.rewrite.deleted)
	if v.hold {
		from := plan.rewrite.from
		plan.leave("what was there before, the version %x, holds a secret (%s): restore that version by itself, which holds it back until it is released", from.Hash[:8], v.rules)
		plan.rewrite, plan.Now = nil, nil
	}
	return plan, err
}

// undoHead plans for a head that is to be undone.
func (u *undo) undoHead(r *store.Reader, known []knownVersion, what undone) error {
	head := headOf(known)
	rest := slices.DeleteFunc(slices.Clone(known), func(k knownVersion) bool { return what.has(&k.Version) })
	gone := slices.DeleteFunc(slices.Clone(known), func(k knownVersion) bool { return !what.has(&k.Version) })
	if seen, ok := newestSeen(gone, what.writer); ok && (len(rest) == 0 || seen.after(rest[0].Version)) {
		u.leave("it replaced a version by %s of %s, which this replica does not have", seen.Writer, seen.Stamp)
		return nil
	}
	oldest := slices.MinFunc(gone, func(a, b knownVersion) int { return cmp.Compare(a.SyncVersion, b.SyncVersion) })
	if len(rest) == 0 {
		if oldest.SyncVersion > 1 {
			u.leave("this replica does not have the %d versions before", oldest.SyncVersion-1)
			return nil
		}
		return u.write(r, ChangeDeleted, rewrite{head: head, from: head, deleted: true, covers: covering()})
	}
	from := &rest[0]
	err := u.write(r, ChangeRestored, rewrite{head: head, from: from, deleted: from.Deleted, covers: covering(from.Hash)})
	if u.Outcome == ChangeRestored && oldest.SyncVersion-1 > largest(rest) {
		u.Reason = "this replica does not have every version between"
	}
	return err
}

// write plans a rewrite, unless it would change nothing or cannot be made.
func (u *undo) write(r *store.Reader, outcome ChangeOutcome, w rewrite) error {
	kind, err := contentOf(u.Key)
	if err != nil {
		return err
	}
	from, err := loadRecord(r, u.Key, w.from.Held)
	if err != nil {
		return err
	}
	head, err := loadRecord(r, u.Key, w.head.Held)
	if err != nil {
		return err
	}
	if !w.deleted {
		if _, err := kind.says(&from); err != nil {
			u.leave("the version of %s by %s breaks the rules of its kind: %v", from.Envelope.UpdatedHLC, from.Envelope.LastWriterID, err)
			return nil
		}
	}
	if w.idle(kind, &head, &from) {
		u.Outcome = ChangeUnchanged
		return nil
	}
	u.Outcome, u.rewrite = outcome, &w
	if outcome != ChangeDeleted {
		v, err := showVersion(r, &from)
		if err != nil {
			return err
		}
		v.Standing, v.CoveredAt = w.from.standing, w.from.coveredAt
		u.Now = &v
	}
	return nil
}

func (u *undo) leave(format string, args ...any) {
	u.Outcome, u.Reason = ChangeLeft, fmt.Sprintf(format, args...)
}

// seenVersion names a version that a basis tells of.
type seenVersion merge.BasisEntry

// after reports whether the version comes after another in the total order,
// and is not that one.
func (s seenVersion) after(v merge.Version) bool {
	return cmp.Or(s.Stamp.Compare(v.Stamp), cmp.Compare(s.Writer, v.Writer)) > 0
}

// newestSeen returns the newest version by others that the writer of versions
// had seen.
func newestSeen(versions []knownVersion, writer merge.InstanceID) (newest seenVersion, ok bool) {
	for _, v := range versions {
		for _, e := range v.Basis {
			if e.Writer != writer && (!ok || seenVersion(e).after(merge.Version{Writer: newest.Writer, Stamp: newest.Stamp})) {
				newest, ok = seenVersion(e), true
			}
		}
	}
	return newest, ok
}

func largest(versions []knownVersion) (syncVersion int64) {
	for _, v := range versions {
		syncVersion = max(syncVersion, v.SyncVersion)
	}
	return syncVersion
}

// covering is merge.SupersedeAll for a write that covers, besides what every
// write covers, these conflicts, and leaves the others.
func covering(conflicts ...merge.Hash) supersede {
	return func(held []merge.Version, own *merge.Version, writer merge.InstanceID, stamp hlc.Timestamp) (merge.Basis, int64) {
		head, _ := merge.Head(held)
		covered := slices.DeleteFunc(slices.Clone(held), func(v merge.Version) bool {
			return v.Hash != head.Hash && v.Writer != writer && !slices.Contains(conflicts, v.Hash)
		})
		basis, _ := merge.SupersedeAll(covered, own, writer, stamp)
		_, syncVersion := merge.Supersede(held, own, writer, stamp)
		return basis, syncVersion
	}
}
