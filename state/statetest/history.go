package statetest

import (
	"strconv"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

func skillKey(slug string) merge.Key { return merge.Key{Kind: "skill", ID: merge.NewID(slug)} }

func memoryKey(id string) merge.Key { return merge.Key{Kind: "memory", ID: merge.NewID(id)} }

// history lists the versions of a key.
func (t *run) history(key merge.Key) []state.Version {
	t.Helper()
	versions, err := t.replica().History(t.ctx(), key)
	t.must(err)
	return versions
}

// standings checks a history: newest first, the head, then covered ones.
func (t *run) standings(versions []state.Version, want int) {
	t.Helper()
	t.equal(want, len(versions))
	for i, v := range versions {
		standing := state.StandingCovered
		if i == 0 {
			standing = state.StandingHead
		}
		if v.Standing != standing || v.CoveredAt.IsZero() != (i == 0) {
			t.Errorf("version %d is %s, covered at %s", i, v.Standing, v.CoveredAt)
		}
		if i > 0 && !versions[i-1].UpdatedHLC.After(v.UpdatedHLC) {
			t.Errorf("version %d is not older than the one before", i)
		}
	}
}

func historyCases() []testCase {
	return []testCase{
		{"a skill's versions are listed newest first, deletes included", func(t *run) {
			one := t.upsert(state.Skill{Slug: "a", ID: "chosen", Body: "one"})
			two := t.upsert(state.Skill{Slug: "a", Body: "two", Tags: []string{"t"}})
			t.deleteSkill("a")
			for _, name := range []string{"a", "chosen", one.ID, state.SkillID(state.Scope{}, "a")} {
				versions, err := t.replica().SkillLibrary().History(t.ctx(), name)
				t.must(err)
				t.standings(versions, 3)
				t.equal(t.history(skillKey("a")), versions)
				t.equal([]*state.Skill{&two, &one}, []*state.Skill{versions[1].Skill, versions[2].Skill})
				t.equal([]any{true, 3, "chosen"}, []any{versions[0].Deleted, versions[0].Skill.Version, versions[0].Skill.ID})
				t.equal(two.Envelope, versions[1].Envelope)
			}
		}},
		{"an item's versions are listed newest first, deletes included", func(t *run) {
			one := t.write(state.MemoryItem{ID: "x", Content: "one", Scope: project("p")})
			two := t.write(state.MemoryItem{ID: "x", Content: "two", Scope: project("p")})
			t.must(t.replica().MemoryLibrary().DeleteIn(t.ctx(), project("p"), "x"))
			versions, err := t.replica().MemoryLibrary().History(t.ctx(), "x")
			t.must(err)
			t.standings(versions, 3)
			t.equal([]*state.MemoryItem{&two, &one}, []*state.MemoryItem{versions[1].Memory, versions[2].Memory})
		}},
		{"a live skill comes before a deleted one of the same name", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			t.deleteSkill("a")
			live := t.upsert(state.Skill{Slug: "a", Scope: project("p")})
			versions, err := t.replica().SkillLibrary().History(t.ctx(), "a")
			t.must(err)
			t.equal(&live, versions[0].Skill)
			versions, err = t.replica().SkillLibrary().History(t.ctx(), state.SkillID(state.Scope{}, "a"))
			t.must(err)
			t.equal(true, versions[0].Deleted)
		}},
		{"a deleted skill of another scope is found by the id that was chosen", func(t *run) {
			for _, name := range []string{"p", "q"} {
				t.upsert(state.Skill{Slug: "a", ID: "id of " + name, Scope: project(name)})
				t.deleteSkill("id of " + name)
			}
			versions, err := t.replica().SkillLibrary().History(t.ctx(), "id of q")
			t.must(err)
			t.equal(project("q"), versions[0].Skill.Scope)
		}},
		{"what never was has no history", func(t *run) {
			t.upsert(state.Skill{Slug: "a", Scope: project("p")})
			t.must(t.replica().SkillLibrary().DeleteIn(t.ctx(), project("p"), "a"))
			for _, name := range []string{"a", "b", "", "\xff", "../x"} {
				_, err := t.replica().SkillLibrary().History(t.ctx(), name)
				t.fails(state.ErrNotFound, err)
				_, err = t.replica().MemoryLibrary().History(t.ctx(), name)
				t.fails(state.ErrNotFound, err)
			}
			_, err := t.replica().History(t.ctx(), memoryKey("x"))
			t.fails(state.ErrNotFound, err)
		}},
	}
}

