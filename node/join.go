package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// JoinProtocol is the protocol by which an instance becomes a member: one
// fleet.JoinRequest, one fleet.JoinReply. It is the only one that answers
// strangers.
const JoinProtocol protocol.ID = "/fleet/join/1.0.0"

var (
	// ErrUnreachable is returned by Join when the inviter could not be reached.
	ErrUnreachable = errors.New("node: inviter not reached")
	// ErrDenied is returned for what this instance has no authority to do.
	ErrDenied = errors.New("node: denied")
)

// joinTries is how often Join asks again when the answer is lost; the inviter
// gives the same one.
const joinTries = 3

// JoinConfig says which fleet to join.
type JoinConfig struct {
	// Dir is where the instance will live; it must not hold anything yet.
	Dir string
	// Ticket is the text that Invite returned.
	Ticket string
	// Name is what the fleet shall call this instance; empty takes the name
	// that the ticket fixes.
	Name string
	// Listen and StoreKind are as in InitConfig.
	Listen    []string
	StoreKind StoreKind
	// HostFactory makes the host that dials; nil is a real one.
	HostFactory HostFactory
	// Now is as in Config.
	Now func() time.Time
}

// Join makes a new instance and lets the inviter of a ticket take it into its
// fleet. Nothing is left when it fails. Errors: ErrAlreadyInitialised,
// ErrInUse, ErrConfig, ErrUnreachable; of package fleet: ErrName,
// ErrTicketSyntax and the other errors of reading one, ErrTicketUnknown,
// ErrTicketUsed, ErrTicketExpired, ErrProof, ErrNameTaken, ErrNameFixed,
// ErrClock, ErrRefused, ErrChain.
func Join(ctx context.Context, cfg JoinConfig) (Instance, error) {
	ticket, err := fleet.ParseTicket(cfg.Ticket)
	if err != nil {
		return Instance{}, fmt.Errorf("%w: copy the whole text that fleetd invite printed", err)
	}
	if cfg.Name != "" {
		if err := fleet.ValidateName(cfg.Name); err != nil {
			return Instance{}, err
		}
	}
	s, err := stage(cfg.Dir, rand.Reader)
	if err != nil {
		return Instance{}, err
	}
	j := joining{key: s.key, ticket: ticket, name: cfg.Name, now: (&Config{Now: cfg.Now}).clock()}
	reply, err := j.askInviter(ctx, cfg.HostFactory)
	if now := j.now(); errors.Is(err, ErrUnreachable) && now.After(ticket.Expires) {
		// Once no invitation is open, the inviter lets no stranger in to tell. Only
		// its clock decides, and this one may be wrong.
		err = fmt.Errorf("%w at %s, if this machine's clock is right, which says %s: %w", fleet.ErrTicketExpired,
			ticket.Expires.Format(time.RFC3339), now.UTC().Format(time.RFC3339), err)
	}
	if err == nil {
		err = fleet.CheckStamps(reply.Statements, j.now())
	}
	if err != nil {
		s.discard()
		return Instance{}, joinAdvice(err)
	}
	made := newInstance{
		staging: s, name: reply.Name, fleet: ticket.Fleet, statements: reply.Statements, listen: cfg.Listen, kind: cfg.StoreKind,
		peers: []bookEntry{{Member: ticket.Inviter, Addrs: cleanAddrs(ticket.Addrs), Told: time.Now().UnixMilli()}}, now: cfg.Now,
	}
	instance, err := made.finish(ctx)
	instance.ClockBehind = j.behind
	return instance, err
}

// joinAdvice adds to an error what to do next.
func joinAdvice(err error) error {
	advice := ""
	switch {
	case errors.Is(err, fleet.ErrClock):
		advice = "look at both clocks and set the one that is wrong; the ticket is still good"
	case errors.Is(err, fleet.ErrBanned):
		advice = "its key was revoked for good: initialise a new directory, which makes a new key, and join with that"
	case errors.Is(err, fleet.ErrTicketUnknown), errors.Is(err, fleet.ErrProof):
		advice = "ask for a new ticket: the inviter does not know this one"
	case errors.Is(err, fleet.ErrTicketUsed):
		advice = "a ticket is for one instance: ask for another with fleetd invite"
	case errors.Is(err, fleet.ErrTicketExpired):
		advice = "ask for another with fleetd invite, or a longer one with --ttl"
	case errors.Is(err, fleet.ErrNameTaken):
		advice = "choose another with --name"
	case errors.Is(err, fleet.ErrNameFixed):
		advice = "leave --name out, or ask for a ticket without a name"
	case errors.Is(err, fleet.ErrName):
		advice = "give one with --name"
	case errors.Is(err, fleet.ErrChain):
		advice = "the ticket and the answer do not belong to one fleet: ask for a new ticket"
	case errors.Is(err, ErrUnreachable):
		advice = "is fleetd running there, is the ticket still open, and can this machine reach one of its addresses"
	default:
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// serveJoin answers one request of a stranger.
func (n *Node) serveJoin(ctx context.Context, s network.Stream) {
	ctx, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	request, err := readBounded(s, fleet.JoinRequestBytesMax)
	if err != nil {
		_ = s.Reset()
		return
	}
	reply := n.answerJoin(ctx, request, s.Conn().RemotePeer())
	b, err := reply.Marshal()
	if err == nil {
		_, err = s.Write(b)
	}
	if err != nil {
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

func (n *Node) answerJoin(ctx context.Context, request []byte, joiner peer.ID) fleet.JoinReply {
	id := merge.InstanceID(joiner)
	req, err := fleet.DecodeJoinRequest(request)
	var reply fleet.JoinReply
	if err == nil {
		reply, err = n.invitations.redeem(ctx, req, id)
	}
	if err != nil {
		n.log.Info("join refused", "peer", id.String(), "err", err)
		if errors.Is(err, fleet.ErrProof) || errors.Is(err, fleet.ErrMalformed) {
			n.fault(joiner, err)
		}
		reply = fleet.Refuse(err)
		reply.Time = n.invitations.now()
		return reply
	}
	reply.Time = n.invitations.now()
	n.log.Info("member joined", "peer", id.String(), "name", reply.Name)
	return reply
}
