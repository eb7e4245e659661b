package skillfs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/skillfs"
)

func TestTagsAreAListOrWordsBetweenCommas(t *testing.T) {
	tests := map[string]struct {
		yaml string
		want []string
	}{
		"none":                      {"license: MIT", nil},
		"empty":                     {"tags:", nil},
		"a list":                    {"tags: [ops, 007x, ops]", []string{"ops", "007x"}},
		"a list of lines":           {"tags:\n  - a b\n  - 技能\n  - 7", []string{"a b", "技能", "7"}},
		"words between commas":      {"tags: ops, web,, ops", []string{"ops", "web"}},
		"one word":                  {"tags: ops", []string{"ops"}},
		"a mapping is no tag":       {"tags: {a: b}", nil},
		"a list in a list is none":  {"tags: [a, [b]]", []string{"a"}},
		"a number stays as written": {"tags: 007", []string{"007"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			document, _, err := skillfs.Parse("s", []byte("---\nname: s\ndescription: D.\n"+test.yaml+"\n---\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, document.Tags); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
