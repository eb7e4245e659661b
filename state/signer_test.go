package state_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/clock"
	"github.com/fleetsync/fleetd/store"
)

// signingKey is a Signer whose failure can be set.
type signingKey struct {
	key  ed25519.PrivateKey
	fail error
}

func newKey() *signingKey {
	return &signingKey{key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
}

func (k *signingKey) InstanceID() merge.InstanceID {
	return merge.InstanceOf(k.key.Public().(ed25519.PublicKey))
}

func (k *signingKey) Fleet() merge.FleetID { return merge.FleetID{1} }

func (k *signingKey) Sign(message []byte) ([]byte, error) {
	if k.fail != nil {
		return nil, k.fail
	}
	return ed25519.Sign(k.key, message), nil
}

func openSigned(t failer, engine store.Engine, key *signingKey, admit func(*merge.Record) error) state.Replica {
	t.Helper()
	return openSignedNode(t, engine, key, admit).Replica
}

func openSignedNode(t failer, engine store.Engine, key *signingKey, admit func(*merge.Record) error) *node {
	t.Helper()
	n := &node{}
	st, err := store.Open(engine, store.Config{
		Now: clock.System{}.Now, Rand: &countingEntropy{}, Indexer: state.Indexer{},
		OnCommit: func(c store.Commit) { n.log = append(n.log, c.Records...) },
	})
	must(t, err)
	n.store = st
	n.Replica, err = state.Open(st, state.Config{Signer: key, Admit: admit})
	must(t, err)
	return n
}

func TestEveryRecordIsSignedByTheWriter(t *testing.T) {
	key := newKey()
	n := openSignedNode(t, store.NewMemory(), key, nil)
	defer func() { must(t, n.Close()) }()
	ctx := t.Context()
	sk := n.upsert(t, state.Skill{Slug: "a", Envelope: state.Envelope{OriginInstanceID: "claim"}})
	it := n.write(t, state.MemoryItem{ID: "x"})
	must(t, n.Skills().Delete(ctx, "a"))
	must(t, n.Memory().Delete(ctx, "x"))
	same(t, key.InstanceID().String(), sk.LastWriterID)
	same(t, []string{"claim", sk.LastWriterID}, []string{sk.OriginInstanceID, it.OriginInstanceID})
	if len(n.log) != 4 {
		t.Fatalf("%d records", len(n.log))
	}
	for _, rec := range n.log {
		public, _ := rec.Envelope.LastWriterID.PublicKey()
		if rec.Algorithm != merge.Ed25519 || rec.Fleet != key.Fleet() || !ed25519.Verify(public, rec.SignedBytes(), rec.Signature) {
			t.Errorf("%s: algorithm %d, fleet %x, signature does not verify", rec.Key, rec.Algorithm, rec.Fleet)
		}
	}
}

func TestAWriteThatIsNotAdmittedLeavesNothing(t *testing.T) {
	reason := errors.New("no grant")
	var denied merge.Key
	n := openSignedNode(t, store.NewMemory(), newKey(), func(rec *merge.Record) error {
		if rec.Key == denied {
			return reason
		}
		return nil
	})
	defer func() { must(t, n.Close()) }()
	ctx := t.Context()
	n.upsert(t, state.Skill{Slug: "a"})
	before := n.answers(t)
	denied = merge.Key{Kind: "skill", ID: merge.NewID("a")}
	_, err := n.Skills().Upsert(ctx, state.Skill{Slug: "a", Body: "new"})
	for _, err := range []error{err, n.Skills().Delete(ctx, "a")} {
		if !errors.Is(err, state.ErrDenied) || !errors.Is(err, reason) {
			t.Errorf("got %v, want ErrDenied for the reason", err)
		}
	}
	same(t, before, n.answers(t))
	same(t, 1, len(n.log))
}

func TestAFailingSignerLeavesNothing(t *testing.T) {
	key := newKey()
	n := openSignedNode(t, store.NewMemory(), key, nil)
	defer func() { must(t, n.Close()) }()
	key.fail = errors.New("key locked")
	_, err := n.Memory().Write(context.Background(), state.MemoryItem{})
	if !errors.Is(err, key.fail) {
		t.Errorf("got %v, want %v", err, key.fail)
	}
	same(t, 0, len(n.log))
}

func TestOpenRefusesAConfigThatCannotBe(t *testing.T) {
	tests := map[string]state.Config{
		"a signer and an instance id": {Signer: newKey(), InstanceID: "x"},
		"a signer without a fleet":    {Signer: noFleet{newKey()}},
		"a signer without a key":      {Signer: noKey{newKey()}},
		"an instance id with newline": {InstanceID: "a\nb"},
		"a scope with a newline":      {Scope: state.Scope{Project: "\n"}},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(store.NewMemory(), store.Config{Now: startTime, Rand: &countingEntropy{}})
			must(t, err)
			defer func() { must(t, st.Close()) }()
			if _, err := state.Open(st, cfg); !errors.Is(err, state.ErrInvalid) {
				t.Errorf("got %v, want ErrInvalid", err)
			}
		})
	}
}

type noFleet struct{ *signingKey }

func (noFleet) Fleet() merge.FleetID { return merge.FleetID{} }

type noKey struct{ *signingKey }

func (noKey) InstanceID() merge.InstanceID { return "local" }
