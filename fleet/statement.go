package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

const (
	// Family is the family of statements.
	Family = "fleet"
	// KindGrant is the kind of a grant, a succession included. Other kinds of
	// the family are stored and forwarded by builds that do not know them.
	KindGrant = "fleet.grant"
	// KindBan is the kind of a ban, of a writer or of what was written.
	KindBan = "fleet.ban"
	// KindFloor is the kind of a floor under a section.
	KindFloor = "fleet.floor"
)

// wireStatement is what every statement's body begins with, whatever its kind.
// It repeats the writer and the stamp of the header, so that the id, a hash of
// the body, settles the whole record: nobody, its own issuer included, can put
// a version with another meaning in its place.
type wireStatement struct {
	Issuer merge.InstanceID `cbor:"1,keyasint"`
	Stamp  uint64           `cbor:"2,keyasint"`
}

// statementKey returns the key of the statement with this body.
func statementKey(kind string, body []byte) merge.Key {
	sum := sha256.Sum256(body)
	return merge.Key{Kind: kind, ID: merge.NewID(hex.EncodeToString(sum[:]))}
}

func sealStatement(fleet merge.FleetID, issuer Signer, kind string, body []byte, stamp hlc.Timestamp) (merge.Record, error) {
	id := issuer.ID()
	rec, err := merge.Seal(merge.Record{
		Fleet:    fleet,
		Key:      statementKey(kind, body),
		Envelope: merge.Envelope{SyncVersion: 1, OriginInstanceID: id, UpdatedHLC: stamp, LastWriterID: id},
		Basis:    merge.Basis{}.With(id, stamp),
		Body:     body,
	}, merge.Ed25519, issuer.Sign)
	if err != nil {
		return merge.Record{}, fmt.Errorf("fleet: seal %s: %w", kind, err)
	}
	return rec, nil
}

// Check judges what needs no statement and no signature: a decoded record is
// of this fleet, signed, and, in the family fleet, a well-formed write-once
// statement. A record that fails can never become admissible. Errors:
// ErrForeign, ErrMalformed.
func Check(rec *merge.Record, fleet merge.FleetID) error {
	switch {
	case rec.Algorithm != merge.Ed25519:
		return fmt.Errorf("%w: %s is not signed", ErrMalformed, rec.Key)
	case rec.Fleet != fleet:
		return fmt.Errorf("%w: %s", ErrForeign, rec.Key)
	case rec.Key.Family() != Family:
		return nil
	}
	if err := checkStatement(rec); err != nil {
		return err
	}
	_, err := read(rec)
	return err
}

// checkStatement holds the law of the family: the header is a function of the
// body.
func checkStatement(rec *merge.Record) error {
	env := rec.Envelope
	switch {
	case env.Deleted:
		return fmt.Errorf("%w: %s is deleted, statements are for ever", ErrMalformed, rec.Key)
	case rec.Purge || len(rec.Blobs) > 0:
		return fmt.Errorf("%w: %s purges or has blobs", ErrMalformed, rec.Key)
	case rec.Key != statementKey(rec.Key.Kind, rec.Body):
		return fmt.Errorf("%w: %s is not the global id of its body", ErrMalformed, rec.Key)
	case env.SyncVersion != 1 || len(rec.Basis) != 1 || env.OriginInstanceID != env.LastWriterID:
		return fmt.Errorf("%w: %s is not the first version of its writer", ErrMalformed, rec.Key)
	}
	var w wireStatement
	if err := merge.Unmarshal(rec.Body, &w); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, rec.Key, err)
	}
	if w.Issuer != env.LastWriterID || w.Stamp != env.UpdatedHLC.Pack() {
		return fmt.Errorf("%w: %s names another issuer or stamp than its header", ErrMalformed, rec.Key)
	}
	return nil
}
