package skillfs_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetsync/fleetd/skillfs"
)

const bom = "\uFEFF"

func TestEveryLineEndingAndByteOrderMarkParsesAlike(t *testing.T) {
	endings := map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
	marks := map[string]string{"a byte order mark": bom, "no byte order mark": ""}
	tails := map[string]string{
		"text":       "\n# Deploy\n\nRun it.\n",
		"no newline": "",
		"a newline":  "\n",
	}
	want := skillfs.Document{
		Name:        "deploy",
		Description: "Ships a build to production, folded over lines.",
		Frontmatter: map[string]any{
			"name":        "deploy",
			"description": "Ships a build to production, folded over lines.\n",
		},
	}
	for ending, newline := range endings {
		for mark, start := range marks {
			for tail, end := range tails {
				t.Run(ending+" and "+mark+" and "+tail+" after the fence", func(t *testing.T) {
					text := "---\nname: deploy\ndescription: >\n  Ships a build to production,\n  folded over lines.\n---" + end
					raw := []byte(start + strings.ReplaceAll(text, "\n", newline))
					want := want
					want.Body = raw
					got, warnings, err := skillfs.Parse("deploy", raw)
					if err != nil || len(warnings) > 0 {
						t.Fatalf("Parse: %v, warnings %v", err, warnings)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("document (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

func TestAWideEncodingIsRefusedWithAReason(t *testing.T) {
	units := utf16.Encode([]rune("---\nname: deploy\ndescription: Ships.\n---\n"))
	encode := func(order binary.AppendByteOrder, start string) []byte {
		raw := []byte(start)
		for _, unit := range units {
			raw = order.AppendUint16(raw, unit)
		}
		return raw
	}
	tests := map[string][]byte{
		"little endian with a mark":    encode(binary.LittleEndian, "\xFF\xFE"),
		"big endian with a mark":       encode(binary.BigEndian, "\xFE\xFF"),
		"little endian without a mark": encode(binary.LittleEndian, ""),
		"big endian without a mark":    encode(binary.BigEndian, ""),
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			document, _, err := skillfs.Parse("deploy", raw)
			if !errors.Is(err, skillfs.ErrEncoding) || !strings.Contains(err.Error(), "save it as UTF-8") {
				t.Errorf("error %v, want ErrEncoding that says what to do", err)
			}
			if diff := cmp.Diff(skillfs.Document{Body: raw}, document); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFrontmatterIsReadAsTheFormatSays(t *testing.T) {
	const long = 1100
	tests := []struct {
		name, dir, header string
		want              skillfs.Document
		warnings          []string
	}{
		{
			"all keys are kept", "deploy",
			"name: deploy\ndescription: Ships.\nlicense: MIT\ncompatibility: needs git\nmetadata:\n  version: 2\nallowed-tools: Bash Read\n",
			skillfs.Document{Name: "deploy", Description: "Ships.", License: "MIT", Compatibility: "needs git", Frontmatter: map[string]any{
				"name": "deploy", "description": "Ships.", "license": "MIT", "compatibility": "needs git",
				"metadata": map[string]any{"version": uint64(2)}, "allowed-tools": "Bash Read",
			}},
			nil,
		},
		{
			"a missing name is the folder's", "deploy",
			"description: Ships.\n",
			skillfs.Document{Name: "deploy", Description: "Ships.", Frontmatter: map[string]any{"description": "Ships."}},
			[]string{"name: is missing; the folder's name deploy is used"},
		},
		{
			"another name than the folder's is a warning", "release",
			"name: deploy\ndescription: Ships.\n",
			skillfs.Document{Name: "deploy", Description: "Ships.", Frontmatter: map[string]any{"name": "deploy", "description": "Ships."}},
			[]string{`name: deploy differs from the folder's name "release"`},
		},
		{
			"a name for people becomes a slug", "deploy-it",
			"name: Deploy It\ndescription: Ships.\n",
			skillfs.Document{Name: "deploy-it", Description: "Ships.", Frontmatter: map[string]any{"name": "Deploy It", "description": "Ships."}},
			[]string{`name: "Deploy It" is read as deploy-it`},
		},
		{
			"a name that is no slug gives way to the folder's", "cpp",
			"name: C++\ndescription: Compiles.\n",
			skillfs.Document{Name: "cpp", Description: "Compiles.", Frontmatter: map[string]any{"name": "C++", "description": "Compiles."}},
			[]string{`name: "C++" cannot be used; the folder's name cpp is used`},
		},
		{
			"a name of digits stays as written", "007",
			"name: 007\ndescription: 2024 # the year\n",
			skillfs.Document{Name: "007", Description: "2024", Frontmatter: map[string]any{"name": uint64(7), "description": uint64(2024)}},
			nil,
		},
		{
			"a name in another Unicode form is the same", "Cafe\u0301",
			"name: caf\u00e9\ndescription: Brews.\n",
			skillfs.Document{Name: "caf\u00e9", Description: "Brews.", Frontmatter: map[string]any{"name": "caf\u00e9", "description": "Brews."}},
			nil,
		},
		{
			"a long description is a warning", "deploy",
			"name: deploy\ndescription: " + strings.Repeat("x", long) + "\n",
			skillfs.Document{Name: "deploy", Description: strings.Repeat("x", long), Frontmatter: map[string]any{"name": "deploy", "description": strings.Repeat("x", long)}},
			[]string{"description: has 1100 characters, more than 1024"},
		},
		{
			"a licence that is no text is ignored", "deploy",
			"name: deploy\ndescription: Ships.\nlicense: [MIT]\n",
			skillfs.Document{Name: "deploy", Description: "Ships.", Frontmatter: map[string]any{"name": "deploy", "description": "Ships.", "license": []any{"MIT"}}},
			[]string{"license: is not text and is ignored"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, warnings, err := skillfs.Parse(test.dir, []byte("---\n"+test.header+"---\nText.\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(skillfs.Document{}, "Body")); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.warnings, lines(warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnUnreadableDocumentIsAnErrorWithAReason(t *testing.T) {
	tests := []struct {
		name, raw string
		want      error
		reason    string
	}{
		{"an empty file", "", skillfs.ErrNoFrontmatter, "must begin with a line of three hyphens"},
		{"no frontmatter", "# Deploy\n", skillfs.ErrNoFrontmatter, "must begin with a line of three hyphens"},
		{"a blank line before the fence", "\n---\nname: x\n---\n", skillfs.ErrNoFrontmatter, "must begin"},
		{"four hyphens", "----\nname: x\n----\n", skillfs.ErrNoFrontmatter, "must begin"},
		{"no closing fence", "---\nname: deploy\n", skillfs.ErrNoFrontmatter, "no closing line"},
		{"an empty frontmatter", "---\n---\n", skillfs.ErrNoDescription, "needs a description"},
		{"a missing description", "---\nname: deploy\n---\n", skillfs.ErrNoDescription, "it has only name"},
		{"an empty description", "---\ndescription: \"  \"\n---\n", skillfs.ErrNoDescription, "is empty or not text"},
		{"a description that is a list", "---\ndescription: [a, b]\n---\n", skillfs.ErrNoDescription, "is empty or not text"},
		{"an open bracket", "---\nname: deploy\ntags:\n  - [a\ndescription: Ships.\n---\n", skillfs.ErrYAML, "line 5:"},
		{"a key twice", "---\ndescription: a\ndescription: b\n---\n", skillfs.ErrYAML, "already defined"},
		{"a list", "---\n- a\n---\n", skillfs.ErrYAML, "mapping is expected"},
		{"bytes that are not UTF-8", "---\ndescription: \xff\n---\n", skillfs.ErrEncoding, "line 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			document, _, err := skillfs.Parse("deploy", []byte(test.raw))
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.reason)
			}
			if string(document.Body) != test.raw {
				t.Errorf("body %q, want the input", document.Body)
			}
		})
	}
}

func TestABodyThatIsNotUTF8IsKeptWithAWarning(t *testing.T) {
	raw := "---\nname: deploy\ndescription: Ships.\n---\n\xff\x00\n"
	document, warnings, err := skillfs.Parse("deploy", []byte(raw))
	if err != nil || string(document.Body) != raw {
		t.Fatalf("body %q, error %v, want the input", document.Body, err)
	}
	want := []string{"body: is not UTF-8 throughout; its bytes are kept"}
	if diff := cmp.Diff(want, lines(warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestTheBodyIsACopyOfTheInput(t *testing.T) {
	raw := []byte("---\nname: deploy\ndescription: Ships.\n---\n")
	document, _, err := skillfs.Parse("deploy", raw)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	clear(raw)
	if string(document.Body) != want {
		t.Errorf("body %q after the input was overwritten, want %q", document.Body, want)
	}
}

// lines makes warnings comparable with what a person reads.
func lines(warnings []skillfs.Warning) []string {
	var texts []string
	for _, warning := range warnings {
		texts = append(texts, warning.String())
	}
	return texts
}
