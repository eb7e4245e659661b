package statetest

import (
	"strings"
	"time"

	"github.com/fleetsync/fleetd/state"
)

func providerCases() []testCase {
	return []testCase{
		{"it has a name", func(t *run) {
			if t.provider.Name() == "" {
				t.Error("empty name")
			}
		}},
		{"an empty one lists nothing", func(t *run) {
			t.nothingWritten()
			t.equal([]state.Skill{}, t.listSkills(state.Scope{}))
		}},
		{"closing twice is no error", func(t *run) {
			t.must(t.provider.Close())
			t.must(t.provider.Close())
		}},
		{"a closed one refuses everything", func(t *run) {
			t.must(t.provider.Close())
			_, errUpsert := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a"})
			_, errGet := t.skills.Get(t.ctx(), "a")
			_, errList := t.skills.List(t.ctx(), state.Scope{})
			_, errSearch := t.skills.Search(t.ctx(), "", 0)
			_, errWrite := t.memory.Write(t.ctx(), state.MemoryItem{})
			_, errRecall := t.memory.Recall(t.ctx(), state.RecallQuery{})
			errDelete := t.memory.Delete(t.ctx(), "a")
			for i, err := range []error{errUpsert, errGet, errList, errSearch, errWrite, errRecall, errDelete} {
				if err == nil {
					t.Errorf("call %d went through", i)
				}
			}
		}},
	}
}

func skillCases() []testCase {
	return []testCase{
		{"an unknown one is not found", func(t *run) {
			t.noSkill("nope")
			t.noSkill("")
			t.fails(state.ErrNotFound, t.skills.Delete(t.ctx(), "nope"))
		}},
		{"a create gives an id and version 1", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "deploy", Version: 7})
			t.equal(1, sk.Version)
			t.equal(state.SkillID(state.Scope{}, "deploy"), sk.ID)
		}},
		{"what is read is what was written", func(t *run) {
			want := t.upsert(state.Skill{
				Slug: "deploy", Name: "Deploy", Body: "run it", Tags: []string{"ops", "", "ops"}, Check: "make check", Scope: project("web"),
			})
			t.equal(want, t.skill("deploy"))
			t.equal(want, t.skill(want.ID))
			t.equal([]state.Skill{want}, t.listSkills(project("web")))
			t.equal([]state.Skill{want}, t.search("", 0))
		}},
	}
}

func skillUpdateCases() []testCase {
	return []testCase{
		{"an update keeps id, creation and origin and counts the version", func(t *run) {
			first := t.upsert(state.Skill{Slug: "deploy", Body: "one", Check: "c"})
			second := t.upsert(state.Skill{
				Slug: "deploy", Body: "two", CreatedAt: time.Unix(7, 0), Envelope: state.Envelope{OriginInstanceID: "other"},
			})
			t.equal(second, t.skill("deploy"))
			want := first
			want.Body, want.Check, want.Version, want.SyncVersion = "two", "", 2, 2
			want.UpdatedAt, want.UpdatedHLC = second.UpdatedAt, second.UpdatedHLC
			t.equal(want, second)
		}},
		{"a creation time that the caller sets is kept to the nanosecond", func(t *run) {
			at := time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("x", 3600))
			t.equal(at.UTC(), t.upsert(state.Skill{Slug: "a", CreatedAt: at}).CreatedAt)
			t.equal(at.UTC(), t.skill("a").CreatedAt)
		}},
		{"a deletion mark that the caller sets is ignored", func(t *run) {
			t.equal(false, t.upsert(state.Skill{Slug: "a", Envelope: state.Envelope{Deleted: true}}).Deleted)
			t.equal(false, t.upsert(state.Skill{Slug: "a", Envelope: state.Envelope{Deleted: true}}).Deleted)
			t.equal([]string{"a"}, slugs(t.listSkills(state.Scope{})))
		}},
		{"a body is stored byte for byte", func(t *run) {
			body := "\ufeff---\r\nname: a\r\n---\r\n\x00\u2028 cafe\u0301 \U0001f680"
			t.upsert(state.Skill{Slug: "a", Body: body})
			t.equal(body, t.skill("a").Body)
		}},
		{"scopes keep one slug apart", func(t *run) {
			for _, scope := range []state.Scope{{}, project("web"), {Project: "web", Workspace: "w"}, {Instance: "i"}} {
				t.upsert(state.Skill{Slug: "deploy", Body: scope.String(), Scope: scope})
			}
			for _, scope := range []state.Scope{{}, project("web"), {Project: "web", Workspace: "w"}, {Instance: "i"}} {
				list := t.listSkills(scope)
				if len(list) != 1 || list[0].Body != scope.String() || list[0].Scope != scope {
					t.Errorf("%s lists %+v", scope, list)
				}
			}
			t.equal([]state.Skill{}, t.listSkills(project("other")))
			t.equal([]state.Skill{}, t.listSkills(project("\xff")))
		}},
		{"a list is by slug", func(t *run) {
			for _, slug := range []string{"b", "a", "é", "a b", "B", "a-b", "ab"} {
				t.upsert(state.Skill{Slug: slug})
			}
			t.equal([]string{"B", "a", "a b", "a-b", "ab", "b", "é"}, slugs(t.listSkills(state.Scope{})))
		}},
		{"a check on the limit is stored and one beyond is refused", func(t *run) {
			check := strings.Repeat("x", 64<<10-200)
			t.upsert(state.Skill{Slug: "a", Check: check})
			_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Check: check + strings.Repeat("x", 200)})
			t.fails(state.ErrTooLarge, err)
			t.equal(check, t.skill("a").Check)
		}},
	}
}

