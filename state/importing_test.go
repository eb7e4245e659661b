package state_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// says is what a replica holds live, without what a write of its own adds:
// envelopes, versions, times of change, counts of outcomes.
func (n *node) says(t failer) state.Snapshot {
	t.Helper()
	exported, err := n.Export(context.Background())
	must(t, err)
	deleted := map[string]bool{}
	var s state.Snapshot
	for _, ses := range exported.Sessions {
		if deleted[ses.ID] = ses.Deleted; !ses.Deleted {
			s.Sessions = append(s.Sessions, state.Session{ID: ses.ID, Title: ses.Title, Model: ses.Model, CreatedAt: ses.CreatedAt})
		}
	}
	for _, turn := range exported.Turns { // in their order
		if gone, known := deleted[turn.SessionID]; known && !gone && !turn.Deleted {
			turn.Envelope = state.Envelope{}
			s.Turns = append(s.Turns, turn)
		}
	}
	for _, sk := range exported.Skills {
		if !sk.Deleted {
			sk.Envelope, sk.Version, sk.UpdatedAt, sk.Uses, sk.Wins = state.Envelope{}, 0, time.Time{}, 0, 0
			s.Skills = append(s.Skills, sk)
		}
	}
	for _, it := range exported.Items {
		if !it.Deleted {
			it.Envelope = state.Envelope{}
			s.Items = append(s.Items, it)
		}
	}
	return s
}

func (n *node) imports(t failer, s state.Snapshot) state.ImportResult {
	t.Helper()
	result, err := n.Import(context.Background(), s, false)
	must(t, err)
	return result
}

func (n *node) exports(t failer) state.Snapshot {
	t.Helper()
	s, err := n.Export(context.Background())
	must(t, err)
	return s
}

// written counts the records of a result that were written.
func written(r state.ImportResult) (n int) {
	for _, c := range []state.ImportCounts{r.Sessions, r.Turns, r.Skills, r.Items} {
		n += c.Created + c.Updated
	}
	return n
}

// TestAnImportIntoAnEmptyProviderGivesWhatWasLive: whatever paths the records
// came by. What is refused shares an id, which merges alone bring about.
func TestAnImportIntoAnEmptyProviderGivesWhatWasLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		defer h.close(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
		}
		from := h.nodes[0]
		to := openNode(t, store.NewMemory(), clock.NewManual(startTime().Add(time.Hour)), state.Config{InstanceID: "z"})
		defer func() { must(t, to.Close()) }()

		planned, err := to.Import(context.Background(), from.exports(t), true)
		must(t, err)
		same(t, 0, len(to.log))
		result := to.imports(t, from.exports(t))
		want, got := from.says(t), to.says(t)
		refused := map[merge.Key]bool{}
		for _, r := range result.Refused {
			refused[r.Key] = true
			if !strings.Contains(r.Reason, "is that of skill") && !strings.Contains(r.Reason, "belongs to scope") && !strings.Contains(r.Reason, "session is not in") {
				t.Errorf("%s is refused: %s", r.Key, r.Reason)
			}
		}
		want.Skills = slices.DeleteFunc(want.Skills, func(sk state.Skill) bool {
			return refused[merge.Key{Kind: "skill", Scope: sk.Scope, ID: merge.NewID(sk.Slug)}]
		})
		want.Items = slices.DeleteFunc(want.Items, func(it state.MemoryItem) bool {
			return refused[merge.Key{Kind: "memory", Scope: it.Scope, ID: merge.NewID(it.ID)}]
		})
		same(t, marshalled(t, want), marshalled(t, got))
		if len(result.Refused) == 0 {
			same(t, result, planned)
		}

		again := to.imports(t, from.exports(t))
		same(t, 0, written(again))
		same(t, result.Refused, again.Refused)
		same(t, marshalled(t, got), marshalled(t, to.says(t)))
	})
}

// TestAnImportOverWhatIsThere: what differs is updated, what is deleted is live
// again, what is not in the snapshot stays, and each write is the importer's.
func TestAnImportOverWhatIsThere(t *testing.T) {
	clkA, clkB := clock.NewManual(startTime()), clock.NewManual(startTime().Add(time.Hour))
	a, b := newNode(t, "a", clkA), newNode(t, "b", clkB)
	ctx := t.Context()
	for _, n := range []*node{a, b} {
		_, err := n.Sessions().Create(ctx, state.Session{ID: "s", Title: "of both"})
		must(t, err)
	}
	turn := func(n *node, id, text string) {
		t.Helper()
		_, err := n.Sessions().AppendTurn(ctx, state.Turn{ID: id, SessionID: "s", Role: "user", Content: text})
		must(t, err)
	}
	turn(a, "t1", "one")
	turn(a, "t2", "two")
	turn(a, "t3", "three")
	turn(b, "t1", "one")
	turn(b, "t3", "another")
	a.upsert(t, state.Skill{Slug: "deploy", Body: "new", Tags: []string{"ops"}})
	a.upsert(t, state.Skill{Slug: "equal", Body: "same"})
	a.upsert(t, state.Skill{Slug: "gone", Body: "gone"})
	must(t, a.Skills().Delete(ctx, "gone"))
	b.upsert(t, state.Skill{Slug: "deploy", Body: "old"})
	b.upsert(t, state.Skill{Slug: "equal", Body: "same"})
	b.upsert(t, state.Skill{Slug: "gone", Body: "still here"})
	b.upsert(t, state.Skill{Slug: "mine", Body: "mine"})
	a.write(t, state.MemoryItem{ID: "m", Content: "kept"})
	b.write(t, state.MemoryItem{ID: "m", Content: "kept"})
	must(t, b.Memory().Delete(ctx, "m"))

	result := b.imports(t, a.exports(t))
	same(t, []state.ImportCounts{{Equal: 1}, {Created: 1, Equal: 1, Refused: 1}, {Updated: 1, Equal: 1}, {Created: 1}},
		[]state.ImportCounts{result.Sessions, result.Turns, result.Skills, result.Items})
	same(t, 1, len(result.Refused))
	same(t, "session.turn/s/t3", result.Refused[0].Key.String())
	same(t, []string{"1 one", "2 another", "2 two"}, b.said(t))
	same(t, "kept", b.content(t, "m"))
	for slug, want := range map[string]string{"deploy": "new", "equal": "same", "gone": "still here", "mine": "mine"} {
		sk, err := b.Skills().Get(ctx, slug)
		must(t, err)
		same(t, []any{want, "b"}, []any{sk.Body, sk.LastWriterID})
	}
	same(t, 0, written(b.imports(t, a.exports(t))))
}

