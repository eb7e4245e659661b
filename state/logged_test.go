package state_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/store"
)

// slowLog does something between an event that it took and its answer.
type slowLog struct {
	eventlog.Log
	between func()
}

func (l *slowLog) Append(ctx context.Context, in eventlog.AppendInput) (eventlog.Event, error) {
	e, err := l.Log.Append(ctx, in)
	if l.between != nil {
		l.between()
	}
	return e, err
}

// TestAWriteThatHasItsEventHappens, whatever comes in between: the end of its
// context, a clock that goes back, the end of the provider.
func TestAWriteThatHasItsEventHappens(t *testing.T) {
	clk := clock.NewManual(startTime())
	for name, between := range map[string]func(p state.Replica, cancel func()){
		"the context ends": func(_ state.Replica, cancel func()) { cancel() },
		"time goes back":   func(state.Replica, func()) { clk.Set(startTime().Add(-time.Hour)) },
		"it is closed":     func(p state.Replica, _ func()) { go func() { _ = p.Close() }() },
	} {
		t.Run(name, func(t *testing.T) {
			clk.Set(startTime())
			log := &slowLog{Log: eventlog.NewMemory(clk.Now)}
			p := memoryOver(log, clk)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log.between = func() { between(p, cancel) }
			_, err := p.Memory().Write(ctx, state.MemoryItem{ID: "m"})
			must(t, err)
			must(t, p.Close())
			s, _, err := state.Fold(t.Context(), log)
			must(t, err)
			same(t, 1, len(s.Items))
		})
	}
}

// TestClosingUnderWriters: what is acknowledged is in the log, and nothing else.
func TestClosingUnderWriters(t *testing.T) {
	for range 30 {
		log := eventlog.NewMemory(clock.System{}.Now)
		p := state.NewMemory(state.WithEventLog(log))
		var group sync.WaitGroup
		acknowledged := make([]int, 4)
		for w := range acknowledged {
			group.Go(func() {
				for {
					if _, err := p.Memory().Write(t.Context(), state.MemoryItem{}); err != nil {
						return
					}
					acknowledged[w]++
				}
			})
		}
		must(t, p.Close())
		group.Wait()
		events, err := log.Read(t.Context(), state.StateStream, 0, 0)
		must(t, err)
		same(t, acknowledged[0]+acknowledged[1]+acknowledged[2]+acknowledged[3], len(events))
	}
}

// TestUndoingAWriterOverALog: turns of a session that goes are undone too.
func TestUndoingAWriterOverALog(t *testing.T) {
	clk := clock.NewManual(startTime())
	p := memoryOver(eventlog.NewMemory(clk.Now), clk)
	defer func() { must(t, p.Close()) }()
	for _, m := range mutateAll(p) {
		if !strings.HasSuffix(m.name, ".deleted") {
			must(t, m.do(t.Context()))
		}
	}
	changes, err := p.Revert(t.Context(), "local", hlc.Timestamp{})
	must(t, err)
	same(t, 4, len(changes))
	s, _, err := state.Fold(t.Context(), p.Log())
	must(t, err)
	same(t, exported(t, p), marshalled(t, s))
}

// TestNoSnapshotOfAPart: a provider that is not all that its log says saves none,
// and nothing of the log is hidden.
func TestNoSnapshotOfAPart(t *testing.T) {
	clk := clock.NewManual(startTime())
	write := func(p state.Provider) {
		clk.Advance(time.Millisecond)
		_, err := p.Memory().Write(t.Context(), state.MemoryItem{})
		must(t, err)
	}
	used := eventlog.NewMemory(clk.Now)
	write(memoryOver(used, clk))
	write(memoryOver(used, clk, state.WithSnapshotEvery(1)))
	shared := eventlog.NewMemory(clk.Now)
	a, b := memoryOver(shared, clk, state.WithSnapshotEvery(2)), memoryOver(shared, clk)
	for range 3 {
		write(a)
		write(b)
	}
	if err := a.Snapshot(t.Context()); !errors.Is(err, state.ErrConflict) {
		t.Errorf("a snapshot of a part: %v", err)
	}
	for log, want := range map[eventlog.Log]int{used: 2, shared: 6} {
		s, _, err := state.Fold(t.Context(), log)
		must(t, err)
		same(t, want, len(s.Items))
	}
	later := eventlog.NewMemory(clk.Now)
	_, err := later.Append(t.Context(), eventlog.AppendInput{Stream: state.StateStream, Type: "plan.made"})
	must(t, err)
	p, err := state.Replay(t.Context(), later, state.WithClock(clk))
	must(t, err)
	if err := p.(state.Replica).Snapshot(t.Context()); !errors.Is(err, state.ErrConflict) {
		t.Errorf("a snapshot without what was skipped: %v", err)
	}
}