// skillIDCases hold how ids lead to skills. The home scope is global.
func skillIDCases() []testCase {
	return []testCase{
		{"a chosen id and the derived one both lead to the skill", func(t *run) {
			want := t.upsert(state.Skill{Slug: "deploy", ID: "chosen"})
			t.equal("chosen", want.ID)
			t.equal(want, t.skill("chosen"))
			t.equal(want, t.skill(state.SkillID(state.Scope{}, "deploy")))
			t.equal(want, t.skill("deploy"))
		}},
		{"an update keeps the id that the creator chose", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy", ID: "chosen"})
			t.equal("chosen", t.upsert(state.Skill{Slug: "deploy"}).ID)
			t.equal("chosen", t.upsert(state.Skill{Slug: "deploy", ID: "other"}).ID)
			t.noSkill("other")
		}},
		{"an id of another slug conflicts", func(t *run) {
			first := t.upsert(state.Skill{Slug: "a", ID: "chosen"})
			for _, id := range []string{"chosen", state.SkillID(state.Scope{}, "a")} {
				_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "b", ID: id})
				t.fails(state.ErrConflict, err)
				_, err = t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Scope: project("p"), ID: id})
				t.fails(state.ErrConflict, err)
			}
			t.equal([]state.Skill{first}, t.search("", 0))
		}},
		{"an id of another slug conflicts also when that is deleted", func(t *run) {
			t.upsert(state.Skill{Slug: "a", ID: "chosen"})
			t.deleteSkill("a")
			_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "b", ID: "chosen"})
			t.fails(state.ErrConflict, err)
		}},
		{"an exact id comes before a slug", func(t *run) {
			t.upsert(state.Skill{Slug: "x"})
			t.upsert(state.Skill{Slug: "y", ID: "x"})
			t.equal("y", t.skill("x").Slug)
			t.deleteSkill("x")
			t.equal("x", t.skill("x").Slug)
		}},
		{"a derived id is nobody else's", func(t *run) {
			_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "evil", ID: state.SkillID(state.Scope{}, "deploy")})
			t.fails(state.ErrInvalid, err)
			t.upsert(state.Skill{Slug: "deploy"})
			_, err = t.skills.Upsert(t.ctx(), state.Skill{Slug: "evil", ID: state.SkillID(state.Scope{}, "deploy")})
			t.fails(state.ErrConflict, err)
			t.upsert(t.skill("deploy"))
			t.equal("deploy", t.skill(state.SkillID(state.Scope{}, "deploy")).Slug)
		}},
		{"an id chosen in a project does not come before a global slug", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy"})
			t.upsert(state.Skill{Slug: "evil", ID: "deploy", Scope: project("p")})
			t.equal("deploy", t.skill("deploy").Slug)
		}},
	}
}

