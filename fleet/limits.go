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
	// standsMax bounds the statements that a ban lets stand: so many, with
	// everything else at its longest, fit into merge.BodyBytesMax.
	standsMax = 1800
	// noteBytesMax bounds what a ban says to people.
	noteBytesMax = 256
	// floorEntriesMax bounds the keys of one floor: 16 bytes each, which fit
	// into merge.BodyBytesMax beside the longest section.
	floorEntriesMax = 4000
	// lineageMax bounds the keys that follow each other by succession, and with
	// them what proves the last one; a machine that needs more is granted anew.
	lineageMax = 32
)

const (
	// FloorHorizonMin is how much older than its floor a tombstone has to be: a
	// machine that was away for less never meets one.
	FloorHorizonMin = 30 * 24 * time.Hour
	// FloorHorizon is the age from which commands collect tombstones when
	// nothing else is asked for.
	FloorHorizon = 180 * 24 * time.Hour
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
	// statementsMax bounds the statements of a reply. Two prove a member; of the
	// longest lineages, of its admin, the inviter and the inviter's admin, three
	// times lineageMax do.
	statementsMax = 128

	// JoinRequestBytesMax bounds an encoded JoinRequest.
	JoinRequestBytesMax = 1 << 10
	// JoinReplyBytesMax bounds an encoded JoinReply: the three longest lineages
	// and the four longest grants fit.
	JoinReplyBytesMax = 256 << 10
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
