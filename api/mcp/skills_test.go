package mcp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api/mcp"
	"github.com/fleetsync/fleetd/state"
)

// The shapes of the Skills extension, as a client has them.
type (
	skillsParams struct {
		sdk.ParamsBase
		URI    string `json:"uri,omitempty"`
		Cursor string `json:"cursor,omitempty"`
	}
	skillEntry struct {
		URI         string         `json:"uri"`
		Frontmatter map[string]any `json:"frontmatter"`
		Resources   []skillFile    `json:"resources"`
	}
	skillFile struct {
		URI    string `json:"uri"`
		Digest string `json:"digest"`
		Size   int    `json:"size"`
	}
	skillsResult struct {
		sdk.ResultBase
		ResultType string       `json:"resultType"`
		TTL        *int         `json:"ttlMs"`
		CacheScope string       `json:"cacheScope"`
		NextCursor string       `json:"nextCursor"`
		Skills     []skillEntry `json:"skills"`
		Skill      skillEntry   `json:"skill"`
	}
)

func TestSkillsExtension(t *testing.T) {
	n := newNode(t)
	a := connectSkills(t, mcp.New(n, mcp.Config{}))
	put := func(scope state.Scope, slug, body string) {
		t.Helper()
		if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: slug, Body: body, Scope: scope}); err != nil {
			t.Fatal(err)
		}
	}
	const text = "\ufeff---\r\nname: say-hello\r\ndescription: 'Greets: <people>.'\r\nmetadata:\r\n  version: \"2\"\r\n  n: 3\r\nallowed-tools: [a, b]\r\n---\r\n\r\nHello.\r\n"
	put(state.Scope{}, "say-hello", text)
	put(state.Scope{Project: "p"}, "say-hello", "---\nname: say-hello\ndescription: d\n---\n")
	put(state.Scope{}, "bare", "no frontmatter")
	put(state.Scope{}, "other", "---\nname: another\ndescription: d\n---\n")
	put(state.Scope{}, "broken", "---\nname: broken\ndescription: a: b: c\n---\n")
	if _, declared := a.InitializeResult().Capabilities.Extensions["io.modelcontextprotocol/skills"]; !declared {
		t.Error("the extension is not declared")
	}
	list, err := sdk.CallCustomMethod[*skillsParams, *skillsResult](t.Context(), a.ClientSession, "skills/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	if list.ResultType != "complete" || list.TTL == nil || list.CacheScope != "private" || len(list.Skills) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, entry := range list.Skills {
		describesWhatIsRead(t, a, entry)
	}
	want := map[string]any{
		"name": "say-hello", "description": "Greets: <people>.", "metadata": map[string]any{"version": "2", "n": 3.0}, "allowed-tools": []any{"a", "b"},
	}
	expect(t, "URI", "skill://say-hello/SKILL.md", list.Skills[0].URI)
	expect(t, "frontmatter", want, list.Skills[0].Frontmatter)
}

// describesWhatIsRead compares an entry with what skills/get and reading give.
func describesWhatIsRead(t *testing.T, a *agent, entry skillEntry) {
	t.Helper()
	got, err := sdk.CallCustomMethod[*skillsParams, *skillsResult](t.Context(), a.ClientSession, "skills/get", &skillsParams{URI: entry.URI})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, entry.URI, entry, got.Skill)
	read, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: entry.Resources[0].URI})
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(read.Contents[0].Text))
	expect(t, "files", []skillFile{{entry.URI, "sha256:" + hex.EncodeToString(digest[:]), len(read.Contents[0].Text)}}, entry.Resources)
	contains(t, entry.URI, "say-hello/SKILL.md")
}

func TestWhatIsNoSkillOfTheExtensionIsRefused(t *testing.T) {
	n := newNode(t)
	a := connectSkills(t, mcp.New(n, mcp.Config{}))
	if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: "bare", Body: "no frontmatter"}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"", "skill://bare/SKILL.md", "skill://nobody/SKILL.md", "memory://x", "skill://broken/SKILL.md"} {
		_, err := sdk.CallCustomMethod[*skillsParams, *skillsResult](t.Context(), a.ClientSession, "skills/get", &skillsParams{URI: uri})
		if code := codeOf(err); code != -32602 {
			t.Errorf("skills/get %q: %v, want code -32602", uri, err)
		}
	}
}

func TestManySkillsComeInPages(t *testing.T) {
	n := newNode(t)
	a := connectSkills(t, mcp.New(n, mcp.Config{}))
	const skills = 205
	for i := range skills {
		slug := fmt.Sprintf("s%03d", i)
		if _, err := n.replica.Skills().Upsert(t.Context(), state.Skill{Slug: slug, Body: "---\nname: " + slug + "\ndescription: d\n---\n"}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for params := (&skillsParams{}); ; {
		list, err := sdk.CallCustomMethod[*skillsParams, *skillsResult](t.Context(), a.ClientSession, "skills/list", params)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Skills {
			seen[s.URI] = true
		}
		if list.NextCursor == "" {
			break
		}
		params.Cursor = list.NextCursor
	}
	if len(seen) != skills {
		t.Errorf("%d skills, want %d", len(seen), skills)
	}
}

// codeOf returns the code of an error of the protocol; 0 for another.
func codeOf(err error) int64 {
	var known *jsonrpc.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return 0
}
