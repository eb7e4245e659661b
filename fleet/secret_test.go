package fleet_test

import (
	"encoding/hex"
	"testing"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// TestProofsDifferInEveryPart holds that a proof is good for one secret, one
// pair of peers in their roles, one fleet, one name and one direction.
func TestProofsDifferInEveryPart(t *testing.T) {
	a, b, f := newIdentity(t, 1).ID(), newIdentity(t, 2).ID(), merge.FleetID{1}
	secret := fleet.Secret{1}
	base := fleet.Handshake{Joiner: a, Inviter: b, Fleet: f, Name: "laptop"}
	seen := map[fleet.Proof]string{base.JoinerProof(secret): "base"}
	for what, p := range map[string]fleet.Proof{
		"the other direction":       base.InviterProof(secret),
		"another secret":            base.JoinerProof(fleet.Secret{2}),
		"roles exchanged":           fleet.Handshake{Joiner: b, Inviter: a, Fleet: f, Name: "laptop"}.JoinerProof(secret),
		"another joiner":            fleet.Handshake{Joiner: b, Inviter: b, Fleet: f, Name: "laptop"}.JoinerProof(secret),
		"another fleet":             fleet.Handshake{Joiner: a, Inviter: b, Name: "laptop"}.JoinerProof(secret),
		"no name":                   fleet.Handshake{Joiner: a, Inviter: b, Fleet: f}.JoinerProof(secret),
		"a byte moved between ids":  fleet.Handshake{Joiner: a + b[:1], Inviter: b[1:], Fleet: f, Name: "laptop"}.JoinerProof(secret),
		"both other, one direction": fleet.Handshake{Joiner: b, Inviter: a, Fleet: f, Name: "laptop"}.InviterProof(secret),
	} {
		if other, twice := seen[p]; twice {
			t.Errorf("%s has the proof of %s", what, other)
		}
		seen[p] = what
	}
}

// TestProofVector holds the bytes over which proofs are made.
func TestProofVector(t *testing.T) {
	vector := readGolden(t, "proof.txt")
	ticket := vectorTicket(t)
	h := fleet.Handshake{Joiner: newIdentity(t, 3).ID(), Inviter: ticket.Inviter, Fleet: ticket.Fleet, Name: "laptop"}
	joiner, inviter := h.JoinerProof(ticket.Secret), h.InviterProof(ticket.Secret)
	if got := hex.EncodeToString(joiner[:]); got != vector["joiner"] {
		t.Errorf("joiner's proof is %s, want %s", got, vector["joiner"])
	}
	if got := hex.EncodeToString(inviter[:]); got != vector["inviter"] {
		t.Errorf("inviter's proof is %s, want %s", got, vector["inviter"])
	}
	if !joiner.Equal(h.JoinerProof(ticket.Secret)) || joiner.Equal(inviter) {
		t.Error("Equal does not compare")
	}
}
