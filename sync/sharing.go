package sync

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fleetsync/fleetd/merge"
)

// ErrSharing is returned for a text that is no rule of sharing.
var ErrSharing = errors.New("sync: rule of sharing")

// sessionFamily is the one family that is not shared unless somebody says so.
const sessionFamily = "session"

// Sharing decides which sections a node offers to its peers and takes from them.
// The zero value is that of a node for which nobody chose: every family but
// session. What nothing can change: a scope with an instance stays on its
// machine, and the family fleet is shared, since a member that lacks its
// statements trusts nobody. It is safe for concurrent use while nobody changes it.
type Sharing struct {
	// Sessions shares the family session, too.
	Sessions bool
	// Rules decide before that: the first that matches a section does.
	Rules []SharingRule
}

// SharingRule keeps the sections that it matches on this machine, or shares them.
type SharingRule struct {
	// Keep says that they stay here.
	Keep bool
	// Family is what they are of; "*" is every family.
	Family string
	// Project and Workspace are the scopes that they are in.
	Project, Workspace Pattern
}

// Pattern matches a name of a scope. The zero value matches every name, and none.
type Pattern struct {
	// IsSet says that Text counts. An empty one matches scopes without the name.
	IsSet bool
	// Text is the name; one that ends in "*" matches whatever begins so.
	Text string
}

// Shares reports whether a section is offered and taken.
func (s *Sharing) Shares(section merge.Section) bool {
	switch {
	case section.Scope.Instance != "":
		return false
	case section.Family == FleetFamily:
		return true
	}
	for i := range s.Rules {
		if s.Rules[i].matches(section) {
			return !s.Rules[i].Keep
		}
	}
	return s.Sessions || section.Family != sessionFamily
}

// SharesFamily reports whether some section of a family may be shared.
func (s *Sharing) SharesFamily(family string) bool {
	if family == FleetFamily {
		return true
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		switch {
		case !r.matchesFamily(family):
		case !r.Keep:
			return true
		case !r.Project.IsSet && !r.Workspace.IsSet:
			return false
		}
	}
	return s.Sessions || family != sessionFamily
}

func (r *SharingRule) matchesFamily(family string) bool { return r.Family == "*" || r.Family == family }

func (r *SharingRule) matches(s merge.Section) bool {
	return r.matchesFamily(s.Family) && r.Project.matches(s.Scope.Project) && r.Workspace.matches(s.Scope.Workspace)
}

func (p Pattern) matches(name string) bool {
	if begin, isPrefix := strings.CutSuffix(p.Text, "*"); isPrefix {
		return strings.HasPrefix(name, begin)
	}
	return !p.IsSet || p.Text == name
}

const ruleForm = `want "keep" or "share", a family or *, and if need be project=NAME and workspace=NAME; a NAME may end in *, one with a space stands in quotes`

// ParseSharingRule reads the text form of a rule, such as
//
//	keep memory project=client-*
//	share session project="my notes" workspace=main
//
// Errors: ErrSharing.
func ParseSharingRule(text string) (SharingRule, error) {
	verb, rest := cutWord(text)
	family, rest := cutWord(rest)
	if family == "" || verb != "keep" && verb != "share" {
		return SharingRule{}, fmt.Errorf("%w: %q: %s", ErrSharing, text, ruleForm)
	}
	if family == FleetFamily {
		return SharingRule{}, fmt.Errorf("%w: %q: the family fleet is always shared: who lacks its statements trusts nobody", ErrSharing, text)
	}
	if _, err := merge.ParseSectionID(merge.Section{Family: family}.ID()); err != nil {
		return SharingRule{}, fmt.Errorf("%w: %q: %w", ErrSharing, text, err)
	}
	r := SharingRule{Keep: verb == "keep", Family: family}
	for rest != "" {
		var err error
		if rest, err = r.readName(rest); err != nil {
			return SharingRule{}, fmt.Errorf("%w: %q: %w", ErrSharing, text, err)
		}
	}
	return r, nil
}

// readName takes one project=NAME or workspace=NAME from the beginning of a text
// and returns what follows.
func (r *SharingRule) readName(text string) (rest string, err error) {
	field, rest, found := strings.Cut(text, "=")
	p := map[string]*Pattern{"project": &r.Project, "workspace": &r.Workspace}[field]
	switch {
	case !found || p == nil:
		return "", fmt.Errorf("%.60q is neither project=NAME nor workspace=NAME", text)
	case p.IsSet:
		return "", fmt.Errorf("%s is there twice", field)
	}
	name, rest, err := cutName(rest)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
		return "", fmt.Errorf("%s: %q has a * that is not its end", field, name)
	}
	scope := merge.Scope{Project: name}
	if err := (merge.Key{Kind: "x", Scope: scope, ID: "x"}).Validate(); err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	*p = Pattern{IsSet: true, Text: name}
	return rest, nil
}

// cutWord takes what stands before the first space from a text.
func cutWord(text string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	return word, strings.TrimSpace(rest)
}

// cutName takes a name, in quotes or up to a space, from the beginning of a text.
func cutName(text string) (name, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		name, rest = cutWord(text)
		return name, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("the quotes of %.60s do not end", text)
	}
	if name, err = strconv.Unquote(quoted); err != nil {
		return "", "", fmt.Errorf("%s: %w", quoted, err)
	}
	if rest = text[len(quoted):]; rest != "" && rest[0] != ' ' {
		return "", "", fmt.Errorf("%.60q follows a quote without a space", rest)
	}
	return name, strings.TrimSpace(rest), nil
}

// String returns the text form, which ParseSharingRule reads.
func (r SharingRule) String() string {
	verb := "share"
	if r.Keep {
		verb = "keep"
	}
	text := verb + " " + r.Family
	if r.Project.IsSet {
		text += " project=" + r.Project.String()
	}
	if r.Workspace.IsSet {
		text += " workspace=" + r.Workspace.String()
	}
	return text
}

// String returns the name, in quotes where it needs them.
func (p Pattern) String() string {
	if quoted := strconv.Quote(p.Text); p.Text == "" || strings.ContainsAny(p.Text, " ,") || quoted != `"`+p.Text+`"` {
		return quoted
	}
	return p.Text
}
