package statetest

import (
	"context"
	"slices"
	"strings"

	"github.com/fleetsync/fleetd/state"
)

// badInputCases hold that what breaks the rules is refused as a whole.
func badInputCases() []testCase {
	var cases []testCase
	long := strings.Repeat("é", 129) // 258 bytes
	for name, slug := range map[string]string{
		"an empty slug": "", "a slug of 258 bytes": long, "a slug of 300 bytes": strings.Repeat("x", 300),
		"a slug with a newline": "a\nb", "a slug with NUL": "a\x00b", "a slug with DEL": "a\x7f", "a slug with C1": "a\u0085b",
		"a slug that is not UTF-8": "a\xff", "the slug ..": "..", "the slug .": ".", "a slug that climbs": "../x",
		"an absolute slug": "/etc/x", "a slug with a drive": `C:\x`, "a slug that climbs inside": "a/../../b",
		"a slug of a device": "CON", "a slug of a device with an extension": "nul.txt", "a slug of a port": "com¹",
		"a slug of a drive": "C:x", "a slug with a colon": "x:y", "a slug with a wildcard": "a*", "a slug of dots": "...",
		"a slug that ends with a dot": "trail.", "a slug of white space": " ", "a slug that begins with white space": " a-b",
		"a slug that ends with white space": "a-b ", "a slug that nobody sees": "\u200b", "a slug that turns its letters": "a\u202eb",
		"a slug with a line separator": "a\u2028b", "a slug of 256 bytes": strings.Repeat("é", 128),
	} {
		cases = append(cases, refused(name, state.Skill{Slug: slug}))
	}
	for name, sk := range map[string]state.Skill{
		"an id with a control character": {Slug: "a", ID: "\x1b[31m"},
		"an over-long id":                {Slug: "a", ID: long},
		"an id that is not UTF-8":        {Slug: "a", ID: "\xff"},
		"a scope with 0x1f":              {Slug: "a", Scope: project("a\x1fb")},
		"an over-long scope":             {Slug: "a", Scope: state.Scope{Workspace: long}},
		"a scope that is not UTF-8":      {Slug: "a", Scope: state.Scope{Instance: "\xff"}},
		"a scope that turns its letters": {Slug: "a", Scope: project("a\u202eb")},
		"a name that is not UTF-8":       {Slug: "a", Name: "\xff"},
		"a body that is not UTF-8":       {Slug: "a", Body: "\xed\xa0\x80"},
		"a tag that is not UTF-8":        {Slug: "a", Tags: []string{"ok", "\xff"}},
		"a check that is not UTF-8":      {Slug: "a", Check: "\xff"},
		"negative uses":                  {Slug: "a", Uses: -1},
		"an origin with a newline":       {Slug: "a", Envelope: state.Envelope{OriginInstanceID: "a\nb"}},
		"an over-long origin":            {Slug: "a", Envelope: state.Envelope{OriginInstanceID: long}},
	} {
		cases = append(cases, refused(name, sk))
	}
	for name, it := range map[string]state.MemoryItem{
		"an item's id with a control character": {ID: "a\tb"},
		"an item's over-long id":                {ID: long},
		"an item's id that is not UTF-8":        {ID: "\xff"},
		"an item's scope with a newline":        {Scope: project("\n")},
		"content that is not UTF-8":             {Content: "\xff"},
		"a kind that is not UTF-8":              {Kind: "\xff"},
		"a source that is not UTF-8":            {Source: "\xff"},
	} {
		cases = append(cases, testCase{name, func(t *run) {
			_, err := t.memory.Write(t.ctx(), it)
			t.fails(state.ErrInvalid, err)
			t.nothingWritten()
		}})
	}
	cases = append(cases, testCase{"odd names that are names", func(t *run) {
		for i, slug := range []string{"console", "a.b", "-", "com", "com10", strings.Repeat("é", 127), "🚀", "%2e%2e", "a  b"} {
			t.equal(1, t.upsert(state.Skill{Slug: slug}).Version)
			t.equal(slug, t.skill(slug).Slug)
			t.equal(i+1, len(t.listSkills(state.Scope{})))
		}
	}})
	slices.SortFunc(cases, func(a, b testCase) int { return strings.Compare(a.name, b.name) })
	return cases
}

func refused(name string, sk state.Skill) testCase {
	return testCase{name, func(t *run) {
		_, err := t.skills.Upsert(t.ctx(), sk)
		t.fails(state.ErrInvalid, err)
		if sk.Slug != "a" {
			t.noSkill(sk.Slug)
			t.fails(state.ErrNotFound, t.skills.Delete(t.ctx(), sk.Slug))
		}
		t.nothingWritten()
	}}
}

// ownershipCases hold that callers own what they pass and what they get, and
// that an ended context ends the call.
func ownershipCases() []testCase {
	return []testCase{
		{"no tags read back as empty", func(t *run) {
			t.equal([]string{}, t.upsert(state.Skill{Slug: "a"}).Tags)
			t.equal([]string{}, t.skill("a").Tags)
			t.equal([]string{}, t.upsert(state.Skill{Slug: "b", Tags: []string{}}).Tags)
		}},
		{"changing what was passed or returned changes nothing", func(t *run) {
			passed := []string{"one", "two"}
			returned := t.upsert(state.Skill{Slug: "a", Tags: passed})
			passed[0], returned.Tags[0] = "changed", "changed"
			t.skill("a").Tags[0] = "changed"
			t.listSkills(state.Scope{})[0].Tags[0] = "changed"
			t.equal([]string{"one", "two"}, t.skill("a").Tags)
		}},
		{"appending to what was passed does not reach what was returned", func(t *run) {
			backing := []string{"one", "two"}
			returned := t.upsert(state.Skill{Slug: "a", Tags: backing[:1]})
			_ = append(returned.Tags, "x")
			t.equal([]string{"one", "two"}, backing)
		}},
		{"an ended context writes nothing and reads nothing", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "a"})
			it := t.write(state.MemoryItem{ID: "x"})
			ctx, cancel := context.WithCancel(t.ctx())
			cancel()
			_, errUpsert := t.skills.Upsert(ctx, state.Skill{Slug: "a", Body: "new"})
			_, errGet := t.skills.Get(ctx, "a")
			_, errList := t.skills.List(ctx, state.Scope{})
			_, errSearch := t.skills.Search(ctx, "", 0)
			_, errWrite := t.memory.Write(ctx, state.MemoryItem{ID: "x", Content: "new"})
			_, errRecall := t.memory.Recall(ctx, state.RecallQuery{})
			errSkill, errMemory := t.skills.Delete(ctx, "a"), t.memory.Delete(ctx, "x")
			for _, err := range []error{errUpsert, errGet, errList, errSearch, errWrite, errRecall, errSkill, errMemory} {
				t.fails(context.Canceled, err)
			}
			t.equal(sk, t.skill("a"))
			t.equal([]state.MemoryItem{it}, t.recall(state.RecallQuery{}))
		}},
	}
}
