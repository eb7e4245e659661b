package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a Log in memory. It keeps every event and every snapshot, so it
// grows with what is written; Retained would always be 1. It is safe for
// concurrent use. NewMemory makes one.
type Memory struct {
	now func() time.Time

	mu      sync.RWMutex // guards streams
	streams map[string]*memoryStream
}

type memoryStream struct {
	events    []Event    // the event of Seq n at n-1; none is changed once it is there
	snapshots []Snapshot // by Seq, at most one each; no payload is changed
}

var _ Scanner = (*Memory)(nil)

// NewMemory returns an empty log. now gives the time of events that bring none;
// it is called by the goroutines that append, must be safe for that, and must
// not be nil.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, streams: map[string]*memoryStream{}}
}

// Append implements Log.
func (m *Memory) Append(ctx context.Context, in AppendInput) (Event, error) {
	e, err := NewEvent(in, m.now)
	if err != nil {
		return Event{}, err
	}
	stored := e.Clone()

	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Event{}, fmt.Errorf("eventlog: append: %w", err)
	}
	s := m.streamLocked(in.Stream)
	e.Seq = int64(len(s.events)) + 1
	stored.Seq = e.Seq
	s.events = append(s.events, stored)
	return e, nil
}

// Read implements Log.
func (m *Memory) Read(ctx context.Context, stream string, afterSeq int64, limit int) ([]Event, error) {
	if err := CheckStream(stream); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("eventlog: read: %w", err)
	}
	// Copied without the lock, so that a long read holds no writer up: the
	// events of the slice stay as they are.
	found := m.events(stream)
	found = found[min(max(afterSeq, 0), int64(len(found))):]
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	events := make([]Event, len(found))
	for i, e := range found {
		events[i] = e.Clone()
	}
	return events, nil
}

// Scan implements Scanner.
func (m *Memory) Scan(ctx context.Context, stream string, afterSeq int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := CheckStream(stream); err != nil {
			yield(Event{}, err)
			return
		}
		found := m.events(stream)
		for _, e := range found[min(max(afterSeq, 0), int64(len(found))):] {
			if err := ctx.Err(); err != nil {
				yield(Event{}, fmt.Errorf("eventlog: scan: %w", err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *Memory) events(stream string) []Event {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s, known := m.streams[stream]; known {
		return s.events
	}
	return nil
}

// SaveSnapshot implements Log.
func (m *Memory) SaveSnapshot(ctx context.Context, s Snapshot) error {
	if err := s.Check(); err != nil {
		return err
	}
	s.Payload = bytes.Clone(s.Payload)

	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("eventlog: save snapshot: %w", err)
	}
	kept := m.streamLocked(s.Stream)
	if i, exists := kept.search(s.Seq); exists {
		kept.snapshots[i] = s
	} else {
		kept.snapshots = slices.Insert(kept.snapshots, i, s)
	}
	return nil
}

// LatestSnapshot implements Log.
func (m *Memory) LatestSnapshot(ctx context.Context, stream string, upTo int64) (Snapshot, error) {
	if err := CheckStream(stream); err != nil {
		return Snapshot{}, err
	}
	if err := ctx.Err(); err != nil {
		return Snapshot{}, fmt.Errorf("eventlog: latest snapshot: %w", err)
	}
	s, exists := m.snapshot(stream, upTo)
	if !exists {
		return Snapshot{}, fmt.Errorf("%w: a snapshot of %q up to %d", ErrNotFound, stream, upTo)
	}
	s.Payload = append([]byte{}, s.Payload...) // never nil
	return s, nil
}

func (m *Memory) snapshot(stream string, upTo int64) (s Snapshot, exists bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	kept, known := m.streams[stream]
	if !known {
		return Snapshot{}, false
	}
	after := len(kept.snapshots)
	if upTo > 0 {
		i, exact := kept.search(upTo)
		if after = i; exact {
			after++
		}
	}
	if after == 0 {
		return Snapshot{}, false
	}
	return kept.snapshots[after-1], true
}

// streamLocked returns the stream, which begins now if it is new.
func (m *Memory) streamLocked(name string) *memoryStream {
	s, known := m.streams[name]
	if !known {
		s = &memoryStream{}
		m.streams[name] = s
	}
	return s
}

// search returns where the snapshot of seq is, or would be.
func (s *memoryStream) search(seq int64) (int, bool) {
	return slices.BinarySearchFunc(s.snapshots, seq, func(s Snapshot, seq int64) int {
		return cmp.Compare(s.Seq, seq)
	})
}
