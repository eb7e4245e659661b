package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/api/wire"
)

func TestAWriterIsUndone(t *testing.T) {
	_, b, h := inConflict(t)
	outcomes := func(list wire.ChangeList) []string {
		lines := []string{}
		for _, c := range list.Changes {
			line := c.Outcome + " " + c.Kind + " " + c.Key
			if c.Now != nil && c.Now.Memory != nil {
				line += ": " + c.Now.Memory.Content
			}
			lines = append(lines, line)
		}
		return lines
	}
	want := []string{"restored memory m/n: by a", "restored session.turn s/t%2Fu", "restored skill deploy"}
	plan := decode[wire.ChangeList](t, ask(t, h, "GET", "/v1/writers/b/changes", ""), http.StatusOK)
	if diff := cmp.Diff(want, outcomes(plan)); diff != "" || plan.Since != "0.0" || plan.Writer != "b" {
		t.Errorf("plan of %s since %s (-want +got):\n%s", plan.Writer, plan.Since, diff)
	}
	late := decode[wire.ChangeList](t, ask(t, h, "GET", "/v1/writers/b/changes?since=99999999999999.0", ""), http.StatusOK)
	if len(late.Changes) != 0 {
		t.Errorf("changes %v since a time that has not been", outcomes(late))
	}
	done := decode[wire.ChangeList](t, ask(t, h, "POST", "/v1/writers/b/revert?since=1.0", ""), http.StatusOK)
	if diff := cmp.Diff(want, outcomes(done)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := decode[wire.ChangeList](t, ask(t, h, "POST", "/v1/writers/b/revert", ""), http.StatusOK)
	if len(again.Changes) != 0 {
		t.Errorf("a second time changes %v", outcomes(again))
	}
	sk := decode[wire.SkillReply](t, ask(t, h, "GET", "/v1/skills/deploy?project=", ""), http.StatusOK)
	if *sk.Body != "by a" || sk.LastWriterID != "a" {
		t.Errorf("the skill is %+v", sk)
	}
	if _, err := b.Skills().Get(t.Context(), "deploy"); err != nil {
		t.Error(err)
	}
}

func TestAWriterThatNobodyCanMeanIsRefused(t *testing.T) {
	_, _, h := inConflict(t)
	for target, want := range map[string]wire.Code{
		"/v1/writers/b/changes?since=yesterday":                wire.CodeInvalid,
		"/v1/writers/b/changes?since=-1.0":                     wire.CodeInvalid,
		"/v1/writers/a%01/changes":                             wire.CodeInvalid,
		"/v1/writers/" + strings.Repeat("x", 200) + "/changes": wire.CodeInvalid,
		"/v1/writers/b/changes?until=1.0":                      wire.CodeBadRequest,
	} {
		refused(t, ask(t, h, "GET", target, ""), want)
	}
	refused(t, ask(t, h, "GET", "/v1/writers/b/revert", ""), wire.CodeMethod)
	none := decode[wire.ChangeList](t, ask(t, h, "GET", "/v1/writers/nobody/changes", ""), http.StatusOK)
	if len(none.Changes) != 0 {
		t.Errorf("changes of nobody: %+v", none)
	}
}
