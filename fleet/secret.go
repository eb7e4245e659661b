package fleet

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/fleetsync/fleetd/merge"
)

// Secret is what a ticket carries and both sides prove. It prints as nothing.
type Secret [secretBytes]byte

// String hides the secret.
func (Secret) String() string { return "secret" }

// GoString hides the secret.
func (Secret) GoString() string { return "secret" }

// newSecret reads a secret from a cryptographic source.
func newSecret(rand io.Reader) (Secret, error) {
	var s Secret
	if _, err := io.ReadFull(rand, s[:]); err != nil {
		return Secret{}, fmt.Errorf("fleet: new secret: %w", err)
	}
	return s, nil
}

// TicketID finds an invitation without giving its secret away: the first half
// of a hash of it.
type TicketID [16]byte

// String returns the id in hex.
func (t TicketID) String() string { return hex.EncodeToString(t[:]) }

const ticketIDContext = "fleetd/ticket/1\x00"

// ID returns the public handle of the ticket with this secret.
func (s Secret) ID() TicketID {
	sum := sha256.Sum256(append([]byte(ticketIDContext), s[:]...))
	return TicketID(sum[:16])
}

// Proof shows that its maker holds a secret, for one pair of peers, one fleet
// and one name.
type Proof [sha256.Size]byte

// Equal compares in constant time.
func (p Proof) Equal(other Proof) bool { return hmac.Equal(p[:], other[:]) }

// Handshake is what both proofs are made over.
type Handshake struct {
	// Joiner and Inviter are the peer ids of the two ends, as the connection
	// authenticated them.
	Joiner  merge.InstanceID
	Inviter merge.InstanceID
	Fleet   merge.FleetID
	// Name is the one that the joiner asks for in its proof, and the one that
	// it got in the inviter's.
	Name string
}

const (
	joinerContext  = "fleetd/join/joiner/1\x00"
	inviterContext = "fleetd/join/inviter/1\x00"
)

// JoinerProof returns the proof that the joiner sends.
func (h Handshake) JoinerProof(s Secret) Proof { return h.proof(s, joinerContext) }

// InviterProof returns the proof that the inviter answers with.
func (h Handshake) InviterProof(s Secret) Proof { return h.proof(s, inviterContext) }

// proof is HMAC-SHA256 over the context and the canonical CBOR array of the
// parts, in which no part can pass for another.
func (h Handshake) proof(s Secret, context string) Proof {
	parts, err := merge.Marshal([]any{[]byte(h.Joiner), []byte(h.Inviter), h.Fleet[:], h.Name})
	if err != nil {
		panic("fleet: encode handshake: " + err.Error()) // strings always encode
	}
	mac := hmac.New(sha256.New, s[:])
	mac.Write([]byte(context))
	mac.Write(parts)
	return Proof(mac.Sum(nil))
}
