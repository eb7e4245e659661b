package merge

import (
	"crypto/sha256"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/fleetsync/fleetd/hlc"
)

// wireHeader is the form that is signed. Keys are never reused; new fields are
// optional and omitted when zero; a decoder skips keys that it does not know,
// and the received bytes are kept, so they survive.
type wireHeader struct {
	Fleet       []byte      `cbor:"1,keyasint,omitempty"` // 32 bytes; absent without a fleet
	Kind        string      `cbor:"2,keyasint"`
	Scope       []string    `cbor:"3,keyasint,omitempty"` // instance, project, workspace; absent when global
	ID          []string    `cbor:"4,keyasint"`
	SyncVersion int64       `cbor:"5,keyasint"`
	Origin      *InstanceID `cbor:"6,keyasint,omitempty"` // absent when it is the writer
	Stamp       uint64      `cbor:"7,keyasint"`           // 48 bits of milliseconds, 16 of counter
	Writer      InstanceID  `cbor:"8,keyasint"`
	Deleted     bool        `cbor:"9,keyasint,omitempty"`
	Basis       []wireBasis `cbor:"10,keyasint"`
	BodyHash    []byte      `cbor:"11,keyasint"` // SHA-256
	BodySize    uint64      `cbor:"12,keyasint"` // bytes
	Blobs       []wireBlob  `cbor:"13,keyasint,omitempty"`
	Purge       bool        `cbor:"14,keyasint,omitempty"`
}

type wireBasis struct {
	_      struct{} `cbor:",toarray"`
	Writer InstanceID
	Stamp  uint64
}

type wireBlob struct {
	Hash     []byte `cbor:"1,keyasint"` // SHA-256
	Size     int64  `cbor:"2,keyasint"` // bytes
	Manifest bool   `cbor:"3,keyasint,omitempty"`
}

// wireRecord carries the header as the bytes that were signed.
type wireRecord struct {
	Header    []byte    `cbor:"1,keyasint"`
	Body      []byte    `cbor:"2,keyasint"`
	Algorithm Algorithm `cbor:"3,keyasint"`
	Signature []byte    `cbor:"4,keyasint,omitempty"`
}

// strictRecordMode refuses unknown keys outside of the header: they are not
// signed, and re-encoding would drop them.
var strictRecordMode = mustMode(cbor.DecOptions{
	DupMapKey:         cbor.DupMapKeyEnforcedAPF,
	IndefLength:       cbor.IndefLengthForbidden,
	TagsMd:            cbor.TagsForbidden,
	ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
}.DecMode())

// Encode returns the form of the record that is stored and sent. Encoding a
// decoded record gives back its bytes. It panics on a record that was neither
// sealed nor decoded.
func (r *Record) Encode() []byte {
	if r.header == nil {
		panic("merge: encode of a record that was never sealed: " + r.Key.String())
	}
	body := r.Body
	if body == nil {
		body = []byte{}
	}
	b, err := encMode.Marshal(wireRecord{r.header, body, r.Algorithm, r.Signature})
	if err != nil {
		panic("merge: encode: " + err.Error()) // byte strings always encode
	}
	return b
}

// Decode reads what Encode wrote and checks everything but the value of the
// signature: canonical bytes, limits, basis, body hash and size. The result
// does not alias b. Errors: ErrMalformed, ErrTooLarge, ErrUnsupported.
func Decode(b []byte) (Record, error) {
	if len(b) > RecordBytesMax {
		return Record{}, fmt.Errorf("%w: record of %d bytes, at most %d", ErrTooLarge, len(b), RecordBytesMax)
	}
	if err := CheckCanonical(b); err != nil {
		return Record{}, err
	}
	var w wireRecord
	if err := strictRecordMode.Unmarshal(b, &w); err != nil {
		return Record{}, fmt.Errorf("%w: record: %w", ErrMalformed, err)
	}
	if w.Header == nil || w.Body == nil {
		return Record{}, fmt.Errorf("%w: record without header or body", ErrMalformed)
	}
	r, err := decodeHeader(w.Header, w.Body)
	if err != nil {
		return Record{}, err
	}
	r.Body, r.Algorithm, r.Signature = w.Body, w.Algorithm, w.Signature
	if err := r.validate(); err != nil {
		return Record{}, err
	}
	r.hash = itemHash(r.Key, r.header)
	return r, nil
}

