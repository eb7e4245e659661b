package node

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
)

// handlers owns goroutines that the network begins, one for each stream of a
// peer, and those of this node's own that belong with them, so that a Run can
// end them. The zero value is ready.
type handlers struct {
	group sync.WaitGroup

	mu      sync.Mutex // guards all following fields
	closed  bool
	streams map[network.Stream]struct{} // being served
}

// run serves a stream on the caller's goroutine, or resets it after close.
func (h *handlers) run(s network.Stream, serve func()) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		_ = s.Reset()
		return
	}
	if h.streams == nil {
		h.streams = map[network.Stream]struct{}{}
	}
	h.streams[s] = struct{}{}
	h.group.Add(1)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.streams, s)
		h.mu.Unlock()
		h.group.Done()
	}()
	serve()
}

// spawn runs fn on a goroutine of its own. It is not called after close, nor
// beside it but by a goroutine that close waits for.
func (h *handlers) spawn(fn func()) { h.group.Go(fn) }

// close resets the streams being served and waits for every goroutine.
func (h *handlers) close() {
	h.mu.Lock()
	h.closed = true
	for s := range h.streams {
		_ = s.Reset()
	}
	h.mu.Unlock()
	h.group.Wait()
}
