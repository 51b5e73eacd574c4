package shape

// This file holds the JSON Schema, generated from the same shapes that check documents.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/internal/canonical"
	"gopkg.in/yaml.v3"
)

// Schema is the JSON Schema (draft 2020-12) of a shape, with the meanings of keys by their paths.
func (s *Shape) Schema(title string, meanings map[string]Meaning) []byte {
	w := schemaWriter{defs: map[string]any{}, meanings: meanings}
	root := w.write(s, "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	if len(w.defs) > 0 {
		root["$defs"] = w.defs
	}
	return canonical.Must(canonical.Indented(root)) // maps, lists and texts always encode
}

// Meaning is what one key does.
type Meaning struct {
	Is      string // what the key says, in full sentences
	Without string // what holds where the key is left out; "" for a key that must be there
	Example string // the value, as YAML
	Page    string // the page that says more, from the top of the project
}

// schemaWriter turns shapes into schemas; defs holds those that are used by name, meanings what
// the key of each path does.
type schemaWriter struct {
	defs     map[string]any
	meanings map[string]Meaning
}

type schema = map[string]any

// write is the schema of a shape at a path, in which * is a name that the spec chooses and [] an
// entry of a list.
func (w schemaWriter) write(s *Shape, path string) schema {
	if s.name == "" {
		return w.body(s, path)
	}
	if _, done := w.defs[s.name]; !done {
		w.defs[s.name] = nil // taken: shapes may hold themselves
		w.defs[s.name] = w.body(s, path)
	}
	return schema{"$ref": "#/$defs/" + s.name}
}

// key is the schema of a key: what is expected there as its title, what it does as its description.
func (w schemaWriter) key(s *Shape, path string) schema {
	out := w.write(s, path)
	m, ok := w.meanings[path]
	if !ok {
		return out
	}
	out["title"] = s.words()
	out["description"] = m.description()
	var example any
	if err := yaml.Unmarshal([]byte(m.Example), &example); err != nil {
		panic(err) // meanings are part of the program
	}
	out["examples"] = []any{example}
	return out
}

// description is all that a meaning has in words.
func (m Meaning) description() string {
	out := m.Is
	if m.Without != "" {
		out += " Without it: " + m.Without + "."
	}
	if m.Page != "" {
		out += " (" + m.Page + ")"
	}
	return out
}

// words is what a shape expects, in words.
func (s *Shape) words() string {
	if s.unbuilt == "" {
		return s.Says
	}
	return strings.TrimSpace(s.Says + " (" + s.unbuilt + ": not supported by this version)")
}

// Below is the path of what stands under a name in a shape that has the path.
func Below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// body is the rules of a shape and its description. Patterns are written as they are: shapes
// keep to what Go and ECMA-262 read alike.
func (w schemaWriter) body(s *Shape, path string) schema {
	out := w.rules(s, path)
	if says := s.words(); says != "" {
		out["description"] = says
	}
	return out
}

func (w schemaWriter) rules(s *Shape, path string) schema {
	switch s.kind {
	case object:
		return w.object(s, path)
	case dictionary:
		names := schema{"pattern": s.Keys.String()}
		return schema{"type": "object", "propertyNames": names, "additionalProperties": w.write(s.Of, Below(path, "*")),
			"minProperties": s.Least}
	case list:
		out := schema{"type": "array", "items": w.write(s.Of, path+"[]"), "minItems": s.Least}
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
			out["pattern"] = s.match.String()
		}
		if s.oneOf != nil {
			out["enum"] = s.oneOf
		}
		return out
	case number:
		return schema{"type": []string{"number", "string"}, "pattern": s.match.String()}
	case whole:
		return schema{"type": "integer", "minimum": s.Least, "maximum": s.most}
	case boolean:
		return schema{"type": "boolean"}
	case choice:
		return w.choice(s.When, path)
	}
	return schema{}
}

func (w schemaWriter) object(s *Shape, path string) schema {
	properties, needs := schema{}, map[string][]string{}
	var required []string
	for _, f := range s.Fields {
		properties[f.Key] = w.key(f.Shape, Below(path, f.Key))
		if f.Required != "" {
			required = append(required, f.Key)
		}
		if f.Needs != "" {
			needs[f.Key] = []string{f.Needs}
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
		out["oneOf"] = forms(s)
	}
	return out
}

// forms are the sets of keys of which exactly one is present.
func forms(s *Shape) []schema {
	var all []schema
	for _, form := range s.forms {
		one := schema{"required": form}
		var others []schema
		for _, key := range s.governed() {
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

// choice is the chain "if this guard holds, then that shape, else the rest".
func (w schemaWriter) choice(branches []Branch, path string) schema {
	if len(branches) == 0 {
		return schema{"not": schema{}}
	}
	first := branches[0]
	return schema{"if": first.Guard.schema(), "then": w.write(first.Then, path), "else": w.choice(branches[1:], path)}
}

func (g Guard) schema() schema {
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
		return schema{"type": "string", "pattern": g.match.String()}
	}
	return schema{"type": []string{"string", "number", "boolean", "null"}}
}
