package fleet

import (
	"io"

	"github.com/oasisprotocol/curve25519-voi/primitives/ed25519"

	"github.com/fleetsync/fleetd/merge"
)

// Verifier checks signatures. Implementations agree on every input, one by one
// or in batches: the rule is ZIP-215.
type Verifier interface {
	// Verify reports for each record whether its signature is its writer's.
	// It is safe for concurrent use.
	Verify(recs []*merge.Record) []bool
}

// VerifyOne reports whether the signature of a record is its writer's, under
// the rule that batches obey.
func VerifyOne(rec *merge.Record) bool {
	key, ok := signingKey(rec)
	return ok && ed25519.VerifyWithOptions(key, rec.SignedBytes(), rec.Signature, zip215())
}

// signingKey returns the key whose signature the record must carry.
func signingKey(rec *merge.Record) (ed25519.PublicKey, bool) {
	if rec.Algorithm != merge.Ed25519 {
		return nil, false
	}
	key, ok := rec.Envelope.LastWriterID.PublicKey()
	return ed25519.PublicKey(key), ok
}

// zip215 is the one rule: cofactored verification that admits small-order and
// non-canonical points. Any other rule lets a batch and a single disagree.
func zip215() *ed25519.Options {
	return &ed25519.Options{Verify: ed25519.VerifyOptionsZIP_215}
}

type batchVerifier struct {
	rand io.Reader
}

// NewVerifier returns a Verifier that checks what it is given as one batch and,
// when that fails, finds the bad ones. rand must be unpredictable to whoever
// makes signatures, never fail, and be safe for concurrent use when the
// Verifier is used so.
func NewVerifier(rand io.Reader) Verifier { return batchVerifier{rand: rand} }

// Verify implements Verifier.
func (v batchVerifier) Verify(recs []*merge.Record) []bool {
	valid := make([]bool, len(recs))
	if len(recs) == 1 { // a batch of one costs half as much again
		valid[0] = VerifyOne(recs[0])
		return valid
	}
	// Most batches come from few writers: a key is unpacked once.
	expanded := map[merge.InstanceID]*ed25519.ExpandedPublicKey{}
	batch := ed25519.NewBatchVerifierWithCapacity(len(recs))
	var at []int // index in recs of each member of the batch
	for i, rec := range recs {
		key, ok := signingKey(rec)
		if !ok {
			continue
		}
		x, known := expanded[rec.Envelope.LastWriterID]
		if !known {
			x, _ = ed25519.NewExpandedPublicKey(key) // nil for a key that is no point
			expanded[rec.Envelope.LastWriterID] = x
		}
		if x == nil {
			continue
		}
		batch.AddExpandedWithOptions(x, rec.SignedBytes(), rec.Signature, zip215())
		at = append(at, i)
	}
	_, results := batch.Verify(v.rand)
	for n, ok := range results {
		valid[at[n]] = ok
	}
	return valid
}
