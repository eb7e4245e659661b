// Package setup connects AI agents with fleetd: it knows where each agent keeps
// its configuration, and writes and takes back what makes the agent start
// `fleetd mcp` and run `fleetd context` when a session begins. What is known of
// one agent stands in one file, which is all that another agent takes.
//
// # Invariants
//
//   - I1 Undo gives the file back byte for byte, whatever is in it (checked
//     before anything is written; TestUndoGivesBackEveryByte, FuzzPut).
//   - I2 Nothing but fleetd's entries changes: comments, order, indentation, line
//     ends, byte order marks and unknown keys stay (TestPutChangesNothingElse).
//   - I3 Doing it again changes nothing (TestPuttingAgainChangesNothing).
//   - I4 An entry that somebody changed is neither replaced nor taken out unless
//     that is forced (TestWhatTheUserChangedIsKept).
//   - I5 A file is replaced as a whole or not at all, with its mode and its owner,
//     behind a symbolic link if it is one (TestFilesAreReplacedWithCare,
//     TestAFileKeepsItsOwnerAndMode), and only if right before that it is still what
//     the plan was made for (TestAFileThatChangesWhileItIsWrittenIsLeft).
//
// # How undo knows
//
// Nothing is kept beside the files: what was there before is told by how the
// entries are laid out. A container that setup made has white space before its
// closing bracket; one that was there and was empty has none. A file that
// setup made ends with a line end, one that was there and was empty does not.
//
// HAZARD: an agent that writes its file anew in a layout of its own, as Claude
// Code does with ~/.claude.json, loses that. Undo then still takes out what is
// fleetd's and no more, but a container that was there empty goes with it.
//
// The package has no network, and imports no other layer.
package setup
