package api_test

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// peer is a replica whose commits can be given to another.
type peer struct {
	state.Replica
	store *store.Store
	log   []merge.Record
}

func newPeer(t *testing.T, name string, ahead time.Duration) *peer {
	t.Helper()
	p := &peer{}
	var err error
	p.store, err = store.Open(store.NewMemory(), store.Config{
		Now: func() time.Time { return time.Now().Add(ahead) }, Rand: rand.Reader, Indexer: state.Indexer{},
		OnCommit: func(c store.Commit) { p.log = append(p.log, c.Records...) },
	})
	if err == nil {
		p.Replica, err = state.Open(p.store, state.Config{InstanceID: name})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// exchange gives both all that either has committed.
func exchange(t *testing.T, a, b *peer) {
	t.Helper()
	for _, way := range [][2]*peer{{a, b}, {b, a}} {
		if _, err := way[1].store.Merge(context.Background(), store.Batch{Path: store.PathFeed, Records: way[0].log}); err != nil {
			t.Fatal(err)
		}
	}
}

// inConflict returns two replicas and the API of the first: they wrote one skill
// in two scopes, an item and a turn each while apart, b later.
func inConflict(t *testing.T) (a, b *peer, h http.Handler) {
	t.Helper()
	a, b = newPeer(t, "a", 0), newPeer(t, "b", time.Second)
	ctx := t.Context()
	if _, err := a.Sessions().Create(ctx, state.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	for i, p := range []*peer{a, b} {
		name := "by " + []string{"a", "b"}[i]
		_, err1 := p.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Body: name})
		_, err2 := p.Memory().Write(ctx, state.MemoryItem{ID: "m/n", Content: name})
		_, err3 := p.Sessions().AppendTurn(ctx, state.Turn{ID: "t/u", SessionID: "s", Role: "user", Content: name})
		for _, err := range []error{err1, err2, err3} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := a.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Scope: state.Scope{Project: "web"}, Body: "alone"}); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	bk := newBackend(t)
	bk.state = a
	return a, b, api.NewHandler(bk, api.Config{})
}

// lostHashes are the hashes of what lost, by kind and key.
func lostHashes(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	list := decode[wire.ConflictList](t, ask(t, h, "GET", "/v1/conflicts", ""), http.StatusOK)
	lost := map[string]string{}
	for _, c := range list.Conflicts {
		lost[c.Kind+" "+c.Key] = c.Loser.Hash
		if c.Winner.Standing != wire.StandingHead || c.Loser.Standing != wire.StandingConflict {
			t.Errorf("%s %s: standing %s over %s", c.Kind, c.Key, c.Winner.Standing, c.Loser.Standing)
		}
	}
	return lost
}

func TestConflictsOfEveryKindAreSettled(t *testing.T) {
	_, _, h := inConflict(t)
	lost := lostHashes(t, h)
	if diff := cmp.Diff([]string{"memory m/n", "session.turn s/t%2Fu", "skill deploy"}, slices.Sorted(maps.Keys(lost))); diff != "" {
		t.Fatalf("conflicts (-want +got):\n%s", diff)
	}
	kept := decode[wire.Settled](t, ask(t, h, "POST", "/v1/records/skill/deploy/keep", ""), http.StatusOK)
	if !kept.Written || *kept.Version.Skill.Body != "by b" || kept.Version.LastWriterID != "a" || kept.From.LastWriterID != "b" {
		t.Errorf("kept %+v", kept)
	}
	restored := decode[wire.Settled](t, ask(t, h, "POST", "/v1/records/memory/m%2Fn/restore", `{"hash":"`+lost["memory m/n"][:16]+`"}`), http.StatusOK)
	if !restored.Written || restored.Version.Memory.Content != "by a" || restored.From.Hash != lost["memory m/n"] {
		t.Errorf("restored %+v", restored)
	}
	turn := decode[wire.Settled](t, ask(t, h, "POST", "/v1/records/session.turn/s%2Ft%252Fu/restore", `{"hash":"`+lost["session.turn s/t%2Fu"]+`"}`), http.StatusOK)
	if turn.Version.Turn == nil || turn.Version.Turn.Content != "by a" {
		t.Errorf("restored %+v", turn)
	}
	if left := lostHashes(t, h); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	refused(t, ask(t, h, "POST", "/v1/records/memory/m%2Fn/keep", ""), wire.CodeNotFound)
	again := decode[wire.Settled](t, ask(t, h, "POST", "/v1/records/memory/m%2Fn/restore", `{"hash":"`+lost["memory m/n"]+`"}`), http.StatusOK)
	if again.Written || again.Version.Hash != restored.Version.Hash {
		t.Errorf("again %+v, want nothing written", again)
	}
}

