package fleet

import (
	"bytes"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
)

// Ticket is what an invitation hands to the joiner: whoever holds it may join.
type Ticket struct {
	// Addrs are multiaddresses of the inviter, without the peer id, best first.
	Addrs   []string
	Inviter merge.InstanceID
	Fleet   merge.FleetID
	Secret  Secret
	// Expires is to the millisecond. Only the inviter's clock decides.
	Expires time.Time
}

// wireTicket is the payload of a ticket. Evolution: keys are never reused; new
// fields are optional; a form that older builds must not read takes the next
// number after "fleet".
type wireTicket struct {
	Addrs   []string         `cbor:"1,keyasint"`
	Inviter merge.InstanceID `cbor:"2,keyasint"`
	Fleet   []byte           `cbor:"3,keyasint"` // 32 bytes
	Secret  []byte           `cbor:"4,keyasint"` // 16 bytes
	Expires int64            `cbor:"5,keyasint"` // milliseconds since 1970
}

const (
	ticketWord    = "fleet"
	ticketVersion = "1"
)

// Digits follow "fleet" as the version, and the payload, a map, begins with a
// letter: the end of the version is always plain.
func ticketEncoding() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// ID returns the handle by which the inviter finds the invitation.
func (t Ticket) ID() TicketID { return t.Secret.ID() }

// String returns the text form, "fleet1" and lower-case base32 of the payload
// and its CRC-32C: one word that a double click selects and a QR code holds.
// It panics on a ticket that ParseTicket would not give back.
func (t Ticket) String() string {
	if err := t.validate(); err != nil {
		panic("fleet: text of an invalid ticket: " + err.Error())
	}
	payload, err := merge.Marshal(wireTicket{
		Addrs: append([]string{}, t.Addrs...), Inviter: t.Inviter, Fleet: t.Fleet[:], Secret: t.Secret[:],
		Expires: t.Expires.UnixMilli(),
	})
	if err != nil {
		panic("fleet: encode ticket: " + err.Error()) // strings and numbers always do
	}
	return ticketWord + ticketVersion + ticketEncoding().EncodeToString(appendChecksum(payload))
}

// ParseTicket reads a ticket. White space anywhere, as a line break in a mail,
// and upper case do not matter. Errors: ErrTicketEmpty, ErrTicketSyntax,
// ErrTicketDamaged, ErrTicketVersion.
func ParseTicket(text string) (Ticket, error) {
	if len(text) > 2*ticketCharsMax {
		return Ticket{}, fmt.Errorf("%w: %d bytes", ErrTicketSyntax, len(text))
	}
	text = strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text))
	if text == "" {
		return Ticket{}, ErrTicketEmpty
	}
	rest, isTicket := strings.CutPrefix(text, ticketWord)
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	version, encoded := rest[:digits], rest[digits:]
	switch {
	case !isTicket || version == "" || version[0] == '0':
		return Ticket{}, fmt.Errorf("%w: it begins with %.12q, want %q", ErrTicketSyntax, text, ticketWord+ticketVersion)
	case version != ticketVersion:
		return Ticket{}, fmt.Errorf("%w: form %.12s, this one reads %s", ErrTicketVersion, version, ticketVersion)
	case len(encoded) > ticketCharsMax:
		return Ticket{}, fmt.Errorf("%w: %d characters", ErrTicketSyntax, len(encoded))
	}
	return decodeTicket(encoded)
}

func decodeTicket(encoded string) (Ticket, error) {
	raw, err := ticketEncoding().DecodeString(encoded)
	if err != nil {
		return Ticket{}, fmt.Errorf("%w: a character that no ticket has, or a missing end", ErrTicketDamaged)
	}
	payload, ok := cutChecksum(raw)
	// The last character has spare bits that the decoder ignores.
	if !ok || ticketEncoding().EncodeToString(raw) != encoded {
		return Ticket{}, fmt.Errorf("%w: the checksum does not match", ErrTicketDamaged)
	}
	var w wireTicket
	if err := merge.Unmarshal(payload, &w); err != nil {
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicketSyntax, err)
	}
	if len(w.Fleet) != len(merge.FleetID{}) || len(w.Secret) != secretBytes {
		return Ticket{}, fmt.Errorf("%w: fleet id of %d bytes, secret of %d", ErrTicketSyntax, len(w.Fleet), len(w.Secret))
	}
	if w.Expires < 0 || w.Expires > hlc.WallMax {
		return Ticket{}, fmt.Errorf("%w: expires at %d", ErrTicketSyntax, w.Expires)
	}
	t := Ticket{
		Addrs: w.Addrs, Inviter: w.Inviter, Fleet: merge.FleetID(w.Fleet), Secret: Secret(w.Secret),
		Expires: time.UnixMilli(w.Expires).UTC(),
	}
	if err := t.validate(); err != nil {
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicketSyntax, err)
	}
	return t, nil
}

// validate holds what both directions promise.
func (t *Ticket) validate() error {
	if _, ok := t.Inviter.PublicKey(); !ok {
		return fmt.Errorf("%w: ticket of %q, which is no key", ErrMalformed, t.Inviter)
	}
	if ms := t.Expires.UnixMilli(); ms < 0 || ms > hlc.WallMax {
		return fmt.Errorf("%w: ticket expires at %d", ErrMalformed, ms)
	}
	if len(t.Addrs) > addrsMax {
		return fmt.Errorf("%w: ticket of %d addresses, at most %d", ErrMalformed, len(t.Addrs), addrsMax)
	}
	for _, addr := range t.Addrs {
		if len(addr) < 2 || len(addr) > addrBytesMax || addr[0] != '/' || !isPrintable(addr) {
			return fmt.Errorf("%w: ticket address %.60q", ErrMalformed, addr)
		}
	}
	return nil
}

// isPrintable reports whether s may be shown as it is.
func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func appendChecksum(payload []byte) []byte {
	sum := crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli))
	return binary.BigEndian.AppendUint32(payload, sum)
}

func cutChecksum(raw []byte) (payload []byte, ok bool) {
	if len(raw) < 4 {
		return nil, false
	}
	payload = raw[:len(raw)-4]
	return payload, bytes.Equal(appendChecksum(bytes.Clone(payload)), raw)
}
