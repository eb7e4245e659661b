package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// Node is one instance at work: its store, what its agents see of it, and,
// while Run runs, its part of the fleet. It is safe for concurrent use.
type Node struct {
	cfg  Config
	log  *slog.Logger
	lock *dirLock

	key   fleet.Identity
	store *store.Store
	// buildDigests ends the opening of the store while the node runs already.
	buildDigests func() error
	authority    *fleet.Authority
	admission    *admission
	replica      state.Replica
	commits      *commitQueue
	invitations  *invitations
	book         *book
	scores       *scores
	secrets      *secretCounts
	gater        *gater

	// judging is held while all that is here is judged by the statements.
	judging sync.Mutex

	ready chan struct{} // closed when the network is up

	mu      sync.Mutex // guards all following fields
	started bool
	net     *running // nil while Run does not run
	stop    context.CancelFunc
	closed  bool

	done      chan struct{} // closed when Run has ended
	closeOnce sync.Once
	closeErr  error
}

// New opens the instance in a data directory: it takes the directory's lock,
// opens the store and makes sure that both belong together. It begins no
// network; Run does. The caller closes the node. Errors: ErrConfig,
// ErrNotInitialised, ErrOpenDir, ErrInUse, ErrKeyFile, ErrForeignStore,
// ErrMemoryUsed, store.ErrCorrupt, store.ErrFormat.
func New(ctx context.Context, cfg Config) (*Node, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	cfg.Dir = dir
	if err := layout(dir).checkInstance(); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, log: cfg.logger(), commits: newCommitQueue(), scores: &scores{}, secrets: &secretCounts{},
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	if n.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(err, n.release())
	}
	return n, nil
}

// open reads everything that the instance consists of.
func (n *Node) open(ctx context.Context) error {
	var err error
	if n.key, err = readKey(layout(n.cfg.Dir).identityFile()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNotInitialised
		}
		return err
	}
	if err := checkStoreKind(&n.cfg); err != nil {
		return err
	}
	if n.store, err = openStore(&n.cfg, n.commits.push, func(task func() error) { n.buildDigests = task }); err != nil {
		return err
	}
	id, err := ownStore(&n.cfg, n.store, n.key.ID(), func(s *seed) error { return s.plant(ctx, n.store) })
	if err != nil {
		return err
	}
	n.authority = fleet.NewAuthority(id)
	if _, _, err := n.rootKey(); err != nil {
		return err
	}
	n.admission = &admission{authority: n.authority, changed: n.membersChanged}
	if err := fleetsync.LearnHeld(n.store, n.admission); err != nil {
		return fmt.Errorf("node: fleet statements: %w", err)
	}
	n.book = newBook(n.store, n.log)
	n.book.changed = n.addressesChanged
	n.invitations = &invitations{store: n.store, admission: n.admission, self: n.key.ID(), signerFor: n.signerFor}
	n.gater = &gater{authority: n.authority, scores: n.scores, inviting: n.invitations.inviting}
	n.replica, err = state.Open(n.store, state.Config{ //nolint:contextcheck // it writes one row at most, and only into a new store
		Name: string(n.cfg.StoreKind), Signer: signer{key: n.key, fleet: id}, Admit: n.admission.admitLocal,
		Gate: n.cfg.SecretsGate, OnSecret: n.secretFound,
	})
	if err != nil {
		return fmt.Errorf("node: open the state: %w", err)
	}
	return n.invitations.restore(ctx)
}

// signer is the instance as state wants it.
type signer struct {
	key   fleet.Identity
	fleet merge.FleetID
}

func (s signer) InstanceID() merge.InstanceID                { return s.key.ID() }
func (s signer) Fleet() merge.FleetID                        { return s.fleet }
func (s signer) Sign(message []byte) (sig []byte, err error) { return s.key.Sign(message) }

// signerFor returns who signs a grant of a role here: this instance where it
// is an admin, root where the root key lies.
func (n *Node) signerFor(role fleet.Role) (fleet.Signer, bool) {
	root, hasRoot, err := n.rootKey()
	if err != nil {
		n.log.Warn("root key not read", "err", err)
		hasRoot = false
	}
	if hasRoot && role == fleet.RoleAdmin {
		return root, true
	}
	if role != fleet.RoleMember {
		return nil, false
	}
	if m, ok := n.authority.Member(n.key.ID()); ok && m.Role == fleet.RoleAdmin && m.Ban == nil {
		return n.key, true
	}
	return root, hasRoot
}

