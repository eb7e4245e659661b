package fleet

import "errors"

// Errors of records and statements.
var (
	// ErrMalformed is returned for a record, statement, key, ticket, invitation
	// or join message outside the format: no authority could make it good.
	ErrMalformed = errors.New("fleet: malformed")
	// ErrForeign is returned for a record that belongs to another fleet.
	ErrForeign = errors.New("fleet: record of another fleet")
	// ErrName is returned for a name that no member can have.
	ErrName = errors.New("fleet: not a usable name")
)

// Errors of reading a ticket.
var (
	// ErrTicketEmpty is returned when there is no text at all.
	ErrTicketEmpty = errors.New("fleet: empty ticket")
	// ErrTicketSyntax is returned for text that is not a ticket.
	ErrTicketSyntax = errors.New("fleet: not a ticket")
	// ErrTicketDamaged is returned for a ticket with a typing error or a
	// missing part.
	ErrTicketDamaged = errors.New("fleet: damaged ticket")
	// ErrTicketVersion is returned for a ticket made by a newer version.
	ErrTicketVersion = errors.New("fleet: ticket made by a newer version")
)

// Errors of redeeming a ticket: what the inviter answers, and what the joiner
// gets from JoinReply.Err.
var (
	// ErrTicketUnknown is returned when the inviter keeps no such invitation.
	ErrTicketUnknown = errors.New("fleet: unknown ticket")
	// ErrTicketUsed is returned when every use of the ticket went to somebody
	// else.
	ErrTicketUsed = errors.New("fleet: ticket already used")
	// ErrTicketExpired is returned when the ticket's time is over.
	ErrTicketExpired = errors.New("fleet: ticket expired")
	// ErrProof is returned when the other side does not prove that it holds the
	// ticket's secret for exactly these peers, this fleet and this name.
	ErrProof = errors.New("fleet: ticket proof does not match")
	// ErrNameTaken is returned when another member has the name.
	ErrNameTaken = errors.New("fleet: name already taken")
	// ErrNameFixed is returned when the ticket, or an earlier use of it by the
	// same joiner, says another name.
	ErrNameFixed = errors.New("fleet: ticket is for another name")
	// ErrBanned is returned when the joiner's key, or one that it succeeded, is
	// banned for ever: it is never granted again.
	ErrBanned = errors.New("fleet: key is banned")
	// ErrClock is returned when the clocks of joiner and inviter differ by more
	// than the fleet bears: what one of them writes would be kept waiting by the
	// other.
	ErrClock = errors.New("fleet: one of two clocks is wrong")
	// ErrRefused is returned by JoinReply.Err for every other refusal.
	ErrRefused = errors.New("fleet: join refused")
	// ErrChain is returned when the statements of a reply do not make the
	// joiner a member of the ticket's fleet.
	ErrChain = errors.New("fleet: reply does not prove membership")
)