func restoreCases() []testCase {
	return []testCase{
		{"restoring writes the content of a version anew", func(t *run) {
			first := t.upsert(state.Skill{Slug: "a", ID: "chosen", Name: "n", Body: "one", Tags: []string{"t"}, Check: "c"})
			t.upsert(state.Skill{Slug: "a", Body: "two"})
			restored, err := t.replica().Restore(t.ctx(), skillKey("a"), t.history(skillKey("a"))[1].Hash)
			t.must(err)
			want := first
			want.Version, want.SyncVersion = 3, 3
			want.UpdatedAt, want.UpdatedHLC = restored.Skill.UpdatedAt, restored.UpdatedHLC
			t.equal(&want, restored.Skill)
			t.equal(want, t.skill("a"))
			t.equal(restored, t.history(skillKey("a"))[0])
			if !restored.UpdatedHLC.After(first.UpdatedHLC) {
				t.Errorf("restored at %s", restored.UpdatedHLC)
			}
		}},
		{"restoring revives, and restoring a tombstone deletes", func(t *run) {
			first := t.write(state.MemoryItem{ID: "x", Kind: "fact", Content: "one", Source: "s"})
			t.deleteMemory("x")
			versions := t.history(memoryKey("x"))
			restored, err := t.replica().Restore(t.ctx(), memoryKey("x"), versions[1].Hash)
			t.must(err)
			want := first
			want.SyncVersion, want.UpdatedHLC = 3, restored.UpdatedHLC
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{}))
			restored, err = t.replica().Restore(t.ctx(), memoryKey("x"), versions[0].Hash)
			t.must(err)
			t.equal([]any{true, int64(4)}, []any{restored.Deleted, restored.SyncVersion})
			t.nothingWritten()
		}},
	}
}

// restoreEdgeCases are those in which restoring writes nothing.
func restoreEdgeCases() []testCase {
	return []testCase{
		{"restoring what the head says changes nothing", func(t *run) {
			t.upsert(state.Skill{Slug: "a", Body: "one"})
			t.upsert(state.Skill{Slug: "a", Body: "two"})
			t.upsert(state.Skill{Slug: "a", Body: "one"})
			before := t.history(skillKey("a"))
			for _, v := range []state.Version{before[0], before[2]} {
				restored, err := t.replica().Restore(t.ctx(), skillKey("a"), v.Hash)
				t.must(err)
				t.equal(before[0], restored)
			}
			t.deleteSkill("a")
			head := t.history(skillKey("a"))[0]
			restored, err := t.replica().Restore(t.ctx(), skillKey("a"), head.Hash)
			t.must(err)
			t.equal(head, restored)
			t.equal(4, len(t.history(skillKey("a"))))
		}},
		{"an unknown version, key and kind are refused", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			for _, key := range []merge.Key{skillKey("a"), skillKey("b"), memoryKey("a")} {
				_, err := t.replica().Restore(t.ctx(), key, merge.Hash{1})
				t.fails(state.ErrNotFound, err)
				_, err = t.replica().Keep(t.ctx(), key)
				t.fails(state.ErrNotFound, err)
			}
			later := merge.Key{Kind: "later.kind", ID: "a"}
			_, err := t.replica().Restore(t.ctx(), later, merge.Hash{1})
			t.fails(state.ErrInvalid, err)
			_, err = t.replica().Keep(t.ctx(), later)
			t.fails(state.ErrInvalid, err)
			t.equal(1, len(t.history(skillKey("a"))))
		}},
		{"old versions go, new ones stay", func(t *run) {
			const writes = 140
			for i := range writes {
				t.write(state.MemoryItem{ID: "x", Content: strconv.Itoa(i)})
			}
			versions := t.history(memoryKey("x"))
			if len(versions) < 40 || len(versions) >= writes {
				t.Errorf("%d versions of %d", len(versions), writes)
			}
			for i := range 40 {
				t.equal(strconv.Itoa(writes-1-i), versions[i].Memory.Content)
			}
		}},
	}
}

// comparedDeleteCases are compareCases for deletes.
func comparedDeleteCases() []testCase {
	return []testCase{
		{"a delete compares what was read", func(t *run) {
			skills, items := t.replica().SkillLibrary(), t.replica().MemoryLibrary()
			sk, it := t.upsert(state.Skill{Slug: "a"}), t.write(state.MemoryItem{ID: "x"})
			newer, newest := t.upsert(state.Skill{Slug: "a"}), t.write(state.MemoryItem{ID: "x"})
			t.fails(state.ErrConflict, skills.DeleteIf(t.ctx(), state.Scope{}, "a", sk.Envelope))
			t.fails(state.ErrConflict, items.DeleteIf(t.ctx(), state.Scope{}, "x", it.Envelope))
			t.equal(newer, t.skill("a"))
			t.must(skills.DeleteIf(t.ctx(), state.Scope{}, "a", newer.Envelope))
			t.must(items.DeleteIf(t.ctx(), state.Scope{}, "x", newest.Envelope))
			t.nothingWritten()
			t.fails(state.ErrNotFound, skills.DeleteIf(t.ctx(), state.Scope{}, "a", newer.Envelope))
			t.fails(state.ErrNotFound, items.DeleteIf(t.ctx(), state.Scope{}, "none", newest.Envelope))
		}},
	}
}

