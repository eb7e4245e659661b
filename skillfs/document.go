package skillfs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Why a SKILL.md is refused. The text after the sentinel says what to change.
var (
	ErrEncoding      = errors.New("skillfs: not UTF-8")
	ErrNoFrontmatter = errors.New("skillfs: no frontmatter")
	ErrYAML          = errors.New("skillfs: unreadable frontmatter")
	ErrNoDescription = errors.New("skillfs: no description")
	ErrTooLarge      = errors.New("skillfs: too large")
)

// Lengths that the format asks for, in characters. Longer text is kept, with a
// warning: only agents that read the folder may cut it.
const (
	descriptionCharsMax   = 1024
	compatibilityCharsMax = 500
)

// Document is one SKILL.md. The zero value is no skill.
type Document struct {
	// Name is the slug: a valid result of ImportSlug.
	Name string
	// Description says what the skill does and when to use it; never empty.
	Description string
	// License and Compatibility are empty when the frontmatter has none.
	License       string
	Compatibility string
	// Tags are those of the frontmatter, a list or words between commas: trimmed,
	// each once, in their order.
	Tags []string
	// Body is a copy of the whole input, frontmatter included.
	Body []byte
	// Frontmatter holds every key as YAML reads it: string, bool, int64, uint64,
	// float64, []byte, nil, []any and map[string]any.
	Frontmatter map[string]any
}

// Warning is a liberty taken, or something left out, while reading a skill.
type Warning struct {
	// About is a key of the frontmatter, "frontmatter", "body", or the path of a
	// file relative to the skill's folder.
	About string
	// Text is a clause for people.
	Text string
}

// String is the warning as one line for people.
func (w Warning) String() string { return w.About + ": " + w.Text }

// Parse reads the bytes of one SKILL.md from a folder called dirName; an empty
// dirName is an unknown folder, and no name is then compared with it. Parse
// keeps no reference to raw, and is safe for concurrent use.
//
// It returns ErrEncoding, ErrNoFrontmatter, ErrYAML, ErrNoDescription or
// ErrTooLarge (the frontmatter exceeds FrontmatterBytesMax) when the document
// cannot be read, ErrName when neither frontmatter nor folder has a usable name,
// and ErrUnsafeName besides when a name in the frontmatter would lead outside
// the skill's folder. Body is filled even then, so that the text can be shown.
func Parse(dirName string, raw []byte) (Document, []Warning, error) {
	document := Document{Body: bytes.Clone(raw)}
	header, err := cutFrontmatter(raw)
	if err != nil {
		return document, nil, err
	}
	values, warnings, err := decodeFrontmatter(header)
	if err != nil {
		return document, warnings, err
	}
	fields := fieldReader{values: values, header: header, warnings: warnings}
	if !utf8.Valid(raw) {
		fields.warn("body", "is not UTF-8 throughout; its bytes are kept")
	}
	read := document
	read.Frontmatter = values
	if read.Description, err = fields.description(); err != nil {
		return document, fields.warnings, err
	}
	if read.Name, err = fields.name(dirName); err != nil {
		return document, fields.warnings, err
	}
	read.License = fields.text("license")
	read.Compatibility = fields.text("compatibility")
	read.Tags = fields.tags()
	fields.warnLength("description", read.Description, descriptionCharsMax)
	fields.warnLength("compatibility", read.Compatibility, compatibilityCharsMax)
	return read, fields.warnings, nil
}

// Description returns the description of a SKILL.md as Parse reads it, and ""
// where Parse finds none. No other key matters: a document without a usable
// name still says what it is for. It is safe for concurrent use.
func Description(raw []byte) string {
	header, err := cutFrontmatter(raw)
	if err != nil {
		return ""
	}
	values, _, err := decodeFrontmatter(header)
	if err != nil {
		return ""
	}
	fields := fieldReader{values: values, header: header}
	return fields.text("description")
}

// fieldReader takes the known keys out of the frontmatter and collects what it
// had to overlook.
type fieldReader struct {
	values   map[string]any
	header   []string
	warnings []Warning
}

func (r *fieldReader) warn(about, text string) {
	r.warnings = append(r.warnings, Warning{About: about, Text: text})
}

