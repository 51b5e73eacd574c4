package shape

// This file generates the JSON Schema from the shapes that check documents.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/canonical"
	"gopkg.in/yaml.v3"
)

// Schema returns the JSON Schema (draft 2020-12) of a shape, with the meanings of keys by their paths.
func (s *Shape) Schema(title string, meanings map[string]Meaning) []byte {
	w := schemaWriter{defs: map[string]any{}, meanings: meanings}
	root := w.shapeSchema(s, "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	if len(w.defs) > 0 {
		root["$defs"] = w.defs
	}
	return canonical.Must(canonical.Indented(root)) // maps, lists and texts always encode
}

// Meaning describes what one key does.
type Meaning struct {
	States  string // what the key states, in full sentences
	Default string // what applies if the key is left out; "" for a required key
	Example string // the value, as YAML
	Page    string // the page with more about it, from the top of the project
}

// schemaWriter converts shapes to schemas. defs holds the schemas of named shapes, meanings the meaning of the key at
// each path.
type schemaWriter struct {
	defs     map[string]any
	meanings map[string]Meaning
}

type schema = map[string]any

// shapeSchema returns the schema of a shape at a path, in which * stands for a name that the spec chooses and [] for an
// entry of a list.
func (w schemaWriter) shapeSchema(s *Shape, path string) schema {
	if s.name == "" {
		return w.describedSchema(s, path)
	}
	if _, done := w.defs[s.name]; !done {
		w.defs[s.name] = nil // reserved first: shapes may contain themselves
		w.defs[s.name] = w.describedSchema(s, path)
	}
	return schema{"$ref": "#/$defs/" + s.name}
}

// keySchema returns the schema of a key, with the key's expected value as title and its meaning as description.
func (w schemaWriter) keySchema(s *Shape, path string) schema {
	out := w.shapeSchema(s, path)
	m, ok := w.meanings[path]
	if !ok {
		return out
	}
	out["title"] = s.expectation()
	out["description"] = m.description()
	var example any
	if err := yaml.Unmarshal([]byte(m.Example), &example); err != nil {
		panic(err) // meanings are constants of the program
	}
	out["examples"] = []any{example}
	return out
}

// description joins all texts of a meaning.
func (m Meaning) description() string {
	out := m.States
	if m.Default != "" {
		out += " Without it: " + m.Default + "."
	}
	if m.Page != "" {
		out += " (" + m.Page + ")"
	}
	return out
}

// expectation says in words what a shape expects.
func (s *Shape) expectation() string {
	if s.unbuilt == "" {
		return s.Says
	}
	return strings.TrimSpace(s.Says + " (" + s.unbuilt + ": not supported by this version)")
}

// Below returns the path of a name under a path.
func Below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// describedSchema returns the rules of a shape with its description. Patterns are copied: shapes use only syntax that
// Go and ECMA-262 read in the same way.
func (w schemaWriter) describedSchema(s *Shape, path string) schema {
	out := w.shapeRules(s, path)
	if says := s.expectation(); says != "" {
		out["description"] = says
	}
	return out
}

func (w schemaWriter) shapeRules(s *Shape, path string) schema {
	switch s.kind {
	case object:
		return w.objectRules(s, path)
	case dictionary:
		names := schema{"pattern": s.Keys.text}
		return schema{"type": "object", "propertyNames": names, "additionalProperties": w.shapeSchema(s.Element,
			Below(path, "*")),
			"minProperties": s.Least}
	case list:
		out := schema{"type": "array", "items": w.shapeSchema(s.Element, path+"[]"), "minItems": s.Least}
		if s.most > 0 {
			out["maxItems"] = s.most
		}
		return out
	case text, category:
		out := schema{"type": "string"}
		if s.kind == category {
			out["type"] = []string{"string", "number", "boolean"}
		}
		if s.match != nil {
			out["pattern"] = s.match.text
		}
		if s.oneOf != nil {
			out["enum"] = s.oneOf
		}
		return out
	case number:
		return schema{"type": []string{"number", "string"}, "pattern": s.match.text}
	case whole:
		return schema{"type": "integer", "minimum": s.Least, "maximum": s.most}
	case boolean:
		return schema{"type": "boolean"}
	case choice:
		return w.choiceRules(s.When, path)
	}
	return schema{}
}

func (w schemaWriter) objectRules(s *Shape, path string) schema {
	properties, needs := schema{}, map[string][]string{}
	var required []string
	var either []schema
	for _, f := range s.Fields {
		properties[f.Key] = w.keySchema(f.Shape, Below(path, f.Key))
		switch {
		case f.Instead != "":
			either = append(either, schema{"oneOf": []schema{{"required": []string{f.Key}},
				{"required": []string{f.Instead}}}})
		case f.Required != "":
			required = append(required, f.Key)
		}
		if f.Requires != "" {
			needs[f.Key] = []string{f.Requires}
		}
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	if len(needs) > 0 {
		out["dependentRequired"] = needs
	}
	if s.forms != nil {
		out["oneOf"] = formRules(s)
	}
	if either != nil {
		out["allOf"] = either
	}
	return out
}

// formRules requires exactly one of the sets of keys.
func formRules(s *Shape) []schema {
	var all []schema
	for _, form := range s.forms {
		one := schema{"required": form}
		var others []schema
		for _, key := range s.formKeys() {
			if !slices.Contains(form, key) {
				others = append(others, schema{"required": []string{key}})
			}
		}
		if others != nil {
			one["not"] = schema{"anyOf": others}
		}
		all = append(all, one)
	}
	return all
}

// choiceRules is a chain of conditions: if this guard matches, then that shape, else the rest.
func (w schemaWriter) choiceRules(branches []Branch, path string) schema {
	if len(branches) == 0 {
		return schema{"not": schema{}}
	}
	first := branches[0]
	return schema{"if": first.Guard.guardSchema(),
		"then": w.shapeSchema(first.Then, path), "else": w.choiceRules(branches[1:], path)}
}

func (g Guard) guardSchema() schema {
	switch g.node {
	case sequenceNode:
		return schema{"type": "array"}
	case mappingNode:
		out := schema{"type": "object"}
		var any []schema
		for _, key := range g.Keys {
			any = append(any, schema{"required": []string{key}})
		}
		if any != nil {
			out["anyOf"] = any
		}
		return out
	}
	if g.match != nil {
		return schema{"type": "string", "pattern": g.match.text}
	}
	return schema{"type": []string{"string", "number", "boolean", "null"}}
}
