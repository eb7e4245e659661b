package state_test

import (
	"context"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
)

// TestKeysAreThoseOfEveryScopeThatHoldsOne: deleted records and kinds that this
// build does not know included.
func TestKeysAreThoseOfEveryScopeThatHoldsOne(t *testing.T) {
	n := newNode(t, "a", clock.NewManual(startTime()))
	web := state.Scope{Project: "web"}
	n.upsert(t, state.Skill{Slug: "deploy"})
	n.upsert(t, state.Skill{Slug: "deploy", Scope: web})
	n.upsert(t, state.Skill{Slug: "other", Scope: state.Scope{Project: "docs"}})
	must(t, n.SkillLibrary().DeleteIn(context.Background(), web, "deploy"))
	wiki := merge.Key{Kind: "wiki", Scope: web, ID: merge.NewID("a", "b")}
	n.receive(t, foreign(t, wiki, "b", 1, []byte{0xa0}))
	for _, test := range []struct {
		kind string
		id   merge.ID
		want []merge.Key
	}{
		{"skill", merge.NewID("deploy"), []merge.Key{
			{Kind: "skill", ID: merge.NewID("deploy")}, {Kind: "skill", Scope: web, ID: merge.NewID("deploy")},
		}},
		{"wiki", merge.NewID("a", "b"), []merge.Key{wiki}},
		{"wiki", merge.NewID("a"), []merge.Key{}},
		{"memory", merge.NewID("deploy"), []merge.Key{}},
		{"skill", merge.NewID("\x01"), []merge.Key{}},
		{"", "", []merge.Key{}},
	} {
		got, err := n.Keys(context.Background(), test.kind, test.id)
		must(t, err)
		same(t, test.want, got)
	}
}
