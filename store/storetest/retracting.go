package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// retracting drives one store and a naive twin through statements that come and
// go: the twin knows every version that the store kept, and computes what is
// held from those that the statements of now admit.
type retracting struct {
	t      testing.TB
	engine lasting
	store  *store.Store

	authors []*Author
	pool    []merge.Record
	kept    map[merge.Key]map[merge.Hash]merge.Record
	commits []store.Commit
	opened  byte
	changes byte

	bans      []bannedRange
	withdrawn map[string]bool // bodies
	floors    map[merge.Key]hlc.Timestamp
}

// bannedRange closes a writer from a stamp on, up to another one unless that is
// zero.
type bannedRange struct {
	writer   merge.InstanceID
	from, to hlc.Timestamp
}

// reason is what the statements of now make of a record.
func (m *retracting) reason(rec *merge.Record) store.Reason {
	stamp := rec.Envelope.UpdatedHLC
	if floor, collected := m.floors[rec.Key]; collected && !stamp.After(floor) {
		return store.ReasonFloor
	}
	for _, b := range m.bans {
		if b.writer == rec.Envelope.LastWriterID && !stamp.Before(b.from) && (b.to.IsZero() || stamp.Before(b.to)) {
			return store.ReasonBanned
		}
	}
	if m.withdrawn[string(rec.Body)] {
		return store.ReasonWithdrawn
	}
	return 0
}

func (m *retracting) judge() store.Judge { return JudgingAs(m.changes, m.reason) }

// testRetracting holds a store to the rule of retraction (trust.md): a key holds
// all versions that were kept of it, are admissible, and that no admissible one
// covers, whatever statements came and went in between.
func testRetracting(t *testing.T, open Opener) {
	t.Helper()
	engine := lasting{openEngine(t, open)}
	rapid.Check(t, func(rt *rapid.T) {
		writeRows(t, engine, nil)
		m := &retracting{
			t: t, engine: engine, kept: map[merge.Key]map[merge.Hash]merge.Record{},
			withdrawn: map[string]bool{}, floors: map[merge.Key]hlc.Timestamp{},
		}
		for i, id := range []merge.InstanceID{"anna", "ben", "carl"} {
			m.authors = append(m.authors, NewAuthor(id, at(int64(-3_600_000+i))))
		}
		m.reopen(rt)
		defer func() {
			if err := m.store.Close(); err != nil {
				rt.Errorf("close: %v", err)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"write":    m.write,
			"author":   m.author,
			"exchange": m.exchange,
			"merge":    m.merge,
			"ban":      m.ban,
			"withdraw": m.withdraw,
			"floor":    m.floor,
			"lift":     m.lift,
			"late":     m.late,
			"reopen":   m.reopen,
		})
	})
}

func (m *retracting) reopen(rt *rapid.T) {
	if m.store != nil {
		if err := m.store.Close(); err != nil {
			rt.Fatal(err)
		}
	}
	m.opened++
	s, err := store.Open(m.engine, store.Config{
		Now: Epoch, Rand: &seedReader{m.opened}, HistoryMax: 1_000,
		OnCommit: func(c store.Commit) { m.commits = append(m.commits, c) },
	})
	if err != nil {
		rt.Fatal(err)
	}
	m.store = s
}

func (m *retracting) keep(rec merge.Record) {
	if m.kept[rec.Key] == nil {
		m.kept[rec.Key] = map[merge.Hash]merge.Record{}
	}
	m.kept[rec.Key][rec.Hash()] = rec
}

func (m *retracting) write(rt *rapid.T) {
	k := drawKey(rt)
	body := rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(rt, "body")
	if m.withdrawn[body] || !m.store.Clock().Last().After(m.floors[k]) {
		rt.Skip("whoever writes would be denied")
	}
	rec, err := Put(m.t.Context(), m.store, "self", k, body)
	if err != nil {
		rt.Fatal(err)
	}
	m.keep(rec)
	m.pool = append(m.pool, rec)
}

func (m *retracting) author(rt *rapid.T) {
	a := rapid.SampledFrom(m.authors).Draw(rt, "author")
	body := rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(rt, "body")
	m.pool = append(m.pool, a.Write(drawKey(rt), body, rapid.Int64Range(0, 500).Draw(rt, "ticks")))
}

