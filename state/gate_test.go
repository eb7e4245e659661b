package state_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// Written in parts, so that no scanner of repositories takes it for a leak.
const (
	awsKey  = "AKIA" + "IOSFODNN7EXAMPLE"
	awsRule = "aws-access-key-id"
	leak    = "use " + awsKey + " for it"
	clean   = "use [redacted: " + awsRule + "] for it"
)

// gated opens a replica with a gate, and collects what it is told.
func gated(t *testing.T, gate state.GateMode) (*node, *[]state.Noticed) {
	t.Helper()
	told := &[]state.Noticed{}
	clk := clock.NewManual(startTime())
	n := openNode(t, store.NewMemory(), clk, state.Config{
		InstanceID: "a", Gate: gate, OnSecret: func(n state.Noticed) { *told = append(*told, n) },
	})
	t.Cleanup(func() { must(t, n.Close()) })
	return n, told
}

// leaves fails when a version with the secret was committed outside of this instance.
func (n *node) leaves(t *testing.T) (out bool) {
	t.Helper()
	for _, rec := range n.log {
		if rec.Key.Scope.Instance == "" && strings.Contains(string(rec.Body)+string(rec.Key.ID), awsKey) {
			out = true
		}
	}
	return out
}

func (n *node) held(t *testing.T) []state.HeldRecord {
	t.Helper()
	held, err := n.Held(context.Background())
	must(t, err)
	return held
}

