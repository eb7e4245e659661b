package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/api/wire"
)

// Status tells what the node knows without asking the others.
func (c *Client) Status(ctx context.Context) (wire.Status, error) {
	var status wire.Status
	err := c.call(ctx, http.MethodGet, "/v1/status", nil, nil, &status)
	return status, err
}

// AllMembers lists all that ever were members of the fleet, by name.
func (c *Client) AllMembers(ctx context.Context) (wire.MemberList, error) {
	var list wire.MemberList
	err := c.call(ctx, http.MethodGet, "/v1/members", url.Values{"all": {"true"}}, nil, &list)
	return list, err
}

// Ban revokes a member, or voids a range of what it wrote, for ever and for the whole
// fleet; see wire.BanRequest. Codes: not_found, denied for a node that may not, conflict
// for who is revoked already, invalid.
func (c *Client) Ban(ctx context.Context, in wire.BanRequest) (wire.Ban, error) {
	var ban wire.Ban
	if err := checkText(in.Member, in.Note); err != nil {
		return ban, err
	}
	err := c.patient().call(ctx, http.MethodPost, "/v1/bans", nil, in, &ban)
	return ban, err
}

// Members lists the members that belong to the fleet now, by name.
func (c *Client) Members(ctx context.Context) (wire.MemberList, error) {
	var list wire.MemberList
	err := c.call(ctx, http.MethodGet, "/v1/members", nil, nil, &list)
	return list, err
}

// Conflicts lists the writes that lost to a concurrent one.
func (c *Client) Conflicts(ctx context.Context) (wire.ConflictList, error) {
	var list wire.ConflictList
	err := c.call(ctx, http.MethodGet, "/v1/conflicts", nil, nil, &list)
	return list, err
}

// Probe makes the node ask every other member for its root now. It takes as
// long as the slowest answer, 5 seconds at most, and a little less than ctx
// allows: a member that hangs must not hide what the others said.
func (c *Client) Probe(ctx context.Context) (wire.Probe, error) {
	var probe wire.Probe
	err := c.call(ctx, http.MethodPost, "/v1/probe", deadlineOf(ctx), nil, &probe)
	return probe, err
}

// deadlineOf tells the daemon how long it may take.
func deadlineOf(ctx context.Context) url.Values {
	query := url.Values{}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		left -= min(left/4, replyMargin)
		query.Set("timeout_ms", strconv.FormatInt(max(left.Milliseconds(), 1), 10))
	}
	return query
}

// replyMargin is what a reply takes at most to arrive, on a busy machine.
const replyMargin = 500 * time.Millisecond

// Verify makes the node prove its own store; nothing is written meanwhile. It
// takes as long as reading every record does.
func (c *Client) Verify(ctx context.Context) (wire.Verification, error) {
	var v wire.Verification
	err := c.patient().call(ctx, http.MethodPost, "/v1/verify", nil, nil, &v)
	return v, err
}

// Compare makes the node compare with the members of these names or ids, with all
// others when there are none, a little less long than ctx allows. Codes:
// not_found, unavailable.
func (c *Client) Compare(ctx context.Context, members []string) (wire.Comparison, error) {
	query := deadlineOf(ctx)
	query["member"] = members
	var comparison wire.Comparison
	err := c.patient().call(ctx, http.MethodPost, "/v1/compare", query, nil, &comparison)
	return comparison, err
}

// Invite opens an invitation. Codes: denied for a node that may not, invalid.
func (c *Client) Invite(ctx context.Context, in wire.InvitationRequest) (wire.Invitation, error) {
	var invitation wire.Invitation
	if err := checkText(in.Name); err != nil {
		return invitation, err
	}
	err := c.call(ctx, http.MethodPost, "/v1/invitations", nil, in, &invitation)
	return invitation, err
}

// Build tells which build of fleetd answers.
func (c *Client) Build(ctx context.Context) (wire.Build, error) {
	var build wire.Build
	err := c.call(ctx, http.MethodGet, "/v1/version", nil, nil, &build)
	return build, err
}

// Ready asks for the checks of readiness. Health.OK says the outcome.
func (c *Client) Ready(ctx context.Context) (wire.Health, error) {
	var health wire.Health
	err := c.call(ctx, http.MethodGet, "/readyz", nil, nil, &health)
	return health, err
}
