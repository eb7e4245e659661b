package statetest

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"sync/atomic"

	"github.com/fleetsync/fleetd/state"
)

// outcomesEach is how many outcomes each of the writers records.
const outcomesEach = 20

// outcomeMax is where the count of one store stands still.
const outcomeMax = 1 << 48

func (t *run) outcome(idOrSlug string, won bool) state.Skill {
	t.Helper()
	sk, err := t.replica().SkillLibrary().RecordOutcome(t.ctx(), idOrSlug, won)
	t.must(err)
	return sk
}

// counts checks that every reader shows these sums of a skill.
func (t *run) counts(uses, wins int, idOrSlug string) {
	t.Helper()
	want := [2]int{uses, wins}
	sk := t.skill(idOrSlug)
	in, err := t.replica().SkillLibrary().GetIn(t.ctx(), sk.Scope, sk.Slug)
	t.must(err)
	t.equal([2][2]int{want, want}, [2][2]int{{sk.Uses, sk.Wins}, {in.Uses, in.Wins}})
	for what, list := range map[string][]state.Skill{"list": t.listSkills(sk.Scope), "search": t.search(sk.Slug, 0)} {
		seen := false
		for _, got := range list {
			if got.ID == sk.ID {
				seen = true
				t.equal(want, [2]int{got.Uses, got.Wins})
			}
		}
		if !seen {
			t.Errorf("%s has no %s", what, sk.ID)
		}
	}
}

func (t *run) report(scope *state.Scope, limit int) []state.SkillEvidence {
	t.Helper()
	report, err := t.replica().SkillLibrary().Report(t.ctx(), scope, limit)
	t.must(err)
	return report
}

func outcomeCases() []testCase {
	return []testCase{
		{"an outcome counts a use, and a win when it succeeded", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "deploy", ID: "chosen"})
			t.equal([2]int{0, 0}, [2]int{sk.Uses, sk.Wins})
			for i, name := range []string{"deploy", "chosen", state.SkillID(state.Scope{}, "deploy")} {
				got := t.outcome(name, i != 1)
				t.equal([2]int{i + 1, i/2 + 1}, [2]int{got.Uses, got.Wins})
				t.equal(got, t.skill("deploy"))
			}
			t.counts(3, 2, "deploy")
		}},
		{"50 goroutines lose no outcome", outcomesAddUp},
		{"it leaves the skill's record as it is", func(t *run) {
			want := t.upsert(state.Skill{Slug: "deploy", Body: "b", Tags: []string{"x"}})
			got := t.outcome("deploy", true)
			want.Uses, want.Wins = 1, 1
			t.equal(want, got)
			t.equal(int64(2), t.upsert(want).SyncVersion)
		}},
		{"they outlive the skill", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			t.outcome("a", true)
			t.deleteSkill("a")
			revived := t.upsert(state.Skill{Slug: "a"})
			t.equal([2]int{1, 1}, [2]int{revived.Uses, revived.Wins})
			t.outcome("a", false)
			t.counts(2, 1, "a")
		}},
		{"an ended context and a closed provider count nothing", func(t *run) {
			library := t.replica().SkillLibrary()
			t.upsert(state.Skill{Slug: "a"})
			ctx, cancel := context.WithCancel(t.ctx())
			cancel()
			_, err := library.RecordOutcome(ctx, "a", true)
			t.fails(context.Canceled, err)
			_, err = library.Report(ctx, nil, 0)
			t.fails(context.Canceled, err)
			t.counts(0, 0, "a")
			t.must(t.provider.Close())
			_, errRecord := library.RecordOutcome(t.ctx(), "a", true)
			_, errReport := library.Report(t.ctx(), nil, 0)
			if errRecord == nil || errReport == nil {
				t.Errorf("closed: %v, %v", errRecord, errReport)
			}
		}},
	}
}

