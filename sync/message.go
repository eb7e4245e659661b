package sync

import (
	"sort"

	"github.com/fleetsync/fleetd/merge"
)

// MessageType numbers the messages of /fleet/sync/1.0.0. Numbers are never
// reused.
type MessageType uint8

// The messages of version 1. Numbers 13, 16 and 17 are reserved.
const (
	TypeHello         MessageType = 1
	TypeHelloAck      MessageType = 2
	TypeHeartbeat     MessageType = 3
	TypeChanges       MessageType = 4
	TypeChangesPage   MessageType = 5
	TypeCursorInvalid MessageType = 6
	TypeGet           MessageType = 7
	TypeRecords       MessageType = 8
	TypeRecon         MessageType = 9
	TypeReconAnswer   MessageType = 10
	TypePageReq       MessageType = 11
	TypePage          MessageType = 12
	TypeBlobGet       MessageType = 14
	TypeBlob          MessageType = 15
	TypeBusy          MessageType = 18
	TypeError         MessageType = 19
	TypeBye           MessageType = 20
)

// Message is one message of the sync protocol. The concrete types are the
// structs of this file; all carry integer CBOR keys that are never reused, and
// new fields are optional and omitted when zero.
type Message interface {
	// Type returns the number of the message.
	Type() MessageType
	// validate checks the limits of what a peer sent.
	validate() error
}

// Heads is what one node says of its shared sections at one moment.
type Heads struct {
	// Salt enters every Root of this message; 8 random bytes.
	Salt []byte `cbor:"1,keyasint"`
	// Clock is the sender's newest stamp, packed.
	Clock uint64 `cbor:"2,keyasint"`
	// Sections are the heads, at most 1,024.
	Sections []SectionHead `cbor:"3,keyasint"`
	// Withheld are families of which the sender shares nothing.
	Withheld []string `cbor:"4,keyasint,omitempty"`
	// After and To bound the section ids that the list speaks of: those above
	// After, up to To. Empty means unbounded. Several messages speak of more
	// sections than one may list.
	After string `cbor:"5,keyasint,omitempty"`
	To    string `cbor:"6,keyasint,omitempty"`
	// Time is what the sender's own clock says, in milliseconds since 1970, so
	// that a wrong one can be named. Nothing is decided by it.
	Time uint64 `cbor:"7,keyasint,omitempty"`
	// WithheldSections, in an answer, are the ids of those sections of the message
	// that is answered which the sender does not share, of families of which it
	// shares others.
	WithheldSections []string `cbor:"8,keyasint,omitempty"`
}

// speaksOf reports whether a section lies within the bounds of the list.
func (h *Heads) speaksOf(s merge.Section) bool {
	if h.After == "" && h.To == "" {
		return true
	}
	id := s.ID()
	return id > h.After && (h.To == "" || id <= h.To)
}

// bounds returns the range of n ascending ids that lies within the bounds of
// the list.
func (h *Heads) bounds(n int, id func(int) string) (from, to int) {
	if h.After != "" {
		from = sort.Search(n, func(i int) bool { return id(i) > h.After })
	}
	if h.To == "" {
		return from, n
	}
	return from, max(from, sort.Search(n, func(i int) bool { return id(i) > h.To }))
}

// SectionHead is the state of one section: feed head, number of versions and
// salted root, read as one.
type SectionHead struct {
	_       struct{} `cbor:",toarray"`
	Section string   // merge.Section.ID
	Head    uint64   // newest sequence number of the sender's feed
	Count   uint64   // held versions
	Root    []byte   // 16 bytes, or empty while unknown
}

// Hello opens a connection, from both sides; it is repeated until answered.
type Hello struct {
	Fleet       []byte `cbor:"1,keyasint"` // 32 bytes
	Store       []byte `cbor:"2,keyasint"` // 16 bytes
	Incarnation uint64 `cbor:"3,keyasint"`
	Heads       Heads  `cbor:"4,keyasint"`
}

// HelloAck answers Hello with the same content.
type HelloAck struct {
	Hello
}

