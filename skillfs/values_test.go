package skillfs_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetsync/fleetd/skillfs"
)

func TestFrontmatterIsAllOfItAndRepairsNothing(t *testing.T) {
	got, err := skillfs.Frontmatter([]byte("\ufeff---\r\nname: x\r\nmetadata: {v: \"1\"}\r\n---\r\ntext"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"name": "x", "metadata": map[string]any{"v": "1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]error{
		"text":                        skillfs.ErrNoFrontmatter,
		"---\ndescription: a: b\n---": skillfs.ErrYAML,
	} {
		if _, err := skillfs.Frontmatter([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
