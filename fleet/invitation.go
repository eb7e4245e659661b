package fleet

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// InvitationConfig says what an invitation offers. The zero value is the
// default: any name, a member with the default capabilities in every scope, 15
// minutes, one use.
type InvitationConfig struct {
	// Name fixes the name of the joiner; empty leaves it to the joiner.
	Name string
	// Role is RoleMember when zero. Only root can make good on RoleAdmin.
	Role Role
	// Capabilities are the families that the joiner may write. Nil stands for
	// DefaultCapabilities; an empty list for a member that only reads.
	Capabilities []string
	// Scopes limit what the joiner may write; none means every scope.
	Scopes []merge.Scope
	// TTL is how long the ticket is good, InvitationTTL when zero, at most 30
	// days.
	TTL time.Duration
	// Uses is how many may join by it, 1 when zero, at most 256. A fixed name
	// has one use.
	Uses int
}

// Invitation is what the inviter keeps of a ticket. It is a value that is
// loaded, redeemed and stored again in one transaction; not safe for concurrent
// use.
type Invitation struct {
	Name         string
	Role         Role
	Capabilities []string
	Scopes       []merge.Scope
	Secret       Secret
	// Created and Expires are to the millisecond.
	Created time.Time
	Expires time.Time
	Uses    int
	// Redeemed lists who joined by it, in order.
	Redeemed []Redeemed
}

// Redeemed is one use of an invitation.
type Redeemed struct {
	Joiner merge.InstanceID
	Name   string
	// Statement is the encoded record of the grant.
	Statement []byte
}

// wireInvitation is the stored form. Keys are never reused; new fields are
// optional.
type wireInvitation struct {
	Name         string         `cbor:"1,keyasint,omitempty"`
	Role         Role           `cbor:"2,keyasint"`
	Capabilities []string       `cbor:"3,keyasint,omitempty"`
	Scopes       []wireScope    `cbor:"4,keyasint,omitempty"`
	Secret       []byte         `cbor:"5,keyasint"`
	Created      int64          `cbor:"6,keyasint"` // milliseconds since 1970
	Expires      int64          `cbor:"7,keyasint"` // milliseconds since 1970
	Uses         int            `cbor:"8,keyasint"`
	Redeemed     []wireRedeemed `cbor:"9,keyasint,omitempty"`
}

type wireRedeemed struct {
	Joiner    merge.InstanceID `cbor:"1,keyasint"`
	Name      string           `cbor:"2,keyasint"`
	Statement []byte           `cbor:"3,keyasint"`
}

// NewInvitation opens an invitation at now with a secret from rand, a
// cryptographic source. Errors: ErrName, ErrMalformed, and what rand returns.
func NewInvitation(cfg InvitationConfig, now time.Time, rand io.Reader) (Invitation, error) {
	if cfg.Role == 0 {
		cfg.Role = RoleMember
	}
	if cfg.Capabilities == nil && cfg.Role == RoleMember {
		cfg.Capabilities = DefaultCapabilities()
	}
	if cfg.TTL == 0 {
		cfg.TTL = InvitationTTL
	}
	if cfg.Uses == 0 {
		cfg.Uses = 1
	}
	secret, err := newSecret(rand)
	if err != nil {
		return Invitation{}, err
	}
	created := time.UnixMilli(now.UnixMilli()).UTC()
	inv := Invitation{
		Name: cfg.Name, Role: cfg.Role,
		Capabilities: slices.Compact(slices.Sorted(slices.Values(cfg.Capabilities))),
		Scopes:       slices.Compact(slices.SortedFunc(slices.Values(cfg.Scopes), compareScopes)),
		Secret:       secret,
		Created:      created, Expires: created.Add(cfg.TTL.Truncate(time.Millisecond)),
		Uses: cfg.Uses,
	}
	return inv, inv.validate()
}

// ID returns the handle that a JoinRequest names.
func (i *Invitation) ID() TicketID { return i.Secret.ID() }

// Open reports whether somebody new could still join by it at now.
func (i *Invitation) Open(now time.Time) bool {
	return len(i.Redeemed) < i.Uses && now.Before(i.Expires)
}

// Ticket returns the ticket of the invitation: how to reach inviter, whose
// fleet this is.
func (i *Invitation) Ticket(addrs []string, inviter merge.InstanceID, fleet merge.FleetID) (Ticket, error) {
	t := Ticket{Addrs: addrs, Inviter: inviter, Fleet: fleet, Secret: i.Secret, Expires: i.Expires}
	return t, t.validate()
}

