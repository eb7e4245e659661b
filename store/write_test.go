package store_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// constRand yields the same byte for ever.
type constRand byte

func (r constRand) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{byte(r)}, len(b)))
	return len(b), nil
}

func testConfig() store.Config {
	now := time.UnixMilli(1_790_000_000_000)
	return store.Config{Now: func() time.Time { return now }, Rand: constRand(7)}
}

// put writes one unsigned version of a key the way that state does.
func put(t *testing.T, s *store.Store, writer merge.InstanceID, k merge.Key, body string) error {
	t.Helper()
	return s.Write(t.Context(), k.String(), func(r *store.Reader) ([]merge.Record, error) {
		rec, err := draft(s, r, writer, k, body)
		return []merge.Record{rec}, err
	})
}

func draft(s *store.Store, r *store.Reader, writer merge.InstanceID, k merge.Key, body string) (merge.Record, error) {
	held, err := r.Held(k)
	if err != nil {
		return merge.Record{}, err
	}
	own, err := r.OwnCovered(k, writer)
	if err != nil {
		return merge.Record{}, err
	}
	stamp, err := s.Clock().Now()
	if err != nil {
		return merge.Record{}, err
	}
	basis, version := merge.Supersede(store.Versions(held), own, writer, stamp)
	return seal(writer, k, stamp, basis, version, body)
}

func seal(writer merge.InstanceID, k merge.Key, stamp hlc.Timestamp, basis merge.Basis, version int64, body string) (merge.Record, error) {
	return merge.Seal(merge.Record{
		Key: k, Basis: basis, Body: []byte(body),
		Envelope: merge.Envelope{SyncVersion: version, OriginInstanceID: writer, UpdatedHLC: stamp, LastWriterID: writer},
	}, merge.Unsigned, nil)
}

func TestWriteThenRead(t *testing.T) {
	s, err := store.Open(store.NewMemory(), testConfig())
	if err != nil {
		t.Fatal(err)
	}
	k := merge.Key{Kind: "skill", ID: merge.NewID("deploy")}
	for _, body := range []string{"one", "two"} {
		if err := put(t, s, "local", k, body); err != nil {
			t.Fatal(err)
		}
	}
	err = s.View(func(r *store.Reader) error {
		head, err := r.Head(k)
		if err != nil {
			return err
		}
		if string(head.Body) != "two" || head.Envelope.SyncVersion != 2 {
			t.Errorf("head %q version %d, want two version 2", head.Body, head.Envelope.SyncVersion)
		}
		past, err := r.History(k)
		if len(past) != 1 {
			t.Errorf("history has %d versions, want 1", len(past))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if state := s.State(k.Section()); state.Head != 2 || state.Count != 1 {
		t.Errorf("state %+v, want head 2 and count 1", state)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := put(t, s, "local", k, "three"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write after close: %v, want ErrClosed", err)
	}
}
