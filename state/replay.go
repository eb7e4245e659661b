package state

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// Replay returns a provider in memory that is what folding a log's state stream
// gives: from its newest snapshot that opens and that the log goes on from, else
// from the start. The provider goes on writing to the same log; unless that is
// the stream of a store, to which nothing can be appended: then it keeps one of
// its own. Events that this build does not know stay in the log and are skipped
// (see Fold). The stream and the snapshot of a host, made by a Stamper alone,
// are as good as ours. Errors: those of reading the log, ErrInvalid for an event
// that is not what it says, and for no log.
func Replay(ctx context.Context, log eventlog.Log, opts ...Option) (Provider, error) {
	cfg := memoryConfig(opts)
	s, p, err := foldWith(ctx, log, &cfg)
	if err != nil {
		return nil, err
	}
	cfg.log = log
	if _, readOnly := log.(storeLog); readOnly {
		cfg.log = nil
	}
	m, err := openMemory(cfg) //nolint:contextcheck // nobody owns a store in memory: opening it waits for nothing
	if err != nil {
		return nil, err
	}
	if err := m.load(ctx, &s, m.floor.hold); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.recorder != nil {
		m.recorder.advance(s.LastSeq)
		if len(p.skipped) > 0 {
			m.recorder.lacks("events were skipped, " + p.skipped.String())
		}
		m.writes.Store(s.LastSeq - p.saved)
	}
	return m.replica, nil
}

// Fold returns the state that a log's stream gives, and how many events of each
// type were skipped. It is what Replay does without a provider. Errors as
// Replay.
func Fold(ctx context.Context, log eventlog.Log, opts ...Option) (Snapshot, Skipped, error) {
	cfg := memoryConfig(opts)
	s, p, err := foldWith(ctx, log, &cfg)
	if err != nil {
		return Snapshot{}, nil, err
	}
	return s, p.skipped, nil
}

func foldWith(ctx context.Context, log eventlog.Log, cfg *Config) (Snapshot, *projection, error) {
	if log == nil {
		return Snapshot{}, nil, fmt.Errorf("%w: no log to fold", ErrInvalid)
	}
	home, err := scopeText(cfg.Scope)
	if err != nil {
		return Snapshot{}, nil, fmt.Errorf("state: home scope: %w", err)
	}
	p := newProjection(home, cfg.upcasters)
	saved, found, err := latestSnapshot(ctx, log, cfg.SnapshotCodec, home)
	if err != nil {
		return Snapshot{}, nil, err
	}
	if found && p.begin(saved) != nil { // as good as none
		p = newProjection(home, cfg.upcasters)
	}
	if err := p.fold(ctx, log); err != nil {
		return Snapshot{}, nil, err
	}
	return p.snapshot(), p, nil
}

// latestSnapshot returns the newest snapshot of a log when it opens. One that
// does not, or that is not what it says, is as good as none.
func latestSnapshot(ctx context.Context, log eventlog.Log, codec eventlog.SnapshotCodec, home Scope) (s Snapshot, found bool, err error) {
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
	if ours := s.Covers > 0; ours && (s.Covers < snapshotCovers || s.Home != home) {
		return Snapshot{}, false, nil // it has less than is asked for
	}
	found, err = continues(ctx, log, &s)
	return s, found, err
}

// continues reports whether a log still has what a snapshot was made of: its last
// event, or a later one when that is gone. A log that has lost its end, and
// perhaps gone on, is folded from the start: what it says counts.
func continues(ctx context.Context, log eventlog.Log, s *Snapshot) (bool, error) {
	if s.LastSeq == 0 {
		return true, nil
	}
	next, err := log.Read(ctx, StateStream, s.LastSeq-1, 1)
	if err != nil {
		return false, fmt.Errorf("state: read event %d: %w", s.LastSeq, err)
	}
	if len(next) == 0 {
		return false, nil
	}
	return s.LastEvent == "" || next[0].Seq != s.LastSeq || eventHash(&next[0]) == s.LastEvent, nil
}

// eventHash tells an event from any other that a log might have in its place.
func eventHash(e *eventlog.Event) string {
	h := sha256.New()
	parts := []string{e.Type, e.Time.UTC().Format(time.RFC3339Nano), e.OriginInstanceID}
	for _, key := range slices.Sorted(maps.Keys(e.Payload)) {
		image, _ := e.Payload[key].(map[string]any)
		parts = append(parts, key, fmt.Sprint(image["ID"]), fmt.Sprint(image["UpdatedHLC"]))
	}
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Snapshot implements Replica.
func (p *replica) Snapshot(ctx context.Context) error {
	if p.recorder != nil {
		if err := p.recorder.whole(); err != nil {
			return err
		}
	}
	s, err := p.Export(ctx)
	if err != nil {
		return err
	}
	if s.isIncomplete() { // content that comes later has no event, and would be missing
		return fmt.Errorf("%w: no snapshot while content is missing", ErrIncomplete)
	}
	s.Covers = snapshotCovers
	if s.LastSeq > 0 {
		last, err := p.Log().Read(ctx, StateStream, s.LastSeq-1, 1)
		if err != nil {
			return fmt.Errorf("state: read event %d: %w", s.LastSeq, err)
		}
		if len(last) > 0 && last[0].Seq == s.LastSeq {
			s.LastEvent = eventHash(&last[0])
		}
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
