package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

func TestASessionIsCreatedTalkedInAndDeleted(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	created := decode[wire.SessionReply](t, ask(t, h, "POST", "/v1/sessions", `{"id":"a/b","title":"build","model":"m"}`), http.StatusCreated)
	if created.ID != "a/b" || created.Title != "build" || created.Model != "m" || created.SyncVersion != 1 {
		t.Errorf("created %+v", created)
	}
	minted := decode[wire.SessionReply](t, ask(t, h, "POST", "/v1/sessions", `{}`), http.StatusCreated)
	const turns = "/v1/sessions/a%2Fb/turns"
	for i, body := range []string{`{"role":"user","content":"why?"}`, `{"id":"t","role":"tool","content":"a\n\tb"}`} {
		turn := decode[wire.TurnReply](t, ask(t, h, "POST", turns, body), http.StatusCreated)
		if turn.Seq != int64(i+1) || turn.SessionID != "a/b" {
			t.Errorf("turn %+v, want place %d", turn, i+1)
		}
	}
	again := decode[wire.TurnReply](t, ask(t, h, "POST", turns, `{"id":"t","role":"tool","content":"a\n\tb"}`), http.StatusCreated)
	if again.Seq != 2 {
		t.Errorf("a turn that was sent twice is at %d", again.Seq)
	}
	refused(t, ask(t, h, "POST", turns, `{"id":"t","role":"tool","content":"other"}`), wire.CodeConflict)
	refused(t, ask(t, h, "POST", "/v1/sessions", `{"id":"a/b"}`), wire.CodeConflict)

	checkTranscript(t, h)
	if a := ask(t, h, "DELETE", "/v1/sessions/a%2Fb", ""); a.status != http.StatusNoContent {
		t.Errorf("delete: status %d: %s", a.status, a.body)
	}
	for _, gone := range [][2]string{{"GET", ""}, {"GET", "/turns"}, {"DELETE", ""}} {
		refused(t, ask(t, h, gone[0], "/v1/sessions/a%2Fb"+gone[1], ""), wire.CodeNotFound)
	}
	refused(t, ask(t, h, "POST", turns, `{"role":"user","content":"x"}`), wire.CodeNotFound)
	left := decode[wire.SessionList](t, ask(t, h, "GET", "/v1/sessions", ""), http.StatusOK)
	if len(left.Sessions) != 1 || left.Sessions[0].ID != minted.ID {
		t.Errorf("sessions %+v, want the other one alone", left.Sessions)
	}
}

// checkTranscript reads the session a/b with its two turns.
func checkTranscript(t *testing.T, h http.Handler) {
	t.Helper()
	list := decode[wire.TurnList](t, ask(t, h, "GET", "/v1/sessions/a%2Fb/turns", ""), http.StatusOK)
	said := []string{}
	for _, turn := range list.Turns {
		said = append(said, turn.Role+": "+turn.Content)
	}
	if diff := cmp.Diff([]string{"user: why?", "tool: a\n\tb"}, said); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	got := decode[wire.SessionReply](t, ask(t, h, "GET", "/v1/sessions/a%2Fb", ""), http.StatusOK)
	if got.SyncVersion != 3 || got.UpdatedHLC != list.Turns[1].UpdatedHLC {
		t.Errorf("the session %+v does not count its turns", got)
	}
}

func TestASessionThatNobodyCanMeanIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	decode[wire.SessionReply](t, ask(t, h, "POST", "/v1/sessions", `{"id":"s"}`), http.StatusCreated)
	long := strings.Repeat("x", 65<<10)
	tests := map[string]struct {
		method, target, body string
		want                 wire.Code
	}{
		"an id with a control character":    {"POST", "/v1/sessions", `{"id":"a\u0001"}`, wire.CodeInvalid},
		"an id with a line end":             {"POST", "/v1/sessions", `{"id":"a\nb"}`, wire.CodeInvalid},
		"an id that is a path":              {"POST", "/v1/sessions", `{"id":".."}`, wire.CodeInvalid},
		"an id that is too long":            {"POST", "/v1/sessions", `{"id":"` + strings.Repeat("x", 257) + `"}`, wire.CodeInvalid},
		"a title with a control character":  {"POST", "/v1/sessions", `{"title":"\u001b[2J"}`, wire.CodeInvalid},
		"a title that is too long":          {"POST", "/v1/sessions", `{"title":"` + long + `"}`, wire.CodeTooLarge},
		"a scope":                           {"POST", "/v1/sessions", `{"scope":{}}`, wire.CodeBadRequest},
		"a turn without a role":             {"POST", "/v1/sessions/s/turns", `{"content":"x"}`, wire.CodeInvalid},
		"a turn without text":               {"POST", "/v1/sessions/s/turns", `{"role":"user"}`, wire.CodeInvalid},
		"a turn of white space":             {"POST", "/v1/sessions/s/turns", `{"role":"user","content":" \n"}`, wire.CodeInvalid},
		"a turn with a control character":   {"POST", "/v1/sessions/s/turns", `{"role":"user","content":"\u0000"}`, wire.CodeInvalid},
		"a turn that is too long":           {"POST", "/v1/sessions/s/turns", `{"role":"` + long + `","content":"x"}`, wire.CodeTooLarge},
		"a turn with an id that is a path":  {"POST", "/v1/sessions/s/turns", `{"id":".","role":"user","content":"x"}`, wire.CodeInvalid},
		"a turn whose body names a session": {"POST", "/v1/sessions/s/turns", `{"session_id":"s","role":"user","content":"x"}`, wire.CodeBadRequest},
		"turns of nobody":                   {"GET", "/v1/sessions/nobody/turns", "", wire.CodeNotFound},
		"turns with a parameter":            {"GET", "/v1/sessions/s/turns?offset=1", "", wire.CodeBadRequest},
		"turns after less than nothing":     {"GET", "/v1/sessions/s/turns?after=-1", "", wire.CodeBadRequest},
		"turns after what is no number":     {"GET", "/v1/sessions/s/turns?after=x", "", wire.CodeBadRequest},
		"no turns at all":                   {"GET", "/v1/sessions/s/turns?limit=0", "", wire.CodeBadRequest},
		"sessions with a parameter":         {"GET", "/v1/sessions?project=x", "", wire.CodeBadRequest},
		"a method that turns lack":          {"DELETE", "/v1/sessions/s/turns", "", wire.CodeMethod},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refused(t, ask(t, h, test.method, test.target, test.body), test.want)
		})
	}
}

// TestPagesOfATranscript have every turn once, those too that share a number.
func TestPagesOfATranscript(t *testing.T) {
	turns := []state.Turn{}
	for _, seq := range []int64{1, 2, 2, 2, 3, 4, 4} {
		turns = append(turns, state.Turn{Seq: seq})
	}
	for limit, want := range map[int][]int{0: {7}, 1: {1, 3, 1, 2}, 2: {4, 3}, 3: {4, 3}, 5: {5, 2}, 6: {7}, 9: {7}} {
		var lengths []int
		var all []state.Turn
		for after := int64(0); len(all) < len(turns); after = all[len(all)-1].Seq {
			page := api.TurnsAfter(turns, after, limit)
			if len(page) == 0 {
				t.Fatalf("pages of %d: nothing after %d", limit, after)
			}
			lengths, all = append(lengths, len(page)), append(all, page...)
		}
		if diff := cmp.Diff(want, lengths); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
		if diff := cmp.Diff(turns, all); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	if page := api.TurnsAfter(turns, 4, 1); len(page) != 0 {
		t.Errorf("after the last: %v", page)
	}
}
