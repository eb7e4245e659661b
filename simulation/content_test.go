package simulation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
)

// TestContentWithoutItsOrigin is case 30: the record of a text arrives, the machine
// that wrote it dies before the text has, and comes back next day. The text comes
// then, without a new write; until then everybody says that it is incomplete, and
// nobody shows it as empty.
func TestContentWithoutItsOrigin(t *testing.T) {
	c := newCluster(t, simulation.Calm(30, 3))
	c.RunFor(time.Minute)
	text := strings.Repeat("a long text ", 40_000)
	if _, err := c.Replica(0).State().Skills().Upsert(t.Context(), state.Skill{Slug: "long", Body: text}); err != nil {
		t.Fatal(err)
	}
	skills := merge.Section{Family: "skill"}
	for c.Replica(1).Store().State(skills).Count == 0 {
		c.RunFor(time.Millisecond)
	}
	c.Do(simulation.Step{Act: simulation.ActAbsence, Replica: 0})
	c.RunFor(24 * time.Hour)
	head := c.Replica(1).Store().State(skills)
	for n := 1; n < c.Replicas(); n++ {
		library := c.Replica(n).State().SkillLibrary()
		sk, err := library.GetIn(t.Context(), state.Scope{}, "long")
		if !errors.Is(err, state.ErrIncomplete) || sk.Body != "" {
			t.Errorf("replica %d reads %d bytes, %v, without its origin", n, len(sk.Body), err)
		}
		list, err := library.List(t.Context(), state.Scope{})
		if err != nil || len(list) != 1 || !list[0].Incomplete {
			t.Errorf("replica %d lists %d skills, %v", n, len(list), err)
		}
	}
	finish(t, c) // the origin comes back
	for n := range c.Replicas() {
		sk, err := c.Replica(n).State().SkillLibrary().GetIn(t.Context(), state.Scope{}, "long")
		if err != nil || sk.Body != text {
			t.Errorf("replica %d reads %d of %d bytes, %v", n, len(sk.Body), len(text), err)
		}
	}
	if after := c.Replica(1).Store().State(skills); after != head {
		t.Errorf("%+v became %+v, though nothing was written", head, after)
	}
}
