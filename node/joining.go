package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/fleet"
)

// joining is one attempt to become a member.
type joining struct {
	key    fleet.Identity
	ticket fleet.Ticket
	name   string
	now    func() time.Time
	// behind is how far the clock is behind the inviter's, by its reply.
	behind time.Duration
}

// askInviter runs the joiner's side of the protocol and verifies the answer
// from nothing but the ticket.
func (j *joining) askInviter(ctx context.Context, factory HostFactory) (fleet.JoinReply, error) {
	inviter := peer.AddrInfo{ID: peerOf(j.ticket.Inviter)}
	for _, text := range j.ticket.Addrs {
		if addr, err := multiaddr.NewMultiaddr(text); err == nil {
			inviter.Addrs = append(inviter.Addrs, addr)
		}
	}
	if len(inviter.Addrs) == 0 {
		return fleet.JoinReply{}, fmt.Errorf("%w: the ticket names no address", ErrUnreachable)
	}
	if factory == nil {
		factory = newHost
	}
	h, err := factory(HostParams{Key: j.key.PrivKey(), AnyClock: true})
	if err != nil {
		return fleet.JoinReply{}, err
	}
	defer h.Close() //nolint:errcheck // it held one conversation
	for try := 1; ; try++ {
		reply, err := j.askOnce(ctx, h, j.route(h, inviter, try))
		if err == nil {
			_, err = fleet.VerifyChain(reply, j.ticket, j.key.ID(), j.name)
		}
		if err == nil || !errors.Is(err, ErrUnreachable) || try == joinTries || !sleep(ctx, jitter(time.Second)) {
			return reply, err
		}
	}
}

// route makes a host dial anew, and returns by which addresses. QUIC proves who
// is there by certificates that hold from some time on, and a clock that is an
// hour wrong refuses them; what goes over TCP proves it without, so the second
// try goes there alone, and the inviter can tell whose clock it is.
func (j *joining) route(h host.Host, inviter peer.AddrInfo, try int) peer.AddrInfo {
	if try == 1 {
		return inviter
	}
	_ = h.Network().ClosePeer(inviter.ID)
	forgetBackoff(h, inviter.ID)
	h.Peerstore().ClearAddrs(inviter.ID)
	if try != 2 {
		return inviter
	}
	overTCP := peer.AddrInfo{ID: inviter.ID}
	for _, addr := range inviter.Addrs {
		if _, err := addr.ValueForProtocol(multiaddr.P_TCP); err == nil {
			overTCP.Addrs = append(overTCP.Addrs, addr)
		}
	}
	if len(overTCP.Addrs) == 0 {
		return inviter
	}
	return overTCP
}

// askOnce sends the request over one connection. A transport that fails is
// ErrUnreachable.
func (j *joining) askOnce(ctx context.Context, h host.Host, inviter peer.AddrInfo) (fleet.JoinReply, error) {
	ctx, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	if err := h.Connect(ctx, inviter); err != nil {
		return fleet.JoinReply{}, unreachable(err)
	}
	s, err := h.NewStream(ctx, inviter.ID, JoinProtocol)
	if err != nil {
		return fleet.JoinReply{}, unreachable(err)
	}
	defer s.Reset() //nolint:errcheck // everything was read by then
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
	defer stop()
	req := fleet.NewJoinRequest(j.ticket, j.key.ID(), j.name)
	req.Time = j.now()
	b, err := req.Marshal()
	if err != nil {
		return fleet.JoinReply{}, err
	}
	if _, err = s.Write(b); err == nil {
		err = s.CloseWrite()
	}
	if err == nil {
		b, err = readBounded(s, fleet.JoinReplyBytesMax)
	}
	if err != nil {
		return fleet.JoinReply{}, unreachable(err)
	}
	reply, err := fleet.DecodeJoinReply(b)
	if err != nil || reply.Time.IsZero() {
		return reply, err
	}
	// It was told somewhere between the question and now.
	asked := req.Time.Add(j.now().Sub(req.Time) / 2)
	j.behind = reply.Time.Sub(asked)
	if reply.Err() == nil {
		err = fleet.CheckClocks(asked, reply.Time)
	}
	return reply, err
}

// unreachable is ErrUnreachable, with what a clock has to do with it.
func unreachable(err error) error {
	if why := clockTrouble(err); why != "" {
		return fmt.Errorf("%w: %w: %s", ErrUnreachable, fleet.ErrClock, why)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
