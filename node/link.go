package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// link is the outbound stream to one connected member, and what waits for it.
// A link exists while the member is connected.
type link struct {
	links  *links
	peer   peer.ID
	queue  outgoing
	cancel context.CancelFunc
	// post hands an input to the engine, also when the link has ended.
	post func(input)

	conn    atomic.Pointer[network.Conn] // that of the open stream; nil between streams
	inbound atomic.Int32                 // streams that the peer has opened
}

// run keeps a stream open until ctx ends.
func (k *link) run(ctx context.Context) {
	pause := linkRetryMin
	for ctx.Err() == nil {
		s, err := k.open(ctx)
		if err == nil {
			began := time.Now()
			err = k.use(ctx, s)
			if time.Since(began) > linkRetryMax {
				pause = linkRetryMin
			}
		}
		wait := jitter(pause)
		if isUnsupported(err) {
			k.links.setIncompatible(k.peer, fmt.Sprintf("it does not speak %s: one of both is too old", SyncProtocol))
			wait = incompatibleRetry
		}
		pause = min(2*pause, linkRetryMax)
		if !sleep(ctx, wait) {
			return
		}
	}
}

func (k *link) open(ctx context.Context) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	return k.links.host.NewStream(network.WithNoDial(ctx, "link"), k.peer, SyncProtocol)
}

// use sends on an open stream until it breaks.
func (k *link) use(ctx context.Context, s network.Stream) error {
	defer s.Reset() //nolint:errcheck // it is over either way
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id := merge.InstanceID(k.peer)
	k.queue.drain() // the engine begins anew
	conn := s.Conn()
	k.conn.Store(&conn)
	defer k.conn.Store(nil)
	k.links.setIncompatible(k.peer, "")
	k.post(func(e *fleetsync.Engine) { e.Connected(id) })
	defer k.post(func(e *fleetsync.Engine) { e.Disconnected(id) })
	k.links.linked(k.peer)
	// The peer never writes here: a read ends when it resets the stream.
	watch := make(chan error, 1)
	k.links.handlers.spawn(func() {
		_, err := io.Copy(io.Discard, io.LimitReader(s, 1))
		cancel()
		watch <- err
	})
	err := writeFrames(ctx, s, k.links.codec, k.queue, func(a fleetsync.Answer, reply fleetsync.Reply) {
		k.post(func(e *fleetsync.Engine) { e.Answered(a, reply) })
	})
	_ = s.Reset() // ends the watch
	if failed := <-watch; isUnsupported(failed) {
		return failed
	}
	return err
}

// isUnsupported reports whether a peer said that it does not know a protocol.
func isUnsupported(err error) bool {
	var unsupported multistream.ErrNotSupported[protocol.ID]
	return errors.As(err, &unsupported)
}

// jitter returns d changed by up to a quarter, so that two sides, or many, do
// not act at once again and again.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1) //nolint:gosec // spread, not secrecy
}

// sleep waits; it returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
