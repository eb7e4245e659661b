package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// machine drives one store and its naive twin through the same history.
type machine struct {
	t      testing.TB
	engine lasting // outlives the stores over it
	now    time.Time
	store  *store.Store
	model  *model

	authors []*Author
	pool    []merge.Record // everything that any author wrote
	unknown map[merge.InstanceID]bool
	commits []store.Commit
	opened  byte
}

const (
	modelParkedMax = 6
	modelWriterMax = 4
	modelPeerMax   = 3
	modelFuture    = merge.InstanceID("from the future")
)

// testModel holds the store to its naive twin under generated histories of
// local writes, merges in any order and grouping, parking, changes of
// authority, moving time, and reopening.
func testModel(t *testing.T, open Opener) {
	t.Helper()
	engine := lasting{openEngine(t, open)} // one for all: opening is slow
	rapid.Check(t, func(rt *rapid.T) {
		writeRows(t, engine, nil)
		m := &machine{
			t: t, engine: engine, now: Epoch(),
			model: newModel(modelParkedMax, modelWriterMax, modelPeerMax), unknown: map[merge.InstanceID]bool{},
		}
		for i, id := range []merge.InstanceID{"anna", "ben", "carl", modelFuture} {
			begin := at(int64(-3_600_000 + i))
			if id == modelFuture {
				begin = at(3_600_000)
			}
			m.authors = append(m.authors, NewAuthor(id, begin))
		}
		m.reopen(rt)
		defer func() {
			if err := m.store.Close(); err != nil {
				rt.Errorf("close: %v", err)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"":           m.check,
			"write":      m.write,
			"author":     m.author,
			"exchange":   m.exchange,
			"merge":      m.merge,
			"admit":      m.admit,
			"advance":    m.advance,
			"reconsider": m.reconsider,
			"local":      m.local,
			"reopen":     m.reopen,
		})
	})
}

func (m *machine) check(rt *rapid.T) {
	if err := m.model.check(m.store); err != nil {
		rt.Fatal(err)
	}
	if err := m.store.Verify(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
	if err := m.checkCommits(); err != nil {
		rt.Fatal(err)
	}
}

// checkCommits replays what OnCommit was told: it gives the held versions.
func (m *machine) checkCommits() error {
	held := map[merge.Hash]bool{}
	seq := uint64(0)
	for _, c := range m.commits {
		for _, rec := range c.Records {
			held[rec.Hash()] = true
		}
		for _, ref := range c.Covered {
			if !held[ref.Hash] {
				return fmt.Errorf("a commit covers a version of %s that was not held", ref.Key)
			}
			delete(held, ref.Hash)
		}
		if c.Seq < seq || c.Path == 0 {
			return fmt.Errorf("commit by path %d at %d follows one at %d", c.Path, c.Seq, seq)
		}
		seq = c.Seq
	}
	want := 0
	for k := range m.model.admitted {
		for _, v := range m.model.held(k) {
			want++
			if !held[v.Hash] {
				return fmt.Errorf("no commit told of a held version of %s", k)
			}
		}
	}
	if len(held) != want {
		return fmt.Errorf("commits leave %d versions held, want %d", len(held), want)
	}
	return nil
}

func (m *machine) config() store.Config {
	m.opened++
	return store.Config{
		Now: func() time.Time { return m.now }, Rand: &seedReader{m.opened},
		ParkedMax: modelParkedMax, ParkedPerWriterMax: modelWriterMax, ParkedPerPeerMax: modelPeerMax,
		OnCommit: func(c store.Commit) { m.commits = append(m.commits, c) },
	}
}

func (m *machine) reopen(rt *rapid.T) {
	if m.store != nil {
		if err := m.store.Close(); err != nil {
			rt.Fatal(err)
		}
	}
	s, err := store.Open(m.engine, m.config())
	if err != nil {
		rt.Fatal(err)
	}
	m.store = s
}

func drawKey(rt *rapid.T) merge.Key {
	kind := rapid.SampledFrom([]string{"skill", "memory", "skill.outcome"}).Draw(rt, "kind")
	project := rapid.SampledFrom([]string{"", "web"}).Draw(rt, "project")
	id := rapid.SampledFrom([]string{"a", "a b", "ab", "b"}).Draw(rt, "id")
	if kind == "skill.outcome" {
		return Key(kind, project, id, "store")
	}
	return Key(kind, project, id)
}

func drawBody(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"", "x", "some text", string(make([]byte, 3_000))}).Draw(rt, "body")
}

func drawPath(rt *rapid.T) store.Path {
	return store.Path(rapid.IntRange(int(store.PathGossip), int(store.PathRestore)).Draw(rt, "path"))
}

