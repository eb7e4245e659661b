package mcp

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

// Version is one version of a record.
type Version struct {
	// Hash names the version in the whole fleet, in hex.
	Hash string `json:"hash"`
	// Standing is head, conflict or covered.
	Standing string `json:"standing"`
	Deleted  bool   `json:"deleted"`
	Snippet  string `json:"snippet"`
	Bytes    int    `json:"bytes"`
	// Content is all of it, of the one version that was asked for.
	Content string `json:"content,omitempty"`
	Version string `json:"version"`
	Provenance
}

// History is the versions of a record, newest first.
type History struct {
	Kind     string     `json:"kind"`
	ID       string     `json:"id"`
	Scope    wire.Scope `json:"scope"`
	Versions []Version  `json:"versions"`
	counted
}

func (s *Server) version(v *state.Version) Version {
	content := contentOf(v)
	first := content
	if v.Skill != nil {
		first = skillfs.AfterFrontmatter(content)
	}
	return Version{
		Hash: hex.EncodeToString(v.Hash[:]), Standing: string(v.Standing), Deleted: v.Deleted, Snippet: snippet(first), Bytes: len(content),
		Version: versionOf(v.Envelope), Provenance: s.provenance(v.Envelope, v.Standing == state.StandingConflict),
	}
}

// contentOf is the text of a version; empty for a tombstone, and for a kind that
// has none.
func contentOf(v *state.Version) string {
	switch {
	case v.Skill != nil:
		return v.Skill.Body
	case v.Memory != nil:
		return v.Memory.Content
	case v.Turn != nil:
		return v.Turn.Content
	case v.Session != nil:
		return v.Session.Title
	}
	return ""
}

func memoryHistory(ctx context.Context, c *call) (result, error) {
	id := c.args.text("id")
	return c.history(ctx, "memory", id, func(scope state.Scope) merge.Key { return memoryKey(scope, id) }, c.node.State().MemoryLibrary().History)
}

func skillHistory(ctx context.Context, c *call) (result, error) {
	slug := c.args.text("slug")
	return c.history(ctx, "skill", slug, func(scope state.Scope) merge.Key { return skillKey(scope, slug) }, c.node.State().SkillLibrary().History)
}

// history answers with the versions of a record: that of exactly one scope when
// the call names one, else the one that anywhere finds.
func (c *call) history(
	ctx context.Context, kind, id string, keyIn func(state.Scope) merge.Key, anywhere func(context.Context, string) ([]state.Version, error),
) (result, error) {
	scope, scoped, err := c.args.scope()
	if err != nil {
		return result{}, err
	}
	var versions []state.Version
	if scoped {
		versions, err = c.node.State().History(ctx, keyIn(scope))
	} else {
		versions, err = anywhere(ctx, id)
	}
	if err != nil {
		return result{}, err
	}
	h := History{Kind: kind, ID: id, Scope: wireScope(scope), Versions: []Version{}, counted: counted{Total: len(versions)}}
	for i := range versions {
		if known, ok := scopeOf(&versions[i]); ok {
			h.Scope = wireScope(known)
			break
		}
	}
	if prefix := c.args.text("hash"); prefix != "" {
		return c.oneVersion(h, versions, strings.ToLower(prefix))
	}
	text := newLines(c.args.number("limit", limitDefault))
	for i := range versions {
		v := c.version(&versions[i])
		if !text.add("%.12s %s%s %s -- %s", v.Hash, v.Standing, tombstoneText(v.Deleted), v.Snippet, v.Provenance) {
			break
		}
		h.Versions = append(h.Versions, v)
	}
	h.Returned = len(h.Versions)
	return result{h, text.end("%d of %s of %s %s", h.Returned, plural(h.Total, "version", "versions"), kind, api.Named(id))}, nil
}

func tombstoneText(deleted bool) string {
	if deleted {
		return " (deleted)"
	}
	return ""
}

func scopeOf(v *state.Version) (state.Scope, bool) {
	switch {
	case v.Skill != nil:
		return v.Skill.Scope, true
	case v.Memory != nil:
		return v.Memory.Scope, true
	}
	return state.Scope{}, false
}

// oneVersion answers with the one version whose hash begins so.
func (c *call) oneVersion(h History, versions []state.Version, prefix string) (result, error) {
	var found []*state.Version
	for i := range versions {
		if strings.HasPrefix(hex.EncodeToString(versions[i].Hash[:]), prefix) {
			found = append(found, &versions[i])
		}
	}
	switch len(found) {
	case 0:
		return result{}, api.NewProblem(wire.CodeNotFound, fmt.Sprintf("not found: a version whose hash begins with %.80q", prefix))
	case 1:
	default:
		return result{}, api.NewProblem(wire.CodeAmbiguous, fmt.Sprintf("ambiguous: the hashes of %d versions begin with %.80q", len(found), prefix))
	}
	v := c.version(found[0])
	v.Content = contentOf(found[0])
	h.Versions, h.Returned = []Version{v}, 1
	return result{h, fmt.Sprintf("%s %s%s %s\n\n%s", v.Hash, v.Standing, tombstoneText(v.Deleted), v.Provenance, shown(v.Content))}, nil
}

// asNotFound reports whether an error says that there is no such record.
func asNotFound(err error) bool { return errors.Is(err, state.ErrNotFound) }
