package node_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/node"
)

func joinWith(t *testing.T, dir, ticket, name string) (node.Instance, error) {
	t.Helper()
	return node.Join(t.Context(), node.JoinConfig{Dir: dir, Ticket: ticket, Name: name, Listen: loopback()})
}

func TestJoinRefusals(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	other := newFixture(t, nil).found("elsewhere")
	used := a.ticket(fleet.InvitationConfig{})
	if _, err := joinWith(t, filepath.Join(t.TempDir(), "b"), used, "b"); err != nil {
		t.Fatal(err)
	}
	parse := func(text string) fleet.Ticket {
		ticket, err := fleet.ParseTicket(text)
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	open := parse(a.ticket(fleet.InvitationConfig{}))
	elsewhere := parse(other.ticket(fleet.InvitationConfig{}))
	unknown := open
	unknown.Secret[0] ^= 1
	foreign := open
	foreign.Fleet = elsewhere.Fleet
	wrongPeer := open
	wrongPeer.Inviter = elsewhere.Inviter
	silent := open
	silent.Addrs = []string{"/ip4/127.0.0.1/tcp/1"}
	nowhere := open
	nowhere.Addrs = nil
	fixed := a.ticket(fleet.InvitationConfig{Name: "fixed"})

	tests := map[string]struct {
		ticket, name string
		want         error
		advice       string
	}{
		"no ticket":                       {"", "n", fleet.ErrTicketEmpty, "copy the whole text"},
		"no ticket at all":                {"hello", "n", fleet.ErrTicketSyntax, "copy the whole text"},
		"a damaged ticket":                {used[:len(used)-3], "n", fleet.ErrTicketDamaged, "copy the whole text"},
		"an unknown ticket":               {unknown.String(), "n", fleet.ErrTicketUnknown, "ask for a new ticket"},
		"a used ticket":                   {used, "n", fleet.ErrTicketUsed, "for one instance"},
		"a ticket of another fleet":       {foreign.String(), "n", fleet.ErrProof, "ask for a new ticket"},
		"an inviter with another key":     {wrongPeer.String(), "n", node.ErrUnreachable, "is fleetd running there"},
		"an inviter that does not answer": {silent.String(), "n", node.ErrUnreachable, "is fleetd running there"},
		"a ticket without an address":     {nowhere.String(), "n", node.ErrUnreachable, "names no address"},
		"a taken name":                    {open.String(), "b", fleet.ErrNameTaken, "--name"},
		"the inviter's own name":          {open.String(), "a", fleet.ErrNameTaken, "--name"},
		"no name where none is fixed":     {open.String(), "", fleet.ErrName, "--name"},
		"a name that nobody can have":     {open.String(), "../x\n", fleet.ErrName, ""},
		"another name than the fixed one": {fixed, "free", fleet.ErrNameFixed, "leave --name out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "n")
			_, err := joinWith(t, dir, tt.ticket, tt.name)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.advice) {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.advice)
			}
			if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
				t.Errorf("the failed join left %v", left)
			}
		})
	}
	// None of them used the open ticket up.
	if made, err := joinWith(t, filepath.Join(t.TempDir(), "n"), open.String(), "n"); err != nil || made.Name != "n" {
		t.Errorf("the open ticket: %+v, %v", made, err)
	}
	if made, err := joinWith(t, filepath.Join(t.TempDir(), "n"), fixed, ""); err != nil || made.Name != "fixed" {
		t.Errorf("the ticket with a name: %+v, %v", made, err)
	}
}

func TestAnExpiredTicketSaysSo(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	ticket := a.ticket(fleet.InvitationConfig{TTL: time.Millisecond})
	_, err := joinWith(t, filepath.Join(t.TempDir(), "b"), ticket, "b")
	if !errors.Is(err, fleet.ErrTicketExpired) || !strings.Contains(err.Error(), "--ttl") {
		t.Errorf("with no invitation open: %v", err)
	}
	// While another is open, the inviter itself answers.
	_ = a.ticket(fleet.InvitationConfig{})
	_, err = joinWith(t, filepath.Join(t.TempDir(), "b"), ticket, "b")
	if !errors.Is(err, fleet.ErrTicketExpired) || errors.Is(err, node.ErrUnreachable) {
		t.Errorf("with another invitation open: %v", err)
	}
}

func TestOneTicketRaced(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	one := a.ticket(fleet.InvitationConfig{})
	left, right := a.ticket(fleet.InvitationConfig{}), a.ticket(fleet.InvitationConfig{})
	race := func(tickets, names [2]string) (errs []error) {
		results := make(chan error, 2)
		for i := range 2 {
			dir := filepath.Join(t.TempDir(), "r")
			go func() {
				_, err := joinWith(t, dir, tickets[i], names[i])
				results <- err
			}()
		}
		for range 2 {
			if err := <-results; err != nil {
				errs = append(errs, err)
			}
		}
		return errs
	}
	if errs := race([2]string{one, one}, [2]string{"x", "y"}); len(errs) != 1 || !errors.Is(errs[0], fleet.ErrTicketUsed) {
		t.Errorf("two joiners with one ticket: %v, want one refusal", errs)
	}
	if errs := race([2]string{left, right}, [2]string{"z", "z"}); len(errs) != 1 || !errors.Is(errs[0], fleet.ErrNameTaken) {
		t.Errorf("two joiners with one name: %v, want one refusal", errs)
	}
	members, err := a.Members(t.Context())
	if err != nil || len(members) != 3 {
		t.Errorf("%d members after both races, want 3: %v", len(members), err)
	}
}

