package fleet

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Ban is the statement that something does not count: what one writer wrote
// within a range of stamps (a revocation, when the range has no end; a void,
// when it has one), or every version with one content (a withdrawal). Either
// Writer is set, or Digest and Kind.
type Ban struct {
	// Writer is whose versions are inadmissible, and those of its successors.
	Writer merge.InstanceID
	// From is the first stamp that the ban covers, To the first that it covers
	// no more; zero means for ever.
	From, To hlc.Timestamp
	// Digest is of the versions of Kind that are withdrawn, whoever wrote them;
	// see Digest.
	Digest merge.Hash
	Kind   string
	// Content is the digest of what people see of a withdrawn version, by which
	// nodes look for it in other places; zero when it is not told. It counts
	// for nothing in admission.
	Content [32]byte
	// Stands lists the item hashes of statements of Writer and its successors
	// that the ban leaves in force, ascending: all others are not, whatever
	// their stamp when the ban has no end, else those within its range.
	Stands []merge.Hash
	// Note is for people: printable, at most 256 bytes.
	Note string
}

// wireBan is the body of a fleet.ban. Keys 1 and 2 are those of every
// statement, see wireStatement. Evolution is that of wireGrant.
type wireBan struct {
	Issuer  merge.InstanceID  `cbor:"1,keyasint"`
	Stamp   uint64            `cbor:"2,keyasint"`
	Writer  *merge.InstanceID `cbor:"3,keyasint,omitempty"` // absent in a withdrawal
	From    uint64            `cbor:"4,keyasint,omitempty"`
	To      uint64            `cbor:"5,keyasint,omitempty"` // absent means for ever
	Digest  []byte            `cbor:"6,keyasint,omitempty"` // 32 bytes
	Kind    string            `cbor:"7,keyasint,omitempty"`
	Content []byte            `cbor:"8,keyasint,omitempty"` // 32 bytes
	Stands  [][]byte          `cbor:"9,keyasint,omitempty"` // 32 bytes each; ascending, distinct
	Note    string            `cbor:"10,keyasint,omitempty"`
}

// SealBan makes the signed record of a ban at stamp, a new one of the issuer's
// clock. It orders and compacts Stands. Whether the issuer may ban this is for
// Authority.Judge. Errors: ErrMalformed, and what the signer returns.
func SealBan(fleet merge.FleetID, issuer Signer, b Ban, stamp hlc.Timestamp) (merge.Record, error) {
	b.Stands = slices.Compact(slices.SortedFunc(slices.Values(b.Stands), compareHashes))
	if !stamp.Valid() || stamp.IsZero() {
		return merge.Record{}, fmt.Errorf("%w: ban stamped %s", ErrMalformed, stamp)
	}
	if err := b.validate(fleet); err != nil {
		return merge.Record{}, err
	}
	w := wireBan{
		Issuer: issuer.ID(), Stamp: stamp.Pack(),
		From: b.From.Pack(), To: b.To.Pack(), Kind: b.Kind, Note: b.Note,
	}
	if b.Writer != "" {
		w.Writer = &b.Writer
	}
	if b.Digest != (merge.Hash{}) {
		w.Digest = b.Digest[:]
	}
	if b.Content != ([32]byte{}) {
		w.Content = b.Content[:]
	}
	for i := range b.Stands {
		w.Stands = append(w.Stands, b.Stands[i][:])
	}
	body, err := merge.Marshal(w)
	if err != nil {
		return merge.Record{}, err
	}
	return sealStatement(fleet, issuer, KindBan, body, stamp)
}

// BanOf returns the ban that a fleet.ban record states. Errors: ErrMalformed.
func BanOf(rec *merge.Record) (Ban, error) {
	if rec.Key.Kind != KindBan {
		return Ban{}, fmt.Errorf("%w: %s is not a ban", ErrMalformed, rec.Key)
	}
	var w wireBan
	if err := merge.Unmarshal(rec.Body, &w); err != nil {
		return Ban{}, fmt.Errorf("%w: ban: %w", ErrMalformed, err)
	}
	from, err := hlc.Unpack(w.From)
	if err != nil {
		return Ban{}, fmt.Errorf("%w: ban from: %w", ErrMalformed, err)
	}
	to, err := hlc.Unpack(w.To)
	if err != nil {
		return Ban{}, fmt.Errorf("%w: ban to: %w", ErrMalformed, err)
	}
	b := Ban{From: from, To: to, Kind: w.Kind, Note: w.Note}
	if w.Writer != nil {
		b.Writer = *w.Writer
	}
	if len(w.Stands) > standsMax {
		return Ban{}, fmt.Errorf("%w: ban that lets %d statements stand, at most %d", ErrMalformed, len(w.Stands), standsMax)
	}
	if len(w.Stands) > 0 {
		b.Stands = make([]merge.Hash, len(w.Stands))
	}
	if !readHash((*[32]byte)(&b.Digest), w.Digest) || !readHash(&b.Content, w.Content) {
		return Ban{}, fmt.Errorf("%w: ban of a digest of %d bytes, a content of %d", ErrMalformed, len(w.Digest), len(w.Content))
	}
	for i, h := range w.Stands {
		if len(h) == 0 || !readHash((*[32]byte)(&b.Stands[i]), h) {
			return Ban{}, fmt.Errorf("%w: ban that lets a hash of %d bytes stand", ErrMalformed, len(h))
		}
	}
	return b, b.validate(rec.Fleet)
}

