package mcp

func sessionTools() []*tool {
	session := argument{name: "session_id", required: true, about: "The id of the session, as session_list and session_create return it."}
	return []*tool{
		{
			name: "session_create", title: "Begin a session", group: groupSession,
			about: "Begin the record of a conversation that another agent, or you later, may go on with. It stays on this machine unless the user shares sessions.",
			args: []argument{
				{name: "title", about: "What the conversation is about."},
				{name: "model", about: "The model that talks."},
				{name: "id", about: "An id of your own; leave it out to get one."},
			},
			output: schemaOf[Session], run: createSession,
		},
		{
			name: "session_list", title: "List sessions", group: groupSession, readOnly: true, idempotent: true,
			about:  "List recorded conversations, the last used first. Use it to go on with earlier work.",
			args:   []argument{{name: "limit", form: formCount, about: "At most so many: 20 unless you say, 200 at most."}},
			output: schemaOf[SessionIndex], run: listSessions,
		},
		{
			name: "session_turns", title: "Read a session", group: groupSession, readOnly: true, idempotent: true,
			about: "Read the turns of a recorded conversation in their order, a page at a time.",
			args: []argument{
				session,
				{name: "after", form: formNumber, about: "Only turns after this number; next_after of the last page gets the next one."},
				{name: "limit", form: formCount, about: "At most so many turns: 20 unless you say, 200 at most."},
			},
			output: schemaOf[Transcript], run: sessionTurns,
		},
		{
			name: "session_append", title: "Add a turn to a session", group: groupSession,
			about: "Add one turn to a recorded conversation. Turns are never changed. With a turn_id of your own, a turn that you send twice is added once.",
			args: []argument{
				session,
				{name: "role", required: true, about: "Who speaks, such as user, assistant, tool or system."},
				{name: "content", required: true, about: "What was said."},
				{name: "turn_id", about: "An id of your own; leave it out to get one."},
			},
			output: schemaOf[Turn], run: appendTurn,
		},
	}
}
