package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// TestMain fails when a goroutine outlives the tests. Two of a QUIC transport
// are let go: when a host is closed while a dial is on its way, the library's
// pool of UDP sockets may hand one out after it closed them all
// (quicreuse.reuse.gc beside TransportWithAssociationForDial, go-libp2p
// v0.52.0), and nobody ends it. A host that was not closed has many others.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/quic-go/quic-go.(*Transport).listen"),
		goleak.IgnoreAnyFunction("github.com/quic-go/quic-go.(*Transport).runSendQueue"))
}

// patience bounds what tests wait for; it is only ever used up by a failure.
const patience = 60 * time.Second

// fixture is a fleet under test.
type fixture struct {
	t     *testing.T
	dir   string
	tweak func(*node.Config)
}

// member is one instance of it, running or not.
type member struct {
	*node.Node
	fixture *fixture
	dir     string
	stop    func()
}

func newFixture(t *testing.T, tweak func(*node.Config)) *fixture {
	t.Helper()
	return &fixture{t: t, dir: t.TempDir(), tweak: tweak}
}

func loopback() []string {
	return []string{"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"}
}

// found begins the fleet.
func (f *fixture) found(name string) *member {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	if _, err := node.Init(f.t.Context(), node.InitConfig{Dir: dir, Name: name, Listen: loopback(), StoreKind: f.config(dir).StoreKind}); err != nil {
		f.t.Fatalf("init %s: %v", name, err)
	}
	return f.start(dir)
}

// join adds a member by a ticket of another and starts it.
func (f *fixture) join(inviter *member, name string) *member {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	ticket := inviter.ticket(fleet.InvitationConfig{})
	if _, err := node.Join(f.t.Context(), node.JoinConfig{Dir: dir, Ticket: ticket, Name: name, Listen: loopback(), StoreKind: f.config(dir).StoreKind}); err != nil {
		f.t.Fatalf("join %s: %v", name, err)
	}
	return f.start(dir)
}

func (f *fixture) config(dir string) node.Config {
	cfg, err := node.ReadConfig(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	cfg.HeartbeatEvery = time.Second
	cfg.ReconnectMin, cfg.ReconnectMax = 50*time.Millisecond, time.Second
	if f.tweak != nil {
		f.tweak(&cfg)
	}
	return cfg
}

// start runs the instance of a directory until stop or the end of the test.
func (f *fixture) start(dir string) *member {
	f.t.Helper()
	n, err := node.New(f.t.Context(), f.config(dir))
	if err != nil {
		f.t.Fatalf("open %s: %v", dir, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Run(context.WithoutCancel(f.t.Context())) }()
	m := &member{Node: n, fixture: f, dir: dir}
	m.stop = func() {
		m.stop = func() {}
		if err := n.Close(); err != nil {
			f.t.Errorf("close %s: %v", dir, err)
		}
		if err := <-ended; err != nil {
			f.t.Errorf("run %s: %v", dir, err)
		}
	}
	f.t.Cleanup(func() { m.stop() })
	select {
	case <-n.Ready():
	case err := <-ended:
		ended <- nil // stop waits for it
		f.t.Fatalf("run %s: %v", dir, err)
	}
	return m
}

func (m *member) ticket(cfg fleet.InvitationConfig) string {
	m.fixture.t.Helper()
	invited, err := m.Invite(m.fixture.t.Context(), cfg)
	if err != nil {
		m.fixture.t.Fatalf("invite: %v", err)
	}
	return invited.Ticket
}

func (m *member) remember(text string) state.MemoryItem {
	m.fixture.t.Helper()
	item, err := m.State().Memory().Write(m.fixture.t.Context(), state.MemoryItem{Kind: "fact", Content: text})
	if err != nil {
		m.fixture.t.Fatalf("write: %v", err)
	}
	return item
}

func (m *member) knows(id string) bool {
	_, err := m.State().MemoryLibrary().Get(m.fixture.t.Context(), id)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		m.fixture.t.Fatalf("get: %v", err)
	}
	return err == nil
}

// eventually polls until ok holds, and fails with a dump of all members.
func (f *fixture) eventually(what string, members []*member, ok func() bool) {
	f.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !ok() {
		select {
		case <-poll.C:
		case <-deadline.C:
			f.t.Fatalf("not within %s: %s\n%s", patience, what, dump(members))
		}
	}
}

// converge waits until every member finds all others equal.
func (f *fixture) converge(members ...*member) {
	f.t.Helper()
	f.eventually("all converge", members, func() bool {
		for _, m := range members {
			ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Second)
			probe, err := m.Probe(ctx)
			cancel()
			if err != nil || !probe.Converged() {
				return false
			}
			answered := 0
			for _, a := range probe.Members {
				if a.Answered {
					answered++
				}
			}
			if answered < len(members)-1 || m.Root() != members[0].Root() {
				return false
			}
		}
		return true
	})
}

func dump(members []*member) string {
	var out strings.Builder
	for _, m := range members {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		status, err := m.Status(ctx)
		cancel()
		fmt.Fprintf(&out, "%s: %v\n%+v\n\n", m.dir, err, status)
	}
	return out.String()
}

func TestTwoGossipFromTheFirstWrite(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.HeartbeatEvery = time.Hour })
	a := f.found("a")
	b := f.join(a, "b")
	f.eventually("both are in sync", []*member{a, b}, func() bool {
		return inSync(t, a) && inSync(t, b)
	})
	item := a.remember("the first write")
	f.eventually("b knows it by gossip", []*member{a, b}, func() bool { return b.knows(item.ID) })
	back := b.remember("the answer")
	f.eventually("a knows the answer by gossip", []*member{a, b}, func() bool { return a.knows(back.ID) })
	f.converge(a, b)
}

func inSync(t *testing.T, m *member) bool {
	t.Helper()
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.InSync
}

// logBuffer takes the logs of several nodes, and of libraries that end a little
// after them.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

func freePort(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was only a question
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
