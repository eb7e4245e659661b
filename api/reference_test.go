package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetsync/fleetd/api"
)

var update = flag.Bool("update", false, "write descriptions.json and docs/http.md anew; run twice when package wire has changed")

// current compares a file with what it is made from, and with -update writes it.
func current(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted, has := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i, line := range wanted {
		if i >= len(has) || has[i] != line {
			t.Fatalf("%s is stale from line %d on, which should be %q: go test ./api -run 'Descriptions|Reference' -update, twice", path, i+1, line)
		}
	}
	if len(has) > len(wanted) {
		t.Errorf("%s has %d lines, want %d", path, len(has), len(wanted))
	}
}

// TestDescriptionsAreTheCommentsOfTheShapes makes descriptions.json of the
// comments of package wire.
func TestDescriptionsAreTheCommentsOfTheShapes(t *testing.T) {
	files, err := filepath.Glob("wire/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	texts := map[string]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			decl, isDecl := n.(*ast.GenDecl)
			if !isDecl || decl.Tok != token.TYPE {
				return true
			}
			for _, spec := range decl.Specs {
				if s, isType := spec.(*ast.TypeSpec); isType {
					comments(texts, s, decl.Doc)
				}
			}
			return false
		})
	}
	raw := &bytes.Buffer{}
	enc := json.NewEncoder(raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(texts); err != nil {
		t.Fatal(err)
	}
	current(t, "descriptions.json", raw.Bytes())
}

// comments adds those of a type and of its fields.
func comments(texts map[string]string, s *ast.TypeSpec, group *ast.CommentGroup) {
	shape, isStruct := s.Type.(*ast.StructType)
	if !isStruct || !s.Name.IsExported() {
		return
	}
	add := func(name string, group *ast.CommentGroup) {
		if text := strings.Join(strings.Fields(group.Text()), " "); text != "" {
			texts[name] = text
		}
	}
	add(s.Name.Name, group)
	for _, field := range shape.Fields.List {
		for _, name := range field.Names {
			add(s.Name.Name+"."+name.Name, field.Doc)
		}
	}
}

// rules are the doc of the package, as far as it is for those who call it.
func rules(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	said, _, _ := strings.Cut(file.Doc.Text(), "# Inside")
	parsed := (&comment.Parser{}).Parse(said)
	text := string((&comment.Printer{HeadingID: func(*comment.Heading) string { return "" }, HeadingLevel: 2}).Markdown(parsed))
	return strings.Replace(text, "Package api serves", "fleetd serves", 1)
}

// document is what the tests read of the description.
type document struct {
	Info struct{ Description string }
	Tags []struct{ Name, Description string }
	// Paths are operations by path and method.
	Paths      map[string]map[string]*described
	Components struct{ Schemas map[string]*schema }
}

type described struct {
	OperationID          string
	Summary, Description string
	Tags                 []string
	Parameters           []struct{ Name, In, Description string }
	RequestBody          *struct{ Content map[string]media }
	Responses            map[string]struct {
		Description string
		Content     map[string]media
	}
}

type media struct{ Schema *schema }

type schema struct {
	Ref         string `json:"$ref"`
	Type        any
	Format      string
	Description string
	Items       *schema
	AnyOf       []*schema
	Properties  map[string]*schema
	Required    []string
}

