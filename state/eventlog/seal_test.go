package eventlog_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/state/eventlog"
)

// golden is the seal of payload "payload" of stream "state" at 7 by testKey(1).
// Sealed snapshots are kept: it never changes.
const golden = "01" +
	"b2bcb4d4f77bf05aa7ec50528c318b1e002f8c17843bc49c7dc4f9317d1d1c2f" +
	"68cbedb31b543e7195023416a8862958ee2d26387e0a83989d6b2272baae1a05" +
	"7061796c6f6164"

func testKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func signer(tb testing.TB, seed byte) eventlog.Ed25519Codec {
	tb.Helper()
	codec, err := eventlog.NewEd25519Signer(testKey(seed))
	if err != nil {
		tb.Fatal(err)
	}
	return codec
}

func verifier(tb testing.TB, seed byte) eventlog.Ed25519Codec {
	tb.Helper()
	codec, err := eventlog.NewEd25519Verifier(testKey(seed).Public().(ed25519.PublicKey))
	if err != nil {
		tb.Fatal(err)
	}
	return codec
}

func sealed(tb testing.TB, stream string, seq int64, payload string) []byte {
	tb.Helper()
	b, err := signer(tb, 1).Seal(stream, seq, []byte(payload))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestTheSealedFormIsGolden(t *testing.T) {
	if got := hex.EncodeToString(sealed(t, "state", 7, "payload")); got != golden {
		t.Errorf("sealed %s, want %s", got, golden)
	}
}

func TestASealOpens(t *testing.T) {
	for _, payload := range []string{"", "payload", "\x00\xff", string(bytes.Repeat([]byte("large"), 1<<16))} {
		for name, codec := range map[string]eventlog.Ed25519Codec{"signer": signer(t, 1), "verifier": verifier(t, 1)} {
			b := sealed(t, "state", 7, payload)
			got, err := codec.Open("state", 7, b)
			if err != nil || got == nil || string(got) != payload {
				t.Errorf("%s: opened %d bytes, %v, want %d", name, len(got), err, len(payload))
			}
			clear(b)
			if string(got) != payload {
				t.Errorf("%s: what was opened shares what was sealed", name)
			}
		}
	}
}

func TestASealOpensForNothingElse(t *testing.T) {
	good := sealed(t, "state", 7, "payload")
	edit := func(change func(b []byte) []byte) []byte { return change(bytes.Clone(good)) }
	tests := map[string]struct {
		codec  eventlog.Ed25519Codec
		stream string
		seq    int64
		sealed []byte
	}{
		"another stream":       {signer(t, 1), "stat", 7, good},
		"another seq":          {signer(t, 1), "state", 8, good},
		"another key":          {signer(t, 2), "state", 7, good},
		"no key":               {eventlog.Ed25519Codec{}, "state", 7, good},
		"nothing":              {signer(t, 1), "state", 7, nil},
		"the payload unsealed": {signer(t, 1), "state", 7, []byte("payload")},
		"a longer payload":     {signer(t, 1), "state", 7, edit(func(b []byte) []byte { return append(b, 0) })},
		"twice sealed":         {signer(t, 1), "state", 7, sealed(t, "state", 7, string(good))[:len(good)]},
		// The stream and the number lie next to each other in what is signed.
		"stream and seq shifted": {signer(t, 1), "state\x00", 7 << 8, good},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := test.codec.Open(test.stream, test.seq, test.sealed); !errors.Is(err, eventlog.ErrSealBroken) || got != nil {
				t.Errorf("opened %q, %v", got, err)
			}
		})
	}
	for i := range good {
		if got, err := signer(t, 1).Open("state", 7, good[:i]); !errors.Is(err, eventlog.ErrSealBroken) || got != nil {
			t.Errorf("cut to %d bytes: opened %q, %v", i, got, err)
		}
		b := edit(func(b []byte) []byte { b[i] ^= 1; return b })
		if got, err := signer(t, 1).Open("state", 7, b); !errors.Is(err, eventlog.ErrSealBroken) || got != nil {
			t.Errorf("byte %d flipped: opened %q, %v", i, got, err)
		}
	}
}

func TestAVerifierDoesNotSeal(t *testing.T) {
	for name, codec := range map[string]eventlog.Ed25519Codec{"verifier": verifier(t, 1), "zero": {}} {
		if b, err := codec.Seal("state", 7, nil); !errors.Is(err, eventlog.ErrNoKey) || b != nil {
			t.Errorf("%s: sealed %x, %v", name, b, err)
		}
	}
}

func TestBadKeysAreRefused(t *testing.T) {
	mixed := append(bytes.Clone(testKey(1)[:ed25519.SeedSize]), testKey(2)[ed25519.SeedSize:]...)
	for name, key := range map[string]ed25519.PrivateKey{"none": nil, "a seed": testKey(1)[:32], "long": append(testKey(1), 0), "mixed": mixed} {
		if _, err := eventlog.NewEd25519Signer(key); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("private key, %s: %v", name, err)
		}
	}
	for name, key := range map[string]ed25519.PublicKey{"none": nil, "short": make([]byte, 31), "long": make([]byte, 33)} {
		if _, err := eventlog.NewEd25519Verifier(key); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("public key, %s: %v", name, err)
		}
	}
}

func TestKeysAreCopied(t *testing.T) {
	private := testKey(1)
	public := bytes.Clone(private.Public().(ed25519.PublicKey))
	codec, err := eventlog.NewEd25519Signer(private)
	if err != nil {
		t.Fatal(err)
	}
	open, err := eventlog.NewEd25519Verifier(public)
	if err != nil {
		t.Fatal(err)
	}
	clear(private)
	clear(public)
	b, err := codec.Seal("state", 7, []byte("payload"))
	if err != nil || hex.EncodeToString(b) != golden {
		t.Errorf("sealed %x, %v", b, err)
	}
	if _, err := open.Open("state", 7, b); err != nil {
		t.Error(err)
	}
}

// FuzzOpen: what opens is what sealing gives, byte for byte, and the rest is
// refused in one way.
func FuzzOpen(f *testing.F) {
	f.Add("state", int64(7), sealed(f, "state", 7, "payload"))
	f.Add("state", int64(7), sealed(f, "other", 7, "payload"))
	f.Add("", int64(-1), sealed(f, "", -1, ""))
	f.Add("state", int64(0), []byte{1})
	f.Add("state", int64(0), []byte{})
	codec := signer(f, 1)
	f.Fuzz(func(t *testing.T, stream string, seq int64, b []byte) {
		given := bytes.Clone(b)
		payload, err := codec.Open(stream, seq, b)
		if !bytes.Equal(given, b) {
			t.Fatal("Open changed its argument")
		}
		if err != nil {
			if !errors.Is(err, eventlog.ErrSealBroken) || payload != nil {
				t.Fatalf("opened %x, %v", payload, err)
			}
			return
		}
		again, err := codec.Seal(stream, seq, payload)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x opened, and seals as %x, %v", b, again, err)
		}
	})
}
