package api

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// schemaPrefix is where the document keeps its schemas.
const schemaPrefix = "#/components/schemas/"

// descriptions are the comments of package wire, by type and field: what a
// shape means stands once, in its comment. A test keeps the file true.
//
//go:embed descriptions.json
var descriptions []byte

// openAPI is the beginning of the document, and how huma reads and writes. What
// it would serve besides is left out: its page loads from a foreign server, and
// its links to schemas add a field to every body.
func openAPI() huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "fleetd",
				Version: "1",
				Description: "The local API of one fleetd: JSON over HTTP on a Unix socket. " +
					"Every reply is one object with a schema_version, to which fields are added and whose meaning stays; every error is a Problem (RFC 9457).",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
					Type: "http", Scheme: "bearer", Description: "On loopback alone: the token in api.token of the data directory. On the socket the system says who asks.",
				}},
			},
			Security: []map[string][]string{{}, {"token": {}}},
			Tags: []*huma.Tag{
				{Name: "skills", Description: "Procedures that agents have learned."},
				{Name: "memory", Description: "What agents remember."},
				{Name: "sessions", Description: "Conversations, turn by turn."},
				{Name: "records", Description: "Records of any kind: their versions, and settling conflicts."},
				{Name: "watch", Description: "What happens, as it happens."},
				{Name: "state", Description: "All that the node holds."},
				{Name: "fleet", Description: "The node and its fleet."},
				{Name: "daemon", Description: "The daemon itself."},
			},
		},
		// By "json" huma means whatever ends in +json: problems.
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
	}
}

// document finishes the description of the API once all operations are there.
func document(doc *huma.OpenAPI) ([]byte, error) {
	var texts map[string]string
	if err := json.Unmarshal(descriptions, &texts); err != nil {
		return nil, err
	}
	registry := doc.Components.Schemas
	for name, schema := range registry.Map() {
		describeSchema(schema, registry.TypeFromRef(schemaPrefix+name), texts)
	}
	taken := map[string]bool{}
	for _, item := range doc.Paths {
		for _, op := range operationsOf(item) {
			if op.RequestBody != nil {
				reach(registry, op.RequestBody.Content["application/json"].Schema, taken)
			}
		}
	}
	for name, schema := range registry.Map() {
		if !taken[name] {
			schema.AdditionalProperties = nil // replies gain fields
		}
	}
	// huma knows no objects that may be null. Here is one.
	if section := registry.Map()["ComparedSection"]; section != nil {
		first := section.Properties["first"]
		section.Properties["first"] = &huma.Schema{
			Description: first.Description,
			AnyOf:       []*huma.Schema{{Ref: first.Ref}, {Type: "null"}},
		}
	}
	return json.Marshal(doc)
}

// operationsOf returns the operations of one path.
func operationsOf(item *huma.PathItem) []*huma.Operation {
	ops := []*huma.Operation{item.Get, item.Put, item.Post, item.Delete}
	return slices.DeleteFunc(ops, func(op *huma.Operation) bool { return op == nil })
}

// reach notes the names of all schemas that one refers to.
func reach(registry huma.Registry, schema *huma.Schema, names map[string]bool) {
	if schema == nil {
		return
	}
	if name, isRef := strings.CutPrefix(schema.Ref, schemaPrefix); isRef && !names[name] {
		names[name] = true
		reach(registry, registry.SchemaFromRef(schema.Ref), names)
	}
	reach(registry, schema.Items, names)
	for _, property := range schema.Properties {
		reach(registry, property, names)
	}
}

// describeSchema gives a schema and its properties the comments of their type.
func describeSchema(schema *huma.Schema, t reflect.Type, texts map[string]string) {
	if schema.Description == "" {
		schema.Description = texts[t.Name()]
	}
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		property := schema.Properties[name]
		if field.Anonymous || property == nil || property.Description != "" {
			continue
		}
		owner := t
		for _, i := range field.Index[:len(field.Index)-1] {
			owner = owner.Field(i).Type
			if owner.Kind() == reflect.Pointer {
				owner = owner.Elem()
			}
		}
		property.Description = texts[owner.Name()+"."+field.Name]
	}
}

// jsonName is the name of a field in JSON.
func jsonName(field reflect.StructField) string {
	name := field.Tag.Get("json")
	for i, r := range name {
		if r == ',' {
			return name[:i]
		}
	}
	return name
}

// fieldNames lists the names that the fields of a type have in JSON.
func fieldNames(t reflect.Type) string {
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		if name := jsonName(field); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// bodyOf returns the type of the body that an input has.
func bodyOf[I any]() (body reflect.Type, has bool) {
	field, has := reflect.TypeFor[I]().FieldByName("Body")
	return field.Type, has
}
