package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/api/wire"
	"github.com/fleetsync/fleetd/node"
)

func TestVerifyAndCompare(t *testing.T) {
	b := newBackend(t)
	h := api.NewHandler(b, api.Config{})
	v := decode[wire.Verification](t, ask(t, h, http.MethodPost, "/v1/verify?timeout_ms=1000", ""), http.StatusOK)
	if !v.OK || v.SchemaVersion != wire.SchemaVersion || v.Records != 7 {
		t.Errorf("%+v", v)
	}
	c := decode[wire.Comparison](t, ask(t, h, http.MethodPost, "/v1/compare?member=desk&member=a%20b", ""), http.StatusOK)
	if !c.Equal || c.SchemaVersion != wire.SchemaVersion || !slices.Equal(b.named, []string{"desk", "a b"}) {
		t.Errorf("%+v, asked for %q", c, b.named)
	}
	refused(t, ask(t, h, http.MethodPost, "/v1/compare?member=", ""), wire.CodeInvalid)
	refused(t, ask(t, h, http.MethodPost, "/v1/compare?peer=desk", ""), wire.CodeBadRequest)
	refused(t, ask(t, h, http.MethodPost, "/v1/verify?timeout_ms=0", ""), wire.CodeBadRequest)
	refused(t, ask(t, h, http.MethodGet, "/v1/verify", ""), wire.CodeMethod)
}

// A node that does not run has nobody to compare with, and its store can be
// proven all the same.
func TestVerifyOfANodeThatDoesNotRun(t *testing.T) {
	n := openNode(t)
	h := api.NewHandler(api.ForNode(n), api.Config{})
	v := decode[wire.Verification](t, ask(t, h, http.MethodPost, "/v1/verify", ""), http.StatusOK)
	if want, err := n.Verify(t.Context()); err != nil || v.Records != want.Records || !v.OK {
		t.Errorf("%+v, want %+v, %v", v, want, err)
	}
	if got := api.VerificationOf(node.Verification{Faults: []string{"a row"}}); got.OK || len(got.Faults) != 1 {
		t.Errorf("%+v", got)
	}
	refused(t, ask(t, h, http.MethodPost, "/v1/compare", ""), wire.CodeUnavailable)
}
