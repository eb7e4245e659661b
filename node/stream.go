package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
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

// outgoing is what waits for a peer.
type outgoing struct {
	messages chan fleetsync.Message
	// answers are to requests, and are read from the store when their turn comes.
	// So a peer that asks much costs this node no faster than it takes what it
	// gets, and few pages at a time.
	answers chan fleetsync.Answer
}

func newOutgoing() outgoing {
	return outgoing{messages: make(chan fleetsync.Message, sendQueueMax), answers: make(chan fleetsync.Answer, sendQueueMax)}
}

// drain forgets what waits.
func (o outgoing) drain() {
	for {
		select {
		case <-o.messages:
		case <-o.answers:
		default:
			return
		}
	}
}

// prepared is an answer that was read.
type prepared struct {
	answer fleetsync.Answer
	reply  fleetsync.Reply
	frame  []byte // nil when it does not fit one
}

// writeFrames sends what is queued for a peer until ctx ends or the stream
// breaks. Answers are read and compressed beside each other, while one is sent.
// answered is told of each answer that was sent.
func writeFrames(ctx context.Context, s network.Stream, codec *fleetsync.Codec, queue outgoing, answered func(fleetsync.Answer, fleetsync.Reply)) error {
	ctx, cancel := context.WithCancel(ctx)
	var preparing sync.WaitGroup
	defer preparing.Wait()
	defer cancel()
	ready := make(chan prepared)
	for range answersPreparedMax {
		preparing.Go(func() { prepare(ctx, codec, queue.answers, ready) })
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-queue.messages:
			if err := writeFrame(s, encode(codec, m)); err != nil {
				return err
			}
		case p := <-ready:
			if err := writeFrame(s, p.frame); err != nil {
				return err
			}
			answered(p.answer, p.reply)
		}
	}
}

// prepare reads answers until ctx ends, each when the one before was taken.
func prepare(ctx context.Context, codec *fleetsync.Codec, answers <-chan fleetsync.Answer, ready chan<- prepared) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-answers:
			p := prepared{answer: a, reply: a.Read()}
			p.frame = encode(codec, p.reply.Message)
			select {
			case <-ctx.Done():
				return
			case ready <- p:
			}
		}
	}
}

// encode returns nothing for a message that does not fit a frame: that is of our
// own making, and the requester asks again when it times out.
func encode(codec *fleetsync.Codec, m fleetsync.Message) []byte {
	frame, err := codec.Encode(m)
	if err != nil {
		return nil
	}
	return frame
}

func writeFrame(s network.Stream, frame []byte) error {
	if frame == nil {
		return nil
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
