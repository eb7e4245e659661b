package api_test

import (
	"encoding/base64"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
)

// collect reads a list, and calls between after every entry.
func collect[T any](t *testing.T, entries iter.Seq2[T, error], name func(T) string, between func()) []string {
	t.Helper()
	var names []string
	for entry, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name(entry))
		between()
	}
	return names
}

// TestPagesHaveOnceWhatIsThereThroughout writes, replaces and deletes between
// the pages of a list: what nobody deletes is on one page each.
func TestPagesHaveOnceWhatIsThereThroughout(t *testing.T) {
	c, _ := serve(t, newBackend(t))
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	scopes := []wire.Scope{{}, {Project: "a"}, {Project: "b"}, {Project: "a", Workspace: "w"}}
	put := func(name string, scope wire.Scope) {
		t.Helper()
		if _, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: name, Content: "c", Scope: scope}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.PutSkill(ctx, name, wire.SkillWrite{Body: "b", Scope: scope}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CreateSession(ctx, wire.SessionWrite{ID: name}); err != nil {
			t.Fatal(err)
		}
	}
	var stay []string
	for i := range 20 {
		name := fmt.Sprintf("s%02d", rng.IntN(100)*100+i)
		put(name, scopes[i%len(scopes)])
		stay = append(stay, name)
	}
	slices.Sort(stay)
	n := 0
	between := func() {
		n++
		name := fmt.Sprintf("x%d-%d", rng.IntN(1000), n)
		put(name, scopes[n%len(scopes)])
		old := stay[rng.IntN(len(stay))]
		if it, err := c.Memory(ctx, old, nil); err != nil {
			t.Fatal(err)
		} else if _, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: old, Content: strconv.Itoa(n), Scope: it.Scope}); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			_ = c.DeleteMemory(ctx, name, nil)
			_ = c.DeleteSkill(ctx, name, nil)
			_ = c.DeleteSession(ctx, name)
		}
	}
	for _, limit := range []int{1, 7} {
		for list, got := range map[string][]string{
			"memory":   collect(t, c.EachMemory(ctx, client.MemoryQuery{Limit: limit}), func(it wire.MemoryItem) string { return it.ID }, between),
			"skills":   collect(t, c.EachSkill(ctx, client.SkillQuery{Limit: limit}), func(sk wire.Skill) string { return sk.Slug }, between),
			"sessions": collect(t, firstOf(c.EachSession(ctx, limit), 200), func(ses wire.Session) string { return ses.ID }, between),
		} {
			got = slices.DeleteFunc(got, func(name string) bool { return name[0] == 'x' })
			slices.Sort(got)
			if diff := cmp.Diff(stay, got); diff != "" {
				t.Errorf("%s by %d (-want +got):\n%s", list, limit, diff)
			}
		}
	}
}

// firstOf ends a list that grows while it is read.
func firstOf[T any](entries iter.Seq2[T, error], most int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for entry, err := range entries {
			if most--; most < 0 || !yield(entry, err) {
				return
			}
		}
	}
}

