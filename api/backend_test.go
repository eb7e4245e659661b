package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/state"
)

// backend is a node of a fleet of one over the memory provider.
type backend struct {
	state   state.Replica
	members []wire.Member
	probe   wire.Probe
	// compared is what Compare answers.
	compared []wire.ComparedMember
	// named are the members that Compare was asked for.
	named   []string
	invited api.InviteOptions
	banned  api.BanOptions
	err     error // what Status, Probe and Invite return, and why the node is not ready
}

func newBackend(tb testing.TB) *backend {
	tb.Helper()
	provider := state.NewMemory()
	tb.Cleanup(func() {
		if err := provider.Close(); err != nil {
			tb.Error(err)
		}
	})
	replica, isReplica := provider.(state.Replica)
	if !isReplica {
		tb.Fatalf("NewMemory returned a %T", provider)
	}
	return &backend{state: replica, members: []wire.Member{{ID: "local", Name: "local", State: wire.StateSelf}}}
}

func (b *backend) State() state.Replica { return b.state }

func (b *backend) Status(context.Context) (wire.Status, error) {
	return wire.Status{ID: "local", Name: "local", Verdict: "fine", Addresses: []string{}, Members: b.members}, b.err
}

func (b *backend) NameOf(id string) string { return id }

func (b *backend) Members(context.Context) ([]wire.Member, error) { return b.members, b.err }

func (b *backend) Probe(context.Context) (wire.Probe, error) {
	return b.probe, b.err
}

func (b *backend) Verify(ctx context.Context) (wire.Verification, error) {
	return wire.Verification{OK: true, Records: 7, Faults: []string{}}, cmp.Or(b.err, ctx.Err())
}

func (b *backend) Compare(ctx context.Context, members []string) (wire.Comparison, error) {
	b.named = members
	return wire.Comparison{Equal: true, Members: append([]wire.ComparedMember{}, b.compared...)}, cmp.Or(b.err, ctx.Err())
}

func (b *backend) Invite(_ context.Context, opts api.InviteOptions) (wire.Invitation, error) {
	b.invited = opts
	return wire.Invitation{Ticket: "fleet1x", Uses: 1, ExpiresAt: time.Unix(0, 0).UTC(), Addresses: []string{}}, b.err
}

func (b *backend) Withdraw(_ context.Context, opts api.WithdrawOptions) (wire.Withdrawal, error) {
	return wire.Withdrawal{
		Slug: "new", By: "a", Note: opts.Note, Versions: []wire.HeldVersion{{WriterID: "b", HLC: opts.Stamp.String()}}, Told: []string{}, Later: []string{},
	}, b.err
}

func (b *backend) Ban(_ context.Context, opts api.BanOptions) (wire.Ban, error) {
	b.banned = opts
	return wire.Ban{ID: "b", Name: opts.Member, From: opts.From.String(), By: "root", Told: []string{}, Later: []string{"c"}}, b.err
}

func (b *backend) Checks(context.Context) []wire.Check {
	check := wire.Check{Name: wire.CheckNode, OK: b.err == nil}
	if b.err != nil {
		check.Detail = b.err.Error()
	}
	return []wire.Check{check}
}

// answer is a reply with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends one request through the handler. A body that is not empty is JSON.
func ask(tb testing.TB, h http.Handler, method, target, body string) answer {
	tb.Helper()
	request := httptest.NewRequestWithContext(tb.Context(), method, "/", strings.NewReader(body))
	path, query, _ := strings.Cut(target, "?")
	u, err := url.Parse("http://fleetd" + path)
	if err != nil {
		tb.Fatal(err)
	}
	u.RawQuery = query
	request.URL = u
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	raw, err := io.ReadAll(recorder.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer{recorder.Code, recorder.Header(), string(raw)}
}

// decode reads the body of an answer, which has to have this status.
func decode[T any](tb testing.TB, a answer, status int) T {
	tb.Helper()
	var v T
	if a.status != status {
		tb.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		tb.Fatalf("%v in %s", err, a.body)
	}
	return v
}

// refused checks that an answer is a whole problem of this code.
func refused(tb testing.TB, a answer, code wire.Code) wire.Problem {
	tb.Helper()
	var p wire.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		tb.Fatalf("%v in %s", err, a.body)
	}
	if got := a.header.Get("Content-Type"); got != wire.ProblemType {
		tb.Errorf("content type %q", got)
	}
	if p.Code != code || p.Status != a.status || p.Title == "" || p.Type == "" || p.Detail == "" {
		tb.Errorf("status %d, problem %+v, want code %s and every field", a.status, p, code)
	}
	return p
}
