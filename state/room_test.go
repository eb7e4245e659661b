package state_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/state"
)

func TestRoomIsWhatAWriteStillTakes(t *testing.T) {
	provider := state.NewMemory()
	defer func() { _ = provider.Close() }() // it holds nothing but memory
	const near = 8_000_000
	sk := state.Skill{Slug: "edge", Name: "edge", Tags: []string{"a", "b"}, Body: strings.Repeat("x", near)}
	it := state.MemoryItem{ID: "edge", Kind: "fact", Source: "here", Content: strings.Repeat("x", near)}
	skillRoom, errSkill := state.SkillRoom(sk)
	memoryRoom, errMemory := state.MemoryRoom(it)
	if err := errors.Join(errSkill, errMemory); err != nil {
		t.Fatal(err)
	}
	for over, want := range map[int]error{0: nil, 1: state.ErrTooLarge} {
		sk.Body, it.Content = strings.Repeat("x", near+skillRoom+over), strings.Repeat("x", near+memoryRoom+over)
		if _, err := provider.Skills().Upsert(t.Context(), sk); !errors.Is(err, want) {
			t.Errorf("a skill that is %d over: %v, want %v", over, err, want)
		}
		if _, err := provider.Memory().Write(t.Context(), it); !errors.Is(err, want) {
			t.Errorf("an item that is %d over: %v, want %v", over, err, want)
		}
	}
	if _, err := state.SkillRoom(state.Skill{Slug: "../x"}); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("a slug that is a path: %v", err)
	}
	if room, err := state.MemoryRoom(state.MemoryItem{Source: strings.Repeat("x", 70_000)}); err != nil || room >= 0 {
		t.Errorf("70000 bytes leave room for %d, %v", room, err)
	}
}

func TestMustNotExistRevivesWhatIsDeleted(t *testing.T) {
	provider := state.NewMemory()
	defer func() { _ = provider.Close() }() // it holds nothing but memory
	only := state.Envelope{SyncVersion: state.MustNotExist}
	write := func() error {
		_, errSkill := provider.Skills().Upsert(t.Context(), state.Skill{Slug: "s", Body: "b", Envelope: only})
		_, err := provider.Memory().Write(t.Context(), state.MemoryItem{ID: "m", Content: "c", Envelope: only})
		if errors.Is(err, state.ErrConflict) != errors.Is(errSkill, state.ErrConflict) {
			t.Errorf("skill %v, memory %v", errSkill, err)
		}
		return err
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if err := write(); !errors.Is(err, state.ErrConflict) {
		t.Errorf("over a live record: %v, want a conflict", err)
	}
	if err := errors.Join(provider.Skills().Delete(t.Context(), "s"), provider.Memory().Delete(t.Context(), "m")); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("over a deleted record: %v", err)
	}
}
