package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// ErrNoMember is returned for a member that the fleet does not have.
var ErrNoMember = errors.New("node: no such member")

// Verification is what a proof of the own store has found.
type Verification struct {
	// Records counts the versions that are held, of what is not shared too.
	Records int64
	// Faults are what does not agree, up to a hundred; none proves the store.
	Faults []string
}

// Verify reads the whole store and proves that its parts agree. Nothing is
// written meanwhile. Errors: that of ctx; store.ErrClosed.
func (n *Node) Verify(ctx context.Context) (Verification, error) {
	var v Verification
	err := n.store.Verify(ctx)
	switch {
	case errors.Is(err, store.ErrCorrupt):
		for line := range strings.Lines(err.Error()) {
			v.Faults = append(v.Faults, strings.TrimPrefix(strings.TrimSpace(line), store.ErrCorrupt.Error()+": "))
		}
	case err != nil:
		return v, fmt.Errorf("node: verify: %w", err)
	}
	for _, s := range n.store.Sections() {
		v.Records += s.Count
	}
	return v, nil
}

// NameOf returns the name of a member; empty for who is none.
func (n *Node) NameOf(id merge.InstanceID) string {
	m, _ := n.authority.Member(id)
	return m.Name
}

// Compared is how one member compares.
type Compared struct {
	ID   merge.InstanceID
	Name string
	// Sections are those that were compared, in their order.
	Sections []fleetsync.CheckedSection
	// Unfinished says why not everything was compared; empty when it was.
	Unfinished string
}

// IsEqual reports whether everything was compared and all that both share is
// equal.
func (c *Compared) IsEqual() bool {
	for i := range c.Sections {
		if o := c.Sections[i].Outcome; o != fleetsync.OutcomeEqual && o != fleetsync.OutcomeNotShared {
			return false
		}
	}
	return c.Unfinished == ""
}

// Compare compares every section that is shared with other members, exactly and
// without fetching anything, and waits as long as ctx allows. names are names or
// ids of members; none stands for all others. Whoever cannot be asked is no
// error. Errors: ErrNotRunning, ErrNoMember, that of ctx when it ends before
// anybody was asked.
func (n *Node) Compare(ctx context.Context, names []string) ([]Compared, error) {
	net, err := n.network()
	if err != nil {
		return nil, err
	}
	wanted, err := n.others(names)
	if err != nil {
		return nil, err
	}
	members, err := n.Members(ctx)
	if err != nil {
		return nil, err
	}
	var list []Compared
	var ids []merge.InstanceID
	for i := range members {
		m := &members[i]
		if !wanted[m.ID] {
			continue
		}
		c := Compared{ID: m.ID, Name: m.Name}
		switch m.State {
		case MemberOffline, MemberNeverSeen, MemberIncompatible, MemberRevoked, MemberSucceeded, MemberExpired:
			c.Unfinished = strings.TrimPrefix(m.describe(), m.Name+" ")
		case MemberSelf, MemberInSync, MemberSyncing, MemberBehind, MemberAhead:
			ids = append(ids, m.ID)
		}
		list = append(list, c)
	}
	checked, err := n.check(ctx, net.loop, ids)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if c, asked := checked[list[i].ID]; asked {
			list[i].Sections, list[i].Unfinished = c.Sections, c.Unfinished
		}
	}
	return list, nil
}

// others finds members other than this one by name or id. Errors: ErrNoMember.
func (n *Node) others(names []string) (map[merge.InstanceID]bool, error) {
	found := map[merge.InstanceID]bool{}
	all := n.authority.Members()
	if len(names) == 0 {
		for _, m := range all {
			found[m.ID] = m.ID != n.ID() && n.isActive(&m)
		}
		return found, nil
	}
	for _, name := range names {
		id, ok := memberNamed(all, name)
		if !ok || id == n.ID() {
			return nil, fmt.Errorf("%w: %.80q is no other member of the fleet", ErrNoMember, name)
		}
		found[id] = true
	}
	return found, nil
}

func memberNamed(all []fleet.Member, name string) (id merge.InstanceID, ok bool) {
	for _, m := range all {
		if m.Name == name || m.ID.String() == name {
			return m.ID, true
		}
	}
	return id, false
}

// check has the engine check peers and waits for all of them. What is not found
// by the end of ctx stays open.
func (n *Node) check(ctx context.Context, l *loop, ids []merge.InstanceID) (map[merge.InstanceID]fleetsync.Checked, error) {
	checked := map[merge.InstanceID]fleetsync.Checked{}
	found := make(chan fleetsync.Checked, len(ids)) // so that the engine never waits
	err := l.ask(ctx, func(e *fleetsync.Engine) {
		for _, id := range ids {
			e.Check(id, func(c fleetsync.Checked) { found <- c })
		}
	})
	for ended := ctx.Done(); err == nil && len(checked) < len(ids); {
		select {
		case c := <-found:
			checked[c.Peer] = c
		case <-ended:
			ended = nil
			err = n.endChecks(ctx, l, ids, checked)
		case <-n.done:
			return nil, ErrNotRunning
		}
	}
	return checked, err
}

// endChecks makes the checks tell what they have found so far.
func (n *Node) endChecks(ctx context.Context, l *loop, ids []merge.InstanceID, checked map[merge.InstanceID]fleetsync.Checked) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return l.ask(ctx, func(e *fleetsync.Engine) {
		for _, id := range ids {
			if _, isDone := checked[id]; !isDone {
				e.EndCheck(id)
			}
		}
	})
}
