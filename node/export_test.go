package node

import (
	"context"
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
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

// LearnStatement takes a statement into account that is not stored.
func (n *Node) LearnStatement(rec *merge.Record) (changed bool) { return n.admission.Learn(rec) }

// AnswerJoin is what a joiner is told.
func (n *Node) AnswerJoin(ctx context.Context, request []byte, joiner merge.InstanceID) fleet.JoinReply {
	return n.answerJoin(ctx, request, peer.ID(joiner))
}

// Connected reports whether a node that runs has a connection with a peer.
func (n *Node) Connected(p peer.ID) bool {
	net, err := n.network()
	return err == nil && len(net.host.Network().ConnsToPeer(p)) > 0
}

// ParseConfig applies the text of a configuration file.
func (c *Config) ParseConfig(text []byte) error { return c.parse(text) }

// RenderConfig returns the text of a new configuration file.
func (c *Config) RenderConfig() []byte { return c.render() }

// DecodeAddresses returns the addresses of a message of PeersProtocol that
// would be kept.
func DecodeAddresses(b []byte) ([]string, error) {
	var in addresses
	if err := merge.Unmarshal(b, &in); err != nil {
		return nil, err
	}
	var kept []string
	for _, e := range in.Entries {
		kept = append(kept, cleanAddrs(e.Addrs)...)
	}
	return kept, nil
}

// EncodeAddresses returns a message of PeersProtocol.
func EncodeAddresses(member merge.InstanceID, addrs []string) ([]byte, error) {
	return merge.Marshal(addresses{Entries: []bookEntry{{Member: member, Addrs: addrs, Told: 1}}})
}

// ClockTrouble is what Members says of a connection that a clock prevents.
func ClockTrouble(err error) string { return clockTrouble(err) }

// Hears reports whether a peer is in a gossip topic of a node that runs.
func (n *Node) Hears(p peer.ID) bool {
	net, err := n.network()
	return err == nil && net.gossip.hears(p)
}

// Deafness says whose connections are to be made anew.
type Deafness = deafness

// Look is what the watch does with who is deaf.
func (d *deafness) Look(deaf []peer.ID, now time.Time) []peer.ID { return d.look(deaf, now) }

// AskAndLeave asks something of a loop that takes it after the caller has left.
func AskAndLeave(in func()) error {
	l := &loop{inputs: make(chan input, 1)}
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- l.ask(ctx, func(*fleetsync.Engine) { in() }) }()
	late := <-l.inputs
	leave()
	err := <-left
	late(nil)
	return err
}

// OwnClock is what Status says of this machine's clock.
func OwnClock(peers []fleetsync.PeerState) string { return ownClock(peers) }

// AskEnded asks a loop that has ended, with room for the question and without.
func AskEnded(ctx context.Context) error {
	l := &loop{inputs: make(chan input, 1), ended: make(chan struct{})}
	close(l.ended)
	if err := l.ask(ctx, func(*fleetsync.Engine) {}); !errors.Is(err, ErrNotRunning) {
		return err
	}
	return l.ask(ctx, func(*fleetsync.Engine) {})
}
