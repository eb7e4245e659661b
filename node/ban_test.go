package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/node"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func (m *member) ban(req node.BanRequest) node.Banned {
	m.fixture.t.Helper()
	out, err := m.Ban(m.fixture.t.Context(), req)
	if err != nil {
		m.fixture.t.Fatalf("ban %s: %v", req.Member, err)
	}
	return out
}

// apart lets an instance write while it does not run.
func (f *fixture) apart(dir string, do func(m *member)) {
	f.t.Helper()
	n, err := node.New(f.t.Context(), f.config(dir))
	if err != nil {
		f.t.Fatal(err)
	}
	do(&member{Node: n, fixture: f, dir: dir})
	if err := n.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// viewOf is how one member sees another.
func (m *member) viewOf(name string) node.Member {
	m.fixture.t.Helper()
	view, ok := m.viewOfAny(name)
	if !ok {
		m.fixture.t.Fatalf("%s knows no %s", m.dir, name)
	}
	return view
}

// TestBannedMemberWritesOn: b is revoked while it is apart and writes on. Nobody
// shows what it wrote after the cut-off, what it wrote before stays, and nobody
// talks with it.
func TestBannedMemberWritesOn(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	c := f.join(a, "c")
	a.teach("deploy", "by a")
	before := b.remember("seen by all")
	f.converge(a, b, c)
	b.stop()
	var after string
	f.apart(b.dir, func(b *member) {
		after = b.remember("written on").ID
		b.teach("deploy", "by b")
	})
	revoked := a.ban(node.BanRequest{Member: "b", Note: "the laptop was lost"})
	want, err := hlc.Unpack(before.UpdatedHLC.Pack() + 1)
	if err != nil || revoked.From != want || revoked.Retracted != 0 || revoked.By != "a" {
		t.Errorf("revoked %+v, want it from %s on by a, and nothing retracted", revoked, want)
	}
	if got := strings.Join(append(revoked.Told, revoked.Later...), " "); got != "c" {
		t.Errorf("told %v, later %v: want c alone", revoked.Told, revoked.Later)
	}
	f.eventually("c knows the ban", []*member{a, c}, func() bool { return c.viewOf("b").State == node.MemberRevoked })
	f.converge(a, c)

	back := f.start(b.dir)
	a.ticket(fleet.InvitationConfig{}) // an open invitation opens no door to it
	a.remember("the fleet goes on")
	f.converge(a, c)
	f.staysOut(back, a, c)
	for _, m := range []*member{a, c} {
		if m.knows(after) || m.skillBody("deploy") != "by a" || !m.knows(before.ID) {
			t.Errorf("%s: knows the late write %t, deploy %q, knows the early write %t", m.dir, m.knows(after), m.skillBody("deploy"), m.knows(before.ID))
		}
		m.seesRevoked("b", "the laptop was lost")
	}
	if _, err := a.Ban(t.Context(), node.BanRequest{Member: "b"}); !errors.Is(err, node.ErrBanned) {
		t.Errorf("banned again: %v", err)
	}
}

// seesRevoked holds what a member says of one that was revoked by a, and that it
// waits for nobody.
func (m *member) seesRevoked(name, note string) {
	t := m.fixture.t
	t.Helper()
	view := m.viewOf(name)
	if view.State != node.MemberRevoked || view.Revoked == nil || view.Revoked.Note != note || view.Revoked.By != "a" {
		t.Errorf("%s sees %s as %+v, revoked %+v", m.dir, name, view, view.Revoked)
	}
	status, err := m.Status(t.Context())
	if err != nil || !strings.HasPrefix(status.Verdict, "in sync with 1 of 1 members") || len(status.Members) != 2 {
		t.Errorf("%s: %q, %d members, %v: nobody waits for %s", m.dir, status.Verdict, len(status.Members), err, name)
	}
}

// staysOut makes a banned member dial the others, and sees nobody connected with it.
func (f *fixture) staysOut(banned *member, others ...*member) {
	f.t.Helper()
	banned.stop()
	h := banned.bare()
	for _, m := range others {
		for range 3 {
			_ = h.Connect(f.t.Context(), m.addrInfo()) // over QUIC a refusal may come later
			if !refuses(f.t, h, m.addrInfo().ID, node.SyncProtocol, frame(byte(fleetsync.TypeHello), 0, 0xa0)) {
				f.t.Errorf("%s answers the banned member", m.dir)
			}
		}
		f.eventually("no connection is left", others, func() bool {
			return h.Network().Connectedness(m.addrInfo().ID) != network.Connected && !m.Connected(peer.ID(banned.ID()))
		})
	}
}
