// Package api serves one node to the programs of its machine: JSON over HTTP on
// a Unix socket, whose path fleetd run prints. The shapes stand in api/wire, a
// client in api/client, and all paths in docs/http.md, which follows from the code
// as /openapi.json does.
// Agents have /mcp, and GET /v1/mcp for a session on the connection itself: package
// api/mcp describes those, and the document does not.
//
// A body is one JSON object without unknown or repeated fields, of type
// application/json, in UTF-8; null is no value. Parameters are known, and given
// once. Every error, that of an unknown path included, is a wire.Problem; only
// /livez and /readyz answer 503 with a wire.Health, and 304 has no body. What never
// becomes a request is answered by net/http itself, in plain text, and the
// connection ends: 431 when the head is longer than 64 KiB or so, 400, 501 or 505
// when it is not HTTP as it reads that.
//
// The scope of a read or delete is the query parameters instance, project and
// workspace: exactly that scope when one of them is given, even if empty, else
// every scope (a slug then resolves from the home scope outward). The key of a
// record is as wire.Conflict says.
//
// # Versions
//
// A skill and a memory item have an ETag, made of the compare-and-set token. A PUT
// or DELETE with If-Match is a conflict, 409, unless the record still is that
// version, and a PUT with If-None-Match: * when it is live; the problem holds the
// current record, and its ETag is in the header. That of a skill shows its uses
// and wins, too, since reads show them; If-Match does not look at those. A GET with
// If-None-Match answers 304 when nothing has changed.
//
// # Pages
//
// Lists are whole unless limit is given; then next_cursor leads to the rest. A
// cursor is a place in the order of the list, not a number: what is there
// throughout is on one page, whatever others write meanwhile. Memory is ordered by
// the time of creation, which changes in one case: instances that were apart
// created one id, and the other's record wins. Lists of members are small, a
// report is ordered by what changes, and a snapshot or an undoing is one whole:
// these have no pages.
//
// # Events
//
// /v1/watch is the state stream (state.Replica.Watch) as server-sent events. A
// stream keeps nothing for its reader but what it is about to send, so a slow one
// costs the node nothing, and resumes by position when it was cut.
//
// # Inside
//
// Each path and method is one operation: a function of typed input and output,
// registered with what the document says of it (operation.go). huma makes the
// OpenAPI document of that, reads requests, holds them against the schemas and
// writes replies. What it takes in silence is refused besides (query.go, body.go),
// and its errors become problems in one place (refusal.go).
//
// # Invariants
//
//   - I1: no request that is HTTP ends in a panic, an empty reply or a text that
//     is not JSON (TestEveryErrorIsAProblem, FuzzRequest).
//   - I2: text reaches the store as it was sent or not at all: what JSON decoders
//     replace silently is refused (TestTextThatJSONWouldAlterIsRefused).
//   - I3: an id or slug of any characters can be addressed
//     (TestEveryIDCanBeAddressed).
//   - I4: only the daemon's own user, and root, get an answer
//     (TestAnotherUserIsDenied, TestTheKernelSaysWhoConnects), and a stale socket
//     is taken over while a live one never is (TestListen).
//   - I5: every operation answers as the document says, and nothing is served that
//     is not in it (TestEveryOperationAnswersAsItIsDescribed,
//     TestNothingIsServedThatIsNotDescribed); the reference and the descriptions of
//     fields are current (reference_test.go).
//   - I6: the pages of a list have once what is there throughout
//     (TestPagesHaveOnceWhatIsThereThroughout).
//   - I7: a watcher that resumes sees what happened once each, across restarts of
//     the daemon too, and is told when its position is of another store
//     (TestAWatcherGoesOnWhereItWas, TestAWatcherOutlivesTheDaemon,
//     TestAPositionOfNoneOfThisStoreResets).
//
// # Hazards
//
//   - Who may open the socket can do everything that the node can. The socket has
//     mode 0600 in a directory of mode 0700; the user of the other end is checked
//     besides on Linux alone. On Windows the directory's access list decides.
//   - A store that was put back to an older copy and has then gone beyond a
//     watcher's position cannot be told from the one before: the watcher goes on,
//     and does not see what was written in its place. Lists are right all the same.
//   - Two listeners on one path are told apart by asking the older one. Only the
//     lock of the data directory makes that exact, so Listen is called under it.
package api
