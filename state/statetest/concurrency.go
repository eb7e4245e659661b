package statetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fleetsync/fleetd/state"
)

const writers = 50

// together runs fn in as many goroutines as there are writers, at once.
func together(fn func(i int)) {
	var done sync.WaitGroup
	begin := make(chan struct{})
	for i := range writers {
		done.Go(func() {
			<-begin
			fn(i)
		})
	}
	close(begin)
	done.Wait()
}

func concurrencyCases() []testCase {
	return []testCase{
		{"50 goroutines over 10 slugs make 10 skills and lose no write", func(t *run) {
			together(func(i int) {
				if _, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: fmt.Sprintf("s%d", i%10)}); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
				if _, err := t.skills.Search(t.ctx(), "s", 3); err != nil {
					t.Errorf("reader %d: %v", i, err)
				}
			})
			list := t.listSkills(state.Scope{})
			t.equal(10, len(list))
			for _, sk := range list {
				if sk.Version != writers/10 || sk.SyncVersion != writers/10 {
					t.Errorf("%s has version %d, sync version %d, want %d", sk.Slug, sk.Version, sk.SyncVersion, writers/10)
				}
			}
		}},
		{"50 goroutines write, read and delete items", func(t *run) {
			together(func(i int) {
				it, err := t.memory.Write(t.ctx(), state.MemoryItem{Content: strconv.Itoa(i)})
				if err != nil {
					t.Errorf("write %d: %v", i, err)
				}
				if _, err := t.memory.Recall(t.ctx(), state.RecallQuery{Limit: 5}); err != nil {
					t.Errorf("recall %d: %v", i, err)
				}
				if i%2 == 0 {
					if err := t.memory.Delete(t.ctx(), it.ID); err != nil {
						t.Errorf("delete %d: %v", i, err)
					}
				}
			})
			t.equal(writers/2, len(t.recall(state.RecallQuery{})))
		}},
	}
}

// racingCases hold that of writers who exclude each other exactly one wins.
func racingCases() []testCase {
	return []testCase{
		{"of 50 writers who read one version exactly one wins", func(t *run) {
			sk := t.upsert(state.Skill{Slug: "a"})
			it := t.write(state.MemoryItem{ID: "x"})
			var skillWins, memoryWins atomic.Int32
			together(func(int) {
				_, err := t.skills.Upsert(t.ctx(), sk)
				t.wonOrConflicted(&skillWins, err)
				_, err = t.memory.Write(t.ctx(), it)
				t.wonOrConflicted(&memoryWins, err)
			})
			t.equal([]int32{1, 1}, []int32{skillWins.Load(), memoryWins.Load()})
		}},
		{"of 50 skills of one chosen id exactly one is created", func(t *run) {
			var wins atomic.Int32
			together(func(i int) {
				_, err := t.skills.Upsert(t.ctx(), state.Skill{Slug: fmt.Sprintf("s%d", i), ID: "chosen"})
				t.wonOrConflicted(&wins, err)
			})
			t.equal(int32(1), wins.Load())
			t.equal(1, len(t.search("", 0)))
		}},
		{"of 50 items of one id in two scopes one scope wins", func(t *run) {
			together(func(i int) {
				_, err := t.memory.Write(t.ctx(), state.MemoryItem{ID: "x", Scope: project(strconv.Itoa(i % 2))})
				if err != nil && !errors.Is(err, state.ErrInvalid) {
					t.Errorf("writer %d: %v", i, err)
				}
			})
			found := t.recall(state.RecallQuery{})
			t.equal(1, len(found))
			t.equal(int64(writers/2), found[0].SyncVersion)
		}},
		{"of 50 deletes of one skill exactly one finds it", func(t *run) {
			t.upsert(state.Skill{Slug: "a"})
			var wins atomic.Int32
			together(func(int) {
				switch err := t.skills.Delete(t.ctx(), "a"); {
				case err == nil:
					wins.Add(1)
				case !errors.Is(err, state.ErrNotFound):
					t.Errorf("delete: %v", err)
				}
			})
			t.equal(int32(1), wins.Load())
		}},
	}
}

func (t *run) wonOrConflicted(wins *atomic.Int32, err error) {
	switch {
	case err == nil:
		wins.Add(1)
	case !errors.Is(err, state.ErrConflict):
		t.Errorf("unexpected error: %v", err)
	}
}
