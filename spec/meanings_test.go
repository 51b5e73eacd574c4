package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/shape"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaKey is a key that the schema describes: the position of its schema, and its path in a spec.
type schemaKey struct{ pointer, path string }

// schemaWalk walks through a schema and collects keys, and nodes without a description.
type schemaWalk struct {
	keys []schemaKey
	bare []string
}

func (w *schemaWalk) node(n map[string]any, pointer, path string) {
	if n["description"] == nil && n["$ref"] == nil {
		w.bare = append(w.bare, pointer)
	}
	w.inside(n, pointer, path)
}

func (w *schemaWalk) inside(n map[string]any, pointer, path string) {
	properties, _ := n["properties"].(map[string]any)
	for key, value := range properties {
		p, at := pointer+"/properties/"+key, shape.Below(path, key)
		w.keys = append(w.keys, schemaKey{p, at})
		w.node(value.(map[string]any), p, at)
	}
	for key, at := range map[string]string{"items": path + "[]", "additionalProperties": shape.Below(path, "*"),
		"then": path} {
		if value, ok := n[key].(map[string]any); ok {
			w.node(value, pointer+"/"+key, at)
		}
	}
	if value, ok := n["else"].(map[string]any); ok { // the rest of a choice, which is described as a whole
		w.inside(value, pointer+"/else", path)
	}
}

func walkSchema(t *testing.T) *schemaWalk {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	w := &schemaWalk{}
	w.node(root, "#", "")
	for name, value := range root["$defs"].(map[string]any) {
		w.node(value.(map[string]any), "#/$defs/"+name, map[string]string{"split": "budget.split"}[name])
	}
	return w
}

func TestEverySchemaNodeIsDescribed(t *testing.T) {
	if bare := walkSchema(t).bare; len(bare) > 0 {
		t.Errorf("no description at\n%s", strings.Join(bare, "\n"))
	}
}

func TestEveryKeyHasAMeaningAndEveryMeaningAKey(t *testing.T) {
	all, seen := keyMeanings(), map[string]bool{}
	for _, k := range walkSchema(t).keys {
		seen[k.path] = true
		if _, ok := all[k.path]; !ok {
			t.Errorf("%s has no meaning: write one in package meaning", k.path)
		}
	}
	for path := range all {
		if !seen[path] {
			t.Errorf("%s has a meaning and is no key", path)
		}
	}
	if len(seen) < 100 {
		t.Errorf("the walk met %d keys alone", len(seen))
	}
}

// TestMeaningsSayWhatHoldsWithoutAKey compares the meanings with the shapes: only a key that must be there, and has no
// other key in its stead, has no text about its absence, except for keys that select a branch of a choice (a statistic
// is its key).
func TestMeaningsSayWhatHoldsWithoutAKey(t *testing.T) {
	all := keyMeanings()
	var walk func(s *shape.Shape, path string, chosen []string, depth int)
	walk = func(s *shape.Shape, path string, chosen []string, depth int) {
		if s == nil || depth > 14 || strings.Contains(path, "split.*.split") {
			return
		}
		for _, f := range s.Fields {
			at := shape.Below(path, f.Key)
			without, required := all[at].Default, f.Required != "" && f.Instead == ""
			switch {
			case required && without != "" && !strings.HasSuffix(at, "[].as"): // required only for a ratio
				t.Errorf("%s must be there, and yet something is said of a spec without it", at)
			case !required && without == "" && !slices.Contains(chosen, f.Key) && !strings.HasSuffix(at, ".ratio.over"):
				t.Errorf("%s may be left out, and nothing is said of a spec without it", at)
			}
			walk(f.Shape, at, nil, depth+1)
		}
		if s.Keys != nil {
			walk(s.Element, shape.Below(path, "*"), nil, depth+1)
		} else {
			walk(s.Element, path+"[]", nil, depth+1)
		}
		for _, b := range s.When {
			walk(b.Then, path, b.Guard.Keys, depth+1)
		}
	}
	walk(grammar(), "", nil, 0)
}

func TestExamplesOfKeysAreValid(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("spec.json", document); err != nil {
		t.Fatal(err)
	}
	for _, k := range walkSchema(t).keys {
		compiled, err := compiler.Compile("spec.json" + k.pointer)
		if err != nil {
			t.Fatal(err)
		}
		example, err := exampleAt(document, k.pointer)
		if err != nil {
			t.Errorf("%s: %v", k.path, err)
			continue
		}
		if err := compiled.Validate(example); err != nil {
			t.Errorf("%s: the example is not valid: %v", k.path, err)
		}
	}
}

// exampleAt returns the first example of the schema at a JSON pointer.
func exampleAt(document any, pointer string) (any, error) {
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "#/"), "/") {
		m, ok := document.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("nothing at %s", pointer)
		}
		document = m[part]
	}
	examples, _ := document.(map[string]any)["examples"].([]any)
	if len(examples) == 0 {
		return nil, fmt.Errorf("no example")
	}
	return examples[0], nil
}
