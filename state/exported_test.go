package state_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateFlag = flag.Bool("update", false, "write testdata/exported.txt anew")

// TestExportedNames holds what the package exports to testdata/exported.txt, so
// that no name goes or changes by accident. A deliberate change is written by
// `go test ./state -run TestExportedNames -update`.
func TestExportedNames(t *testing.T) {
	const golden = "testdata/exported.txt"
	got := exportedNames(t, ".")
	if *updateFlag {
		must(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	same(t, string(want), got)
}

// exportedNames lists the exported declarations of the package in a folder,
// without comments and bodies, sorted.
func exportedNames(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	must(t, err)
	var declarations []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.FileExports(file)
		for _, d := range file.Decls {
			declarations = append(declarations, declared(t, d)...)
		}
	}
	slices.Sort(declarations)
	return strings.Join(declarations, "\n") + "\n"
}

// declared prints a declaration, each name of a group by itself.
func declared(t *testing.T, d ast.Decl) []string {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d)) {
			return nil
		}
		d.Body = nil
		return []string{printed(t, d)}
	case *ast.GenDecl:
		var all []string
		for _, spec := range d.Specs {
			if d.Tok != token.IMPORT && len(d.Specs) > 0 {
				all = append(all, printed(t, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}}))
			}
		}
		return all
	}
	return nil
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	name, _ := expr.(*ast.Ident)
	return name.Name
}

func printed(t *testing.T, node any) string {
	t.Helper()
	var b bytes.Buffer
	must(t, format.Node(&b, token.NewFileSet(), node))
	return b.String()
}
