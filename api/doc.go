// Package api serves one node to the programs of its machine: JSON over HTTP on
// a Unix socket. The shapes stand in api/wire, a client in api/client.
//
//	GET    /v1/skills              q, limit, scope       every live skill that matches
//	GET    /v1/skills/{ref}        scope                 by id or slug, with its body
//	PUT    /v1/skills/{slug}       body, scope inside    create or replace
//	DELETE /v1/skills/{ref}        scope
//	GET    /v1/skills/{ref}/versions  scope              its history, also when it is deleted
//	POST   /v1/skills/{ref}/outcomes  scope, body        count one use
//	GET    /v1/report              limit, scope          live skills with what speaks for each, the surest first
//	GET    /v1/memory              q, kind, limit, scope every live item that matches, newest first
//	POST   /v1/memory              body, scope inside    create
//	GET    /v1/memory/{id}         scope
//	PUT    /v1/memory/{id}         body, scope inside    create or replace
//	DELETE /v1/memory/{id}         scope
//	GET    /v1/memory/{id}/versions   scope              its history, also when it is deleted
//	GET    /v1/sessions                                  every live session of the home scope, oldest first
//	POST   /v1/sessions            body                  create
//	GET    /v1/sessions/{id}
//	DELETE /v1/sessions/{id}
//	GET    /v1/sessions/{id}/turns    after, limit       its transcript, or a page of it: after a seq
//	POST   /v1/sessions/{id}/turns body                  append
//	GET    /v1/conflicts
//	GET    /v1/records/{kind}/{key}/versions  scope      every version of a record of any kind
//	POST   /v1/records/{kind}/{key}/keep      scope      settle its conflicts: the head stays
//	POST   /v1/records/{kind}/{key}/restore   scope, body  write one of its versions anew
//	GET    /v1/writers/{id}/changes  since               what undoing an instance would do
//	POST   /v1/writers/{id}/revert   since               undo what it wrote
//	GET    /v1/state                                     everything, as a snapshot of package state
//	POST   /v1/state               body                  write what a part of a snapshot holds live
//	GET    /v1/members
//	POST   /v1/invitations         body
//	GET    /v1/status                                    what this node knows
//	POST   /v1/probe               timeout_ms            what every member answers now
//	POST   /v1/verify              timeout_ms            proves the node's own store
//	POST   /v1/compare             member, timeout_ms    where members differ, version by version
//	GET    /v1/version
//	POST   /mcp                    tools, read_only      one message of the Model Context Protocol (package api/mcp)
//	GET    /v1/mcp                 tools, read_only      with Upgrade: fleetd-mcp, a session of it on the connection
//	GET    /livez, /readyz
//
// The scope of a read or delete is the query parameters instance, project and
// workspace: exactly that scope when one of them is given, even if empty, else
// every scope (a slug then resolves from the home scope outward).
//
// The key of a record is as wire.Conflict says. Without a scope it is looked for
// in all: the only one counts, else the only one that is in conflict.
//
// A body is one JSON object without unknown or repeated fields, of type
// application/json, in UTF-8. Every error, that of an unknown path included, is a wire.Problem; only
// /livez and /readyz answer 503 with a wire.Health.
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
//
// # Hazards
//
//   - Who may open the socket can do everything that the node can. The socket has
//     mode 0600 in a directory of mode 0700; the user of the other end is checked
//     besides on Linux alone. On Windows the directory's access list decides.
//   - Two listeners on one path are told apart by asking the older one. Only the
//     lock of the data directory makes that exact, so Listen is called under it.
package api
