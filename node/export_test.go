package node

import (
	"context"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// NewHost is the host of a node without a HostFactory.
var NewHost HostFactory = newHost

// StrikesMax is how many faults make a peer unwelcome.
const StrikesMax = strikesMax

// SocketPathMax is the longest path of a socket.
const SocketPathMax = socketPathMax

// ConfigBytesMax bounds config.yaml.
const ConfigBytesMax = configBytesMax

// InvitationsMax bounds the invitations that are open.
const InvitationsMax = invitationsMax

// Verdict is what Status says of members.
func Verdict(members []Member) (bool, string) { return verdict(members) }

// ReadKey reads a key file.
func ReadKey(path string) (fleet.Identity, error) { return readKey(path) }

// CleanAddrs is what the address book keeps of addresses.
func CleanAddrs(addrs []string) []string { return cleanAddrs(addrs) }

// Signatures is the pool that checks signatures.
type Signatures = signatures

// NewSignatures returns a pool over a verifier.
func NewSignatures(v fleet.Verifier) *Signatures { return newSignatures(v) }

// Check waits for the verdicts on records.
func (s *signatures) Check(ctx context.Context, records []*merge.Record) []bool {
	return s.check(ctx, records)
}

// Unwelcome reports whether a peer gets no protocol of members.
func (n *Node) Unwelcome(p peer.ID) bool { return !n.gater.welcome(p) }
