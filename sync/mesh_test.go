package sync_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// node is one engine over a memory store, with a driver that carries out its
// outbox at once.
type node struct {
	id     merge.InstanceID
	engine *fleetsync.Engine
	store  *store.Store
	disk   *store.Memory
	gate   fleetsync.Admission
	share  fleetsync.Sharing
	fleet  merge.FleetID
	writes int
}

// mesh connects nodes by messages that arrive in order and one step later.
type mesh struct {
	t      *testing.T
	now    time.Time
	gossip bool
	skew   map[merge.InstanceID]time.Duration
	nodes  map[merge.InstanceID]*node
	order  []merge.InstanceID
	links  map[[2]merge.InstanceID]bool
	queue  []delivery
	log    []string            // one line a message
	lose   func(delivery) bool // says which messages are lost; nil for none
	// blame takes who broke the protocol; nil where nobody should.
	blame func(*node, fleetsync.Blame)
	// fail says which commits fail, and are not there then; nil for none.
	fail func(*node, *fleetsync.ApplyBatch) error

	parkedMax  int
	answerRate int
	pageBytes  int
}

type delivery struct {
	from, to merge.InstanceID
	message  fleetsync.Message
	gossip   *fleetsync.GossipBatch
}

// openly admits everything.
type openly struct{}

func (openly) Check(*merge.Record) error { return nil }
func (openly) Learn(*merge.Record) bool  { return false }
func (openly) Mark() [32]byte            { return [32]byte{} }

func (openly) Judge(*merge.Record) store.Reason { return 0 }

func (openly) JudgeVersion(merge.Key, merge.Version) (reason store.Reason, sure bool) { return 0, true }

func newMesh(t *testing.T, gossip bool) *mesh {
	t.Helper()
	return &mesh{
		t: t, now: time.UnixMilli(1_790_000_000_000), gossip: gossip,
		nodes: map[merge.InstanceID]*node{}, links: map[[2]merge.InstanceID]bool{},
		skew: map[merge.InstanceID]time.Duration{},
	}
}

func (m *mesh) add(id merge.InstanceID, admission fleetsync.Admission) *node {
	m.t.Helper()
	n := &node{id: id, disk: store.NewMemory(), gate: admission}
	m.nodes[id] = n
	m.order = append(m.order, id)
	m.open(n)
	return n
}

// reopen ends a node's life and begins another on the same disk.
func (m *mesh) reopen(n *node) {
	m.t.Helper()
	disk := n.disk.Clone()
	if err := n.store.Close(); err != nil {
		m.t.Fatal(err)
	}
	n.disk = disk
	n.writes++
	m.open(n)
}

