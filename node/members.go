package node

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// MemberState is how a member stands to this node.
type MemberState string

// The states.
const (
	// MemberSelf is this node.
	MemberSelf MemberState = "self"
	// MemberInSync: connected, and equal when last compared.
	MemberInSync MemberState = "in sync"
	// MemberSyncing: connected; an exchange is in progress, or nothing was
	// compared yet.
	MemberSyncing MemberState = "syncing"
	// MemberBehind: connected; it lacks versions that this node holds.
	MemberBehind MemberState = "behind"
	// MemberAhead: connected; it holds versions that this node lacks.
	MemberAhead MemberState = "ahead"
	// MemberOffline: not connected, or connected and silent: Why tells.
	MemberOffline MemberState = "offline"
	// MemberIncompatible: connected, but nothing can be exchanged.
	MemberIncompatible MemberState = "incompatible"
	// MemberNeverSeen: this node was never connected with it.
	MemberNeverSeen MemberState = "never seen"
	// MemberRevoked, MemberSucceeded and MemberExpired: it belongs to the fleet no
	// more, since it was banned, another key took its place, or its grants are
	// over. Nothing is exchanged with it, and nobody waits for it.
	MemberRevoked   MemberState = "revoked"
	MemberSucceeded MemberState = "succeeded"
	MemberExpired   MemberState = "expired"
)

// Member is an instance of the fleet as this node sees it.
type Member struct {
	ID    merge.InstanceID
	Name  string
	Role  fleet.Role
	State MemberState
	// IsTold says of a member that is syncing that it was in sync, and was told of
	// what was written here less than a heartbeat ago: it has just not answered
	// since.
	IsTold bool
	// Behind counts versions of the member that this node is known to lack: an
	// upper bound. Lacks counts those of this node that the member lacks.
	Behind, Lacks uint64
	// Since is when it was first not equal, or last seen; zero when unknown, or
	// in sync.
	Since time.Time
	// Why says more of a state, such as why it cannot be reached, or whose clock
	// is wrong; may be empty.
	Why string
	// Progress is how far fetching from it has come; nil when nothing is fetched.
	Progress *fleetsync.Progress
	// Addrs are where the member is said to be; of this node, where it is.
	Addrs []string
	// Via is the address at the other end of the connection; empty when there
	// is none.
	Via string
	Rights
}

// IsGone reports whether the member belongs to the fleet no more.
func (m *Member) IsGone() bool {
	return m.State == MemberRevoked || m.State == MemberSucceeded || m.State == MemberExpired
}

// Members returns all members, this one included, by name, those that are gone
// too. Connected ones that
// have not been heard of just now are asked whether they are there, and waited
// for up to two seconds. Errors: that of ctx.
func (n *Node) Members(ctx context.Context) ([]Member, error) {
	net, err := n.network()
	if err != nil {
		return n.members(nil, nil, nil), nil //nolint:nilerr // a node that does not run has members too
	}
	peers, silent, err := net.loop.survey(ctx)
	if errors.Is(err, ErrNotRunning) { // it has just ended
		return n.members(nil, nil, nil), nil
	}
	if err != nil {
		return nil, err
	}
	return n.members(net, peers, silent), nil
}

// members joins what the authority, the engine, the links and the book know;
// net is nil while the node does not run.
func (n *Node) members(net *running, peers []fleetsync.PeerState, silent map[merge.InstanceID]bool) []Member {
	states := map[merge.InstanceID]fleetsync.PeerState{}
	for _, p := range peers {
		states[p.ID] = p
	}
	var incompatible map[peer.ID]string
	if net != nil {
		incompatible = net.links.incompatible()
	}
	all, bans := n.authority.Members(), n.authority.Bans()
	members := make([]Member, 0, len(all))
	for _, m := range all {
		e := n.book.entry(m.ID)
		view := Member{ID: m.ID, Name: m.Name, Role: m.Role, Addrs: e.Addrs, Rights: n.rightsOf(&m, bans)}
		state, linked := states[m.ID]
		switch {
		case m.ID == n.ID():
			view.State = MemberSelf
		case !n.isActive(&m):
			view.State = stateOfGone(&m)
			members = append(members, view)
			continue
		case linked:
			view.compare(state, silent[m.ID])
			if !silent[m.ID] {
				view.explain(&state)
			}
			view.because(skewOf(&state, n.store.Clock()))
		default:
			view.absent(e, net)
		}
		if why := incompatible[peerOf(m.ID)]; why != "" && view.State != MemberInSync && !silent[m.ID] {
			view.State, view.Why = MemberIncompatible, why
		}
		if net != nil {
			view.locate(net.host)
		}
		members = append(members, view)
	}
	return members
}

