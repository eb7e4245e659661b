package mergetest

import (
	"bytes"
	"crypto/ed25519"

	"github.com/fleetsync/fleetd/merge"
)

// Identity is a writer and its key. The zero value is not usable.
type Identity struct {
	ID  merge.InstanceID
	key ed25519.PrivateKey
}

// NewIdentity returns the writer of a number: the same for the same number, in
// every run.
func NewIdentity(number byte) Identity {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, ed25519.SeedSize))
	return Identity{ID: merge.InstanceOf(key.Public().(ed25519.PublicKey)), key: key}
}

// Sign signs as merge.Seal wants it. It never fails.
func (i Identity) Sign(message []byte) ([]byte, error) { return ed25519.Sign(i.key, message), nil }

// Fleet returns the fleet that signed records of this package belong to.
func Fleet() merge.FleetID { return merge.FleetID(bytes.Repeat([]byte{0xf1}, len(merge.FleetID{}))) }
