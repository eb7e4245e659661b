package sync

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/fleetsync/fleetd/merge"
)

// flagZstd marks a payload that is one zstd frame.
const flagZstd = 1

var (
	// ErrMalformed is returned for bytes that are not a message of the
	// protocol.
	ErrMalformed = errors.New("sync: malformed")
	// ErrTooLarge is returned for a message beyond its limits.
	ErrTooLarge = errors.New("sync: too large")
	// ErrUnknownMessage is returned for a message type of a later version: it
	// is skipped, never fatal.
	ErrUnknownMessage = errors.New("sync: unknown message")
)

// Codec turns messages into frames and back: uvarint length, type byte, flags
// byte, canonical CBOR, compressed when that is shorter. It is safe for
// concurrent use.
type Codec struct {
	deflate *zstd.Encoder
	inflate *zstd.Decoder
}

// NewCodec returns a codec whose decoder never holds more than the inflated
// limit of a frame.
func NewCodec() (*Codec, error) {
	deflate, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(deflatersMax), zstd.WithWindowSize(deflateWindowBytes))
	if err != nil {
		return nil, fmt.Errorf("sync: compressor: %w", err)
	}
	inflate, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(inflatedBytesMax), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("sync: decompressor: %w", err)
	}
	return &Codec{deflate: deflate, inflate: inflate}, nil
}

// Encode returns the frame of m. Errors: ErrTooLarge.
func (c *Codec) Encode(m Message) ([]byte, error) {
	payload, err := merge.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("sync: encode message %d: %w", m.Type(), err)
	}
	if len(payload) > inflatedBytesMax {
		return nil, fmt.Errorf("%w: message %d of %d bytes", ErrTooLarge, m.Type(), len(payload))
	}
	// The length stands before what it is the length of, and is not known yet.
	const head = binary.MaxVarintLen32 + 2
	frame := make([]byte, head, head+len(payload))
	var flags byte
	if len(payload) >= compressBytesMin {
		frame, flags = c.deflate.EncodeAll(payload, frame), flagZstd
	}
	if flags == 0 || len(frame) >= head+len(payload) {
		frame, flags = append(frame[:head], payload...), 0
	}
	size := len(frame) - binary.MaxVarintLen32
	if size > frameBytesMax {
		return nil, fmt.Errorf("%w: frame of %d bytes for message %d", ErrTooLarge, size, m.Type())
	}
	begin := binary.MaxVarintLen32 - len(binary.AppendUvarint(nil, uint64(size)))
	binary.PutUvarint(frame[begin:], uint64(size))
	frame[head-2], frame[head-1] = byte(m.Type()), flags
	return frame[begin:], nil
}

// Decode reads one whole frame without its length prefix. Errors:
// ErrMalformed, ErrTooLarge, ErrUnknownMessage.
func (c *Codec) Decode(frame []byte) (Message, error) {
	if len(frame) < 2 || len(frame) > frameBytesMax {
		return nil, fmt.Errorf("%w: frame of %d bytes", ErrMalformed, len(frame))
	}
	m := newMessage(MessageType(frame[0]))
	if m == nil {
		return nil, fmt.Errorf("%w: type %d", ErrUnknownMessage, frame[0])
	}
	payload := frame[2:]
	switch frame[1] {
	case 0:
	case flagZstd:
		inflated, err := c.inflate.DecodeAll(payload, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: inflate: %w", ErrMalformed, err)
		}
		payload = inflated
	default:
		return nil, fmt.Errorf("%w: flags %#x", ErrMalformed, frame[1])
	}
	if err := merge.Unmarshal(payload, m); err != nil {
		return nil, fmt.Errorf("%w: message %d: %w", ErrMalformed, frame[0], err)
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// FrameReader is what ReadFrame reads from.
type FrameReader interface {
	io.Reader
	io.ByteReader
}

// ReadFrame reads the length prefix and returns the frame behind it, without
// the prefix. It allocates nothing before the length was checked. Errors:
// io.EOF between frames, ErrTooLarge, ErrMalformed, and those of r.
func ReadFrame(r FrameReader) ([]byte, error) {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if size < 2 {
		return nil, fmt.Errorf("%w: frame of %d bytes", ErrMalformed, size)
	}
	if size > frameBytesMax {
		return nil, fmt.Errorf("%w: frame of %d bytes", ErrTooLarge, size)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, fmt.Errorf("sync: frame ends early: %w", err)
	}
	return frame, nil
}

// newMessage returns an empty message of a type, nil for an unknown one.
func newMessage(t MessageType) Message {
	switch t {
	case TypeHello:
		return &Hello{}
	case TypeHelloAck:
		return &HelloAck{}
	case TypeHeartbeat:
		return &Heartbeat{}
	case TypeBusy:
		return &Busy{}
	case TypeError:
		return &Error{}
	case TypeBye:
		return &Bye{}
	default:
		return newExchanged(t)
	}
}

// newExchanged is newMessage for requests and their answers.
func newExchanged(t MessageType) Message {
	switch t {
	case TypeChanges:
		return &Changes{}
	case TypeChangesPage:
		return &ChangesPage{}
	case TypeCursorInvalid:
		return &CursorInvalid{}
	case TypeGet:
		return &Get{}
	case TypeRecords:
		return &Records{}
	case TypeRecon:
		return &Recon{}
	case TypeReconAnswer:
		return &ReconAnswer{}
	case TypePageReq:
		return &PageReq{}
	case TypePage:
		return &Page{}
	case TypeBlobGet, TypeBlob:
		return newBlobMessage(t)
	default:
		return nil
	}
}
