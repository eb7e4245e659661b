package state

// QueryMatches lets the external tests reach the matcher.
func QueryMatches(text string, fields ...string) bool { return parseQuery(text).matches(fields...) }