// outcomeSkillCases hold which skill an outcome is of.
func outcomeSkillCases() []testCase {
	return []testCase{
		{"it is of a live skill", func(t *run) {
			library := t.replica().SkillLibrary()
			t.upsert(state.Skill{Slug: "gone"})
			t.deleteSkill("gone")
			for _, name := range []string{"gone", "nope", "", "../x"} {
				_, err := library.RecordOutcome(t.ctx(), name, true)
				t.fails(state.ErrNotFound, err)
				_, err = library.RecordOutcomeIn(t.ctx(), state.Scope{}, name, true)
				t.fails(state.ErrNotFound, err)
			}
			t.equal(0, t.upsert(state.Skill{Slug: "gone"}).Uses)
		}},
		{"it is found as any skill is", func(t *run) {
			t.upsert(state.Skill{Slug: "deploy", Scope: project("alpha")})
			t.upsert(state.Skill{Slug: "deploy", Scope: project("beta")})
			_, err := t.replica().SkillLibrary().RecordOutcome(t.ctx(), "deploy", true)
			t.ambiguous(err, "alpha", "beta")
			t.upsert(state.Skill{Slug: "deploy"})
			t.equal(state.Scope{}, t.outcome("deploy", false).Scope)
			t.counts(1, 0, state.SkillID(state.Scope{}, "deploy"))
			t.counts(0, 0, state.SkillID(project("alpha"), "deploy"))
		}},
		{"scopes and slugs count apart", func(t *run) {
			library := t.replica().SkillLibrary()
			for i, scope := range []state.Scope{{}, project("p"), {Project: "p", Workspace: "w"}, {Instance: "p"}} {
				for _, slug := range []string{"a", "a b", "ab"} {
					t.upsert(state.Skill{Slug: slug, Scope: scope})
				}
				for range i + 1 {
					_, err := library.RecordOutcomeIn(t.ctx(), scope, "a", i%2 == 0)
					t.must(err)
				}
				t.counts(i+1, (i+1)*((i+1)%2), state.SkillID(scope, "a"))
				t.counts(0, 0, state.SkillID(scope, "ab"))
			}
			_, err := library.RecordOutcomeIn(t.ctx(), project("q"), "a", true)
			t.fails(state.ErrNotFound, err)
		}},
	}
}

// outcomesAddUp also writes the skill meanwhile, each writer with the totals
// that it has just read: those are never above the sums.
func outcomesAddUp(t *run) {
	library := t.replica().SkillLibrary()
	t.upsert(state.Skill{Slug: "a"})
	var wins atomic.Int64
	together(func(i int) {
		for n := range outcomesEach {
			won := (i+n)%3 == 0
			sk, err := library.RecordOutcome(t.ctx(), "a", won)
			if err != nil || sk.Uses < 1 || sk.Uses > writers*outcomesEach {
				t.Errorf("writer %d: %d uses, %v", i, sk.Uses, err)
			}
			if won {
				wins.Add(1)
			}
			if n == i%outcomesEach {
				sk.Envelope = state.Envelope{}
				if _, err := t.skills.Upsert(t.ctx(), sk); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		}
	})
	t.counts(writers*outcomesEach, int(wins.Load()), "a")
}

// creditCases hold what totals in an Upsert do.
func creditCases() []testCase {
	sums := func(sk state.Skill) [2]int { return [2]int{sk.Uses, sk.Wins} }
	return []testCase{
		{"totals of a new skill are credited", func(t *run) {
			t.equal([2]int{7, 4}, sums(t.upsert(state.Skill{Slug: "a", Uses: 7, Wins: 4})))
			t.counts(7, 4, "a")
		}},
		{"larger totals are credited by the difference", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			t.outcome("a", true)
			t.equal([2]int{5, 2}, sums(t.upsert(state.Skill{Slug: "a", Uses: 5, Wins: 2})))
			t.outcome("a", true)
			t.counts(6, 3, "a")
		}},
		{"uses and wins are credited each for itself", func(t *run) {
			t.upsert(state.Skill{Slug: "a", Uses: 5, Wins: 2})
			t.equal([2]int{9, 2}, sums(t.upsert(state.Skill{Slug: "a", Uses: 9, Wins: 1})))
			t.equal([2]int{9, 3}, sums(t.upsert(state.Skill{Slug: "a", Uses: 8, Wins: 3})))
			t.counts(9, 3, "a")
		}},
		{"zero, lower and equal totals write no outcome", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			t.equal([]state.Outcome{}, t.report(nil, 0)[0].ByStore)
			t.upsert(state.Skill{Slug: "a", Uses: 5, Wins: 2})
			before := t.report(nil, 0)[0].ByStore
			for _, totals := range [][2]int{{0, 0}, {5, 2}, {4, 2}, {5, 1}, {1, 0}} {
				t.equal([2]int{5, 2}, sums(t.upsert(state.Skill{Slug: "a", Uses: totals[0], Wins: totals[1]})))
			}
			t.equal(before, t.report(nil, 0)[0].ByStore)
		}},
		{"a revival is credited above what the skill had", func(t *run) {
			t.upsert(state.Skill{Slug: "a", Uses: 5, Wins: 2})
			t.deleteSkill("a")
			t.equal([2]int{6, 2}, sums(t.upsert(state.Skill{Slug: "a", Uses: 6, Wins: 1})))
		}},
		{"a write that conflicts is credited nothing", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "a", Uses: 1})
			sk.SyncVersion, sk.Uses = 7, 9
			_, err := t.skills.Upsert(t.ctx(), sk)
			t.fails(state.ErrConflict, err)
			t.counts(1, 0, "a")
		}},
		{"counts stand still at 2^48", func(t *run) {
			limit := min(math.MaxInt, outcomeMax)
			t.equal([2]int{limit, limit - 1}, sums(t.upsert(state.Skill{Slug: "a", Uses: math.MaxInt, Wins: limit - 1})))
			for range 2 {
				t.equal([2]int{limit, limit}, sums(t.outcome("a", true)))
			}
			hidden, err := t.replica().Invalid(t.ctx())
			t.must(err)
			t.equal([]state.Invalid{}, hidden)
		}},
	}
}