// slugCases hold how slugs lead to skills. The home scope is global.
func slugCases() []testCase {
	return []testCase{
		{"a global slug comes before others", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy", Scope: project("p")})
			t.upsert(state.Skill{Slug: "deploy", Scope: project("q")})
			t.upsert(state.Skill{Slug: "deploy"})
			t.equal(state.Scope{}, t.skill("deploy").Scope)
		}},
		{"a slug of one scope is found from anywhere", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy", Scope: project("p")})
			t.equal(project("p"), t.skill("deploy").Scope)
		}},
		{"a slug of several other scopes is ambiguous and the error names them", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy", Scope: project("alpha")})
			t.upsert(state.Skill{Slug: "deploy", Scope: project("beta")})
			_, err := t.skills.Get(t.ctx(), "deploy")
			t.ambiguous(err, "alpha", "beta")
		}},
		{"deleting a slug that lives in several scopes deletes nothing", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy"})
			t.upsert(state.Skill{Slug: "deploy", Scope: project("beta")})
			t.ambiguous(t.skills.Delete(t.ctx(), "deploy"), "global", "beta")
			t.equal(2, len(t.search("", 0)))
			t.deleteSkill(state.SkillID(project("beta"), "deploy"))
			t.deleteSkill("deploy")
			t.equal(0, len(t.search("", 0)))
		}},
		{"Unicode normal forms name one skill", func(t *run) {
			t.equal("caf\u00e9", t.upsert(state.Skill{Slug: "cafe\u0301", Scope: project("e\u0301")}).Slug)
			t.equal(2, t.upsert(state.Skill{Slug: "caf\u00e9", Scope: project("\u00e9")}).Version)
			t.equal(2, t.skill("cafe\u0301").Version)
			t.equal(1, len(t.listSkills(project("e\u0301"))))
		}},
		{"case and spaces tell slugs apart", func(t *run) {
			for _, slug := range []string{"a-b", "a b", "A-b", "a  b"} {
				t.equal(1, t.upsert(state.Skill{Slug: slug}).Version)
			}
			t.equal(4, len(t.listSkills(state.Scope{})))
		}},
	}
}

// ambiguous checks the error and that it names what it is about.
func (t *run) ambiguous(err error, names ...string) {
	t.Helper()
	t.fails(state.ErrAmbiguous, err)
	for _, name := range names {
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %q", err, name)
		}
	}
}

func searchCases() []testCase {
	find := func(query string, want ...string) func(t *run) {
		return func(t *run) {
			t.upsert(state.Skill{Slug: "alpha-one", Name: "Deploy", Body: "roll out the service"})
			t.upsert(state.Skill{Slug: "beta", Name: "Tests", Body: "run `go test*` OR \"else\"", Tags: []string{"quality gate"}})
			t.upsert(state.Skill{Slug: "gamma", Name: "服务部署指南", Body: "Straße", Scope: project("p")})
			t.upsert(state.Skill{Slug: "zombie", Body: "service"})
			t.deleteSkill("zombie")
			if want == nil {
				want = []string{}
			}
			t.equal(want, slugs(t.search(query, 0)))
		}
	}
	return []testCase{
		{"a word of the body", find("service", "alpha-one")},
		{"a word of the name in another case", find("dePLoy", "alpha-one")},
		{"a word of the slug", find("one", "alpha-one")},
		{"a word of a tag", find("gate", "beta")},
		{"the beginning of a word", find("serv", "alpha-one")},
		{"not the inside of a word", find("ervice")},
		{"words of different fields", find("deploy service", "alpha-one")},
		{"not when one word is missing", find("deploy missing")},
		{"the empty query finds all by slug", find("", "alpha-one", "beta", "gamma")},
		{"CJK anywhere", find("部署", "gamma")},
		{"folded letters", find("STRASSE", "gamma")},
		{"punctuation at the end of a word does not matter", find("test*", "beta")},
		{"a star within is text", find("s*ce")},
		{"or is a word", find("OR", "beta")},
		{"quotes do not matter", find(`"service" , out?`, "alpha-one")},
		{"a column is text", find("name:deploy")},
		{"an open parenthesis is text", find("(")},
		{"the limit keeps the first by slug", func(t *run) {
			for _, slug := range []string{"c", "a", "b"} {
				t.upsert(state.Skill{Slug: slug})
			}
			t.equal([]string{"a", "b"}, slugs(t.search("", 2)))
			t.equal([]string{"a", "b", "c"}, slugs(t.search("", 3)))
			t.equal([]string{"a", "b", "c"}, slugs(t.search("", 4)))
			t.equal([]string{"a", "b", "c"}, slugs(t.search("", -1)))
		}},
		{"one slug of several scopes is by id, also under a limit", func(t *run) {
			var ids []string
			for _, name := range []string{"p", "q", "r", "s"} {
				ids = append(ids, t.upsert(state.Skill{Slug: "same", Scope: project(name)}).ID)
			}
			t.upsert(state.Skill{Slug: "other"})
			sorted(ids)
			for limit := range len(ids) + 2 {
				found := []string{}
				for _, sk := range t.search("same", limit) {
					found = append(found, sk.ID)
				}
				want := ids
				if limit > 0 {
					want = ids[:min(limit, len(ids))]
				}
				t.equal(want, found)
			}
		}},
	}
}
