package mcp

import "encoding/json"

// DecodeAs decodes arguments of a tool, for the fuzz test, and returns the names
// that were read.
func DecodeAs(tool string, raw []byte) (names []string, err error) {
	for _, t := range tools() {
		if t.name != tool {
			continue
		}
		read, err := decode(t.name, t.args, json.RawMessage(raw))
		for name := range read {
			names = append(names, name)
		}
		return names, err
	}
	panic("no tool " + tool)
}

// ToolNames lists every tool.
func ToolNames() (names []string) {
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// Guesses returns, of a tool, what each name in the table of aliases leads to.
func Guesses(tool string) map[string][]string {
	led := map[string][]string{}
	for _, t := range tools() {
		if t.name != tool {
			continue
		}
		for name, i := range namesOf(t.args) {
			led[t.args[i].name] = append(led[t.args[i].name], name)
		}
	}
	return led
}

// AliasTable is the table of aliases.
func AliasTable() map[string][]string { return aliases() }

// ArgumentNames lists the arguments of a tool.
func ArgumentNames(tool string) (names []string) {
	for _, t := range tools() {
		if t.name == tool {
			for _, a := range t.args {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// ParsePath is parseFilePath.
func ParsePath(text string) (string, error) {
	path, err := parseFilePath(text)
	return string(path), err
}

// SetBounds sets how many sessions, requests that listen, and subscriptions a server
// takes.
func SetBounds(s *Server, sessions, listens, subscriptions int) {
	s.sessions.max, s.listens.max, s.subscriptions.max = sessions, listens, subscriptions
}

// Taken returns how many there are of each.
func Taken(s *Server) (taken [3]int) {
	for i, r := range []*room{&s.sessions, &s.listens, &s.subscriptions} {
		r.mu.Lock()
		taken[i] = r.taken
		r.mu.Unlock()
	}
	return taken
}

// Readdress parses a URI and writes it again.
func Readdress(uri string) (string, error) {
	a, err := parseAddress(uri)
	return a.String(), err
}
