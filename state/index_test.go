package state_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// indexOf reads all rows of the index.
func (n *node) indexOf(t failer) map[string]string {
	t.Helper()
	rows := map[string]string{}
	must(t, n.store.View(func(r *store.Reader) error {
		return r.IndexScan("", func(name store.IndexName, value []byte) bool {
			rows[string(name)] = string(value)
			return true
		})
	}))
	return rows
}

// derived is the index made of nothing but the heads.
func (n *node) derived(t failer) map[string]string {
	t.Helper()
	rows := map[string]string{}
	must(t, n.store.View(func(r *store.Reader) error {
		for _, s := range n.store.Sections() {
			err := r.Range(s.Section, "", func(k merge.Key, held []store.Held) bool {
				head, err := r.Load(k, held[len(held)-1])
				must(t, err)
				made, err := state.Indexer{}.Index(nil, &head, func(name store.IndexName) []byte {
					if row, found := rows[string(name)]; found {
						return []byte(row)
					}
					return nil
				})
				must(t, err)
				for _, row := range made {
					rows[string(row.Name)] = string(row.Value)
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	return rows
}

// anyBody draws the body of a skill, an item or a tombstone, sound or not.
func anyBody() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "raw") {
			return rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "bytes")
		}
		fields := map[uint64]any{}
		if rapid.Bool().Draw(t, "has id") {
			fields[1] = rapid.SampledFrom([]string{"id1", "id2", "a", "b\x01"}).Draw(t, "id")
		}
		fields[2] = rapid.Int64Range(0, 3).Draw(t, "version")
		fields[3] = rapid.SampledFrom([]int64{-1, 0, 1, 1 << 62}).Draw(t, "created")
		fields[4] = rapid.SampledFrom([]any{int64(0), int64(1), int64(7), "text"}).Draw(t, "fourth")
		body, err := merge.Marshal(fields)
		must(t, err)
		return body
	})
}

// TestIndexRowsFollowHeads merges versions of few keys, many of them broken,
// in any order, and compares the index that grew with one made of the heads.
func TestIndexRowsFollowHeads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		engine := store.NewMemory()
		n := openNode(t, engine, clock.NewManual(startTime()), state.Config{InstanceID: "a"})
		defer func() { must(t, n.Close()) }()
		for i := range rapid.IntRange(1, 30).Draw(t, "versions") {
			key := merge.Key{
				Kind: rapid.SampledFrom([]string{
					"skill", "memory", "session", "session.turn", "session.turn", "skill.outcome", "skill.outcome", "skill.later",
				}).Draw(t, "kind"),
				Scope: rapid.SampledFrom([]merge.Scope{{}, {Project: "p"}, {Project: "e\u0301"}}).Draw(t, "scope"),
				ID:    rapid.SampledFrom([]merge.ID{"a", "b", "..", merge.NewID("a", "b")}).Draw(t, "id"),
			}
			body := anyBody()
			if key.Kind == "skill.outcome" {
				key.ID, body = anyOutcomeID().Draw(t, "outcome id"), anyOutcomeBody()
			}
			e := merge.Envelope{
				UpdatedHLC: hlc.Timestamp{Wall: startTime().UnixMilli(), Counter: uint16(rapid.IntRange(0, 9).Draw(t, "stamp")*100 + i)},
				Deleted:    rapid.Bool().Draw(t, "deleted"),
			}
			writer := rapid.SampledFrom([]string{"b", "c"}).Draw(t, "writer")
			n.receive(t, version(t, key, writer, e, body.Draw(t, "body")))
			if rapid.IntRange(0, 4).Draw(t, "local") == 0 {
				n.upsert(t, state.Skill{Slug: "a", Uses: rapid.IntRange(0, 20).Draw(t, "uses")})
			}
		}
		if diff := cmp.Diff(n.derived(t), n.indexOf(t)); diff != "" {
			t.Fatalf("index (-of heads +as grown):\n%s", diff)
		}
		if diff := cmp.Diff(n.indexOf(t), rebuilt(t, engine)); diff != "" {
			t.Fatalf("index (-as grown +rebuilt):\n%s", diff)
		}
		n.answers(t)
	})
}

