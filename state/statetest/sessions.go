package statetest

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fleetsync/fleetd/state"
)

// sessionCases hold conversations and their transcripts.
func sessionCases() []testCase {
	return []testCase{
		{"an unknown session is not found", func(t *run) {
			_, err := t.sessions.Get(t.ctx(), "nope")
			t.fails(state.ErrNotFound, err)
			_, err = t.sessions.Turns(t.ctx(), "nope")
			t.fails(state.ErrNotFound, err)
			t.fails(state.ErrNotFound, t.sessions.Delete(t.ctx(), "nope"))
			_, err = t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "nope"})
			t.fails(state.ErrNotFound, err)
			t.equal([]state.Session{}, t.listSessions())
		}},
		{"create mints an id and fills the record", func(t *run) {
			ses := t.create(state.Session{Title: "Deploy", Model: "m1"})
			t.equal(true, ses.ID != "" && !ses.CreatedAt.IsZero() && !ses.UpdatedAt.IsZero())
			t.equal("Deploy m1", ses.Title+" "+ses.Model)
			t.equal(int64(1), ses.SyncVersion)
			t.equal(ses, t.session(ses.ID))
			t.equal([]state.Turn{}, t.turns(ses.ID))
		}},
		{"an id that exists is a conflict, a deleted one too", func(t *run) {
			t.create(state.Session{ID: "a"})
			_, err := t.sessions.Create(t.ctx(), state.Session{ID: "a"})
			t.fails(state.ErrConflict, err)
			t.must(t.sessions.Delete(t.ctx(), "a"))
			_, err = t.sessions.Create(t.ctx(), state.Session{ID: "a"})
			t.fails(state.ErrConflict, err)
		}},
		{"an id is one in every Unicode form", func(t *run) {
			ses := t.create(state.Session{ID: "cafe\u0301"})
			t.equal("caf\u00e9", ses.ID)
			t.equal(ses, t.session("cafe\u0301"))
			t.equal("caf\u00e9", t.append(state.Turn{SessionID: "cafe\u0301"}).SessionID)
		}},
		{"three turns are numbered and come back in order", func(t *run) {
			ses := t.create(state.Session{})
			for i, text := range []string{"one", "two", "three"} {
				turn := t.append(state.Turn{SessionID: ses.ID, Role: "user", Content: text})
				t.equal(int64(i+1), turn.Seq)
			}
			var texts []string
			for i, turn := range t.turns(ses.ID) {
				texts = append(texts, turn.Content)
				t.equal(int64(i+1), turn.Seq)
				t.equal(ses.ID, turn.SessionID)
			}
			t.equal([]string{"one", "two", "three"}, texts)
		}},
		{"a turn moves the envelope of its session", func(t *run) {
			ses := t.create(state.Session{Title: "kept"})
			turn := t.append(state.Turn{SessionID: ses.ID})
			after := t.session(ses.ID)
			t.equal(ses.SyncVersion+1, after.SyncVersion)
			t.equal(turn.UpdatedHLC, after.UpdatedHLC)
			t.equal(turn.LastWriterID, after.LastWriterID)
			t.equal(ses.OriginInstanceID, after.OriginInstanceID)
			t.equal(true, !after.UpdatedAt.Before(ses.UpdatedAt) && turn.UpdatedHLC.After(ses.UpdatedHLC))
			t.equal("kept", after.Title)
			t.equal([]state.Session{after}, t.listSessions())
		}},
	}
}

// sessionListCases hold the order of a list.
func sessionListCases() []testCase {
	return []testCase{
		{"sessions are listed oldest first, ties by id", func(t *run) {
			for _, c := range []struct {
				id string
				at int64
			}{{"d", 2}, {"b", 1}, {"a", 1}, {"c", -1}} {
				t.create(state.Session{ID: c.id, CreatedAt: time.Unix(c.at, 0)})
			}
			var ids []string
			for _, ses := range t.listSessions() {
				ids = append(ids, ses.ID)
			}
			t.equal([]string{"c", "a", "b", "d"}, ids)
		}},
	}
}

