package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
)

// The sizes between which what one call costs is compared: were it to grow with
// the number of records, a hundred times as many would show.
const (
	fewRecords  = 1_000
	manyRecords = 100_000
)

// records measures calls of the agent-facing API on badger (synced, unsigned,
// one caller) in a store of many records, beside the same in a store of few;
// and what a record takes on the disk, beside its content.
func records(dir string) (rows []row, err error) {
	ctx := context.Background()
	few, err := fillDisk(ctx, filepath.Join(dir, "few"), fewRecords)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, few.Close()) }()
	folder := filepath.Join(dir, "many")
	many, err := fillDisk(ctx, folder, manyRecords)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.Close()) }()
	for _, call := range calls() {
		small, err := perSecond(call.times, func(i int) error { return call.do(ctx, few, i%fewRecords) })
		if err != nil {
			return rows, fmt.Errorf("%s: %w", call.name, err)
		}
		large, err := perSecond(call.times, func(i int) error { return call.do(ctx, many, i*(manyRecords/fewRecords)%manyRecords) })
		if err != nil {
			return rows, fmt.Errorf("%s: %w", call.name, err)
		}
		rows = append(rows, row{
			name: fmt.Sprintf("%s, %d records on badger", call.name, manyRecords), value: large, unit: "calls/s",
			ratio: large / small, versus: fmt.Sprintf("with %d", fewRecords),
		})
	}
	scans, err := scanRates(ctx, many)
	return append(rows, scans...), err
}

// call is one call of the API by the number of a record.
type call struct {
	name  string
	times int
	do    func(ctx context.Context, p state.Replica, i int) error
}

func calls() []call {
	return []call{
		{"get a memory item", 20_000, func(ctx context.Context, p state.Replica, i int) error {
			_, err := p.MemoryLibrary().Get(ctx, itemID(i))
			return err
		}},
		{"get a skill", 20_000, func(ctx context.Context, p state.Replica, i int) error {
			_, err := p.Skills().Get(ctx, skillSlug(i/skillEvery))
			return err
		}},
		{"update a memory item", 1_000, func(ctx context.Context, p state.Replica, i int) error {
			_, err := p.Memory().Write(ctx, item(i))
			return err
		}},
		{"upsert a skill", 1_000, func(ctx context.Context, p state.Replica, i int) error {
			_, err := p.Skills().Upsert(ctx, skill(i/skillEvery))
			return err
		}},
		{"append a turn to a session", 1_000, func(ctx context.Context, p state.Replica, _ int) error {
			_, err := p.Sessions().AppendTurn(ctx, state.Turn{SessionID: "long", Role: "user", Content: string(text(200))})
			return err
		}},
		{"list a scope of ten items", 2_000, func(ctx context.Context, p state.Replica, i int) error {
			_, err := p.MemoryLibrary().List(ctx, itemScope(i), "")
			return err
		}},
		{"recall the newest ten", 2_000, func(ctx context.Context, p state.Replica, _ int) error {
			_, err := p.Memory().Recall(ctx, state.RecallQuery{Limit: 10})
			return err
		}},
	}
}

// scanRates are calls whose cost does follow the number of records: without an
// index of words each is looked at.
func scanRates(ctx context.Context, p state.Replica) ([]row, error) {
	began := time.Now()
	if _, err := p.Memory().Recall(ctx, state.RecallQuery{Query: "nothing-says-this"}); err != nil {
		return nil, err
	}
	recalled := manyRecords / time.Since(began).Seconds()
	began = time.Now()
	if _, err := p.Skills().Search(ctx, "nothing-says-this", 0); err != nil {
		return nil, err
	}
	searched := manyRecords / skillEvery / time.Since(began).Seconds()
	return []row{
		{name: "recall that finds nothing", value: recalled, unit: "items/s"},
		{name: "search that finds nothing", value: searched, unit: "skills/s"},
	}, nil
}

// skillEvery is of how many records one is a skill besides.
const skillEvery = 10

func itemID(i int) string         { return fmt.Sprintf("item-%06d", i) }
func itemScope(i int) state.Scope { return state.Scope{Project: fmt.Sprintf("p%05d", i/10)} }
func skillSlug(i int) string      { return fmt.Sprintf("skill-%05d", i) }
func skill(i int) state.Skill     { return state.Skill{Slug: skillSlug(i), Body: string(text(valueBytes))} }

func item(i int) state.MemoryItem {
	return state.MemoryItem{ID: itemID(i), Kind: "fact", Scope: itemScope(i), Content: string(text(valueBytes))}
}

// fill writes so many memory items, a tenth as many skills, and a session with a
// tenth as many turns.
func fill(ctx context.Context, p state.Provider, records int) error {
	if _, err := p.Sessions().Create(ctx, state.Session{ID: "long"}); err != nil {
		return err
	}
	return together(64, records, func(i int) error {
		if _, err := p.Memory().Write(ctx, item(i)); err != nil {
			return err
		}
		if i%skillEvery != 0 {
			return nil
		}
		if _, err := p.Skills().Upsert(ctx, skill(i/skillEvery)); err != nil {
			return err
		}
		_, err := p.Sessions().AppendTurn(ctx, state.Turn{SessionID: "long", Role: "user", Content: string(text(200))})
		return err
	})
}

func fillDisk(ctx context.Context, dir string, records int) (state.Replica, error) {
	engine, err := store.OpenBadger(dir, store.BadgerOptions{})
	if err != nil {
		return nil, err
	}
	st, err := store.Open(engine, store.Config{Now: time.Now, Rand: rand.Reader, Indexer: state.Indexer{}})
	if err != nil {
		return nil, err
	}
	p, err := state.Open(st, state.Config{})
	if err != nil {
		return nil, err
	}
	return p, fill(ctx, p, records)
}

// disk measures what versions take on the disk once it is at rest, beside their
// content.
func disk(dir string) ([]row, error) {
	ctx := context.Background()
	const n = manyRecords / 10
	var sizes [2]int64
	for i := range sizes {
		folder := filepath.Join(dir, fmt.Sprint(i))
		p, err := fillDisk(ctx, folder, n)
		if err != nil {
			return nil, err
		}
		if i == 1 { // each is covered once
			if err := together(64, n, func(i int) error { _, err := p.Memory().Write(ctx, item(i)); return err }); err != nil {
				return nil, errors.Join(err, p.Close())
			}
		}
		if err := p.Close(); err != nil {
			return nil, err
		}
		if sizes[i], err = folderBytes(folder); err != nil {
			return nil, err
		}
	}
	const versions = n + 2*n/skillEvery
	per, covered := float64(sizes[0])/versions, float64(sizes[1]-sizes[0])/n
	return []row{
		{name: "on the disk, a version of a record with 1 KB of content", value: per, unit: "B", ratio: per / valueBytes, versus: "its content"},
		{name: "on the disk, a covered version of it", value: covered, unit: "B", ratio: covered / valueBytes, versus: "its content"},
	}, nil
}

func folderBytes(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