// Heartbeat compares heads. The answer has Echo set and lists only sections
// that differ: what it does not list of the sections that were sent is equal.
type Heartbeat struct {
	Heads Heads  `cbor:"1,keyasint"`
	Echo  []byte `cbor:"2,keyasint,omitempty"` // the Salt that is answered
	// Incarnation is the opening of the sender's store that the heads are of.
	// One that the receiver was not greeted with says nothing: it may be late.
	Incarnation uint64 `cbor:"3,keyasint,omitempty"`
}

// Changes asks for what came after a position of the responder's feed.
type Changes struct {
	ID          uint64 `cbor:"1,keyasint"`
	Section     string `cbor:"2,keyasint"`
	Incarnation uint64 `cbor:"3,keyasint"`
	After       uint64 `cbor:"4,keyasint"`           // sequence number; 0 lists everything that is held
	Inline      bool   `cbor:"5,keyasint,omitempty"` // send records instead of entries
	// Bytes is where the answer is full, if that is less than the responder's own
	// bound; 0 leaves it to the responder. One version is always answered.
	Bytes uint64 `cbor:"6,keyasint,omitempty"`
}

// ChangesPage answers Changes, in feed order.
type ChangesPage struct {
	ID      uint64   `cbor:"1,keyasint"`
	Entries []Entry  `cbor:"2,keyasint,omitempty"`
	Records [][]byte `cbor:"3,keyasint,omitempty"`
	Next    uint64   `cbor:"4,keyasint"` // position after this page
	Done    bool     `cbor:"5,keyasint,omitempty"`
	// Incarnation is the opening of the sender's store that Next is a place of.
	Incarnation uint64 `cbor:"6,keyasint,omitempty"`
}

// Entry announces one held version.
type Entry struct {
	_      struct{} `cbor:",toarray"`
	Order  []byte   // merge.Key.Order
	Writer merge.InstanceID
	Stamp  uint64
	Hash   []byte // item hash, 32 bytes
}

// CursorInvalid answers Changes when the position means nothing to the
// responder: the requester lists everything instead.
type CursorInvalid struct {
	ID     uint64 `cbor:"1,keyasint"`
	Reason string `cbor:"2,keyasint"`
	End    uint64 `cbor:"3,keyasint,omitempty"` // end of that incarnation, when known
}

// Get asks for records by key and writer, or, where many of a span are wanted,
// by their tags.
type Get struct {
	ID      uint64 `cbor:"1,keyasint"`
	Section string `cbor:"2,keyasint"`
	Refs    []Ref  `cbor:"3,keyasint"`
	Bytes   uint64 `cbor:"4,keyasint,omitempty"` // as that of Changes
	// Tags are those of the wanted versions, under Salt, by position, one after the
	// other; all lie after the position After and not after UpTo. Then Refs is empty.
	Salt  []byte `cbor:"5,keyasint,omitempty"`
	After []byte `cbor:"6,keyasint,omitempty"`
	UpTo  []byte `cbor:"7,keyasint,omitempty"`
	Tags  []byte `cbor:"8,keyasint,omitempty"`
}

// Ref names one writer's version of a key.
type Ref struct {
	_      struct{} `cbor:",toarray"`
	Order  []byte
	Writer merge.InstanceID
}

// position returns where the version stands in its section, before the place
// before all versions of its key.
func (r *Ref) position() []byte { return append(r.before(), r.Writer...) }

func (r *Ref) before() []byte { return append(append([]byte{}, r.Order...), 0, 0) }

// Records answers Get: the first Answered refs or tags, without those that are not
// held any more, since a later feed entry covers them.
type Records struct {
	ID       uint64   `cbor:"1,keyasint"`
	Answered uint64   `cbor:"2,keyasint"`
	Records  [][]byte `cbor:"3,keyasint"`
}

// PageReq asks for the held versions of a span of a section, by position.
type PageReq struct {
	ID      uint64 `cbor:"1,keyasint"`
	Section string `cbor:"2,keyasint"`
	After   []byte `cbor:"3,keyasint,omitempty"` // exclusive position; empty is the beginning
	Bytes   uint64 `cbor:"4,keyasint,omitempty"` // as that of Changes
	UpTo    []byte `cbor:"5,keyasint,omitempty"` // inclusive position; empty is the end
}