func TestInvitationsSurviveARestart(t *testing.T) {
	port := freePort(t) // kept, so that the ticket's address still holds
	f := newFixture(t, func(c *node.Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/" + port} })
	a := f.found("a")
	ticket := a.ticket(fleet.InvitationConfig{})
	a.stop()
	a = f.start(a.dir)
	made, err := joinWith(t, filepath.Join(t.TempDir(), "b"), ticket, "b")
	if err != nil {
		t.Fatalf("join by a ticket from before the restart: %v", err)
	}
	a.stop()
	a = f.start(a.dir)
	members, err := a.Members(t.Context())
	if err != nil || len(members) != 2 || members[1].ID != made.ID {
		t.Errorf("members after another restart: %+v, %v", members, err)
	}
	if _, err := joinWith(t, filepath.Join(t.TempDir(), "c"), ticket, "c"); !errors.Is(err, fleet.ErrTicketUsed) {
		t.Errorf("the ticket after it was used and the inviter restarted: %v", err)
	}
}

func TestAJoinerThatDiedAsksAgain(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	ticket := a.ticket(fleet.InvitationConfig{})
	first := filepath.Join(t.TempDir(), "b")
	made, err := joinWith(t, first, ticket, "b")
	if err != nil {
		t.Fatal(err)
	}
	// A process that died after the inviter had accepted it leaves its key in the
	// staging directory.
	key, err := os.ReadFile(filepath.Join(first, "identity.key"))
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "b")
	if err := os.Mkdir(second+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(second+".new", "identity.key"), key, 0o600); err != nil { //nolint:gosec // a directory of the test
		t.Fatal(err)
	}
	again, err := joinWith(t, second, ticket, "b")
	if err != nil || again.ID != made.ID {
		t.Errorf("the same joiner, again: %+v, %v", again, err)
	}
}

func TestOnlyAdminsInvite(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	if _, err := b.Invite(t.Context(), fleet.InvitationConfig{}); !errors.Is(err, node.ErrDenied) {
		t.Errorf("a member invites: %v", err)
	}
	// Root's key makes admins, who then invite members, but no admins.
	dir := filepath.Join(f.dir, "c")
	if _, err := joinWith(t, dir, a.ticket(fleet.InvitationConfig{Role: fleet.RoleAdmin}), "c"); err != nil {
		t.Fatal(err)
	}
	c := f.start(dir)
	if _, err := c.Invite(t.Context(), fleet.InvitationConfig{Role: fleet.RoleAdmin}); !errors.Is(err, node.ErrDenied) {
		t.Errorf("an admin without the root key invites an admin: %v", err)
	}
	d := f.join(c, "d")
	item := d.remember("by a member that a second admin took in")
	f.eventually("a has what d wrote", []*member{a, b, c, d}, func() bool { return a.knows(item.ID) && b.knows(item.ID) })
	for range node.InvitationsMax {
		if _, err := c.Invite(t.Context(), fleet.InvitationConfig{}); err != nil {
			if errors.Is(err, node.ErrInvitations) {
				return
			}
			t.Fatal(err)
		}
	}
	t.Errorf("more than %d invitations are open", node.InvitationsMax)
}

func TestJoinIsCancelled(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "b")
	if _, err := node.Join(ctx, node.JoinConfig{Dir: dir, Ticket: a.ticket(fleet.InvitationConfig{}), Name: "b"}); err == nil {
		t.Error("a cancelled join succeeded")
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestLogsHoldNoTicket(t *testing.T) {
	var logs logBuffer
	logger := slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f := newFixture(t, func(c *node.Config) { c.Logger = logger })
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	ticket, err := fleet.ParseTicket(a.ticket(fleet.InvitationConfig{}))
	if err != nil {
		t.Fatal(err)
	}
	a.stop()
	b.stop()
	for name, secret := range map[string][]byte{"ticket": ticket.Secret[:], "ticket text": []byte(ticket.String())} {
		if bytes.Contains(logs.bytes(), secret) {
			t.Errorf("the logs hold the %s", name)
		}
	}
	if len(logs.bytes()) == 0 {
		t.Error("nothing was logged")
	}
}

// watched is a host that tells of attempts to connect that failed.
type watched struct {
	host.Host
	failed func()
}

func (w watched) Connect(ctx context.Context, info peer.AddrInfo) error {
	err := w.Host.Connect(ctx, info)
	if err != nil {
		w.failed()
	}
	return err
}

// The retries of a join never reached the network: an address that had refused
// a connection was not dialled again for five seconds.
func TestAJoinDialsAgain(t *testing.T) {
	port := freePort(t)
	f := newFixture(t, func(c *node.Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/" + port} })
	a := f.found("a")
	ticket := a.ticket(fleet.InvitationConfig{})
	a.stop()
	restart := sync.OnceFunc(func() { a = f.start(a.dir) })
	made, err := node.Join(t.Context(), node.JoinConfig{
		Dir: filepath.Join(t.TempDir(), "b"), Ticket: ticket, Name: "b", Listen: loopback(),
		HostFactory: func(p node.HostParams) (host.Host, error) {
			h, err := node.NewHost(p)
			return watched{h, restart}, err
		},
	})
	if err != nil || made.Name != "b" {
		t.Errorf("the inviter came up after the first try: %+v, %v", made, err)
	}
}
