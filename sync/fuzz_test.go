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
		f.Add(scriptOf(f, codec, m))
	}
	f.Add(scriptOf(f, codec, answersToRanges()...))
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
			Self: "a", EventType: func(kind string, _ bool) string { return kind },
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

// scriptOf is what FuzzReceive makes messages of.
func scriptOf(f *testing.F, codec *fleetsync.Codec, list ...fleetsync.Message) (script []byte) {
	f.Helper()
	for _, m := range list {
		frame, err := codec.Encode(m)
		if err != nil || len(frame) > 256 {
			f.Fatalf("frame of %d bytes: %v", len(frame), err)
		}
		script = append(append(script, byte(len(frame)-1)), frame[1:]...)
	}
	return script
}

// answersToRanges are what a peer may say after greet, in turn: the whole is
// divided, its first part is listed, what was listed comes, and so does the gap
// after it.
func answersToRanges() []fleetsync.Message {
	other := bytes.Repeat([]byte{7}, 8)
	return []fleetsync.Message{
		&fleetsync.ReconAnswer{ID: 1, Head: 500, Incarnation: 1, Spans: []fleetsync.ReconSpan{
			{Rest: []byte("memory\x00x"), Mode: 1, Count: 9, Print: other}, {Mode: 1, Count: 491, Print: other},
		}},
		&fleetsync.ReconAnswer{
			ID: 2, Head: 500, Incarnation: 1, Spans: []fleetsync.ReconSpan{{Rest: []byte("memory\x00x"), Mode: 0}}, Writers: []merge.InstanceID{"c"},
			Items: []fleetsync.ReconItem{
				{Rest: []byte("memory\x00u"), Stamp: 7 << 16, Tag: bytes.Repeat([]byte{8}, 6)},
				{Shared: 7, Rest: []byte("w"), Stamp: 8 << 16, Tag: bytes.Repeat([]byte{9}, 6)},
			},
		},
		&fleetsync.Records{ID: 4, Answered: 2, Records: [][]byte{}},
		&fleetsync.Page{ID: 5, Records: [][]byte{}, Done: true, Sum: make([]byte, 32), Head: 500, Incarnation: 1},
	}
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
	case *fleetsync.ReconAnswer:
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
			res, err := st.Reconsider(t.Context(), fleetsync.Judging(openly{}))
			engine.Applied(a.ID, res, err)
			continue
		}
		res, err := st.Merge(t.Context(), a.Batch)
		engine.Applied(a.ID, res, err)
	}
}
