// Package mcp serves a node to agents: the tools, resources and skills of the
// Model Context Protocol, over package state. docs/mcp.md says what an agent
// gets.
//
// A tool decodes its arguments itself (decode, aliases), so that a guess of a
// model is understood and a mistake is told to it; what goes wrong is a result
// that says so, in the words of the HTTP API. Lists are indexes of bounded size,
// and one record is read in full by its own tool.
//
// # Invariants
//
//   - I1: an argument is understood or refused, never ignored (FuzzDecode,
//     TestAliases, TestUnknownArgumentsAreRefused).
//   - I2: every result follows the output schema of its tool, and every result
//     about a record says who wrote it and when (TestResultsFollowTheirSchemas).
//   - I3: a session that may only read, or use some tools, can neither see nor
//     call others (TestOptions).
//   - I4: of edits of one file at once none is lost (TestEditsAtOnce), and no path
//     leads out of /memories (FuzzFilePath).
//   - I5: a skill's digest is that of the bytes that reading it gives
//     (TestSkillsExtension).
//
// # Hazards
//
//   - When content comes after its record there is no event for that (package
//     state), and so no notice.
//   - Renaming a directory of files moves them one by one: a crash, or a write on
//     another machine meanwhile, may leave some under both names.
package mcp
