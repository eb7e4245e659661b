package merge

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scope places a record on the instance, project and workspace axis. It is
// comparable; the zero scope is global. A scope with an Instance never leaves
// that machine.
type Scope struct {
	Instance  string
	Project   string
	Workspace string
}

// ID is the identity of a record within its kind and scope: one to four
// components of 1 to 256 bytes of text without control characters, joined by
// 0x00. It is comparable, so that a Key can be a map key.
type ID string

// NewID joins components to an ID. It checks nothing; Key.Validate does.
func NewID(components ...string) ID { return ID(strings.Join(components, "\x00")) }

// Components returns the parts that NewID joined.
func (id ID) Components() []string { return strings.Split(string(id), "\x00") }

// Key identifies a record across the fleet; it never changes. It is
// comparable.
type Key struct {
	// Kind is a family, optionally followed by a dot and more: "skill",
	// "skill.outcome". 1 to 64 bytes.
	Kind  string
	Scope Scope
	ID    ID
}

// Section is the unit of sharing, feed, cursor, digest and root: everything of
// one family in one scope. It is comparable.
type Section struct {
	Family string
	Scope  Scope
}

// Family returns the kind up to its first dot.
func (k Key) Family() string {
	family, _, _ := strings.Cut(k.Kind, ".")
	return family
}

// Section returns the section that the key belongs to.
func (k Key) Section() Section { return Section{Family: k.Family(), Scope: k.Scope} }

// String returns a readable form for messages, such as "skill/deploy" or
// "memory/0197... in project web".
func (k Key) String() string {
	name := k.Kind + "/" + strings.Join(k.ID.Components(), "/")
	if k.Scope == (Scope{}) {
		return name
	}
	return name + " in " + k.Scope.String()
}

// String returns "global" or the fields that are set, such as "project web".
func (s Scope) String() string {
	var parts []string
	for _, f := range [...]struct{ name, value string }{
		{"instance", s.Instance}, {"project", s.Project}, {"workspace", s.Workspace},
	} {
		if f.value != "" {
			parts = append(parts, f.name+" "+f.value)
		}
	}
	if len(parts) == 0 {
		return "global"
	}
	return strings.Join(parts, ", ")
}

// String returns the family and the scope for messages, such as "skill, global".
func (s Section) String() string { return s.Family + ", " + s.Scope.String() }

// sectionSeparator divides the parts of a section id. Parts carry no control
// characters, so the id is unambiguous.
const sectionSeparator = "\x1f"

// ID returns the section's identity on the wire and in hashes: family,
// instance, project and workspace, divided by 0x1f.
func (s Section) ID() string { return string(s.appendID(nil)) }

// Compare orders sections as their ids are ordered, without making them: the
// separator is less than whatever a part may hold.
func (s Section) Compare(o Section) int {
	return cmp.Or(
		strings.Compare(s.Family, o.Family), strings.Compare(s.Scope.Instance, o.Scope.Instance),
		strings.Compare(s.Scope.Project, o.Scope.Project), strings.Compare(s.Scope.Workspace, o.Scope.Workspace),
	)
}

func (s Section) appendID(dst []byte) []byte {
	dst = append(dst, s.Family...)
	for _, field := range [...]string{s.Scope.Instance, s.Scope.Project, s.Scope.Workspace} {
		dst = append(dst, sectionSeparator...)
		dst = append(dst, field...)
	}
	return dst
}

// ParseSectionID is the inverse of Section.ID. Errors: ErrMalformed.
func ParseSectionID(id string) (Section, error) {
	if n := strings.Count(id, sectionSeparator) + 1; n != 4 {
		return Section{}, fmt.Errorf("%w: section of %d parts", ErrMalformed, n)
	}
	var parts [4]string
	for i := range parts {
		parts[i], id, _ = strings.Cut(id, sectionSeparator)
	}
	s := Section{Family: parts[0], Scope: Scope{Instance: parts[1], Project: parts[2], Workspace: parts[3]}}
	if strings.Contains(s.Family, ".") {
		return Section{}, fmt.Errorf("%w: family %.60q has a dot", ErrMalformed, s.Family)
	}
	return s, Key{Kind: s.Family, Scope: s.Scope, ID: "x"}.Validate()
}

// Order returns the key's place within its section: kind, 0x00, id. Byte order
// of these is the order of ranges and pages.
func (k Key) Order() string { return k.Kind + "\x00" + string(k.ID) }

// ParseOrder is the inverse of Order within section s. Errors: ErrMalformed.
func ParseOrder(s Section, order string) (Key, error) {
	kind, id, _ := strings.Cut(order, "\x00")
	k := Key{Kind: kind, Scope: s.Scope, ID: ID(id)}
	if k.Family() != s.Family {
		return Key{}, fmt.Errorf("%w: kind %.60q outside of section %s", ErrMalformed, kind, s)
	}
	return k, k.Validate()
}

// Validate checks the key against the format: non-empty text without control
// characters within the limits. Errors: ErrMalformed.
func (k Key) Validate() error {
	if err := validateText("kind", k.Kind, kindBytesMax); err != nil {
		return err
	}
	if k.Family() == "" {
		return fmt.Errorf("%w: kind %q has no family", ErrMalformed, k.Kind)
	}
	for _, field := range [...]string{k.Scope.Instance, k.Scope.Project, k.Scope.Workspace} {
		if field == "" {
			continue
		}
		if err := validateText("scope", field, componentBytesMax); err != nil {
			return err
		}
	}
	components := k.ID.Components()
	if len(components) > componentsMax {
		return fmt.Errorf("%w: id of %d components, at most %d", ErrMalformed, len(components), componentsMax)
	}
	for _, c := range components {
		if err := validateText("id", c, componentBytesMax); err != nil {
			return err
		}
	}
	return nil
}

// validateText accepts 1 to bytesMax bytes of UTF-8 without control characters.
func validateText(what, s string, bytesMax int) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: empty %s", ErrMalformed, what)
	case len(s) > bytesMax:
		return fmt.Errorf("%w: %s of %d bytes, at most %d", ErrMalformed, what, len(s), bytesMax)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: %s %.60q is not UTF-8", ErrMalformed, what, s)
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %s %.60q has the control character %U", ErrMalformed, what, s, r)
		}
	}
	return nil
}
