package state_test

import (
	"encoding/hex"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
)

// TestSkillDigest holds the digest by which withdrawals name a text: it is signed
// and stored, so it never changes.
func TestSkillDigest(t *testing.T) {
	record := func(slug string, body map[int]any) *merge.Record {
		b, err := merge.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return &merge.Record{Key: merge.Key{Kind: "skill", ID: merge.NewID(slug)}, Body: b}
	}
	digest := func(r *merge.Record) string {
		sum, ok := state.SkillDigest(r)
		if !ok {
			return ""
		}
		return hex.EncodeToString(sum[:])
	}
	one := record("deploy", map[int]any{2: 1, 6: "push --force", 8: "true"})
	const want = "2a498f2a59c92d78e8dfbbadbd21b8f950f247628dcd4ed1a208ea65952018ba"
	if got := digest(one); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	again := record("other", map[int]any{2: 7, 3: 9, 5: "name", 6: "push --force", 7: []string{"tag"}, 8: "true"})
	if got := digest(again); got != want {
		t.Errorf("the same text under another slug: %s", got)
	}
	for what, r := range map[string]*merge.Record{
		"another body":  record("deploy", map[int]any{2: 1, 6: "push", 8: "true"}),
		"another check": record("deploy", map[int]any{2: 1, 6: "push --force"}),
	} {
		if got := digest(r); got == want || got == "" {
			t.Errorf("%s: %q", what, got)
		}
	}
	gone := record("deploy", map[int]any{2: 1})
	gone.Envelope.Deleted = true
	memory := *one
	memory.Key.Kind = "memory"
	for what, r := range map[string]*merge.Record{"a delete": gone, "a memory item": &memory, "what breaks the rules": record("deploy", map[int]any{2: 0})} {
		if got := digest(r); got != "" {
			t.Errorf("%s has the digest %s", what, got)
		}
	}
}
