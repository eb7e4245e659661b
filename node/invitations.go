package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// ErrInvitations is returned by Invite when too many are open.
var ErrInvitations = errors.New("node: too many open invitations: wait until one is used or expires")

// localInvitations is the store's local value that lists the invitations; each
// has one of its own besides.
const localInvitations = "invitations"

// invitationIndex is the value of localInvitations. Keys are never reused.
type invitationIndex struct {
	Tickets []invitationEntry `cbor:"1,keyasint"`
}

type invitationEntry struct {
	ID      []byte `cbor:"1,keyasint"` // fleet.TicketID
	Expires int64  `cbor:"2,keyasint"` // milliseconds since 1970
}

func (e *invitationEntry) expires() time.Time { return time.UnixMilli(e.Expires) }

// invitations are those that this node gave. They survive restarts. Safe for
// concurrent use.
type invitations struct {
	store     *store.Store
	admission *admission
	self      merge.InstanceID
	// signerFor returns who signs a grant of a role; ok is false when this node
	// may not grant it.
	signerFor func(fleet.Role) (signer fleet.Signer, ok bool)

	// change is held by whoever changes invitations or redeems one, so that of
	// two joiners with one ticket, or one name, exactly one wins.
	change sync.Mutex

	mu   sync.Mutex // guards open
	open time.Time  // until when somebody may come with a ticket
}

// now is what the clock says that stamps what is written.
func (v *invitations) now() time.Time { return time.UnixMilli(v.store.Clock().Wall()) }

func invitationName(id fleet.TicketID) string { return "invitation/" + id.String() }

// inviting reports whether somebody may come with a ticket. One that is used
// counts: its joiner may have lost the answer.
func (v *invitations) inviting() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now().Before(v.open)
}

func (v *invitations) noteOpen(until time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if until.After(v.open) {
		v.open = until
	}
}

// add opens an invitation. Errors: ErrDenied, ErrInvitations, fleet.ErrName,
// fleet.ErrMalformed.
func (v *invitations) add(ctx context.Context, cfg fleet.InvitationConfig) (fleet.Invitation, error) {
	now := v.now()
	inv, err := fleet.NewInvitation(cfg, now, rand.Reader)
	if err != nil {
		return fleet.Invitation{}, err
	}
	if _, ok := v.signerFor(inv.Role); !ok {
		return fleet.Invitation{}, fmt.Errorf("%w: only an admin invites members, and only the holder of root.key admins", ErrDenied)
	}
	b, err := inv.Marshal()
	if err != nil {
		return fleet.Invitation{}, err
	}
	v.change.Lock()
	defer v.change.Unlock()
	if err := v.store.SetLocal(ctx, invitationName(inv.ID()), b); err != nil {
		return fleet.Invitation{}, fmt.Errorf("node: keep an invitation: %w", err)
	}
	if err := v.enlist(ctx, inv, now); err != nil {
		return fleet.Invitation{}, err
	}
	v.noteOpen(inv.Expires)
	return inv, nil
}

// enlist puts an invitation into the index, and drops those that are over for
// long, or for shorter when there is no room.
func (v *invitations) enlist(ctx context.Context, inv fleet.Invitation, now time.Time) error {
	var index invitationIndex
	if _, err := getLocal(v.store, localInvitations, &index); err != nil {
		return err
	}
	slices.SortFunc(index.Tickets, func(a, b invitationEntry) int { return a.expires().Compare(b.expires()) })
	for len(index.Tickets) > 0 {
		over := now.Sub(index.Tickets[0].expires())
		if over < 0 && len(index.Tickets) >= invitationsMax {
			return ErrInvitations
		}
		if over < invitationKept && len(index.Tickets) < invitationsMax {
			break
		}
		if err := v.store.SetLocal(ctx, invitationName(fleet.TicketID(index.Tickets[0].ID)), nil); err != nil {
			return fmt.Errorf("node: drop an invitation: %w", err)
		}
		index.Tickets = index.Tickets[1:]
	}
	id := inv.ID()
	index.Tickets = append(index.Tickets, invitationEntry{ID: id[:], Expires: inv.Expires.UnixMilli()})
	return setLocal(ctx, v.store, localInvitations, index)
}

