package node_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/node"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

func TestVerdictNamesWhoDiffers(t *testing.T) {
	self := node.Member{Name: "me", State: node.MemberSelf}
	equal := node.Member{Name: "desk", State: node.MemberInSync}
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		members []node.Member
		inSync  bool
		want    string
	}{
		"alone":        {[]node.Member{self}, true, "in sync: this node is the whole fleet"},
		"all equal":    {[]node.Member{equal, self, equal}, true, "in sync with 2 of 2 members"},
		"one offline":  {[]node.Member{self, equal, {Name: "nas", State: node.MemberOffline, Since: since, Why: "not reached"}}, false, "in sync with 1 of 2 members: nas is offline since 2026-03-01T12:00:00Z (not reached)"},
		"one behind":   {[]node.Member{self, {Name: "nas", State: node.MemberBehind, Lacks: 12, Since: since}}, false, "in sync with 0 of 1 members: nas is behind by 12 since 2026-03-01T12:00:00Z"},
		"one ahead":    {[]node.Member{self, {Name: "nas", State: node.MemberAhead, Behind: 3}}, false, "in sync with 0 of 1 members: nas is ahead by up to 3"},
		"one syncing":  {[]node.Member{self, {Name: "nas", State: node.MemberSyncing, Behind: 3}}, false, "in sync with 0 of 1 members: nas is syncing, up to 3 to fetch"},
		"one told":     {[]node.Member{self, {Name: "nas", State: node.MemberSyncing, IsTold: true}}, false, "in sync with 0 of 1 members: nas was told of the last change here"},
		"one joining":  {[]node.Member{self, {Name: "nas", State: node.MemberSyncing, Behind: 3, Progress: &fleetsync.Progress{Section: merge.Section{Family: "memory"}, Received: 31, Expected: 50}}}, false, "in sync with 0 of 1 members: nas is syncing, 31 of 50 of memory fetched"},
		"a stranger":   {[]node.Member{self, {Name: "nas", State: node.MemberNeverSeen, Why: "no address of it is known"}}, false, "in sync with 0 of 1 members: nas was never seen (no address of it is known)"},
		"incompatible": {[]node.Member{self, {Name: "nas", State: node.MemberIncompatible, Why: "too old"}}, false, "in sync with 0 of 1 members: nas is incompatible (too old)"},
		"many": {
			append([]node.Member{self}, slices.Repeat([]node.Member{{Name: "x", State: node.MemberOffline}}, 5)...),
			false, "in sync with 0 of 5 members: x is offline; x is offline; x is offline; and 2 more",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inSync, text := node.Verdict(tt.members)
			if inSync != tt.inSync || text != tt.want {
				t.Errorf("got %v, %q\nwant %v, %q", inSync, text, tt.inSync, tt.want)
			}
		})
	}
}