// readDocument returns the description of the API.
func readDocument(t *testing.T) document {
	t.Helper()
	raw, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReferenceIsTheDescription makes docs/http.md of the document.
func TestReferenceIsTheDescription(t *testing.T) {
	document := readDocument(t)
	// What this one may answer with, any may.
	w := &reference{common: map[string]string{}}
	for status, response := range document.Paths["/v1/version"]["get"].Responses {
		w.common[status] = response.Description
	}
	w.line("# HTTP reference")
	w.line("")
	w.line("Written by a test from the OpenAPI document of the daemon (`/openapi.json`, `fleetd openapi`): do not edit.")
	w.line("")
	w.line("%s", rules(t))
	w.line("```sh")
	w.line(`curl --unix-socket "$SOCKET" http://fleetd/v1/memory?limit=10`)
	w.line(`curl --unix-socket "$SOCKET" -H 'Content-Type: application/json' -d '{"content":"tabs"}' http://fleetd/v1/memory`)
	w.line(`curl --unix-socket "$SOCKET" -N http://fleetd/v1/watch?after=now`)
	w.line("```")
	w.line("")
	w.line("With `api.listen: 127.0.0.1:7411` in `config.yaml` the same is on loopback, for what cannot open a socket. Each request")
	w.line("carries the token of `api.token` in the data directory (`%s` here), which its owner alone can read, and names the host", "$DIR")
	w.line("by its address or as `localhost`; without the token the answer is 401. The second line keeps the token out of the list of")
	w.line("processes:")
	w.line("")
	w.line("```sh")
	w.line(`curl -H "Authorization: Bearer $(cat "$DIR/api.token")" http://127.0.0.1:7411/v1/status`)
	w.line(`printf "Authorization: Bearer %%s" "$(cat "$DIR/api.token")" | curl -H @- http://127.0.0.1:7411/v1/status`)
	w.line("```")
	w.line("")
	w.line("Every path may answer with these besides those in its table:")
	w.line("")
	w.line("| answer | |")
	w.line("|---|---|")
	for _, status := range slices.Sorted(maps.Keys(w.common)) {
		if status != "200" {
			w.line("| %s | %s |", status, w.common[status])
		}
	}
	for _, tag := range document.Tags {
		w.line("")
		w.line("## %s", tag.Name)
		w.line("")
		w.line("%s", tag.Description)
		for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
			for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
				if op := document.Paths[path][method]; op.Tags[0] == tag.Name {
					w.operation(strings.ToUpper(method)+" "+path, op)
				}
			}
		}
	}
	w.line("")
	w.line("## Shapes")
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		w.shape(name, document.Components.Schemas[name])
	}
	current(t, "../docs/http.md", []byte(w.text.String()))
}

// reference writes Markdown.
type reference struct {
	text strings.Builder
	// common are the answers that any operation may give, by status.
	common map[string]string
}

func (w *reference) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

func (w *reference) operation(title string, op *described) {
	w.line("")
	w.line("### %s", title)
	w.line("")
	w.line("%s", strings.TrimSpace(op.Summary+". "+op.Description))
	if len(op.Parameters) > 0 {
		w.line("")
		w.line("| parameter | in | |")
		w.line("|---|---|---|")
		for _, p := range op.Parameters {
			w.line("| `%s` | %s | %s |", p.Name, p.In, p.Description)
		}
	}
	if op.RequestBody != nil {
		w.line("")
		w.line("Body: %s", kindOf(op.RequestBody.Content["application/json"].Schema))
	}
	w.line("")
	w.line("| answer | |")
	w.line("|---|---|")
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		if status >= "400" && r.Description == w.common[status] {
			continue
		}
		what := r.Description
		for media, content := range r.Content {
			if media != "application/problem+json" {
				what = fmt.Sprintf("%s %s, %s", what, kindOf(content.Schema), media)
			}
		}
		w.line("| %s | %s |", status, what)
	}
}

func (w *reference) shape(name string, s *schema) {
	w.line("")
	w.line("### %s", name)
	w.line("")
	w.line("%s", s.Description)
	w.line("")
	w.line("| field | type | |")
	w.line("|---|---|---|")
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[field]
		optional := ""
		if !slices.Contains(s.Required, field) {
			optional = ", optional"
		}
		w.line("| `%s` | %s%s | %s |", field, kindOf(property), optional, strings.ReplaceAll(property.Description, "|", "\\|"))
	}
}

// kindOf names the kind of a value.
func kindOf(s *schema) string {
	name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
	switch {
	case s.Ref != "":
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case len(s.AnyOf) > 0:
		return kindOf(s.AnyOf[0]) + " or null"
	case s.Items != nil:
		return "list of " + kindOf(s.Items)
	case s.Type == nil:
		return "any JSON"
	}
	what := fmt.Sprint(s.Type)
	if types, several := s.Type.([]any); several {
		what = fmt.Sprintf("%v or %v", types...)
	}
	if s.Format == "date-time" {
		what = strings.Replace(what, "string", "time", 1)
	}
	return what
}
