package mcp

import (
	"errors"
	"net/url"
	"strings"

	"github.com/fleetsync/fleetd/state"
)

// The schemes of resources.
const (
	schemeMemory = "memory"
	schemeSkill  = "skill"
)

// skillFile is the one file of a skill, at the end of its URI.
const skillFile = "/SKILL.md"

// errAddress is returned for a URI that names no record.
var errAddress = errors.New("mcp: not the URI of a record")

// address is what the URI of a resource names: a record by scheme, scope, and id
// or slug.
//
//	memory://{id}          skill://{slug}/SKILL.md
//	memory://project/{project}/workspace/{workspace}/{id}
//
// The scope stands in front, a word and its value for each field that it has;
// each part is escaped. So the last part of a skill's path is its slug, as the
// Skills extension wants it.
type address struct {
	scheme string
	scope  state.Scope
	// id is the id of a memory item or the slug of a skill.
	id string
}

// String is the URI.
func (a address) String() string {
	var b strings.Builder
	b.WriteString(a.scheme + "://")
	for _, f := range [...]struct{ word, value string }{
		{"instance", a.scope.Instance}, {"project", a.scope.Project}, {"workspace", a.scope.Workspace},
	} {
		if f.value != "" {
			b.WriteString(f.word + "/" + escape(f.value) + "/")
		}
	}
	b.WriteString(escape(a.id))
	if a.scheme == schemeSkill {
		b.WriteString(skillFile)
	}
	return b.String()
}

// escape escapes one part. A dot alone is escaped too: it is an id like others,
// and no place.
func escape(part string) string {
	if escaped := url.PathEscape(part); strings.Trim(part, ".") != "" {
		return escaped
	}
	return strings.ReplaceAll(part, ".", "%2E")
}

// parseAddress reads a URI; the file of a skill may be left out. Errors:
// errAddress.
func parseAddress(uri string) (address, error) {
	scheme, path, found := strings.Cut(uri, "://")
	if !found || scheme != schemeMemory && scheme != schemeSkill {
		return address{}, errAddress
	}
	a := address{scheme: scheme}
	if scheme == schemeSkill {
		path = strings.TrimSuffix(path, skillFile)
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil || plain == "" {
			return address{}, errAddress
		}
		parts[i] = plain
	}
	for ; len(parts) > 1; parts = parts[2:] {
		var field *string
		switch parts[0] {
		case "instance":
			field = &a.scope.Instance
		case "project":
			field = &a.scope.Project
		case "workspace":
			field = &a.scope.Workspace
		}
		if field == nil || *field != "" {
			return address{}, errAddress
		}
		*field = parts[1]
	}
	if len(parts) == 0 {
		return address{}, errAddress
	}
	a.id = parts[0]
	return a, nil
}
