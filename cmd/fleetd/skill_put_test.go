package main

import (
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api/wire"
)

func TestAConflictOfAnAddNamesTheSkillAndWhatToDo(t *testing.T) {
	f := folder{dir: "./deploy", write: skillWrite{slug: "deploy"}}
	got := (&app{}).explainAdd(f, &wire.Problem{Code: wire.CodeConflict, Detail: "version conflict"})
	if got.code != exitConflict || !strings.Contains(got.next, "fleetd skill get deploy") || !strings.Contains(got.next, "repeat") {
		t.Errorf("got %+v", got)
	}
}

func TestTagsOfTheTextThatIsReplacedGoWithIt(t *testing.T) {
	body := "---\nname: s\ndescription: D.\ntags: a, b\n---\n"
	stored := func(tags ...string) wire.SkillReply {
		return wire.SkillReply{Skill: wire.Skill{Slug: "s", Body: &body, Tags: tags}}
	}
	if got := keptTags(stored("a", "b")); len(got) != 0 {
		t.Errorf("tags of the text: kept %q", got)
	}
	if got := keptTags(stored("a", "other")); len(got) != 2 {
		t.Errorf("tags of somebody: kept %q, want both", got)
	}
}
