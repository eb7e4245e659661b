package secrets_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/secrets"
)

func TestRules(t *testing.T) {
	t.Parallel()
	table := examples()
	known := map[string]bool{}
	for _, rule := range secrets.All() {
		if known[rule.ID] || rule.What == "" || rule.Source == "" {
			t.Errorf("rule %q: want one of each id, that says what it finds and where that is described", rule.ID)
		}
		known[rule.ID] = true
		e := table[rule.ID]
		if len(e.found) == 0 || len(e.left) == 0 {
			t.Errorf("rule %s has no examples of what it finds, or none of what it leaves", rule.ID)
		}
		for _, text := range e.found {
			for _, within := range []string{text, "before " + text + " after", "\n" + text + "\n", `"` + text + `",`, "(" + text + ")."} {
				if got := secrets.Rules(secrets.Find(within)); !slices.Contains(got, rule.ID) {
					t.Errorf("%q: want %s, found %v", within, rule.ID, got)
				}
			}
		}
		for _, text := range e.left {
			if got := secrets.Rules(secrets.Find(text)); slices.Contains(got, rule.ID) {
				t.Errorf("%q: found %s", text, rule.ID)
			}
		}
	}
	for id := range table {
		if !known[id] {
			t.Errorf("examples of a rule %q that there is not", id)
		}
	}
}

// What stands in texts about code all the time.
func TestPlainTextHoldsNoSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "ab", "commit 77452f9cc0ffee77452f9cc0ffee77452f9cc0ff", "sha256:" + hex32 + hex32, "019f5e0a-7c1b-7000-8000-000000000001",
		"12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", "data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 40),
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@desk",
		"The build needs port 5432 free.", "h1:Lsv3eqH1Zf0bL5k0bL8eDJ3T1BVBi3d4SfwqDqhYgPE=", "Authorization: Basic", "AKIA", "eyJ",
	} {
		if got := secrets.Find(text); got != nil {
			t.Errorf("%q: found %v", text, got)
		}
	}
}

func TestFindNamesTheSecretAlone(t *testing.T) {
	t.Parallel()
	text := of("a postgres://app:", "s3cr3t-pw", "@db/x and ", "AKIA", "IOSFODNN7EXAMPLE", ".")
	got := secrets.Redact(text, secrets.Find(text))
	if want := "a postgres://app:[redacted: url-password]@db/x and [redacted: aws-access-key-id]."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBinaryIsNotLookedAt(t *testing.T) {
	t.Parallel()
	key := of("AKIA", "IOSFODNN7EXAMPLE")
	for _, text := range []string{key + "\x00", "\xff " + key} {
		if got := secrets.Find(text); got != nil {
			t.Errorf("%q: found %v", text, got)
		}
	}
}

func TestALongTextIsLookedAtUpToItsBound(t *testing.T) {
	t.Parallel()
	key := of("AKIA", "IOSFODNN7EXAMPLE")
	// The bound falls within a character of two bytes.
	text := strings.Repeat("é", secrets.TextBytesMax/2-20) + " " + key
	text += strings.Repeat("é", 20) + key
	if got := secrets.Find(text); len(got) != 1 || text[got[0].Start:got[0].End] != key {
		t.Errorf("found %v, want the one key before the bound", got)
	}
}

// anyText draws texts that are secrets, parts of them, and what lies between.
func anyText(t *rapid.T) string {
	table := examples()
	ids := slices.Sorted(maps.Keys(table))
	piece := rapid.Custom(func(t *rapid.T) string {
		e := table[rapid.SampledFrom(ids).Draw(t, "rule")]
		text := rapid.SampledFrom(slices.Concat(e.found, e.left)).Draw(t, "example")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			return text[rapid.IntRange(0, len(text)).Draw(t, "from"):]
		case 1:
			return text[:rapid.IntRange(0, len(text)).Draw(t, "to")]
		case 2:
			return rapid.SampledFrom([]string{"", " ", "\n", ".", "-", "é", `"`, ":", "@", "]", "[redacted: "}).Draw(t, "between")
		}
		return text
	})
	return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""), "")
}

func TestRedactedTextHoldsNothingThatIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		found := secrets.Find(text)
		checkFindings(t, text, found)
		redacted := secrets.Redact(text, found)
		if left := secrets.Find(redacted); left != nil {
			t.Fatalf("%q holds %v after redaction of %q", redacted, left, text)
		}
		if len(found) == 0 && redacted != text {
			t.Fatalf("%q became %q, and nothing was found in it", text, redacted)
		}
	})
}

// fataler is what both kinds of tests have.
type fataler interface {
	Fatalf(format string, args ...any)
}

func checkFindings(t fataler, text string, found []secrets.Finding) {
	last := 0
	for _, f := range found {
		if f.Start < last || f.End <= f.Start || f.End > len(text) || f.Rule == "" {
			t.Fatalf("%v in a text of %d bytes", found, len(text))
		}
		last = f.End
	}
}

func FuzzFind(f *testing.F) {
	for _, e := range examples() {
		for _, text := range slices.Concat(e.found, e.left) {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := secrets.Find(text)
		checkFindings(t, text, found)
		if left := secrets.Find(secrets.Redact(text, found)); left != nil {
			t.Fatalf("%v is left after redaction of %q", left, text)
		}
	})
}
