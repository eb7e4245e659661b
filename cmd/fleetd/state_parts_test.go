package main

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// anyState is a state with texts of any length, that JSON escapes or not, in any
// number, some that no request has room for and some that are deleted.
func anyState(t *rapid.T) state.Snapshot {
	text := func(label string) string {
		return strings.Repeat(rapid.SampledFrom([]string{"x", "<", "\x01"}).Draw(t, label), rapid.SampledFrom([]int{0, 10, 10, 10, 10, 65_000}).Draw(t, label+" bytes"))
	}
	var s state.Snapshot
	gone := state.Envelope{Deleted: true}
	for i := range rapid.IntRange(0, 3).Draw(t, "sessions") {
		ses := state.Session{ID: "s" + strconv.Itoa(i), Title: text("title")}
		s.Sessions = append(s.Sessions, ses)
		turns := 3
		if len(ses.Title) < 1000 { // else each has a part of its own
			turns = rapid.SampledFrom([]int{0, 3, 210}).Draw(t, "turns")
		}
		for j := range turns {
			turn := state.Turn{ID: strconv.Itoa(j), SessionID: ses.ID, Seq: int64(j + 1)}
			if j < 2 {
				turn.Content = text("content")
			}
			s.Turns = append(s.Turns, turn)
		}
	}
	s.Sessions = append(s.Sessions, state.Session{ID: "gone", Envelope: gone})
	s.Turns = append(s.Turns, state.Turn{ID: "t", SessionID: "nobody", Seq: 1}, state.Turn{ID: "t", SessionID: "gone", Seq: 1})
	for i := range rapid.IntRange(0, 3).Draw(t, "skills") {
		s.Skills = append(s.Skills, state.Skill{Slug: strconv.Itoa(i), Body: text("body")})
	}
	s.Items = []state.MemoryItem{{ID: "last"}, {ID: "gone", Envelope: gone}, {ID: "huge", Content: strings.Repeat("x", wire.ImportBytesMax)}}
	return s
}

func TestPartsFitARequestAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyState(t)
		parts, refused := partsOf(s)
		if len(refused) != 1 || refused[0].Key != "huge" {
			t.Errorf("refused %+v", refused)
		}
		var all state.Snapshot
		for _, part := range parts {
			checkPart(t, part)
			if !part.ofTurns {
				all.Sessions = append(all.Sessions, part.Sessions...)
			}
			all.Turns = append(all.Turns, part.Turns...)
			all.Skills = append(all.Skills, part.Skills...)
			all.Items = append(all.Items, part.Items...)
		}
		s.Sessions, s.Turns, s.Items = s.Sessions[:len(s.Sessions)-1], s.Turns[:len(s.Turns)-1], s.Items[:1]
		if len(s.Sessions) == 0 {
			s.Sessions = nil
		}
		if !reflect.DeepEqual(s, all) { // cmp is slow on much text
			t.Errorf("(-want +got):\n%.2000s", cmp.Diff(s, all))
		}
	})
}

// checkPart holds that a part fits, and that it has the sessions of its turns.
func checkPart(t *rapid.T, part statePart) {
	payload, err := state.MarshalSnapshot(part.Snapshot)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	body, err := json.Marshal(wire.ImportRequest{DryRun: true, Snapshot: payload})
	if err != nil || len(body) > wire.ImportBytesMax {
		t.Errorf("a part of %d bytes, %v", len(body), err)
	}
	has := map[string]bool{"nobody": true}
	for _, ses := range part.Sessions {
		has[ses.ID] = true
	}
	for _, turn := range part.Turns {
		if !has[turn.SessionID] {
			t.Errorf("a part has a turn of %s and not that session", turn.SessionID)
		}
	}
}
