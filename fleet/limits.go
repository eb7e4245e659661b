package fleet

import "time"

// Bounds of statements. They are part of the format, as those of package merge
// are: what is beyond one of them is malformed on every node.
const (
	// nameCharsMax bounds the name of a member, in characters.
	nameCharsMax = 64
	// capabilitiesMax bounds the families of one grant.
	capabilitiesMax = 32
	// scopesMax bounds the scopes of one grant.
	scopesMax = 32
	// familyBytesMax bounds the name of a family.
	familyBytesMax = 64
)

// Bounds of what travels while joining.
const (
	// secretBytes is the length of a ticket's secret: 128 bits, beyond guessing.
	secretBytes = 16
	// addrsMax bounds the addresses of a ticket; addrBytesMax each of them.
	addrsMax     = 16
	addrBytesMax = 256
	// ticketCharsMax bounds the text of a ticket: all addresses at their
	// longest, in base32.
	ticketCharsMax = 8 << 10
	// textBytesMax bounds the message for people in a reply.
	textBytesMax = 512
	// statementsMax bounds the statements of a reply; two prove a member.
	statementsMax = 16

	// JoinRequestBytesMax bounds an encoded JoinRequest.
	JoinRequestBytesMax = 1 << 10
	// JoinReplyBytesMax bounds an encoded JoinReply: a chain of the two longest
	// grants fits.
	JoinReplyBytesMax = 128 << 10
)

// Bounds of invitations.
const (
	// InvitationTTL is how long an invitation stands when nothing else is asked
	// for: time to walk to the other machine.
	InvitationTTL = 15 * time.Minute
	// invitationTTLMax bounds what may be asked for.
	invitationTTLMax = 30 * 24 * time.Hour
	// usesMax bounds the joiners of one invitation, and so its stored size.
	usesMax = 256
	// invitationBytesMax bounds the stored form of an invitation.
	invitationBytesMax = 1 << 20
	// identityBytesMax bounds the stored form of a key.
	identityBytesMax = 4 << 10
)
