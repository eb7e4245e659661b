package node_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

func skillKey(slug string) merge.Key { return merge.Key{Kind: "skill", ID: merge.NewID(slug)} }

// TestWithdrawnSkillAndAMemberAway: b is away while a version is withdrawn that it
// shows. When it comes back it shows what that had replaced, or nothing, and its
// own agents may not write the same text again.
func TestWithdrawnSkillAndAMemberAway(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	a.teach("deploy", "test, then push")
	f.converge(a, b)
	b.teach("deploy", "push --force")
	b.teach("evil", "push --force")
	f.converge(a, b)
	b.stop()
	out, err := a.Withdraw(t.Context(), node.WithdrawRequest{Key: skillKey("deploy"), Note: "it forces"})
	if err != nil || len(out.Versions) != 1 || out.Retracted != 1 || out.Restored != 1 || out.By != "a" || strings.Join(out.Later, "") != "b" {
		t.Fatalf("withdrawn: %+v, %v", out, err)
	}
	if _, err := a.Withdraw(t.Context(), node.WithdrawRequest{Key: skillKey("evil")}); err != nil {
		t.Fatal(err)
	}

	back := f.start(b.dir)
	f.converge(a, back)
	a.lacksWhatWasWithdrawn()
	back.lacksWhatWasWithdrawn()
	if got := back.gone(); got != "skill.deleted evil, skill.upserted deploy" && got != "skill.upserted deploy, skill.deleted evil" {
		t.Errorf("b is told %q", got)
	}
	if _, err := a.Withdraw(t.Context(), node.WithdrawRequest{Key: skillKey("evil")}); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("withdrawn again: %v", err)
	}
	if _, err := back.Withdraw(t.Context(), node.WithdrawRequest{Key: skillKey("deploy")}); !errors.Is(err, node.ErrDenied) || !strings.Contains(err.Error(), "a can") {
		t.Errorf("withdrawn by a member: %v", err)
	}
}

// lacksWhatWasWithdrawn holds what a member shows, and takes, after the withdrawals.
func (m *member) lacksWhatWasWithdrawn() {
	t := m.fixture.t
	t.Helper()
	if got := m.skillBody("deploy"); got != "test, then push" {
		t.Errorf("%s: deploy is %q, want what was replaced", m.dir, got)
	}
	if got := m.skillBody("evil"); !strings.HasPrefix(got, "error: state: not found") {
		t.Errorf("%s: evil is %q, want it gone", m.dir, got)
	}
	if all, err := m.State().Skills().Search(t.Context(), "", 0); err != nil || len(all) != 1 {
		t.Errorf("%s lists %d skills, %v", m.dir, len(all), err)
	}
	for _, slug := range []string{"deploy", "another-name"} {
		_, err := m.State().Skills().Upsert(t.Context(), state.Skill{Slug: slug, Name: "n", Body: "push --force"})
		if !errors.Is(err, state.ErrDenied) || !strings.Contains(err.Error(), "withdrawn") {
			t.Errorf("%s: the text written again as %s: %v", m.dir, slug, err)
		}
	}
}

// gone tells which retractions the state stream shows.
func (m *member) gone() string {
	m.fixture.t.Helper()
	var texts []string
	err := m.Store().View(func(r *store.Reader) error {
		return r.Events(0, func(e store.Event) bool {
			if e.Path == store.PathRetract {
				texts = append(texts, e.Type+" "+strings.Join(e.Ref.Key.ID.Components(), "/"))
			}
			return true
		})
	})
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	return strings.Join(texts, ", ")
}

