package state

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// keyBytesMax bounds slugs, ids and the fields of a scope. It is the limit of
// one id component in a record's key.
const keyBytesMax = 256

// keyText returns s in form NFC, or ErrInvalid when it cannot be part of a key.
func keyText(what, s string) (string, error) {
	if isPlain(s) {
		return s, nil
	}
	if s == "" {
		return "", fmt.Errorf("%w: empty %s", ErrInvalid, what)
	}
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%w: %s %.60q is not UTF-8", ErrInvalid, what, s)
	}
	s = norm.NFC.String(s)
	if len(s) > keyBytesMax {
		return "", fmt.Errorf("%w: %s of %d bytes, at most %d", ErrInvalid, what, len(s), keyBytesMax)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("%w: %s %.60q has a control character", ErrInvalid, what, s)
	}
	return s, nil
}

// isPlain reports whether a text is one of those that nearly all keys are, about
// which there is nothing to ask: printable ASCII of a length that is allowed.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= keyBytesMax
}

// idText is keyText for ids.
func idText(s string) (string, error) { return keyText("id", s) }

// scopeText returns the scope with its fields in form NFC. Errors: ErrInvalid.
func scopeText(s Scope) (Scope, error) {
	for _, f := range [...]struct {
		what  string
		field *string
	}{
		{"scope instance", &s.Instance}, {"scope project", &s.Project}, {"scope workspace", &s.Workspace},
	} {
		if *f.field == "" {
			continue
		}
		text, err := keyText(f.what, *f.field)
		if err != nil {
			return Scope{}, err
		}
		*f.field = text
	}
	return s, nil
}

// authoredScope is scopeText for scopes that are written to: everything in them
// is seen.
func authoredScope(s Scope) (Scope, error) {
	s, err := scopeText(s)
	for _, field := range []string{s.Instance, s.Project, s.Workspace} {
		if err == nil {
			err = checkVisible("scope", field)
		}
	}
	return s, err
}

// storedText checks text that is stored as given. Errors: ErrInvalid.
func storedText(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s is not UTF-8", ErrInvalid, what)
	}
	return nil
}

// storedTime returns t as it reads back. Errors: ErrInvalid outside of the
// range of int64 nanoseconds.
func storedTime(what string, t time.Time) (time.Time, error) {
	stored := time.Unix(0, t.UnixNano()).UTC()
	if !stored.Equal(t) {
		return time.Time{}, fmt.Errorf("%w: %s %s is outside of the years 1678 to 2262", ErrInvalid, what, t.Format(time.RFC3339))
	}
	return stored, nil
}

// storedClock is storedTime for a reading of the clock, which is never an
// error: a machine whose clock is that wrong still writes.
func storedClock(t time.Time) time.Time {
	if stored, err := storedTime("", t); err == nil {
		return stored
	}
	return time.Unix(0, 0).UTC()
}

// normalSkill returns what a caller writes with keys in form NFC and its own
// copy of the slices. Errors: ErrInvalid.
func normalSkill(sk Skill) (Skill, error) {
	var err error
	sk.Secrets = Secrets{}
	if sk.Scope, err = authoredScope(sk.Scope); err != nil {
		return Skill{}, err
	}
	if sk.Slug, err = authoredSlug(sk.Slug); err != nil {
		return Skill{}, err
	}
	if sk.ID != "" {
		if sk.ID, err = keyText("id", sk.ID); err != nil {
			return Skill{}, err
		}
	}
	for _, f := range [...]struct{ what, text string }{
		{"name", sk.Name}, {"body", sk.Body}, {"check", sk.Check}, {"tags", strings.Join(sk.Tags, "\x00")},
	} {
		if err := storedText(f.what, f.text); err != nil {
			return Skill{}, err
		}
	}
	if sk.Uses < 0 || sk.Wins < 0 {
		return Skill{}, fmt.Errorf("%w: uses %d, wins %d", ErrInvalid, sk.Uses, sk.Wins)
	}
	if err := notIncomplete(sk.Incomplete); err != nil {
		return Skill{}, err
	}
	sk.Tags = append(make([]string, 0, len(sk.Tags)), sk.Tags...)
	return sk, nil
}

// normalSession is normalSkill for sessions.
func normalSession(ses Session) (Session, error) {
	var err error
	ses.Secrets = Secrets{}
	if ses.ID != "" {
		if ses.ID, err = idText(ses.ID); err != nil {
			return Session{}, err
		}
	}
	return ses, cmp.Or(storedText("title", ses.Title), storedText("model", ses.Model))
}

// normalTurn is normalSkill for turns.
func normalTurn(t Turn) (Turn, error) {
	var err error
	t.Secrets = Secrets{}
	if t.SessionID, err = keyText("session id", t.SessionID); err != nil {
		return Turn{}, err
	}
	if t.ID != "" {
		if t.ID, err = idText(t.ID); err != nil {
			return Turn{}, err
		}
	}
	return t, cmp.Or(storedText("role", t.Role), storedText("content", t.Content), notIncomplete(t.Incomplete))
}

// normalMemory is normalSkill for memory items.
func normalMemory(it MemoryItem) (MemoryItem, error) {
	var err error
	it.Secrets = Secrets{}
	if it.Scope, err = authoredScope(it.Scope); err != nil {
		return MemoryItem{}, err
	}
	if it.ID != "" {
		if it.ID, err = keyText("id", it.ID); err != nil {
			return MemoryItem{}, err
		}
	}
	for _, f := range [...]struct{ what, text string }{
		{"kind", it.Kind}, {"content", it.Content}, {"source", it.Source},
	} {
		if err := storedText(f.what, f.text); err != nil {
			return MemoryItem{}, err
		}
	}
	return it, notIncomplete(it.Incomplete)
}

// notIncomplete refuses to write what was read without its content. Errors:
// ErrIncomplete.
func notIncomplete(incomplete bool) error {
	if incomplete {
		return fmt.Errorf("%w: it was read without its content, which a write would lose", ErrIncomplete)
	}
	return nil
}
