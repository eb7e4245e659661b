package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// named is a backend that knows the name of the instance b.
type named struct{ *backend }

func (named) NameOf(id string) string {
	if id == "b" {
		return "desk"
	}
	return ""
}

// TestWhatIsIncompleteNamesItsWriter by the name of the member, and by the id when
// that has none.
func TestWhatIsIncompleteNamesItsWriter(t *testing.T) {
	a, b, c := newPeer(t, "a", 0), newPeer(t, "b", 0), newPeer(t, "c", 0)
	long := strings.Repeat("long ", 20_000)
	for _, p := range []struct {
		*peer
		id string
	}{{b, "of-b"}, {c, "of-c"}} {
		if _, err := p.Memory().Write(t.Context(), state.MemoryItem{ID: p.id, Content: long}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Skills().Upsert(t.Context(), state.Skill{Slug: p.id, Body: long}); err != nil {
			t.Fatal(err)
		}
		exchange(t, a, p.peer)
	}
	h := api.NewHandler(named{&backend{state: a}}, api.Config{})
	for path, writer := range map[string]string{
		"/v1/memory/of-b": "desk", "/v1/skills/of-b": "desk", "/v1/memory/of-c": "c", "/v1/skills/of-c": "c",
	} {
		got := ask(t, h, "GET", path, "")
		var problem wire.Problem
		if err := json.Unmarshal([]byte(got.body), &problem); err != nil {
			t.Fatal(err)
		}
		if problem.Code != wire.CodeIncomplete || !strings.HasSuffix(problem.Detail, "such as "+writer+", which wrote it") {
			t.Errorf("%s: %s", path, got.body)
		}
		if problem.Memory == nil && problem.Skill == nil {
			t.Errorf("%s: nothing is said of what is known: %s", path, got.body)
		}
	}
}
