package state_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/store"
)

// A provider on the disk: what it was told is there after it was closed.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx := context.Background()
	for range 2 { // the second opening finds what the first wrote
		provider, err := openDisk(dir)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = provider.Sessions().Create(ctx, state.Session{ID: "deploy", Title: "Deploy on Monday"})
		session, _ := provider.Sessions().Get(ctx, "deploy")
		fmt.Println(session.Title, errors.Is(err, state.ErrConflict), provider.Close())
	}
	// Output:
	// Deploy on Monday false <nil>
	// Deploy on Monday true <nil>
}

func openDisk(dir string) (state.Replica, error) {
	engine, err := store.OpenBadger(dir, store.BadgerOptions{})
	if err != nil {
		return nil, err
	}
	st, err := store.Open(engine, store.Config{Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{}})
	if err != nil {
		return nil, err
	}
	return state.Open(st, state.Config{})
}

// A log of one's own has every change, and makes the provider again.
func ExampleReplay() {
	ctx := context.Background()
	events := eventlog.NewMemory(time.Now)
	first := state.NewMemory(state.WithEventLog(events))
	if _, err := first.Skills().Upsert(ctx, state.Skill{Slug: "deploy", Body: "Test, then push."}); err != nil {
		log.Fatal(err)
	}
	_ = first.Close() // or a crash

	again, err := state.Replay(ctx, events)
	if err != nil {
		log.Fatal(err)
	}
	skill, err := again.Skills().Get(ctx, "deploy")
	fmt.Println(skill.Body, err)
	_ = again.Close()
	// Output: Test, then push. <nil>
}
