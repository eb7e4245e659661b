package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// Redemption is one attempt to join by an invitation, as the inviter sees it.
type Redemption struct {
	Request JoinRequest
	// Joiner is the peer id that the connection authenticated, never one that
	// the request claims.
	Joiner  merge.InstanceID
	Inviter merge.InstanceID
	Fleet   merge.FleetID
	Now     time.Time
	// Taken reports whether a member other than the joiner has the name.
	Taken func(name string) bool
	// Banned reports whether the key is banned for ever; see Authority.Banned.
	// Nil says that none is.
	Banned func(id merge.InstanceID) bool
	// Seal makes the signed record of the grant; see SealGrant.
	Seal func(Grant) (merge.Record, error)
}

// Redeem decides an attempt to join and, when it succeeds, notes it in the
// invitation, which the caller stores before it answers. The same joiner gets
// the same answer again, however often it asks and whatever happened since, so
// a lost reply costs nothing; unless its key was banned. On an error the invitation is unchanged. Errors:
// ErrTicketUnknown, ErrProof, ErrBanned, ErrClock, ErrTicketExpired, ErrTicketUsed,
// ErrName, ErrNameFixed, ErrNameTaken, and what Seal returns.
//
// The proof comes before everything that the answer could tell about the
// invitation.
func (i *Invitation) Redeem(r Redemption) (Accepted, error) {
	if r.Request.Ticket != i.ID() {
		return Accepted{}, ErrTicketUnknown
	}
	h := Handshake{Joiner: r.Joiner, Inviter: r.Inviter, Fleet: r.Fleet, Name: r.Request.Name}
	if !h.JoinerProof(i.Secret).Equal(r.Request.Proof) {
		return Accepted{}, ErrProof
	}
	if r.Banned != nil && r.Banned(r.Joiner) {
		return Accepted{}, ErrBanned
	}
	if err := CheckClocks(r.Request.Time, r.Now); err != nil {
		return Accepted{}, err // before the ticket is spent on it
	}
	for _, earlier := range i.Redeemed {
		if earlier.Joiner == r.Joiner {
			return i.again(earlier, h)
		}
	}
	switch {
	case len(i.Redeemed) >= i.Uses:
		return Accepted{}, ErrTicketUsed
	case !r.Now.Before(i.Expires):
		return Accepted{}, fmt.Errorf("%w at %s", ErrTicketExpired, i.Expires.Format(time.RFC3339))
	}
	name, err := i.nameFor(r)
	if err != nil {
		return Accepted{}, err
	}
	rec, err := r.Seal(Grant{
		Member: r.Joiner, Name: name, Role: i.Role,
		Capabilities: slices.Clone(i.Capabilities), Scopes: slices.Clone(i.Scopes),
	})
	if err != nil {
		return Accepted{}, err
	}
	use := Redeemed{Joiner: r.Joiner, Name: name, Statement: rec.Encode()}
	if !r.Request.Time.IsZero() {
		if err := CheckStamps([][]byte{use.Statement}, r.Request.Time); err != nil {
			return Accepted{}, err
		}
	}
	i.Redeemed = append(slices.Clone(i.Redeemed), use)
	return i.accept(use, h, false), nil
}

// nameFor settles the name of a new joiner.
func (i *Invitation) nameFor(r Redemption) (string, error) {
	name := r.Request.Name
	switch {
	case i.Name != "" && name != "" && name != i.Name:
		return "", fmt.Errorf("%w: %q", ErrNameFixed, i.Name)
	case i.Name != "":
		name = i.Name
	}
	if err := ValidateName(name); err != nil {
		return "", err
	}
	takenHere := slices.ContainsFunc(i.Redeemed, func(u Redeemed) bool { return u.Name == name })
	if takenHere || r.Taken(name) {
		return "", fmt.Errorf("%w: %q", ErrNameTaken, name)
	}
	return name, nil
}

// again answers a joiner that was accepted before.
func (i *Invitation) again(use Redeemed, h Handshake) (Accepted, error) {
	if h.Name != "" && h.Name != use.Name {
		return Accepted{}, fmt.Errorf("%w: this instance joined by it as %q", ErrNameFixed, use.Name)
	}
	return i.accept(use, h, true), nil
}

func (i *Invitation) accept(use Redeemed, h Handshake, again bool) Accepted {
	h.Name = use.Name
	return Accepted{Name: use.Name, Statement: use.Statement, Proof: h.InviterProof(i.Secret), Again: again}
}

// Accepted is the outcome of a successful Redeem.
type Accepted struct {
	// Name is the one that the joiner got.
	Name string
	// Statement is the encoded record of its grant.
	Statement []byte
	// Proof is the inviter's.
	Proof Proof
	// Again says that the joiner had been accepted before: nothing is new.
	Again bool
}

// Reply returns the answer to an accepted joiner with the statements that
// prove its grant; see Authority.Chain.
func (a Accepted) Reply(chain []*merge.Record) JoinReply {
	reply := JoinReply{Status: JoinAccepted, Name: a.Name, Proof: a.Proof}
	for _, rec := range chain {
		reply.Statements = append(reply.Statements, rec.Encode())
	}
	return reply
}
