package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/skillfs"
	"github.com/fleetsync/fleetd/state"
)

const (
	// skillsExtension is the name of the extension that serves skills.
	skillsExtension = "io.modelcontextprotocol/skills"
	// skillsPage is how many skills one page of skills/list has.
	skillsPage = 100
	// resultComplete is what results say that are no questions back.
	resultComplete = "complete"
)

// skillsListParams are those of skills/list.
type skillsListParams struct {
	sdk.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

// skillsListResult is that of skills/list.
type skillsListResult struct {
	sdk.ResultBase
	sdk.Cacheable
	ResultType string          `json:"resultType"`
	Skills     []*offeredSkill `json:"skills"`
	NextCursor string          `json:"nextCursor,omitempty"`
}

// skillsGetParams are those of skills/get.
type skillsGetParams struct {
	sdk.ParamsBase
	URI string `json:"uri"`
}

// skillsGetResult is that of skills/get.
type skillsGetResult struct {
	sdk.ResultBase
	sdk.Cacheable
	ResultType string        `json:"resultType"`
	Skill      *offeredSkill `json:"skill"`
}

// offeredSkill is one skill as the extension describes it.
type offeredSkill struct {
	URI string `json:"uri"`
	// Frontmatter is that of the text, to the letter, as JSON.
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   []skillResource `json:"resources"`
}

// skillResource is one file of a skill.
type skillResource struct {
	URI string `json:"uri"`
	// Digest is "sha256:" and the digest of the bytes in hex, Size their number.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// offerSkills adds the methods of the extension to a server.
func (s *Server) offerSkills(server *sdk.Server) error {
	return errors.Join(
		sdk.AddReceivingCustomMethod(server, "skills/list", func(ctx context.Context, _ *sdk.ServerSession, p *skillsListParams) (*skillsListResult, error) {
			cursor := ""
			if p != nil {
				cursor = p.Cursor
			}
			return s.listOffered(ctx, cursor)
		}),
		sdk.AddReceivingCustomMethod(server, "skills/get", func(ctx context.Context, _ *sdk.ServerSession, p *skillsGetParams) (*skillsGetResult, error) {
			if p == nil {
				p = &skillsGetParams{}
			}
			return s.getOffered(ctx, p.URI)
		}))
}

// listOffered returns a page of the skills that the extension can describe, by
// slug. Others are passed over, so a page may have few while others follow.
func (s *Server) listOffered(ctx context.Context, cursor string) (*skillsListResult, error) {
	after, err := api.SkillPlace(cursor)
	if err != nil {
		return nil, rpcError(err)
	}
	page, more, err := s.node.State().SkillLibrary().Page(ctx, state.SkillPage{After: after, Limit: skillsPage})
	if err != nil {
		return nil, rpcError(err)
	}
	res := &skillsListResult{ResultType: resultComplete, Skills: []*offeredSkill{}}
	res.CacheScope = cachePrivate
	for i := range page {
		if offered, ok := offerSkill(page[i]); ok {
			res.Skills = append(res.Skills, offered)
		}
	}
	if more {
		res.NextCursor = api.SkillCursor(page[len(page)-1].Place())
	}
	return res, nil
}

func (s *Server) getOffered(ctx context.Context, uri string) (*skillsGetResult, error) {
	unknown := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no skill has the URI " + uri}
	a, err := parseAddress(uri)
	if err != nil || a.scheme != schemeSkill {
		return nil, unknown
	}
	sk, err := s.node.State().SkillLibrary().GetIn(ctx, a.scope, a.id)
	if asNotFound(err) {
		return nil, unknown
	}
	if err != nil {
		return nil, rpcError(s.named(err))
	}
	offered, ok := offerSkill(sk)
	if !ok {
		return nil, unknown
	}
	res := &skillsGetResult{ResultType: resultComplete, Skill: offered}
	res.CacheScope = cachePrivate
	return res, nil
}

func uriOf(sk state.Skill) string { return address{schemeSkill, sk.Scope, sk.Slug}.String() }

// offerSkill describes a skill. The extension takes only a text that has
// frontmatter with the slug as its name, and a description; ok is false for
// others, and for one whose text has not come yet. They are resources all the
// same.
func offerSkill(sk state.Skill) (offered *offeredSkill, ok bool) {
	if sk.Incomplete {
		return nil, false
	}
	values, err := skillfs.Frontmatter([]byte(sk.Body))
	if err != nil {
		return nil, false
	}
	description, _ := values["description"].(string)
	if values["name"] != sk.Slug || description == "" {
		return nil, false
	}
	frontmatter, err := json.Marshal(values)
	if err != nil { // YAML has values that JSON has not
		return nil, false
	}
	digest := sha256.Sum256([]byte(sk.Body))
	uri := uriOf(sk)
	return &offeredSkill{
		URI: uri, Frontmatter: frontmatter,
		Resources: []skillResource{{uri, "sha256:" + hex.EncodeToString(digest[:]), len(sk.Body)}},
	}, true
}
