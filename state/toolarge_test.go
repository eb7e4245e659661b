package state_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// TestCase38OneByteTooMany: a text of one byte more than the limit is refused with
// an error that names it, whatever it is the text of, and not a row of it is kept.
func TestCase38OneByteTooMany(t *testing.T) {
	t.Parallel()
	disk := store.NewMemory()
	n := openNode(t, disk, clock.NewManual(startTime()), state.Config{InstanceID: "a"})
	defer func() { must(t, n.Close()) }()
	_, err := n.Sessions().Create(t.Context(), state.Session{ID: "c"})
	must(t, err)
	before := rowsOf(t, disk)
	write := func(text string) map[string]error {
		_, skill := n.Skills().Upsert(t.Context(), state.Skill{Slug: "s", Body: text})
		_, item := n.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: text})
		_, turn := n.Sessions().AppendTurn(t.Context(), state.Turn{SessionID: "c", ID: "t", Content: text})
		return map[string]error{"skill": skill, "item": item, "turn": turn}
	}
	for of, err := range write(strings.Repeat("x", state.ContentBytesMax+1)) {
		if !errors.Is(err, state.ErrTooLarge) || !strings.Contains(err.Error(), "at most 8388608") {
			t.Errorf("a %s of one byte too many gives %v", of, err)
		}
	}
	if after := rowsOf(t, disk); after != before {
		t.Errorf("the disk had %+v, and has %+v", before, after)
	}
	for of, err := range write(strings.Repeat("x", state.ContentBytesMax)) {
		if err != nil {
			t.Errorf("a %s on the limit gives %v", of, err)
		}
	}
}
