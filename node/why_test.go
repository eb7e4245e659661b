package node_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// What a member stamps ahead of time waits here until then, and makes both
// differ: the status says so.
func TestAStatusSaysThatVersionsOfAMemberAreParked(t *testing.T) {
	var ahead atomic.Int64
	f := newFixture(t, func(c *node.Config) {
		if filepath.Base(c.Dir) == "b" {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		}
	})
	a := f.found("a")
	b := f.join(a, "b")
	f.converge(a, b)
	ahead.Store(int64(time.Hour))
	b.remember("of the next hour")
	var status node.Status
	f.eventually("a keeps it parked", []*member{a, b}, func() bool {
		var err error
		if status, err = a.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		return status.Parked == 1 && strings.Contains(status.Verdict, "parked here: 1 ahead of time")
	})
	if status.ParkedFor[store.ReasonFuture] != 1 || status.WantedBlobs != 0 {
		t.Errorf("%+v", status)
	}
}

// A member with rules keeps what they say to itself, and is in sync in the rest.
func TestAStatusSaysWhichSectionAMemberDoesNotShare(t *testing.T) {
	f := newFixture(t, func(c *node.Config) {
		if filepath.Base(c.Dir) == "b" {
			if err := c.Set("share.rules", `share memory project="secret, but not very", keep memory project=secret*`); err != nil {
				t.Fatal(err)
			}
		}
	})
	a := f.found("a")
	b := f.join(a, "b")
	for _, project := range []string{"", "secret", "secret, but not very"} {
		item := state.MemoryItem{ID: "in " + project, Scope: merge.Scope{Project: project}, Content: "text"}
		if _, err := a.State().Memory().Write(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
	f.eventually("b is in sync all the same", []*member{a, b}, func() bool {
		members, err := a.Members(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b.knows("in ") && members[1].State == node.MemberInSync && members[1].Why == "it does not share memory of secret"
	})
	for project, want := range map[string]int{"": 1, "secret": 0, "secret, but not very": 1} {
		items, err := b.State().MemoryLibrary().List(t.Context(), merge.Scope{Project: project}, "")
		if err != nil || len(items) != want {
			t.Errorf("b has %d items of %q, want %d, %v", len(items), project, want, err)
		}
	}
	if a.Root() == b.Root() {
		t.Error("both have the same root")
	}
}

// A member that keeps a family to itself is in sync in what both share.
func TestAStatusSaysWhatAMemberDoesNotShare(t *testing.T) {
	f := newFixture(t, func(c *node.Config) { c.ShareSessions = filepath.Base(c.Dir) == "a" })
	a := f.found("a")
	b := f.join(a, "b")
	if _, err := a.State().Sessions().Create(t.Context(), state.Session{ID: "talk"}); err != nil {
		t.Fatal(err)
	}
	f.eventually("b is in sync all the same", []*member{a, b}, func() bool {
		members, err := a.Members(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return members[1].State == node.MemberInSync && members[1].Why == "it does not share session"
	})
}
