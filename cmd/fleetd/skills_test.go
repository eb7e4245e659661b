package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetsync/fleetd/api/wire"
)

// makeSkills writes skill folders whose names, sizes, encodings and texts vary
// as people's do. The same number always makes the same folders.
func makeSkills(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same folders each time, not secrets
	for i := range n {
		name := skillName(random, i)
		dir := filepath.Join(ts.MkAbs(args[0]), name)
		ts.Check(os.MkdirAll(dir, 0o750))
		ts.Check(os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skillText(random, name)), 0o600))
	}
}

func skillName(random *rand.Rand, i int) string {
	stems := []string{
		"deploy", "review-pull-requests", "x", "k8s-rollback", "技能", "コード確認", "überprüfung", "2026-roadmap", "отладка", "a-b-c-d-e-f-g",
		"write-a-very-long-name-because-nobody-stopped-us",
	}
	return fmt.Sprintf("%s-%d", stems[random.IntN(len(stems))], i)
}

func skillText(random *rand.Rand, name string) string {
	descriptions := []string{
		"Deploys. Use when asked to.",
		"Unquoted: a colon, and then: another one",
		`"Quoted: \"with quotes\" and a backslash \\"`,
		"'single: it''s quoted'",
		">\n  Folded over\n  two lines: with a colon.",
		"|\n  Kept on\n  two lines.",
		"技能を確認する。使うとき: レビュー",
		"Emoji 🚀 and e\u0301 in two code points",
		"Ends with a hash # that is no comment to a person",
		strings.Repeat("long ", 200),
	}
	extras := []string{"", "license: MIT\n", "allowed-tools: Read, Bash\n", "metadata:\n  author: somebody\n  version: \"1.0\"\n", "tags: [a, b]\n"}
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n%s---\n", name, descriptions[random.IntN(len(descriptions))], extras[random.IntN(len(extras))])
	words := []string{"run", "the", "tests", "twice", "\n", "\n## Steps\n", "- first\n", "確認する", "`go test ./...`", "\t", "é", "<b>&amp;</b>", "\u200b"}
	for size := 1 << random.IntN(16); b.Len() < size; {
		b.WriteString(words[random.IntN(len(words))] + " ")
	}
	text := b.String()
	switch random.IntN(4) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = strings.ReplaceAll(text, "\n", "\r")
	}
	if random.IntN(4) == 0 {
		text = "\ufeff" + text
	}
	return text
}

// sameSkills compares what a daemon lists with the folders: `sameskills DIR
// EVERY`, where each EVERY-th text is read too, byte by byte.
func sameSkills(ts *testscript.TestScript, _ bool, args []string) {
	every, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(ts.Exec("fleetd", "skill", "list", "-o", "json"))
	var list wire.SkillList
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	listed := map[string]wire.Skill{}
	for _, sk := range list.Skills {
		listed[sk.Slug] = sk
	}
	folders, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(folders) != len(list.Skills) {
		ts.Fatalf("%d skills are listed, want %d", len(list.Skills), len(folders))
	}
	for i, f := range folders {
		text := ts.ReadFile(filepath.Join(args[0], f.Name(), "SKILL.md"))
		sk, known := listed[f.Name()]
		if !known || sk.Version != 1 || sk.Description == "" || sk.BodyBytes != len(text) {
			ts.Fatalf("skill %s of %d bytes is listed as %+v (%t)", f.Name(), len(text), sk, known)
		}
		if i%every == 0 {
			ts.Check(ts.Exec("fleetd", "skill", "get", f.Name()))
			if got := ts.ReadFile("stdout"); got != text {
				ts.Fatalf("skill %s came back as\n%q\nwant\n%q", f.Name(), got, text)
			}
		}
	}
}
