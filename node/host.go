package node

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/gologshim"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
)

// SetNetworkLogs sends the logs of the network libraries of this process to a
// handler. It is for a program's main function, once, before anything else.
func SetNetworkLogs(h slog.Handler) { gologshim.SetDefaultHandler(h) }

// newHost is the HostFactory of a node on a real network: TCP with TLS, or
// Noise where the other side has no TLS, and QUIC. There is no relay, DHT, NAT
// service or address discovery: members are reached at the addresses that they
// state.
func newHost(p HostParams) (host.Host, error) {
	if err := checkListen(p.Listen); err != nil {
		return nil, err
	}
	limits, err := newResourceManager()
	if err != nil {
		return nil, err
	}
	manager, err := connmgr.NewConnManager(connectionsLow, connectionsHigh, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, fmt.Errorf("node: connection manager: %w", err)
	}
	options := []libp2p.Option{
		libp2p.Identity(p.Key),
		// Without shared ports: two daemons on one would each get half of what
		// comes.
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.Transport(quic.NewTransport),
		libp2p.Muxer(yamux.ID, newMuxer()),
		libp2p.ResourceManager(limits),
		libp2p.ConnectionManager(manager),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.DisableIdentifyAddressDiscovery(),
		// Known, so that nobody is asked.
		libp2p.ForceReachabilityPrivate(),
		libp2p.UserAgent("fleetd"),
		libp2p.WithDialTimeout(dialTimeout),
	}
	options = append(options, securities(p.AnyClock)...)
	if len(p.Listen) > 0 {
		options = append(options, libp2p.ListenAddrStrings(p.Listen...))
	} else {
		options = append(options, libp2p.NoListenAddrs)
	}
	if p.Gater != nil {
		options = append(options, libp2p.ConnectionGater(p.Gater))
	}
	h, err := libp2p.New(options...)
	if err != nil {
		return nil, fmt.Errorf("node: start the network: %w", oneLine(err))
	}
	if got := h.Network().ListenAddresses(); len(got) < len(p.Listen) {
		_ = h.Close()
		return nil, listenError(strings.Join(p.Listen, ", "), fmt.Errorf("only %v can be used", got))
	}
	return h, nil
}

// securities are the ways to secure TCP, the preferred one first: TLS is the
// faster one, Noise knows no time.
func securities(anyClock bool) []libp2p.Option {
	all := []libp2p.Option{libp2p.Security(libp2ptls.ID, libp2ptls.New), libp2p.Security(noise.ID, noise.New)}
	if anyClock {
		slices.Reverse(all)
	}
	return all
}

// newMuxer is the library's, but for a TCP connection to a machine that is
// gone: it ends sooner. For QUIC the library offers no such option.
func newMuxer() *yamux.Transport {
	config := *yamux.DefaultTransport.Config()
	config.KeepAliveInterval = keepAliveEvery
	return (*yamux.Transport)(&config)
}

const (
	// keepAliveEvery is the pause between questions whether the other end of a
	// TCP connection is there; an answer may take another 10 s.
	keepAliveEvery = 10 * time.Second
	// connectionsLow and connectionsHigh are where the least used connections
	// are closed: well above what the dialler keeps.
	connectionsLow  = 768
	connectionsHigh = 1024
	// connectionsPerAddress admits a fleet of 100 behind one address, each
	// with a connection from either side and over both transports.
	connectionsPerAddress = 512
	// connectionBurst and connectionsPerSecond bound new connections from one
	// address: all of such a fleet may come back at once.
	connectionBurst      = 512
	connectionsPerSecond = 20
	// memoryMax bounds what the transports may hold, in bytes.
	memoryMax = 512 << 20
)

// newResourceManager returns fixed limits, which do not depend on the machine:
// what one peer may use, and what all may.
func newResourceManager() (network.ResourceManager, error) {
	all := rcmgr.ResourceLimits{
		Conns: 2 * connectionsHigh, ConnsInbound: connectionsHigh, ConnsOutbound: connectionsHigh,
		Streams: 16384, StreamsInbound: 8192, StreamsOutbound: 8192,
		FD: connectionsHigh, Memory: memoryMax,
	}
	// Connections and streams that are not negotiated yet.
	transient := rcmgr.ResourceLimits{
		Conns: 512, ConnsInbound: 512, ConnsOutbound: 256,
		Streams: 1024, StreamsInbound: 1024, StreamsOutbound: 512,
		FD: 512, Memory: memoryMax / 4,
	}
	peer := rcmgr.ResourceLimits{
		Conns: 8, ConnsInbound: 8, ConnsOutbound: 8,
		Streams: 256, StreamsInbound: 128, StreamsOutbound: 128,
		FD: 8, Memory: 64 << 20,
	}
	one := rcmgr.ResourceLimits{
		Conns: 1, ConnsInbound: 1, ConnsOutbound: 1,
		Streams: 1, StreamsInbound: 1, StreamsOutbound: 1,
		FD: 1, Memory: 32 << 20,
	}
	config := rcmgr.PartialLimitConfig{
		System: all, Transient: transient, AllowlistedSystem: all, AllowlistedTransient: transient,
		ServiceDefault: all, ServicePeerDefault: peer, ProtocolDefault: all, ProtocolPeerDefault: peer,
		PeerDefault: peer, Conn: one, Stream: one,
	}
	manager, err := rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(config.Build(rcmgr.ConcreteLimitConfig{})),
		rcmgr.WithMetricsDisabled(),
		// No exceptions, not even for loopback: what holds between machines is
		// what tests on one machine see.
		rcmgr.WithNetworkPrefixLimit([]rcmgr.NetworkPrefixLimit{}, []rcmgr.NetworkPrefixLimit{}),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: connectionsPerAddress}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 64, ConnCount: connectionsPerAddress}},
		),
		rcmgr.WithConnRateLimiters(connectionRates()),
	)
	if err != nil {
		return nil, fmt.Errorf("node: network limits: %w", err)
	}
	return manager, nil
}

func connectionRates() *rate.Limiter {
	one := rate.Limit{RPS: connectionsPerSecond, Burst: connectionBurst}
	return &rate.Limiter{
		SubnetRateLimiter: rate.SubnetLimiter{
			IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: one}},
			IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 64, Limit: one}},
			GracePeriod:      time.Minute,
		},
	}
}