func (m *retracting) drawRecord(rt *rapid.T) merge.Record {
	if len(m.pool) == 0 {
		rt.Skip("nobody wrote yet")
	}
	return rapid.SampledFrom(m.pool).Draw(rt, "record")
}

func (m *retracting) exchange(rt *rapid.T) {
	rapid.SampledFrom(m.authors).Draw(rt, "author").Learn(m.drawRecord(rt))
}

// merge brings some versions: those that are covered when they come are not
// kept, those that are not admissible wait.
func (m *retracting) merge(rt *rapid.T) {
	b := store.Batch{Path: drawPath(rt), Mark: m.judge().Mark()}
	for range rapid.IntRange(1, 6).Draw(rt, "records") {
		rec := m.drawRecord(rt)
		reason := m.reason(&rec)
		switch {
		case reason == store.ReasonFloor:
			continue // dropped by whoever asks the store
		case reason != 0:
			b.Park = append(b.Park, store.Parked{Record: rec, Reason: reason})
		default:
			b.Records = append(b.Records, rec)
		}
	}
	for _, rec := range b.Records {
		isCovered := slices.ContainsFunc(m.held(rec.Key), func(v merge.Version) bool { return merge.Covers(v, rec.Version()) })
		if !isCovered {
			m.keep(rec)
		}
	}
	for _, p := range b.Park {
		m.keep(p.Record)
	}
	if _, err := m.store.Merge(m.t.Context(), b); err != nil {
		rt.Fatal(err)
	}
}

// late brings a version that was judged by the statements before a change, once
// all was judged by those after it; sometimes the change has come to nothing.
func (m *retracting) late(rt *rapid.T) {
	before := m.judge().Mark()
	rec := m.drawRecord(rt)
	if m.reason(&rec) != 0 {
		rt.Skip("not admitted")
	}
	if rapid.Bool().Draw(rt, "by others") {
		before[1]++ // by statements that came and went
	} else {
		m.ban(rt)
	}
	isCovered := slices.ContainsFunc(m.held(rec.Key), func(v merge.Version) bool { return merge.Covers(v, rec.Version()) })
	if !isCovered {
		m.keep(rec)
	}
	if _, err := m.store.Merge(m.t.Context(), store.Batch{Path: drawPath(rt), Records: []merge.Record{rec}, Mark: before}); err != nil {
		rt.Fatal(err)
	}
	if rapid.Bool().Draw(rt, "reopen") {
		m.reopen(rt)
	}
	if _, err := m.store.Reconsider(m.t.Context(), m.judge()); err != nil {
		rt.Fatal(err)
	}
}

func (m *retracting) ban(rt *rapid.T) {
	b := bannedRange{writer: rapid.SampledFrom(m.authors).Draw(rt, "writer").ID, from: m.drawRecord(rt).Envelope.UpdatedHLC}
	if to := m.drawRecord(rt).Envelope.UpdatedHLC; rapid.Bool().Draw(rt, "ends") && to.After(b.from) {
		b.to = to
	}
	m.bans = append(m.bans, b)
	m.judgeAnew(rt)
}

func (m *retracting) withdraw(rt *rapid.T) {
	m.withdrawn[rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "body")] = true
	m.judgeAnew(rt)
}

func (m *retracting) floor(rt *rapid.T) {
	rec := m.drawRecord(rt)
	if rec.Envelope.UpdatedHLC.After(m.floors[rec.Key]) {
		m.floors[rec.Key] = rec.Envelope.UpdatedHLC
	}
	m.judgeAnew(rt)
}

// lift takes back a ban or a withdrawal, as root's ban of an admin does; a floor
// is for ever.
func (m *retracting) lift(rt *rapid.T) {
	if len(m.bans) > 0 {
		i := rapid.IntRange(0, len(m.bans)-1).Draw(rt, "ban")
		m.bans = slices.Delete(m.bans, i, i+1)
	}
	clear(m.withdrawn)
	m.judgeAnew(rt)
}

