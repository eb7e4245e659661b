package eventlogtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/fleetsync/fleetd/state/eventlog"
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
		{"50 concurrent appends are dense, and each is there once", func(t *run) {
			appended := make([]eventlog.Event, writers)
			together(func(i int) {
				e, err := t.log.Append(t.ctx(), numbered("a", i))
				if err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
				appended[i] = e
			})
			slices.SortFunc(appended, bySeq)
			for i, e := range appended {
				t.equal(int64(i)+1, e.Seq)
			}
			t.sameEvents(appended, t.read("a", 0, 0))
		}},
		{"50 concurrent appends to 5 streams are dense in each", func(t *run) {
			together(func(i int) {
				if _, err := t.log.Append(t.ctx(), numbered(fmt.Sprintf("s%d", i%5), i)); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			})
			for s := range 5 {
				events := t.read(fmt.Sprintf("s%d", s), 0, 0)
				t.equal(writers/5, len(events))
				t.dense(events)
			}
		}},
		{"an append that returned is seen, and readers see no gap", func(t *run) {
			together(func(i int) {
				e, err := t.log.Append(t.ctx(), numbered("a", i))
				if err != nil {
					t.Errorf("writer %d: %v", i, err)
					return
				}
				events, err := t.log.Read(t.ctx(), "a", 0, 0)
				if err != nil || int64(len(events)) < e.Seq {
					t.Errorf("writer %d read %d events after it appended %d: %v", i, len(events), e.Seq, err)
					return
				}
				t.dense(events)
				spoil(events[0].Payload)
			})
		}},
		{"50 concurrent snapshots are whole", func(t *run) {
			together(func(i int) {
				s := eventlog.Snapshot{Stream: "a", Seq: int64(i%10) + 1, Payload: fmt.Appendf(nil, "%d", i%10+1)}
				if err := t.log.SaveSnapshot(t.ctx(), s); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
				got, err := t.log.LatestSnapshot(t.ctx(), "a", s.Seq)
				if err != nil || string(got.Payload) != strconv.FormatInt(got.Seq, 10) {
					t.Errorf("writer %d read %+v: %v", i, got, err)
				}
			})
			t.equal("10", string(t.latest("a", 0).Payload))
		}},
	}
}

func bySeq(a, b eventlog.Event) int { return cmp.Compare(a.Seq, b.Seq) }

// dense checks that a read from the beginning has no gap.
func (t *run) dense(events []eventlog.Event) {
	t.Helper()
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
}
