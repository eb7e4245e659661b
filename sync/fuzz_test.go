package sync_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// FuzzReceive gives an engine a series of frames of a peer, each behind one
// byte of length and with ids that it awaits, and carries out what it asks
// for: it must neither panic nor let the store lose its order.
func FuzzReceive(f *testing.F) {
	codec := newCodec(f)
	for _, m := range messages() {
		frame, err := codec.Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append([]byte{byte(len(frame) - 1)}, frame[1:]...))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		now := time.UnixMilli(1_790_000_000_000)
		rng := readFrom{rand.New(rand.NewPCG(1, 2))} //nolint:gosec // a fuzz target wants the same salts each time
		st, err := store.Open(store.NewMemory(), store.Config{Now: func() time.Time { return now }, Rand: rng})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = st.Close() }()
		wanted := sealed(t, "c", memoryKeyOf("wanted"), refTo([]byte("content")))
		if _, err := st.Merge(t.Context(), store.Batch{Path: store.PathFeed, Records: []merge.Record{wanted}}); err != nil {
			t.Fatal(err)
		}
		engine := fleetsync.New(fleetsync.Config{
			Self: "a", Share: fleetsync.DefaultShare, EventType: func(kind string, _ bool) string { return kind },
			// The first eight bytes say where requests are numbered from.
			Rand: io.MultiReader(bytes.NewReader(make([]byte, 8)), rng), Now: now,
		}, st, openly{})
		engine.Connected("b")
		greet(engine)
		for len(script) > 1 {
			n := min(int(script[0]), len(script)-1)
			if m, err := codec.Decode(script[1 : 1+n]); err == nil {
				engine.Receive("b", await(m))
			}
			script = script[1+n:]
			now = now.Add(time.Second)
			engine.Tick(now)
			carry(t, engine, st)
		}
	})
}

// greet makes the engine pull from b, so that answers are awaited.
func greet(engine *fleetsync.Engine) {
	engine.Receive("b", &fleetsync.Hello{
		Fleet: make([]byte, 32), Store: make([]byte, 16), Incarnation: 1,
		Heads: fleetsync.Heads{Salt: salt, Sections: []fleetsync.SectionHead{
			{Section: "memory\x1f\x1f\x1f", Head: 500, Count: 500, Root: make([]byte, 16)},
		}},
	})
}

// await gives an answer the id of the newest request, which a fuzzer would
// hardly guess: here requests are numbered from 1, one at a time.
func await(m fleetsync.Message) fleetsync.Message {
	switch m := m.(type) {
	case *fleetsync.Page:
		m.ID %= 16
	case *fleetsync.ChangesPage:
		m.ID %= 16
	case *fleetsync.Records:
		m.ID %= 16
	case *fleetsync.CursorInvalid:
		m.ID %= 16
	case *fleetsync.Blob:
		m.ID %= 16
	case *fleetsync.Busy:
		m.ID %= 16
	}
	return m
}

func carry(t *testing.T, engine *fleetsync.Engine, st *store.Store) {
	t.Helper()
	out := engine.Drain()
	for _, a := range out.Answer {
		engine.Answered(a, a.Read())
	}
	for _, v := range out.Verify {
		ok := make([]bool, len(v.Records))
		for i := range ok {
			ok[i] = i%2 == 0
		}
		engine.Verified(v, ok)
	}
	for _, a := range out.Apply {
		if a.Chunk != nil {
			_, err := st.AddChunk(t.Context(), *a.Chunk)
			engine.Applied(a.ID, store.Result{}, err)
			continue
		}
		if a.Reconsider {
			res, err := st.Reconsider(t.Context(), func(r *merge.Record) store.Verdict { return fleetsync.Judge(openly{}, r) })
			engine.Applied(a.ID, res, err)
			continue
		}
		res, err := st.Merge(t.Context(), a.Batch)
		engine.Applied(a.ID, res, err)
	}
}
