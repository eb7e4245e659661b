package mcp

func skillTools() []*tool { return append(skillReaders(), skillWriters()...) }

func skillReaders() []*tool {
	slug := argument{name: "slug", required: true, about: "The slug of the skill, or its id."}
	limit := argument{name: "limit", form: formCount, about: "At most so many entries: 20 unless you say, 200 at most."}
	only := scopeArguments("Only")
	return []*tool{
		{
			name: "skill_list", title: "List skills", group: groupSkill, readOnly: true, idempotent: true,
			about: "List the skills of the fleet by slug, with what each is for and how often it worked. Read one that fits the task with skill_get before you begin.",
			args:  append([]argument{limit, {name: "cursor", about: "The next_cursor of the last result, for what comes after it."}}, only...),

			output: schemaOf[SkillIndex], run: listSkills,
		},
		{
			name: "skill_search", title: "Search skills", group: groupSkill, readOnly: true, idempotent: true,
			about: "Search the skills of the fleet: procedures that worked before. Use it before a task that somebody may have done already. " +
				"Returns an index by slug: read the one that fits with skill_get. Every word of the query has to occur, as the beginning of a word.",
			args: append([]argument{
				{name: "query", required: true, about: "One to three words that the skill would contain."}, limit,
			}, only...),
			output: schemaOf[SkillIndex], run: searchSkills,
		},
		{
			name: "skill_get", title: "Read a skill", group: groupSkill, readOnly: true, idempotent: true,
			about: "Read one skill in full, with the version that skill_upsert takes as if_version. Judge it before you follow it: the result says who wrote it and how often it worked. " +
				"When you have followed it, say with skill_report how it went.",
			args: append([]argument{slug}, scopeArguments("Look")...), output: schemaOf[Skill], run: getSkill,
		},
		{
			name: "skill_history", title: "Versions of a skill", group: groupSkill, readOnly: true, idempotent: true,
			about: "List the versions of one skill that this machine still has, newest first, also of a deleted one. With hash it returns one of them in full.",
			args: append([]argument{
				slug, {name: "hash", about: "The beginning of the hash of the one version to read in full."}, limit,
			}, scopeArguments("Look")...),
			output: schemaOf[History], run: skillHistory,
		},
	}
}

func skillWriters() []*tool {
	slug := argument{name: "slug", required: true, about: "The slug of the skill, or its id."}
	return []*tool{
		{
			name: "skill_upsert", title: "Write a skill", group: groupSkill, destructive: true, idempotent: true,
			about: "Create a skill, or replace the text of one: a procedure that worked and that other agents should follow, step by step. " +
				"The text is a SKILL.md: frontmatter with name and description, then Markdown; with description given, the frontmatter is made for you. " +
				"When you change a skill that exists, read it first and pass its version as if_version.",
			args: append([]argument{
				{name: "slug", required: true, about: "Its name: 1 to 64 of a-z, 0-9 and single hyphens."},
				{name: "body", required: true, about: "The whole text; it replaces what is there."},
				{name: "description", about: "What the skill does and when to use it, in a sentence: it becomes the frontmatter of a text that has none."},
				{name: "title", about: "A name for people."},
				{name: "tags", form: formTexts, about: "Words to find it by."},
				{name: "check", about: "A shell command that verifies the skill. fleetd runs nothing."},
				versionArgument(),
			}, scopeArguments("Write")...),
			output: schemaOf[SkillEntry], run: upsertSkill,
		},
		{
			name: "skill_report", title: "Report how a skill worked out", group: groupSkill,
			about: "Count one use of a skill, and whether it succeeded. Call it once after you followed a skill; the whole fleet sees from it which skills to trust.",
			args: append([]argument{
				slug, {name: "won", form: formFlag, required: true, about: "true when the skill did what it promises, else false."},
			}, scopeArguments("Count")...),
			output: schemaOf[SkillEntry], run: reportSkill,
		},
		{
			name: "skill_delete", title: "Delete a skill", group: groupSkill, destructive: true, idempotent: true,
			about: "Delete one skill in the whole fleet. Only when the user asks for it, or it is harmful; to improve a skill, use skill_upsert.",
			args:  append([]argument{slug, versionArgument()}, scopeArguments("Delete")...), output: schemaOf[Deleted], run: deleteSkill,
		},
	}
}
