package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/client"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// served is a node of which only the state is asked.
type served struct {
	api.Backend
	state state.Replica
}

func (s served) State() state.Replica { return s.state }

// overHTTP measures how long one call takes over the socket of the local API,
// beside the same call without it, which is the floor: badger, synced, unsigned,
// one caller, few records.
func overHTTP(dir string) (rows []row, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	p, err := fillDisk(ctx, filepath.Join(dir, "store"), fewRecords)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	folder, err := os.MkdirTemp("", "b") // the path of a socket is short
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	socket := filepath.Join(folder, "s")
	listener, err := api.Listen(ctx, socket)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, listener, api.NewHandler(served{state: p}, api.Config{}), nil) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	c := client.New(socket)
	defer c.Close()
	for _, pair := range httpPairs(p, c) {
		direct, err := latencies(pair.times, func(i int) error { return pair.direct(ctx, i) })
		if err != nil {
			return rows, fmt.Errorf("%s: %w", pair.name, err)
		}
		remote, err := latencies(pair.times, func(i int) error { return pair.remote(ctx, i) })
		if err != nil {
			return rows, fmt.Errorf("%s over HTTP: %w", pair.name, err)
		}
		rows = append(rows, besideFloor(pair.name+" over HTTP", remote, "without", direct)...)
	}
	return rows, nil
}

// httpPair is one call, both ways.
type httpPair struct {
	name           string
	times          int
	direct, remote func(ctx context.Context, i int) error
}

func httpPairs(p state.Replica, c *client.Client) []httpPair {
	return []httpPair{
		{
			"write a memory item", 2_000,
			func(ctx context.Context, i int) error {
				_, err := p.Memory().Write(ctx, item(fewRecords+i))
				return err
			},
			func(ctx context.Context, i int) error {
				it := item(fewRecords + i)
				_, err := c.WriteMemory(ctx, wire.MemoryWrite{Kind: it.Kind, Content: it.Content, Scope: wire.Scope(it.Scope)})
				return err
			},
		},
		{
			"get a memory item", 5_000,
			func(ctx context.Context, i int) error {
				_, err := p.MemoryLibrary().Get(ctx, itemID(i%fewRecords))
				return err
			},
			func(ctx context.Context, i int) error {
				_, err := c.Memory(ctx, itemID(i%fewRecords), nil)
				return err
			},
		},
		{
			"recall the newest ten", 2_000,
			func(ctx context.Context, _ int) error {
				_, err := p.Memory().Recall(ctx, state.RecallQuery{Limit: 10})
				return err
			},
			func(ctx context.Context, _ int) error {
				_, err := c.Memories(ctx, client.MemoryQuery{Limit: 10})
				return err
			},
		},
		{
			"recall that finds nothing", 200,
			func(ctx context.Context, _ int) error {
				_, err := p.Memory().Recall(ctx, state.RecallQuery{Query: "nothing-says-this"})
				return err
			},
			func(ctx context.Context, _ int) error {
				_, err := c.Memories(ctx, client.MemoryQuery{Text: "nothing-says-this"})
				return err
			},
		},
	}
}

// besideFloor shows two percentiles of what calls took, beside those of a floor.
func besideFloor(name string, took []time.Duration, floorName string, floor []time.Duration) (rows []row) {
	for _, percent := range []int{50, 99} {
		value, least := microseconds(took, percent), microseconds(floor, percent)
		rows = append(rows, row{
			name: fmt.Sprintf("%s, p%d", name, percent), value: value, unit: "us",
			ratio: value / least, versus: fmt.Sprintf("%s, %.0f us", floorName, least),
		})
	}
	return rows
}

// latencies returns how long each call took, shortest first.
func latencies(times int, op func(i int) error) ([]time.Duration, error) {
	took := make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if err := op(i); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took, nil
}

func microseconds(sorted []time.Duration, percent int) float64 {
	return float64(sorted[len(sorted)*percent/100].Nanoseconds()) / 1000
}
