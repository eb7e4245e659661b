package mcp

import "github.com/google/jsonschema-go/jsonschema"

// inputSchema describes arguments by their own names. It is open to others:
// what they mean is decided by decode, which says more than a validator does.
func inputSchema(args []argument) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, a := range args {
		property := a.form.schema()
		property.Description = a.about
		for _, option := range a.options {
			property.Enum = append(property.Enum, option)
		}
		schema.Properties[a.name] = property
		schema.PropertyOrder = append(schema.PropertyOrder, a.name)
		if a.required {
			schema.Required = append(schema.Required, a.name)
		}
	}
	return schema
}

func (f form) schema() *jsonschema.Schema {
	zero, one := 0.0, 1.0
	switch f {
	case formCount:
		return &jsonschema.Schema{Type: "integer", Minimum: &one}
	case formNumber:
		return &jsonschema.Schema{Type: "integer", Minimum: &zero}
	case formFlag:
		return &jsonschema.Schema{Type: "boolean"}
	case formTexts:
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	case formRange:
		two := 2
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "integer"}, MinItems: &two, MaxItems: &two}
	case formScope:
		text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
		return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
			"instance": text(), "project": text(), "workspace": text(),
		}}
	case formText, formVersion:
	}
	return &jsonschema.Schema{Type: "string"}
}
