package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// fromClient carries a line of the client to the daemon, or keeps it until there
// is one.
func (s *session) fromClient(line []byte) {
	messages, err := parse(line)
	if err != nil {
		s.toClient(errorLine(nil, rpcError{Code: codeParse, Message: "not a message in JSON: " + err.Error()}))
		return
	}
	if s.refuseUnsound(line, messages) {
		return
	}
	for i := range messages {
		s.note(&messages[i], line)
	}
	switch {
	case s.ready:
		s.send(line, messages)
	case len(messages) == 1 && messages[0].Method == methodPing:
		// The client asks whether anybody is there, and somebody is.
		delete(s.pending, messages[0].key())
		s.toClient(mustLine(map[string]any{"jsonrpc": "2.0", "id": messages[0].ID, "result": struct{}{}}))
	case s.isGone, s.held.isFull():
		s.fail(messages)
	default:
		s.held.add(line, messages)
	}
}

// refuseUnsound answers what is no message, on which a daemon would end the
// session, and a batch where the protocol has none.
func (s *session) refuseUnsound(line []byte, messages []message) (refused bool) {
	isBatch := bytes.HasPrefix(line, []byte("["))
	refuse := func(m *message, text string) {
		s.toClient(errorLine(m.answerID(), rpcError{Code: codeInvalid, Message: text}))
		refused = true
	}
	switch {
	case isBatch && !s.hasBatches():
		refuse(&message{}, "this version of the protocol has no batches: send each message in a line of its own")
	case len(messages) == 0:
		refuse(&message{}, "a batch of nothing")
	}
	for i := range messages {
		if m := &messages[i]; !refused && !m.isSound() {
			refuse(m, `not a message: it needs "jsonrpc":"2.0", and a method or the id of a request`)
		} else if !refused && !m.hasID() {
			refuse(m, m.whyNoID())
		}
	}
	return refused
}

// hasBatches reports whether the client began its session with a version of the
// protocol that has batches.
func (s *session) hasBatches() bool {
	var first message
	if json.Unmarshal(s.initialize, &first) != nil {
		return false
	}
	version := first.read().Version
	return version == "2024-11-05" || version == "2025-03-26"
}

// refuseLong answers a message of the client that is too long.
func (s *session) refuseLong(id json.RawMessage) {
	s.toClient(errorLine((&message{ID: id}).answerID(), rpcError{Code: codeParse, Message: fmt.Sprintf("the message has more than %d bytes", s.LineBytesMax)}))
}

// note remembers of a message of the client what another session would need.
func (s *session) note(m *message, line []byte) {
	switch m.Method {
	case methodInitialized:
		s.initialized = line
	case methodCancelled:
		key := keyOf(m.read().RequestID)
		if s.listening[key] != nil {
			delete(s.listening, key)
			delete(s.pending, key)
		}
	}
	if !m.isRequest() {
		return
	}
	r := &request{message: *m}
	switch m.Method {
	case methodInitialize:
		if r.line = line; !s.hasBegun { // one that begins it again is refused
			s.initialize, s.initialized = line, nil
		}
	case methodListen:
		r.line = line
		s.listening[m.key()] = &listen{id: m.ID, line: line, uris: m.read().Notifications.ResourceSubscriptions}
	}
	s.pending[m.key()] = r
}

// send gives a line to the daemon. The relay's own have no messages.
func (s *session) send(line []byte, messages []message) { s.outbox.add(line, messages) }

// next returns where to write what, if anything is to be written.
func (s *session) next() (chan<- []byte, []byte) {
	if s.conn == nil || len(s.outbox.lines) == 0 {
		return nil, nil
	}
	return s.writer, s.outbox.lines[0].line
}

// wrote notes that the daemon may have seen a line.
func (s *session) wrote() {
	for _, m := range s.outbox.pop().messages {
		if r := s.pending[m.key()]; r != nil && m.Method != "" {
			r.isSent = true
		}
	}
}

// heard takes a line of the daemon, or the end of its connection.
func (s *session) heard(in inbound) {
	switch {
	case in.from != s.conn: // of a session that is over
	case errors.Is(in.err, errLineTooLong):
		s.answerLong(in.line)
	case in.err != nil:
		s.lose()
	default:
		s.carryBack(in.line)
	}
}

// answerLong answers for the daemon, whose answer is too long to be carried.
func (s *session) answerLong(id json.RawMessage) {
	if r := s.pending[keyOf(id)]; r != nil {
		delete(s.pending, r.key())
		s.toClient(errorLine(id, rpcError{
			Code: codeLost, Message: fmt.Sprintf("the answer has more than %d bytes: ask for less", s.LineBytesMax),
		}))
	}
}

// carryBack carries a line of the daemon to the client, but for answers to the
// relay's own requests.
func (s *session) carryBack(line []byte) {
	messages, err := parse(line)
	if err != nil {
		return // a daemon that says no JSON says nothing
	}
	for i := range messages {
		m := &messages[i]
		if own := s.replays[m.key()]; own != nil && m.isAnswer() {
			delete(s.replays, m.key())
			own(m)
			return
		}
		if m.Method == methodAcknowledged && s.acknowledged(m) {
			return
		}
		if l := s.listening[m.key()]; l != nil && l.lasts && m.isAnswer() && len(m.Error) == 0 {
			return // the daemon stops: the listening goes on with the next one
		}
		if m.isAnswer() {
			s.answered(m)
		}
	}
	s.toClient(line)
}

// answered takes note of an answer to the client.
func (s *session) answered(m *message) {
	r := s.pending[m.key()]
	if r == nil {
		return
	}
	delete(s.pending, m.key())
	delete(s.listening, m.key())
	switch uri := r.read().URI; {
	case r.Method == methodInitialize:
		if s.hasBegun = s.hasBegun || len(m.Error) == 0; !s.hasBegun {
			s.initialize = nil
		}
	case len(m.Error) > 0:
	case r.Method == methodSubscribe:
		s.subscriptions[uri] = true
	case r.Method == methodUnsubscribe:
		delete(s.subscriptions, uri)
	}
}

// fail answers requests that never reached a daemon.
func (s *session) fail(messages []message) {
	for i := range messages {
		if m := &messages[i]; m.isRequest() {
			delete(s.pending, m.key())
			delete(s.listening, m.key())
			if m.Method == methodInitialize {
				s.initialize = nil
			}
			s.toClient(errorLine(m.ID, rpcError{
				Code: codeLost, Message: "the daemon is not running: fleetd run starts it. The call was not made, and may be repeated.",
				Data: &rpcErrorData{Repeatable: true},
			}))
		}
	}
}

// failSent answers a request that was under way when the daemon went away.
func (s *session) failSent(r *request) {
	repeatable := true
	if r.Method == methodCall {
		repeatable = s.ReadOnly(r.read().Name)
	}
	text := "the daemon was restarted before it answered. The call changes nothing, and may be repeated."
	if !repeatable {
		text = "the daemon was restarted before it answered. The call may or may not have been done: look before you repeat it."
	}
	s.toClient(errorLine(r.ID, rpcError{Code: codeLost, Message: text, Data: &rpcErrorData{Repeatable: repeatable}}))
}

// subscriptionOf is the id of the listening that a notice belongs to.
func subscriptionOf(m *message) json.RawMessage { return m.read().Meta[metaSubscription] }
