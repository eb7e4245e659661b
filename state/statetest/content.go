package statetest

import (
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/state"
)

// contentCases hold that content of any length up to the limit is read as it was
// written, wherever it is kept.
func contentCases() []testCase {
	var cases []testCase
	for _, size := range []int{state.InlineBytesDefault, state.InlineBytesDefault + 1, state.ContentBytesMax} {
		cases = append(cases, testCase{fmt.Sprintf("content of %d bytes", size), func(t *run) { contentIsKept(t, size) }})
	}
	return append(cases,
		testCase{"content beyond the limit is refused", func(t *run) {
			t.create(state.Session{ID: "a"})
			text := longText("x", state.ContentBytesMax+1)
			_, errSkill := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Body: text})
			_, errItem := t.memory.Write(t.ctx(), state.MemoryItem{Content: text})
			_, errTurn := t.sessions.AppendTurn(t.ctx(), state.Turn{SessionID: "a", Content: text})
			for _, err := range []error{errSkill, errItem, errTurn} {
				t.fails(state.ErrTooLarge, err)
			}
			t.equal([]state.Skill{}, t.search("", 0))
			t.equal([]state.MemoryItem{}, t.recall(state.RecallQuery{}))
			t.equal([]state.Turn{}, t.turns("a"))
		}},
		testCase{"other fields do not become content", func(t *run) {
			_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: "a", Check: longText("x", 64<<10)})
			t.fails(state.ErrTooLarge, err)
			_, err = t.memory.Write(t.ctx(), state.MemoryItem{Source: longText("x", 64<<10), Content: longText("y", 64<<10)})
			t.fails(state.ErrTooLarge, err)
			t.nothingWritten()
		}},
		testCase{"long content is found by its words", func(t *run) {
			text := longText("x", state.InlineBytesDefault) + " needle"
			t.upsert(state.Skill{Slug: "a", Body: text})
			t.write(state.MemoryItem{Content: text})
			t.equal(1, len(t.search("needle", 0)))
			t.equal(1, len(t.recall(state.RecallQuery{Query: "needle"})))
		}},
		testCase{"long content is restored", func(t *run) {
			long := longText("x", state.InlineBytesDefault+1)
			first := t.upsert(state.Skill{Slug: "a", Body: long})
			t.upsert(state.Skill{Slug: "a", Body: "short"})
			versions, err := t.replica().SkillLibrary().History(t.ctx(), first.ID)
			t.must(err)
			t.equal(long, versions[1].Skill.Body)
			keys, err := t.replica().Keys(t.ctx(), "skill", "a")
			t.must(err)
			restored, err := t.replica().Restore(t.ctx(), keys[0], versions[1].Hash)
			t.must(err)
			t.equal(long, restored.Skill.Body)
			t.equal(long, t.skill("a").Body)
			again, err := t.replica().Restore(t.ctx(), keys[0], versions[1].Hash)
			t.must(err)
			t.equal(restored.Hash, again.Hash)
		}},
	)
}

// longText returns text of a size whose end is not like its beginning.
func longText(word string, size int) string {
	return (strings.Repeat(word, size) + "end")[3:]
}

// contentIsKept writes, reads, lists, copies and deletes content.
func contentIsKept(t *run, size int) {
	body, content, said := longText("b", size), longText("c", size), longText("s", size)
	t.create(state.Session{ID: "a"})
	t.upsert(state.Skill{Slug: "a", Body: "short"})
	sk := t.upsert(state.Skill{Slug: "a", Body: body, Tags: []string{"tag"}})
	it := t.write(state.MemoryItem{ID: "a", Content: content})
	turn := t.append(state.Turn{SessionID: "a", ID: "a", Content: said})
	t.append(state.Turn{SessionID: "a", ID: "a", Content: said}) // again is no other
	t.equal(size, len(body))
	t.equal([]bool{true, true, true}, []bool{sk.Body == body, it.Content == content, turn.Content == said})
	t.equal(true, t.skill("a").Body == body)
	t.equal(true, t.listSkills(state.Scope{})[0].Body == body)
	t.equal(true, t.recall(state.RecallQuery{})[0].Content == content)
	t.equal(true, t.turns("a")[0].Content == said)

	contentIsCopied(t, body, content)

	t.deleteSkill("a")
	t.deleteMemory("a")
	t.equal([]state.Skill{}, t.search("", 0))
	t.equal([]state.MemoryItem{}, t.recall(state.RecallQuery{}))
}

// contentIsCopied exports, folds, replays and imports what there is.
func contentIsCopied(t *run, body, content string) {
	exported, err := t.replica().Export(t.ctx())
	t.must(err)
	folded, _, err := state.Fold(t.ctx(), t.replica().Log())
	t.must(err)
	t.equal(true, marshal(t, exported) == marshal(t, folded))
	replayed, err := state.Replay(t.ctx(), t.replica().Log())
	t.must(err)
	defer func() { t.must(replayed.Close()) }()
	items, err := replayed.Memory().Recall(t.ctx(), state.RecallQuery{})
	t.must(err)
	t.equal(true, len(items) == 1 && items[0].Content == content)

	copied := state.NewMemory().(state.Replica)
	defer func() { t.must(copied.Close()) }()
	result, err := copied.Import(t.ctx(), exported, false)
	t.must(err)
	t.equal(0, len(result.Refused))
	result, err = copied.Import(t.ctx(), exported, false)
	t.must(err)
	t.equal(state.ImportCounts{Equal: 1}, result.Skills)
	t.equal(state.ImportCounts{Equal: 1}, result.Items)
	t.equal(state.ImportCounts{Equal: 1}, result.Turns)
	got, err := copied.Skills().Get(t.ctx(), "a")
	t.must(err)
	t.equal(true, got.Body == body)
}

func marshal(t *run, s state.Snapshot) string {
	t.Helper()
	payload, err := state.MarshalSnapshot(s)
	t.must(err)
	return string(payload)
}