// rootKey reads the fleet's root key, where it lies. It is read each time, so
// that a daemon has it in memory only while it signs, and commands may bring and
// take the file meanwhile. Errors: ErrKeyFile.
func (n *Node) rootKey() (root fleet.Identity, ok bool, err error) {
	return readRoot(layout(n.cfg.Dir), n.authority.Fleet())
}

// ID returns the instance.
func (n *Node) ID() merge.InstanceID { return n.key.ID() }

// Fleet returns the fleet that it belongs to.
func (n *Node) Fleet() merge.FleetID { return n.authority.Fleet() }

// Dir returns the absolute path of the data directory.
func (n *Node) Dir() string { return n.cfg.Dir }

// State returns what agents read and write, signed by this instance. Closing
// it is for Close.
func (n *Node) State() state.Replica { return n.replica }

// Store returns the store below State.
func (n *Node) Store() *store.Store { return n.store }

// Ready is closed once Run accepts connections and dials.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Addrs returns the addresses that this node can be dialled at, without its
// peer id. Errors: ErrNotRunning.
func (n *Node) Addrs() ([]string, error) {
	net, err := n.network()
	if err != nil {
		return nil, err
	}
	return addrTexts(net.host), nil
}

func addrTexts(h host.Host) []string {
	var texts []string
	for _, a := range h.Addrs() {
		texts = append(texts, a.String())
	}
	return cleanAddrs(texts)
}

// Invited is an invitation that was opened.
type Invited struct {
	// Ticket is the text to hand to the joiner: whoever has it may join.
	Ticket string
	// Name is the one that the joiner gets; empty leaves it to the joiner.
	Name string
	// Uses is how many may join by it.
	Uses int
	// Expires is when it is over.
	Expires time.Time
	// Addrs are the addresses in the ticket.
	Addrs []string
}

// Invite opens an invitation, whose ticket names the addresses of this node.
// Errors: ErrNotRunning, ErrDenied, ErrInvitations, ErrConfig when nobody can
// reach this node; fleet.ErrName, fleet.ErrMalformed for what cannot be
// offered.
func (n *Node) Invite(ctx context.Context, cfg fleet.InvitationConfig) (Invited, error) {
	addrs, err := n.Addrs()
	if err != nil {
		return Invited{}, err
	}
	if len(addrs) == 0 {
		return Invited{}, fmt.Errorf("%w: listen: nobody can reach this node: set an address, or invite on another", ErrConfig)
	}
	inv, err := n.invitations.add(ctx, cfg)
	if err != nil {
		return Invited{}, err
	}
	addrs = addrs[:min(len(addrs), ticketAddrsMax)]
	t, err := inv.Ticket(addrs, n.key.ID(), n.Fleet())
	if err != nil {
		return Invited{}, err
	}
	return Invited{Ticket: t.String(), Name: inv.Name, Uses: inv.Uses, Expires: inv.Expires, Addrs: addrs}, nil
}

// fault acts on what a peer did wrong: too much of it, and it is kept away for
// a while.
func (n *Node) fault(p peer.ID, err error) {
	n.log.Warn("peer broke the protocol", "peer", p.String(), "err", err)
	if !n.scores.strike(p, time.Now()) {
		return
	}
	n.log.Warn("peer is kept away", "peer", p.String(), "dur", banishedFor)
	if net, err := n.network(); err == nil {
		net.expel(p)
	}
}

// membersChanged is called when a fleet statement was learnt. Others may have
// told where a new member is before this node knew it.
func (n *Node) membersChanged() {
	if net, err := n.network(); err == nil {
		net.links.look()
		net.exchange.spread()
		net.dialer.look()
	}
}

// addressesChanged is called when the address of a member was learnt.
func (n *Node) addressesChanged() {
	if net, err := n.network(); err == nil {
		net.exchange.spread()
		net.dialer.look()
	}
}

// network returns the running part. Errors: ErrNotRunning.
func (n *Node) network() (*running, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.net == nil {
		return nil, ErrNotRunning
	}
	return n.net, nil
}
