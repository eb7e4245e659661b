package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// SyncProtocol is the protocol of replication. An incompatible change gets
// another number.
const SyncProtocol protocol.ID = "/fleet/sync/1.0.0"

// readerBytes is the buffer of an inbound stream; larger frames bypass it.
const readerBytes = 16 << 10

// readFrames hands the messages of a stream to the engine until it ends. A
// message of a later version is skipped. Errors: those of the frames, and of
// the stream.
func readFrames(ctx context.Context, s network.Stream, codec *fleetsync.Codec, l *loop) error {
	from := merge.InstanceID(s.Conn().RemotePeer())
	r := bufio.NewReaderSize(s, readerBytes)
	for {
		frame, err := nextFrame(s, r)
		if err != nil {
			return err
		}
		m, err := codec.Decode(frame)
		if errors.Is(err, fleetsync.ErrUnknownMessage) {
			continue
		}
		if err != nil {
			return err
		}
		if err := l.receive(ctx, from, m); err != nil {
			return err
		}
	}
}

// nextFrame waits for a frame as long as it takes, and then for its end as
// long as one may take.
func nextFrame(s network.Stream, r *bufio.Reader) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, fmt.Errorf("node: stream: %w", err)
	}
	if err := s.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
		return nil, fmt.Errorf("node: stream: %w", err)
	}
	frame, err := fleetsync.ReadFrame(r)
	if err != nil {
		return nil, err
	}
	if err := s.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("node: stream: %w", err)
	}
	return frame, nil
}

// outgoing waits for a peer: a message, or the answer to a request, which is
// read from the store when its turn comes. So a peer that asks much costs this
// node no faster than it takes what it gets, and one page at a time.
type outgoing struct {
	message fleetsync.Message // nil for an answer
	answer  fleetsync.Answer
}

// writeFrames sends what is queued for a peer until ctx ends or the stream
// breaks. answered is told of each answer that was sent.
func writeFrames(ctx context.Context, s network.Stream, codec *fleetsync.Codec, queue <-chan outgoing, answered func(fleetsync.Answer, fleetsync.Reply)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case out := <-queue:
			if out.message != nil {
				if err := writeFrame(s, codec, out.message); err != nil {
					return err
				}
				continue
			}
			reply := out.answer.Read()
			if err := writeFrame(s, codec, reply.Message); err != nil {
				return err
			}
			answered(out.answer, reply)
		}
	}
}

func writeFrame(s network.Stream, codec *fleetsync.Codec, m fleetsync.Message) error {
	frame, err := codec.Encode(m)
	if err != nil {
		return nil //nolint:nilerr // of our own making: the requester asks again when it times out
	}
	if err := s.SetWriteDeadline(time.Now().Add(frameTimeout)); err != nil {
		return fmt.Errorf("node: stream: %w", err)
	}
	if _, err := s.Write(frame); err != nil {
		return fmt.Errorf("node: stream: %w", err)
	}
	return nil
}

// readBounded reads a stream to its end, at most limit bytes of it.
func readBounded(s network.Stream, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s, limit+1))
	if err != nil {
		return nil, fmt.Errorf("node: stream: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", fleetsync.ErrTooLarge, limit)
	}
	return b, nil
}

// peerOf returns the peer that an instance is on the network.
func peerOf(id merge.InstanceID) peer.ID { return peer.ID(id) }