// TestASnapshotOfAnotherScopeIsNone for a provider that lives elsewhere.
func TestASnapshotOfAnotherScopeIsNone(t *testing.T) {
	engine, clk := store.NewMemory(), clock.NewManual(startTime())
	for _, scope := range []state.Scope{{}, {Project: "web"}} {
		n := openNode(t, kept{engine}, clk, state.Config{InstanceID: "a", Scope: scope})
		_, err := n.Sessions().Create(t.Context(), state.Session{ID: "s", Title: scope.Project})
		must(t, err)
		if scope == (state.Scope{}) {
			must(t, n.Snapshot(t.Context()))
		}
		s, _, err := state.Fold(t.Context(), n.Log(), state.WithScope(scope))
		must(t, err)
		same(t, exported(t, n), marshalled(t, s))
		same(t, []any{1, scope.Project}, []any{len(s.Sessions), s.Sessions[0].Title})
		must(t, n.Close())
	}
}

// TestAMintedIDIsNobodysYet: a generator that begins again mints what is there.
func TestAMintedIDIsNobodysYet(t *testing.T) {
	clk := clock.NewManual(startTime())
	seeded := func() state.Option {
		return state.WithIDGenerator(ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(&countingEntropy{})))
	}
	log := eventlog.NewMemory(clk.Now)
	for i := range 3 {
		p, err := state.Replay(t.Context(), log, state.WithClock(clk), seeded())
		must(t, err)
		_, err = p.Memory().Write(t.Context(), state.MemoryItem{Content: strconv.Itoa(i)})
		must(t, err)
		ses, err := p.Sessions().Create(t.Context(), state.Session{})
		must(t, err)
		for range 2 {
			_, err = p.Sessions().AppendTurn(t.Context(), state.Turn{SessionID: ses.ID, Content: "same"})
			must(t, err)
		}
		must(t, p.Close())
	}
	s, _, err := state.Fold(t.Context(), log)
	must(t, err)
	same(t, []int{3, 3, 6}, []int{len(s.Items), len(s.Sessions), len(s.Turns)})
}

// TestAWatcherSeesWhatIsApplied, not what is on its way.
func TestAWatcherSeesWhatIsApplied(t *testing.T) {
	clk := clock.NewManual(startTime())
	log := &slowLog{Log: eventlog.NewMemory(clk.Now)}
	p := memoryOver(log, clk)
	defer func() { must(t, p.Close()) }()
	appended, proceed := make(chan struct{}), make(chan struct{})
	log.between = func() {
		close(appended)
		<-proceed
	}
	go func() {
		_, err := p.Memory().Write(context.Background(), state.MemoryItem{ID: "m"})
		must(t, err)
	}()
	<-appended
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	events := p.Watch(ctx, 0)
	for e, err := range events {
		if err == nil {
			t.Errorf("event %d is shown before it is applied", e.Seq)
		}
	}
	close(proceed)
	for e, err := range p.Watch(t.Context(), 0) {
		must(t, err)
		_, err = p.MemoryLibrary().Get(t.Context(), "m")
		must(t, err)
		same(t, int64(1), e.Seq)
		break
	}
}

// outOfOrder gives its events in an order of its own.
type outOfOrder struct {
	eventlog.Log
	events []eventlog.Event
}

func (l outOfOrder) Read(context.Context, string, int64, int) ([]eventlog.Event, error) {
	return l.events, nil
}

func TestALogThatBreaksItsWordIsRefused(t *testing.T) {
	event := func(seq int64, stream string) eventlog.Event {
		return eventlog.Event{Stream: stream, Seq: seq, Type: "later.kind", SchemaVersion: 1}
	}
	for name, events := range map[string][]eventlog.Event{
		"order":  {event(1, state.StateStream), event(3, state.StateStream), event(2, state.StateStream)},
		"twice":  {event(1, state.StateStream), event(1, state.StateStream)},
		"stream": {event(1, "other")},
	} {
		_, _, err := state.Fold(t.Context(), outOfOrder{Log: eventlog.NewMemory(startTime), events: events})
		if !errors.Is(err, state.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