// write is one local write of one or two keys, on what the store holds.
func (m *machine) write(rt *rapid.T) {
	keys := []merge.Key{drawKey(rt)}
	if other := drawKey(rt); other != keys[0] {
		keys = append(keys, other)
	}
	all := rapid.Bool().Draw(rt, "settle")
	var written []merge.Record
	err := m.store.Write(m.t.Context(), "lock", func(r *store.Reader) ([]merge.Record, error) {
		written = nil
		for _, k := range keys {
			rec, err := Draft(m.store, r, "self", k, drawBody(rt), all)
			if err != nil {
				return nil, err
			}
			written = append(written, rec)
		}
		return written, nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	m.pool = append(m.pool, written...)
	for _, rec := range written {
		if got := m.model.admit(rec); got.Applied != 1 {
			rt.Fatalf("local write of %s is %+v to the twin", rec.Key, got)
		}
	}
}

// author lets an author elsewhere write.
func (m *machine) author(rt *rapid.T) {
	a := rapid.SampledFrom(m.authors).Draw(rt, "author")
	rec := a.Write(drawKey(rt), drawBody(rt), rapid.Int64Range(0, 500).Draw(rt, "ticks"))
	m.pool = append(m.pool, rec)
}

// exchange lets an author learn a version of the present.
func (m *machine) exchange(rt *rapid.T) {
	a := rapid.SampledFrom(m.authors[:3]).Draw(rt, "author")
	for _, rec := range m.draw(rt) {
		if rec.Envelope.LastWriterID != modelFuture {
			a.Learn(rec)
		}
	}
}

// draw picks some of the pool, in any order, with repetitions.
func (m *machine) draw(rt *rapid.T) []merge.Record {
	if len(m.pool) == 0 {
		rt.Skip("nobody wrote yet")
	}
	return rapid.SliceOfN(rapid.SampledFrom(m.pool), 1, 8).Draw(rt, "records")
}

// ahead reports whether a record lies beyond the drift that a clock accepts.
func (m *machine) ahead(rec merge.Record) bool {
	return rec.Envelope.UpdatedHLC.Time().Sub(m.now) > 5*time.Minute
}

func (m *machine) merge(rt *rapid.T) {
	b := store.Batch{Path: drawPath(rt), From: rapid.SampledFrom([]merge.InstanceID{"", "p", "q"}).Draw(rt, "from")}
	var want store.Result
	var future, late []store.Parked
	for _, rec := range m.draw(rt) {
		switch {
		case m.unknown[rec.Envelope.LastWriterID]:
			b.Park = append(b.Park, store.Parked{Record: rec, Reason: store.ReasonAuthority})
			late = append(late, store.Parked{Record: rec, Reason: store.ReasonAuthority, Path: b.Path, From: b.From})
		case m.ahead(rec):
			b.Records = append(b.Records, rec)
			future = append(future, store.Parked{Record: rec, Reason: store.ReasonFuture, Path: b.Path, From: b.From})
		default:
			b.Records = append(b.Records, rec)
			want = want.Add(m.model.admit(rec))
		}
	}
	for _, p := range append(future, late...) {
		want = want.Add(m.model.park(p))
	}
	peer := rapid.SampledFrom([]string{"p", "q"}).Draw(rt, "peer")
	cursor := store.Cursor{Store: store.ID{1}, Incarnation: 2, Seq: rapid.Uint64().Draw(rt, "seq")}
	b.Cursor = &store.CursorMove{Peer: merge.InstanceID(peer), Section: merge.Section{Family: "skill"}, Cursor: cursor}
	if want.Refused == 0 {
		m.model.cursors[peer] = cursor
	}
	got, err := m.store.Merge(m.t.Context(), b)
	if err != nil || got != want {
		rt.Fatalf("merge gives %+v, %v, want %+v", got, err, want)
	}
}

// admit changes whose authority is known.
func (m *machine) admit(rt *rapid.T) {
	id := rapid.SampledFrom(m.authors).Draw(rt, "author").ID
	m.unknown[id] = !m.unknown[id]
}

func (m *machine) advance(rt *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
}

// reconsider judges the parked again.
func (m *machine) reconsider(rt *rapid.T) {
	var want store.Result
	byOrder := func(a, b store.Parked) int {
		return cmp.Or(cmp.Compare(a.Record.Key.Order(), b.Record.Key.Order()),
			slices.Compare(hashOf(a), hashOf(b)))
	}
	for _, p := range slices.SortedFunc(maps.Values(m.model.parked), byOrder) {
		isUnknown := m.unknown[p.Record.Envelope.LastWriterID]
		if isUnknown || m.ahead(p.Record) {
			want.Parked++
			if p.Reason = store.ReasonFuture; isUnknown {
				p.Reason = store.ReasonAuthority
			}
			m.model.parked[p.Record.Hash()] = p
			continue
		}
		want = want.Add(m.model.admit(p.Record))
	}
	got, err := m.store.Reconsider(m.t.Context(), Judging(func(rec *merge.Record) store.Reason {
		if m.unknown[rec.Envelope.LastWriterID] {
			return store.ReasonAuthority
		}
		return 0
	}))
	if err != nil || got != want {
		rt.Fatalf("reconsider gives %+v, %v, want %+v", got, err, want)
	}
}

func hashOf(p store.Parked) []byte {
	h := p.Record.Hash()
	return h[:]
}

func (m *machine) local(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name")
	add := rapid.SampledFrom([]string{"", "x", "yz"}).Draw(rt, "add")
	err := m.store.UpdateLocal(m.t.Context(), name, func(old []byte) ([]byte, error) {
		if add == "" {
			return nil, nil
		}
		return append(old, add...), nil
	})
	if err != nil {
		rt.Fatal(err)
	}
	m.model.local[name] += add
	if add == "" {
		m.model.local[name] = ""
	}
	failed := m.store.UpdateLocal(m.t.Context(), name, func([]byte) ([]byte, error) { return nil, errRefused })
	if !errors.Is(failed, errRefused) {
		rt.Fatalf("a failing update returns %v", failed)
	}
}
