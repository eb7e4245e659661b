package merge_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/merge/mergetest"
)

// TestInstanceIDIsTheLibp2pPeerID compares bytes and text with libp2p's own.
func TestInstanceIDIsTheLibp2pPeerID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := ed25519.PublicKey(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		public, err := crypto.UnmarshalEd25519PublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		want, err := peer.IDFromPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		id := merge.InstanceOf(key)
		if peer.ID(id) != want || id.String() != want.String() {
			t.Errorf("id %x, %s; libp2p says %x, %s", string(id), id, string(want), want)
		}
		parsed, err := merge.ParseInstanceID(want.String())
		if err != nil || parsed != id {
			t.Errorf("ParseInstanceID(%s) = %s, %v", want, parsed, err)
		}
		if got, ok := id.PublicKey(); !ok || !got.Equal(key) {
			t.Errorf("PublicKey() = %x, %v; want %x", got, ok, key)
		}
	})
}

func TestInstanceIDRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := mergetest.InstanceID().Draw(t, "id")
		parsed, err := merge.ParseInstanceID(id.String())
		if err != nil || parsed != id {
			t.Errorf("text %q gives %q, %v; want %q", id, parsed, err, string(id))
		}
		b, err := merge.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		var decoded merge.InstanceID
		if err := merge.Unmarshal(b, &decoded); err != nil || decoded != id {
			t.Errorf("CBOR %x gives %q, %v; want %q", b, decoded, err, string(id))
		}
	})
}

// TestTextIsNeverAKey: ids are proven by their key, so no text may pass for one,
// be it as long as a key, its bytes, or its printed form.
func TestTextIsNeverAKey(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
	}{
		{"a text of 32 bytes", repeated("k", 32)},
		{"a text of 38 bytes", repeated("k", 38)},
		{"a text of 38 bytes with the length of a peer id in front", "$" + repeated("k", 37)},
		{"a text of 52 letters", repeated("1", 52)},
		{"a text that begins like a printed key", "12D3KooW" + repeated("k", 44)},
	} {
		t.Run(c.name+" stays a text", func(t *testing.T) {
			id, err := merge.ParseInstanceID(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := id.PublicKey(); ok || id.String() != c.text {
				t.Errorf("it became %q", id)
			}
			b, err := merge.Marshal(id)
			if err != nil {
				t.Fatal(err)
			}
			var back merge.InstanceID
			if err := merge.Unmarshal(b, &back); err != nil || back != id {
				t.Errorf("CBOR gave %q, %v", back, err)
			}
		})
	}

	key := keyOf(me.ID)
	var masked []byte // a key's id whose bytes are all UTF-8
	masked = append(append(masked, me.ID[:6]...), repeated("k", 32)...)
	for _, c := range []struct {
		name string
		cbor any
	}{
		{"the bytes of an id as text", string(masked)},
		{"the printed form of an id as text", me.ID.String()},
		{"the whole id as bytes", []byte(me.ID)},
		{"an empty text", ""},
		{"empty bytes", []byte{}},
		{"a key with a byte more", append(key, 0)},
		{"a text of 129 bytes", repeated("a", 129)},
		{"a text with a control character", "a\x00b"},
		{"a number", 7},
		{"an array", []any{key}},
		{"null", null},
	} {
		t.Run(c.name+" is malformed in CBOR", func(t *testing.T) {
			var id merge.InstanceID
			if err := id.UnmarshalCBOR(encoded(t, c.cbor)); !errors.Is(err, merge.ErrMalformed) {
				t.Errorf("UnmarshalCBOR() = %v and %q, want ErrMalformed", err, id)
			}
		})
	}

	for _, c := range []struct {
		name string
		id   merge.InstanceID
	}{
		{"nobody", ""},
		{"the printed form of a key", merge.InstanceID(me.ID.String())},
		{"a bare key", merge.InstanceID(key)},
		{"a cut id", me.ID[:37]},
	} {
		t.Run(c.name+" is no writer", func(t *testing.T) {
			d := draft()
			rewrite(&d, c.id)
			if _, err := merge.Seal(d, merge.Unsigned, nil); !errors.Is(err, merge.ErrMalformed) {
				t.Errorf("Seal() = %v, want ErrMalformed", err)
			}
		})
	}
}

func TestParseInstanceIDRefuses(t *testing.T) {
	for _, text := range []string{
		"", "a\nb", "\x00", "\xff", repeated("a", 129), string(me.ID), "é\u0085",
	} {
		if id, err := merge.ParseInstanceID(text); !errors.Is(err, merge.ErrMalformed) {
			t.Errorf("ParseInstanceID(%q) = %q, %v; want ErrMalformed", text, id, err)
		}
	}
	// Other texts of peer ids are texts like any other: they prove nothing.
	for _, text := range []string{"QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", " " + me.ID.String()} {
		id, err := merge.ParseInstanceID(text)
		if _, hasKey := id.PublicKey(); err != nil || hasKey {
			t.Errorf("ParseInstanceID(%q) = %q, %v; want the text", text, id, err)
		}
	}
}

func TestInstanceOfAnotherKeySizePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a key of 31 bytes gave an id")
		}
	}()
	merge.InstanceOf(make([]byte, 31))
}

// FuzzParseInstanceID: what is accepted prints as what was read, and travels.
func FuzzParseInstanceID(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		id, err := merge.ParseInstanceID(text)
		if err != nil {
			if !errors.Is(err, merge.ErrMalformed) {
				t.Errorf("ParseInstanceID(%q) = %v, want ErrMalformed", text, err)
			}
			return
		}
		if id.String() != text {
			t.Errorf("ParseInstanceID(%q) prints as %q", text, id)
		}
		b, err := merge.Marshal(id)
		if err != nil {
			t.Fatalf("Marshal(%q) = %v", text, err)
		}
		var back merge.InstanceID
		if err := merge.Unmarshal(b, &back); err != nil || back != id {
			t.Errorf("CBOR of %q gives %q, %v", text, back, err)
		}
		if decoded, err := peer.Decode(text); err == nil {
			_, isEd25519 := id.PublicKey()
			if isEd25519 && peer.ID(id) != decoded {
				t.Errorf("libp2p reads %q as another id", text)
			}
		}
	})
}