// judgeAnew has the store follow the statements, sometimes after a judging that
// did not come to its end.
func (m *retracting) judgeAnew(rt *rapid.T) {
	m.changes++
	if rapid.Bool().Draw(rt, "interrupted") {
		ctx, cancel := context.WithCancel(m.t.Context())
		judged := 0
		stopping := JudgingAs(m.changes, func(rec *merge.Record) store.Reason {
			if judged++; judged == 3 {
				cancel()
			}
			return m.reason(rec)
		})
		_, _ = m.store.Reconsider(ctx, stopping) // whether it came to its end does not matter
		cancel()
		m.reopen(rt)
	}
	if _, err := m.store.Reconsider(m.t.Context(), m.judge()); err != nil {
		rt.Fatal(err)
	}
}

// held is what a key should hold.
func (m *retracting) held(k merge.Key) []merge.Version {
	var admitted []merge.Version
	for _, rec := range m.kept[k] {
		if m.reason(&rec) == 0 {
			admitted = append(admitted, rec.Version())
		}
	}
	return merge.Resolve(admitted)
}

func (m *retracting) check(rt *rapid.T) {
	heads := map[merge.Key]merge.Hash{}
	err := m.store.View(func(r *store.Reader) error {
		for k := range m.kept {
			held, err := r.Held(k)
			if err != nil {
				return err
			}
			want := m.held(k)
			if !slices.EqualFunc(store.Versions(held), want, sameVersion) {
				return fmt.Errorf("%s holds %v, want %v", k, store.Versions(held), want)
			}
			if len(want) > 0 {
				heads[k] = want[len(want)-1].Hash
			}
			if err := m.checkHistory(r, k); err != nil {
				return err
			}
		}
		return m.checkHeads(r, heads)
	})
	if err != nil {
		rt.Fatal(err)
	}
	if err := m.store.Verify(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
	// Nothing moves that is right already.
	got, err := m.store.Reconsider(m.t.Context(), m.judge())
	got.Parked = 0
	if err != nil || got != (store.Result{}) {
		rt.Fatalf("judging again moves %+v, %v", got, err)
	}
}

// checkHistory makes sure that what may not be held is shown to nobody.
func (m *retracting) checkHistory(r *store.Reader, k merge.Key) error {
	past, err := r.History(k)
	if err != nil {
		return err
	}
	for _, p := range past {
		rec := m.kept[k][p.Hash]
		if m.reason(&rec) != 0 || p.Retracted != 0 {
			return fmt.Errorf("history of %s shows %s at %s, which is not admissible", k, p.Writer, p.Stamp)
		}
	}
	return nil
}

// checkHeads folds the state stream, and looks at what is listed as retracted.
func (m *retracting) checkHeads(r *store.Reader, want map[merge.Key]merge.Hash) error {
	got := map[merge.Key]merge.Hash{}
	err := r.Events(0, func(e store.Event) bool {
		got[e.Ref.Key] = e.Ref.Hash
		if e.Gone {
			delete(got, e.Ref.Key)
		}
		return true
	})
	if err != nil || len(got) != len(want) {
		return fmt.Errorf("the events end in %d heads, want %d: %w", len(got), len(want), err)
	}
	for k, head := range want {
		if got[k] != head {
			return fmt.Errorf("the events do not end in the head of %s", k)
		}
	}
	var wrong error
	err = r.Retracted(func(k merge.Key, p store.Past) bool {
		rec := m.kept[k][p.Hash]
		if reason := m.reason(&rec); reason == 0 || reason != p.Retracted {
			wrong = fmt.Errorf("%s at %s of %s is listed as %s, it is %s", p.Writer, p.Stamp, k, p.Retracted, reason)
		}
		known, err := r.IsRetracted(k, p.Hash)
		if !known || err != nil {
			wrong = cmp.Or(wrong, fmt.Errorf("%s of %s is listed and not known as retracted: %w", p.Writer, k, err))
		}
		return wrong == nil
	})
	return cmp.Or(wrong, err)
}

// testRetraction holds the parts that the machine does not see.
func testRetraction(t *testing.T, open Opener) {
	t.Helper()
	t.Run("of many keys, in small transactions", func(t *testing.T) { testRetractMany(t, open) })
	t.Run("of what comes again", func(t *testing.T) { testRetractedComesAgain(t, open) })
	t.Run("makes a write that was judged by less begin anew", func(t *testing.T) { testStaleWrite(t, open) })
	t.Run("begins anew when versions came that were judged by less", func(t *testing.T) { testJudgedByLess(t, open) })
	t.Run("keeps the content that a version refers to", func(t *testing.T) { testRetractedContent(t, open) })
	t.Run("counts in the index", func(t *testing.T) { testRetractedIndex(t, open) })
}

// bannedAnna refuses what anna has written.
func bannedAnna(rec *merge.Record) store.Reason {
	if rec.Envelope.LastWriterID == "anna" {
		return store.ReasonBanned
	}
	return 0
}

func testRetractMany(t *testing.T, open Opener) {
	t.Helper()
	faulty := &Faulty{Engine: open(t, t.TempDir()), TxnBytesMax: 40_000}
	s, err := store.Open(faulty, Config(1))
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, s)
	const n = 300
	anna, ben := NewAuthor("anna", at(0)), NewAuthor("ben", at(-60_000))
	before := string(make([]byte, 3_000))
	for i := range n {
		k := Key("memory", "", strconv.Itoa(i))
		first := ben.Write(k, before, 1)
		anna.Learn(first)
		mustMerge(t, s, store.Result{Applied: 2}, first, anna.Write(k, "poison", 1))
	}
	root := s.State(merge.Section{Family: "memory"})
	if got, err := s.Reconsider(t.Context(), JudgingAs(1, bannedAnna)); err != nil || got != (store.Result{Retracted: n, Restored: n}) {
		t.Fatalf("the ban gives %+v, %v", got, err)
	}
	mustVerify(t, s)
	if after := s.State(merge.Section{Family: "memory"}); after.Head <= root.Head || after.Count != n {
		t.Errorf("the section went from %+v to %+v: partners would not look", root, after)
	}
	wantBodies(t, s, Key("memory", "", "7"), before)
	if got, err := s.Reconsider(t.Context(), JudgingAs(2, admitAll)); err != nil || got != (store.Result{Restored: n}) {
		t.Fatalf("lifting it gives %+v, %v", got, err)
	}
	wantBodies(t, s, Key("memory", "", "7"), "poison")
	mustVerify(t, s)
	if end := s.State(merge.Section{Family: "memory"}); end.Digest != root.Digest {
		t.Errorf("the section is %+v, was %+v before the ban", end, root)
	}
}