func restoredSessionCases() []testCase {
	return []testCase{
		{"restoring a deleted session shows its turns", func(t *run) {
			sessions := t.provider.Sessions()
			created, err := sessions.Create(t.ctx(), state.Session{ID: "s", Title: "title", Model: "model"})
			t.must(err)
			turn, err := sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "s", Content: "said"})
			t.must(err)
			t.must(sessions.Delete(t.ctx(), "s"))
			key := merge.Key{Kind: "session", ID: "s"}
			_, err = t.replica().Restore(t.ctx(), key, t.history(key)[1].Hash)
			t.must(err)
			got, err := sessions.Get(t.ctx(), "s")
			t.must(err)
			t.equal([]any{"title", "model", created.CreatedAt}, []any{got.Title, got.Model, got.CreatedAt})

			changes, err := t.replica().Revert(t.ctx(), turn.LastWriterID, turn.UpdatedHLC)
			t.must(err)
			turnKey := merge.Key{Kind: "session.turn", ID: merge.NewID("s", turn.ID)}
			t.equal(state.ChangeDeleted, outcomes(changes)[turnKey])
			_, err = t.replica().Restore(t.ctx(), turnKey, t.history(turnKey)[1].Hash)
			t.must(err)
			turns, err := sessions.Turns(t.ctx(), "s")
			t.must(err)
			t.equal(1, len(turns))
			t.equal([]any{"said", turn.Seq, turn.CreatedAt}, []any{turns[0].Content, turns[0].Seq, turns[0].CreatedAt})
		}},
	}
}

// revertCases revert what the provider itself has written.
func revertCases() []testCase {
	return []testCase{
		{"reverting brings back what was there and deletes what was not", func(t *run) {
			before := t.upsert(state.Skill{Slug: "a", Body: "good"})
			t.write(state.MemoryItem{ID: "gone", Content: "good"})
			since := t.write(state.MemoryItem{ID: "bad"}).UpdatedHLC
			t.upsert(state.Skill{Slug: "a", Body: "bad"})
			t.upsert(state.Skill{Slug: "a", Body: "worse"})
			t.deleteMemory("gone")
			listed, err := t.replica().WrittenBy(t.ctx(), before.LastWriterID, since)
			t.must(err)
			changes, err := t.replica().Revert(t.ctx(), before.LastWriterID, since)
			t.must(err)
			for _, c := range [][]state.Change{listed, changes} {
				t.equal(map[merge.Key]state.ChangeOutcome{
					memoryKey("bad"): state.ChangeDeleted, memoryKey("gone"): state.ChangeRestored, skillKey("a"): state.ChangeRestored,
				}, outcomes(c))
				t.equal("worse", c[2].Was.Skill.Body)
				t.equal("good", c[2].Now.Skill.Body)
			}
			t.equal([]string{"good"}, contents(t.recall(state.RecallQuery{})))
			t.equal([]any{"good", 4}, []any{t.skill("a").Body, t.skill("a").Version})

			stamp := t.skill("a").UpdatedHLC
			changes, err = t.replica().Revert(t.ctx(), before.LastWriterID, since)
			t.must(err)
			for _, c := range changes {
				t.equal([]any{state.ChangeUnchanged, (*state.Version)(nil)}, []any{c.Outcome, c.Now})
			}
			t.equal(stamp, t.skill("a").UpdatedHLC)
		}},
		{"others' writes and earlier ones are not reverted", func(t *run) {
			last := t.upsert(state.Skill{Slug: "a"}).Envelope
			for _, c := range []struct {
				writer string
				since  hlc.Timestamp
			}{{"nobody", hlc.Timestamp{}}, {last.LastWriterID, hlc.Timestamp{Wall: last.UpdatedHLC.Wall + 1}}} {
				changes, err := t.replica().Revert(t.ctx(), c.writer, c.since)
				t.must(err)
				t.equal([]state.Change{}, changes)
			}
			t.equal(last, t.skill("a").Envelope)
			_, err := t.replica().Revert(t.ctx(), "a\nb", hlc.Timestamp{})
			t.fails(state.ErrInvalid, err)
			_, err = t.replica().WrittenBy(t.ctx(), "", hlc.Timestamp{})
			t.fails(state.ErrInvalid, err)
		}},
	}
}

func outcomes(changes []state.Change) map[merge.Key]state.ChangeOutcome {
	found := map[merge.Key]state.ChangeOutcome{}
	for _, c := range changes {
		found[c.Key] = c.Outcome
	}
	return found
}
