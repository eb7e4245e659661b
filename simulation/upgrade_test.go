package simulation_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/simulation"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// TestCase72Upgrade: one of three members that hold the same begins to run a later
// build, over the same disk, and writes header fields, a kind and families that the
// others do not know. Nothing that was held before is sent again, digests change
// nowhere but where something was written, and there alike; the others hold what
// they do not know byte for byte. Nothing travels when they follow.
func TestCase72Upgrade(t *testing.T) {
	for name, gossip := range map[string]bool{"with gossip": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const newer = 2
			plan := simulation.Calm(72, 3)
			plan.Gossip = gossip
			wire := &traffic{t: t, sent: map[merge.Hash]int{}}
			c, err := simulation.New(plan, simulation.Options{Intercept: wire.intercept, Observe: wire.observe})
			if err != nil {
				t.Fatal(err)
			}
			c.RunFor(time.Minute)
			for k := range 6 { // what the later build revises below
				c.Do(simulation.Step{Act: simulation.ActWrite, Replica: k % 2, Count: k})
			}
			for n := range c.Replicas() {
				c.Do(simulation.Step{Act: simulation.ActBurst, Replica: n, Count: 700})
			}
			c.RunFor(time.Minute)
			before := versionsOf(t, c, 0)
			wantEverywhere(t, c, before)

			wire.reset()
			c.Upgrade(newer)
			c.RunFor(2 * time.Minute)
			wire.wantNothing()
			wantEverywhere(t, c, before)
			for count := range 12 {
				c.Do(simulation.Step{Act: simulation.ActNewer, Replica: newer, Count: count})
				c.RunFor(15 * time.Second)
			}
			after := versionsOf(t, c, newer)
			wantEverywhere(t, c, after)
			wire.wantNone(before)
			wrote := after.without(before)
			wrote.wantDigests(t, before, after)
			wrote.wantAll(t)
			if !gossip {
				wire.wantOnce(wrote.records)
			}

			wire.reset()
			c.Upgrade(0)
			c.Upgrade(1)
			c.RunFor(2 * time.Minute)
			wire.wantNothing()
			wantEverywhere(t, c, after)
			finish(t, c)
		})
	}
}

// traffic counts what is sent.
type traffic struct {
	t      *testing.T
	sent   map[merge.Hash]int // by version
	gossip int                // messages
}

func (w *traffic) reset() { w.sent, w.gossip = map[merge.Hash]int{}, 0 }

func (w *traffic) observe(e simulation.Event) {
	if e.Kind == simulation.EventSend && e.Route == simulation.RouteGossip {
		w.gossip++
	}
}

func (w *traffic) intercept(_, _ int, _ uint64, m fleetsync.Message) bool {
	var records [][]byte
	switch m := m.(type) {
	case *fleetsync.Records:
		records = m.Records
	case *fleetsync.Page:
		records = m.Records
	case *fleetsync.ChangesPage:
		records = m.Records
	}
	for _, wire := range records {
		r, err := merge.Decode(wire)
		if err != nil {
			w.t.Fatal(err)
		}
		w.sent[r.Hash()]++
	}
	return true
}

// wantNothing fails when anything was sent that brings a version.
func (w *traffic) wantNothing() {
	w.t.Helper()
	if len(w.sent)+w.gossip > 0 {
		w.t.Errorf("%d records and %d gossip messages are sent for nothing", len(w.sent), w.gossip)
	}
}

// wantNone fails when any of these versions was sent.
func (w *traffic) wantNone(held holdings) {
	w.t.Helper()
	for hash := range w.sent {
		if _, known := held.records[hash]; known {
			w.t.Errorf("%x was held by all, and is sent", hash)
		}
	}
}

// wantOnce fails unless each record was sent once to each of two.
func (w *traffic) wantOnce(records []merge.Record) {
	w.t.Helper()
	for _, r := range records {
		if n := w.sent[r.Hash()]; n != 2 {
			w.t.Errorf("%s was sent %d times", r.Key, n)
		}
	}
}

// holdings are all versions that a replica holds, and the digests that they make.
type holdings struct {
	records map[merge.Hash][]byte // as received
	digests map[merge.Section]store.Digest
}

func versionsOf(t *testing.T, c *simulation.Cluster, n int) holdings {
	t.Helper()
	h := holdings{map[merge.Hash][]byte{}, map[merge.Section]store.Digest{}}
	err := c.Replica(n).Store().View(func(r *store.Reader) error {
		for _, s := range c.Replica(n).Store().Sections() {
			h.digests[s.Section] = s.Digest
			var failed error
			err := r.Range(s.Section, "", func(k merge.Key, held []store.Held) bool {
				for _, v := range held {
					if h.records[v.Hash], failed = r.Wire(k, v); failed != nil {
						return false
					}
				}
				return true
			})
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// wantEverywhere fails unless every replica holds exactly that.
func wantEverywhere(t *testing.T, c *simulation.Cluster, want holdings) {
	t.Helper()
	for n := range c.Replicas() {
		got := versionsOf(t, c, n)
		if !maps.Equal(got.digests, want.digests) || !maps.EqualFunc(got.records, want.records, bytes.Equal) {
			t.Errorf("replica %d holds %d versions, which are not the %d", n, len(got.records), len(want.records))
		}
	}
}

// written is what was written between two times.
type written struct {
	records  []merge.Record
	sections map[merge.Section]bool
}

func (h holdings) without(before holdings) (w written) {
	w.sections = map[merge.Section]bool{}
	for hash, wire := range h.records {
		if _, held := before.records[hash]; held {
			continue
		}
		if r, err := merge.Decode(wire); err == nil {
			w.records = append(w.records, r)
			w.sections[r.Key.Section()] = true
		}
	}
	return w
}

// wantDigests fails when a digest has changed of a section without a write.
func (w *written) wantDigests(t *testing.T, before, after holdings) {
	t.Helper()
	for section, digest := range before.digests {
		if now := after.digests[section]; now != digest && !w.sections[section] {
			t.Errorf("nothing was written in %s, whose digest was %+v and is %+v", section, digest, now)
		}
	}
}

// wantAll fails unless all that is new is there, so that the test shows something: a
// further field in every header, a new kind of a known family, a new family.
func (w *written) wantAll(t *testing.T) {
	t.Helper()
	kinds := map[string]bool{}
	for _, r := range w.records {
		kinds[r.Key.Kind] = true
		var fields map[any]cbor.RawMessage
		if err := cbor.Unmarshal(r.Header(), &fields); err != nil {
			t.Fatal(err)
		}
		further := slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(key any) bool {
			n, isNumber := key.(uint64)
			return !isNumber || n >= 40
		})
		if !further {
			t.Errorf("the header of %s has no further field", r.Key)
		}
	}
	for _, kind := range []string{"board", "board.card.comment", "skill.review", "memory", "skill"} {
		if !kinds[kind] {
			t.Errorf("no %s was written: %v", kind, kinds)
		}
	}
}
