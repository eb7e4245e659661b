package skillfs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	// ErrName refuses a name that is no slug.
	ErrName = errors.New("skillfs: not a skill name")
	// ErrUnsafeName refuses a name that could reach outside the skill's folder or
	// means a device. Every such error is an ErrName too.
	ErrUnsafeName = fmt.Errorf("%w: unsafe", ErrName)
)

const (
	slugCharsMax = 64
	// fileNameBytesMax is the longest name that common file systems take.
	fileNameBytesMax = 255
)

var (
	strictSlug  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	importSlug  = regexp.MustCompile(`^[\pL\pN][\pL\pN\pM]*(-[\pL\pN][\pL\pN\pM]*)*$`)
	separators  = regexp.MustCompile(`[\s_.:-]+`)
	driveLetter = regexp.MustCompile(`^[A-Za-z]:`)
	// deviceName lists what Windows takes for a device in any directory.
	deviceName = regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// ValidSlug checks the name of a skill that is being created: 1 to 64 of a-z and
// 0-9, with single hyphens between them. It returns nil, or ErrName with the
// reason, and ErrUnsafeName besides for a path, a control character, a device
// name such as con, or more bytes than a file name may have.
func ValidSlug(name string) error {
	if err := safeName(name); err != nil {
		return err
	}
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > slugCharsMax:
		return fmt.Errorf("%w: %q has more than %d characters", ErrName, summary(name), slugCharsMax)
	case !strictSlug.MatchString(name):
		return fmt.Errorf("%w: %q must be of a-z and 0-9, with single hyphens between", ErrName, name)
	default:
		return nil
	}
}

// ImportSlug turns the name of an existing skill into a slug: normalised to
// NFKC, in lower case, with hyphens for spaces, dots, colons and underscores. It
// accepts letters of every script. Its results are fixed points: a slug is read
// as itself. The errors are those of ValidSlug.
func ImportSlug(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", fmt.Errorf("%w: %q is not UTF-8", ErrName, summary(name))
	}
	if err := safeName(name); err != nil {
		return "", err
	}
	// A compatibility form may hide a path: U+FF0F becomes a slash.
	if err := safeName(norm.NFKC.String(name)); err != nil {
		return "", err
	}
	slug := strings.Trim(separators.ReplaceAllString(fold(name), "-"), "-")
	switch {
	case slug == "":
		return "", fmt.Errorf("%w: %q has no letter", ErrName, summary(name))
	case utf8.RuneCountInString(slug) > slugCharsMax || len(slug) > fileNameBytesMax:
		return "", fmt.Errorf("%w: %q has more than %d characters", ErrName, summary(name), slugCharsMax)
	case !importSlug.MatchString(slug) || slug != fold(slug):
		return "", fmt.Errorf("%w: %q must be of letters and digits, with hyphens between", ErrName, summary(name))
	}
	if err := safeName(slug); err != nil {
		return "", err
	}
	return slug, nil
}

// fold is lower case in NFKC. Lowering can leave a form that is not normal, as
// with a dotted capital I, hence the second pass.
func fold(name string) string {
	return norm.NFKC.String(strings.ToLower(norm.NFKC.String(name)))
}

// safeName refuses what must never become part of a path.
func safeName(name string) error {
	reason := ""
	switch {
	case len(name) > fileNameBytesMax:
		reason = fmt.Sprintf("it has more than %d bytes", fileNameBytesMax)
	case strings.ContainsFunc(name, unicode.IsControl):
		reason = "it has a control character"
	case strings.ContainsAny(name, `/\`) || name == "." || name == ".." || driveLetter.MatchString(name):
		reason = "it is a path"
	case deviceName.MatchString(name):
		reason = "it names a device"
	default:
		return nil
	}
	return fmt.Errorf("%w: %q: %s", ErrUnsafeName, summary(name), reason)
}

// sameSlug reports whether a folder's name is read as slug, as a name in another
// Unicode form is.
func sameSlug(slug, dirName string) bool {
	fromFolder, err := ImportSlug(dirName)
	return err == nil && fromFolder == slug
}
