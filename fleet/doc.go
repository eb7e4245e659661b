// Package fleet decides who belongs to a fleet and what each member may write:
// identities, signatures, statements, admission, tickets and joining. It does
// no I/O; time and randomness are arguments.
//
// # Statements
//
// A fleet is named by the hash of a root key. Root grants admins, admins grant
// members, nothing deeper; a grant is a record of the kind fleet.grant, so it
// is signed, stored and replicated like everything else, and any node verifies
// it offline. Every record of the family fleet, of whatever kind, obeys one
// law: its body begins with its issuer and its stamp, its id is the hash of
// its body, and its header follows from both. So a statement is written once;
// there is no second version of it. Kinds that a build does not know are
// checked by that law, judged by their issuer, stored and forwarded.
//
// Three questions are asked of a record, in this order, on every path:
//
//	Check      is it well formed, signed and of this fleet? If not, drop it.
//	Verify     is the signature its writer's? If not, drop it.
//	Judge      do the statements admit it? If not, park it and ask again after
//	           every Learn that reports a change.
//
// A statement that Judge admits is learnt at once, before the next is judged.
//
// # Joining
//
// The inviter keeps an [Invitation] and hands out its [Ticket]. The joiner
// sends a [JoinRequest] with a proof of the ticket's secret; the inviter lets
// [Invitation.Redeem] decide, stores the invitation, learns the grant and
// answers with [Accepted.Reply] or [Refuse]; the joiner believes nothing but
// what [VerifyChain] finds proven. Both tell what their clocks say: a joiner
// that could not merge what the fleet writes, or the fleet what it writes, is
// refused before the ticket is spent.
//
// # Invariants
//
//   - I1: Judge is a pure function of the record and the set of statements: in
//     whatever order they were learnt, the judgements, members and names are
//     those of a naive twin that sees all at once (TestStatementsInAnyOrder).
//   - I2: whatever a relay changes in one byte of a valid record, Decode,
//     Check or Verify refuses it
//     (TestRelayAltersReScopesOrReplaysIntoAnotherFleet).
//   - I3: singles and batches agree on every signature: both are ZIP-215
//     (TestSingleAndBatchAgreeOnEverythingThatZIP215Admits,
//     TestBatchesEqualSingles).
//   - I4: a statement cannot be deleted, replaced, moved or repeated under
//     another stamp or issuer (TestCheckRefusesWhatNoAuthorityCouldMakeGood,
//     TestAStatementCannotBeReplaced).
//   - I5: no capability, not even "*", lets a member issue statements
//     (TestJudgeOfStatements).
//   - I6: an invitation is redeemed by at most as many joiners as it has uses,
//     each of which gets one statement however often it asks; a refusal leaves
//     it unchanged (TestInvitationModel, TestTicketReused, TestTicketRaced).
//   - I7: a proof is good for one secret, joiner, inviter, fleet, name and
//     direction (TestProofsDifferInEveryPart, TestRedeem).
//   - I8: a wrong character in a ticket, or two exchanged, is an error
//     (TestEveryTypingErrorIsRecognised).
//   - I9: grants, tickets, proofs and join messages keep their bytes
//     (TestGrantVector, TestTicketVector, TestProofVector, TestJoinVectors).
//
// # Hazards
//
//   - Learn, Judge and Redeem trust their caller for what they cannot see: that
//     signatures were verified, and that Redemption.Joiner is the peer id that
//     the connection proved. With a claimed id a ticket could be relayed.
//   - Redeem must run inside the transaction that loads and stores the
//     invitation, and the answer must wait for it. Otherwise two racers can
//     win.
//   - A stamp is its writer's word, up to the drift that hlc admits. An expired
//     grant, or an admin's, does not stop its holder from writing under an old
//     stamp.
//   - The randomness of a Verifier must be unknown to the makers of signatures:
//     who can predict it can make bad signatures that cancel out in a batch.
//   - ZIP-215 admits keys and signatures that the standard library refuses.
//     Records verified by any other rule would split a fleet.
//   - Whoever reads a ticket in its time can join by it. It is a secret.
package fleet
