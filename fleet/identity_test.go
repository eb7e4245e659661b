package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

func TestIdentitySurvivesItsFile(t *testing.T) {
	id := newIdentity(t, 1)
	got, err := fleet.IdentityFromBytes(id.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	message := []byte("message")
	sig, err := got.Sign(message)
	if err != nil || !ed25519.Verify(id.Public(), message, sig) || got.ID() != id.ID() {
		t.Errorf("identity %s came back as %s, signature %x", id, got, sig)
	}
	fromKey, err := peer.IDFromPrivateKey(got.PrivKey())
	if err != nil || string(fromKey) != string(id.ID()) || fromKey.String() != id.String() {
		t.Errorf("libp2p calls it %s, we %s (%v)", fromKey, id, err)
	}
}

func TestIdentityFromBytesRefuses(t *testing.T) {
	good := newIdentity(t, 1).Bytes()
	swapped := bytes.Clone(good)
	copy(swapped[len(swapped)-32:], newIdentity(t, 2).Public())
	secp, _, err := crypto.GenerateSecp256k1Key(source(1))
	if err != nil {
		t.Fatal(err)
	}
	otherKind, err := crypto.MarshalPrivateKey(secp)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"nothing":                         nil,
		"a cut file":                      good[:len(good)-1],
		"the public half of another key":  swapped,
		"a key of another kind":           otherKind,
		"a file that is far too long":     make([]byte, 1<<20),
		"the text of a private key block": []byte("-----BEGIN PRIVATE KEY-----"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := fleet.IdentityFromBytes(b); !errors.Is(err, fleet.ErrMalformed) {
				t.Errorf("got %v, want ErrMalformed", err)
			}
		})
	}
}

func TestNewIdentityReportsAFailingSource(t *testing.T) {
	if _, err := fleet.NewIdentity(bytes.NewReader([]byte{1, 2, 3})); err == nil {
		t.Error("an identity from three random bytes")
	}
}

func TestPrintingNeverShowsASecret(t *testing.T) {
	id := newIdentity(t, 1)
	secret := fleet.Secret{0xde, 0xad, 0xbe, 0xef}
	shown := fmt.Sprintf("%v %+v %#v %s %v %#v %v", id, id, id, id, secret, secret, fleet.Ticket{Secret: secret}.Secret)
	raw, err := id.PrivKey().Raw()
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{hex.EncodeToString(raw[:4]), fmt.Sprintf("%d", raw[:4]), "222 173", "deadbeef", "0xde"} {
		if strings.Contains(shown, strings.Trim(leak, "[]")) {
			t.Errorf("%q is in %s", leak, shown)
		}
	}
}

func TestFleetIDIsThatOfItsRoot(t *testing.T) {
	root := newIdentity(t, 1)
	f := fleet.FleetIDOf(root.Public())
	const want = "c20647c16b1b41a60f309e3ba89dda1e"
	if got := hex.EncodeToString(f[:16]); got != want {
		t.Errorf("fleet id begins with %s, want %s: the format changed", got, want)
	}
	if !fleet.IsRoot(f, root.ID()) || fleet.IsRoot(f, newIdentity(t, 2).ID()) || fleet.IsRoot(merge.FleetID{}, "local") {
		t.Error("IsRoot does not tell the root from others")
	}
}

func FuzzIdentityFromBytes(f *testing.F) {
	f.Add(newIdentity(f, 1).Bytes())
	f.Add([]byte{0x08, 0x01, 0x12, 0x40})
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := fleet.IdentityFromBytes(b)
		if err != nil {
			return
		}
		again, err := fleet.IdentityFromBytes(id.Bytes())
		if err != nil || again.ID() != id.ID() {
			t.Errorf("%s came back as %s (%v)", id, again, err)
		}
	})
}
