// Package relay carries the messages of one MCP client, one a line, to the daemon
// and back, and outlives the daemon: when its connection is lost it makes another,
// begins the session there anew as the client began it, and tells the client what
// became of the calls that were under way.
//
// It knows of the protocol only what that takes: ids, how a session begins, and
// subscriptions.
//
// # Invariants
//
//   - I1: every request of the client is answered once, by the daemon or by the
//     relay (TestEveryRequestIsAnsweredOnce).
//   - I2: what the relay asks the daemon for itself is never shown to the client
//     (TestANewSessionBeginsAsTheFirst).
//   - I3: no line, however long, costs more memory than the limit
//     (FuzzLineReader, TestALineThatIsTooLong).
package relay
