package eventlogtest_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/state/eventlog"
	"github.com/fleetsync/fleetd/state/eventlog/eventlogtest"
)

func memory() eventlog.Log {
	return eventlog.NewMemory(func() time.Time { return time.Unix(1_790_000_000, 0) })
}

func TestAFaultyLogWithoutFaultsIsALog(t *testing.T) {
	t.Parallel()
	eventlogtest.RunSuite(t, func(testing.TB) eventlog.Log { return eventlogtest.NewFaulty(memory(), nil) })
}

// contents is everything that a log tells of stream a.
type contents struct {
	Events   []eventlog.Event
	Snapshot eventlog.Snapshot
}

func look(t *testing.T, log eventlog.Log) contents {
	t.Helper()
	events, err := log.Read(t.Context(), "a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := log.LatestSnapshot(t.Context(), "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	return contents{events, s}
}

// do makes one call of op, of the kind that changes something if op can.
func do(t *testing.T, log eventlog.Log, op eventlogtest.Op) error {
	t.Helper()
	var err error
	switch op {
	case eventlogtest.OpAppend:
		_, err = log.Append(t.Context(), eventlog.AppendInput{Stream: "a", Type: "b"})
	case eventlogtest.OpRead:
		_, err = log.Read(t.Context(), "a", 0, 0)
	case eventlogtest.OpSaveSnapshot:
		err = log.SaveSnapshot(t.Context(), eventlog.Snapshot{Stream: "a", Seq: 1, Payload: []byte("new")})
	case eventlogtest.OpLatestSnapshot:
		_, err = log.LatestSnapshot(t.Context(), "a", 0)
	}
	return err
}

func TestAFailedCallChangesNothing(t *testing.T) {
	for _, op := range eventlogtest.Ops() {
		t.Run(string(op), func(t *testing.T) {
			log := eventlogtest.NewFaulty(memory(), nil)
			for _, first := range []eventlogtest.Op{eventlogtest.OpAppend, eventlogtest.OpSaveSnapshot} {
				if err := do(t, log, first); err != nil {
					t.Fatal(err)
				}
			}
			before := look(t, log)
			log.SetPlan(eventlogtest.FailOn(op))
			for range 3 {
				if err := do(t, log, op); !errors.Is(err, eventlogtest.ErrInjected) {
					t.Errorf("got %v, want the injected error", err)
				}
			}
			if got := log.Calls(op); got != 3 {
				t.Errorf("%d calls were counted", got)
			}
			log.SetPlan(nil)
			if diff := cmp.Diff(before, look(t, log)); diff != "" {
				t.Errorf("the failures left (-before +after):\n%s", diff)
			}
		})
	}
}

func TestTheChosenCallFails(t *testing.T) {
	log := eventlogtest.NewFaulty(memory(), eventlogtest.FailOn(eventlogtest.OpAppend, 2, 4))
	var failed []int
	for n := 1; n <= 5; n++ {
		if _, err := log.Read(t.Context(), "a", 0, 0); err != nil {
			t.Errorf("read %d: %v", n, err)
		}
		if err := do(t, log, eventlogtest.OpAppend); errors.Is(err, eventlogtest.ErrInjected) {
			failed = append(failed, n)
		}
	}
	if diff := cmp.Diff([]int{2, 4}, failed); diff != "" {
		t.Errorf("failed calls (-want +got):\n%s", diff)
	}
}

// TestAFailedAppendUsesNoSeq: of 50 appends at once every third fails, and the
// others are dense.
func TestAFailedAppendUsesNoSeq(t *testing.T) {
	const writers = 50
	log := eventlogtest.NewFaulty(memory(), func(op eventlogtest.Op, n int) error {
		if op == eventlogtest.OpAppend && n%3 == 0 {
			return eventlogtest.ErrInjected
		}
		return nil
	})
	var done sync.WaitGroup
	for range writers {
		done.Go(func() {
			if err := do(t, log, eventlogtest.OpAppend); err != nil && !errors.Is(err, eventlogtest.ErrInjected) {
				t.Error(err)
			}
		})
	}
	done.Wait()
	events, err := log.Read(t.Context(), "a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(events), writers-writers/3; got != want {
		t.Errorf("%d events, want %d", got, want)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
}
