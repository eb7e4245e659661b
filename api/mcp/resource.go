package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

const (
	// resourcesPage is how many resources one page of the list has.
	resourcesPage = 500
	// cachePrivate says of every result that it is the user's alone.
	cachePrivate = "private"

	markdown = "text/markdown"
)

// resources shows records as resources. The SDK keeps a list of its own, which
// would be a second copy of the store; so lists and reads are answered in front
// of it.
type resources struct {
	*Server
	options    Options
	subscribed *subscriptions
}

func (r resources) any() bool { return r.options.covers(groupMemory) || r.options.covers(groupSkill) }

// allows reports whether records of an address are shown.
func (r resources) allows(a address) bool {
	if a.scheme == schemeSkill {
		return r.options.covers(groupSkill)
	}
	return r.options.covers(groupMemory)
}

// templates are the forms of URIs, by group.
func (r resources) templates() []*sdk.ResourceTemplate {
	var all []*sdk.ResourceTemplate
	if r.options.covers(groupMemory) {
		all = append(all,
			&sdk.ResourceTemplate{Name: "memory", Title: "Memory item", URITemplate: "memory://{id}", Description: "A memory item of the global scope."},
			&sdk.ResourceTemplate{Name: "project memory", Title: "Memory item of a project", URITemplate: "memory://project/{project}/{id}", Description: "A memory item of a project."})
	}
	if r.options.covers(groupSkill) {
		all = append(all,
			&sdk.ResourceTemplate{Name: "skill", Title: "Skill", URITemplate: "skill://{slug}/SKILL.md", MIMEType: markdown, Description: "A skill of the global scope; SKILL.md may be left out."},
			&sdk.ResourceTemplate{Name: "project skill", Title: "Skill of a project", URITemplate: "skill://project/{project}/{slug}/SKILL.md", MIMEType: markdown, Description: "A skill of a project."})
	}
	return all
}

// offer adds the resources to a server.
func (r resources) offer(server *sdk.Server) {
	if !r.any() {
		return
	}
	for _, t := range r.templates() {
		server.AddResourceTemplate(t, r.read)
	}
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			switch method {
			case "resources/list":
				cursor := ""
				if params, _ := req.GetParams().(*sdk.ListResourcesParams); params != nil {
					cursor = params.Cursor
				}
				return r.list(ctx, cursor)
			case "resources/read":
				if params, _ := req.GetParams().(*sdk.ReadResourceParams); params != nil {
					return r.read(ctx, &sdk.ReadResourceRequest{Params: params})
				}
			}
			return next(ctx, method, req)
		}
	})
}

// subscribe refuses a subscription to what can be no record, and one too many.
func (r resources) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	if a, err := parseAddress(req.Params.URI); err != nil || !r.allows(a) {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	if err := r.subscribed.add(req.Params.URI); err != nil {
		return rpcError(err)
	}
	return nil
}

// list returns a page of the resources: the memory items, newest first, and then
// the skills by slug. The cursor is that of the one list or of the other.
func (r resources) list(ctx context.Context, cursor string) (*sdk.ListResourcesResult, error) {
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	res.CacheScope = cachePrivate
	skill, err := api.SkillPlace(cursor)
	if r.options.covers(groupMemory) && skill == nil {
		var item *state.MemoryPlace
		if item, err = api.MemoryPlace(cursor); err == nil {
			err = r.listMemory(ctx, res, item)
		}
	}
	if err == nil && res.NextCursor == "" && r.options.covers(groupSkill) {
		err = r.listSkills(ctx, res, skill)
	}
	if err != nil {
		return nil, rpcError(err)
	}
	return res, nil
}

func (r resources) listMemory(ctx context.Context, res *sdk.ListResourcesResult, after *state.MemoryPlace) error {
	page, more, err := r.node.State().MemoryLibrary().Page(ctx, state.MemoryPage{After: after, Limit: resourcesPage})
	if err != nil {
		return err
	}
	for _, it := range page {
		name := it.ID
		if it.Kind != "" {
			name = it.Kind + " " + it.ID
		}
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: address{schemeMemory, it.Scope, it.ID}.String(), Name: name, Title: snippet(it.Content), MIMEType: "text/plain",
			Size: int64(len(it.Content)), Description: r.provenance(it.Envelope, false).String(),
		})
	}
	if more {
		res.NextCursor = api.MemoryCursor(page[len(page)-1].Place())
	}
	return nil
}

// listSkills fills what room a page has left.
func (r resources) listSkills(ctx context.Context, res *sdk.ListResourcesResult, after *state.SkillPlace) error {
	room := resourcesPage - len(res.Resources)
	if room == 0 {
		res.NextCursor = api.SkillCursor(state.SkillPlace{}) // before the first
		return nil
	}
	page, more, err := r.node.State().SkillLibrary().Page(ctx, state.SkillPage{After: after, Limit: room})
	if err != nil {
		return err
	}
	for _, sk := range page {
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: address{schemeSkill, sk.Scope, sk.Slug}.String(), Name: sk.Slug, Title: sk.Name, MIMEType: markdown,
			Size: int64(len(sk.Body)), Description: describe(sk),
		})
	}
	if more {
		res.NextCursor = api.SkillCursor(page[len(page)-1].Place())
	}
	return nil
}

// read returns the text of a record, byte for byte.
func (r resources) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	a, err := parseAddress(uri)
	if err != nil || !r.allows(a) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	contents := &sdk.ResourceContents{URI: uri, MIMEType: "text/plain"}
	var envelope state.Envelope
	if a.scheme == schemeSkill {
		var sk state.Skill
		sk, err = r.node.State().SkillLibrary().GetIn(ctx, a.scope, a.id)
		contents.Text, contents.MIMEType, envelope = sk.Body, markdown, sk.Envelope
	} else {
		var it state.MemoryItem
		it, err = r.node.State().MemoryLibrary().GetIn(ctx, a.scope, a.id)
		contents.Text, envelope = it.Content, it.Envelope
	}
	if errors.Is(err, state.ErrNotFound) {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, rpcError(api.WithNames(err, r.node.NameOf))
	}
	contents.Meta = sdk.Meta{"fleetd/provenance": r.provenance(envelope, false), "fleetd/version": versionOf(envelope)}
	res := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}
	res.CacheScope = cachePrivate
	return res, nil
}

// rpcError tells a problem where there is no tool result to tell it in.
func rpcError(err error) error {
	p, code := api.ProblemOf(err), int64(jsonrpc.CodeInternalError)
	if p.Code == wire.CodeInvalid {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf("%s: %s; next: %s", p.Code, p.Error(), nextOf(p.Code))}
}
