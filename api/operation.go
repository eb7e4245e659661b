package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fleetsync/fleetd/api/wire"
)

// operation says of one path and method what the document says of it.
type operation struct {
	// route is the method and the path.
	route string
	// id names the operation for generators of clients.
	id string
	// tag is the group it stands in.
	tag string
	// summary is one line, text says more.
	summary, text string
	// status is that of success, 200 when zero.
	status int
	// codes are the problems that it answers with, besides those of every one.
	codes []wire.Code
	// bytesMax bounds the body, wire.RequestBytesMax when zero.
	bytesMax int64
	// responses are further replies that are no problem, by status.
	responses map[string]*huma.Response
}

// commonCodes are the problems that any operation may answer with.
func commonCodes() []wire.Code {
	return []wire.Code{wire.CodeBadRequest, wire.CodeInvalid, wire.CodeUnauthorized, wire.CodeDenied, wire.CodeInternal, wire.CodeUnavailable, wire.CodeTimeout}
}

// register makes an operation of a function. An error that it returns is
// answered as the problem that it is.
func register[I, O any](h *handler, op operation, serve func(context.Context, *I) (*O, error)) {
	method, path, _ := strings.Cut(op.route, " ")
	described := huma.Operation{
		Method: method, Path: path, OperationID: op.id, Tags: []string{op.tag},
		Summary: op.summary, Description: op.text,
		DefaultStatus: op.status, Responses: op.responses,
		// One byte more than is taken, since huma refuses what reaches its limit.
		MaxBodyBytes: wire.RequestBytesMax + 1, BodyReadTimeout: readTimeout,
	}
	if op.bytesMax > 0 {
		described.MaxBodyBytes = op.bytesMax + 1
	}
	if described.Responses == nil {
		described.Responses = map[string]*huma.Response{}
	}
	codes := append(commonCodes(), op.codes...)
	if body, takesBody := bodyOf[I](); takesBody {
		described.Metadata = map[string]any{fieldsKey: fieldNames(body)}
		codes = append(codes, wire.CodeInvalid, wire.CodeTooLarge, wire.CodeMediaType)
	}
	for status, response := range problemResponses(codes) {
		if described.Responses[status] == nil {
			described.Responses[status] = response
		}
	}
	huma.Register(h.api, described, func(ctx context.Context, in *I) (*O, error) {
		out, err := serve(ctx, in)
		if err != nil {
			return nil, h.refuse(ctx, path, err)
		}
		return out, nil
	})
}

// problemResponses documents problems by their status.
func problemResponses(codes []wire.Code) map[string]*huma.Response {
	kinds := problemKinds()
	byStatus := map[string][]string{}
	for _, code := range codes {
		status := strconv.Itoa(kinds[code].status)
		if !slices.Contains(byStatus[status], string(code)) {
			byStatus[status] = append(byStatus[status], string(code))
		}
	}
	responses := map[string]*huma.Response{}
	for status, names := range byStatus {
		slices.Sort(names)
		responses[status] = &huma.Response{
			Description: "A problem of code " + strings.Join(names, " or ") + ".",
			Content: map[string]*huma.MediaType{
				wire.ProblemType: {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}},
			},
		}
	}
	return responses
}

// done is the output of operations that answer with nothing.
type done = struct{}

// gone documents the success of a delete.
func gone() map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusNoContent): {Description: "It is deleted."}}
}
