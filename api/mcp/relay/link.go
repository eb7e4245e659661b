package relay

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// listen is a request that lasts: it is made anew in each session.
type listen struct {
	id   json.RawMessage
	line []byte
	uris []string
	// isAcknowledged says that the client knows that it listens.
	isAcknowledged bool
	// lasts says that the daemon listens for it until it stops: it was granted
	// something.
	lasts bool
}

// connect takes a connection for the one with the daemon.
func (s *session) connect(conn io.ReadWriteCloser) {
	s.conn, s.writer = conn, make(chan []byte)
	writer := s.writer
	s.workers.Go(func() { writeLines(writer, conn) })
	s.workers.Go(func() { readLines(s.ctx, newLineReader(conn, s.LineBytesMax), conn, s.fromDaemon) })
}

// writeLines writes lines until there are no more. When that fails the connection
// is lost, which its reader reports.
func writeLines(lines <-chan []byte, conn io.ReadWriteCloser) {
	for line := range lines {
		if _, err := conn.Write(slices.Concat(line, newline)); err != nil {
			_ = conn.Close() // it is lost already
		}
	}
}

// disconnect closes the connection.
func (s *session) disconnect() {
	if s.conn != nil {
		_ = s.conn.Close() // nothing is said on it any more
		close(s.writer)
		s.conn, s.writer = nil, nil
	}
}

// lose begins to look for the daemon, and answers what it left unanswered. How
// the session began, and what only listens, is asked of the next one.
func (s *session) lose() {
	s.disconnect()
	s.ready = false
	clear(s.replays)
	later := s.held.take()
	for _, w := range append(s.outbox.take(), later...) {
		if w.messages != nil {
			s.held.add(w.line, w.messages)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.pending)) {
		r := s.pending[key]
		if !r.isSent || r.line != nil {
			continue
		}
		delete(s.pending, key)
		s.failSent(r)
	}
	s.Note("the daemon went away; waiting for it")
	s.hold.Reset(holdMax)
	s.workers.Go(s.redial)
}

// redial tries until there is a connection, or ctx ends.
func (s *session) redial() {
	pause := time.NewTimer(retryMin)
	defer pause.Stop()
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			return
		}
		if conn, err := s.Dial(s.ctx); err == nil {
			select {
			case s.dialled <- conn:
			case <-s.ctx.Done():
				_ = conn.Close() // nobody wants it any more
			}
			return
		}
		pause.Reset(wait)
	}
}

// giveUp answers what has waited for too long.
func (s *session) giveUp() {
	s.isGone = true
	for _, r := range s.pending {
		if r.Method == methodInitialize && r.isSent {
			s.fail([]message{r.message})
		}
	}
	for _, w := range s.held.take() {
		s.fail(w.messages)
	}
}

// begin begins the session on a new connection as the client began its own.
func (s *session) begin(conn io.ReadWriteCloser) {
	s.connect(conn)
	s.isGone = false
	s.hold.Stop()
	if s.initialize == nil {
		s.resume()
		return
	}
	var first message
	if json.Unmarshal(s.initialize, &first) == nil {
		if r := s.pending[first.key()]; r != nil && r.isSent {
			// The client still waits for its own answer.
			s.send(s.initialize, nil)
			s.resume()
			return
		} else if r != nil {
			s.resume() // it is among what is held
			return
		}
	}
	s.replay(func(id string) ([]byte, error) { return withID(s.initialize, id) }, func(answer *message) {
		if len(answer.Error) > 0 {
			s.Note(fmt.Sprintf("the daemon refused the session: %.200s", answer.Error))
			_ = s.conn.Close() // another attempt follows
			return
		}
		if s.initialized != nil {
			s.send(s.initialized, nil)
		}
		s.resume()
	})
}

// replay makes a request of the relay's own.
func (s *session) replay(line func(id string) ([]byte, error), then func(*message)) {
	s.counted++
	id := fmt.Sprintf("fleetd-relay-%d", s.counted)
	text, err := line(id)
	if err != nil { // the client's own line was read before
		s.failed = err
		return
	}
	s.replays[keyOf(mustLine(id))] = then
	s.send(text, nil)
}

// resume goes on after a session has begun: what the client subscribed to, what
// it listens to, and then what waited.
func (s *session) resume() {
	s.ready = true
	s.Note("connected with the daemon again")
	for _, uri := range slices.Sorted(maps.Keys(s.subscriptions)) {
		s.replay(func(id string) ([]byte, error) { return requestLine(id, methodSubscribe, uri), nil }, func(*message) {
			// What changed in between nobody knows, so it is as if it had.
			s.toClient(updatedLine(uri, nil))
		})
	}
	for _, key := range slices.Sorted(maps.Keys(s.listening)) {
		if r := s.pending[key]; r != nil && r.isSent {
			s.send(s.listening[key].line, nil)
		}
	}
	for _, w := range s.held.take() {
		s.send(w.line, w.messages)
	}
}

// acknowledged reports whether the client knows already that it listens, and
// then tells it that what it listens to may have changed.
func (s *session) acknowledged(m *message) (known bool) {
	l := s.listening[keyOf(subscriptionOf(m))]
	if l != nil {
		granted := m.read().Notifications
		l.lasts = granted.any()
	}
	if l == nil || !l.isAcknowledged {
		if l != nil {
			l.isAcknowledged = true
		}
		return false
	}
	for _, uri := range l.uris {
		s.toClient(updatedLine(uri, l.id))
	}
	return true
}
