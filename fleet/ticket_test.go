package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/merge"
)

// vectorTicket is what testdata/vectors/ticket.txt holds.
func vectorTicket(tb testing.TB) fleet.Ticket {
	tb.Helper()
	return fleet.Ticket{
		Addrs:   []string{"/ip4/192.168.1.7/udp/4101/quic-v1", "/dns4/desk.local/tcp/4101"},
		Inviter: newIdentity(tb, 2).ID(),
		Fleet:   fleet.FleetIDOf(newIdentity(tb, 1).Public()),
		Secret:  fleet.Secret{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		Expires: timeAt(900_000),
	}
}

func TestTicketVector(t *testing.T) {
	vector, want := readGolden(t, "ticket.txt"), vectorTicket(t)
	if diff := cmp.Diff(vector["text"], want.String()); diff != "" {
		t.Errorf("text of the ticket (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(vector["id"], want.ID().String()); diff != "" {
		t.Errorf("id of the ticket (-want +got):\n%s", diff)
	}
	got, err := fleet.ParseTicket(vector["text"])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ticket (-want +got):\n%s", diff)
	}
}

func TestParseTicketForgivesHowItWasCopied(t *testing.T) {
	want := vectorTicket(t)
	text := want.String()
	if strings.ContainsAny(text, " \n") || len(text) > 400 {
		t.Errorf("a ticket of %d characters: %q", len(text), text)
	}
	for what, copied := range map[string]string{
		"as it is":              text,
		"with space around":     "  \t" + text + "\r\n",
		"in upper case":         strings.ToUpper(text),
		"broken into two lines": text[:100] + "\r\n    " + text[100:],
	} {
		got, err := fleet.ParseTicket(copied)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestParseTicketSaysWhatIsWrong(t *testing.T) {
	text := vectorTicket(t).String()
	for what, c := range map[string]struct {
		text string
		want error
	}{
		"nothing":                     {"", fleet.ErrTicketEmpty},
		"only space":                  {" \n\t", fleet.ErrTicketEmpty},
		"something else":              {"hello", fleet.ErrTicketSyntax},
		"the word alone":              {"fleet", fleet.ErrTicketSyntax},
		"no version":                  {"fleet" + text[len("fleet1"):], fleet.ErrTicketSyntax},
		"version 0":                   {"fleet0" + text[len("fleet1"):], fleet.ErrTicketSyntax},
		"the whole command":           {"fleetd join " + text, fleet.ErrTicketSyntax},
		"a megabyte":                  {strings.Repeat("fleet1", 200_000), fleet.ErrTicketSyntax},
		"a newer version":             {"fleet2" + text[len("fleet1"):], fleet.ErrTicketVersion},
		"a much newer version":        {"fleet12" + text[len("fleet1"):], fleet.ErrTicketVersion},
		"a newer version, other text": {"FLEET3-abc_DEF", fleet.ErrTicketVersion},
		"only the beginning":          {"fleet1", fleet.ErrTicketDamaged},
		"a missing end":               {text[:len(text)-1], fleet.ErrTicketDamaged},
		"a missing line":              {text[:80] + text[160:], fleet.ErrTicketDamaged},
		"a character too many":        {text + "a", fleet.ErrTicketDamaged},
		"a character of no ticket":    {text[:50] + "!" + text[51:], fleet.ErrTicketDamaged},
		"a good checksum of nothing":  {"fleet1aaaaaaa", fleet.ErrTicketSyntax},
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := fleet.ParseTicket(c.text); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestEveryTypingErrorIsRecognised changes each character to each other one,
// and swaps each pair of neighbours.
func TestEveryTypingErrorIsRecognised(t *testing.T) {
	text := vectorTicket(t).String()
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_=/"
	for i := len("fleet1"); i < len(text); i++ {
		for _, c := range []byte(alphabet) {
			if c == text[i] {
				continue
			}
			typed := text[:i] + string(c) + text[i+1:]
			_, err := fleet.ParseTicket(typed)
			// A digit in the first place reads as another version.
			if !errors.Is(err, fleet.ErrTicketDamaged) && (i > len("fleet1") || !errors.Is(err, fleet.ErrTicketVersion)) {
				t.Errorf("character %d typed as %c: %v", i, c, err)
			}
		}
		if i+1 < len(text) && text[i] != text[i+1] {
			swapped := text[:i] + text[i+1:i+2] + text[i:i+1] + text[i+2:]
			if _, err := fleet.ParseTicket(swapped); err == nil {
				t.Errorf("characters %d and %d swapped: no error", i, i+1)
			}
		}
	}
}

func TestTicketsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := fleet.Ticket{
			Addrs:   rapid.SliceOfN(rapid.StringMatching(`/[a-z0-9./:]{1,80}`), 0, 16).Draw(rt, "addrs"),
			Inviter: merge.InstanceOf(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "inviter")),
			Fleet:   merge.FleetID(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "fleet")),
			Secret:  fleet.Secret(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "secret")),
			Expires: time.UnixMilli(rapid.Int64Range(0, 1<<47-1).Draw(rt, "expires")).UTC(),
		}
		got, err := fleet.ParseTicket(want.String())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("ticket (-want +got):\n%s", diff)
		}
	})
}

func TestInvitationMakesNoTicketThatCannotBeRead(t *testing.T) {
	inv := invite(t, fleet.InvitationConfig{})
	admin := newIdentity(t, 2).ID()
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf("/ip4/10.0.0.%d/tcp/1", i)
	}
	for what, addrs := range map[string][]string{
		"17 addresses":                      many,
		"an empty address":                  {""},
		"an address that is a word":         {"localhost"},
		"an address with a line break":      {"/ip4/1.2.3.4\n"},
		"an address of more than 256 bytes": {"/dns4/" + strings.Repeat("a", 260)},
		"an address that is not UTF-8":      {"/dns4/\xff"},
	} {
		if _, err := inv.Ticket(addrs, admin, merge.FleetID{1}); !errors.Is(err, fleet.ErrMalformed) {
			t.Errorf("%s: got %v, want ErrMalformed", what, err)
		}
	}
	if _, err := inv.Ticket(nil, "local", merge.FleetID{1}); !errors.Is(err, fleet.ErrMalformed) {
		t.Errorf("an inviter without a key: got %v, want ErrMalformed", err)
	}
}

func FuzzParseTicket(f *testing.F) {
	text := vectorTicket(f).String()
	f.Add(text)
	f.Add(strings.ToUpper(text[:60]) + "\n" + text[60:])
	f.Add("fleet2abc")
	f.Add("fleet1aaaaaaa")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := fleet.ParseTicket(text)
		if err != nil {
			if !errors.Is(err, fleet.ErrTicketEmpty) && !errors.Is(err, fleet.ErrTicketSyntax) &&
				!errors.Is(err, fleet.ErrTicketDamaged) && !errors.Is(err, fleet.ErrTicketVersion) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		again, err := fleet.ParseTicket(ticket.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ticket, again); diff != "" {
			t.Errorf("the ticket comes back changed (-want +got):\n%s", diff)
		}
	})
}