// testRetractedComesAgain has a retracted version delivered anew, by somebody
// who does not know the ban, and by somebody who knows that it was lifted.
func testRetractedComesAgain(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	rec := NewAuthor("anna", at(0)).Write(Key("memory", "", "k"), "text", 1)
	mustMerge(t, s, store.Result{Applied: 1}, rec)
	before := s.State(rec.Key.Section())
	if got, err := s.Reconsider(t.Context(), JudgingAs(1, bannedAnna)); err != nil || got != (store.Result{Retracted: 1}) {
		t.Fatalf("the ban gives %+v, %v", got, err)
	}
	if after := s.State(rec.Key.Section()); after.Head <= before.Head || after.Count != 0 {
		t.Errorf("the section went from %+v to %+v: partners would not look", before, after)
	}
	park := store.Batch{Path: store.PathFeed, Park: []store.Parked{{Record: rec, Reason: store.ReasonBanned}}}
	if got, err := s.Merge(t.Context(), park); err != nil || got != (store.Result{Known: 1}) {
		t.Errorf("parking it gives %+v, %v, want it known", got, err)
	}
	mustMerge(t, s, store.Result{Known: 1}, rec)
	mustVerify(t, s)
	if got, err := s.Reconsider(t.Context(), JudgingAs(2, admitAll)); err != nil || got != (store.Result{Restored: 1}) {
		t.Errorf("lifting the ban gives %+v, %v", got, err)
	}
	wantBodies(t, s, rec.Key, "text")
	mustVerify(t, s)
}

