package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fleetsync/fleetd/api/wire"
)

// IfNoneMatch is the header of conditional reads. It is exported for huma,
// which looks at exported fields alone.
type IfNoneMatch struct {
	IfNoneMatch string `header:"If-None-Match" doc:"Entity tags that the caller has: the answer is 304 when the record still has one of them."`
}

// unchanged is the answer to a conditional read of what has not changed; nil
// when it has.
func (c *IfNoneMatch) unchanged(tag string) error {
	for held := range strings.SplitSeq(c.IfNoneMatch, ",") {
		if held = strings.TrimSpace(held); held == "*" || strings.TrimPrefix(held, "W/") == tag {
			return &problem{
				Problem: &wire.Problem{Status: http.StatusNotModified, Detail: "not modified"},
				header:  http.Header{"Etag": {tag}},
			}
		}
	}
	return nil
}

// notModified documents that answer.
func notModified() map[string]*huma.Response {
	return map[string]*huma.Response{"304": {
		Description: "The record has an entity tag of If-None-Match.",
		Headers:     map[string]*huma.Param{"ETag": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

// IfMatch is the header of conditional deletes. It is exported for huma, which
// looks at exported fields alone.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"The ETag of the version that was read, or * for whatever exists: the write is a conflict unless the record still is that version."`
}

// anyVersion is an If-Match that takes every version of what exists.
const anyVersion = "*"

// token returns the token that the header stands for; zero when it is absent,
// or takes any version. Errors: a Problem.
func (c *IfMatch) token() (wire.Token, error) {
	if c.IfMatch == "" || c.IfMatch == anyVersion {
		return wire.Token{}, nil
	}
	token, ok := wire.TokenOf(c.IfMatch)
	if !ok {
		return token, newProblem(wire.CodeInvalid, fmt.Sprintf("header If-Match is %.80q: expected one ETag as it came, or *", c.IfMatch))
	}
	return token, nil
}

// Conditions are the headers of conditional writes. It is exported for huma,
// which looks at exported fields alone.
type Conditions struct {
	IfMatch
	IfNoneMatch string `header:"If-None-Match" doc:"Only *: the write creates, and is a conflict when the record is live."`
}

// token returns the one token that headers and body stand for. exists says that
// the record has to exist, in any version. Errors: a Problem when two of them
// differ.
func (c *Conditions) token(body wire.Token) (token wire.Token, exists bool, err error) {
	token, err = c.IfMatch.token()
	if err != nil {
		return token, false, err
	}
	exists = c.IfMatch.IfMatch == anyVersion
	switch c.IfNoneMatch {
	case "":
	case "*":
		if exists || token != (wire.Token{}) {
			return token, false, newProblem(wire.CodeInvalid, "If-Match and If-None-Match exclude each other")
		}
		token.MustNotExist = true
	default:
		return token, false, newProblem(wire.CodeInvalid, fmt.Sprintf("header If-None-Match is %.80q: expected *, which creates only", c.IfNoneMatch))
	}
	switch {
	case body == (wire.Token{}):
		return token, exists, nil
	case token == (wire.Token{}) && !exists:
		return body, false, nil
	case exists && !body.MustNotExist, !exists && agree(token, body):
		return body, false, nil
	}
	return token, false, newProblem(wire.CodeInvalid, "the token of the body is not that of the header: send one of them")
}

// agree reports whether a header and a body can mean one version.
func agree(header, body wire.Token) bool {
	return header.MustNotExist == body.MustNotExist && header.SyncVersion == body.SyncVersion &&
		(body.UpdatedHLC == "" || header.UpdatedHLC == body.UpdatedHLC)
}

// tagged is a problem that carries the entity tag of the record in it.
func tagged(p *wire.Problem) *problem {
	sent := refusing(p)
	switch {
	case p.Skill != nil:
		sent.header = http.Header{"Etag": {p.Skill.ETag()}}
	case p.Memory != nil:
		sent.header = http.Header{"Etag": {p.Memory.ETag()}}
	}
	return sent
}
