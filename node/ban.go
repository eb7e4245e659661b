package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

var (
	// ErrBanned is returned for a member that is banned for ever already.
	ErrBanned = errors.New("node: banned already")
	// ErrRange is returned for a ban from or to a stamp that cannot be.
	ErrRange = errors.New("node: no such range")
)

// BanRequest says what a member wrote that counts no more.
type BanRequest struct {
	// Member is the name or id of a member. Its successors are meant, too.
	Member string
	// From is the first stamp that counts no more. Zero stands, in a ban for ever,
	// for right after the last that this node holds of it: what it has not seen by
	// now it takes no more.
	From hlc.Timestamp
	// To is the last stamp that counts no more; zero is for ever, and then the
	// member is none any more.
	To hlc.Timestamp
	// Note is for people: printable, at most 256 bytes.
	Note string
	// Dry asks for what would follow, and for nothing to be done.
	Dry bool
}

// Banned is what a ban does, or would do.
type Banned struct {
	ID   merge.InstanceID
	Name string
	// From and To are as in BanRequest, with From filled in.
	From, To hlc.Timestamp
	Note     string
	// By is who issues it: the name of this instance, or "root".
	By string
	// Versions counts those of the range that are here, covered ones too.
	Versions int
	// Statements counts its own statements, such as grants, that count no more.
	Statements int
	// Retracted counts the versions that are held no more, and Restored those that
	// they had covered and that are held again. Both are 0 in a dry run.
	Retracted, Restored int
	// Told are the members that hear of it now, Later those that do when they
	// come back, by name.
	Told, Later []string
}

// Ban makes what a member writes, within a range or from a stamp on, count no
// more in the whole fleet, and takes it away here. For ever, it closes the
// connections of the member, too. An admin bans members; root, where its key
// lies, admins. Errors: ErrNoMember, ErrDenied, ErrBanned, ErrRange,
// fleet.ErrMalformed, that of ctx; those of the store, and then the ban may
// be written.
func (n *Node) Ban(ctx context.Context, req BanRequest) (Banned, error) {
	m, err := n.memberOf(req.Member)
	if err != nil {
		return Banned{}, err
	}
	if err := n.checkBan(&m, &req); err != nil {
		return Banned{}, err
	}
	found, err := n.written(ctx, n.lineage(m.ID), req)
	if err != nil {
		return Banned{}, err
	}
	out := Banned{ID: m.ID, Name: m.Name, From: req.From, To: req.To, Note: req.Note, Versions: found.inRange}
	if req.From.IsZero() && req.To.IsZero() {
		if out.From, err = cutOff(found.last, &m); err != nil {
			return Banned{}, err
		}
	}
	if m.Ban != nil && req.To.IsZero() && !out.From.Before(m.Ban.From) {
		return Banned{}, fmt.Errorf("%w: %s is revoked from %s on; a ban from an earlier stamp on reaches further back", ErrBanned, m.Name, m.Ban.From)
	}
	rec, err := n.sealBan(&out, !req.From.IsZero())
	if err != nil {
		return Banned{}, err
	}
	if !req.Dry {
		result, err := n.declare(ctx, rec)
		out.Retracted, out.Restored = result.Retracted, result.Restored
		if err != nil {
			return out, err
		}
		n.log.Warn("member banned", "member", m.Name, "peer", m.ID.String(), "from", out.From.String(), "to", out.To.String(), "count", out.Retracted)
	}
	out.Told, out.Later = n.hearers(func(other *fleet.Member) bool { return req.To.IsZero() && other.ID == m.ID })
	return out, nil
}

// sealBan makes the statement, and notes who issues it and what it strikes. What
// the member has stated stands, but in a ban for ever that was asked to begin at
// a stamp only what it stated before.
func (n *Node) sealBan(out *Banned, begins bool) (rec merge.Record, err error) {
	ban := fleet.Ban{Writer: out.ID, From: out.From, Note: out.Note, Stands: n.authority.InForce(out.ID)}
	switch {
	case !out.To.IsZero():
		if ban.To, err = following(out.To); err != nil {
			return rec, err
		}
	case begins:
		all := len(ban.Stands)
		ban.Stands = n.standing(ban.Stands, out.From)
		out.Statements = all - len(ban.Stands)
	}
	rec, out.By, err = n.seal(func(issuer fleet.Signer, stamp hlc.Timestamp) (merge.Record, error) {
		return fleet.SealBan(n.Fleet(), issuer, ban, stamp)
	})
	return rec, err
}

