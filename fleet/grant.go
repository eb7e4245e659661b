package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Role says what a grant makes of its member. Numbers are never reused; a role
// that a build does not know gives no right there.
type Role uint8

const (
	// RoleMember may write what the grant lists.
	RoleMember Role = 1
	// RoleAdmin may write every family in every scope, grant and ban members,
	// withdraw versions and collect tombstones.
	RoleAdmin Role = 2
	// RoleSuccessor is no role of its own: the grant is a succession. A member
	// issues it for one new key, which takes its place from the statement's
	// stamp on, with all that it has; from then on the member's own key is
	// closed. Its name says whose successor it is and gives none.
	RoleSuccessor Role = 3
)

// String returns "member", "admin", "successor" or the number.
func (r Role) String() string {
	switch r {
	case RoleMember:
		return "member"
	case RoleAdmin:
		return "admin"
	case RoleSuccessor:
		return "successor"
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// CapabilityAll stands for every family but the fleet's own.
const CapabilityAll = "*"

// DefaultCapabilities returns what an invitation grants when nothing else is
// asked for.
func DefaultCapabilities() []string { return []string{"memory", "session", "skill"} }

// Grant is the statement that an instance belongs to the fleet, and what it
// may write.
type Grant struct {
	// Member is who is granted; its id holds a key.
	Member merge.InstanceID
	// Name is what people call the member; see ValidateName.
	Name string
	// Role is member or admin.
	Role Role
	// Capabilities are the families that a member may write, or CapabilityAll;
	// none for a member that only reads. An admin's grant lists none: its role
	// covers everything.
	Capabilities []string
	// Scopes limit what a member may write: a record's scope must agree with
	// one of them in every field that the latter sets. None means every scope;
	// an empty scope is not allowed in the list.
	Scopes []merge.Scope
	// Issued is the first stamp that the grant covers. SealGrant sets zero to
	// the statement's own stamp.
	Issued hlc.Timestamp
	// Expires is the first stamp that it covers no more; zero means never.
	Expires hlc.Timestamp
}

// wireGrant is the body of a fleet.grant. Keys 1 and 2 are those of every
// statement, see wireStatement. Evolution: keys are never reused; new fields
// are optional, omitted when zero, and can only add what an older build may
// safely ignore; what it must not ignore takes a new kind or a new role.
type wireGrant struct {
	Issuer       merge.InstanceID `cbor:"1,keyasint"`
	Stamp        uint64           `cbor:"2,keyasint"`
	Member       merge.InstanceID `cbor:"3,keyasint"`
	Name         string           `cbor:"4,keyasint"`
	Role         Role             `cbor:"5,keyasint"`
	Capabilities []string         `cbor:"6,keyasint,omitempty"` // ascending, distinct
	Scopes       []wireScope      `cbor:"7,keyasint,omitempty"` // ascending, distinct
	Issued       uint64           `cbor:"8,keyasint,omitempty"` // absent when it is the stamp
	Expires      uint64           `cbor:"9,keyasint,omitempty"` // absent means never
}

type wireScope struct {
	_         struct{} `cbor:",toarray"`
	Instance  string
	Project   string
	Workspace string
}

// SealGrant makes the signed record of a grant at stamp, a new one of the
// issuer's clock. It orders and compacts the lists. Whether the issuer may
// grant this is for Authority.Judge. Errors: ErrMalformed, ErrName, and what
// the signer returns.
func SealGrant(fleet merge.FleetID, issuer Signer, g Grant, stamp hlc.Timestamp) (merge.Record, error) {
	g.Capabilities = slices.Compact(slices.Sorted(slices.Values(g.Capabilities)))
	g.Scopes = slices.Compact(slices.SortedFunc(slices.Values(g.Scopes), compareScopes))
	if g.Issued.IsZero() {
		g.Issued = stamp
	}
	if !stamp.Valid() || stamp.IsZero() {
		return merge.Record{}, fmt.Errorf("%w: grant stamped %s", ErrMalformed, stamp)
	}
	if err := g.validate(fleet, issuer.ID(), stamp); err != nil {
		return merge.Record{}, err
	}
	w := wireGrant{
		Issuer: issuer.ID(), Stamp: stamp.Pack(),
		Member: g.Member, Name: g.Name, Role: g.Role, Capabilities: g.Capabilities,
		Expires: g.Expires.Pack(),
	}
	if g.Issued != stamp {
		w.Issued = g.Issued.Pack()
	}
	for _, s := range g.Scopes {
		w.Scopes = append(w.Scopes, wireScope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace})
	}
	body, err := merge.Marshal(w)
	if err != nil {
		return merge.Record{}, err
	}
	return sealStatement(fleet, issuer, KindGrant, body, stamp)
}

// GrantOf returns the grant that a fleet.grant record states. Errors:
// ErrMalformed.
func GrantOf(rec *merge.Record) (Grant, error) {
	if rec.Key.Kind != KindGrant {
		return Grant{}, fmt.Errorf("%w: %s is not a grant", ErrMalformed, rec.Key)
	}
	var w wireGrant
	if err := merge.Unmarshal(rec.Body, &w); err != nil {
		return Grant{}, fmt.Errorf("%w: grant: %w", ErrMalformed, err)
	}
	issued, err := hlc.Unpack(w.Issued)
	if err != nil {
		return Grant{}, fmt.Errorf("%w: grant issued: %w", ErrMalformed, err)
	}
	if issued.IsZero() {
		issued = rec.Envelope.UpdatedHLC
	}
	expires, err := hlc.Unpack(w.Expires)
	if err != nil {
		return Grant{}, fmt.Errorf("%w: grant expires: %w", ErrMalformed, err)
	}
	g := Grant{
		Member: w.Member, Name: w.Name, Role: w.Role, Capabilities: w.Capabilities,
		Issued: issued, Expires: expires,
	}
	for _, s := range w.Scopes {
		g.Scopes = append(g.Scopes, merge.Scope{Instance: s.Instance, Project: s.Project, Workspace: s.Workspace})
	}
	return g, g.validate(rec.Fleet, rec.Envelope.LastWriterID, rec.Envelope.UpdatedHLC)
}

// validate checks the form of a grant that issuer states at stamp. The rules of
// a role that this build does not know are not its to check.
func (g *Grant) validate(fleet merge.FleetID, issuer merge.InstanceID, stamp hlc.Timestamp) error {
	if _, ok := g.Member.PublicKey(); !ok {
		return fmt.Errorf("%w: grant for %q, which is no key", ErrMalformed, g.Member)
	}
	if err := ValidateName(g.Name); err != nil {
		return fmt.Errorf("%w: grant: %w", ErrMalformed, err)
	}
	switch {
	case g.Role == 0:
		return fmt.Errorf("%w: grant without a role", ErrMalformed)
	case !g.Issued.Valid() || !g.Expires.Valid():
		return fmt.Errorf("%w: grant from %s to %s", ErrMalformed, g.Issued, g.Expires)
	case !g.Expires.IsZero() && !g.Issued.Before(g.Expires):
		return fmt.Errorf("%w: grant expires at %s, before it begins at %s", ErrMalformed, g.Expires, g.Issued)
	case g.Role == RoleAdmin && len(g.Capabilities)+len(g.Scopes) > 0:
		return fmt.Errorf("%w: grant of an admin with limits, which the role does not have", ErrMalformed)
	}
	if g.Role == RoleSuccessor {
		return g.validateSuccession(fleet, issuer, stamp)
	}
	if err := validateCapabilities(g.Capabilities); err != nil {
		return err
	}
	return validateScopes(g.Scopes)
}

// validateSuccession checks what only a succession may not say.
func (g *Grant) validateSuccession(fleet merge.FleetID, issuer merge.InstanceID, stamp hlc.Timestamp) error {
	switch {
	case len(g.Capabilities)+len(g.Scopes) > 0 || !g.Expires.IsZero() || g.Issued != stamp:
		return fmt.Errorf("%w: succession with rights or times of its own: it has those of %s, from its stamp on", ErrMalformed, issuer)
	case g.Member == issuer:
		return fmt.Errorf("%w: succession of %s by itself", ErrMalformed, issuer)
	case IsRoot(fleet, g.Member) || IsRoot(fleet, issuer):
		return fmt.Errorf("%w: succession to or by the root of the fleet", ErrMalformed)
	}
	return nil
}

func validateCapabilities(capabilities []string) error {
	if len(capabilities) > capabilitiesMax {
		return fmt.Errorf("%w: grant of %d families, at most %d", ErrMalformed, len(capabilities), capabilitiesMax)
	}
	for i, c := range capabilities {
		switch {
		case i > 0 && capabilities[i-1] >= c:
			return fmt.Errorf("%w: capabilities not ascending", ErrMalformed)
		case c == Family:
			return fmt.Errorf("%w: %q is not a capability: only root and admins issue statements", ErrMalformed, c)
		case c == CapabilityAll:
			continue
		case len(c) > familyBytesMax || strings.Contains(c, ".") || (merge.Key{Kind: c, ID: "x"}).Validate() != nil:
			return fmt.Errorf("%w: capability %.60q is not the name of a family", ErrMalformed, c)
		}
	}
	return nil
}

func validateScopes(scopes []merge.Scope) error {
	if len(scopes) > scopesMax {
		return fmt.Errorf("%w: grant of %d scopes, at most %d", ErrMalformed, len(scopes), scopesMax)
	}
	for i, s := range scopes {
		switch {
		case i > 0 && compareScopes(scopes[i-1], s) >= 0:
			return fmt.Errorf("%w: scopes not ascending", ErrMalformed)
		case s == (merge.Scope{}):
			return fmt.Errorf("%w: empty scope in a grant: it would cover all, leave the list empty", ErrMalformed)
		}
		if err := (merge.Key{Kind: "x", Scope: s, ID: "x"}).Validate(); err != nil {
			return fmt.Errorf("%w: grant: %w", ErrMalformed, err)
		}
	}
	return nil
}

func compareScopes(a, b merge.Scope) int {
	return cmp.Or(
		strings.Compare(a.Instance, b.Instance),
		strings.Compare(a.Project, b.Project),
		strings.Compare(a.Workspace, b.Workspace),
	)
}

// covers reports whether the grant lists the family of a record.
func (g *Grant) covers(family string) bool {
	return g.Role == RoleAdmin || slices.Contains(g.Capabilities, family) || slices.Contains(g.Capabilities, CapabilityAll)
}

// reaches reports whether one of the grant's scopes covers scope: every field
// that it sets is equal.
func (g *Grant) reaches(scope merge.Scope) bool {
	if len(g.Scopes) == 0 {
		return true
	}
	return slices.ContainsFunc(g.Scopes, func(s merge.Scope) bool {
		return (s.Instance == "" || s.Instance == scope.Instance) &&
			(s.Project == "" || s.Project == scope.Project) &&
			(s.Workspace == "" || s.Workspace == scope.Workspace)
	})
}

// includes reports whether the stamp lies within the grant's time.
func (g *Grant) includes(stamp hlc.Timestamp) bool {
	return !stamp.Before(g.Issued) && !g.expired(stamp)
}

func (g *Grant) expired(stamp hlc.Timestamp) bool {
	return !g.Expires.IsZero() && !stamp.Before(g.Expires)
}