// Page answers PageReq.
type Page struct {
	ID      uint64   `cbor:"1,keyasint"`
	Records [][]byte `cbor:"2,keyasint"`
	Last    []byte   `cbor:"3,keyasint,omitempty"` // position to go on after
	Done    bool     `cbor:"4,keyasint,omitempty"` // the span ends here
	Sum     []byte   `cbor:"5,keyasint"`           // sum modulo 2^256 of the item hashes
	Head    uint64   `cbor:"6,keyasint"`           // head of the feed when the page was read
	// Incarnation is the opening of the sender's store that Head is a place of.
	Incarnation uint64 `cbor:"7,keyasint,omitempty"`
}

// BlobGet asks for content that versions of a section refer to, from an offset on,
// to the end of the chunk that the offset lies in.
type BlobGet struct {
	ID      uint64 `cbor:"1,keyasint"`
	Section string `cbor:"2,keyasint"`
	Hash    []byte `cbor:"3,keyasint"` // SHA-256 of the whole
	Offset  uint64 `cbor:"4,keyasint,omitempty"`
	Bytes   uint64 `cbor:"5,keyasint,omitempty"` // as that of Changes; one byte is always answered
}

// Blob answers BlobGet. Without a size the content is not there, or not all of it;
// without bytes the offset lies beyond its end.
type Blob struct {
	ID    uint64 `cbor:"1,keyasint"`
	Bytes []byte `cbor:"2,keyasint,omitempty"`
	Size  uint64 `cbor:"3,keyasint,omitempty"` // of the whole
}

// RecordsOf returns the encoded records that a message carries, which belong to
// the message.
func RecordsOf(m Message) [][]byte {
	switch m := m.(type) {
	case *ChangesPage:
		return m.Records
	case *Records:
		return m.Records
	case *Page:
		return m.Records
	}
	return nil
}

// Busy refuses a request for now.
type Busy struct {
	ID    uint64 `cbor:"1,keyasint"`
	Retry uint64 `cbor:"2,keyasint"` // milliseconds
}

// Error refuses a request for good.
type Error struct {
	ID   uint64 `cbor:"1,keyasint,omitempty"`
	Code uint64 `cbor:"2,keyasint"`
	Text string `cbor:"3,keyasint,omitempty"`
}

// Bye announces that the sender leaves.
type Bye struct {
	Reason string `cbor:"1,keyasint,omitempty"`
}

// Error codes.
const (
	CodeUnsupported   = 1 // unknown message, or one that this node does not serve
	CodeFleet         = 2 // another fleet
	CodeNotShared     = 3 // the section is not shared here
	CodeUnavailable   = 4 // the store could not be read
	CodeOutOfProtocol = 5 // the message breaks the protocol
)

// Type implements Message.
func (*Hello) Type() MessageType { return TypeHello }

// Type implements Message.
func (*HelloAck) Type() MessageType { return TypeHelloAck }

// Type implements Message.
func (*Heartbeat) Type() MessageType { return TypeHeartbeat }

// Type implements Message.
func (*Changes) Type() MessageType { return TypeChanges }

// Type implements Message.
func (*ChangesPage) Type() MessageType { return TypeChangesPage }

// Type implements Message.
func (*CursorInvalid) Type() MessageType { return TypeCursorInvalid }

// Type implements Message.
func (*Get) Type() MessageType { return TypeGet }

// Type implements Message.
func (*Records) Type() MessageType { return TypeRecords }

// Type implements Message.
func (*PageReq) Type() MessageType { return TypePageReq }

// Type implements Message.
func (*Page) Type() MessageType { return TypePage }

// Type implements Message.
func (*BlobGet) Type() MessageType { return TypeBlobGet }

// Type implements Message.
func (*Blob) Type() MessageType { return TypeBlob }

// Type implements Message.
func (*Busy) Type() MessageType { return TypeBusy }

// Type implements Message.
func (*Error) Type() MessageType { return TypeError }

// Type implements Message.
func (*Bye) Type() MessageType { return TypeBye }
