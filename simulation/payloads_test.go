package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestCase38LargePayloads: whatever the size of a text, near the bounds of gossip,
// of frames and of content, it arrives as it was written, and no gossip message is
// larger than what is certain to arrive. What does not fit one is announced.
func TestCase38LargePayloads(t *testing.T) {
	gossip, written := gossipSizes{}, int64(0) // written: bytes of content apart
	c, err := simulation.New(simulation.Calm(38, 2), simulation.Options{Observe: gossip.observe})
	if err != nil {
		t.Fatal(err)
	}
	c.RunFor(time.Minute)
	for _, size := range []int{
		state.InlineBytesDefault, state.InlineBytesDefault + 1, fleetsync.GossipBytesMax - 64, fleetsync.GossipBytesMax,
		1<<20 - 64, 1 << 20, 1<<20 + 1, state.ContentBytesMax,
	} {
		id, body, content := fmt.Sprint("s", size), randomText(1, size), randomText(2, size)
		skill := state.Skill{Slug: id, Body: body}
		switch size {
		case state.InlineBytesDefault: // a record that just fits
			skill.Check = randomText(3, 64_000-size)
		case state.InlineBytesDefault + 1: // and one that does not, its content apart
			skill.Check = randomText(3, 65_200)
		}
		if _, err := c.Replica(0).State().Skills().Upsert(t.Context(), skill); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Replica(1).State().Memory().Write(t.Context(), state.MemoryItem{ID: id, Content: content}); err != nil {
			t.Fatal(err)
		}
		if size > state.InlineBytesDefault {
			written += 2 * int64(size)
		}
		c.RunFor(30 * time.Second)
		for n := range c.Replicas() {
			wantTexts(t, c.Replica(n).State(), skill, state.MemoryItem{ID: id, Content: content})
		}
	}
	if gossip.largest > fleetsync.GossipBytesMax || gossip.largest < fleetsync.GossipBytesMax*3/4 || gossip.announcements == 0 {
		t.Errorf("gossip has %d announcements, and messages of up to %d bytes; the most is %d", gossip.announcements, gossip.largest, fleetsync.GossipBytesMax)
	}
	if sent := c.Traffic(fleetsync.TypeBlob); sent.Bytes < written*3/4 {
		t.Errorf("%d bytes of content went by streams, of %d written", sent.Bytes, written)
	}
	finish(t, c)
}

// wantTexts fails unless a replica reads the texts of a skill and of an item.
func wantTexts(t *testing.T, provider state.Replica, skill state.Skill, item state.MemoryItem) {
	t.Helper()
	gotSkill, err := provider.SkillLibrary().GetIn(t.Context(), state.Scope{}, skill.Slug)
	if err != nil || gotSkill.Body != skill.Body || gotSkill.Check != skill.Check {
		t.Errorf("%d of %d bytes of a skill are read: %v", len(gotSkill.Body), len(skill.Body), err)
	}
	gotItem, err := provider.MemoryLibrary().Get(t.Context(), item.ID)
	if err != nil || gotItem.Content != item.Content {
		t.Errorf("%d of %d bytes of an item are read: %v", len(gotItem.Content), len(item.Content), err)
	}
}

// gossipSizes watches what is gossiped.
type gossipSizes struct{ largest, announcements int }

func (g *gossipSizes) observe(e simulation.Event) {
	if e.Kind != simulation.EventSend || e.Route != simulation.RouteGossip {
		return
	}
	g.largest = max(g.largest, e.Bytes)
	if e.Bytes < 100 { // no record is that small
		g.announcements++
	}
}

// randomText is text that does not compress to less than three quarters.
func randomText(seed uint64, size int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	rng := rand.New(rand.NewPCG(seed, uint64(size))) //nolint:gosec // a test wants the same each time
	text := make([]byte, size)
	for i := range text {
		text[i] = letters[rng.IntN(len(letters))]
	}
	return string(text)
}