// writeLists writes ten skills, an item in five versions and a session of five
// turns.
func writeLists(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	for i := range 5 {
		for _, scope := range []wire.Scope{{}, {Project: "p"}} {
			if _, err := c.PutSkill(ctx, fmt.Sprintf("s%d", i), wire.SkillWrite{Body: strconv.Itoa(i), Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.WriteMemory(ctx, wire.MemoryWrite{ID: "m", Content: strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.CreateSession(ctx, wire.SessionWrite{ID: "talk"}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := c.AppendTurn(ctx, "talk", wire.TurnWrite{Role: "user", Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPagesAreTheListInParts(t *testing.T) {
	c, _ := serve(t, newBackend(t))
	ctx := t.Context()
	writeLists(t, c)
	nothing := func() {}
	whole, err := c.Skills(ctx, client.SkillQuery{})
	if err != nil || len(whole.Skills) != 10 || whole.NextCursor != "" {
		t.Fatalf("%d skills, cursor %q, %v", len(whole.Skills), whole.NextCursor, err)
	}
	name := func(sk wire.Skill) string { return sk.Slug + sk.Scope.Project }
	want := []string{}
	for _, sk := range whole.Skills {
		want = append(want, name(sk))
	}
	for _, limit := range []int{1, 3, 10, 50} {
		if diff := cmp.Diff(want, collect(t, c.EachSkill(ctx, client.SkillQuery{Limit: limit}), name, nothing)); diff != "" {
			t.Errorf("skills by %d (-want +got):\n%s", limit, diff)
		}
	}
	one := collect(t, c.EachSkill(ctx, client.SkillQuery{Limit: 2, Scope: &wire.Scope{Project: "p"}}), name, nothing)
	if diff := cmp.Diff([]string{"s0p", "s1p", "s2p", "s3p", "s4p"}, one); diff != "" {
		t.Errorf("one scope (-want +got):\n%s", diff)
	}
	seqs := collect(t, c.EachTurn(ctx, "talk", client.TurnQuery{Limit: 2, After: 1}), func(turn wire.Turn) string { return strconv.FormatInt(turn.Seq, 10) }, nothing)
	if diff := cmp.Diff([]string{"2", "3", "4", "5"}, seqs); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	versions := collect(t, c.EachVersion(ctx, client.Record{Kind: "memory", Key: "m"}, 2), func(v wire.Version) string { return v.Memory.Content }, nothing)
	if diff := cmp.Diff([]string{"4", "3", "2", "1", "0"}, versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}

func TestACursorThatIsNoneIsRefused(t *testing.T) {
	h := api.NewHandler(newBackend(t), api.Config{})
	ask(t, h, "PUT", "/v1/skills/a", `{"body":"b"}`)
	ask(t, h, "PUT", "/v1/skills/b", `{"body":"b"}`)
	ask(t, h, "POST", "/v1/sessions", `{"id":"s"}`)
	cursor := decode[wire.SkillList](t, ask(t, h, "GET", "/v1/skills?limit=1", ""), 200).NextCursor
	if cursor == "" || url.QueryEscape(cursor) != cursor {
		t.Fatalf("cursor %q, want one that needs no escapes", cursor)
	}
	forged := func(text string) string { return "1" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, target := range []string{"/v1/skills", "/v1/memory", "/v1/sessions", "/v1/sessions/s/turns", "/v1/conflicts", "/v1/skills/a/versions", "/v1/records/skill/a/versions"} {
		bad := []string{"x", "1", "2" + cursor[1:], "1!", cursor + "A", forged(`{}`), forged(`["skills"]`), forged(`["skills",1,2,3,4]`)}
		for _, list := range []string{"memory", "sessions", "turns", "versions", "conflicts"} {
			bad = append(bad, forged(`["`+list+`","x"]`), forged(`["`+list+`","x","x"]`), forged(`["`+list+`","x","x","x","x"]`), forged(`["`+list+`","x","x","x","x","x"]`))
		}
		if target != "/v1/skills" {
			bad = append(bad, cursor)
		}
		for _, text := range bad {
			refused(t, ask(t, h, "GET", target+"?cursor="+url.QueryEscape(text), ""), wire.CodeInvalid)
		}
	}
	refused(t, ask(t, h, "GET", "/v1/sessions/s/turns?after=1&cursor="+forged(`["turns","1"]`), ""), wire.CodeInvalid)
	refused(t, ask(t, h, "GET", "/v1/skills?cursor=a&cursor=b", ""), wire.CodeBadRequest)
}

// Settling a conflict that was shown does not move those that come.
func TestPagesOfConflictsWhileTheyAreSettled(t *testing.T) {
	_, _, h := inConflict(t)
	whole := decode[wire.ConflictList](t, ask(t, h, "GET", "/v1/conflicts", ""), 200)
	var want, got []string
	for _, c := range whole.Conflicts {
		want = append(want, c.Kind+" "+c.Key)
	}
	for cursor := ""; ; {
		list := decode[wire.ConflictList](t, ask(t, h, "GET", "/v1/conflicts?limit=1&cursor="+cursor, ""), 200)
		for _, c := range list.Conflicts {
			got = append(got, c.Kind+" "+c.Key)
			path := "/v1/records/" + url.PathEscape(c.Kind) + "/" + url.PathEscape(c.Key) + "/keep"
			decode[wire.Settled](t, ask(t, h, "POST", path, ""), 200)
		}
		if cursor = list.NextCursor; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 3 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
