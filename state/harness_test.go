package state_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/state/ids"
	"github.com/fleetsync/fleetd/store"
)

// node is a replica with the store below it and all that it ever committed.
type node struct {
	state.Replica
	store *store.Store
	log   []merge.Record
}

// testing.TB and rapid's T alike.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// openNode opens a replica over an engine with a deterministic clock and ids.
func openNode(t failer, engine store.Engine, clk clock.Clock, cfg state.Config) *node {
	t.Helper()
	n := &node{}
	st, err := store.Open(engine, store.Config{
		Now: clk.Now, Rand: &countingEntropy{n: cfg.InstanceID[len(cfg.InstanceID)-1]}, Indexer: state.Indexer{},
		OnCommit: func(c store.Commit) { n.log = append(n.log, c.Records...) },
	})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	if cfg.IDs == nil {
		seed := &countingEntropy{n: cfg.InstanceID[len(cfg.InstanceID)-1]}
		cfg.IDs = ids.NewGenerator(ids.WithClock(clk), ids.WithEntropy(seed))
	}
	cfg.Clock = clk
	n.store = st
	if n.Replica, err = state.Open(st, cfg); err != nil {
		t.Fatalf("open state: %v", err)
	}
	return n
}

// newNode is openNode over an empty engine in memory, closed by the test.
func newNode(t *testing.T, name string, clk clock.Clock) *node {
	t.Helper()
	n := openNode(t, store.NewMemory(), clk, state.Config{InstanceID: name})
	t.Cleanup(func() { must(t, n.Close()) })
	return n
}

func must(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func (n *node) upsert(t failer, sk state.Skill) state.Skill {
	t.Helper()
	written, err := n.Skills().Upsert(context.Background(), sk)
	must(t, err)
	return written
}

func (n *node) write(t failer, it state.MemoryItem) state.MemoryItem {
	t.Helper()
	written, err := n.Memory().Write(context.Background(), it)
	must(t, err)
	return written
}

func same(t failer, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// receive merges records as if a peer had sent them.
func (n *node) receive(t failer, records ...merge.Record) {
	t.Helper()
	_, err := n.store.Merge(context.Background(), store.Batch{Path: store.PathFeed, Records: records})
	must(t, err)
}

// exchange gives each node everything that any of them has committed.
func exchange(t failer, nodes ...*node) {
	t.Helper()
	for _, from := range nodes {
		for _, to := range nodes {
			if from != to {
				to.receive(t, from.log...)
			}
		}
	}
}

// answers is everything that a replica can be asked for as a whole.
func (n *node) answers(t failer) []any {
	t.Helper()
	ctx := context.Background()
	sessions, err0 := n.Sessions().List(ctx)
	turns := [][]state.Turn{}
	for _, ses := range sessions {
		of, err := n.Sessions().Turns(ctx, ses.ID)
		must(t, err)
		turns = append(turns, of)
	}
	skills, err1 := n.Skills().Search(ctx, "", 0)
	items, err2 := n.Memory().Recall(ctx, state.RecallQuery{})
	conflicts, err3 := n.Conflicts(ctx)
	invalid, err4 := n.Invalid(ctx)
	for _, err := range []error{err0, err1, err2, err3, err4} {
		must(t, err)
	}
	return []any{sessions, turns, skills, items, conflicts, invalid}
}

// sums is the digest of each section that holds something.
func (n *node) sums() map[merge.Section]store.Sum {
	sums := map[merge.Section]store.Sum{}
	for _, s := range n.store.Sections() {
		if s.Count > 0 {
			sums[s.Section] = s.Sum
		}
	}
	return sums
}

// version seals an unsigned record of any key and body by a writer.
func version(t failer, key merge.Key, writer string, e merge.Envelope, body []byte) merge.Record {
	t.Helper()
	e.LastWriterID, e.OriginInstanceID = merge.InstanceID(writer), merge.InstanceID(writer)
	e.SyncVersion = max(e.SyncVersion, 1)
	rec, err := merge.Seal(merge.Record{
		Key: key, Envelope: e, Body: bytes.Clone(body), Basis: merge.Basis{}.With(e.LastWriterID, e.UpdatedHLC),
	}, merge.Unsigned, nil)
	must(t, err)
	return rec
}