func (r *fieldReader) warnLength(key, text string, charsMax int) {
	if n := utf8.RuneCountInString(text); n > charsMax {
		r.warn(key, fmt.Sprintf("has %d characters, more than %d", n, charsMax))
	}
}

// text returns the value of key as the text that was written: 007 stays 007,
// although YAML reads a number. A list or a mapping is no text.
func (r *fieldReader) text(key string) string {
	switch value := r.values[key].(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(value)
	case []any, map[string]any:
		r.warn(key, "is not text and is ignored")
		return ""
	default:
		return writtenValue(r.header, key)
	}
}

// tags reads a list of scalars, or one text with commas.
func (r *fieldReader) tags() []string {
	var written []string
	switch value := r.values["tags"].(type) {
	case []any:
		for _, element := range value {
			switch element.(type) {
			case nil, []any, map[string]any:
				r.warn("tags", "holds something that is no text, which is left out")
			default:
				written = append(written, fmt.Sprint(element))
			}
		}
	default:
		written = strings.Split(r.text("tags"), ",")
	}
	var tags []string
	for _, tag := range written {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (r *fieldReader) description() (string, error) {
	if text := r.text("description"); text != "" {
		return text, nil
	}
	reason := "the frontmatter needs a description of what the skill does and when to use it"
	if _, present := r.values["description"]; present {
		reason = "the description is empty or not text"
	} else if len(r.values) > 0 {
		keys := slices.Sorted(maps.Keys(r.values))
		reason += ", it has only " + summary(strings.Join(keys, ", "))
	}
	return "", fmt.Errorf("%w: %s", ErrNoDescription, reason)
}

// name prefers the frontmatter's name, since a folder is renamed by accident
// more often than a document. An unsafe one is refused and not replaced: nobody
// writes "../x" by mistake.
func (r *fieldReader) name(dirName string) (string, error) {
	written := r.text("name")
	if written == "" {
		slug, err := ImportSlug(dirName)
		if err != nil {
			return "", fmt.Errorf("the frontmatter has no name and the folder's is none: %w", err)
		}
		r.warn("name", fmt.Sprintf("is missing; the folder's name %s is used", slug))
		return slug, nil
	}
	slug, err := ImportSlug(written)
	if errors.Is(err, ErrUnsafeName) {
		return "", err
	}
	if err != nil {
		fromFolder, folderErr := ImportSlug(dirName)
		if folderErr != nil {
			return "", err
		}
		r.warn("name", fmt.Sprintf("%q cannot be used; the folder's name %s is used", summary(written), fromFolder))
		return fromFolder, nil
	}
	if slug != written {
		r.warn("name", fmt.Sprintf("%q is read as %s", summary(written), slug))
	}
	if dirName != "" && slug != dirName && !sameSlug(slug, dirName) {
		r.warn("name", fmt.Sprintf("%s differs from the folder's name %q", slug, summary(dirName)))
	}
	return slug, nil
}

// summary cuts text that came from outside to what fits into a message.
func summary(text string) string {
	const charsMax = 80
	if utf8.RuneCountInString(text) <= charsMax {
		return text
	}
	return string([]rune(text)[:charsMax]) + "..."
}

// AfterFrontmatter is the text of a SKILL.md without what stands before it; all of
// it when nothing else is there. It is safe for concurrent use.
func AfterFrontmatter(body string) string {
	rest, found := strings.CutPrefix(strings.ReplaceAll(body, "\r\n", "\n"), "---\n")
	_, rest, closed := strings.Cut(rest, "\n---\n")
	if !found || !closed || strings.TrimSpace(rest) == "" {
		return body
	}
	return rest
}

// Frontmatter returns all values of a SKILL.md's frontmatter, as YAML has them.
// It repairs nothing: what Parse reads by taking a liberty may be an error here.
// Errors: ErrEncoding, ErrNoFrontmatter, ErrTooLarge, ErrYAML. It is safe for
// concurrent use.
func Frontmatter(raw []byte) (map[string]any, error) {
	lines, err := cutFrontmatter(raw)
	if err != nil {
		return nil, err
	}
	return readYAML(lines)
}
