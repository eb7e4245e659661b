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
// What is stated:
//
//   - A grant (fleet.grant) makes an instance a member or an admin.
//   - A succession (a grant with [RoleSuccessor]) hands a member's place to a
//     new key of its own, from its stamp on; the old key is closed then.
//   - A ban of a writer (fleet.ban) makes what it and its successors wrote
//     inadmissible: without an end a revocation, with one a void.
//   - A withdrawal (fleet.ban with a digest) makes every version with one
//     content inadmissible, whoever writes it.
//   - A floor (fleet.floor) lists keys of a section whose tombstones are
//     collected, and the stamps up to which nothing of them is admissible.
//
// A statement that was learnt is known for ever; whether it is in force
// follows from all that are known, in stages that never look forward:
//
//  1. Root's grants, bans, withdrawals and floors are.
//  2. So are successions by admins that root has not banned, in merge order: the
//     first of an issuer counts, to a key that is new by root's grants.
//  3. So are the grants, bans, withdrawals and floors of who is an admin at
//     their stamps, by root's grant or such a succession, and not succeeded;
//     when root has banned it without an end, those alone that the ban lists,
//     since a stamp is its writer's word; with a range, all but those within it
//     that are not listed. An admin neither grants nor bans an admin.
//  4. So are successions by members, in merge order, under all bans in the same
//     way.
//  5. What is in force then says who is a member, under which name.
//
// What a succession of stage 4 closes is the key's own writes; statements that a
// later grant of root lets it issue are looked at before, and it passes on no
// role of an admin. An admin's ban ends at a successor whom root made an admin.
//
// Three questions are asked of a record, in this order, on every path:
//
//	Check      is it well formed, signed and of this fleet? If not, drop it.
//	Verify     is the signature its writer's? If not, drop it.
//	Judge      do the statements admit it? If not, park it and ask again after
//	           every Learn that reports a change.
//
// A statement that Judge admits is learnt at once, before the next is judged.
// What was admitted may be inadmissible after a change: the caller judges it
// again too, unless [Authority.Mark] is what it was.
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
//     whatever order they were learnt, also when those in force alone came
//     first, as after a restart, the judgements, members, names and the mark are
//     those of a naive twin that sees all at once (TestStatementsInAnyOrder,
//     TestJudgementOfWhatIsNotKnownIsPure, TestAdminBannedWhilePartitioned).
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
//   - I9: statements, digests, tickets, proofs and join messages keep their
//     bytes (TestGrantVector, TestStatementVectors, TestDigestVector,
//     TestTicketVector, TestProofVector, TestJoinVectors).
//   - I10: while the mark is equal nothing that was admitted has become
//     inadmissible (TestEqualMarksMeanThatNothingWasTakenBack).
//   - I11: a ban without an end is never got round by a grant, a succession or
//     an earlier stamp on a statement (TestBannedMemberWritesOn,
//     TestABanHitsSuccessors, TestABackDatedSuccessionOfABannedKey,
//     TestRevokedKeyIsNotGrantedAgain).
//   - I12: only root takes an admin's rights away (TestOnlyRootBansAnAdmin,
//     TestAnAdminsBanEndsAtAnAdmin).
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
//     stamp; nor does a ban, below its first stamp, but for statements.
//   - Whoever bans an instance lists in Stands what is to stay in force of it
//     ([Authority.InForce]), its successions too: one that is not listed counts no
//     more, and its successor is no member. Several bans do not help each other:
//     what one does not list falls.
//   - Who has a key may hand it over under any earlier stamp, and so close it
//     from there on, until a ban says what stands. A stolen key is banned, not
//     only replaced.
//   - Root bans the key in use of an instance that it made an admin under a later
//     key: its ban of an earlier one hits what that writes, but no statements.
//   - The randomness of a Verifier must be unknown to the makers of signatures:
//     who can predict it can make bad signatures that cancel out in a batch.
//   - ZIP-215 admits keys and signatures that the standard library refuses.
//     Records verified by any other rule would split a fleet.
//   - Whoever reads a ticket in its time can join by it. It is a secret.
package fleet
