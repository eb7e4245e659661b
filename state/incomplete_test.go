package state_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// fetch gives a node the content that it wants, as far as the others have it.
func (n *node) fetch(t failer, from ...*node) {
	t.Helper()
	var wanted []store.WantedBlob
	must(t, n.store.View(func(r *store.Reader) error {
		return r.Wanted(merge.Hash{}, func(w store.WantedBlob) bool {
			wanted = append(wanted, w)
			return true
		})
	}))
	for _, w := range wanted {
		for _, other := range from {
			var content []byte
			must(t, other.store.View(func(r *store.Reader) (err error) {
				if content, err = r.Blob(w.Hash); errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrIncomplete) {
					return nil
				}
				return err
			}))
			for offset := 0; offset < len(content); offset += store.ChunkBytes {
				_, err := n.store.AddChunk(context.Background(), store.Chunk{
					Hash: w.Hash, Size: int64(len(content)), Offset: int64(offset), Bytes: content[offset:min(offset+store.ChunkBytes, len(content))],
				})
				must(t, err)
			}
		}
	}
}

// TestWhatIsIncompleteSaysSo: a record without its content is listed, is not read
// by name, is not written back, and is whole once the content has come.
func TestWhatIsIncompleteSaysSo(t *testing.T) {
	t.Parallel()
	clk := clock.NewManual(startTime())
	a, b := newNode(t, "a", clk), newNode(t, "b", clk)
	ctx, long := t.Context(), strings.Repeat("long ", 20_000)
	a.upsert(t, state.Skill{Slug: "s", Body: "short", Tags: []string{"tag"}})
	a.upsert(t, state.Skill{Slug: "s", Body: long, Tags: []string{"tag"}})
	a.upsert(t, state.Skill{Slug: "other", Body: "short"})
	a.write(t, state.MemoryItem{ID: "m", Content: long})
	_, err := a.Sessions().Create(ctx, state.Session{ID: "c"})
	must(t, err)
	turn := state.Turn{SessionID: "c", ID: "t", Content: long}
	_, err = a.Sessions().AppendTurn(ctx, turn)
	must(t, err)
	b.receive(t, a.log...)

	_, errSkill := b.Skills().Get(ctx, "s")
	_, errIn := b.SkillLibrary().GetIn(ctx, state.Scope{}, "s")
	_, errItem := b.MemoryLibrary().Get(ctx, "m")
	_, errItemIn := b.MemoryLibrary().GetIn(ctx, state.Scope{}, "m")
	_, errTurn := b.Sessions().AppendTurn(ctx, state.Turn{SessionID: "c", ID: "t", Content: "is it this?"})
	for i, err := range []error{errSkill, errIn, errItem, errItemIn, errTurn} {
		if !errors.Is(err, state.ErrIncomplete) {
			t.Errorf("read %d gives %v, want ErrIncomplete", i, err)
		}
	}
	list, err := b.Skills().List(ctx, state.Scope{})
	must(t, err)
	if len(list) != 2 || list[0].Incomplete || !list[1].Incomplete || list[1].Body != "" || len(list[1].Tags) != 1 {
		t.Errorf("the list is %+v", list)
	}
	if _, err := b.Skills().Upsert(ctx, list[1]); !errors.Is(err, state.ErrIncomplete) {
		t.Errorf("what was listed without content is written: %v", err)
	}
	turns, err := b.Sessions().Turns(ctx, "c")
	must(t, err)
	items, err := b.Memory().Recall(ctx, state.RecallQuery{})
	must(t, err)
	if len(turns) != 1 || !turns[0].Incomplete || len(items) != 1 || !items[0].Incomplete {
		t.Errorf("turns %+v, items %+v", turns, items)
	}
	incompleteStream(t, b)

	b.fetch(t, a)
	sk, err := b.Skills().Get(ctx, "s")
	must(t, err)
	if sk.Body != long || sk.Incomplete {
		t.Errorf("the skill has %d bytes, incomplete %t", len(sk.Body), sk.Incomplete)
	}
	same(t, a.answers(t), b.answers(t))
	must(t, b.Snapshot(ctx))
}