// TestAnImportRevivesASession with the turns that it had here and there.
func TestAnImportRevivesASession(t *testing.T) {
	a, b := newNode(t, "a", clock.NewManual(startTime())), newNode(t, "b", clock.NewManual(startTime().Add(time.Hour)))
	_, err := a.Sessions().Create(t.Context(), state.Session{ID: "s", Title: "talk"})
	must(t, err)
	a.say(t, "one")
	exchange(t, a, b)
	a.say(t, "two")
	must(t, b.Sessions().Delete(t.Context(), "s"))
	result := b.imports(t, a.exports(t))
	same(t, []state.ImportCounts{{Created: 1}, {Created: 1, Equal: 1}}, []state.ImportCounts{result.Sessions, result.Turns})
	same(t, []string{"1 one", "2 two"}, b.said(t))
	ses, err := b.Sessions().Get(t.Context(), "s")
	must(t, err)
	same(t, "talk", ses.Title)
}

// TestAnImportReportsWhatItRefuses, and goes on.
func TestAnImportReportsWhatItRefuses(t *testing.T) {
	n := openNode(t, store.NewMemory(), clock.NewManual(startTime()), state.Config{InstanceID: "n", Admit: func(rec *merge.Record) error {
		if rec.Key.Kind == "skill" {
			return errors.New("not skills")
		}
		return nil
	}})
	t.Cleanup(func() { must(t, n.Close()) })
	s := state.Snapshot{
		Sessions: []state.Session{{ID: "s"}, {ID: "\x01"}, {ID: "gone", Envelope: state.Envelope{Deleted: true}}, {}},
		Turns: []state.Turn{
			{ID: "1", SessionID: "s", Seq: 1},
			{ID: "2", SessionID: "s"},
			{SessionID: "s", Seq: 3},
			{ID: "4", SessionID: "s", Seq: 4, Role: strings.Repeat("x", 1<<17)},
			{ID: "1", SessionID: "\x01", Seq: 1},
			{ID: "1", SessionID: "gone", Seq: 1},
			{ID: "1", SessionID: "nobody", Seq: 1},
		},
		Skills: []state.Skill{{Slug: "denied"}, {Slug: "../x"}, {Slug: "gone", Envelope: state.Envelope{Deleted: true}}},
		Items:  []state.MemoryItem{{ID: "m"}, {ID: "bad", Content: "\xff"}, {}},
	}
	result := n.imports(t, s)
	same(t, []state.ImportCounts{{Created: 1, Refused: 2}, {Created: 1, Refused: 5}, {Refused: 2}, {Created: 1, Refused: 2}},
		[]state.ImportCounts{result.Sessions, result.Turns, result.Skills, result.Items})
	for _, r := range result.Refused {
		if r.Reason == "" || r.Key.Kind == "" {
			t.Errorf("refused %+v", r)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Import(cancelled, s, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestReadSnapshotRefusesWhatIsNone(t *testing.T) {
	const whole = `{"lastSeq":0,"sessions":[],"turns":[],"skills":[],"items":[]}`
	_, err := state.ReadSnapshot([]byte(whole))
	must(t, err)
	for name, text := range map[string]string{
		"nothing":            "",
		"other JSON":         `{"skills":[]}`,
		"null":               `null`,
		"a list":             `[]`,
		"a half":             whole[:len(whole)/2],
		"two":                whole + whole,
		"a list that is not": strings.Replace(whole, `"turns":[]`, `"turns":null`, 1),
		"no number":          strings.Replace(whole, `"lastSeq":0,`, ``, 1),
		"bytes":              strings.Replace(whole, `"skills":[]`, "\"skills\":[{\"Slug\":\"\xff\"}]", 1),
		"a stamp of nobody":  strings.Replace(whole, `"skills":[]`, `"skills":[{"UpdatedHLC":"x"}]`, 1),
	} {
		if _, err := state.ReadSnapshot([]byte(text)); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}
