package sync_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// content returns content of a size that no two seeds share.
func content(seed byte, size int) []byte {
	c := bytes.Repeat([]byte{seed}, size)
	c[size-1]++
	return c
}

func refTo(content []byte) merge.BlobRef {
	return merge.BlobRef{Hash: sha256.Sum256(content), Size: int64(len(content))}
}

// refer merges a version that refers to contents, and stores those when the node
// is to have them.
func (m *mesh) refer(n *node, key merge.Key, here bool, contents ...[]byte) {
	m.t.Helper()
	var refs []merge.BlobRef
	for _, c := range contents {
		refs = append(refs, refTo(c))
		if here {
			_, release, err := n.store.PutBlob(m.t.Context(), c)
			if err != nil {
				m.t.Fatal(err)
			}
			defer release()
		}
	}
	stamp, err := n.store.Clock().Now()
	if err != nil {
		m.t.Fatal(err)
	}
	rec := sealedAt(m.t, n.id, key, stamp, refs...)
	if _, err := n.store.Merge(m.t.Context(), store.Batch{Path: store.PathRestore, Records: []merge.Record{rec}}); err != nil {
		m.t.Fatal(err)
	}
}

// sealed is a version by nobody that the mesh has, which refers to blobs.
func sealed(tb testing.TB, writer merge.InstanceID, key merge.Key, refs ...merge.BlobRef) merge.Record {
	tb.Helper()
	return sealedAt(tb, writer, key, hlc.Timestamp{Wall: 1_790_000_000_000}, refs...)
}