// incompleteStream: the stream folds to the state also while content is missing,
// and no snapshot is saved that would hide it later.
func incompleteStream(t *testing.T, n *node) {
	t.Helper()
	ctx := t.Context()
	exported, err := n.Export(ctx)
	must(t, err)
	folded, _, err := state.Fold(ctx, n.Log())
	must(t, err)
	same(t, exported, folded)
	events, err := n.Log().Read(ctx, state.StateStream, 0, 0)
	must(t, err)
	log := eventlog.NewMemory(startTime)
	for _, e := range events {
		_, err := log.Append(ctx, eventlog.AppendInput{
			Stream: e.Stream, Type: e.Type, Payload: e.Payload, SchemaVersion: e.SchemaVersion, Time: e.Time, OriginInstanceID: e.OriginInstanceID,
		})
		must(t, err)
	}
	again, _, err := state.Fold(ctx, log)
	must(t, err)
	again.LastSeq = exported.LastSeq // that log has no gaps
	same(t, exported, again)
	if err := n.Snapshot(ctx); !errors.Is(err, state.ErrIncomplete) {
		t.Errorf("a snapshot without content: %v", err)
	}
	if _, err := state.Replay(ctx, n.Log()); !errors.Is(err, state.ErrIncomplete) {
		t.Errorf("a replay without content: %v", err)
	}
	other := state.NewMemory().(state.Replica)
	defer func() { must(t, other.Close()) }()
	result, err := other.Import(ctx, exported, false)
	must(t, err)
	if result.Skills.Refused != 1 || result.Skills.Created != 1 || result.Items.Refused != 1 || result.Turns.Refused != 1 {
		t.Errorf("the import of what is incomplete: %+v", result)
	}
}

// TestWhatIsIncompleteIsSettled: conflicts and reverts need no content.
func TestWhatIsIncompleteIsSettled(t *testing.T) {
	t.Parallel()
	clk := clock.NewManual(startTime())
	a, b, c := newNode(t, "a", clk), newNode(t, "b", clk), newNode(t, "c", clk)
	long := strings.Repeat("long ", 20_000)
	a.upsert(t, state.Skill{Slug: "s", Body: long})
	b.upsert(t, state.Skill{Slug: "s", Body: "short"})
	c.receive(t, append(a.log, b.log...)...)
	key := merge.Key{Kind: "skill", ID: "s"}
	versions, err := c.History(t.Context(), key)
	must(t, err)
	for _, v := range versions {
		if v.LastWriterID != "a" {
			continue
		}
		restored, err := c.Restore(t.Context(), key, v.Hash)
		must(t, err)
		if !restored.Skill.Incomplete {
			t.Errorf("restored is %+v", restored.Skill)
		}
	}
	c.fetch(t, a)
	sk, err := c.Skills().Get(t.Context(), "s")
	must(t, err)
	if sk.Body != long || sk.LastWriterID != "c" {
		t.Errorf("%d bytes by %s", len(sk.Body), sk.LastWriterID)
	}
	must(t, c.store.Verify(t.Context()))
}

// TestLongContentGoesToALogOfTheCallers: events carry it whole.
func TestLongContentGoesToALogOfTheCallers(t *testing.T) {
	t.Parallel()
	log := eventlog.NewMemory(startTime)
	p := state.NewMemory(state.WithEventLog(log)).(state.Replica)
	defer func() { must(t, p.Close()) }()
	long := strings.Repeat("long ", 200_000)
	_, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: "s", Body: long})
	must(t, err)
	events, err := log.Read(t.Context(), state.StateStream, 0, 0)
	must(t, err)
	sk, err := state.DecodeSkill(events[0].Payload)
	must(t, err)
	replayed, err := state.Replay(t.Context(), log)
	must(t, err)
	defer func() { must(t, replayed.Close()) }()
	again, err := replayed.Skills().Get(t.Context(), "s")
	must(t, err)
	if sk.Body != long || again.Body != long {
		t.Errorf("the event has %d bytes, its replay %d", len(sk.Body), len(again.Body))
	}
}

// TestARefusedWriteLeavesNoContent: what was stored before the version goes with it.
func TestARefusedWriteLeavesNoContent(t *testing.T) {
	t.Parallel()
	n := openNode(t, store.NewMemory(), clock.NewManual(startTime()), state.Config{
		InstanceID: "a", Admit: func(rec *merge.Record) error {
			if rec.Key.ID == "denied" {
				return errors.New("not yours")
			}
			return nil
		},
	})
	defer func() { must(t, n.Close()) }()
	long := strings.Repeat("long ", 20_000)
	if _, err := n.Skills().Upsert(t.Context(), state.Skill{Slug: "denied", Body: long}); !errors.Is(err, state.ErrDenied) {
		t.Fatalf("a denied write: %v", err)
	}
	must(t, n.store.SetLocal(t.Context(), "any", nil))
	n.upsert(t, state.Skill{Slug: "s"})
	must(t, n.store.Verify(t.Context()))
	must(t, n.store.View(func(r *store.Reader) error {
		if _, err := r.Blob(sha256.Sum256([]byte(long))); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the content is still there: %v", err)
		}
		return nil
	}))
}
