package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Status is what a node knows of itself and its fleet.
type Status struct {
	ID    merge.InstanceID
	Name  string
	Fleet merge.FleetID
	// InSync says that every other member is connected, answers and was equal
	// when last compared, and that nothing has changed here since. A fleet of one is in
	// sync.
	InSync bool
	// Verdict says the same in a sentence, and when not, which member differs,
	// by how much, since when and why. Before it stands why nothing can be
	// written here, if so: a full disk, a clock that is wrong.
	Verdict string
	// Records counts the versions held in the sections that the fleet shares.
	Records int64
	// Root is the digest of those sections in hex: equal on nodes that hold the
	// same.
	Root string
	// Conflicts counts the versions that lost to a concurrent one.
	Conflicts int
	// Parked counts the versions that wait for authority or for their time.
	Parked int
	// ParkedFor says how many for which reason.
	ParkedFor ParkedCounts
	// WantedBlobs counts the contents that records refer to and that are still to be
	// fetched.
	WantedBlobs int
	// Held counts the records that the gate for secrets holds back on this machine.
	Held int
	// Addrs are the addresses that this node can be dialled at; none while it
	// does not run.
	Addrs []string
	// Members are those that belong to the fleet now, and this one, by name.
	Members  []Member
	Counters Counters
}

// Counters count since Run began.
type Counters struct {
	Sync fleetsync.Counters
	// GossipPublished counts messages that went out, GossipIgnored those that
	// came and held nothing new, GossipRejected those that broke the rules.
	GossipPublished, GossipIgnored, GossipRejected uint64
	// GossipDropped counts messages that found a full queue, here or on the way
	// to a peer: the feed brings what was in them.
	GossipDropped uint64
	// GossipRenewed counts connections that were made anew because a member that
	// gossips was in no topic.
	GossipRenewed uint64
	// SendsDropped counts protocol messages that found a full queue.
	SendsDropped uint64
}

// Status returns the state of the node. It may take two seconds; see Members.
// Errors: that of ctx, store.ErrCorrupt.
func (n *Node) Status(ctx context.Context) (Status, error) {
	members, err := n.Members(ctx)
	if err != nil {
		return Status{}, err
	}
	members = slices.DeleteFunc(members, func(m Member) bool { return m.IsGone() })
	st := Status{ID: n.ID(), Fleet: n.Fleet(), Members: members}
	st.Records, st.Root = n.digest()
	for _, m := range members {
		if m.State == MemberSelf {
			st.Name = m.Name
		}
	}
	u, err := n.unsettled()
	if err != nil {
		return Status{}, err
	}
	st.Conflicts, st.Parked, st.ParkedFor, st.WantedBlobs = u.conflicts, u.parked, u.parkedFor, u.wantedBlobs
	held, err := n.replica.Held(ctx)
	if err != nil {
		return Status{}, err
	}
	st.Held = len(held)
	u.tell(members)
	st.InSync, st.Verdict = verdict(members)
	if over := n.overHere(); over != "" {
		st.InSync, st.Verdict = false, over
	}
	if trouble := n.trouble(ctx); trouble != "" {
		st.Verdict = trouble + "; " + st.Verdict
	}
	net, err := n.network()
	if err != nil {
		return st, nil //nolint:nilerr // a node that does not run has a status too
	}
	st.Addrs = addrTexts(net.host)
	var peers []fleetsync.PeerState
	if st.Counters, peers, err = net.counters(ctx); errors.Is(err, ErrNotRunning) {
		return st, nil // it has just ended
	} else if err != nil {
		return st, err
	}
	if wrong := ownClock(peers); wrong != "" {
		st.Verdict = wrong + "; " + st.Verdict
	}
	return st, nil
}

// trouble says why nothing can be written here; empty when it can.
func (n *Node) trouble(ctx context.Context) string {
	for _, err := range []error{n.checkWrites(ctx), n.checkClock()} {
		if err != nil {
			return strings.TrimPrefix(err.Error(), "store: ")
		}
	}
	return ""
}

// Root returns the digest of everything that this node shares, in hex: equal on
// nodes that share and hold the same.
func (n *Node) Root() string {
	_, root := n.digest()
	return root
}

