package wire

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// MemoryItem is one live thing that an agent has learned.
type MemoryItem struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Content string `json:"content"`
	Scope   Scope  `json:"scope"`
	// Source is the provenance: where this memory came from.
	Source    string    `json:"source"`
	CreatedAt time.Time `json:"created_at"`
	// Incomplete says that the content is not here yet, and shows as empty.
	Incomplete bool `json:"incomplete,omitempty"`
	Gated
	Envelope
}

// MemoryReply is one item.
type MemoryReply struct {
	SchemaVersion int `json:"schema_version"`
	MemoryItem
}

// MemoryList is every item that was asked for, newest first.
type MemoryList struct {
	SchemaVersion int          `json:"schema_version"`
	Items         []MemoryItem `json:"items"`
	// NextCursor is where the next page begins; absent on the last one, and where
	// no limit was asked for.
	NextCursor string `json:"next_cursor,omitempty"`
}

// MemoryKindDefault is the kind of an item whose writer names none, by whatever way
// it is written.
const MemoryKindDefault = "note"

// MemoryWrite creates an item, or replaces the one of its id. When it replaces
// one, Scope must be that of the item.
type MemoryWrite struct {
	// ID is empty for a new item with a minted id, and in a PUT, whose path
	// holds it.
	ID string `json:"id,omitempty"`
	// Kind is what it is, such as fact or preference; empty stands for note, also where
	// the item that is replaced has another.
	Kind    string `json:"kind,omitempty"`
	Content string `json:"content"`
	Scope   Scope  `json:"scope,omitzero"`
	Source  string `json:"source,omitempty"`
	Token
}

// Fault says why nobody can mean this write, "" when it may be meant: content
// of white space alone, an id that is a path, or control characters, of which
// text has line ends and tabs alone. The daemon refuses such a write as
// invalid.
func (w MemoryWrite) Fault() string {
	switch {
	case strings.TrimSpace(w.Content) == "":
		return "the text is empty"
	case w.ID == ".", w.ID == "..":
		return fmt.Sprintf("the id %q is a path", w.ID)
	}
	return strayIn(
		namedText{"text", w.Content}, namedText{"kind", w.Kind}, namedText{"source", w.Source}, namedText{"id", w.ID},
		namedText{"instance", w.Scope.Instance}, namedText{"project", w.Scope.Project}, namedText{"workspace", w.Scope.Workspace},
	)
}

// namedText is the text of one field, and what people call it.
type namedText struct{ what, text string }

// strayIn says which of the texts has a control character that no text has, ""
// for none.
func strayIn(fields ...namedText) string {
	for _, f := range fields {
		if i := strings.IndexFunc(f.text, isStray); i >= 0 {
			return fmt.Sprintf("the %s has a control character, %U, at byte %d", f.what, []rune(f.text[i:])[0], i)
		}
	}
	return ""
}

// isStray finds control characters that no text has.
func isStray(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }
