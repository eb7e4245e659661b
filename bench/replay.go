package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// replay measures folding a state stream into its state, and saving and
// restoring that as one snapshot, in memory.
func replay(string) (rows []row, err error) {
	ctx := context.Background()
	for _, source := range []struct {
		name string
		log  eventlog.Log
	}{{"a log in memory", eventlog.NewMemory(time.Now)}, {"the store's own stream, in memory", nil}} {
		opts := []state.Option{}
		if source.log != nil {
			opts = append(opts, state.WithEventLog(source.log))
		}
		p, isReplica := state.NewMemory(opts...).(state.Replica)
		if !isReplica {
			return rows, errors.New("a provider in memory is no replica")
		}
		if err := fill(ctx, p, manyRecords); err != nil {
			return rows, err
		}
		began := settled()
		s, _, err := state.Fold(ctx, p.Log())
		if err != nil {
			return rows, err
		}
		rows = append(rows, row{name: "fold " + source.name, value: float64(s.LastSeq) / time.Since(began).Seconds(), unit: "events/s"})
		if source.log != nil {
			began = settled()
			again, err := state.Replay(ctx, p.Log())
			if err != nil {
				return rows, err
			}
			rows = append(rows, row{name: "replay " + source.name + " into a provider", value: float64(s.LastSeq) / time.Since(began).Seconds(), unit: "events/s"})
			if err := again.Close(); err != nil {
				return rows, err
			}
			saved, err := snapshotRates(ctx, p)
			if err != nil {
				return rows, err
			}
			rows = append(rows, saved...)
		}
		if err := p.Close(); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func snapshotRates(ctx context.Context, p state.Replica) ([]row, error) {
	const mega = 1e6
	began := settled()
	if err := p.Snapshot(ctx); err != nil {
		return nil, err
	}
	saving := time.Since(began).Seconds()
	saved, err := p.Log().LatestSnapshot(ctx, state.StateStream, 0)
	if err != nil {
		return nil, err
	}
	began = settled()
	again, err := state.Replay(ctx, p.Log())
	if err != nil {
		return nil, err
	}
	restoring := time.Since(began).Seconds()
	size := float64(len(saved.Payload)) / mega
	return []row{
		{name: fmt.Sprintf("save a snapshot of %.0f MB", size), value: size / saving, unit: "MB/s"},
		{name: "restore it", value: size / restoring, unit: "MB/s"},
	}, again.Close()
}

// settled returns the time once the garbage of what came before is gone: else it
// would be collected at the expense of what is measured.
func settled() time.Time {
	runtime.GC()
	return time.Now()
}
