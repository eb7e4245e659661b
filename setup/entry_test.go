package setup_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/setup"
)

// kinds are the entries of every agent, by the kind of their text.
type kind struct {
	name    string
	entries []setup.Entry
	isJSON  bool
	text    func(*rapid.T) []byte
	decode  func(fataler, []byte) any
}

// fataler is a test that can fail.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func kinds(tb testing.TB) (all []kind) {
	tb.Helper()
	place := setup.Place{Home: tb.TempDir(), Getenv: func(string) string { return "" }}
	run := setup.Run{Command: "/opt/a b/fleetd", Dir: "/data dir", Budget: 2000}
	for _, a := range setup.Agents() {
		for i, entries := range setup.EntriesOf(a, place, run) {
			k := kind{fmt.Sprintf("%s-%d", a.Name(), i), entries, true, jsonText, decodeJSON}
			switch k.name {
			case "codex-0":
				k.isJSON, k.text, k.decode = false, tomlText, decodeTOML
			case "opencode-1":
				k.isJSON, k.text, k.decode = false, guideText, func(_ fataler, text []byte) any { return string(text) }
			}
			all = append(all, k)
		}
	}
	return all
}

func decodeJSON(tb fataler, text []byte) any {
	tb.Helper()
	v, err := hujson.Parse(append(bytes.TrimPrefix(bytes.Clone(text), []byte("\ufeff")), '\n'))
	if err != nil {
		tb.Fatalf("%v in %q", err, text)
	}
	v.Minimize()
	return string(v.Pack())
}

func decodeTOML(tb fataler, text []byte) any {
	tb.Helper()
	v, err := setup.DecodeTOML(text)
	if err != nil {
		tb.Fatalf("%v in %q", err, text)
	}
	return v
}

// each runs a property for every kind of entry over the texts of its files, with
// the file that is not there and the empty ones.
func each(t *testing.T, property func(t *rapid.T, k kind, before []byte)) {
	t.Helper()
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var before []byte
				switch rapid.IntRange(0, 19).Draw(t, "special") {
				case 0:
				case 1:
					before = []byte(rapid.SampledFrom([]string{"", "\n", "\r\n", " ", "\n\n"}).Draw(t, "blank"))
				default:
					before = k.text(t)
				}
				property(t, k, before)
			})
		})
	}
}

func put(t *rapid.T, entries []setup.Entry, text []byte) []byte {
	t.Helper()
	for _, e := range entries {
		if state, err := e.State(text); err == nil && state == setup.Wanted {
			continue
		}
		after, err := e.Put(text)
		if err != nil {
			t.Fatalf("put into %q: %v", text, err)
		}
		if state, err := e.State(after); err != nil || state != setup.Wanted {
			t.Fatalf("%q has it as %v, %v", after, state, err)
		}
		text = after
	}
	return text
}

func remove(t *rapid.T, entries []setup.Entry, text []byte) []byte {
	t.Helper()
	for i := range entries {
		after, err := entries[len(entries)-1-i].Remove(text)
		if err != nil {
			t.Fatalf("remove from %q: %v", text, err)
		}
		text = after
	}
	return text
}

func TestUndoGivesBackEveryByte(t *testing.T) {
	each(t, func(t *rapid.T, k kind, before []byte) {
		after := put(t, k.entries, before)
		back := remove(t, k.entries, after)
		if !bytes.Equal(back, before) || (back == nil) != (before == nil) {
			t.Fatalf("%q became\n%s\nand then %q", before, after, back)
		}
	})
}

// TestPutChangesNothingElse holds that every byte that was there is there in its
// order.
func TestPutChangesNothingElse(t *testing.T) {
	each(t, func(t *rapid.T, k kind, before []byte) {
		after := put(t, k.entries, before)
		left := before
		for _, b := range after {
			if len(left) > 0 && left[0] == b {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			t.Fatalf("%q became\n%s\nwithout %q", before, after, left)
		}
	})
}

func TestPuttingAgainChangesNothing(t *testing.T) {
	each(t, func(t *rapid.T, k kind, before []byte) {
		once := put(t, k.entries, before)
		if twice := put(t, k.entries, once); !bytes.Equal(twice, once) {
			t.Fatalf("%s\nbecame\n%s", once, twice)
		}
	})
}

// TestUndoLeavesWhatTheUserAddedSince adds something at the end of the document
// after setup.
func TestUndoLeavesWhatTheUserAddedSince(t *testing.T) {
	each(t, func(t *rapid.T, k kind, before []byte) {
		if len(bytes.TrimSpace(bytes.TrimPrefix(before, []byte("\ufeff")))) == 0 {
			return
		}
		add := func(text []byte) []byte { return append(bytes.Clone(text), "\n# added\n"...) }
		if k.isJSON {
			add = func(text []byte) []byte { return addMember(t, text) }
		}
		want := k.decode(t, add(before))
		got := k.decode(t, remove(t, k.entries, add(put(t, k.entries, before))))
		if text, isText := got.(string); isText && !k.isJSON {
			// The end of a file that had no line end is one line further down.
			got, want = strings.Fields(text), strings.Fields(want.(string))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: (-want +got)\n%s", before, diff)
		}
	})
}

// addMember adds a member at the end of a document, as somebody with an editor
// would.
func addMember(t *rapid.T, text []byte) []byte {
	t.Helper()
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	v, err := hujson.Parse(append(bytes.Clone(body), '\n'))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := v.Value.(*hujson.Object)
	at := v.EndOffset - 1
	comma := ""
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra == nil {
		comma = ","
	}
	added := comma + "\n\"added\": 1\n"
	if n := len(o.Members); n > 0 && comma != "" {
		end := o.Members[n-1].Value.EndOffset
		return bytes.Join([][]byte{body[:end], []byte(","), body[end:at], []byte("\n\"added\": 1\n"), body[at:]}, nil)
	}
	return bytes.Join([][]byte{body[:at], []byte(added), body[at:]}, nil)
}

func TestTwoAgentsShareOneGuide(t *testing.T) {
	one, two := setup.Block("one"), setup.Block("two")
	rapid.Check(t, func(t *rapid.T) {
		before := guideText(t)
		both := put(t, []setup.Entry{one, two}, before)
		if got := remove(t, []setup.Entry{one, two}, both); !bytes.Equal(got, before) {
			t.Fatalf("%q became %q", before, got)
		}
		onlyTwo := remove(t, []setup.Entry{one}, both)
		if state, err := two.State(onlyTwo); err != nil || state != setup.Wanted {
			t.Fatalf("without the first block: %v, %v in %q", state, err, onlyTwo)
		}
		if state, _ := one.State(onlyTwo); state != setup.Absent {
			t.Fatalf("the first block is still in %q", onlyTwo)
		}
	})
}