// memberOf finds a member by name or id. Errors: ErrNoMember.
func (n *Node) memberOf(name string) (fleet.Member, error) {
	if m, ok := n.authority.ByName(name); ok {
		return m, nil
	}
	if id, err := merge.ParseInstanceID(name); err == nil {
		if m, ok := n.authority.Member(id); ok {
			return m, nil
		}
	}
	return fleet.Member{}, fmt.Errorf("%w: no member has the name or id %.80q", ErrNoMember, name)
}

// checkBan refuses what cannot be meant, whoever asks.
func (n *Node) checkBan(m *fleet.Member, req *BanRequest) error {
	switch {
	case !req.From.Valid() || !req.To.Valid():
		return fmt.Errorf("%w: %s to %s is beyond every clock", ErrRange, req.From, req.To)
	case !req.To.IsZero() && req.To.Before(req.From):
		return fmt.Errorf("%w: it ends at %s, before it begins at %s", ErrRange, req.To, req.From)
	case req.To.IsZero() && req.From.Wall > n.store.Clock().Wall():
		return fmt.Errorf("%w: %s lies ahead: a revocation begins at once", ErrRange, req.From)
	case !req.To.IsZero() || !slices.Contains(n.lineage(m.ID), n.key.ID()):
		return nil
	}
	for _, other := range n.authority.Members() {
		if other.Role == fleet.RoleAdmin && other.ID != m.ID && !slices.Contains(n.lineage(m.ID), other.ID) && n.isActive(&other) {
			return nil
		}
	}
	return fmt.Errorf("%w: this machine is the only admin: after it nobody could invite or revoke; make another one an admin first", ErrDenied)
}

// lineage returns a key and those that succeeded it.
func (n *Node) lineage(id merge.InstanceID) []merge.InstanceID {
	var ids []merge.InstanceID
	for id != "" && !slices.Contains(ids, id) {
		ids = append(ids, id)
		m, _ := n.authority.Member(id)
		id = m.Successor
	}
	return ids
}

// cutOff is the stamp after the last one that is held of a member, or, when
// there is none, where its grants begin: what nobody here has seen is not taken.
func cutOff(last hlc.Timestamp, m *fleet.Member) (hlc.Timestamp, error) {
	if !last.IsZero() {
		return following(last)
	}
	first := m.Grants[0].Issued
	for _, g := range m.Grants {
		if g.Issued.Before(first) {
			first = g.Issued
		}
	}
	return first, nil
}

// following returns the stamp after another. Errors: ErrRange for the last of all.
func following(stamp hlc.Timestamp) (hlc.Timestamp, error) {
	next, err := hlc.Unpack(stamp.Pack() + 1)
	if err != nil || !next.Valid() {
		return next, fmt.Errorf("%w: nothing comes after %s", ErrRange, stamp)
	}
	return next, nil
}

// standing returns those statements in force that were issued before a stamp.
func (n *Node) standing(stands []merge.Hash, from hlc.Timestamp) []merge.Hash {
	late := map[merge.Hash]bool{}
	for _, rec := range n.authority.Statements() {
		if !rec.Envelope.UpdatedHLC.Before(from) {
			late[rec.Hash()] = true
		}
	}
	return slices.DeleteFunc(stands, func(h merge.Hash) bool { return late[h] })
}

// writtenHere is what is here of some writers.
type writtenHere struct {
	last    hlc.Timestamp // zero when nothing is
	inRange int
}

// written looks through everything that is held, and its history, for what some
// writers wrote, statements excepted. It takes as long as reading every key does.
func (n *Node) written(ctx context.Context, writers []merge.InstanceID, req BanRequest) (w writtenHere, err error) {
	note := func(v *merge.Version) {
		if !slices.Contains(writers, v.Writer) {
			return
		}
		if v.Stamp.After(w.last) {
			w.last = v.Stamp
		}
		isDefault := req.From.IsZero() && req.To.IsZero() // from after the last: none
		if !isDefault && !v.Stamp.Before(req.From) && (req.To.IsZero() || !v.Stamp.After(req.To)) {
			w.inRange++
		}
	}
	err = n.store.View(func(r *store.Reader) error {
		for _, s := range n.store.Sections() {
			if s.Section.Family == fleet.Family {
				continue
			}
			var failed error
			err := r.Range(s.Section, "", func(k merge.Key, held []store.Held) bool {
				for i := range held {
					note(&held[i].Version)
				}
				past, err := r.History(k)
				for i := range past {
					note(&past[i].Version)
				}
				failed = errors.Join(err, ctx.Err())
				return failed == nil
			})
			if err := errors.Join(failed, err); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return w, fmt.Errorf("node: look for what a member wrote: %w", err)
	}
	return w, nil
}
