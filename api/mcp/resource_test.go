package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/state"
)

func TestResources(t *testing.T) {
	n := newNode(t)
	a := connect(t, mcp.New(n, mcp.Config{}), mcp.Options{})
	write := func(scope state.Scope, id, content string) {
		if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: id, Kind: "fact", Content: content, Scope: scope}); err != nil {
			t.Fatal(err)
		}
	}
	write(state.Scope{}, "a", "first\nsecond")
	write(state.Scope{}, "../a b/\u00fc?#%", "odd")
	write(state.Scope{}, "..", "dots")
	write(state.Scope{Instance: "i", Project: "p/q", Workspace: "w"}, "c", "scoped")
	if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Body: "Push.\r\n", Scope: state.Scope{Project: "p"}}); err != nil {
		t.Fatal(err)
	}
	list, err := a.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"memory://a":                                      "first\nsecond",
		"memory://..%2Fa%20b%2F%C3%BC%3F%23%25":           "odd",
		"memory://%2E%2E":                                 "dots",
		"memory://instance/i/project/p%2Fq/workspace/w/c": "scoped",
		"skill://project/p/deploy/SKILL.md":               "Push.\r\n",
	}
	got := map[string]string{}
	for _, r := range list.Resources {
		read, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Fatalf("%s: %v", r.URI, err)
		}
		c := read.Contents[0]
		got[r.URI] = c.Text
		by, _ := c.Meta["fleetd/provenance"].(map[string]any)
		expect(t, r.URI, []any{int64(len(c.Text)), "desk"}, []any{r.Size, by["writer"]})
	}
	expect(t, "resources", want, got)
	if read, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "skill://project/p/deploy"}); err != nil || read.Contents[0].Text != "Push.\r\n" {
		t.Errorf("without the file: %v, %v", read, err)
	}
	templates, err := a.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 4 {
		t.Errorf("templates: %v, %v", templates, err)
	}
}

func TestAResourceThatIsNoneIsRefused(t *testing.T) {
	a := connect(t, mcp.New(newNode(t), mcp.Config{}), mcp.Options{})
	for _, uri := range []string{"memory://b", "memory://", "memory://x/y/z", "memory://project/p/project/p/a", "skill://deploy", "file:///etc/passwd", "memory://%zz"} {
		if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: got %v, want not found", uri, err)
		}
	}
}

func TestALongListOfResourcesComesInPages(t *testing.T) {
	n := newNode(t)
	// The page that the items end on has room for one of the skills.
	const items, skills = 999, 2
	for i := range skills {
		if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: fmt.Sprintf("s%d", i), Body: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range items {
		if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: fmt.Sprintf("m%04d", i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	a := connect(t, mcp.New(n, mcp.Config{}), mcp.Options{})
	var uris []string
	pages := 0
	for params := (&sdk.ListResourcesParams{}); ; {
		list, err := a.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, r := range list.Resources {
			uris = append(uris, r.URI)
		}
		if list.NextCursor == "" {
			break
		}
		params.Cursor = list.NextCursor
	}
	slices.Sort(uris)
	if len(slices.Compact(uris)) != items+skills || pages != 3 {
		t.Errorf("%d resources in %d pages", len(uris), pages)
	}
}

// TestTheCursorOfAListLeadsThroughAllOfIt in pages of bounded size.
func TestTheCursorOfAListLeadsThroughAllOfIt(t *testing.T) {
	n := newNode(t)
	const items = 450
	for i := range items {
		if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: fmt.Sprintf("m%04d", i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	a := connect(t, mcp.New(n, mcp.Config{}), mcp.Options{})
	seen, cursor := map[string]bool{}, ""
	for {
		index, _ := call[mcp.MemoryIndex](t, a, "memory_list", args{"limit": 10_000, "cursor": cursor})
		if index.Returned > 200 || index.Returned == 0 {
			t.Fatalf("a page of %d", index.Returned)
		}
		for _, e := range index.Items {
			seen[e.ID] = true
		}
		if cursor = index.Cursor; cursor == "" {
			break
		}
	}
	if len(seen) != items {
		t.Errorf("memory_list led to %d items, want %d", len(seen), items)
	}
}

// TestTheCursorsOfSkillListsLeadThroughAllOfThem also where slugs are in several
// scopes.
func TestTheCursorsOfSkillListsLeadThroughAllOfThem(t *testing.T) {
	n := newNode(t)
	for i := range 30 {
		for _, scope := range []state.Scope{{}, {Project: "p"}} {
			if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: fmt.Sprintf("s%02d", i), Body: "x", Scope: scope}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a := connect(t, mcp.New(n, mcp.Config{}), mcp.Options{})
	for project, want := range map[string]int{"": 60, "p": 30} {
		seen, in := map[string]bool{}, args{"limit": 7}
		if project != "" {
			in["project"] = project
		}
		for {
			index, text := call[mcp.SkillIndex](t, a, "skill_list", in)
			for _, e := range index.Skills {
				seen[e.Slug+" in "+e.Scope.Project] = true
			}
			if !index.More {
				break
			}
			contains(t, text, "7 skills, and there are more; cursor "+index.Cursor+" gets the next")
			in["cursor"] = index.Cursor
		}
		expect(t, "skills that the pages have", want, len(seen))
	}
}

// TestNotices subscribes by both protocols, and changes what was subscribed to.
func TestNotices(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			n := newNode(t)
			if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: "before", Content: "x"}); err != nil {
				t.Fatal(err)
			}
			updated, changed := make(chan string, 100), make(chan bool, 100)
			a := connectVersion(t, mcp.New(n, mcp.Config{}), version, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
				ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
					changed <- true
				},
			})
			for _, uri := range []string{"memory://a", "skill://deploy"} {
				if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			}
			write := func() {
				if _, err := n.replica.Memory().Write(t.Context(), state.MemoryItem{ID: "a", Content: "x"}); err != nil {
					t.Error(err)
				}
				if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: "deploy", Body: "x"}); err != nil {
					t.Error(err)
				}
			}
			// The newer protocol does not tell when a subscription has begun, so the
			// change is repeated until it is noticed.
			seen := map[string]bool{}
			again := time.NewTicker(20 * time.Millisecond)
			defer again.Stop()
			for write(); len(seen) < 3; {
				select {
				case uri := <-updated:
					seen[uri] = true
				case <-changed:
					seen["list"] = true
				case <-again.C:
					write()
				}
			}
			expect(t, "notices", map[string]bool{"memory://a": true, "skill://deploy": true, "list": true}, seen)
		})
	}
}

func TestASubscriptionToNothingIsRefused(t *testing.T) {
	a := connectVersion(t, mcp.New(newNode(t), mcp.Config{}), "2025-11-25", nil)
	if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "file:///x"}); err == nil {
		t.Error("it was accepted")
	}
}
