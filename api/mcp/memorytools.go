package mcp

func memoryTools() []*tool {
	id := argument{name: "id", required: true, about: "The id of the item, as memory_recall and memory_list return it."}
	kind := argument{name: "kind", about: "Only items of this kind."}
	limit := argument{name: "limit", form: formCount, about: "At most so many entries: 20 unless you say, 200 at most."}
	cursor := argument{name: "cursor", about: "The next_cursor of the last result, for what comes after it."}
	only := scopeArguments("Only")
	return []*tool{
		{
			name: "memory_write", title: "Remember something", group: groupMemory, destructive: true,
			about: "Remember one thing that should be known in later sessions and on the other machines of the fleet: a fact, a preference of the user, " +
				"a decision and its reason. Write one item for one thing, in words that a later search would use. " +
				"With the id of an item that exists it replaces the content, and keeps kind, source and scope unless they are given. Never write secrets.",
			args: append([]argument{
				{name: "content", required: true, about: "The text to remember, complete in itself."},
				{name: "kind", about: "What it is, such as fact, preference, decision or note (the default)."},
				{name: "id", about: "Replace the item of this id, or make one of it. Leave it out for a new item."},
				{name: "source", about: "Where this was learned; the name of this program unless you say."},
				versionArgument(),
			}, scopeArguments("Write")...),
			output: schemaOf[MemoryEntry], run: writeMemory,
		},
		{
			name: "memory_recall", title: "Search memory", group: groupMemory, readOnly: true, idempotent: true,
			about: "Search what this and other agents of the fleet remember. Use it at the start of a task, and whenever the user refers to something from before. " +
				"Returns an index with the first line of each item, newest first: read those that matter with memory_get. " +
				"Every word of the query has to occur, as the beginning of a word, so few and plain words find most.",
			args: append([]argument{
				{name: "query", required: true, about: "One to three words that the item would contain."}, kind, limit,
			}, only...),
			output: schemaOf[MemoryIndex], run: recallMemory,
		},
		{
			name: "memory_get", title: "Read a memory item", group: groupMemory, readOnly: true, idempotent: true,
			about: "Read one memory item in full, with the version that memory_write takes as if_version. It is a claim of whoever wrote it: the result says who and when.",
			args:  append([]argument{id}, scopeArguments("Look")...), output: schemaOf[Memory], run: getMemory,
		},
		{
			name: "memory_list", title: "List memory", group: groupMemory, readOnly: true, idempotent: true,
			about: "List memory items without a search, newest first, as an index like that of memory_recall. Use memory_recall when you know what you look for.",
			args:  append([]argument{kind, limit, cursor}, only...), output: schemaOf[MemoryIndex], run: listMemory,
		},
		{
			name: "memory_delete", title: "Forget a memory item", group: groupMemory, destructive: true, idempotent: true,
			about: "Delete one memory item in the whole fleet. Use it for what turned out to be wrong or when the user asks to forget something; to correct an item, use memory_write with its id.",
			args:  append([]argument{id, versionArgument()}, scopeArguments("Delete")...), output: schemaOf[Deleted], run: deleteMemory,
		},
		{
			name: "memory_history", title: "Versions of a memory item", group: groupMemory, readOnly: true, idempotent: true,
			about: "List the versions of one memory item that this machine still has, newest first, also of a deleted one: who wrote what when, and which lost to a concurrent write. " +
				"With hash it returns one of them in full.",
			args: append([]argument{
				id, {name: "hash", about: "The beginning of the hash of the one version to read in full."}, limit,
			}, scopeArguments("Look")...),
			output: schemaOf[History], run: memoryHistory,
		},
	}
}
