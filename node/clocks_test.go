package node_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// off is a clock that is wrong by d.
func off(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }

// A joiner with a wrong clock joined with success, and its own grant was
// parked: it was nobody's member, and nothing said so.
func TestAJoinerWithAWrongClockIsTold(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	ticket := a.ticket(fleet.InvitationConfig{})
	for _, tt := range []struct {
		off  time.Duration
		want string
	}{
		{-10 * time.Minute, "10m0s behind the inviter's"},
		{-2 * time.Hour, "2h0m0s behind the inviter's"},
		{2 * time.Hour, "2h0m0s ahead of the inviter's"},
	} {
		dir := filepath.Join(t.TempDir(), "b")
		for _, kind := range []node.StoreKind{node.StoreBadger, node.StoreMemory} {
			_, err := node.Join(t.Context(), node.JoinConfig{Dir: dir, Ticket: ticket, Name: "b", Listen: loopback(), StoreKind: kind, Now: off(tt.off)})
			if !errors.Is(err, fleet.ErrClock) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "the ticket is still good") {
				t.Errorf("a clock that is %s off: %v, want %q", tt.off, err, tt.want)
			}
			if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
				t.Errorf("the failed join left %v", left)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "b")
	made, err := node.Join(t.Context(), node.JoinConfig{Dir: dir, Ticket: ticket, Name: "b", Listen: loopback(), Now: off(-time.Minute)})
	if err != nil {
		t.Fatalf("the same ticket with a clock that is a minute off: %v", err)
	}
	if made.ClockBehind < 30*time.Second || made.ClockBehind > 2*time.Minute {
		t.Errorf("it is told to be behind by %s, want a minute", made.ClockBehind)
	}
}

// A store in memory is planted at the first run: when the clock is wrong by
// then, the seed must not be lost.
func TestASeedOutlivesAWrongClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if _, err := node.Init(t.Context(), node.InitConfig{Dir: dir, Name: "a", Listen: loopback(), StoreKind: node.StoreMemory}); err != nil {
		t.Fatal(err)
	}
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Now = off(-time.Hour)
	if _, err := node.New(t.Context(), cfg); !errors.Is(err, fleet.ErrClock) {
		t.Fatalf("an hour before it was made: %v", err)
	}
	cfg.Now = nil
	n, err := node.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// refusing stands in for TLS between machines whose clocks are hours apart: the
// certificate of one is of the other's future.
type refusing struct{}

func (refusing) SecureInbound(context.Context, net.Conn, peer.ID) (sec.SecureConn, error) {
	return nil, errors.New("x509: certificate has expired or is not yet valid")
}

func (r refusing) SecureOutbound(ctx context.Context, c net.Conn, p peer.ID) (sec.SecureConn, error) {
	return r.SecureInbound(ctx, c, p)
}

func (refusing) ID() protocol.ID { return libp2ptls.ID }

// A machine whose clock is hours behind refuses every certificate, and could
// not be told what is wrong: over TCP it joins without one.
func TestJoinNeedsNoCertificate(t *testing.T) {
	f := newFixture(t, func(c *node.Config) {
		c.HostFactory = func(p node.HostParams) (host.Host, error) {
			return libp2p.New(libp2p.Identity(p.Key), libp2p.ListenAddrStrings(loopback()[0]), libp2p.ConnectionGater(p.Gater),
				libp2p.Security(libp2ptls.ID, func() sec.SecureTransport { return refusing{} }), libp2p.Security(noise.ID, noise.New), libp2p.Transport(tcp.NewTCPTransport))
		}
	})
	a := f.found("a")
	if _, err := joinWith(t, filepath.Join(t.TempDir(), "b"), a.ticket(fleet.InvitationConfig{}), "b"); err != nil {
		t.Error(err)
	}
}

func TestTroubleWithClocksIsNamed(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	verified := func(from, to time.Duration) error {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AddCert(cert)
		_, err = cert.Verify(x509.VerifyOptions{Roots: pool})
		return errors.New("failed to dial: certificate verification failed: " + err.Error()) // as the library does
	}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                     {nil, ""},
		"another error":               {errors.New("connection refused"), ""},
		"a certificate of the past":   {verified(-2*time.Hour, -time.Hour), ""},
		"one that holds in two hours": {verified(2*time.Hour, 3*time.Hour), "this machine's clock is behind that of the other by 3h0m0s or more"},
		"one that holds in a moment":  {verified(5*time.Minute, time.Hour), "by 1h5m0s or more"},
	} {
		got := node.ClockTrouble(tt.err)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s (%v): %q, want %q", name, tt.err, got, tt.want)
		}
	}
}

func TestAMemberWithAWrongClockIsNamed(t *testing.T) {
	offs := map[string]time.Duration{}
	f := newFixture(t, func(c *node.Config) { c.Now = off(offs[filepath.Base(c.Dir)]) })
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	b.stop()
	offs["b"] = -10 * time.Minute
	a.remember("what b must wait for")
	b = f.start(b.dir)
	why := func(m *member, of string) string {
		members, err := m.Members(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range members {
			if other.Name == of {
				return other.Why
			}
		}
		return ""
	}
	f.eventually("both name the other's clock", []*member{a, b}, func() bool {
		return strings.Contains(why(a, "b"), "its clock is 10m0s behind this machine's") &&
			strings.Contains(why(b, "a"), "ahead of this machine's")
	})
}

// TestTheMedianOfPeersTellsWhoseClockIsWrong: one liar, or one wrong clock among
// many, accuses nobody.
func TestTheMedianOfPeersTellsWhoseClockIsWrong(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for _, c := range []struct {
		name  string
		skews []time.Duration // of the peers against this machine
		want  string          // part of the alarm; empty for none
	}{
		{"nobody has told", nil, ""},
		{"one peer cannot know", []time.Duration{hour}, ""},
		{"one of three is wrong", []time.Duration{hour, time.Second, -2 * time.Second}, ""},
		{"all others agree that this one is behind", []time.Duration{hour, hour + time.Second, hour - time.Second}, "is 1h0m0s behind those"},
		{"two others agree that this one is ahead", []time.Duration{-hour, -2 * hour}, "is 1h0m0s ahead of those"},
		{"a liar and an honest peer", []time.Duration{1000 * hour, 0}, ""},
	} {
		var peers []fleetsync.PeerState
		for _, skew := range c.skews {
			peers = append(peers, fleetsync.PeerState{Greeted: true, Skew: skew})
		}
		got := node.OwnClock(peers)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