func TestARecordIsFoundInItsScope(t *testing.T) {
	a, b, h := inConflict(t)
	history := func(query string) wire.History {
		return decode[wire.History](t, ask(t, h, "GET", "/v1/records/skill/deploy/versions"+query, ""), http.StatusOK)
	}
	for query, want := range map[string][]string{
		"":             {"head by b", "conflict by a"}, // the one of two that is in conflict
		"?project=":    {"head by b", "conflict by a"},
		"?project=web": {"head alone"},
	} {
		if diff := cmp.Diff(want, told(history(query))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	web := state.Scope{Project: "web"}
	if _, err := b.Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Scope: web, Body: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Scope: web, Body: "y"}); err != nil {
		t.Fatal(err)
	}
	exchange(t, a, b)
	p := refused(t, ask(t, h, "GET", "/v1/records/skill/deploy/versions", ""), wire.CodeAmbiguous)
	if want := `ambiguous: skill "deploy" is in several scopes: global; project web`; p.Detail != want {
		t.Errorf("detail %q, want %q", p.Detail, want)
	}
	refused(t, ask(t, h, "POST", "/v1/records/skill/deploy/keep", ""), wire.CodeAmbiguous)
}

func TestAHashMayBeItsBeginning(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	for range 17 { // two of so many begin with one digit
		decode[wire.MemoryReply](t, ask(t, h, "PUT", "/v1/memory/m", `{"content":"x"}`), http.StatusOK)
	}
	history := decode[wire.History](t, ask(t, h, "GET", "/v1/records/memory/m/versions", ""), http.StatusOK)
	begin := map[string]int{}
	for _, v := range history.Versions {
		begin[v.Hash[:1]]++
	}
	for digit, n := range begin {
		a := ask(t, h, "POST", "/v1/records/memory/m/restore", `{"hash":"`+digit+`"}`)
		if n > 1 {
			refused(t, a, wire.CodeAmbiguous)
			continue
		}
		decode[wire.Settled](t, a, http.StatusOK)
	}
}

func TestARecordThatNobodyCanMeanIsRefused(t *testing.T) {
	_, _, h := inConflict(t)
	const restore = "/v1/records/skill/deploy/restore"
	tests := map[string]struct {
		method, target, body string
		want                 wire.Code
	}{
		"an unknown key":             {"GET", "/v1/records/skill/nobody/versions", "", wire.CodeNotFound},
		"an unknown kind":            {"POST", "/v1/records/wiki/deploy/keep", "", wire.CodeNotFound},
		"another scope":              {"POST", "/v1/records/skill/deploy/keep?project=docs", "", wire.CodeNotFound},
		"a scope that cannot be":     {"POST", "/v1/records/skill/deploy/keep?project=%01", "", wire.CodeNotFound},
		"a key with a zero":          {"GET", "/v1/records/session.turn/s%00t/versions", "", wire.CodeNotFound},
		"a key with an escaped zero": {"GET", "/v1/records/session.turn/s%252500t/versions", "", wire.CodeNotFound},
		"a turn without a session":   {"GET", "/v1/records/session.turn/t/versions", "", wire.CodeNotFound},
		"an unknown parameter":       {"GET", "/v1/records/skill/deploy/versions?q=x", "", wire.CodeBadRequest},
		"an unknown verb":            {"POST", "/v1/records/skill/deploy/forget", "", wire.CodeNoRoute},
		"no body":                    {"POST", restore, "", wire.CodeMediaType},
		"an empty hash":              {"POST", restore, `{"hash":""}`, wire.CodeInvalid},
		"a hash that is none":        {"POST", restore, `{"hash":"xyz"}`, wire.CodeInvalid},
		"a hash of nobody":           {"POST", restore, `{"hash":"0000000000000000"}`, wire.CodeNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refused(t, ask(t, h, test.method, test.target, test.body), test.want)
		})
	}
}
