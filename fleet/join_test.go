package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// vectorRequest and vectorReply are what testdata/vectors/join.txt holds.
func vectorRequest(tb testing.TB) fleet.JoinRequest {
	tb.Helper()
	return fleet.NewJoinRequest(vectorTicket(tb), newIdentity(tb, 3).ID(), "laptop")
}

func vectorReply(tb testing.TB) fleet.JoinReply {
	tb.Helper()
	s, ticket := newSmall(tb), vectorTicket(tb)
	h := fleet.Handshake{Joiner: s.member.ID(), Inviter: ticket.Inviter, Fleet: ticket.Fleet, Name: "laptop"}
	accepted := fleet.Accepted{Name: "laptop", Statement: s.memberGrant.Encode(), Proof: h.InviterProof(ticket.Secret)}
	return accepted.Reply(s.authority.Chain(s.memberGrant))
}

func TestJoinVectors(t *testing.T) {
	vector := readGolden(t, "join.txt")
	request, reply, refusal := vectorRequest(t), vectorReply(t), fleet.Refuse(fmt.Errorf("%w: %q", fleet.ErrNameTaken, "laptop"))
	for name, marshal := range map[string]func() ([]byte, error){
		"request": request.Marshal, "reply": reply.Marshal, "refusal": refusal.Marshal,
	} {
		got, err := marshal()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vector.hex(t, name), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	gotRequest, err := fleet.DecodeJoinRequest(vector.hex(t, "request"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(request, gotRequest); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	for name, want := range map[string]fleet.JoinReply{"reply": reply, "refusal": refusal} {
		got, err := fleet.DecodeJoinReply(vector.hex(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestARefusalArrivesAsTheErrorThatItWas(t *testing.T) {
	for _, want := range []error{
		fleet.ErrTicketUnknown, fleet.ErrTicketUsed, fleet.ErrTicketExpired, fleet.ErrProof,
		fleet.ErrName, fleet.ErrNameTaken, fleet.ErrNameFixed, fleet.ErrClock,
	} {
		refusal := fleet.Refuse(fmt.Errorf("%w: more of it", want))
		b, err := refusal.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		reply, err := fleet.DecodeJoinReply(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := reply.Err(); !errors.Is(got, want) || got.Error() != want.Error()+": more of it" {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	private := fleet.Refuse(errors.New("open /somewhere/private: no space"))
	if got := private.Err(); !errors.Is(got, fleet.ErrRefused) || private.Text != "" {
		t.Errorf("the inviter's own trouble arrives as %q, want only that it refused", got)
	}
	for _, text := range []string{"\x1b[2Jcleared", strings.Repeat("long", 200), "\xff"} {
		refusal := fleet.Refuse(fmt.Errorf("%w: %s", fleet.ErrNameTaken, text))
		if _, err := refusal.Marshal(); err != nil || !errors.Is(refusal.Err(), fleet.ErrNameTaken) {
			t.Errorf("a refusal with the text %.20q: %v, %v", text, refusal.Err(), err)
		}
	}
	future := fleet.JoinReply{Status: 200, Text: "come back tomorrow"}
	if !errors.Is(future.Err(), fleet.ErrRefused) {
		t.Errorf("a status of the future: %v", future.Err())
	}
}

func TestJoinDecodersRefuse(t *testing.T) {
	encode := func(v any) []byte {
		b, err := merge.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	id, proof := make([]byte, 16), make([]byte, 32)
	for what, b := range map[string][]byte{
		"nothing":                  nil,
		"more than 1 KiB":          encode(map[int]any{1: id, 2: strings.Repeat("n", 1024), 3: proof}),
		"a short ticket id":        encode(map[int]any{1: id[1:], 3: proof}),
		"a short proof":            encode(map[int]any{1: id, 3: proof[1:]}),
		"no proof":                 encode(map[int]any{1: id}),
		"bytes after the message":  append(encode(map[int]any{1: id, 3: proof}), 0),
		"a name that is a number":  encode(map[int]any{1: id, 2: 7, 3: proof}),
		"a huge declared length":   {0xa1, 0x01, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"an indefinite length":     {0xbf, 0x01, 0x40, 0xff},
		"the same key twice":       {0xa2, 0x01, 0x40, 0x01, 0x40},
		"an array for the message": encode([]any{id, "n", proof}),
	} {
		if _, err := fleet.DecodeJoinRequest(b); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("request, %s: got %v, want ErrMalformed", what, err)
		}
	}
	for what, b := range map[string][]byte{
		"nothing":                   nil,
		"more than 256 KiB":         encode(map[int]any{1: 1, 4: proof, 5: [][]byte{make([]byte, 256<<10)}}),
		"no status":                 encode(map[int]any{2: "x"}),
		"a status above 255":        encode(map[int]any{1: 256}),
		"a text with an escape":     encode(map[int]any{1: 2, 2: "\x1b[2J"}),
		"a text of 513 bytes":       encode(map[int]any{1: 2, 2: strings.Repeat("x", 513)}),
		"129 statements":            encode(map[int]any{1: 1, 4: proof, 5: make([][]byte, 129)}),
		"acceptance without proof":  encode(map[int]any{1: 1}),
		"a refusal with statements": encode(map[int]any{1: 2, 5: [][]byte{{1}}}),
		"a refusal with a name":     encode(map[int]any{1: 2, 3: "x"}),
		"a million statements":      {0xa1, 0x05, 0x9a, 0x00, 0x0f, 0x42, 0x40},
	} {
		if _, err := fleet.DecodeJoinReply(b); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("reply, %s: got %v, want ErrMalformed", what, err)
		}
	}
	long := fleet.JoinRequest{Name: strings.Repeat("n", 2000)}
	if _, err := long.Marshal(); !errors.Is(err, fleet.ErrMalformed) {
		t.Errorf("a request with a long name: got %v, want ErrMalformed", err)
	}
	large := fleet.JoinReply{Status: fleet.JoinAccepted, Statements: [][]byte{make([]byte, 256<<10)}}
	if _, err := large.Marshal(); !errors.Is(err, fleet.ErrMalformed) {
		t.Errorf("a reply with a large statement: got %v, want ErrMalformed", err)
	}
}

func TestTheLongestChainFitsIntoAReply(t *testing.T) {
	s := newSmall(t)
	g := fleet.Grant{Member: newIdentity(t, 5).ID(), Name: strings.Repeat("東", 64), Role: fleet.RoleMember}
	for i := range 32 {
		g.Capabilities = append(g.Capabilities, fmt.Sprintf("%062d%02d", 0, i))
		long := func(c string) string { return strings.Repeat(c, 254) + fmt.Sprintf("%02d", i) }
		g.Scopes = append(g.Scopes, merge.Scope{Instance: long("i"), Project: long("p"), Workspace: long("w")})
	}
	rec := grant(t, s.fleet, s.admin, g, at(20))
	reply := fleet.Accepted{Name: g.Name, Statement: rec.Encode()}.Reply(s.authority.Chain(rec))
	b, err := reply.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.DecodeJoinReply(b); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecodeJoinRequest(f *testing.F) {
	f.Add(readGolden(f, "join.txt").hex(f, "request"))
	f.Add([]byte{0xa1, 0x01, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := fleet.DecodeJoinRequest(b)
		if err != nil {
			return
		}
		again, err := r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := fleet.DecodeJoinRequest(again)
		if err != nil || back != r {
			t.Errorf("%+v comes back as %+v (%v)", r, back, err)
		}
	})
}

func FuzzDecodeJoinReply(f *testing.F) {
	vector := readGolden(f, "join.txt")
	f.Add(vector.hex(f, "reply"))
	f.Add(vector.hex(f, "refusal"))
	f.Add([]byte{0xa1, 0x05, 0x9a, 0x00, 0x0f, 0x42, 0x40})
	ticket, self := vectorTicket(f), newIdentity(f, 3).ID()
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := fleet.DecodeJoinReply(b)
		if err != nil {
			return
		}
		again, err := r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := fleet.DecodeJoinReply(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("reply comes back changed (-want +got):\n%s", diff)
		}
		// Whatever is in it, checking it ends in an answer.
		a, err := fleet.VerifyChain(r, ticket, self, "laptop")
		if err != nil {
			return
		}
		if m, ok := a.Member(self); !ok || m.Grants[0].Issuer != ticket.Inviter {
			t.Errorf("verified %+v", m)
		}
	})
}

func TestTimesTravelAndMayBeMissing(t *testing.T) {
	request, reply := vectorRequest(t), vectorReply(t)
	request.Time, reply.Time = timeAt(1), timeAt(2)
	b, err := request.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fleet.DecodeJoinRequest(b); err != nil || !got.Time.Equal(request.Time) {
		t.Errorf("the request tells %s, %v, want %s", got.Time, err, request.Time)
	}
	if b, err = reply.Marshal(); err != nil {
		t.Fatal(err)
	}
	if got, err := fleet.DecodeJoinReply(b); err != nil || !got.Time.Equal(reply.Time) {
		t.Errorf("the reply tells %s, %v, want %s", got.Time, err, reply.Time)
	}
	for _, ms := range []int64{-1, 1 << 47} {
		b, err := merge.Marshal(map[int]any{1: make([]byte, 16), 3: make([]byte, 32), 4: ms})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fleet.DecodeJoinRequest(b); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("a request at %d: got %v, want ErrMalformed", ms, err)
		}
	}
}

func TestClocksThatDiffer(t *testing.T) {
	now := timeAt(60_000)
	for _, tt := range []struct {
		joiner time.Time
		want   string // "" for no error
	}{
		{time.Time{}, ""},
		{now.Add(5 * time.Minute), ""},
		{now.Add(-5 * time.Minute), ""},
		{now.Add(-10 * time.Minute), "10m0s behind"},
		{now.Add(2 * time.Hour), "2h0m0s ahead"},
	} {
		err := fleet.CheckClocks(tt.joiner, now)
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, fleet.ErrClock) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("a joiner at %s: %v, want %q", tt.joiner, err, tt.want)
		}
	}
}

func TestStampsOfTheFuture(t *testing.T) {
	s := newSmall(t) // its grants are of the first seconds of the test's time
	chain := [][]byte{s.memberGrant.Encode()}
	if err := fleet.CheckStamps(chain, timeAt(0)); err != nil {
		t.Error(err)
	}
	if err := fleet.CheckStamps(chain, timeAt(0).Add(-time.Hour)); !errors.Is(err, fleet.ErrClock) || !strings.Contains(err.Error(), "1h0m0s ahead") {
		t.Errorf("an hour before: %v", err)
	}
}
