package node_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
)

// begin creates a session with one turn.
func (m *member) begin(session string) {
	m.fixture.t.Helper()
	if _, err := m.State().Sessions().Create(m.fixture.t.Context(), state.Session{ID: session}); err != nil {
		m.fixture.t.Fatalf("create: %v", err)
	}
	m.say(session, "hello")
}

func (m *member) say(session, text string) {
	m.fixture.t.Helper()
	_, err := m.State().Sessions().AppendTurn(m.fixture.t.Context(), state.Turn{SessionID: session, Role: "user", Content: text})
	if err != nil {
		m.fixture.t.Fatalf("append: %v", err)
	}
}

// said is the transcript of a session, nil when the member has none.
func (m *member) said(session string) (texts []string) {
	turns, err := m.State().Sessions().Turns(m.fixture.t.Context(), session)
	if err != nil {
		return nil
	}
	for _, turn := range turns {
		texts = append(texts, fmt.Sprint(turn.Seq, " ", turn.Content))
	}
	return texts
}

// sayApart appends to a session in the store of a node that does not run.
func (f *fixture) sayApart(dir, session, text string) {
	f.t.Helper()
	apart, err := node.New(f.t.Context(), f.config(dir))
	if err != nil {
		f.t.Fatal(err)
	}
	(&member{Node: apart, fixture: f, dir: dir}).say(session, text)
	if err := apart.Close(); err != nil {
		f.t.Fatal(err)
	}
}

// TestSessionsAreSharedWhereThatIsOn: two members talk in one session while
// apart and hold the same afterwards; a third, where it is off, keeps its own
// and gets none.
func TestSessionsAreSharedWhereThatIsOn(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.ShareSessions = filepath.Base(c.Dir) != "quiet" })
	a := f.found("a")
	b := f.join(a, "b")
	quiet := f.join(a, "quiet")
	for _, m := range []*member{a, quiet} {
		m.begin("by " + filepath.Base(m.dir))
	}
	f.eventually("b has the session of a", []*member{a, b}, func() bool { return len(b.said("by a")) == 1 })

	b.stop()
	a.say("by a", "of a")
	f.sayApart(b.dir, "by a", "of b")
	b = f.start(b.dir)
	item := b.remember("what everybody gets")

	f.eventually("a and b say the same", []*member{a, b}, func() bool {
		return len(a.said("by a")) == 3 && slices.Equal(a.said("by a"), b.said("by a")) && a.Root() == b.Root()
	})
	f.eventually("all are in sync", []*member{a, b, quiet}, func() bool {
		return quiet.knows(item.ID) && inSync(t, a) && inSync(t, b) && inSync(t, quiet)
	})
	want := []string{"1 hello", "2 of a", "2 of b"}
	if got := a.said("by a"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("a has %q, want %q", got, want)
	}
	if quiet.said("by a") != nil || a.said("by quiet") != nil || b.said("by quiet") != nil {
		t.Errorf("quiet has %q of a, a %q and b %q of quiet", quiet.said("by a"), a.said("by quiet"), b.said("by quiet"))
	}
	if quiet.Root() == a.Root() || len(quiet.said("by quiet")) != 1 {
		t.Errorf("quiet lost its own session, or counts it")
	}
}