// digest counts and digests the shared sections that hold something, all read
// as one.
func (n *Node) digest() (records int64, root string) {
	sharing := n.cfg.sharing()
	shared := slices.DeleteFunc(n.store.Sections(), func(s store.SectionState) bool {
		return s.Count == 0 || !sharing.Shares(s.Section)
	})
	slices.SortFunc(shared, func(a, b store.SectionState) int { return strings.Compare(a.Section.ID(), b.Section.ID()) })
	h := sha256.New()
	for _, s := range shared {
		sum := s.Sum.Bytes()
		_, _ = fmt.Fprintf(h, "%s\x00%d\x00", s.Section.ID(), s.Count) // a hash takes everything
		h.Write(sum[:])
		records += s.Count
	}
	return records, hex.EncodeToString(h.Sum(nil))
}

func (r *running) counters(ctx context.Context) (c Counters, peers []fleetsync.PeerState, err error) {
	err = r.loop.ask(ctx, func(e *fleetsync.Engine) { c.Sync, peers = e.Counters(), e.Peers() })
	c.SendsDropped = r.links.dropped.Load()
	c.GossipDropped = r.loop.commits.drops()
	if g := r.gossip; g != nil {
		c.GossipPublished, c.GossipIgnored, c.GossipRejected = g.counts.published.Load(), g.counts.ignored.Load(), g.counts.rejected.Load()
		c.GossipRenewed = g.counts.renewed.Load()
		c.GossipDropped += g.counts.queueFull.Load() + g.counts.undelivered.Load() + g.counts.unread.Load() +
			g.counts.throttled.Load() + g.counts.tooLarge.Load()
	}
	return c, peers, err
}

// verdictNamesMax bounds how many members a verdict names.
const verdictNamesMax = 3

// verdict says whether the fleet is in sync and, when not, who is the matter.
func verdict(members []Member) (inSync bool, text string) {
	others, equal := 0, 0
	var reasons []string
	for _, m := range members {
		if m.IsGone() {
			continue
		}
		switch m.State {
		case MemberSelf:
			continue
		case MemberInSync:
			equal++
		default:
			reasons = append(reasons, m.describe())
		}
		others++
	}
	if others == 0 {
		return true, "in sync: this node is the whole fleet"
	}
	text = fmt.Sprintf("in sync with %d of %d members", equal, others)
	if equal == others {
		return true, text
	}
	more := ""
	if len(reasons) > verdictNamesMax {
		more = fmt.Sprintf("; and %d more", len(reasons)-verdictNamesMax)
		reasons = reasons[:verdictNamesMax]
	}
	return false, text + ": " + strings.Join(reasons, "; ") + more
}

// describe says what is the matter with a member.
func (m *Member) describe() string {
	var b strings.Builder
	b.WriteString(m.Name)
	switch m.State {
	case MemberOffline:
		b.WriteString(" is offline")
	case MemberNeverSeen:
		b.WriteString(" was never seen")
	case MemberIncompatible:
		b.WriteString(" is incompatible")
	case MemberRevoked, MemberSucceeded, MemberExpired:
		b.WriteString(" is a member no more: " + string(m.State))
	case MemberBehind:
		fmt.Fprintf(&b, " is behind by %d", m.Lacks)
	case MemberAhead:
		fmt.Fprintf(&b, " is ahead by up to %d", m.Behind)
	case MemberSyncing, MemberInSync, MemberSelf:
		if m.IsTold {
			b.WriteString(" was told of the last change here")
			break
		}
		b.WriteString(" is syncing")
		switch p := m.Progress; {
		case p != nil:
			fmt.Fprintf(&b, ", %d of %d of %s fetched", p.Received, p.Expected, sectionName(p.Section))
		case m.Behind > 0:
			fmt.Fprintf(&b, ", up to %d to fetch", m.Behind)
		}
	}
	if !m.Since.IsZero() {
		b.WriteString(" since " + m.Since.UTC().Format(time.RFC3339))
	}
	if m.Why != "" {
		b.WriteString(" (" + m.Why + ")")
	}
	return b.String()
}