// Every way by which a text becomes a record of this instance.
func TestTheGateHoldsOnEveryLocalPath(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	scope := state.Scope{Project: "web"}
	long := leak + strings.Repeat(" and more", 10_000)
	snapshot := state.Snapshot{
		Sessions: []state.Session{{ID: "s", Title: leak}}, Skills: []state.Skill{{Slug: "deploy", Body: leak, Scope: scope}},
		Turns: []state.Turn{{ID: "t", SessionID: "s", Seq: 1, Role: "user", Content: leak}}, Items: []state.MemoryItem{{ID: "m", Content: leak}},
	}
	for name, write := range map[string]func(n *node) error{
		"memory": func(n *node) error {
			return second(n.Memory().Write(ctx, state.MemoryItem{Content: leak, Scope: scope}))
		},
		"memory source": func(n *node) error {
			return second(n.Memory().Write(ctx, state.MemoryItem{Content: "x", Source: leak}))
		},
		"long memory": func(n *node) error { return second(n.Memory().Write(ctx, state.MemoryItem{Content: long})) },
		"memory id":   func(n *node) error { return second(n.Memory().Write(ctx, state.MemoryItem{ID: awsKey, Content: "x"})) },
		"skill body": func(n *node) error {
			return second(n.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Body: leak, Scope: scope}))
		},
		"skill name": func(n *node) error { return second(n.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Name: leak})) },
		"skill tags": func(n *node) error {
			return second(n.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Tags: []string{awsKey}}))
		},
		"skill check": func(n *node) error { return second(n.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Check: leak})) },
		"session":     func(n *node) error { return second(n.Sessions().Create(ctx, state.Session{Title: leak})) },
		"turn": func(n *node) error {
			ses, err := n.Sessions().Create(ctx, state.Session{})
			return errors.Join(err, second(n.Sessions().AppendTurn(ctx, state.Turn{SessionID: ses.ID, Role: "user", Content: leak})))
		},
		"import": func(n *node) error { return second(n.Import(ctx, snapshot, false)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, told := gated(t, state.GateHold)
			must(t, write(n))
			held := n.held(t)
			if len(held) == 0 || n.leaves(t) || len(*told) != len(held) {
				t.Fatalf("%d are held, it leaves: %v, told %v", len(held), n.leaves(t), *told)
			}
			for i, h := range held {
				if h.Key.Scope.Instance != "a" || h.To.Instance != "" || h.Rules[0] != awsRule || !(*told)[i].Held {
					t.Errorf("held: %+v, told %+v", h, (*told)[i])
				}
				if strings.Contains((*told)[i].Key, awsKey) {
					t.Errorf("told of the secret: %+v", (*told)[i])
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestTheGateMayWarnOrBeOff(t *testing.T) {
	t.Parallel()
	n, told := gated(t, state.GateWarn)
	it := n.write(t, state.MemoryItem{Content: leak})
	if it.Warned != awsRule || it.Held != "" || it.Scope != (state.Scope{}) || len(*told) != 1 || (*told)[0].Held {
		t.Errorf("written %+v, told %+v", it, *told)
	}
	n, told = gated(t, state.GateOff)
	it = n.write(t, state.MemoryItem{Content: leak})
	if it.Warned != "" || it.Held != "" || len(*told) != 0 || !n.leaves(t) {
		t.Errorf("written %+v, told %+v", it, *told)
	}
}

// What was held is found by whoever wrote it, in every way of reading.
func TestWhatIsHeldIsReadInItsSession(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n, _ := gated(t, state.GateHold)
	ses, err := n.Sessions().Create(ctx, state.Session{Title: leak})
	must(t, err)
	for i, text := range []string{"one", leak, "three"} {
		turn, err := n.Sessions().AppendTurn(ctx, state.Turn{SessionID: ses.ID, Role: "user", Content: text})
		if must(t, err); turn.Seq != int64(i+1) {
			t.Errorf("turn %d has the number %d", i+1, turn.Seq)
		}
	}
	turns, err := n.Sessions().Turns(ctx, ses.ID)
	must(t, err)
	if len(turns) != 3 || turns[1].Content != leak || turns[1].Held != awsRule || turns[2].Held != "" {
		t.Errorf("turns: %+v", turns)
	}
	got, err := n.Sessions().Get(ctx, ses.ID)
	if must(t, err); got.Title != leak || got.SyncVersion != 4 {
		t.Errorf("session: %+v", got)
	}
	if list, err := n.Sessions().List(ctx); err != nil || len(list) != 1 {
		t.Errorf("sessions: %v, %v", list, err)
	}
}

func TestWhatIsHeldIsFoundByItsWriter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n, _ := gated(t, state.GateHold)
	scope := state.Scope{Project: "web"}
	it := n.write(t, state.MemoryItem{Content: leak, Scope: scope})
	sk := n.upsert(t, state.Skill{Slug: "deploy", Body: leak, Scope: scope})
	for name, read := range map[string]func() (state.MemoryItem, error){
		"get":    func() (state.MemoryItem, error) { return n.MemoryLibrary().Get(ctx, it.ID) },
		"get in": func() (state.MemoryItem, error) { return n.MemoryLibrary().GetIn(ctx, scope, it.ID) },
		"list":   func() (state.MemoryItem, error) { return first(n.MemoryLibrary().List(ctx, scope, "")) },
		"recall": func() (state.MemoryItem, error) {
			return first(n.Memory().Recall(ctx, state.RecallQuery{Query: "use"}))
		},
		"page": func() (state.MemoryItem, error) {
			page, _, err := n.MemoryLibrary().Page(ctx, state.MemoryPage{Scope: &scope, Limit: 3})
			return first(page, err)
		},
		"recall in": func() (state.MemoryItem, error) {
			return first(n.Memory().Recall(ctx, state.RecallQuery{Scope: scope}))
		},
	} {
		if got, err := read(); err != nil || got.Content != leak || got.Held != awsRule {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, read := range map[string]func() (state.Skill, error){
		"get":    func() (state.Skill, error) { return n.Skills().Get(ctx, "deploy") },
		"by id":  func() (state.Skill, error) { return n.Skills().Get(ctx, sk.ID) },
		"get in": func() (state.Skill, error) { return n.SkillLibrary().GetIn(ctx, scope, "deploy") },
		"list":   func() (state.Skill, error) { return first(n.Skills().List(ctx, scope)) },
		"search": func() (state.Skill, error) { return first(n.Skills().Search(ctx, "use", 0)) },
		"page": func() (state.Skill, error) {
			page, _, err := n.SkillLibrary().Page(ctx, state.SkillPage{Scope: &scope, Limit: 3})
			return first(page, err)
		},
	} {
		if got, err := read(); err != nil || got.Body != leak || got.Held != awsRule {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func first[T any](list []T, err error) (one T, _ error) {
	if err == nil && len(list) != 1 {
		err = errors.New("not one")
	}
	if len(list) > 0 {
		one = list[0]
	}
	return one, err
}

// A held update neither replaces nor hides what the fleet has, and a clean write over
// what only is held takes its place.
func TestAHeldUpdateLeavesTheSharedRecord(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n, _ := gated(t, state.GateHold)
	shared := n.upsert(t, state.Skill{Slug: "deploy", Body: "old"})
	update := shared
	update.Body = leak
	if written, err := n.Skills().Upsert(ctx, update); err != nil || written.Held != awsRule || written.Scope.Instance != "a" {
		t.Fatalf("written %+v, %v", written, err)
	}
	for name, read := range map[string]func() (state.Skill, error){
		"get":    func() (state.Skill, error) { return n.Skills().Get(ctx, "deploy") },
		"list":   func() (state.Skill, error) { return first(n.Skills().List(ctx, state.Scope{})) },
		"search": func() (state.Skill, error) { return first(n.Skills().Search(ctx, "", 0)) },
	} {
		if got, err := read(); err != nil || got.Body != "old" || got.SyncVersion != shared.SyncVersion {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	stale := update
	stale.SyncVersion = 7
	if _, err := n.Skills().Upsert(ctx, stale); !errors.Is(err, state.ErrConflict) {
		t.Errorf("a stale condition: %v", err)
	}
	must(t, n.Skills().Delete(ctx, "deploy"))
	if _, err := n.Skills().Get(ctx, "deploy"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("deleted, and yet: %v", err)
	}

	it := n.write(t, state.MemoryItem{Content: leak})
	it.Scope, it.Content = state.Scope{}, "nothing secret"
	if written := n.write(t, it); written.Held != "" || written.Scope != (state.Scope{}) {
		t.Errorf("written %+v", written)
	}
	if held := n.held(t); len(held) != 0 || n.leaves(t) {
		t.Errorf("held %+v", held)
	}
}

func TestReleaseAndRedact(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	long := leak + strings.Repeat(" and more", 10_000)
	for name, c := range map[string]struct {
		write func(n *node)
		text  string
	}{
		"memory":      {func(n *node) { n.write(t, state.MemoryItem{ID: "m", Content: leak}) }, leak},
		"long memory": {func(n *node) { n.write(t, state.MemoryItem{ID: "m", Content: long}) }, long},
		"skill":       {func(n *node) { n.upsert(t, state.Skill{Slug: "deploy", Body: leak}) }, leak},
		"skill that is there": {func(n *node) {
			n.upsert(t, state.Skill{Slug: "deploy", Body: "old"})
			n.upsert(t, state.Skill{Slug: "deploy", Body: leak})
		}, leak},
		"session": {func(n *node) { must(t, second(n.Sessions().Create(ctx, state.Session{ID: "s", Title: leak}))) }, leak},
		"turn": {func(n *node) {
			must(t, second(n.Sessions().Create(ctx, state.Session{ID: "s"})))
			must(t, second(n.Sessions().AppendTurn(ctx, state.Turn{SessionID: "s", Role: "user", Content: leak})))
		}, leak},
	} {
		for _, redact := range []bool{false, true} {
			n, _ := gated(t, state.GateHold)
			c.write(n)
			h := n.held(t)[0]
			detail, err := n.ShowHeld(ctx, h.Key)
			if must(t, err); len(detail.Places) != 1 || detail.Places[0].Line != 1 || strings.Contains(textOf(detail.Redacted), awsKey) {
				t.Errorf("%s: %+v", name, detail)
			}
			do, want := n.Release, c.text
			if redact {
				do, want = n.Redact, strings.Replace(c.text, leak, clean, 1)
			}
			if _, err := do(ctx, h.Key, merge.Hash{}); !errors.Is(err, state.ErrConflict) {
				t.Errorf("%s: another version: %v", name, err)
			}
			out, err := do(ctx, h.Key, h.Version)
			if must(t, err); textOf(out) != want {
				t.Errorf("%s: wrote %.80q, want %.80q", name, textOf(out), want)
			}
			if held := n.held(t); len(held) != 0 {
				t.Errorf("%s: still held: %+v", name, held)
			}
			if _, err := do(ctx, h.Key, h.Version); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("%s: again: %v", name, err)
			}
			shared := h.Key
			shared.Scope = h.To
			versions, err := n.History(ctx, shared)
			if must(t, err); textOf(versions[0]) != want {
				t.Errorf("%s: readers see %.80q, want %.80q", name, textOf(versions[0]), want)
			}
			if redact && n.leaves(t) {
				t.Errorf("%s: the secret left", name)
			}
		}
	}
}

// textOf is the text that the tests write.
func textOf(v state.Version) string {
	switch {
	case v.Memory != nil:
		return v.Memory.Content
	case v.Skill != nil:
		return v.Skill.Body
	case v.Session != nil:
		return v.Session.Title
	case v.Turn != nil:
		return v.Turn.Content
	}
	return ""
}

func TestRestoreAndRevertBringNoSecretBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clk := clock.NewManual(startTime())
	engine := store.NewMemory()
	open := func(gate state.GateMode) *node {
		return openNode(t, engine, clk, state.Config{InstanceID: "a", Gate: gate})
	}
	n := open(state.GateHold)
	t.Cleanup(func() { must(t, n.Close()) })
	other := newNode(t, "b", clk)
	other.write(t, state.MemoryItem{ID: "m", Content: leak})
	clk.Advance(time.Second)
	n.receive(t, other.log...)
	n.write(t, state.MemoryItem{ID: "m", Content: "fine"})
	key := merge.Key{Kind: "memory", ID: merge.NewID("m")}
	versions, err := n.History(ctx, key)
	must(t, err)
	before := len(n.log)
	restored, err := n.Restore(ctx, key, versions[1].Hash)
	if must(t, err); restored.Memory.Held != awsRule {
		t.Errorf("restored %+v", restored.Memory)
	}
	changes, err := n.Revert(ctx, "a", hlc.Timestamp{})
	must(t, err)
	var left bool
	for _, c := range changes {
		left = left || c.Key == key && c.Outcome == state.ChangeLeft && strings.Contains(c.Reason, awsRule)
	}
	if !left {
		t.Errorf("reverted: %+v", changes)
	}
	for _, rec := range n.log[before:] {
		if rec.Key.Scope.Instance == "" && strings.Contains(string(rec.Body), awsKey) {
			t.Errorf("it left as %s", rec.Key)
		}
	}
}

// What is held is part of a backup, and is held again where that is imported.
func TestWhatIsHeldIsExportedAndStaysHeld(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n, _ := gated(t, state.GateHold)
	must(t, second(n.Sessions().Create(ctx, state.Session{ID: "s", Title: "a talk"})))
	must(t, second(n.Sessions().AppendTurn(ctx, state.Turn{SessionID: "s", Role: "user", Content: leak})))
	n.write(t, state.MemoryItem{ID: "m", Content: leak, Scope: state.Scope{Project: "web"}})
	n.upsert(t, state.Skill{Slug: "deploy", Body: leak})
	foldIsExport := func() state.Snapshot {
		t.Helper()
		exported, err := n.Export(ctx)
		must(t, err)
		folded, _, err := state.Fold(ctx, n.Log())
		must(t, err)
		same(t, exported, folded)
		return exported
	}
	exported := foldIsExport()
	// The gate of the one that imports is off, and what was held stays so.
	other, _ := gated(t, state.GateOff)
	for _, want := range []state.ImportCounts{{Created: 1}, {Equal: 1}} {
		result, err := other.Import(ctx, exported, false)
		must(t, err)
		same(t, [3]state.ImportCounts{want, want, want}, [3]state.ImportCounts{result.Turns, result.Items, result.Skills})
		if held := other.held(t); len(held) != 3 || other.leaves(t) || result.Held != 3*want.Created {
			t.Errorf("held %+v, result %+v", held, result)
		}
	}
	for _, h := range n.held(t) {
		must(t, second(n.Redact(ctx, h.Key, h.Version)))
		foldIsExport()
	}
}