func sealedAt(tb testing.TB, writer merge.InstanceID, key merge.Key, stamp hlc.Timestamp, refs ...merge.BlobRef) merge.Record {
	tb.Helper()
	basis, version := merge.Supersede(nil, nil, writer, stamp)
	rec, err := merge.Seal(merge.Record{
		Key: key, Basis: basis, Body: []byte("text"), Blobs: refs,
		Envelope: merge.Envelope{SyncVersion: version, OriginInstanceID: writer, UpdatedHLC: stamp, LastWriterID: writer},
	}, merge.Unsigned, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return rec
}

// wantContent reads content at a node.
func (m *mesh) wantContent(n *node, content []byte, want error) {
	m.t.Helper()
	err := n.store.View(func(r *store.Reader) error {
		got, err := r.Blob(refTo(content).Hash)
		if !errors.Is(err, want) || err == nil && !bytes.Equal(got, content) {
			m.t.Errorf("%s reads %d of %d bytes, %v; want %v", n.id, len(got), len(content), err, want)
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// asked counts the messages of a type that a node has sent to another.
func (m *mesh) asked(line string) (n int) {
	for _, l := range m.log {
		if l == line {
			n++
		}
	}
	return n
}

func memoryKeyOf(id string) merge.Key { return merge.Key{Kind: "memory", ID: merge.ID(id)} }

func TestBlobsFollowTheirRecords(t *testing.T) {
	t.Parallel()
	m := newMesh(t, false)
	a, b, c := m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
	m.connect("a", "b")
	m.connect("b", "c")
	long, short, last := content(1, 3*store.ChunkBytes+1), content(2, 1), content(3, store.ChunkBytes)
	m.refer(a, memoryKeyOf("1"), true, long, short)
	m.refer(a, memoryKeyOf("2"), true, last, short)
	m.settle(6)
	for _, n := range []*node{b, c} {
		for _, content := range [][]byte{long, short, last} {
			m.wantContent(n, content, nil)
		}
		if err := n.store.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if got := n.engine.Counters().Blobs; got != 3 {
			t.Errorf("%s counts %d blobs, want 3", n.id, got)
		}
	}
}

// TestBlobsWithoutTheirOrigin is case 30: the record arrives, its origin dies
// before the content, and comes back next day.
func TestBlobsWithoutTheirOrigin(t *testing.T) {
	t.Parallel()
	m := newMesh(t, false)
	a, b, c := m.add("a", openly{}), m.add("b", openly{}), m.add("c", openly{})
	m.connect("a", "b")
	m.connect("b", "c")
	content := content(1, 2*store.ChunkBytes+1)
	m.refer(a, memoryKeyOf("1"), true, content)
	blobs := 0
	m.lose = func(d delivery) bool { // all but the first chunk, in its two halves
		_, isBlob := d.message.(*fleetsync.Blob)
		if isBlob {
			blobs++
		}
		return isBlob && blobs > 2
	}
	m.settle(1)
	m.isolate(a)
	m.lose = nil
	m.reopen(b)
	m.links = map[[2]merge.InstanceID]bool{}
	c.engine.Disconnected("b")
	m.connect("b", "c")
	m.settle(8_640) // a day
	for _, n := range []*node{b, c} {
		m.wantContent(n, content, store.ErrIncomplete)
	}
	if got := m.asked("b > c *sync.BlobGet"); got < 2 || got > 6_000 {
		t.Errorf("b asked c %d times for what c does not have", got)
	}
	before := m.asked("b > a *sync.BlobGet")
	m.connect("a", "b")
	m.settle(3)
	for _, n := range []*node{b, c} {
		m.wantContent(n, content, nil)
	}
	if got := m.asked("b > a *sync.BlobGet") - before; got > 3 {
		t.Errorf("b asked %d times for two chunks of three", got)
	}
}

// TestBlobsFromAnyHolder: the one that is asked first does not have it.
func TestBlobsFromAnyHolder(t *testing.T) {
	t.Parallel()
	m := newMesh(t, false)
	contents := [][]byte{content(1, 40), content(2, 40), content(3, 40)}
	nodes := map[merge.InstanceID]*node{}
	for _, id := range []merge.InstanceID{"a", "b", "c", "d"} {
		nodes[id] = m.add(id, openly{})
	}
	m.refer(nodes["a"], memoryKeyOf("1"), false, contents...)
	for i, id := range []merge.InstanceID{"a", "b", "c"} {
		m.refer(nodes[id], memoryKeyOf("of "+string(id)), true, contents[i])
		m.connect("d", id)
	}
	m.settle(4)
	for _, content := range contents {
		m.wantContent(nodes["d"], content, nil)
	}
}

// TestBlobsOfSectionsThatAreNotShared: a reference from a section that stays here
// makes nothing known of the content.
func TestBlobsOfSectionsThatAreNotShared(t *testing.T) {
	t.Parallel()
	m := newMesh(t, false)
	a, b := m.add("a", openly{}), m.add("b", openly{})
	secret, skill := content(1, 40), content(2, 40)
	m.refer(a, merge.Key{Kind: "session.turn", ID: merge.NewID("s", "1")}, true, secret)
	m.refer(a, merge.Key{Kind: "skill", ID: "s"}, true, skill)
	m.refer(b, memoryKeyOf("1"), false, secret, skill)
	m.connect("a", "b")
	m.settle(4)
	// a has taken over b's record, which refers to both; before that neither is
	// served by the section.
	m.wantContent(b, secret, nil)
	answer := func(section string, c []byte) *fleetsync.Blob {
		t.Helper()
		hash := refTo(c).Hash
		a.engine.Receive("b", &fleetsync.BlobGet{ID: 1, Section: section, Hash: hash[:]})
		for _, ans := range a.engine.Drain().Answer {
			reply := ans.Read()
			a.engine.Answered(ans, reply)
			if blob, ok := reply.Message.(*fleetsync.Blob); ok {
				return blob
			}
		}
		return nil
	}
	if got := answer("session\x1f\x1f\x1f", secret); got != nil {
		t.Error("content of a section that is not shared was answered")
	}
	if got := answer("skill\x1f\x1f\x1f", secret); got == nil || got.Size != 0 {
		t.Errorf("content that no skill refers to was answered by %+v", got)
	}
	if got := answer("skill\x1f\x1f\x1f", skill); got == nil || !bytes.Equal(got.Bytes, skill) {
		t.Errorf("content that a skill refers to was answered by %+v", got)
	}
}

// fetchFrom connects a peer that answers for blobs as it is told, and reports
// whether it was blamed.
func fetchFrom(t *testing.T, m *mesh, n *node, from merge.InstanceID, answers ...func(get *fleetsync.BlobGet) fleetsync.Message) (blamed bool) {
	t.Helper()
	n.engine.Connected(from)
	n.engine.Receive(from, &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1, Heads: fleetsync.Heads{Salt: make([]byte, 8)},
	})
	for range 200 {
		out := n.engine.Drain()
		for _, b := range out.Blame {
			blamed = blamed || b.Peer == from
		}
		for _, a := range out.Apply {
			m.applyBatch(n, a)
		}
		for _, s := range out.Send {
			if get, ok := s.Message.(*fleetsync.BlobGet); ok && len(answers) > 0 {
				n.engine.Receive(from, answers[0](get))
				answers = answers[1:]
			}
		}
		m.now = m.now.Add(250 * time.Millisecond)
		n.engine.Tick(m.now)
		for _, g := range n.engine.Load() {
			if g.N > g.Max {
				t.Errorf("%s: %d of %d", g.Name, g.N, g.Max)
			}
		}
	}
	n.engine.Disconnected(from)
	return blamed
}

func TestBlobsThatAreWrong(t *testing.T) {
	t.Parallel()
	right, wrong := content(1, store.ChunkBytes+7), content(2, store.ChunkBytes+7)
	part := func(c []byte) func(*fleetsync.BlobGet) fleetsync.Message {
		return func(get *fleetsync.BlobGet) fleetsync.Message {
			chunk := (int(get.Offset)/store.ChunkBytes + 1) * store.ChunkBytes
			return &fleetsync.Blob{ID: get.ID, Size: uint64(len(c)), Bytes: c[get.Offset:min(chunk, len(c))]}
		}
	}
	say := func(b fleetsync.Blob) func(*fleetsync.BlobGet) fleetsync.Message {
		return func(get *fleetsync.BlobGet) fleetsync.Message {
			b.ID = get.ID
			return &b
		}
	}
	busy := func(get *fleetsync.BlobGet) fleetsync.Message { return &fleetsync.Busy{ID: get.ID, Retry: 1} }
	refused := func(get *fleetsync.BlobGet) fleetsync.Message {
		return &fleetsync.Error{ID: get.ID, Code: fleetsync.CodeUnsupported}
	}
	lie := content(3, 2*store.ChunkBytes)
	type answers = []func(*fleetsync.BlobGet) fleetsync.Message
	for name, c := range map[string]struct {
		first, second answers // of two peers, one after the other
		blame         [2]bool
		complete      bool
	}{
		"all of one peer":              {first: answers{part(wrong), part(wrong)}, blame: [2]bool{true, false}},
		"begun by another":             {first: answers{part(wrong)}, second: answers{part(right)}},
		"the right ones after":         {first: answers{part(wrong)}, second: answers{part(right), part(right), part(right)}, complete: true},
		"right but for the size":       {first: answers{part(lie)}, second: answers{say(fleetsync.Blob{Size: uint64(len(right))}), part(right), part(right)}, complete: true},
		"another size in between":      {first: answers{part(lie), say(fleetsync.Blob{Size: 7})}, blame: [2]bool{true, false}},
		"no bytes of a size":           {first: answers{say(fleetsync.Blob{Size: 7})}, blame: [2]bool{true, false}},
		"more than was asked":          {first: answers{part(right), say(fleetsync.Blob{Size: uint64(len(right)), Bytes: right[:8]})}, blame: [2]bool{true, false}},
		"busy, then right":             {first: answers{busy, part(right), part(right)}, complete: true},
		"refused":                      {first: answers{refused}, second: answers{part(right), part(right)}, complete: true},
		"silent":                       {second: answers{part(right), part(right)}, complete: true},
		"in parts, by two who are one": {first: answers{part(right)}, second: answers{part(right)}, complete: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, false)
			n := m.add("n", openly{})
			m.refer(n, memoryKeyOf("1"), false, right)
			for i, a := range []answers{c.first, c.second} {
				if got := fetchFrom(t, m, n, merge.InstanceID([]string{"x", "y"}[i]), a...); got != c.blame[i] {
					t.Errorf("peer %d was blamed: %t, want %t", i, got, c.blame[i])
				}
			}
			want := store.ErrIncomplete
			if c.complete {
				want = nil
			}
			m.wantContent(n, right, want)
			if err := n.store.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
