package statetest

import (
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
)

// putter writes one record of a kind, always the same, with an envelope passed.
type putter struct {
	put    func(t *run, passed state.Envelope) (state.Envelope, error)
	delete func(t *run)
}

func skillPutter() putter {
	return putter{
		put: func(t *run, passed state.Envelope) (state.Envelope, error) {
			sk, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Envelope: passed})
			return sk.Envelope, err
		},
		delete: func(t *run) { t.deleteSkill("a") },
	}
}

func memoryPutter() putter {
	return putter{
		put: func(t *run, passed state.Envelope) (state.Envelope, error) {
			it, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: "a", Envelope: passed})
			return it.Envelope, err
		},
		delete: func(t *run) { t.deleteMemory("a") },
	}
}

func (p putter) must(t *run, passed state.Envelope) state.Envelope {
	t.Helper()
	written, err := p.put(t, passed)
	t.must(err)
	return written
}

func (p putter) conflicts(t *run, passed state.Envelope) {
	t.Helper()
	_, err := p.put(t, passed)
	t.fails(state.ErrConflict, err)
}

// compareCases hold the compare-and-set of a kind.
func compareCases(p putter) []testCase {
	version := func(n int64) state.Envelope { return state.Envelope{SyncVersion: n} }
	return []testCase{
		{"a create has sync version 1", func(t *run) { t.equal(int64(1), p.must(t, version(0)).SyncVersion) }},
		{"a matching update counts on", func(t *run) {
			p.must(t, version(0))
			t.equal(int64(2), p.must(t, version(1)).SyncVersion)
			t.equal(int64(3), p.must(t, version(2)).SyncVersion)
		}},
		{"what was read can be written", func(t *run) { p.must(t, p.must(t, p.must(t, version(0)))) }},
		{"a stale version conflicts and writes nothing", func(t *run) {
			p.must(t, version(0))
			p.must(t, version(1))
			p.conflicts(t, version(1))
			p.conflicts(t, version(3))
			p.conflicts(t, version(-1))
			t.equal(int64(3), p.must(t, version(2)).SyncVersion)
		}},
		{"zero is unconditional", func(t *run) {
			p.must(t, version(0))
			t.equal(int64(2), p.must(t, version(0)).SyncVersion)
		}},
		{"a version without a record conflicts", func(t *run) {
			p.conflicts(t, version(1))
			t.nothingWritten()
		}},
		{"another stamp or writer conflicts", func(t *run) {
			read := p.must(t, version(0))
			p.conflicts(t, state.Envelope{SyncVersion: 1, UpdatedHLC: hlc.Timestamp{Wall: 1}})
			p.conflicts(t, state.Envelope{SyncVersion: 1, LastWriterID: read.LastWriterID + "x"})
			t.equal(int64(2), p.must(t, read).SyncVersion)
		}},
		{"a tombstone's own version is accepted", func(t *run) {
			p.must(t, version(0))
			p.delete(t)
			t.equal(int64(3), p.must(t, version(2)).SyncVersion)
		}},
		{"the version before a delete conflicts", func(t *run) {
			p.must(t, version(0))
			p.delete(t)
			p.conflicts(t, version(1))
			t.nothingWritten()
		}},
	}
}

func tombstoneCases() []testCase {
	return []testCase{
		{"a deleted skill is gone from get, list and search", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "a", ID: "chosen", Body: "text"})
			t.deleteSkill("a")
			for _, name := range []string{"a", "chosen", state.SkillID(sk.Scope, "a")} {
				t.noSkill(name)
				t.fails(state.ErrNotFound, t.skills.Delete(t.ctx(), name))
			}
			t.nothingWritten()
			t.equal([]state.Skill{}, t.listSkills(state.Scope{}))
		}},
		{"a skill is deleted by any of its names", func(t *run) {
			for _, name := range []string{"a", "chosen", state.SkillID(state.Scope{}, "a")} {
				t.upsert(state.Skill{Slug: "a", ID: "chosen"})
				t.deleteSkill(name)
				t.noSkill("a")
			}
		}},
		{"an upsert revives a skill that counts on", func(t *run) {
			first := t.upsert(state.Skill{Slug: "a", ID: "chosen", Body: "one", Tags: []string{"t"}})
			t.deleteSkill("a")
			second := t.upsert(state.Skill{Slug: "a", Body: "two"})
			want := first
			want.Body, want.Tags, want.Version, want.SyncVersion = "two", []string{}, 3, 3
			want.UpdatedAt, want.UpdatedHLC = second.UpdatedAt, second.UpdatedHLC
			t.equal(want, second)
			t.equal(want, t.skill("chosen"))
			if !second.UpdatedHLC.After(first.UpdatedHLC) {
				t.Errorf("stamp %s after %s", second.UpdatedHLC, first.UpdatedHLC)
			}
		}},
		{"a write revives a memory item", func(t *run) {
			first := t.write(state.MemoryItem{ID: "x", Content: "one", Source: "s"})
			t.deleteMemory("x")
			second := t.write(state.MemoryItem{ID: "x", Content: "two"})
			want := first
			want.Content, want.Source, want.SyncVersion, want.UpdatedHLC = "two", "", 3, second.UpdatedHLC
			t.equal(want, second)
			t.equal([]state.MemoryItem{want}, t.recall(state.RecallQuery{}))
		}},
		{"deleting one scope leaves the others", func(t *run) {
			t.upsert(state.Skill{Slug: "a", Scope: project("p")})
			t.upsert(state.Skill{Slug: "a", Scope: project("q")})
			t.deleteSkill(state.SkillID(project("p"), "a"))
			t.equal(project("q"), t.skill("a").Scope)
		}},
	}
}

func envelopeCases() []testCase {
	return []testCase{
		{"it is complete on create", func(t *run) {
			for _, e := range []state.Envelope{t.upsert(state.Skill{Slug: "a"}).Envelope, t.write(state.MemoryItem{}).Envelope} {
				if e.SyncVersion != 1 || e.UpdatedHLC.IsZero() || e.Deleted {
					t.Errorf("envelope %+v", e)
				}
				if e.LastWriterID == "" || e.OriginInstanceID != e.LastWriterID {
					t.Errorf("origin %q, writer %q", e.OriginInstanceID, e.LastWriterID)
				}
			}
		}},
		{"an origin that the creator claims is kept", func(t *run) {
			claim := state.Envelope{OriginInstanceID: "elsewhere", LastWriterID: "forged"}
			sk := t.upsert(state.Skill{Slug: "a", Envelope: claim})
			it := t.write(state.MemoryItem{ID: "x", Envelope: claim})
			t.equal("elsewhere", sk.OriginInstanceID)
			t.equal("elsewhere", it.OriginInstanceID)
			if sk.LastWriterID == "forged" || it.LastWriterID == "forged" {
				t.Error("a writer was forged")
			}
			t.equal(sk, t.skill("a"))
			t.equal("elsewhere", t.upsert(state.Skill{Slug: "a"}).OriginInstanceID)
		}},
		{"stamps rise with every write of any kind", func(t *run) {
			last := hlc.Timestamp{}
			for range 100 {
				for _, e := range []state.Envelope{
					t.upsert(state.Skill{Slug: "a"}).Envelope, t.write(state.MemoryItem{}).Envelope,
				} {
					if !e.UpdatedHLC.After(last) {
						t.Fatalf("%s after %s", e.UpdatedHLC, last)
					}
					last = e.UpdatedHLC
				}
			}
		}},
	}
}