// laterIndexer has a store build its index again.
type laterIndexer struct{ state.Indexer }

func (i laterIndexer) Version() uint32 { return i.Indexer.Version() + 1 }

// rebuilt is the index that a later build makes of what an engine holds.
func rebuilt(t failer, engine *store.Memory) map[string]string {
	t.Helper()
	later, err := store.Open(engine.Clone(), store.Config{
		Now: clock.NewManual(startTime()).Now, Rand: &countingEntropy{}, Indexer: laterIndexer{},
	})
	must(t, err)
	defer func() { must(t, later.Close()) }()
	return (&node{store: later}).indexOf(t)
}

func TestEventTypesFollowFromKindAndDeletion(t *testing.T) {
	for _, c := range []struct {
		kind    string
		deleted bool
		want    string
	}{
		{"skill", false, state.EvSkillUpserted},
		{"skill", true, state.EvSkillDeleted},
		{"memory", false, state.EvMemoryWritten},
		{"session", false, state.EvSessionCreated},
		{"session", true, state.EvSessionDeleted},
		{"session.turn", false, state.EvTurnAppended},
		{"session.turn", true, "session.turn.deleted"},
		{"memory", true, state.EvMemoryDeleted},
		{"skill.outcome", false, state.EvOutcomeRecorded},
		{"skill.outcome", true, "skill.outcome.deleted"},
		{"later.kind", false, "later.kind.written"},
		{"later.kind", true, "later.kind.deleted"},
	} {
		same(t, c.want, state.Indexer{}.EventType(c.kind, c.deleted))
	}
}

// FuzzIndex holds that no record makes the index fail, and that an index row
// never leads readers to an error.
func FuzzIndex(f *testing.F) {
	f.Add("skill", "deploy", "", []byte{0xa1, 0x02, 0x01}, false)
	f.Add("memory", "x", "p", []byte{0xa0}, true)
	f.Add("skill.outcome", "deploy\x00"+storeA, "p", []byte{0xa1, 0x04, 0x01}, false)
	f.Add("skill", "../x", "e\u0301", []byte("junk"), false)
	f.Fuzz(func(t *testing.T, kind, id, project string, body []byte, deleted bool) {
		stamp := hlc.Timestamp{Wall: startTime().UnixMilli()}
		rec, err := merge.Seal(merge.Record{
			Key:      merge.Key{Kind: kind, Scope: merge.Scope{Project: project}, ID: merge.ID(id)},
			Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: "b", UpdatedHLC: stamp, LastWriterID: "b", Deleted: deleted},
			Basis:    merge.Basis{}.With("b", stamp),
			Body:     bytes.Clone(body),
		}, merge.Unsigned, nil)
		if err != nil {
			t.Skip("no record")
		}
		n := openNode(t, store.NewMemory(), clock.NewManual(startTime()), state.Config{InstanceID: "a"})
		defer func() { must(t, n.Close()) }()
		n.receive(t, rec)
		skills, err := n.Skills().Search(t.Context(), "", 0)
		must(t, err)
		for _, sk := range skills {
			if got, err := n.SkillLibrary().GetIn(t.Context(), sk.Scope, sk.Slug); err != nil || !cmp.Equal(got, sk) {
				t.Errorf("get %+v: %+v, %v", sk, got, err)
			}
		}
		items, err := n.Memory().Recall(t.Context(), state.RecallQuery{})
		must(t, err)
		hidden, err := n.Invalid(t.Context())
		must(t, err)
		known := kind == "skill" || kind == "memory"
		if shown := len(skills) + len(items) + len(hidden); shown > 1 || (known && !deleted && shown != 1) {
			t.Errorf("%d skills, %d items, %d hidden of one %s record", len(skills), len(items), len(hidden), kind)
		}
		same(t, n.derived(t), n.indexOf(t))
	})
}
