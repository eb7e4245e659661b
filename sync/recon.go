package sync

import (
	"crypto/sha256"
	"fmt"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// Recon compares parts of a section: for each span it says what its sender
// holds, or asks for what the responder holds. The responder answers with
// ReconAnswer and keeps no state.
type Recon struct {
	ID      uint64 `cbor:"1,keyasint"`
	Section string `cbor:"2,keyasint"`
	// Salt enters every print and tag of the question and of its answer; 8 random
	// bytes.
	Salt []byte `cbor:"3,keyasint"`
	// After is the position at which the first span begins; empty is the
	// beginning of the section.
	After []byte      `cbor:"4,keyasint,omitempty"`
	Spans []ReconSpan `cbor:"5,keyasint"`
	// Exact has prints made of every item hash, not of their sum, which an insider
	// can forge: an audit.
	Exact bool `cbor:"6,keyasint,omitempty"`
}

// ReconAnswer answers Recon, beginning where that does. It may end before it:
// the rest is asked again.
type ReconAnswer struct {
	ID    uint64      `cbor:"1,keyasint"`
	Spans []ReconSpan `cbor:"2,keyasint"`
	// Writers are those of Items, which name them by their place here.
	Writers []merge.InstanceID `cbor:"3,keyasint,omitempty"`
	// Items are versions that the responder holds, by position.
	Items []ReconItem `cbor:"4,keyasint,omitempty"`
	// Head is a place in the responder's feed: what the answer says takes
	// everything up to it into account.
	Head        uint64 `cbor:"5,keyasint"`
	Incarnation uint64 `cbor:"6,keyasint"`
}

// ReconSpan is one of consecutive spans: it begins where the one before ends.
type ReconSpan struct {
	_ struct{} `cbor:",toarray"`
	// Shared bytes of the place where the one before ends, and Rest, are the place
	// where this one ends, inclusive; none at all is the end of the section.
	Shared uint64
	Rest   []byte
	Mode   uint8
	// Count and Print say what is held, of a span to be compared: the number of
	// versions and 8 bytes of a salted hash. Of a list that is asked for, Print
	// are the tags of what need not be listed.
	Count uint64
	Print []byte
}

// ReconItem announces one held version, in short.
type ReconItem struct {
	_      struct{} `cbor:",toarray"`
	Shared uint64   // bytes of its order key that the one before begins with
	Rest   []byte
	Writer uint64 // its place in Writers
	Stamp  uint64
	Tag    []byte // 6 bytes of a salted hash of the item hash
}

// Modes of a span.
const (
	spanSkip    = 0 // equal, or of no interest
	spanCompare = 1
	spanList    = 2 // only in a question
)

// Type implements Message.
func (*Recon) Type() MessageType { return TypeRecon }

// Type implements Message.
func (*ReconAnswer) Type() MessageType { return TypeReconAnswer }

func (m *Recon) validate() error {
	if len(m.Salt) != saltBytes || len(m.Spans) == 0 || len(m.After) > positionBytesMax {
		return fmt.Errorf("%w: question with %d bytes of salt, %d spans", ErrMalformed, len(m.Salt), len(m.Spans))
	}
	if err := validateSpans(m.Spans); err != nil {
		return err
	}
	return validateSection(m.Section)
}

func (m *ReconAnswer) validate() error {
	if len(m.Items) > refsMax || len(m.Writers) > len(m.Items) {
		return fmt.Errorf("%w: answer of %d items by %d writers", ErrTooLarge, len(m.Items), len(m.Writers))
	}
	for i := range m.Items {
		item := &m.Items[i]
		if len(item.Tag) != tagBytes || item.Writer >= uint64(len(m.Writers)) || len(item.Rest) > positionBytesMax {
			return fmt.Errorf("%w: item with a tag of %d bytes by writer %d", ErrMalformed, len(item.Tag), item.Writer)
		}
		if _, err := hlc.Unpack(item.Stamp); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	return validateSpans(m.Spans)
}

func validateSpans(spans []ReconSpan) error {
	if len(spans) > spansMax {
		return fmt.Errorf("%w: %d spans", ErrTooLarge, len(spans))
	}
	for i := range spans {
		s := &spans[i]
		ok := len(s.Rest) <= positionBytesMax
		switch s.Mode {
		case spanCompare:
			ok = ok && len(s.Print) == printBytes
		case spanList:
			ok = ok && len(s.Print)%tagBytes == 0
		}
		if !ok {
			return fmt.Errorf("%w: span of mode %d with %d bytes", ErrMalformed, s.Mode, len(s.Print))
		}
	}
	return nil
}

const (
	printBytes = 8
	tagBytes   = 6
)

// printOf is how the digest of a span travels.
func printOf(salt []byte, d store.Digest) []byte { return saltedDigest(salt, d)[:printBytes] }

// tag is a salted hash of an item hash.
type tag [tagBytes]byte

func tagOf(salt []byte, item merge.Hash) tag {
	var b [saltBytes + len(item)]byte
	copy(b[:], salt)
	copy(b[saltBytes:], item[:])
	h := sha256.Sum256(b[:])
	return tag(h[:tagBytes])
}

// stated is what a store says of a span: digest and print.
type stated struct {
	store.Digest
	print []byte
}

// state reads what a store holds of a span.
func state(r *store.Reader, section merge.Section, span store.Span, salt []byte, exact bool) (stated, error) {
	d, err := r.Digest(section, span)
	if err != nil || !exact {
		return stated{d, printOf(salt, d)}, err
	}
	h := sha256.New()
	h.Write(salt)
	d = store.Digest{}
	err = r.Items(section, span, func(item store.Item) bool {
		d = d.Add(item.Hash)
		h.Write(item.Hash[:])
		return true
	})
	return stated{d, h.Sum(nil)[:printBytes]}, err
}

// chain writes and reads strings of which each is told by what it has more than
// the one before.
type chain struct{ last string }

func (c *chain) shorten(s string) (shared uint64, rest []byte) {
	n := 0
	for n < len(s) && n < len(c.last) && s[n] == c.last[n] {
		n++
	}
	c.last = s
	return uint64(n), []byte(s[n:])
}

// end is shorten for the end of a span, of which none at all is the end of the
// section.
func (c *chain) end(upTo store.Position) (shared uint64, rest []byte) {
	if upTo == "" {
		return 0, nil
	}
	return c.shorten(string(upTo))
}

// restore is the inverse of shorten. Errors: ErrProtocol.
func (c *chain) restore(shared uint64, rest []byte) (string, error) {
	if shared > uint64(len(c.last)) || shared+uint64(len(rest)) > positionBytesMax {
		return "", fmt.Errorf("%w: %d bytes of a text of %d", ErrProtocol, shared, len(c.last))
	}
	c.last = c.last[:shared] + string(rest)
	return c.last, nil
}

// spans reads consecutive spans, the first of which begins at a position. The
// last may end with the section.
func (c *chain) spans(after store.Position, list []ReconSpan) ([]store.Span, error) {
	c.last = string(after)
	spans := make([]store.Span, len(list))
	for i := range list {
		end, err := c.restore(list[i].Shared, list[i].Rest)
		if err != nil {
			return nil, err
		}
		spans[i] = store.Span{After: after, UpTo: store.Position(end)}
		if end == "" && i+1 < len(list) || spans[i].IsEmpty() {
			return nil, fmt.Errorf("%w: span %d ends at %.60q", ErrProtocol, i, end)
		}
		after = spans[i].UpTo
	}
	return spans, nil
}

// fanout is into how many parts a span that differs is divided. The fewer of
// them there are, the more do round trips count beside bytes.
func fanout(differing int) int {
	switch {
	case differing <= 2:
		return 16
	case differing <= 16:
		return 8
	}
	return 4
}
