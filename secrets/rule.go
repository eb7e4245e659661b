package secrets

import (
	"regexp"
	"slices"
	"strings"
)

// Rule is the form of one kind of secret.
type Rule struct {
	// ID names the rule in findings. It is never reused.
	ID string
	// What says what is found, for people.
	What string
	// Source is where the issuer describes the form.
	Source string

	// anchors are fixed parts of which every such secret has one, three bytes or
	// more each; in lower case when fold says that case does not matter.
	anchors []string
	fold    bool
	// before is how many bytes of the secret come before its anchor.
	before int
	// joins are bytes, besides those of words, that such a secret does not follow:
	// those which are part of it themselves.
	joins string
	// pattern is matched where the secret begins; its group, if it has one, is the
	// secret. It holds only bytes of isToken.
	pattern *regexp.Regexp
	// check, unless nil, says whether what was found is one, by a checksum or by what
	// it decodes to.
	check func(secret string) bool
	// find takes the place of all that for what no pattern describes: it is asked
	// where an anchor is.
	find func(text string, at, anchorLen int) (start, end int, ok bool)
}

// continues reports whether what follows a byte is the middle of something.
func (r *Rule) continues(b byte) bool {
	return isWordByte[b] || b != 0 && strings.IndexByte(r.joins, b) >= 0
}

// All returns every rule, by id. The caller owns the list.
func All() []Rule {
	all := slices.Concat(keyRules(), cloudRules(), codeRules(), modelRules(), serviceRules(), hostRules(), carrierRules())
	slices.SortFunc(all, func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// What returns what the rule of an id finds; the id for one of another build.
func What(id string) string {
	for _, r := range All() {
		if r.ID == id {
			return r.What
		}
	}
	return id
}

// form is a pattern at the beginning of a text.
func form(pattern string) *regexp.Regexp { return regexp.MustCompile(`\A(?:` + pattern + `)`) }
