package skillfs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/skillfs"
)

func TestAValueThatYAMLRefusesIsReadAsPlainText(t *testing.T) {
	tests := []struct {
		name, header string
		want         map[string]any
		warning      string
	}{
		{
			"an unquoted colon",
			"name: deploy\ndescription: Use when: shipping\n",
			map[string]any{"name": "deploy", "description": "Use when: shipping"},
			"frontmatter: is not valid YAML (line 3: mapping value is not allowed in this context); read as plain text: description",
		},
		{
			"a colon on a folded line",
			"name: deploy\ndescription: Ships it.\n  Use when: it's done\nlicense: MIT\n",
			map[string]any{"name": "deploy", "description": "Ships it. Use when: it's done", "license": "MIT"},
			"read as plain text: description",
		},
		{
			"a reserved first character",
			"description: @team ships\nname: deploy\n",
			map[string]any{"name": "deploy", "description": "@team ships"},
			"read as plain text: description",
		},
		{
			"emphasis at the start",
			"description: *Always* ask\nname: deploy\n",
			map[string]any{"name": "deploy", "description": "*Always* ask"},
			"read as plain text: description",
		},
		{
			"brackets before text",
			"description: [beta] ships\nname: deploy\n",
			map[string]any{"name": "deploy", "description": "[beta] ships"},
			"read as plain text: description",
		},
		{
			"text behind a quoted word",
			"description: \"Ship it\" is the cue\nname: deploy\n",
			map[string]any{"name": "deploy", "description": "\"Ship it\" is the cue"},
			"read as plain text: description",
		},
		{
			"a colon one level down, with the structure kept",
			"name: deploy\ndescription: Ships.\nmetadata:\n  when: now: or later\n  steps: [a, b]\n",
			map[string]any{"name": "deploy", "description": "Ships.", "metadata": map[string]any{
				"when": "now: or later", "steps": []any{"a", "b"},
			}},
			"read as plain text: metadata.when",
		},
		{
			"an alias",
			"name: deploy\ndescription: Ships.\nbase: &base text\nagain: *base\n",
			map[string]any{"name": "deploy", "description": "Ships.", "base": "text", "again": "*base"},
			"(line 5: aliases are not supported); read as plain text: again",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			document, warnings, err := skillfs.Parse("deploy", []byte("---\n"+test.header+"---\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, document.Frontmatter); diff != "" {
				t.Errorf("frontmatter (-want +got):\n%s", diff)
			}
			got := lines(warnings)
			if len(got) != 1 || !strings.Contains(got[0], test.warning) {
				t.Errorf("warnings %q, want one with %q", got, test.warning)
			}
		})
	}
}

func TestFrontmatterIsCappedBeforeYAMLIsParsed(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a: &a [x, x, x, x, x, x, x, x, x]\n")
	for level := 'b'; level <= 'z'; level++ {
		fmt.Fprintf(&bomb, "%c: &%c [%s]\n", level, level, strings.Repeat("*"+string(level-1)+", ", 9))
	}
	tests := []struct {
		name, header string
		want         error
		reason       string
	}{
		{"more than the cap", "description: " + strings.Repeat("x", skillfs.FrontmatterBytesMax) + "\n", skillfs.ErrTooLarge, "within 16384 bytes"},
		{"aliases in a list", "description: Ships.\nlist:\n  - &a x\n  - *a\n", skillfs.ErrYAML, "line 5: aliases are not supported"},
		{"an alias of itself as a key", "&0: *0\n*0:\n*0:\n", skillfs.ErrYAML, "aliases are not supported"},
		{"brackets without end", strings.Repeat("[", 9000) + "\n", skillfs.ErrYAML, "nest deeper than 32"},
		{"braces without end", "list:\n  - " + strings.Repeat("{a: ", 1000) + "\n", skillfs.ErrYAML, "nest deeper than 32"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := skillfs.Parse("deploy", []byte("---\n"+test.header+"---\n"))
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.reason)
			}
		})
	}
	t.Run("a bomb of aliases is read as short text", func(t *testing.T) {
		document, _, err := skillfs.Parse("deploy", []byte("---\ndescription: Ships.\n"+bomb.String()+"---\n"))
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := document.Frontmatter["z"].(string); !ok || len(text) > 100 {
			t.Errorf("z is %v, want its text", document.Frontmatter["z"])
		}
	})
}
