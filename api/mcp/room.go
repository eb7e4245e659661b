package mcp

import (
	"fmt"
	"sync"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
)

// Bounds of one daemon, over all agents of the machine.
const (
	// sessionsMax is how many sessions there may be: each is a connection and some
	// goroutines.
	sessionsMax = 256
	// listensMax is how many requests may listen for changes: each stays open, and
	// over HTTP has a watcher of its own.
	listensMax = 256
	// subscriptionsMax is how many resources may be subscribed to, each counted
	// once for each session.
	subscriptionsMax = 16_384
)

// room bounds how many of something a daemon has. It is safe for concurrent use.
type room struct {
	what string
	max  int

	mu    sync.Mutex // guards taken
	taken int
}

// take takes a place, which give gives back. Errors: a *wire.Problem.
func (r *room) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken >= r.max {
		return api.NewProblem(wire.CodeUnavailable, fmt.Sprintf("this daemon has %d %s already, and takes no more: end some", r.taken, r.what))
	}
	r.taken++
	return nil
}

func (r *room) give() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
}

// subscriptions are the resources that one session has subscribed to. It is safe
// for concurrent use.
type subscriptions struct {
	room *room

	mu   sync.Mutex // guards uris
	uris map[string]bool
}

// add adds a URI; one that is there takes no room. Errors: those of room.take.
func (s *subscriptions) add(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris[uri] {
		return nil
	}
	if err := s.room.take(); err != nil {
		return err
	}
	s.uris[uri] = true
	return nil
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uris[uri] {
		delete(s.uris, uri)
		s.room.give()
	}
}

// end gives back what a session has at its end.
func (s *subscriptions) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.uris {
		delete(s.uris, uri)
		s.room.give()
	}
}
