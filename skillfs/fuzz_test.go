package skillfs_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/fleetsync/fleetd/skillfs"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "---", "---\n---", "---\rname: a\rdescription: b\r---",
		bom + "---\r\nname: deploy\r\ndescription: Use when: shipping\r\n---\r\nText\r\n",
		"---\nname: C++\ndescription: >\n  folded\n  text\nmetadata:\n  a: b: c\n---\n",
		"---\n&0: *0\n*0:\n*0:\n---\n", "---\na: &a [*a]\ndescription: {a: [b]}\n---\n",
		"---\n0::\n---\n", "---\n%YAML 1.2\nb: 0_\n---\n", "---\n? a\n: b\n<<: {c: d}\n---\n",
		"---\ndescription: !!binary aGk=\nname: \"a\\0b\"\n---\n", "\xFF\xFE-\x00-\x00-\x00",
		"---\ndescription: '\nname: \"\n---\n", "---\nname: ../x\ndescription: - - -\n---\n",
	} {
		f.Add("deploy", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, dirName string, raw []byte) {
		document, _, err := skillfs.Parse(dirName, raw)
		if !bytes.Equal(raw, document.Body) {
			t.Fatalf("body %q, want the input %q", document.Body, raw)
		}
		if err != nil {
			requireSentinel(t, err)
			return
		}
		if document.Description == "" {
			t.Error("a document without a description")
		}
		if slug, err := skillfs.ImportSlug(document.Name); err != nil || slug != document.Name {
			t.Errorf("name %q is read as %q, %v", document.Name, slug, err)
		}
	})
}

// requireSentinel fails the test when err is none that Parse may return.
func requireSentinel(t *testing.T, err error) {
	t.Helper()
	for _, sentinel := range []error{
		skillfs.ErrEncoding, skillfs.ErrNoFrontmatter, skillfs.ErrYAML,
		skillfs.ErrNoDescription, skillfs.ErrTooLarge, skillfs.ErrName,
	} {
		if errors.Is(err, sentinel) {
			return
		}
	}
	t.Errorf("an error without a sentinel: %v", err)
}