// TestWithdrawalOfAVersionTakesAllThatSayTheSame: a version that was covered and
// says the same does not come back in its place.
func TestWithdrawalOfAVersionTakesAllThatSayTheSame(t *testing.T) {
	a := newFixture(t, nil).found("a")
	a.teach("deploy", "good")
	a.teach("deploy", "bad")
	for _, tags := range [][]string{{"x"}, {"y"}} {
		if _, err := a.State().Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Name: "other", Tags: tags, Body: "bad"}); err != nil {
			t.Fatal(err)
		}
	}
	versions, err := a.State().History(t.Context(), skillKey("deploy"))
	if err != nil {
		t.Fatal(err)
	}
	named := versions[len(versions)-2].Envelope
	req := node.WithdrawRequest{Key: skillKey("deploy"), Stamp: named.UpdatedHLC, Writer: "nobody"}
	if _, err := a.Withdraw(t.Context(), req); !errors.Is(err, node.ErrNoMember) {
		t.Errorf("of nobody: %v", err)
	}
	req.Writer, req.Stamp.Wall = "a", req.Stamp.Wall-1_000_000
	if _, err := a.Withdraw(t.Context(), req); !errors.Is(err, node.ErrNoVersion) {
		t.Errorf("of no stamp: %v", err)
	}
	req.Stamp = named.UpdatedHLC
	if out, err := a.Withdraw(t.Context(), req); err != nil || len(out.Versions) != 3 || a.skillBody("deploy") != "good" {
		t.Errorf("withdrawn %d versions, %v: deploy is %q, want 3 and good", len(out.Versions), err, a.skillBody("deploy"))
	}
	if err := a.State().Skills().Delete(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Withdraw(t.Context(), node.WithdrawRequest{Key: skillKey("deploy")}); !errors.Is(err, node.ErrNotWithdrawable) {
		t.Errorf("of a delete: %v", err)
	}
}

// TestAdminBannedWhilePartitioned: root revokes an admin that goes on to invite,
// on its side, somebody who writes. When all meet again nobody believes either.
func TestAdminBannedWhilePartitioned(t *testing.T) {
	// Those that come back together are where they were: else nobody finds anybody.
	listen := map[string][]string{}
	f := newFixture(t, func(c *node.Config) {
		if addrs := listen[c.Dir]; addrs != nil {
			c.Listen = addrs
		}
	})
	a := f.found("a")
	second := f.joinBy(a.ticket(fleet.InvitationConfig{Role: fleet.RoleAdmin}), "second")
	c := f.join(a, "c")
	early := f.join(second, "early")
	before := early.remember("invited in time")
	f.converge(a, second, c, early)
	for _, m := range []*member{a, c, early} {
		var err error
		if listen[m.dir], err = m.Addrs(); err != nil {
			t.Fatal(err)
		}
		m.stop()
	}
	late := f.join(second, "late")
	after := late.remember("invited too late")
	f.converge(second, late)
	late.stop()
	second.stop()

	a = f.start(a.dir)
	revoked := a.ban(node.BanRequest{Member: "second"})
	if revoked.By != "root" {
		t.Errorf("revoked by %s, want root: no admin bans an admin", revoked.By)
	}
	c, early = f.start(c.dir), f.start(early.dir)
	f.start(late.dir)
	f.start(second.dir)
	f.converge(a, c, early)
	for _, m := range []*member{a, c, early} {
		if !m.knows(before.ID) || m.knows(after.ID) {
			t.Errorf("%s: knows who was invited in time %t, too late %t", m.dir, m.knows(before.ID), m.knows(after.ID))
		}
		if x, y := m.viewOf("second"), m.viewOf("early"); x.State != node.MemberRevoked || y.IsGone() {
			t.Errorf("%s sees second as %s, early as %s", m.dir, x.State, y.State)
		}
		if _, ok := m.viewOfAny("late"); ok {
			t.Errorf("%s: whom a banned admin invited is a member", m.dir)
		}
	}
}

// joinBy adds a member by a ticket and starts it.
func (f *fixture) joinBy(ticket, name string) *member {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	if _, err := node.Join(f.t.Context(), node.JoinConfig{Dir: dir, Ticket: ticket, Name: name, Listen: loopback(), StoreKind: f.config(dir).StoreKind}); err != nil {
		f.t.Fatalf("join %s: %v", name, err)
	}
	return f.start(dir)
}

func (m *member) viewOfAny(name string) (node.Member, bool) {
	m.fixture.t.Helper()
	members, err := m.Members(m.fixture.t.Context())
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	for _, other := range members {
		if other.Name == name {
			return other, true
		}
	}
	return node.Member{}, false
}
