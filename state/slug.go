package state

import (
	"fmt"
	"strings"
	"unicode"
)

// A slug names a skill, and the folder that it is exported to. The rule is one
// for what is written here: authoredSlug. What others have written is never
// lost: slugText takes every name that can be addressed, stays what it was, and
// is for whoever shows it to make harmless.

// fileNameBytesMax is the longest name that common file systems take.
const fileNameBytesMax = 255

// slugText is keyText for slugs that are read: a slug never leaves the parent of
// its folder.
func slugText(s string) (string, error) {
	s, err := keyText("slug", s)
	switch {
	case err != nil:
		return "", err
	case s == ".", s == "..", strings.ContainsAny(s, `/\`):
		return "", fmt.Errorf("%w: slug %.60q is a path; a slug is one name without / and \\", ErrInvalid, s)
	}
	return s, nil
}

// authoredSlug is slugText for slugs that are written: one that every common
// file system takes as the name of a folder, and of which everything is seen.
func authoredSlug(s string) (string, error) {
	s, err := slugText(s)
	if err != nil {
		return "", err
	}
	reason := ""
	switch {
	case len(s) > fileNameBytesMax:
		reason = fmt.Sprintf("has more than %d bytes", fileNameBytesMax)
	case strings.TrimSpace(s) != s:
		reason = "begins or ends with white space"
	case strings.HasSuffix(s, "."):
		reason = "ends with a dot, which Windows drops"
	case strings.ContainsAny(s, `<>:"|?*`):
		reason = `has one of <>:"|?*, which no file name on Windows has`
	case namesDevice(s):
		reason = "names a device on Windows"
	default:
		return s, checkVisible("slug", s)
	}
	return "", fmt.Errorf("%w: slug %.60q %s; take letters and digits, with hyphens between", ErrInvalid, s, reason)
}

// namesDevice reports whether Windows takes a name for a device, in whatever
// folder and with whatever extension.
func namesDevice(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port, isPort := strings.CutPrefix(stem, "com")
	if !isPort {
		port, isPort = strings.CutPrefix(stem, "lpt")
	}
	digits := []rune(port)
	return isPort && len(digits) == 1 && (unicode.IsDigit(digits[0]) || strings.ContainsRune("\u00b9\u00b2\u00b3", digits[0]))
}

// checkVisible refuses what cannot be seen and changes what is seen: hidden and
// bidirectional marks, and separators of lines. Errors: ErrInvalid.
func checkVisible(what, s string) error {
	for _, r := range s {
		if unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) {
			return fmt.Errorf("%w: %s %.60q holds the hidden character %U", ErrInvalid, what, s, r)
		}
	}
	return nil
}