// turnCases hold what becomes of turns, and of their sessions after.
func turnCases() []testCase {
	return []testCase{
		{"a deleted session is unreadable and its turns are hidden", func(t *run) {
			ses := t.create(state.Session{ID: "a"})
			t.create(state.Session{ID: "b"})
			t.append(state.Turn{SessionID: ses.ID})
			t.must(t.sessions.Delete(t.ctx(), "a"))
			_, err := t.sessions.Get(t.ctx(), "a")
			t.fails(state.ErrNotFound, err)
			_, err = t.sessions.Turns(t.ctx(), "a")
			t.fails(state.ErrNotFound, err)
			_, err = t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "a"})
			t.fails(state.ErrNotFound, err)
			t.equal(1, len(t.listSessions()))
			t.fails(state.ErrNotFound, t.sessions.Delete(t.ctx(), "a"))
		}},
		{"a turn id is appended once", func(t *run) {
			t.create(state.Session{ID: "a"})
			t.create(state.Session{ID: "b"})
			first := t.append(state.Turn{SessionID: "a", ID: "t", Role: "user", Content: "x"})
			t.equal(first, t.append(state.Turn{SessionID: "a", ID: "t", Role: "user", Content: "x"}))
			for _, other := range []state.Turn{{Role: "user", Content: "y"}, {Role: "tool", Content: "x"}, {Role: "user", Content: "x", CreatedAt: time.Unix(1, 0)}} {
				other.SessionID, other.ID = "a", "t"
				_, err := t.sessions.AppendTurn(t.ctx(), other)
				t.fails(state.ErrConflict, err)
			}
			t.equal([]state.Turn{first}, t.turns("a"))
			t.equal(int64(2), t.session("a").SyncVersion)
			t.equal(int64(1), t.append(state.Turn{SessionID: "b", ID: "t", Content: "of another session"}).Seq)
		}},
		{"what a caller sets is kept or ignored as decided", func(t *run) {
			at := time.Date(2020, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
			ses := t.create(state.Session{CreatedAt: at, UpdatedAt: at, Envelope: state.Envelope{OriginInstanceID: "other", LastWriterID: "other", Deleted: true}})
			t.equal(at.UTC(), ses.CreatedAt)
			t.equal(true, ses.UpdatedAt.After(at))
			t.equal("other", ses.OriginInstanceID)
			t.equal(false, ses.LastWriterID == "other" || ses.Deleted)
			turn := t.append(state.Turn{SessionID: ses.ID, Seq: 99, CreatedAt: at, Envelope: state.Envelope{OriginInstanceID: "other", Deleted: true}})
			t.equal(at.UTC(), turn.CreatedAt)
			t.equal(int64(1), turn.Seq)
			t.equal("other", turn.OriginInstanceID)
			t.equal(false, turn.Deleted)
		}},
		{"a version of what does not exist is a conflict", func(t *run) {
			_, err := t.sessions.Create(t.ctx(), state.Session{Envelope: state.Envelope{SyncVersion: 1}})
			t.fails(state.ErrConflict, err)
			t.create(state.Session{ID: "a"})
			_, err = t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "a", Envelope: state.Envelope{SyncVersion: 1}})
			t.fails(state.ErrConflict, err)
			t.equal(int64(1), t.session("a").SyncVersion)
		}},
		{"text comes back byte for byte", func(t *run) {
			content := "\x00 \t\r\n \u2028 \U0001f600 cafe\u0301" + strings.Repeat("long ", 9000)
			t.create(state.Session{ID: "a", Title: content[:200]})
			t.append(state.Turn{SessionID: "a", Role: "", Content: content})
			t.equal(content, t.turns("a")[0].Content)
			t.equal(content[:200], t.session("a").Title)
		}},
	}
}

// badSessionCases hold what a caller cannot write.
func badSessionCases() []testCase {
	return []testCase{
		{"bad input writes nothing", func(t *run) {
			for _, ses := range []state.Session{
				{ID: "\x01"},
				{ID: strings.Repeat("x", 257)},
				{ID: "\xff"},
				{Title: "\xff"},
				{Model: "\xff"},
				{CreatedAt: time.Date(1, 1, 1, 0, 0, 0, 0, time.FixedZone("", 1))},
				{CreatedAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
				{Envelope: state.Envelope{OriginInstanceID: "\x00"}},
			} {
				_, err := t.sessions.Create(t.ctx(), ses)
				t.fails(state.ErrInvalid, err)
			}
			_, err := t.sessions.Create(t.ctx(), state.Session{Title: strings.Repeat("x", 70_000)})
			t.fails(state.ErrTooLarge, err)
			t.equal([]state.Session{}, t.listSessions())
			t.create(state.Session{ID: "a"})
			for _, turn := range []state.Turn{
				{SessionID: ""},
				{SessionID: "a", ID: "\x01"},
				{SessionID: "a\x00"},
				{SessionID: "a", Role: "\xff"},
				{SessionID: "a", Content: "\xff"},
				{SessionID: "a", CreatedAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
			} {
				_, err := t.sessions.AppendTurn(t.ctx(), turn)
				t.fails(state.ErrInvalid, err)
			}
			_, err = t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "a", Role: strings.Repeat("x", 70_000)})
			t.fails(state.ErrTooLarge, err)
			t.equal([]state.Turn{}, t.turns("a"))
			t.equal(int64(1), t.session("a").SyncVersion)
			_, err = t.sessions.Get(t.ctx(), "a\x00b")
			t.fails(state.ErrNotFound, err)
		}},
	}
}

// racingSessionCases hold what callers do at once.
func racingSessionCases() []testCase {
	return []testCase{
		{"concurrent turns have one number each", func(t *run) {
			t.create(state.Session{ID: "a"})
			var group sync.WaitGroup
			for i := range 20 {
				group.Go(func() {
					if _, err := t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "a", Content: strconv.Itoa(i)}); err != nil {
						t.Errorf("append: %v", err)
					}
				})
			}
			group.Wait()
			seen := map[string]bool{}
			for i, turn := range t.turns("a") {
				t.equal(int64(i+1), turn.Seq)
				seen[turn.Content] = true
			}
			t.equal(20, len(seen))
			t.equal(int64(21), t.session("a").SyncVersion)
		}},
		{"sessions of one id are made once", func(t *run) {
			var group sync.WaitGroup
			made := make([]bool, 20)
			for i := range made {
				group.Go(func() {
					_, err := t.sessions.Create(t.ctx(), state.Session{ID: "a"})
					made[i] = err == nil
					if err != nil {
						t.fails(state.ErrConflict, err)
					}
				})
			}
			group.Wait()
			count := 0
			for _, ok := range made {
				if ok {
					count++
				}
			}
			t.equal(1, count)
		}},
		{"numbers keep their range", func(t *run) {
			at := time.Unix(0, math.MaxInt64)
			ses := t.create(state.Session{CreatedAt: at})
			t.equal(at.UTC(), t.session(ses.ID).CreatedAt)
		}},
	}
}