// Marshal returns the form to store. It holds the secret. Errors: ErrMalformed
// when so many grants, each with so many scopes, do not fit into 1 MiB.
func (i *Invitation) Marshal() ([]byte, error) {
	w := wireInvitation{
		Name: i.Name, Role: i.Role, Capabilities: i.Capabilities, Secret: i.Secret[:],
		Created: i.Created.UnixMilli(), Expires: i.Expires.UnixMilli(), Uses: i.Uses,
	}
	for _, s := range i.Scopes {
		w.Scopes = append(w.Scopes, wireScope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace})
	}
	for _, r := range i.Redeemed {
		w.Redeemed = append(w.Redeemed, wireRedeemed(r))
	}
	b, err := merge.Marshal(w)
	return bounded("invitation", b, err, invitationBytesMax)
}

// UnmarshalInvitation is the inverse of Marshal. Errors: ErrMalformed, ErrName.
func UnmarshalInvitation(b []byte) (Invitation, error) {
	if len(b) > invitationBytesMax {
		return Invitation{}, fmt.Errorf("%w: invitation of %d bytes", ErrMalformed, len(b))
	}
	var w wireInvitation
	if err := merge.Unmarshal(b, &w); err != nil {
		return Invitation{}, fmt.Errorf("%w: invitation: %w", ErrMalformed, err)
	}
	if len(w.Secret) != secretBytes {
		return Invitation{}, fmt.Errorf("%w: secret of %d bytes", ErrMalformed, len(w.Secret))
	}
	if w.Created < 0 || w.Created > w.Expires || w.Expires > hlc.WallMax {
		return Invitation{}, fmt.Errorf("%w: invitation from %d to %d", ErrMalformed, w.Created, w.Expires)
	}
	inv := Invitation{
		Name: w.Name, Role: w.Role, Capabilities: w.Capabilities, Secret: Secret(w.Secret),
		Created: time.UnixMilli(w.Created).UTC(), Expires: time.UnixMilli(w.Expires).UTC(), Uses: w.Uses,
	}
	for _, s := range w.Scopes {
		inv.Scopes = append(inv.Scopes, merge.Scope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace})
	}
	for _, r := range w.Redeemed {
		inv.Redeemed = append(inv.Redeemed, Redeemed(r))
	}
	return inv, inv.validate()
}

// validate checks the offer: every grant made of it will be well formed.
func (i *Invitation) validate() error {
	if i.Name != "" {
		if err := ValidateName(i.Name); err != nil {
			return err
		}
	}
	ttl := i.Expires.Sub(i.Created)
	switch {
	case i.Role != RoleMember && i.Role != RoleAdmin:
		return fmt.Errorf("%w: invitation of a %s", ErrMalformed, i.Role)
	case i.Role == RoleAdmin && len(i.Capabilities)+len(i.Scopes) > 0:
		return fmt.Errorf("%w: invitation of an admin with limits, which the role does not have", ErrMalformed)
	case ttl <= 0 || ttl > invitationTTLMax:
		return fmt.Errorf("%w: invitation for %s, at most %s", ErrMalformed, ttl, invitationTTLMax)
	case i.Uses < 1 || i.Uses > usesMax:
		return fmt.Errorf("%w: invitation of %d uses, 1 to %d", ErrMalformed, i.Uses, usesMax)
	case i.Name != "" && i.Uses > 1:
		return fmt.Errorf("%w: invitation of %d uses with one name", ErrMalformed, i.Uses)
	}
	if err := validateCapabilities(i.Capabilities); err != nil {
		return err
	}
	if err := validateScopes(i.Scopes); err != nil {
		return err
	}
	return i.validateUses()
}

func (i *Invitation) validateUses() error {
	if len(i.Redeemed) > i.Uses {
		return fmt.Errorf("%w: invitation used %d times of %d", ErrMalformed, len(i.Redeemed), i.Uses)
	}
	for _, r := range i.Redeemed {
		if _, ok := r.Joiner.PublicKey(); !ok || len(r.Statement) == 0 {
			return fmt.Errorf("%w: invitation used by %q, which is no key, or without a statement", ErrMalformed, r.Joiner)
		}
	}
	return nil
}
