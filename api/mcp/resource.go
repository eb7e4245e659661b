package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
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
	options Options
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

// subscribe refuses a subscription to what can be no record.
func (r resources) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	if a, err := parseAddress(req.Params.URI); err != nil || !r.allows(a) {
		return sdk.ResourceNotFoundError(req.Params.URI)
	}
	return nil
}

// list returns a page of the resources, by URI. The cursor is the last URI of the
// page before.
func (r resources) list(ctx context.Context, cursor string) (*sdk.ListResourcesResult, error) {
	all, err := r.all(ctx)
	if err != nil {
		return nil, rpcError(err)
	}
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	res.CacheScope = cachePrivate
	begin, found := slices.BinarySearchFunc(all, cursor, func(r *sdk.Resource, uri string) int { return cmp.Compare(r.URI, uri) })
	if found {
		begin++
	}
	all = all[begin:]
	if len(all) > resourcesPage {
		all = all[:resourcesPage]
		res.NextCursor = all[len(all)-1].URI
	}
	res.Resources = append(res.Resources, all...)
	return res, nil
}

func (r resources) all(ctx context.Context) ([]*sdk.Resource, error) {
	var all []*sdk.Resource
	if r.options.covers(groupMemory) {
		found, err := r.node.State().MemoryLibrary().Recall(ctx, state.RecallQuery{})
		if err != nil {
			return nil, err
		}
		for _, it := range found {
			name := it.ID
			if it.Kind != "" {
				name = it.Kind + " " + it.ID
			}
			all = append(all, &sdk.Resource{
				URI: address{schemeMemory, it.Scope, it.ID}.String(), Name: name, Title: snippet(it.Content), MIMEType: "text/plain",
				Size: int64(len(it.Content)), Description: r.provenance(it.Envelope, false).String(),
			})
		}
	}
	if r.options.covers(groupSkill) {
		found, err := r.node.State().SkillLibrary().Search(ctx, "", 0)
		if err != nil {
			return nil, err
		}
		for _, sk := range found {
			all = append(all, &sdk.Resource{
				URI: address{schemeSkill, sk.Scope, sk.Slug}.String(), Name: sk.Slug, Title: sk.Name, MIMEType: markdown,
				Size: int64(len(sk.Body)), Description: describe(sk),
			})
		}
	}
	slices.SortFunc(all, func(a, b *sdk.Resource) int { return cmp.Compare(a.URI, b.URI) })
	return all, nil
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
		return nil, rpcError(err)
	}
	contents.Meta = sdk.Meta{"fleetd/provenance": r.provenance(envelope, false), "fleetd/version": versionOf(envelope)}
	res := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}
	res.CacheScope = cachePrivate
	return res, nil
}

// rpcError tells a problem where there is no tool result to tell it in.
func rpcError(err error) error {
	p := api.ProblemOf(err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("%s: %s; next: %s", p.Code, p.Error(), nextOf(p.Code))}
}
