package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// sealing makes a statement by an issuer at a stamp.
type sealing func(issuer fleet.Signer, stamp hlc.Timestamp) (merge.Record, error)

// seal makes a statement by whoever may issue it here: this instance, else root
// where its key lies. by is the name of the issuer. Errors: ErrDenied, which says
// who may, fleet.ErrMalformed, hlc.ErrClockAhead.
func (n *Node) seal(do sealing) (rec merge.Record, by string, err error) {
	issuers := []fleet.Signer{n.key}
	root, hasRoot, err := n.rootKey()
	if err != nil {
		return rec, "", err
	}
	if hasRoot {
		issuers = append(issuers, root)
	}
	var refused fleet.Judgement
	for _, issuer := range issuers {
		stamp, err := n.store.Clock().Now()
		if err != nil {
			return rec, "", fmt.Errorf("node: stamp a statement: %w", err)
		}
		if rec, err = do(issuer, stamp); err != nil {
			return rec, "", err
		}
		if refused = n.authority.Judge(&rec); refused.Admitted {
			return rec, n.issuerName(issuer.ID()), nil
		}
	}
	return rec, "", n.denied(refused)
}

// issuerName is the name of who issued a statement.
func (n *Node) issuerName(id merge.InstanceID) string {
	if fleet.IsRoot(n.Fleet(), id) {
		return rootName
	}
	return n.NameOf(id)
}

// rootName stands for the root of the fleet where members have their names.
const rootName = "root"

// denied says why this machine may not state something, and which may.
func (n *Node) denied(j fleet.Judgement) error {
	if m, ok := n.authority.Member(n.key.ID()); ok && m.Role == fleet.RoleAdmin && n.isActive(&m) {
		return fmt.Errorf("%w: %s, and root.key is not on this machine: do it where it lies", ErrDenied, j.Reason)
	}
	var admins []string
	for _, m := range n.authority.Members() {
		if m.Role == fleet.RoleAdmin && m.ID != n.key.ID() && n.isActive(&m) {
			admins = append(admins, m.Name)
		}
	}
	who := "only the holder of root.key can"
	if len(admins) > 0 {
		who = strings.Join(admins, " or ") + " can"
	}
	return fmt.Errorf("%w: this machine is no admin of the fleet: %s", ErrDenied, who)
}

// isActive reports whether a member belongs to the fleet now.
func (n *Node) isActive(m *fleet.Member) bool {
	return isActive(m, time.UnixMilli(n.store.Clock().Wall()))
}

// declare stores and learns statements that are admitted, and judges everything
// that is here by them. Members that are connected hear of them by gossip, the
// others when they meet. When it fails, they may be stored all the same, and the
// engine judges later. Errors: those of store.Merge and store.Reconsider.
func (n *Node) declare(ctx context.Context, recs ...merge.Record) (store.Result, error) {
	// The engine judges as well, as soon as it sees them: then there is nothing
	// left to do, so that the result tells all.
	n.judging.Lock()
	defer n.judging.Unlock()
	if _, err := n.store.Merge(ctx, store.Batch{Path: store.PathLocal, Records: recs, Mark: n.admission.Mark()}); err != nil {
		return store.Result{}, fmt.Errorf("node: write a statement: %w", err)
	}
	for i := range recs {
		n.admission.Learn(&recs[i])
	}
	result, err := n.store.Reconsider(ctx, fleetsync.Judging(n.admission))
	if err != nil {
		return result, fmt.Errorf("node: judge by a statement: %w", err)
	}
	if net, errNet := n.network(); errNet == nil {
		// What is held has changed past the engine: partners are to compare.
		err := net.loop.do(ctx, func(e *fleetsync.Engine) {
			e.Reconsider()
			e.Local(store.Commit{Path: store.PathLocal})
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			return result, err
		}
	}
	return result, nil
}

// hearers sorts the other members, but those that are left out, by whether they
// hear of a statement now.
func (n *Node) hearers(leaveOut func(*fleet.Member) bool) (now, later []string) {
	net, err := n.network()
	linked := map[merge.InstanceID]bool{}
	if err == nil {
		for _, p := range net.links.peers() {
			linked[merge.InstanceID(p)] = net.links.isOpen(p)
		}
	}
	for _, m := range n.authority.Members() {
		switch {
		case m.ID == n.key.ID() || !n.isActive(&m) || leaveOut(&m):
		case linked[m.ID]:
			now = append(now, m.Name)
		default:
			later = append(later, m.Name)
		}
	}
	return now, later
}
