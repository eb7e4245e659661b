package state_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
)

// oddSlugs are those that nobody may write here, and that others may have
// written.
var oddSlugs = []string{"CON", "NUL", "nul.txt", "x:y", "trail.", " ", "a\u202eb", "zero\u200bwidth"}

// What others have written is shown, found and deleted, and stays what it was.
func TestOddSlugsOfOthersAreKept(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	model := n.upsert(t, state.Skill{Slug: "model", Body: "text"})
	body := n.log[len(n.log)-1].Body
	var sent []merge.Record
	for i, slug := range oddSlugs {
		stamp := hlc.Timestamp{Wall: startTime().UnixMilli() + int64(i)}
		sent = append(sent, version(t, merge.Key{Kind: "skill", ID: merge.NewID(slug)}, "b", merge.Envelope{UpdatedHLC: stamp}, body))
	}
	n.receive(t, sent...)
	found, err := n.Skills().Search(t.Context(), "", 0)
	must(t, err)
	for i, slug := range oddSlugs {
		if !slices.ContainsFunc(found, func(sk state.Skill) bool { return sk.Slug == slug && sk.Body == model.Body }) {
			t.Errorf("%q of another writer is not listed", slug)
		}
		if got := n.log[i+1].Encode(); string(got) != string(sent[i].Encode()) {
			t.Errorf("%q was changed in the store", slug)
		}
		if _, err := n.Skills().Upsert(t.Context(), state.Skill{Slug: slug}); !errors.Is(err, state.ErrInvalid) {
			t.Errorf("writing %q: %v, want ErrInvalid", slug, err)
		}
		must(t, n.Skills().Delete(t.Context(), slug))
	}
}

// Whatever skillfs makes of a folder's name may be written.
func TestEverySlugOfAFolderMayBeWritten(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime().Add(time.Second)))
	for _, name := range []string{"deploy", "Run  Tests", "技能", "Ünïcode", "a.b.c", "x_y:z", "CONsole", "com10", "été-2026"} {
		slug, err := skillfs.ImportSlug(name)
		must(t, err)
		n.upsert(t, state.Skill{Slug: slug})
	}
	for _, name := range oddSlugs {
		if slug, err := skillfs.ImportSlug(name); err == nil {
			n.upsert(t, state.Skill{Slug: slug}) // what it became
		}
	}
}
