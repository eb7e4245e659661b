package fleet

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fleetsync/fleetd/merge"
)

// suffixMark divides a name from the part of the id that is shown behind it
// when two members were granted one name. No granted name may hold it.
const suffixMark = "~"

// ValidateName checks the name of a member: 1 to 64 characters of UTF-8,
// without control, format (hidden, bidirectional) and line-separating
// characters, without "~", no white space at the ends, and not the text of a
// peer id, so that a name is never taken for another member. Errors: ErrName.
func ValidateName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %.60q is not UTF-8", ErrName, name)
	case utf8.RuneCountInString(name) > nameCharsMax:
		return fmt.Errorf("%w: %d characters, at most %d", ErrName, utf8.RuneCountInString(name), nameCharsMax)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%w: %q begins or ends with white space", ErrName, name)
	case strings.Contains(name, suffixMark):
		return fmt.Errorf("%w: %q holds %q, which marks the second member of a name", ErrName, name, suffixMark)
	}
	for _, r := range name {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Errorf("%w: %q holds the hidden character %U", ErrName, name, r)
		}
	}
	if id, err := merge.ParseInstanceID(name); err == nil {
		if _, isPeer := id.PublicKey(); isPeer {
			return fmt.Errorf("%w: %q is the id of a peer", ErrName, name)
		}
	}
	return nil
}