func (m *mesh) open(n *node) {
	m.t.Helper()
	n.engine = nil
	rng := rand.New(rand.NewPCG(uint64(len(m.order)), uint64(n.writes))) //nolint:gosec // a test wants the same salts each time
	st, err := store.Open(n.disk, store.Config{
		Now: func() time.Time { return m.now.Add(m.skew[n.id]) }, Rand: readFrom{rng}, ParkedMax: m.parkedMax,
		OnCommit: func(c store.Commit) {
			if n.engine != nil {
				n.engine.Local(c)
			}
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = st.Close() })
	n.store = st
	n.engine = fleetsync.New(fleetsync.Config{
		Self: n.id, Fleet: n.fleet, Sharing: n.share, EventType: func(kind string, _ bool) string { return kind },
		Rand: readFrom{rng}, Gossip: m.gossip, Now: m.now, AnswerRate: m.answerRate, PageBytes: m.pageBytes,
	}, st, n.gate)
}

// readFrom reads bytes from a generator.
type readFrom struct{ *rand.Rand }

func (r readFrom) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

func (m *mesh) connect(a, b merge.InstanceID) {
	m.links[[2]merge.InstanceID{a, b}], m.links[[2]merge.InstanceID{b, a}] = true, true
	m.nodes[a].engine.Connected(b)
	m.nodes[b].engine.Connected(a)
}

// isolate cuts every connection of a node.
func (m *mesh) isolate(n *node) {
	for _, id := range m.order {
		if !m.links[[2]merge.InstanceID{n.id, id}] {
			continue
		}
		delete(m.links, [2]merge.InstanceID{n.id, id})
		delete(m.links, [2]merge.InstanceID{id, n.id})
		n.engine.Disconnected(id)
		m.nodes[id].engine.Disconnected(n.id)
	}
}

// write makes an ordinary local write of a memory item.
func (m *mesh) write(n *node, id, text string) {
	m.t.Helper()
	m.writeKey(n, merge.Key{Kind: "memory", ID: merge.ID(id)}, text)
}

func (m *mesh) writeKey(n *node, key merge.Key, text string) {
	m.t.Helper()
	m.writeVersion(n, key, text, false)
}

func (m *mesh) writeVersion(n *node, key merge.Key, text string, deleted bool) {
	m.t.Helper()
	n.writes++
	err := n.store.Write(context.Background(), key.String(), func(r *store.Reader) ([]merge.Record, error) {
		held, err := r.Held(key)
		if err != nil {
			return nil, err
		}
		stamp, err := n.store.Clock().Now()
		if err != nil {
			return nil, err
		}
		written, err := sealVersion(n.id, key, versions(held), stamp, text, deleted)
		return []merge.Record{written}, err
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

func versions(held []store.Held) []merge.Version {
	var vs []merge.Version
	for _, h := range held {
		vs = append(vs, h.Version)
	}
	return vs
}

func sealWrite(writer merge.InstanceID, key merge.Key, held []merge.Version, stamp hlc.Timestamp, text string) (merge.Record, error) {
	return sealVersion(writer, key, held, stamp, text, false)
}

func sealVersion(writer merge.InstanceID, key merge.Key, held []merge.Version, stamp hlc.Timestamp, text string, deleted bool) (merge.Record, error) {
	basis, version := merge.Supersede(held, nil, writer, stamp)
	return merge.Seal(merge.Record{
		Key: key, Basis: basis, Body: []byte(text),
		Envelope: merge.Envelope{SyncVersion: version, OriginInstanceID: writer, UpdatedHLC: stamp, LastWriterID: writer, Deleted: deleted},
	}, merge.Unsigned, nil)
}

// settle delivers messages until none is left, then lets time pass, for the
// given number of heartbeats.
func (m *mesh) settle(heartbeats int) {
	m.t.Helper()
	m.pass(time.Duration(heartbeats) * fleetsync.HeartbeatDefault)
}

// pass is settle for a duration.
func (m *mesh) pass(d time.Duration) {
	m.t.Helper()
	end := m.now.Add(d)
	for m.now.Before(end) {
		m.drain()
		m.now = m.now.Add(250 * time.Millisecond)
		for _, id := range m.order {
			m.nodes[id].engine.Tick(m.now)
		}
	}
	m.drain()
}

func (m *mesh) drain() {
	m.t.Helper()
	for range 100_000 {
		for _, id := range m.order {
			m.carryOut(m.nodes[id])
		}
		if len(m.queue) == 0 {
			return
		}
		d := m.queue[0]
		m.queue = m.queue[1:]
		if !m.links[[2]merge.InstanceID{d.from, d.to}] || (m.lose != nil && m.lose(d)) {
			continue
		}
		if d.gossip != nil {
			m.nodes[d.to].engine.Gossip(d.from, *d.gossip)
			continue
		}
		m.nodes[d.to].engine.Receive(d.from, d.message)
	}
	m.t.Fatalf("the mesh does not come to rest; the last messages:\n%v", m.log[max(0, len(m.log)-20):])
}

// carryOut does what a driver does with an outbox, until it is empty.
func (m *mesh) carryOut(n *node) {
	m.t.Helper()
	for {
		out := n.engine.Drain()
		if len(out.Send)+len(out.Answer)+len(out.Publish)+len(out.Verify)+len(out.Apply)+len(out.Blame) == 0 {
			return
		}
		for _, a := range out.Answer {
			reply := a.Read()
			out.Send = append(out.Send, fleetsync.Send{To: a.To, Message: reply.Message})
			n.engine.Answered(a, reply)
		}
		for _, b := range out.Blame {
			if m.blame != nil {
				m.blame(n, b)
				continue
			}
			m.t.Errorf("%s blames %s: %v", n.id, b.Peer, b.Err)
		}
		for _, s := range out.Send {
			m.log = append(m.log, fmt.Sprintf("%s > %s %T", n.id, s.To, s.Message))
			m.queue = append(m.queue, delivery{from: n.id, to: s.To, message: s.Message})
		}
		for _, v := range out.Verify {
			ok := make([]bool, len(v.Records))
			for i := range ok {
				ok[i] = true
			}
			n.engine.Verified(v, ok)
		}
		for _, p := range out.Publish {
			m.publish(n, p)
		}
		for _, a := range out.Apply {
			m.applyBatch(n, a)
		}
	}
}

func (m *mesh) publish(n *node, p fleetsync.Publish) {
	m.t.Helper()
	batch, err := fleetsync.DecodeGossip(p.Data, merge.FleetID{}, func(kind string, _ bool) string { return kind })
	if err != nil {
		m.t.Fatal(err)
	}
	for _, id := range m.order {
		if m.links[[2]merge.InstanceID{n.id, id}] {
			m.queue = append(m.queue, delivery{from: n.id, to: id, gossip: &batch})
		}
	}
}

func (m *mesh) applyBatch(n *node, a fleetsync.ApplyBatch) {
	m.t.Helper()
	if m.fail != nil {
		if err := m.fail(n, &a); err != nil {
			n.engine.Applied(a.ID, store.Result{}, err)
			return
		}
	}
	if a.Chunk != nil {
		_, err := n.store.AddChunk(context.Background(), *a.Chunk)
		n.engine.Applied(a.ID, store.Result{}, err)
		return
	}
	if a.Reconsider {
		res, err := n.store.Reconsider(context.Background(), fleetsync.Judging(n.gate))
		n.engine.Applied(a.ID, res, err)
		return
	}
	res, err := n.store.Merge(context.Background(), a.Batch)
	n.engine.Applied(a.ID, res, err)
}

// wantEqual fails unless all nodes hold the same number of the same versions.
func (m *mesh) wantEqual(count int64) {
	m.t.Helper()
	section := merge.Section{Family: "memory"}
	first := m.nodes[m.order[0]].store.State(section)
	for _, id := range m.order {
		s := m.nodes[id].store.State(section)
		if s.Sum != first.Sum || s.Count != count {
			m.t.Errorf("%s holds %d versions with the sum %x, want %d and %x", id, s.Count, s.Sum.Bytes(), count, first.Sum.Bytes())
		}
		for _, p := range m.nodes[id].engine.Peers() {
			if !p.InSync {
				m.t.Errorf("%s does not know that it is in sync with %s: %+v", id, p.ID, p)
			}
		}
	}
}
