package node

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// ErrConfig is returned for a configuration that cannot work; the text names
// the key and says what to write instead.
var ErrConfig = errors.New("node: configuration")

// StoreKind names the engine below the store.
type StoreKind string

const (
	// StoreBadger keeps everything on the disk, in DIR/store.
	StoreBadger StoreKind = "badger"
	// StoreMemory keeps everything in memory and is gone with the process. An
	// instance can run on it once: see ErrMemoryUsed.
	StoreMemory StoreKind = "memory"
)

// Config is what a node needs to know. Take DefaultConfig or ReadConfig and
// change fields. The name in parentheses is the key in config.yaml, on the
// environment (FLEETD_ and the key in capitals) and among flags.
type Config struct {
	// Dir is the data directory that Init or Join made. Required.
	Dir string
	// Listen (listen) are the multiaddresses to accept connections on. Default
	// none: the node only dials. Init and Join choose one port for TCP and QUIC
	// on all IPv4 interfaces and write it to config.yaml. Port 0 takes a new
	// port at each start.
	Listen []string
	// MDNS (discovery.mdns) finds members on the local network by multicast.
	// Default false. A system that refuses it costs a warning.
	MDNS bool
	// Gossip (gossip) spreads each write at once. Default true. Without it
	// members learn of it by the next heartbeat.
	Gossip bool
	// HeartbeatEvery (heartbeat) is the interval between comparisons with
	// partners, 100ms to 1h. Default 10s.
	HeartbeatEvery time.Duration
	// ReconnectMin (reconnect.min) and ReconnectMax (reconnect.max) bound the
	// pause before a member that could not be reached is dialled again; it
	// doubles from one to the other. 10ms to 1h. Default 500ms and 30s.
	ReconnectMin time.Duration
	ReconnectMax time.Duration
	// PeersMax (peers.max) is how many members the node dials, 1 to 512;
	// others may still dial it. Default 48: a fleet up to that size is fully
	// connected.
	PeersMax int
	// ShareSessions (share.sessions) shares the sessions in scopes without an
	// instance, with the members where it is true too. Default false: they stay
	// on this machine. Members where it differs hold different records, and so
	// have different roots; they are in sync in what both share. What was shared
	// while it was true is not taken back.
	ShareSessions bool
	// ShareRules (share.rules) say of parts of what there is whether they stay on
	// this machine, before ShareSessions does: the first rule that matches a
	// section decides. Their text form is that of fleetsync.ParseSharingRule.
	// Default none.
	ShareRules []fleetsync.SharingRule
	// SecretsGate (secrets.gate) says what becomes of what is written here and holds a
	// key or a token: it stays on this machine until somebody releases it (hold), goes
	// out with a warning (warn), or nobody looks (off). Default hold.
	SecretsGate state.GateMode
	// APIListen (api.listen) is where the local API listens besides its socket: a
	// loopback address with a port, such as 127.0.0.1:7411. Requests there carry the
	// token of the data directory, see APIToken. Default empty: nowhere.
	APIListen string
	// MCPStart (mcp.start) lets fleetd mcp start the daemon when none runs. Default
	// false. The node itself has no use for it.
	MCPStart bool
	// StoreKind (store) is the engine below the store. Default badger.
	StoreKind StoreKind

	// Engine, when not nil, is the engine to use instead of what StoreKind
	// names, for embedding and tests. The node closes it.
	Engine store.Engine
	// Logger receives what the node has to say. Default nil: nothing.
	Logger *slog.Logger
	// HostFactory makes the network host. Default nil: libp2p over TCP and
	// QUIC. Tests pass simulated networks.
	HostFactory HostFactory
	// Now is the clock that stamps what is written, for tests of wrong ones.
	// Default nil: that of the system.
	Now func() time.Time
}

// HostParams is what a host must be made with.
type HostParams struct {
	// Key is the identity of the host.
	Key crypto.PrivKey
	// Listen are multiaddresses; empty for a host that only dials.
	Listen []string
	// Gater decides who may connect; nil for everybody.
	Gater connmgr.ConnectionGater
	// AnyClock prefers, over TCP, what proves who is there without certificates
	// that hold for a time, for a machine whose clock may be wrong.
	AnyClock bool
}