// testJudgedByLess has a version come that was admitted before a ban: while all
// are judged by the ban, and after.
func testJudgedByLess(t *testing.T, open Opener) {
	t.Helper()
	for _, when := range []string{"while", "after"} {
		t.Run(when, func(t *testing.T) {
			s := mustOpen(t, open, t.TempDir(), Config(1))
			anna, ben := NewAuthor("anna", at(0)), NewAuthor("ben", at(-60_000))
			mustMerge(t, s, store.Result{Applied: 1}, ben.Write(Key("memory", "", "k"), "text", 1))
			late := anna.Write(Key("memory", "", "a"), "poison", 1) // a row before that of ben
			comes := sync.OnceFunc(func() { mustMerge(t, s, store.Result{Applied: 1}, late) })
			judge := JudgingAs(1, func(rec *merge.Record) store.Reason {
				if when == "while" {
					done := make(chan struct{})
					go func() {
						defer close(done)
						comes()
					}()
					<-done
				}
				return bannedAnna(rec)
			})
			if got, err := s.Reconsider(t.Context(), judge); err != nil || got != (store.Result{}) {
				t.Fatalf("the ban gives %+v, %v", got, err)
			}
			comes()
			if got, err := s.Reconsider(t.Context(), judge); err != nil || got != (store.Result{Retracted: 1}) {
				t.Errorf("judged again: %+v, %v", got, err)
			}
			if got, err := s.Reconsider(t.Context(), judge); err != nil || got != (store.Result{}) {
				t.Errorf("judged once more: %+v, %v", got, err)
			}
			wantBodies(t, s, late.Key)
			mustVerify(t, s)
		})
	}
}

// testStaleWrite has the statements change between the judging of a local write
// and its commit.
func testStaleWrite(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	runs := 0
	err := s.Write(t.Context(), "k", func(r *store.Reader) ([]merge.Record, error) {
		if runs++; runs == 1 {
			if _, err := s.Reconsider(t.Context(), JudgingAs(1, admitAll)); err != nil {
				return nil, err
			}
		}
		rec, err := Draft(s, r, "self", Key("memory", "", "k"), "text", false)
		return []merge.Record{rec}, err
	})
	if err != nil || runs != 2 {
		t.Errorf("the write was judged %d times, %v, want twice", runs, err)
	}
}

func testRetractedContent(t *testing.T, open Opener) {
	t.Helper()
	s := mustOpen(t, open, t.TempDir(), Config(1))
	content := []byte("the content of a skill")
	ref, release, err := s.PutBlob(t.Context(), content)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	k := Key("skill", "", "k")
	mustMerge(t, s, store.Result{Applied: 1}, NewAuthor("anna", at(0)).Refer(k, "body", 1, ref))
	release()
	if _, err := s.Reconsider(t.Context(), JudgingAs(1, bannedAnna)); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, s)
	if _, err := s.Reconsider(t.Context(), JudgingAs(2, admitAll)); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, s)
	err = s.View(func(r *store.Reader) error {
		got, err := r.Blob(ref.Hash)
		if string(got) != string(content) {
			t.Errorf("after the ban was lifted the content is %q", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func testRetractedIndex(t *testing.T, open Opener) {
	t.Helper()
	cfg := Config(1)
	cfg.Indexer = wordIndexer{version: 1}
	s := mustOpen(t, open, t.TempDir(), cfg)
	k := Key("memory", "", "k")
	mustMerge(t, s, store.Result{Applied: 1}, NewAuthor("anna", at(0)).Write(k, "poison", 1))
	before := indexOf(t, s)
	if _, err := s.Reconsider(t.Context(), JudgingAs(1, bannedAnna)); err != nil {
		t.Fatal(err)
	}
	if left := indexOf(t, s); len(before) == 0 || len(left) > 0 {
		t.Errorf("of the index %q there is still %q", before, left)
	}
	if _, err := s.Reconsider(t.Context(), JudgingAs(2, admitAll)); err != nil {
		t.Fatal(err)
	}
	if after := indexOf(t, s); !maps.Equal(before, after) {
		t.Errorf("lifting the ban gives the index %q, it was %q", after, before)
	}
}

func indexOf(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	rows := map[string]string{}
	err := s.View(func(r *store.Reader) error {
		return r.IndexScan("", func(name store.IndexName, value []byte) bool {
			rows[string(name)] = string(value)
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
