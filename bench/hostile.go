package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

const (
	// hostileWrites is how many honest writes are timed, quiet and under attack.
	hostileWrites = 300
	// hostileRate is how many records with bad signatures are sent a second.
	hostileRate = 10_000
)

// hostile measures how long a write of one member takes to the next, while a
// third one sends the latter records that nobody signed.
func hostile(dir string) (rows []row, err error) {
	ctx := context.Background()
	a, err := founder(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.end()) }()
	dirB, err := joiner(ctx, a, dir, "b")
	if err != nil {
		return nil, err
	}
	dirC, err := joiner(ctx, a, dir, "c")
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, dirC)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	if _, err := c.fill(ctx, 1); err != nil {
		return nil, err
	}
	if err := a.await(1); err != nil {
		return nil, err
	}
	quiet, err := travel(ctx, c, a)
	if err != nil {
		return nil, err
	}
	before := alive()
	f, err := newForger(ctx, dirB, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.host.Close()) }()
	flooding, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- f.flood(flooding) }()
	attacked, err := travel(ctx, c, a)
	grown := int64(alive()) - int64(before)
	sent := f.sent.Load()
	stop()
	if flooded := <-ended; err == nil && !errors.Is(flooded, context.Canceled) {
		err = flooded
	}
	if err != nil {
		return nil, err
	}
	status, err := a.Status(ctx)
	if err != nil {
		return nil, err
	}
	us := func(d time.Duration) float64 { return float64(d.Microseconds()) }
	return []row{
		{name: "a write to the next member, p50", value: us(quiet.at(50)), unit: "us"},
		{name: "the same, p99", value: us(quiet.at(99)), unit: "us"},
		{name: "under records with bad signatures, p50", value: us(attacked.at(50)), unit: "us", ratio: us(attacked.at(50)) / us(quiet.at(50)), versus: "quiet"},
		{name: "the same, p99", value: us(attacked.at(99)), unit: "us", ratio: us(attacked.at(99)) / us(quiet.at(99)), versus: "quiet"},
		{name: "bad signatures sent", value: float64(sent), unit: "records"},
		{name: "of them checked before their sender was heard no more", value: float64(status.Counters.GossipRejected), unit: "records"},
		{name: "memory that the attack takes", value: float64(max(grown, 0)) / (1 << 10), unit: "KiB"},
	}, nil
}

func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// times are ascending.
type times []time.Duration

func (t times) at(percent int) time.Duration { return t[min(len(t)*percent/100, len(t)-1)] }

// travel times writes on one node until another can read them.
func travel(ctx context.Context, from, to *running) (times, error) {
	all := make(times, 0, hostileWrites)
	for i := range hostileWrites {
		began := time.Now()
		item, err := from.State().Memory().Write(ctx, state.MemoryItem{Kind: "fact", Content: fmt.Sprint("honest ", i)})
		if err != nil {
			return nil, err
		}
		for {
			if _, err := to.State().MemoryLibrary().Get(ctx, item.ID); err == nil {
				break
			} else if !errors.Is(err, state.ErrNotFound) {
				return nil, err
			}
			if time.Since(began) > time.Minute {
				return nil, errors.New("a write has not come after a minute")
			}
			time.Sleep(100 * time.Microsecond)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all, nil
}

// forger is a member that gossips what nobody signed.
type forger struct {
	host  host.Host
	key   fleet.Identity
	fleet merge.FleetID
	topic *pubsub.Topic
	sent  atomic.Int64
}

func newForger(ctx context.Context, dir string, victim *running) (*forger, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "identity.key"))
	if err != nil {
		return nil, err
	}
	key, err := fleet.IdentityFromBytes(raw)
	if err != nil {
		return nil, err
	}
	f := &forger{key: key, fleet: victim.Fleet()}
	if f.host, err = libp2p.New(libp2p.Identity(key.PrivKey()), libp2p.NoListenAddrs); err != nil {
		return nil, err
	}
	return f, f.connect(ctx, victim)
}

// connect meets the victim and waits until it is in the topic.
func (f *forger) connect(ctx context.Context, victim *running) error {
	texts, err := victim.Addrs()
	if err != nil {
		return err
	}
	info := peer.AddrInfo{ID: peer.ID(victim.ID())}
	for _, text := range texts {
		addr, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return err
		}
		info.Addrs = append(info.Addrs, addr)
	}
	if err := f.host.Connect(ctx, info); err != nil {
		return err
	}
	router, err := pubsub.NewGossipSub(ctx, f.host,
		pubsub.WithFloodPublish(true), pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(func(m *pb.Message) string { return string(m.GetData()) }))
	if err != nil {
		return err
	}
	if f.topic, err = router.Join(fleetsync.Topic(f.fleet, "memory")); err != nil {
		return err
	}
	events, err := f.topic.EventHandler()
	if err != nil {
		return err
	}
	for {
		event, err := events.NextPeerEvent(ctx)
		if err != nil || event.Peer == info.ID && event.Type == pubsub.PeerJoin {
			return err
		}
	}
}

// flood sends records at hostileRate until ctx ends.
func (f *forger) flood(ctx context.Context) error {
	const every = 10 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		for range hostileRate * int(every) / int(time.Second) {
			data, err := f.forge()
			if err != nil {
				return err
			}
			if err := f.topic.Publish(ctx, data); err != nil {
				return err
			}
			f.sent.Add(1)
		}
	}
}

func (f *forger) forge() ([]byte, error) {
	stamp, id := hlc.Timestamp{Wall: time.Now().UnixMilli()}, f.key.ID()
	rec, err := merge.Seal(merge.Record{
		Fleet: f.fleet, Key: merge.Key{Kind: "memory", ID: merge.NewID(fmt.Sprintf("forged-%d", f.sent.Load()))},
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id, LastWriterID: id, UpdatedHLC: stamp},
		Basis:    merge.Basis{}.With(id, stamp), Body: []byte{0xa0},
	}, merge.Ed25519, func([]byte) ([]byte, error) { return make([]byte, 64), nil })
	if err != nil {
		return nil, err
	}
	id32 := f.fleet
	return merge.Marshal(fleetsync.Gossip{
		Fleet: id32[:], Events: []fleetsync.GossipEvent{{Type: state.EvMemoryWritten, Record: rec.Encode()}},
	})
}
