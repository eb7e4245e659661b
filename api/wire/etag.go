package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// ETag returns the entity tag of a record in this version: what makes a write
// conditional as If-Match, as its Token does in a body.
func (e Envelope) ETag() string { return e.Token().ETag() }

// ETag returns the entity tag that stands for a token, "" for the zero one. The
// writer is left out: two versions of one record differ in their stamps.
func (t Token) ETag() string {
	if t.SyncVersion <= 0 {
		return ""
	}
	return fmt.Sprintf(`"%d-%s"`, t.SyncVersion, t.UpdatedHLC)
}

// ETag returns the entity tag of a skill. Its uses and wins are part of it,
// since they change without a new version; as If-Match they do not count.
func (s Skill) ETag() string {
	return fmt.Sprintf(`"%d-%s+%d.%d"`, s.SyncVersion, s.UpdatedHLC, s.Uses, s.Wins)
}

// TokenOf is the inverse of ETag. ok is false for what no ETag returned.
func TokenOf(tag string) (token Token, ok bool) {
	inner, quoted := strings.CutPrefix(tag, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	inner, counts, counted := strings.Cut(inner, "+")
	version, stamp, divided := strings.Cut(inner, "-")
	n, err := strconv.ParseInt(version, 10, 64)
	if counted && strings.Trim(counts, "0123456789.") != "" {
		return Token{}, false
	}
	if !quoted || !closed || !divided || err != nil || n < 1 || stamp == "" {
		return Token{}, false
	}
	return Token{SyncVersion: n, UpdatedHLC: stamp}, true
}