func TestProbeConverged(t *testing.T) {
	tests := map[string]struct {
		members []node.Answer
		want    bool
	}{
		"alone":               {nil, true},
		"nobody answered":     {[]node.Answer{{}, {}}, false},
		"one answered, equal": {[]node.Answer{{}, {Answered: true, Equal: true}}, true},
		"one is not equal":    {[]node.Answer{{Answered: true, Equal: true}, {Answered: true}}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			probe := node.Probe{Members: tt.members}
			if got := probe.Converged(); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// fullDisk is an engine whose disk may have no room.
type fullDisk struct {
	store.Engine
	full *atomic.Bool
}

func (d fullDisk) Update(fn func(tx store.Txn) error) error {
	if d.full.Load() {
		return fmt.Errorf("%w: 7 bytes free", store.ErrFull)
	}
	return d.Engine.Update(fn)
}

// A node on a full disk said that it was in sync, and nothing else.
func TestAVerdictNamesAFullDisk(t *testing.T) {
	var full atomic.Bool
	f := newFixture(t, func(c *node.Config) {
		c.StoreKind = node.StoreMemory
		c.Engine = fullDisk{store.NewMemory(), &full}
	})
	a := f.found("a")
	verdict := func() string {
		status, err := a.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return status.Verdict
	}
	if got := verdict(); got != "in sync: this node is the whole fleet" {
		t.Errorf("with room: %q", got)
	}
	full.Store(true)
	_, err := a.State().Memory().Write(t.Context(), state.MemoryItem{Kind: "fact", Content: "too much"})
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("a write gives %v", err)
	}
	if got := verdict(); !strings.HasPrefix(got, "disk is full: 7 bytes free: nothing is stored") {
		t.Errorf("without room: %q", got)
	}
	wantChecks(t, a.Node, map[node.CheckName]string{node.CheckWrites: "disk is full: 7 bytes free: nothing is stored"})
	full.Store(false)
	wantChecks(t, a.Node, nil)
	if got := verdict(); got != "in sync: this node is the whole fleet" {
		t.Errorf("with room again: %q", got)
	}
}

// A machine whose clock was set back cannot write until time has caught up.
func TestAVerdictNamesAClockThatWasSetBack(t *testing.T) {
	var back atomic.Int64
	f := newFixture(t, func(c *node.Config) {
		c.Now = func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
	})
	a := f.found("a")
	a.remember("stamped before")
	back.Store(int64(time.Hour))
	_, err := a.State().Memory().Write(t.Context(), state.MemoryItem{Kind: "fact", Content: "stamped after"})
	if !errors.Is(err, hlc.ErrClockAhead) {
		t.Fatalf("a write gives %v", err)
	}
	status, err := a.Status(t.Context())
	if err != nil || !strings.HasPrefix(status.Verdict, "this machine's clock is 1h0m0s behind what it has stamped") {
		t.Errorf("%q, %v", status.Verdict, err)
	}
	wantChecks(t, a.Node, map[node.CheckName]string{node.CheckClock: "this machine's clock is 1h0m0s behind what it has stamped"})
	// A clock that is wrong by less refuses nothing.
	back.Store(int64(time.Minute))
	a.remember("stamped a minute before")
	wantChecks(t, a.Node, nil)
}

// wantChecks compares the checks of a node with those that have to fail.
func wantChecks(t *testing.T, n *node.Node, failing map[node.CheckName]string) {
	t.Helper()
	var names []node.CheckName
	for _, c := range n.Checks(t.Context()) {
		names = append(names, c.Name)
		want, fails := failing[c.Name]
		if fails != (c.Err != nil) || fails && !strings.Contains(c.Err.Error(), want) {
			t.Errorf("check %s: %v, want %q", c.Name, c.Err, want)
		}
	}
	if diff := cmp.Diff([]node.CheckName{node.CheckNode, node.CheckNetwork, node.CheckWrites, node.CheckClock}, names); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// TestAStoreThatFailedIsNamed whatever it failed of.
func TestAStoreThatFailedIsNamed(t *testing.T) {
	var fails atomic.Bool
	f := newFixture(t, func(c *node.Config) {
		c.StoreKind = node.StoreMemory
		c.Engine = brokenDisk{store.NewMemory(), &fails}
	})
	a := f.found("a")
	fails.Store(true)
	if _, err := a.State().Memory().Write(t.Context(), state.MemoryItem{Content: "lost"}); !errors.Is(err, errBroken) {
		t.Fatalf("a write gives %v", err)
	}
	wantChecks(t, a.Node, map[node.CheckName]string{node.CheckWrites: errBroken.Error() + ": nothing is stored"})
	fails.Store(false)
	wantChecks(t, a.Node, nil)
}

// TestANodeThatDoesNotRunFailsItsChecksOfTheNetwork and no other.
func TestANodeThatDoesNotRunFailsItsChecksOfTheNetwork(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	a.stop()
	n, err := node.New(t.Context(), f.config(a.dir))
	if err != nil {
		t.Fatal(err)
	}
	wantChecks(t, n, map[node.CheckName]string{node.CheckNode: "", node.CheckNetwork: ""})
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// errBroken is what a broken disk gives.
var errBroken = errors.New("input/output error")

// brokenDisk is an engine that may fail.
type brokenDisk struct {
	store.Engine
	fails *atomic.Bool
}

func (d brokenDisk) Update(fn func(tx store.Txn) error) error {
	if d.fails.Load() {
		return errBroken
	}
	return d.Engine.Update(fn)
}

// Right after a write here nothing is wrong with who was in sync, and nobody knows
// yet whether it has the write.
func TestAfterAWriteWhoWasInSyncIsToldOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSimFleet(t)
		a := f.member(0, nil)
		b := f.member(1, a)
		f.settle(time.Minute, a, b)
		status := func() node.Status {
			st, err := a.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		time.Sleep(time.Minute)
		// It was heard just now, so that nobody waits for it below.
		if st := status(); !st.InSync {
			t.Fatalf("at rest: %s", st.Verdict)
		}
		a.remember("new")
		synctest.Wait()
		st := status()
		other := st.Members[1]
		if st.InSync || st.Verdict != "in sync with 0 of 1 members: m1 was told of the last change here" {
			t.Errorf("after a write: in sync %t, %s", st.InSync, st.Verdict)
		}
		if other.State != node.MemberSyncing || !other.IsTold || other.Lacks != 0 || other.Behind != 0 || other.Why != "" {
			t.Errorf("after a write the other is %+v", other)
		}
		time.Sleep(time.Minute)
		if st := status(); !st.InSync || st.Members[1].IsTold {
			t.Errorf("a minute later: %s", st.Verdict)
		}
		a.stop()
		b.stop()
	})
}