// readHash copies a hash that may be absent; ok is false for one that is not
// whole.
func readHash(dst *[32]byte, b []byte) (ok bool) {
	if b != nil && len(b) != len(dst) {
		return false
	}
	copy(dst[:], b)
	return true
}

// validate checks the form of a ban.
func (b *Ban) validate(fleet merge.FleetID) error {
	withdrawal := b.Digest != (merge.Hash{}) || b.Kind != ""
	switch {
	case (b.Writer != "") == withdrawal:
		return fmt.Errorf("%w: ban of a writer and of a digest, or of neither", ErrMalformed)
	case len(b.Note) > noteBytesMax || !isPrintable(b.Note):
		return fmt.Errorf("%w: ban with a note of %d bytes, at most %d, or one that cannot be shown", ErrMalformed, len(b.Note), noteBytesMax)
	case withdrawal:
		return b.validateWithdrawal()
	}
	return b.validateWriter(fleet)
}

func (b *Ban) validateWriter(fleet merge.FleetID) error {
	switch {
	case b.Content != [32]byte{}:
		return fmt.Errorf("%w: ban of a writer with a content", ErrMalformed)
	case !b.From.Valid() || !b.To.Valid() || !b.To.IsZero() && !b.From.Before(b.To):
		return fmt.Errorf("%w: ban from %s to %s", ErrMalformed, b.From, b.To)
	case len(b.Stands) > standsMax:
		return fmt.Errorf("%w: ban that lets %d statements stand, at most %d", ErrMalformed, len(b.Stands), standsMax)
	}
	if _, ok := b.Writer.PublicKey(); !ok {
		return fmt.Errorf("%w: ban of %q, which is no key", ErrMalformed, b.Writer)
	}
	if IsRoot(fleet, b.Writer) {
		return fmt.Errorf("%w: ban of the root of the fleet, without which nobody has any right", ErrMalformed)
	}
	for i := 1; i < len(b.Stands); i++ {
		if compareHashes(b.Stands[i-1], b.Stands[i]) >= 0 {
			return fmt.Errorf("%w: what a ban lets stand is not ascending", ErrMalformed)
		}
	}
	return nil
}

func (b *Ban) validateWithdrawal() error {
	key := merge.Key{Kind: b.Kind, ID: "x"}
	switch {
	case b.Digest == (merge.Hash{}) || b.Kind == "":
		return fmt.Errorf("%w: withdrawal without a digest or a kind", ErrMalformed)
	case key.Validate() != nil || key.Family() == Family:
		return fmt.Errorf("%w: withdrawal of the kind %.60q", ErrMalformed, b.Kind)
	case b.From != hlc.Timestamp{} || b.To != hlc.Timestamp{} || len(b.Stands) > 0:
		return fmt.Errorf("%w: withdrawal with a range or statements that stand: it is for ever", ErrMalformed)
	}
	return nil
}

// covers reports whether a stamp of its writer lies within the ban.
func (b *Ban) covers(stamp hlc.Timestamp) bool {
	return !stamp.Before(b.From) && (b.To.IsZero() || stamp.Before(b.To))
}

// strikes reports whether the ban takes a statement of its writer out of
// force. A stamp is its writer's word, so a ban without an end counts nothing
// that it does not list.
func (b *Ban) strikes(st *stated) bool {
	if !b.To.IsZero() && !b.covers(st.stamp()) {
		return false
	}
	_, listed := slices.BinarySearchFunc(b.Stands, st.rec.Hash(), compareHashes)
	return !listed
}

func compareHashes(a, b merge.Hash) int { return bytes.Compare(a[:], b[:]) }

// withdrawContext separates digests of versions from other hashes.
const withdrawContext = "fleetd/withdraw/1\x00"

// Digest returns what a withdrawal names a version by: SHA-256 of a context
// string, the hash of the body and the hash of each blob. It follows from the
// header alone, so that all versions with one body and the same blobs have one
// digest, whoever wrote them, and replication can judge what it has not got.
func Digest(rec *merge.Record) merge.Hash {
	body := sha256.Sum256(rec.Body)
	h := sha256.New()
	h.Write([]byte(withdrawContext))
	h.Write(body[:])
	for i := range rec.Blobs {
		h.Write(rec.Blobs[i].Hash[:])
	}
	return merge.Hash(h.Sum(nil))
}
