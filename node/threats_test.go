package node_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"google.golang.org/protobuf/proto"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// What members may do to each other over the real network, by the rows of the
// design's list of threats that no other test has.

// TestThreatAMillionSubscriptions has a member name a million topics: what a
// node keeps of them is bounded, and it serves the others all the same.
func TestThreatAMillionSubscriptions(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b, c := f.join(a, "b"), f.join(a, "c")
	f.converge(a, b, c)
	h := b.impostor(a)
	s, err := h.NewStream(t.Context(), a.addrInfo().ID, pubsub.GossipSubID_v12)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset() //nolint:errcheck // it is over
	before := heapBytes()
	const rpcs, each = 100, 10_000
	for i := range rpcs {
		rpc := &pb.RPC{}
		for j := range each {
			name, yes := fmt.Sprintf("topic %d of %d that nobody else is in", j, i), true
			rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &name, Subscribe: &yes})
		}
		data, err := proto.Marshal(rpc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...)); err != nil {
			break // it is turned out, which is as good
		}
	}
	c.remember("by others, in between")
	f.converge(a, c)
	// A hundred bytes for each would be a hundred megabytes.
	if grown := int64(heapBytes()) - int64(before); grown > 50<<20 {
		t.Errorf("a million subscriptions take %d MiB", grown>>20)
	}
}

// heapBytes is what the process holds once nothing is left over.
func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestThreatBadSignatures has a member gossip records that nobody signed, as
// fast as it can: what honest members write arrives all the same, and the member
// is soon not heard any more.
func TestThreatBadSignatures(t *testing.T) {
	f := newFixture(t, nil)
	a := f.found("a")
	b, c := f.join(a, "b"), f.join(a, "c")
	f.converge(a, b, c)
	h := b.impostor(a)
	topic := newForger(t, h, a.Fleet(), a.addrInfo().ID)
	const forgeries = 10_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range forgeries {
			data, err := merge.Marshal(fleetsync.Gossip{
				Fleet: fleetBytes(a.Fleet()), Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: unsigned(t, b, i)}},
			})
			if err != nil || topic.Publish(t.Context(), data) != nil {
				return
			}
		}
	}()
	for i := range 20 {
		c.remember(fmt.Sprintf("honest %d", i))
	}
	f.converge(a, c)
	<-done
	// Whoever sends a few is heard no more for a while: so most were never looked
	// at.
	status, err := a.Status(t.Context())
	if n := status.Counters.GossipRejected; err != nil || n == 0 || n > forgeries/10 {
		t.Errorf("the signatures of %d of %d forgeries were checked, %v", n, forgeries, err)
	}
}

// unsigned is a record of a member whose signature is not one.
func unsigned(t *testing.T, m *member, n int) []byte {
	t.Helper()
	stamp := hlc.Timestamp{Wall: time.Now().UnixMilli()}
	rec, err := merge.Seal(merge.Record{
		Fleet: m.Fleet(), Key: merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("forged-%d", n))},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: m.ID(), LastWriterID: m.ID(), UpdatedHLC: stamp},
		Basis:    merge.Basis{}.With(m.ID(), stamp), Body: []byte{0xa0},
	}, merge.Ed25519, func([]byte) ([]byte, error) { return make([]byte, 64), nil })
	if err != nil {
		t.Error(err)
	}
	return rec.Encode()
}
