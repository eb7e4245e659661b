package skillfs_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fleetsync/fleetd/skillfs"
)

var unsafeNames = []string{
	"../x", "a/../../b", "/etc/x", `C:\x`, "C:x", `\\host\share`, ".", "..", "a/b",
	"nul\x00byte", "line\nbreak", "esc\x1b[31m", strings.Repeat("x", 300),
	"CON", "con", "nul", "Aux", "com1", "LPT9",
}

func TestUnsafeNamesAreRefused(t *testing.T) {
	// A full-width slash and a superscript digit only become dangerous in NFKC.
	hidden := []string{"..\uFF0Fx", "com\u00b9"}
	for _, name := range append(hidden, unsafeNames...) {
		t.Run(name, func(t *testing.T) {
			if err := skillfs.ValidSlug(name); !errors.Is(err, skillfs.ErrName) {
				t.Errorf("ValidSlug: %v, want ErrName", err)
			}
			slug, err := skillfs.ImportSlug(name)
			if !errors.Is(err, skillfs.ErrUnsafeName) || !errors.Is(err, skillfs.ErrName) || slug != "" {
				t.Errorf("ImportSlug: %q, %v, want ErrUnsafeName", slug, err)
			}
		})
	}
}

func TestAnUnsafeNameInTheFrontmatterIsRefused(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", `C:\x`, "CON", strings.Repeat("x", 300)} {
		t.Run(name, func(t *testing.T) {
			_, _, err := skillfs.Parse("deploy", []byte("---\nname: "+name+"\ndescription: Ships.\n---\n"))
			if !errors.Is(err, skillfs.ErrUnsafeName) {
				t.Errorf("error %v, want ErrUnsafeName", err)
			}
		})
	}
}

func TestASkillWithoutAnyUsableNameIsRefused(t *testing.T) {
	tests := map[string]struct{ dir, header string }{
		"no name and no folder":          {"", "description: Ships.\n"},
		"no name and an unusable folder": {"???", "description: Ships.\n"},
		"both are unusable":              {"???", "name: C++\ndescription: Ships.\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := skillfs.Parse(test.dir, []byte("---\n"+test.header+"---\n"))
			if !errors.Is(err, skillfs.ErrName) || errors.Is(err, skillfs.ErrUnsafeName) {
				t.Errorf("error %v, want ErrName", err)
			}
		})
	}
}

func TestOnlyAStrictSlugIsValidForANewSkill(t *testing.T) {
	for _, name := range []string{"a", "7", "deploy", "deploy-2-prod", strings.Repeat("x", 64)} {
		if err := skillfs.ValidSlug(name); err != nil {
			t.Errorf("ValidSlug(%q): %v", name, err)
		}
	}
	for _, name := range []string{"", "Deploy", "-a", "a-", "a--b", "a b", "a_b", "a.b", "caf\u00e9", strings.Repeat("x", 65)} {
		if err := skillfs.ValidSlug(name); !errors.Is(err, skillfs.ErrName) {
			t.Errorf("ValidSlug(%q): %v, want ErrName", name, err)
		}
	}
}

func TestAnImportedNameBecomesASlug(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a slug stays", "deploy-2", "deploy-2"},
		{"case is lowered", "Deploy", "deploy"},
		{"separators become hyphens", "My  skill_v1.2: beta", "my-skill-v1-2-beta"},
		{"hyphens at the ends go", "-deploy-", "deploy"},
		{"letters of other scripts stay", "\u6280\u80fd-\u0443\u043c\u0435\u043d\u0438\u0435", "\u6280\u80fd-\u0443\u043c\u0435\u043d\u0438\u0435"},
		{"vowel signs stay", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940"},
		{"decomposed letters are composed", "cafe\u0301", "caf\u00e9"},
		{"compatibility forms are folded", "\uFF24\uFF45\uFF50\uFF4C\uFF4F\uFF59", "deploy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := skillfs.ImportSlug(test.in)
			if err != nil || got != test.want {
				t.Errorf("ImportSlug(%q) = %q, %v, want %q", test.in, got, err, test.want)
			}
		})
	}
	for _, name := range []string{"", "---", "C++", "\u202edeploy", "rocket \U0001F680", "\xff", strings.Repeat("x", 65)} {
		if slug, err := skillfs.ImportSlug(name); !errors.Is(err, skillfs.ErrName) || errors.Is(err, skillfs.ErrUnsafeName) {
			t.Errorf("ImportSlug(%q) = %q, %v, want ErrName", name, slug, err)
		}
	}
}

func TestASlugIsReadAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slug, err := skillfs.ImportSlug(rapid.String().Draw(t, "name"))
		if err != nil {
			return
		}
		if again, err := skillfs.ImportSlug(slug); err != nil || again != slug {
			t.Errorf("ImportSlug(%q) = %q, %v, want itself", slug, again, err)
		}
	})
}

func TestAStrictSlugIsImportedAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,5}`).Draw(t, "name")
		if err := skillfs.ValidSlug(name); err != nil {
			return // a device name
		}
		if slug, err := skillfs.ImportSlug(name); err != nil || slug != name {
			t.Errorf("ImportSlug(%q) = %q, %v, want itself", name, slug, err)
		}
	})
}
