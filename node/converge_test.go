package node_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

func (m *member) teach(slug, body string) {
	m.fixture.t.Helper()
	if _, err := m.State().Skills().Upsert(m.fixture.t.Context(), state.Skill{Slug: slug, Name: slug, Body: body}); err != nil {
		m.fixture.t.Fatalf("upsert %s: %v", slug, err)
	}
}

func (m *member) skillBody(slug string) string {
	m.fixture.t.Helper()
	sk, err := m.State().Skills().Get(m.fixture.t.Context(), slug)
	if err != nil {
		return "error: " + err.Error()
	}
	return sk.Body
}

// conflicts lists the keys, winners and losers that a member sees.
func (m *member) conflicts() []string {
	m.fixture.t.Helper()
	all, err := m.State().Conflicts(m.fixture.t.Context())
	if err != nil {
		m.fixture.t.Fatal(err)
	}
	var texts []string
	for _, c := range all {
		texts = append(texts, fmt.Sprintf("%s %x %x", c.Key, c.Winner.Hash, c.Loser.Hash))
	}
	slices.SortFunc(texts, cmp.Compare[string])
	return texts
}

func TestThreeConvergeWithoutGossip(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.Gossip = false })
	a := f.found("a")
	b := f.join(a, "b")
	c := f.join(a, "c")
	for i, m := range []*member{a, b, c} {
		m.teach("skill-"+string(rune('a'+i)), "text")
		m.remember("note")
	}
	f.converge(a, b, c)
	for _, m := range []*member{a, b, c} {
		skills, err := m.State().Skills().Search(t.Context(), "", 0)
		if err != nil || len(skills) != 3 {
			t.Errorf("%s has %d skills, want 3: %v", m.dir, len(skills), err)
		}
	}
	// b and c were never introduced to each other but by the fleet.
	f.eventually("b and c are connected", []*member{a, b, c}, func() bool { return inSync(t, b) && inSync(t, c) })
}

func TestOfflineEditsConvergeWithOneConflict(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	c := f.join(a, "c")
	a.teach("deploy", "first")
	a.teach("obsolete", "to be deleted")
	f.converge(a, b, c)

	b.stop()
	// b writes while it is apart: the store of a node that does not run.
	apart, err := node.New(t.Context(), f.config(b.dir))
	if err != nil {
		t.Fatal(err)
	}
	offline := &member{Node: apart, fixture: f, dir: b.dir}
	offline.teach("deploy", "by b")
	item := offline.remember("seen while apart")
	if status, err := offline.Status(t.Context()); err != nil || status.InSync {
		t.Errorf("apart, the node says in sync %v, %q, %v", status.InSync, status.Verdict, err)
	}
	if err := apart.Close(); err != nil {
		t.Fatal(err)
	}
	a.teach("deploy", "by a")
	if err := c.State().Skills().Delete(t.Context(), "obsolete"); err != nil {
		t.Fatal(err)
	}
	f.converge(a, c)
	if status, err := a.Status(t.Context()); err != nil || status.InSync || !strings.Contains(status.Verdict, "b is offline since") {
		t.Errorf("with b away a says %v, %q, %v", status.InSync, status.Verdict, err)
	}

	back := f.start(b.dir)
	all := []*member{a, back, c}
	f.converge(all...)
	checkOfflineEdits(t, all, item.ID)
}

func checkOfflineEdits(t *testing.T, all []*member, item string) {
	t.Helper()
	for _, m := range all {
		if got := m.skillBody("deploy"); got != "by a" {
			t.Errorf("%s: deploy is %q, want the later write", m.dir, got)
		}
		if got := m.skillBody("obsolete"); !strings.HasPrefix(got, "error: state: not found") {
			t.Errorf("%s: obsolete is %q, want it gone", m.dir, got)
		}
		if !m.knows(item) {
			t.Errorf("%s lacks what b wrote while apart", m.dir)
		}
		if diff := gocmp.Diff(all[0].conflicts(), m.conflicts()); diff != "" || len(m.conflicts()) != 1 {
			t.Errorf("%s: %d conflicts, want the one of the first (-first +this):\n%s", m.dir, len(m.conflicts()), diff)
		}
		if status, err := m.Status(t.Context()); err != nil || status.Conflicts != 1 || status.Parked != 0 {
			t.Errorf("%s: status has %d conflicts, %d parked, %v", m.dir, status.Conflicts, status.Parked, err)
		}
	}
}

func TestRestartKeepsIdentityAndCursors(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.Gossip = false })
	a := f.found("a")
	b := f.join(a, "b")
	for range 100 {
		a.remember("some text that fills a page with the others")
	}
	f.converge(a, b)
	// The cursor moves after the records that it passes.
	f.eventually("b has a place in the feed of a", []*member{a, b}, func() bool {
		return b.Store().View(func(r *store.Reader) error {
			_, err := r.Cursor(a.ID(), merge.Section{Family: "memory"})
			return err
		}) == nil
	})
	id, storeID, root := b.ID(), b.Store().ID(), b.Root()
	cursor := cursorOf(t, b, a.ID())
	b.stop()

	again := f.start(b.dir)
	if again.ID() != id || again.Store().ID() != storeID || again.Root() != root {
		t.Errorf("after the restart: instance %s, root %s; before: %s, %s", again.ID(), again.Root(), id, root)
	}
	if got := cursorOf(t, again, a.ID()); got != cursor || got.Seq == 0 {
		t.Errorf("cursor after the restart is %+v, before %+v", got, cursor)
	}
	item := a.remember("one more")
	f.converge(a, again)
	if !again.knows(item.ID) {
		t.Error("what was written after the restart did not arrive")
	}
	status, err := again.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := status.Counters.Sync; got.Known > 2 || got.CursorsInvalid > 0 {
		t.Errorf("after the restart %d known records came again, %d cursors were invalid", got.Known, got.CursorsInvalid)
	}
}

func cursorOf(t *testing.T, m *member, of merge.InstanceID) (at store.Cursor) {
	t.Helper()
	err := m.Store().View(func(r *store.Reader) error {
		var err error
		at, err = r.Cursor(of, merge.Section{Family: "memory"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestABurstArrivesWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("writes two thousand records")
	}
	f := newFixture(t, nil)
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	const writers, each = 16, 125
	done := make(chan error, writers)
	for range writers {
		go func() {
			for range each {
				if _, err := a.State().Memory().Write(t.Context(), state.MemoryItem{Kind: "fact", Content: "a burst"}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	f.converge(a, b)
	items, err := b.State().Memory().Recall(t.Context(), state.RecallQuery{})
	if err != nil || len(items) != writers*each {
		t.Errorf("b has %d items, want %d: %v", len(items), writers*each, err)
	}
	t.Logf("converged %s after the last write", time.Since(began))
}