func (r *Record) encodeHeader() ([]byte, error) {
	if !r.Envelope.UpdatedHLC.Valid() {
		return nil, fmt.Errorf("%w: stamp %s", ErrMalformed, r.Envelope.UpdatedHLC)
	}
	bodyHash := sha256.Sum256(r.Body)
	w := wireHeader{
		Kind:        r.Key.Kind,
		ID:          r.Key.ID.Components(),
		SyncVersion: r.Envelope.SyncVersion,
		Stamp:       r.Envelope.UpdatedHLC.Pack(),
		Writer:      r.Envelope.LastWriterID,
		Deleted:     r.Envelope.Deleted,
		BodyHash:    bodyHash[:],
		BodySize:    uint64(len(r.Body)),
		Purge:       r.Purge,
	}
	if r.Fleet != (FleetID{}) {
		w.Fleet = r.Fleet[:]
	}
	if s := r.Key.Scope; s != (Scope{}) {
		w.Scope = []string{s.Instance, s.Project, s.Workspace}
	}
	if r.Envelope.OriginInstanceID != r.Envelope.LastWriterID {
		w.Origin = &r.Envelope.OriginInstanceID
	}
	for _, e := range r.Basis {
		if !e.Stamp.Valid() {
			return nil, fmt.Errorf("%w: basis stamp %s", ErrMalformed, e.Stamp)
		}
		w.Basis = append(w.Basis, wireBasis{Writer: e.Writer, Stamp: e.Stamp.Pack()})
	}
	for _, b := range r.Blobs {
		w.Blobs = append(w.Blobs, wireBlob{Hash: b.Hash[:], Size: b.Size, Manifest: b.Manifest})
	}
	return Marshal(w)
}

// decodeHeader returns the view of a header whose body is at hand.
func decodeHeader(header, body []byte) (Record, error) {
	var w wireHeader
	if err := Unmarshal(header, &w); err != nil {
		return Record{}, fmt.Errorf("header: %w", err)
	}
	sum := sha256.Sum256(body)
	if w.BodySize != uint64(len(body)) || string(w.BodyHash) != string(sum[:]) {
		return Record{}, fmt.Errorf("%w: body does not match the header", ErrMalformed)
	}
	stamp, err := hlc.Unpack(w.Stamp)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	r := Record{
		Key:    Key{Kind: w.Kind, ID: NewID(w.ID...)},
		Purge:  w.Purge,
		header: header,
		Envelope: Envelope{
			SyncVersion:      w.SyncVersion,
			OriginInstanceID: w.Writer,
			UpdatedHLC:       stamp,
			LastWriterID:     w.Writer,
			Deleted:          w.Deleted,
		},
	}
	if w.Origin != nil {
		r.Envelope.OriginInstanceID = *w.Origin
	}
	return r, r.decodeLists(w)
}

// decodeLists fills the fields that have a shape of their own.
func (r *Record) decodeLists(w wireHeader) error {
	if len(r.Key.ID.Components()) != len(w.ID) {
		return fmt.Errorf("%w: id component with 0x00", ErrMalformed)
	}
	switch {
	case len(w.Fleet) == len(r.Fleet):
		r.Fleet = FleetID(w.Fleet)
	case w.Fleet != nil:
		return fmt.Errorf("%w: fleet id of %d bytes", ErrMalformed, len(w.Fleet))
	}
	switch len(w.Scope) {
	case 0:
	case 3:
		r.Key.Scope = Scope{Instance: w.Scope[0], Project: w.Scope[1], Workspace: w.Scope[2]}
	default:
		return fmt.Errorf("%w: scope of %d fields", ErrMalformed, len(w.Scope))
	}
	for _, e := range w.Basis {
		stamp, err := hlc.Unpack(e.Stamp)
		if err != nil {
			return fmt.Errorf("%w: basis: %w", ErrMalformed, err)
		}
		r.Basis = append(r.Basis, BasisEntry{e.Writer, stamp})
	}
	for _, b := range w.Blobs {
		if len(b.Hash) != 32 {
			return fmt.Errorf("%w: blob hash of %d bytes", ErrMalformed, len(b.Hash))
		}
		r.Blobs = append(r.Blobs, BlobRef{Hash: [32]byte(b.Hash), Size: b.Size, Manifest: b.Manifest})
	}
	return nil
}
