package relay

import (
	"encoding/json"
)

// idBytesMax is the longest id that is found in a line that is too long.
const idBytesMax = 1 << 10

// idScanner finds the id of a message in its text, which it takes in parts and
// does not keep: many programs write it last. What it holds is bounded by
// idBytesMax. The zero value is ready.
type idScanner struct {
	depth     int
	inString  bool
	isEscaped bool // the next byte of the string is
	isValue   bool // a colon was read: what comes is the value of the name
	isLost    bool // what is read is longer than an id
	isBatch   bool // the line holds several messages
	text      []byte
	name      string
	id        json.RawMessage
}

// take reads the next part.
func (s *idScanner) take(part []byte) {
	for _, b := range part {
		switch {
		case s.inString:
			s.takeInString(b)
		case b == '"':
			s.inString = true
			s.keep(b)
		case b == '{', b == '[':
			s.open(b)
		case b == '}', b == ']':
			if s.depth--; s.depth == 0 {
				s.endValue()
			}
		case b != ' ' && b != '\t' && b != '\r' && b != '\n':
			s.takePlain(b)
		}
	}
}

// open begins an object or a list: the message itself, or a part of it.
func (s *idScanner) open(b byte) {
	s.isBatch = s.isBatch || s.depth == 0 && b == '['
	s.isLost = true // an id has no parts
	if s.depth++; s.depth == 1 {
		s.begin()
	}
}

func (s *idScanner) takePlain(b byte) {
	switch {
	case s.depth == 1 && b == ':':
		s.endName()
	case s.depth == 1 && b == ',':
		s.endValue()
	default:
		s.keep(b)
	}
}

func (s *idScanner) takeInString(b byte) {
	s.keep(b)
	switch {
	case s.isEscaped:
		s.isEscaped = false
	case b == '\\':
		s.isEscaped = true
	case b == '"':
		s.inString = false
	}
}

// keep keeps a byte of a name, or of the value of the id.
func (s *idScanner) keep(b byte) {
	if s.depth != 1 || s.isValue && s.name != "id" {
		return
	}
	if len(s.text) == idBytesMax {
		s.isLost = true
		return
	}
	s.text = append(s.text, b)
}

func (s *idScanner) begin() { s.text, s.isLost, s.isValue, s.name = s.text[:0], false, false, "" }

func (s *idScanner) endName() {
	if s.isLost || json.Unmarshal(s.text, &s.name) != nil {
		s.name = ""
	}
	s.text, s.isLost, s.isValue = s.text[:0], false, true
}

func (s *idScanner) endValue() {
	if s.isValue && s.name == "id" {
		// As encoding/json does, the last of equal names counts.
		if s.id = nil; !s.isLost && json.Valid(s.text) {
			s.id = append(json.RawMessage{}, s.text...)
		}
	}
	s.begin()
}

// found returns the id; nil when there is none, and for a batch.
func (s *idScanner) found() json.RawMessage {
	if s.isBatch {
		return nil
	}
	return s.id
}