// HostFactory makes a host that listens already. Its Close ends every
// goroutine that it began.
type HostFactory func(HostParams) (host.Host, error)

// DefaultConfig returns the configuration of a node for which nobody chose
// anything. Dir and Listen are empty.
func DefaultConfig() Config {
	return Config{
		Gossip:         true,
		HeartbeatEvery: 10 * time.Second,
		ReconnectMin:   500 * time.Millisecond,
		ReconnectMax:   30 * time.Second,
		PeersMax:       48,
		SecretsGate:    state.GateHold,
		StoreKind:      StoreBadger,
	}
}

// Validate checks every field. Errors: ErrConfig, naming the key.
func (c *Config) Validate() error {
	if c.Dir == "" {
		return fmt.Errorf("%w: dir: no data directory", ErrConfig)
	}
	for _, addr := range c.Listen {
		if err := validateListen(addr); err != nil {
			return err
		}
	}
	if err := validateDuration("heartbeat", c.HeartbeatEvery, 100*time.Millisecond); err != nil {
		return err
	}
	if err := validateDuration("reconnect.min", c.ReconnectMin, 10*time.Millisecond); err != nil {
		return err
	}
	if err := validateDuration("reconnect.max", c.ReconnectMax, c.ReconnectMin); err != nil {
		return err
	}
	if c.PeersMax < 1 || c.PeersMax > 512 {
		return fmt.Errorf("%w: peers.max: %d, want 1 to 512", ErrConfig, c.PeersMax)
	}
	if _, err := c.APIAddr(); err != nil {
		return err
	}
	switch c.SecretsGate {
	case state.GateHold, state.GateWarn, state.GateOff:
	default:
		return fmt.Errorf("%w: secrets.gate: %q, want hold, warn or off", ErrConfig, c.SecretsGate)
	}
	switch c.StoreKind {
	case StoreBadger, StoreMemory:
		return nil
	}
	return fmt.Errorf("%w: store: %q, want badger or memory", ErrConfig, c.StoreKind)
}

// APIAddr returns APIListen as an address; the zero AddrPort for nowhere. Errors: ErrConfig.
func (c *Config) APIAddr() (netip.AddrPort, error) {
	if c.APIListen == "" {
		return netip.AddrPort{}, nil
	}
	addr, err := netip.ParseAddrPort(c.APIListen)
	if err != nil || !addr.Addr().IsLoopback() {
		return netip.AddrPort{}, fmt.Errorf("%w: api.listen: %q is not a loopback address with a port, such as 127.0.0.1:7411; other machines must not reach it", ErrConfig, c.APIListen)
	}
	return addr, nil
}

func validateDuration(key string, d, least time.Duration) error {
	if d < least || d > time.Hour {
		return fmt.Errorf("%w: %s: %s, want %s to 1h", ErrConfig, key, d, least)
	}
	return nil
}

func validateListen(addr string) error {
	parsed, err := multiaddr.NewMultiaddr(addr)
	if err != nil {
		return fmt.Errorf("%w: listen: %q is not a multiaddress such as /ip4/0.0.0.0/tcp/4001: %w", ErrConfig, addr, err)
	}
	_, errTCP := parsed.ValueForProtocol(multiaddr.P_TCP)
	_, errQUIC := parsed.ValueForProtocol(multiaddr.P_QUIC_V1)
	if errTCP != nil && errQUIC != nil {
		return fmt.Errorf("%w: listen: %q is neither TCP nor QUIC", ErrConfig, addr)
	}
	return nil
}

// sharing is what the node offers to its fleet, and takes from it.
func (c *Config) sharing() *fleetsync.Sharing {
	return &fleetsync.Sharing{Sessions: c.ShareSessions, Rules: c.ShareRules}
}

func (c *Config) clock() func() time.Time {
	if c.Now == nil {
		return time.Now
	}
	return c.Now
}

func (c *Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
