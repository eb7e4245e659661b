package mcp_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// replica is a node whose commits can be given to another.
type replica struct {
	node
	store *store.Store
	log   []merge.Record
}

func newReplica(tb testing.TB, name string) *replica {
	tb.Helper()
	r := &replica{}
	var err error
	r.store, err = store.Open(store.NewMemory(), store.Config{
		Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{},
		OnCommit: func(c store.Commit) { r.log = append(r.log, c.Records...) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	if r.replica, err = state.Open(r.store, state.Config{InstanceID: name}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.replica.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// receive merges what another replica has committed, without contents apart.
func (r *replica) receive(tb testing.TB, from *replica) {
	tb.Helper()
	if _, err := r.store.Merge(tb.Context(), store.Batch{Path: store.PathFeed, Records: from.log}); err != nil {
		tb.Fatal(err)
	}
}

// TestProvenanceAndConflicts writes one item and one file on two machines that
// are apart, and looks at both after they have met.
func TestProvenanceAndConflicts(t *testing.T) {
	desk, laptop := newReplica(t, "desk"), newReplica(t, "laptop")
	onDesk := connect(t, mcp.New(desk, mcp.Config{}), mcp.Options{})
	onLaptop := connect(t, mcp.New(laptop, mcp.Config{}), mcp.Options{})
	call[mcp.MemoryEntry](t, onDesk, "memory_write", args{"id": "alone", "content": "only here"})
	for _, a := range []*agent{onDesk, onLaptop} {
		call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "both", "content": "written on " + map[bool]string{true: "desk", false: "laptop"}[a == onDesk]})
		call[mcp.FileResult](t, a, "memory", args{"command": "create", "path": "/memories/plan.md", "file_text": "plan"})
	}
	laptop.receive(t, desk)
	desk.receive(t, laptop)
	for _, a := range []*agent{onDesk, onLaptop} {
		afterMeeting(t, a)
	}
	failing(t, onDesk, "memory_history", args{"id": "both", "hash": "ff00ff"}, "not_found")
	failing(t, onDesk, "memory_history", args{"id": "nobody"}, "not_found")
}

// afterMeeting looks at what desk and laptop wrote, as either of them.
func afterMeeting(t *testing.T, a *agent) {
	t.Helper()
	m, _ := call[mcp.Memory](t, a, "memory_get", args{"id": "alone"})
	expect(t, "alone", mcp.Provenance{WriterID: "desk", Writer: "desk", WrittenAt: m.WrittenAt}, m.Provenance)
	if time.Since(m.WrittenAt) > time.Hour {
		t.Errorf("written at %s", m.WrittenAt)
	}
	m, text := call[mcp.Memory](t, a, "memory_get", args{"id": "both"})
	lost := mcp.Provenance{WriterID: "laptop", Writer: "laptop", WrittenAt: m.WrittenAt, InConflict: true}
	expect(t, "both", lost, m.Provenance)
	contains(t, text, "by laptop, ", "IN CONFLICT")
	// One path is one record on both machines: the later write won.
	out, _ := call[mcp.FileResult](t, a, "memory", args{"command": "view", "path": "/memories/plan.md"})
	lost.WrittenAt = out.Files[0].WrittenAt
	expect(t, "file", lost, out.Files[0].Provenance)
	index, text := call[mcp.ConflictIndex](t, a, "fleet_conflicts", nil)
	contains(t, text, "written on desk", "2 of 2 conflicts")
	expect(t, "conflict", []string{"both", "desk", "laptop"}, []string{index.Conflicts[1].Key, index.Conflicts[1].Loser.Writer, index.Conflicts[1].Winner.Writer})
	h, _ := call[mcp.History](t, a, "memory_history", args{"id": "both"})
	expect(t, "standings", []string{"head", "conflict"}, []string{h.Versions[0].Standing, h.Versions[1].Standing})
	one, _ := call[mcp.History](t, a, "memory_history", args{"id": "both", "hash": h.Versions[1].Hash[:12]})
	expect(t, "the version that lost", "written on desk", one.Versions[0].Content)
}

// TestIncompleteContent reads a record whose text has not come yet.
func TestIncompleteContent(t *testing.T) {
	desk, laptop := newReplica(t, "desk"), newReplica(t, "laptop")
	onDesk := connect(t, mcp.New(desk, mcp.Config{}), mcp.Options{})
	a := connect(t, mcp.New(laptop, mcp.Config{}), mcp.Options{})
	long := strings.Repeat("long ", 20_000)
	call[mcp.MemoryEntry](t, onDesk, "memory_write", args{"id": "m", "content": long, "kind": "fact"})
	call[mcp.SkillEntry](t, onDesk, "skill_upsert", args{"slug": "s", "body": long})
	call[mcp.FileResult](t, onDesk, "memory", args{"command": "create", "path": "/memories/f", "file_text": long})
	ses, _ := call[mcp.Session](t, onDesk, "session_create", args{"title": "t"})
	call[mcp.Turn](t, onDesk, "session_append", args{"session_id": ses.ID, "role": "user", "content": long})
	laptop.receive(t, desk)
	if index, text := call[mcp.MemoryIndex](t, a, "memory_list", args{"kind": "fact"}); !index.Items[0].Incomplete || !strings.Contains(text, "fact, incomplete") {
		t.Errorf("list: %+v", index)
	}
	for tool, in := range map[string]args{"memory_get": {"id": "m"}, "skill_get": {"slug": "s"}} {
		text := failing(t, a, tool, in, "incomplete: ")
		if !strings.Contains(text, "fleet_status") || !strings.Contains(text, `"writer":"desk"`) || !strings.Contains(text, "such as desk, which wrote it") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	failing(t, a, "memory", args{"command": "view", "path": "/memories/f"}, "incomplete: ")
	if out, text := call[mcp.Transcript](t, a, "session_turns", args{"session_id": ses.ID}); !out.Turns[0].Incomplete || !strings.Contains(text, "(incomplete") {
		t.Errorf("turns: %+v", out)
	}
	// It is written over, counted and deleted all the same.
	if m, _ := call[mcp.MemoryEntry](t, a, "memory_write", args{"id": "m", "content": "short"}); m.Kind != "fact" || m.Snippet != "short" {
		t.Errorf("written over: %+v", m)
	}
	call[mcp.SkillEntry](t, a, "skill_report", args{"slug": "s", "won": false})
	call[mcp.Deleted](t, a, "skill_delete", args{"slug": "s"})
	call[mcp.FileResult](t, a, "memory", args{"command": "delete", "path": "/memories/f"})
}
