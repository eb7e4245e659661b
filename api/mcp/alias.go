package mcp

import "strings"

// aliases are the names that models guess for an argument, by the name that it
// has. They are one table, so that a guess means the same in every tool that has
// the argument. Case, hyphens and underscores do not count, so ifVersion and
// if-version need no row. A name that a tool has itself means itself there.
func aliases() map[string][]string {
	return map[string][]string{
		"query":       {"q", "search", "search_query", "text", "term", "terms", "keyword", "keywords", "pattern", "question"},
		"content":     {"text", "body", "memory", "note", "value", "data", "message", "fact"},
		"body":        {"content", "text", "markdown", "instructions", "skill_md", "file_text"},
		"limit":       {"n", "k", "max", "top_k", "count", "max_results", "num_results", "size", "page_size"},
		"cursor":      {"page_token", "next_cursor", "continue_from", "starting_after"},
		"after":       {"after_seq", "since", "since_seq", "offset", "from"},
		"id":          {"key", "memory_id", "item_id", "uuid", "name"},
		"session_id":  {"session", "id", "conversation_id", "thread_id"},
		"turn_id":     {"message_id", "id"},
		"slug":        {"name", "id", "skill", "skill_id", "skill_name", "key"},
		"title":       {"display_name", "name", "subject"},
		"description": {"summary", "about", "desc"},
		"kind":        {"type", "category", "memory_type"},
		"source":      {"origin", "provenance", "from"},
		"tags":        {"labels", "tag", "keywords"},
		"check":       {"verify", "test", "test_command"},
		"won":         {"win", "success", "succeeded", "worked", "ok", "passed", "outcome", "result"},
		"role":        {"speaker", "author", "from"},
		"model":       {"model_name", "llm"},
		"project":     {"project_name", "repo", "repository"},
		"workspace":   {"workspace_name", "dir", "directory"},
		"instance":    {"instance_name"},
		"if_version":  {"version", "expected_version", "if_match", "etag", "base_version"},
		"hash":        {"version", "version_hash", "revision"},
		"command":     {"action", "cmd", "operation", "op"},
		"path":        {"file", "file_path", "filename", "file_name"},
		"file_text":   {"content", "text", "body", "contents", "file_content"},
		"old_str":     {"old_string", "old_text", "old", "find"},
		"new_str":     {"new_string", "new_text", "new", "replace", "replacement"},
		"insert_line": {"line", "line_number", "after_line"},
		"insert_text": {"text", "content", "new_str"},
		"old_path":    {"source_path", "src", "from", "source"},
		"new_path":    {"destination", "destination_path", "dest", "dst", "to", "target"},
		"view_range":  {"range", "lines", "line_range"},
	}
}

// fold makes names equal that are one to a model.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// namesOf maps every name of the arguments, in the form of fold, to its place.
// A tool's own names come before guesses, and the guess of an earlier argument
// before that of a later one.
func namesOf(args []argument) map[string]int {
	names := map[string]int{}
	for i, a := range args {
		names[fold(a.name)] = i
	}
	guesses := aliases()
	for i, a := range args {
		for _, guess := range guesses[a.name] {
			if _, taken := names[fold(guess)]; !taken {
				names[fold(guess)] = i
			}
		}
	}
	return names
}
