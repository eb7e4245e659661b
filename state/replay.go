package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// Replay returns a provider in memory that is what folding a log's state stream
// gives: from its newest snapshot that opens, else from the start. The provider
// goes on writing to the same log. Events that this build does not know stay in
// the log and are skipped (see Fold). Errors: those of reading the log,
// ErrInvalid for an event or a snapshot that is not what it says.
func Replay(ctx context.Context, log eventlog.Log, opts ...Option) (Provider, error) {
	cfg := memoryConfig(opts)
	cfg.log = log
	s, _, err := foldWith(ctx, log, &cfg)
	if err != nil {
		return nil, err
	}
	m, err := openMemory(cfg) //nolint:contextcheck // nobody owns a store in memory: opening it waits for nothing
	if err != nil {
		return nil, err
	}
	if err := m.load(ctx, &s, m.floor.hold); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.recorder.advance(s.LastSeq)
	return m.replica, nil
}

// Fold returns the state that a log's stream gives, and how many events of each
// type were skipped. It is what Replay does without a provider. Errors as
// Replay.
func Fold(ctx context.Context, log eventlog.Log, opts ...Option) (Snapshot, Skipped, error) {
	cfg := memoryConfig(opts)
	return foldWith(ctx, log, &cfg)
}

func foldWith(ctx context.Context, log eventlog.Log, cfg *Config) (Snapshot, Skipped, error) {
	home, err := scopeText(cfg.Scope)
	if err != nil {
		return Snapshot{}, nil, fmt.Errorf("state: home scope: %w", err)
	}
	p := newProjection(home, cfg.upcasters)
	saved, found, err := latestSnapshot(ctx, log, cfg.SnapshotCodec)
	if err != nil {
		return Snapshot{}, nil, err
	}
	if found {
		p.begin(saved)
	}
	if err := p.fold(ctx, log); err != nil {
		return Snapshot{}, nil, err
	}
	return p.snapshot(), p.skipped, nil
}

// latestSnapshot returns the newest snapshot of a log when it opens. One that
// does not, or that is not what it says, is as good as none.
func latestSnapshot(ctx context.Context, log eventlog.Log, codec eventlog.SnapshotCodec) (s Snapshot, found bool, err error) {
	saved, err := log.LatestSnapshot(ctx, StateStream, 0)
	if errors.Is(err, eventlog.ErrNotFound) {
		return Snapshot{}, false, nil
	}
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("state: read the newest snapshot: %w", err)
	}
	payload := saved.Payload
	if codec != nil {
		if payload, err = codec.Open(saved.Stream, saved.Seq, saved.Payload); err != nil {
			return Snapshot{}, false, nil //nolint:nilerr // the stream says the same
		}
	}
	s, err = UnmarshalSnapshot(payload)
	if err != nil || s.LastSeq != saved.Seq {
		return Snapshot{}, false, nil //nolint:nilerr // the stream says the same
	}
	return s, true, nil
}

// Snapshot implements Replica.
func (p *replica) Snapshot(ctx context.Context) error {
	s, err := p.Export(ctx)
	if err != nil {
		return err
	}
	payload, err := MarshalSnapshot(s)
	if err != nil {
		return err
	}
	if p.codec != nil {
		if payload, err = p.codec.Seal(StateStream, s.LastSeq, payload); err != nil {
			return fmt.Errorf("state: seal snapshot: %w", err)
		}
	}
	if err := p.Log().SaveSnapshot(ctx, eventlog.Snapshot{Stream: StateStream, Seq: s.LastSeq, Payload: payload}); err != nil {
		return fmt.Errorf("state: save snapshot: %w", err)
	}
	return nil
}