func evidenceCases() []testCase {
	return []testCase{
		{"a report is by confidence, slug and id", func(t *run) {
			t.equal([]state.SkillEvidence{}, t.report(nil, 0))
			t.upsert(state.Skill{Slug: "often", Uses: 100, Wins: 90})
			t.upsert(state.Skill{Slug: "once", Uses: 1, Wins: 1})
			t.upsert(state.Skill{Slug: "never", Uses: 9})
			t.upsert(state.Skill{Slug: "gone", Uses: 9, Wins: 9})
			t.deleteSkill("gone")
			for _, name := range []string{"p", "q", "r"} {
				t.upsert(state.Skill{Slug: "new", Scope: project(name)})
			}
			report := t.report(nil, 0)
			names, ids := []string{}, []string{}
			for _, e := range report {
				names = append(names, e.Skill.Slug)
				if e.Skill.Slug == "new" {
					ids = append(ids, e.Skill.ID)
				}
				t.equal(state.WilsonLowerBound(e.Skill.Wins, e.Skill.Uses), e.Confidence)
				got := t.skill(e.Skill.ID)
				t.equal(got, e.Skill)
			}
			t.equal([]string{"often", "once", "never", "new", "new", "new"}, names)
			inOrder := append([]string{}, ids...)
			sorted(inOrder)
			t.equal(inOrder, ids)
			t.equal(report[:2], t.report(nil, 2))
			t.equal(report, t.report(nil, len(report)))
		}},
		{"a report of one scope", func(t *run) {
			p, bad := project("p"), project("\xff")
			t.upsert(state.Skill{Slug: "a"})
			want := t.upsert(state.Skill{Slug: "a", Scope: p, Uses: 2, Wins: 1})
			report := t.report(&p, 0)
			t.equal(1, len(report))
			t.equal(want, report[0].Skill)
			t.equal([]state.SkillEvidence{}, t.report(&bad, 0))
			t.equal("a", t.report(&state.Scope{}, 1)[0].Skill.Slug)
		}},
		{"a report names the stores that counted", func(t *run) {
			for _, slug := range []string{"a", "a b", "ab"} {
				t.upsert(state.Skill{Slug: slug, Scope: project("p")})
				t.outcome(slug, true)
			}
			t.outcome("a", false)
			for _, e := range t.report(nil, 0) {
				t.equal(1, len(e.ByStore))
				o := e.ByStore[0]
				if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(o.StoreID) || o.UpdatedHLC.IsZero() || o.LastWriterID == "" {
					t.Errorf("outcome %+v", o)
				}
				t.equal(fmt.Sprint(e.Skill.Slug, e.Skill.Scope, e.Skill.Uses, e.Skill.Wins), fmt.Sprint(o.Slug, o.Scope, o.Uses, o.Wins))
				t.equal(int64(e.Skill.Uses), o.SyncVersion)
			}
		}},
	}
}

func outcomesSurvive(t *run, reopen func()) {
	t.upsert(state.Skill{Slug: "a", Uses: 3})
	for i := range 4 {
		t.counts(3+i, i, "a")
		report := t.report(nil, 0)
		reopen()
		t.equal(report, t.report(nil, 0))
		t.outcome("a", true)
	}
}
