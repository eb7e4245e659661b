package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fleetsync/fleetd/merge"
)

// JoinRequest is what the joiner sends.
type JoinRequest struct {
	Ticket TicketID
	// Name is the one that the joiner asks for; empty takes the ticket's.
	Name  string
	Proof Proof
	// Time is what the joiner's clock says, to the millisecond; zero when it
	// does not tell.
	Time time.Time
}

// JoinReply is what the inviter answers.
type JoinReply struct {
	Status JoinStatus
	// Text says more of a refusal, for people; printable, at most 512 bytes.
	Text string
	// Name, Proof and Statements are set when the status is JoinAccepted:
	// encoded records, root's grant of an admin first.
	Name       string
	Proof      Proof
	Statements [][]byte
	// Time is what the inviter's clock says, to the millisecond; zero when it
	// does not tell.
	Time time.Time
}

// JoinStatus is the outcome of a JoinRequest. Numbers are never reused; one
// that a build does not know is a refusal.
type JoinStatus uint8

// The statuses.
const (
	JoinAccepted    JoinStatus = 1
	JoinUnknown     JoinStatus = 2
	JoinUsed        JoinStatus = 3
	JoinExpired     JoinStatus = 4
	JoinProof       JoinStatus = 5
	JoinNameInvalid JoinStatus = 6
	JoinNameTaken   JoinStatus = 7
	JoinNameFixed   JoinStatus = 8
	JoinRefused     JoinStatus = 9
	JoinClock       JoinStatus = 10
	JoinBanned      JoinStatus = 11
)

// Evolution of both messages: keys are never reused; new fields are optional.
type wireJoinRequest struct {
	Ticket []byte `cbor:"1,keyasint"` // 16 bytes
	Name   string `cbor:"2,keyasint,omitempty"`
	Proof  []byte `cbor:"3,keyasint"` // 32 bytes
	Time   int64  `cbor:"4,keyasint,omitempty"`
}

type wireJoinReply struct {
	Status     JoinStatus `cbor:"1,keyasint"`
	Text       string     `cbor:"2,keyasint,omitempty"`
	Name       string     `cbor:"3,keyasint,omitempty"`
	Proof      []byte     `cbor:"4,keyasint,omitempty"` // 32 bytes
	Statements [][]byte   `cbor:"5,keyasint,omitempty"`
	Time       int64      `cbor:"6,keyasint,omitempty"`
}

// refusal pairs a status with the error that it stands for.
type refusal struct {
	status JoinStatus
	err    error
}

func refusals() []refusal {
	return []refusal{
		{JoinUnknown, ErrTicketUnknown},
		{JoinUsed, ErrTicketUsed},
		{JoinExpired, ErrTicketExpired},
		{JoinProof, ErrProof},
		{JoinNameTaken, ErrNameTaken},
		{JoinNameFixed, ErrNameFixed},
		{JoinNameInvalid, ErrName},
		{JoinClock, ErrClock},
		{JoinBanned, ErrBanned},
	}
}

// NewJoinRequest returns the request of an instance that holds a ticket and
// asks for a name, empty for the ticket's.
func NewJoinRequest(t Ticket, self merge.InstanceID, name string) JoinRequest {
	h := Handshake{Joiner: self, Inviter: t.Inviter, Fleet: t.Fleet, Name: name}
	return JoinRequest{Ticket: t.ID(), Name: name, Proof: h.JoinerProof(t.Secret)}
}

// Refuse returns the reply for an error of Redeem. What is not one of its
// sentinels is the inviter's own trouble: the joiner learns only that it was
// refused.
func Refuse(err error) JoinReply {
	for _, r := range refusals() {
		if errors.Is(err, r.err) {
			text := strings.TrimPrefix(err.Error(), r.err.Error())
			return JoinReply{Status: r.status, Text: clip(strings.TrimLeft(text, ": "))}
		}
	}
	return JoinReply{Status: JoinRefused}
}

// clip makes text fit for a reply.
func clip(text string) string {
	if len(text) > textBytesMax || !isPrintable(text) {
		return ""
	}
	return text
}

// Err returns nil for JoinAccepted, else the sentinel that the inviter met,
// with its text; ErrRefused for a status without one.
func (r *JoinReply) Err() error {
	if r.Status == JoinAccepted {
		return nil
	}
	sentinel := ErrRefused
	for _, known := range refusals() {
		if known.status == r.Status {
			sentinel = known.err
		}
	}
	if r.Text == "" {
		return sentinel
	}
	return fmt.Errorf("%w: %s", sentinel, r.Text)
}

