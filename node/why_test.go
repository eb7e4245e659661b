package node_test

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
