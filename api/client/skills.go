package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fleetsync/fleetd/api/wire"
)

// SkillQuery selects skills. The zero value selects all.
type SkillQuery struct {
	// Text matches skills that hold every word of it.
	Text string
	// Scope narrows to exactly one scope; nil means every scope.
	Scope *wire.Scope
	// Limit caps the result; <= 0 means no cap.
	Limit int
	// Cursor is where a page begins: the NextCursor of the one before.
	Cursor string
}

// Skills lists the live skills that match, by slug, without bodies.
func (c *Client) Skills(ctx context.Context, q SkillQuery) (wire.SkillList, error) {
	query := scopeQuery(url.Values{}, q.Scope)
	setText(query, "q", q.Text)
	setPage(query, q.Limit, q.Cursor)
	var list wire.SkillList
	err := c.call(ctx, http.MethodGet, "/v1/skills", query, nil, &list)
	return list, err
}

// Skill returns the live skill of an id or slug: of exactly one scope, or,
// where scope is nil, resolved from the node's home scope outward. Codes:
// not_found, ambiguous.
func (c *Client) Skill(ctx context.Context, ref string, scope *wire.Scope) (wire.SkillReply, error) {
	var reply wire.SkillReply
	err := c.call(ctx, http.MethodGet, "/v1/skills/"+segment(ref), scopeQuery(url.Values{}, scope), nil, &reply)
	return reply, err
}

// PutSkill creates the skill of a slug and of the scope in w, or replaces its
// content. Codes: conflict, with the stored skill; invalid, too_large, denied.
func (c *Client) PutSkill(ctx context.Context, slug string, w wire.SkillWrite) (wire.SkillReply, error) {
	var reply wire.SkillReply
	fields := append([]string{slug, w.ID, w.Name, w.Body, w.Check, w.Scope.Instance, w.Scope.Project, w.Scope.Workspace}, w.Tags...)
	if err := checkText(fields...); err != nil {
		return reply, err
	}
	err := c.call(ctx, http.MethodPut, "/v1/skills/"+segment(slug), nil, w, &reply)
	return reply, err
}

// DeleteSkill deletes a skill; see Skill for ref and scope. Codes: not_found,
// ambiguous, denied.
func (c *Client) DeleteSkill(ctx context.Context, ref string, scope *wire.Scope) error {
	return c.call(ctx, http.MethodDelete, "/v1/skills/"+segment(ref), scopeQuery(url.Values{}, scope), nil, nil)
}

// DeleteSkillIf is DeleteSkill for a caller that has read the skill: it succeeds
// only if the skill still is the version of this token, which is not zero. Codes:
// conflict besides, with the stored skill.
func (c *Client) DeleteSkillIf(ctx context.Context, ref string, scope *wire.Scope, token wire.Token) error {
	return c.deleteIf(ctx, "/v1/skills/"+segment(ref), scope, token)
}

// SkillHistory lists the versions of a skill that the node still has, newest
// first, of a deleted one too; see Skill for ref and scope. Codes: not_found,
// ambiguous.
func (c *Client) SkillHistory(ctx context.Context, ref string, scope *wire.Scope) (wire.History, error) {
	var history wire.History
	err := c.call(ctx, http.MethodGet, "/v1/skills/"+segment(ref)+"/versions", scopeQuery(url.Values{}, scope), nil, &history)
	return history, err
}

// RecordOutcome counts one run that recalled a skill, and whether it succeeded,
// and returns the skill with its new sums, without its body; see Skill for ref
// and scope. Codes: not_found, ambiguous, denied.
func (c *Client) RecordOutcome(ctx context.Context, ref string, scope *wire.Scope, won bool) (wire.SkillReply, error) {
	var reply wire.SkillReply
	err := c.call(ctx, http.MethodPost, "/v1/skills/"+segment(ref)+"/outcomes", scopeQuery(url.Values{}, scope), wire.OutcomeWrite{Won: won}, &reply)
	return reply, err
}

// Report lists the live skills of exactly one scope, of all scopes when nil,
// with what speaks for each, the most confident first, at most limit (<= 0:
// all).
func (c *Client) Report(ctx context.Context, scope *wire.Scope, limit int) (wire.SkillReport, error) {
	query := scopeQuery(url.Values{}, scope)
	setLimit(query, limit)
	var report wire.SkillReport
	err := c.call(ctx, http.MethodGet, "/v1/report", query, nil, &report)
	return report, err
}

func setText(query url.Values, name, text string) {
	if text != "" {
		query.Set(name, text)
	}
}

func setLimit(query url.Values, limit int) {
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
}

// Withdraw takes a version of a skill back, for ever and in the whole fleet; see
// wire.WithdrawRequest. Codes: not_found, ambiguous, denied for a node that may not,
// invalid.
func (c *Client) Withdraw(ctx context.Context, ref string, scope *wire.Scope, in wire.WithdrawRequest) (wire.Withdrawal, error) {
	var w wire.Withdrawal
	if err := checkText(ref, in.Version, in.Note); err != nil {
		return w, err
	}
	err := c.patient().call(ctx, http.MethodPost, "/v1/skills/"+segment(ref)+"/withdraw", scopeQuery(url.Values{}, scope), in, &w)
	return w, err
}