// Marshal returns the wire form. Errors: ErrMalformed for what
// DecodeJoinRequest would refuse.
func (r *JoinRequest) Marshal() ([]byte, error) {
	b, err := merge.Marshal(wireJoinRequest{Ticket: r.Ticket[:], Name: r.Name, Proof: r.Proof[:], Time: wireTime(r.Time)})
	return bounded("join request", b, err, JoinRequestBytesMax)
}

// DecodeJoinRequest reads what Marshal wrote. Errors: ErrMalformed.
func DecodeJoinRequest(b []byte) (JoinRequest, error) {
	if len(b) > JoinRequestBytesMax {
		return JoinRequest{}, fmt.Errorf("%w: join request of %d bytes, at most %d", ErrMalformed, len(b), JoinRequestBytesMax)
	}
	var w wireJoinRequest
	if err := merge.Unmarshal(b, &w); err != nil {
		return JoinRequest{}, fmt.Errorf("%w: join request: %w", ErrMalformed, err)
	}
	var r JoinRequest
	if len(w.Ticket) != len(r.Ticket) || len(w.Proof) != len(r.Proof) {
		return JoinRequest{}, fmt.Errorf("%w: join request with a ticket id of %d bytes, a proof of %d", ErrMalformed, len(w.Ticket), len(w.Proof))
	}
	told, err := readTime(w.Time)
	return JoinRequest{Ticket: TicketID(w.Ticket), Name: w.Name, Proof: Proof(w.Proof), Time: told}, err
}

// Marshal returns the wire form. Errors: ErrMalformed for what DecodeJoinReply
// would refuse.
func (r *JoinReply) Marshal() ([]byte, error) {
	w := wireJoinReply{Status: r.Status, Text: r.Text, Name: r.Name, Statements: r.Statements, Time: wireTime(r.Time)}
	if r.Status == JoinAccepted {
		w.Proof = r.Proof[:]
	}
	if err := w.validate(); err != nil {
		return nil, err
	}
	b, err := merge.Marshal(w)
	return bounded("join reply", b, err, JoinReplyBytesMax)
}

// DecodeJoinReply reads what Marshal wrote. It verifies nothing; VerifyChain
// does. Errors: ErrMalformed.
func DecodeJoinReply(b []byte) (JoinReply, error) {
	if len(b) > JoinReplyBytesMax {
		return JoinReply{}, fmt.Errorf("%w: join reply of %d bytes, at most %d", ErrMalformed, len(b), JoinReplyBytesMax)
	}
	var w wireJoinReply
	if err := merge.Unmarshal(b, &w); err != nil {
		return JoinReply{}, fmt.Errorf("%w: join reply: %w", ErrMalformed, err)
	}
	if err := w.validate(); err != nil {
		return JoinReply{}, err
	}
	told, err := readTime(w.Time)
	r := JoinReply{Status: w.Status, Text: w.Text, Name: w.Name, Statements: w.Statements, Time: told}
	copy(r.Proof[:], w.Proof)
	return r, err
}

func (w *wireJoinReply) validate() error {
	accepted := w.Status == JoinAccepted
	switch {
	case w.Status == 0:
		return fmt.Errorf("%w: join reply without a status", ErrMalformed)
	case len(w.Text) > textBytesMax || !isPrintable(w.Text):
		return fmt.Errorf("%w: join reply with a text of %d bytes, or one that cannot be shown", ErrMalformed, len(w.Text))
	case len(w.Statements) > statementsMax:
		return fmt.Errorf("%w: join reply of %d statements, at most %d", ErrMalformed, len(w.Statements), statementsMax)
	case accepted && len(w.Proof) != len(Proof{}):
		return fmt.Errorf("%w: join reply with a proof of %d bytes", ErrMalformed, len(w.Proof))
	case !accepted && (w.Name != "" || w.Proof != nil || w.Statements != nil):
		return fmt.Errorf("%w: join reply that refuses and grants", ErrMalformed)
	}
	return nil
}

// bounded passes on what an encoder returned if it is within its limit.
func bounded(what string, b []byte, err error, bytesMax int) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if len(b) > bytesMax {
		return nil, fmt.Errorf("%w: %s of %d bytes, at most %d", ErrMalformed, what, len(b), bytesMax)
	}
	return b, nil
}