// redeem decides an attempt to join. The grant is noted in the invitation
// before it is written anywhere else: should this node die in between, restore
// writes it, and the joiner may ask again. Errors: those of
// fleet.Invitation.Redeem.
func (v *invitations) redeem(ctx context.Context, req fleet.JoinRequest, joiner merge.InstanceID) (fleet.JoinReply, error) {
	v.change.Lock()
	defer v.change.Unlock()
	authority := v.admission.authority
	var accepted fleet.Accepted
	err := v.store.UpdateLocal(ctx, invitationName(req.Ticket), func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, fleet.ErrTicketUnknown
		}
		inv, err := fleet.UnmarshalInvitation(old)
		if err != nil {
			return nil, fmt.Errorf("node: invitation: %w", err)
		}
		accepted, err = inv.Redeem(fleet.Redemption{
			Request: req, Joiner: joiner, Inviter: v.self, Fleet: authority.Fleet(), Now: v.now(),
			Taken: func(name string) bool {
				m, ok := authority.ByName(name)
				return ok && m.ID != joiner
			},
			Banned: func(id merge.InstanceID) bool {
				_, banned := authority.Banned(id)
				return banned
			},
			Seal: v.seal,
		})
		if err != nil {
			return nil, err
		}
		return inv.Marshal()
	})
	if err != nil {
		return fleet.JoinReply{}, err
	}
	rec, err := v.write(ctx, accepted.Statement)
	if err != nil {
		return fleet.JoinReply{}, err
	}
	return accepted.Reply(v.proof(rec)), nil
}

// proof returns the statements that make a grant valid, and those that make
// this instance a member: the joiner talks to members alone, and where root
// signed its grant, nothing else says that its inviter is one.
func (v *invitations) proof(grant *merge.Record) []*merge.Record {
	authority := v.admission.authority
	proof := authority.Chain(grant)
	for _, rec := range authority.Statements() {
		g, err := fleet.GrantOf(rec)
		if err != nil || g.Member != v.self {
			continue
		}
		for _, link := range authority.Chain(rec) {
			known := func(r *merge.Record) bool { return r.Hash() == link.Hash() }
			if !slices.ContainsFunc(proof, known) && len(proof) < proofMax {
				proof = append(proof, link)
			}
		}
	}
	return proof
}

func (v *invitations) seal(g fleet.Grant) (merge.Record, error) {
	signer, ok := v.signerFor(g.Role)
	if !ok {
		return merge.Record{}, fmt.Errorf("%w: this instance grants no %s any more", ErrDenied, g.Role)
	}
	stamp, err := v.store.Clock().Now()
	if errors.Is(err, hlc.ErrClockAhead) {
		return merge.Record{}, fmt.Errorf("%w: the inviter's: %w", fleet.ErrClock, err)
	}
	if err != nil {
		return merge.Record{}, fmt.Errorf("node: stamp a grant: %w", err)
	}
	return fleet.SealGrant(v.admission.authority.Fleet(), signer, g, stamp)
}

// write makes a grant a record of the store, and its name taken; doing so
// again changes nothing.
func (v *invitations) write(ctx context.Context, statement []byte) (*merge.Record, error) {
	rec, err := merge.Decode(statement)
	if err != nil {
		return nil, fmt.Errorf("node: grant: %w", err)
	}
	if _, err := v.store.Merge(ctx, store.Batch{Path: store.PathLocal, Records: []merge.Record{rec}, Mark: v.admission.Mark()}); err != nil {
		return nil, fmt.Errorf("node: write a grant: %w", err)
	}
	v.admission.Learn(&rec)
	return &rec, nil
}

// restore brings back what a restart must not lose: open invitations, and
// grants that were promised and not written.
func (v *invitations) restore(ctx context.Context) error {
	var index invitationIndex
	if _, err := getLocal(v.store, localInvitations, &index); err != nil {
		return err
	}
	for _, entry := range index.Tickets {
		inv, err := v.load(fleet.TicketID(entry.ID))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		v.noteOpen(inv.Expires)
		for _, use := range inv.Redeemed {
			if _, err := v.write(ctx, use.Statement); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *invitations) load(id fleet.TicketID) (inv fleet.Invitation, err error) {
	err = v.store.View(func(r *store.Reader) error {
		b, err := r.Local(invitationName(id))
		if err != nil {
			return err
		}
		inv, err = fleet.UnmarshalInvitation(b)
		return err
	})
	if err != nil {
		return inv, fmt.Errorf("node: invitation: %w", err)
	}
	return inv, nil
}