// stateOfGone says why a member belongs to the fleet no more.
func stateOfGone(m *fleet.Member) MemberState {
	switch {
	case m.Ban != nil:
		return MemberRevoked
	case m.Successor != "":
		return MemberSucceeded
	}
	return MemberExpired
}

// locate fills in where a member is, as the network knows.
func (m *Member) locate(h host.Host) {
	if m.State == MemberSelf {
		m.Addrs = addrTexts(h)
		return
	}
	if conns := h.Network().ConnsToPeer(peerOf(m.ID)); len(conns) > 0 {
		m.Via = conns[0].RemoteMultiaddr().String()
	}
}

// compare fills in the state of a member that is connected. What a silent one
// held when it was last heard says nothing of now.
func (m *Member) compare(s fleetsync.PeerState, silent bool) {
	m.Behind, m.Lacks, m.Since = s.Behind, s.Lacks, s.Since
	switch {
	case silent:
		m.State, m.Since, m.Why = MemberOffline, s.HeardAt, "connected, but it does not answer"
	case !s.Greeted:
		m.State, m.Why = MemberSyncing, "it has not answered yet"
	case s.InSync:
		m.State = MemberInSync
	case s.Pulling:
		m.State = MemberSyncing
	case s.IsTold:
		// It may well have it by now: that it lacks something is not known.
		m.State, m.IsTold, m.Behind, m.Lacks = MemberSyncing, true, 0, 0
	case s.Since.IsZero():
		// It may well have what was written here since.
		m.State, m.Why = MemberSyncing, "not compared since the last change here"
	case s.Behind > 0:
		m.State = MemberAhead
	case s.Lacks > 0:
		m.State = MemberBehind
	default:
		m.State = MemberSyncing
	}
}

// because adds to why.
func (m *Member) because(why string) {
	switch {
	case why == "":
	case m.Why == "":
		m.Why = why
	default:
		m.Why += ", and " + why
	}
}

// absent fills in the state of a member that nothing is exchanged with.
func (m *Member) absent(e bookEntry, net *running) {
	m.State = MemberOffline
	if e.Seen == 0 {
		m.State = MemberNeverSeen
	} else {
		m.Since = time.UnixMilli(e.Seen)
	}
	if net == nil {
		m.Why = "this node does not run"
		return
	}
	if net.host.Network().Connectedness(peerOf(m.ID)) == network.Connected {
		m.State, m.Since = MemberSyncing, time.Time{}
		m.Why = "the connection is new"
		return
	}
	if err := net.dialer.failure(m.ID); err != nil {
		m.Why = "not reached"
		m.because(clockTrouble(err))
		if errors.Is(err, errNoAddress) {
			m.Why = err.Error()
		}
	}
}

// Probe is the outcome of comparing with every other member now.
type Probe struct {
	// Root is this node's digest; see Status.Root.
	Root string
	// Members are the other members, by name.
	Members []Answer
}

// Answer is what one member said.
type Answer struct {
	ID   merge.InstanceID
	Name string
	// Answered says that it replied in time.
	Answered bool
	// Equal says that it holds the same as this node.
	Equal bool
	// Why says why it did not answer, or is not equal.
	Why string
}

// Converged reports whether at least one other member answered and all that
// answered are equal; a fleet of one has converged.
func (p *Probe) Converged() bool {
	answered := 0
	for _, a := range p.Members {
		if a.Answered {
			answered++
			if !a.Equal {
				return false
			}
		}
	}
	return answered > 0 || len(p.Members) == 0
}

// Probe compares with every connected member and waits for the answers as long
// as ctx allows. Members that do not answer are no error. Errors:
// ErrNotRunning.
func (n *Node) Probe(ctx context.Context) (Probe, error) {
	net, err := n.network()
	if err != nil {
		return Probe{}, err
	}
	states, heard, err := net.loop.probe(ctx, nil)
	if err != nil {
		return Probe{}, err
	}
	connected := map[merge.InstanceID]bool{}
	for _, s := range states {
		connected[s.ID] = true
	}
	out := Probe{Root: n.Root()}
	for _, m := range n.members(net, states, nil) {
		if m.State == MemberSelf || m.IsGone() {
			continue
		}
		a := Answer{ID: m.ID, Name: m.Name, Answered: heard[m.ID]}
		a.Equal = a.Answered && m.State == MemberInSync
		switch {
		case a.Equal:
		case connected[m.ID] && !a.Answered:
			a.Why = "no answer from " + m.Name
		default:
			a.Why = m.describe()
		}
		out.Members = append(out.Members, a)
	}
	return out, nil
}
