package simulation

import (
	"io"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// admission is fleet.Authority as an engine takes it.
type admission struct {
	*fleet.Authority
	common *common // nil when the authority is the replica's own
}

// common is what the replicas of a large fleet have in common from the
// beginning: the statements on all disks, and the authority that follows from
// them, until one of them learns more.
type common struct {
	statements []*merge.Record
	known      map[merge.Hash]bool
	authority  *fleet.Authority
}

func newCommon(id merge.FleetID, records []merge.Record) (*common, error) {
	c := &common{known: map[merge.Hash]bool{}, authority: fleet.NewAuthority(id)}
	for i := range records {
		c.statements = append(c.statements, &records[i])
		c.known[records[i].Hash()] = true
	}
	_, err := c.authority.LearnAll(c.statements)
	return c, err
}

// newAdmission returns what a process begins with, before it has read its
// disk. shared may be nil; else the disk must have all that it stands on.
func newAdmission(id merge.FleetID, shared *common) *admission {
	if shared != nil {
		return &admission{shared.authority, shared}
	}
	return &admission{fleet.NewAuthority(id), nil}
}

func (a *admission) Check(r *merge.Record) error { return fleet.Check(r, a.Fleet()) }

func (a *admission) Judge(r *merge.Record) store.Reason {
	return store.Reason(a.Authority.Judge(r).Cause)
}

func (a *admission) JudgeVersion(k merge.Key, v merge.Version) (reason store.Reason, sure bool) {
	j, sure := a.Authority.JudgeVersion(k, v)
	return store.Reason(j.Cause), sure
}

func (a *admission) Learn(r *merge.Record) bool {
	if a.common != nil {
		if a.common.known[r.Hash()] {
			return false
		}
		a.part()
	}
	changed, err := a.Authority.Learn(r)
	return changed && err == nil
}

// part gives the replica an authority of its own.
func (a *admission) part() {
	own := fleet.NewAuthority(a.Fleet())
	if _, err := own.LearnAll(a.common.statements); err != nil {
		panic(err) // the common one has learnt them
	}
	a.Authority, a.common = own, nil
}

// signer is an identity as package state takes it.
type signer struct {
	fleet.Identity
	fleet merge.FleetID
}

func (s signer) InstanceID() merge.InstanceID { return s.ID() }
func (s signer) Fleet() merge.FleetID         { return s.fleet }

// notary checks signatures, each once: the same bytes come by many ways.
type notary struct {
	verifier fleet.Verifier
	verdicts map[verdictKey]bool
}

// verdictKey is all that a verdict depends on: the hash stands for what was
// signed and by whom.
type verdictKey struct {
	hash      merge.Hash
	algorithm merge.Algorithm
	signature string
}

func newNotary(random io.Reader) *notary {
	return &notary{verifier: fleet.NewVerifier(random), verdicts: map[verdictKey]bool{}}
}

func (n *notary) verify(recs []*merge.Record) []bool {
	keys := make([]verdictKey, len(recs))
	var fresh []*merge.Record
	var freshKeys []verdictKey
	for i, r := range recs {
		keys[i] = verdictKey{r.Hash(), r.Algorithm, string(r.Signature)}
		if _, known := n.verdicts[keys[i]]; !known {
			fresh, freshKeys = append(fresh, r), append(freshKeys, keys[i])
		}
	}
	if len(fresh) > 0 {
		for i, ok := range n.verifier.Verify(fresh) {
			n.verdicts[freshKeys[i]] = ok
		}
	}
	verdicts := make([]bool, len(recs))
	for i, k := range keys {
		verdicts[i] = n.verdicts[k]
	}
	return verdicts
}

// charter is the fleet of a simulation: its root, and who was granted what.
type charter struct {
	root  fleet.Identity
	fleet merge.FleetID
}

func newCharter(random io.Reader) (charter, error) {
	root, err := fleet.NewIdentity(random)
	return charter{root: root, fleet: fleet.FleetIDOf(root.Public())}, err
}

// grant makes an instance a member, or an admin when root issues it, from the
// beginning of the simulation on, whenever it is stated.
func (c charter) grant(issuer fleet.Signer, to *Replica, stamp hlc.Timestamp) (merge.Record, error) {
	g := fleet.Grant{
		Member: to.ID(), Name: to.name, Role: fleet.RoleMember,
		Issued: hlc.Timestamp{Wall: epoch().AddDate(0, 0, -1).UnixMilli()},
	}
	if issuer.ID() == c.root.ID() {
		g.Role = fleet.RoleAdmin
	} else {
		g.Capabilities = []string{fleet.CapabilityAll}
		g = to.cluster.plan.Limits[to.number].limited(g)
	}
	return fleet.SealGrant(c.fleet, issuer, g, stamp)
}
