package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("spec.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// jsonOf converts a YAML tree to JSON: a plain number is a number if JSON has its spelling; everything else that is not
// a boolean and not empty is text. (A schema cannot express spellings of numbers that JSON lacks, such as 0o17; the
// checker refuses them.)
func jsonOf(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = jsonOf(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = jsonOf(item)
		}
		return out
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return document.Node{Value: n}.IsTrue()
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}

// accepts reports whether the shapes find no problem with a tree. Misplaced parameters are ignored, because no schema
// sees them.
func accepts(root *yaml.Node) bool {
	f := document.NewFindings("release.yaml", "")
	shape.Check(f, grammar(), document.Node{Value: root}, nil)
	for _, p := range f.Problems() {
		if !p.Unbuilt {
			return false
		}
	}
	return true
}

// nodes returns all values of a tree, including the settings that change each in place.
func nodes(root *yaml.Node) []*yaml.Node {
	all := []*yaml.Node{root}
	for i, child := range root.Content {
		if root.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		all = append(all, nodes(child)...)
	}
	return all
}

// corpus returns documents that are well-formed YAML: the base and its changes.
func corpus(t *testing.T) map[string]string {
	texts := map[string]string{"base": base, "governed": governed, "withMicrodata": withMicrodata, "targeted": targeted,
		"derived": derived, "numbers": numbers, "kept": kept}
	for topic, cases := range errorCases {
		for _, c := range cases {
			src := c.source(t)
			f := document.NewFindings("release.yaml", src.Text)
			if root, ok := readTree(f); ok && f.Count() == 0 && root.Present() {
				texts[topic+"/"+c.name] = src.Text
			}
		}
	}
	return texts
}

// sharedCorpus returns the shared specs as they are written.
func sharedCorpus(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range sharedSpecs {
		texts[name] = sharedSource(t, name).Text
	}
	return texts
}

func parseTree(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

// TestSchemaAndCheckerAgree compares the schema with the checker on the unchanged corpus.
func TestSchemaAndCheckerAgree(t *testing.T) {
	if accepted := assertAgreement(t, corpus(t)); accepted < 50 {
		t.Errorf("only %d documents of the corpus are accepted: the test has lost its force", accepted)
	}
}

func TestSchemaAndCheckerAgreeOnTheSharedSpecs(t *testing.T) {
	texts := sharedCorpus(t)
	if accepted := assertAgreement(t, texts); accepted != len(texts) {
		t.Errorf("%d of %d are accepted", accepted, len(texts))
	}
}

// assertAgreement returns how many of the documents both accept.
func assertAgreement(t *testing.T, texts map[string]string) (accepted int) {
	t.Helper()
	schema := compileSchema(t)
	for name, text := range texts {
		tree := parseTree(t, text)
		err := schema.Validate(jsonOf(tree))
		if ok := accepts(tree); ok != (err == nil) {
			t.Errorf("%s: checker accepts: %v, schema: %v", name, ok, err)
		} else if ok {
			accepted++
		}
	}
	return accepted
}

func TestSchemaAndCheckerAgreeOnMutations(t *testing.T) {
	testkit.SkipPassed(t)
	assertAgreementOnMutations(t, map[string]string{"base": base, "governed": governed, "withMicrodata": withMicrodata,
		"targeted": targeted, "derived": derived, "numbers": numbers, "kept": kept})
}

func TestSchemaAndCheckerAgreeOnMutationsOfTheSharedSpecs(t *testing.T) {
	assertAgreementOnMutations(t, sharedCorpus(t))
}

// assertAgreementOnMutations changes every node of well-formed documents, one at a time: an unknown key in every
// mapping, another kind of value in every position, and every key and item removed.
func assertAgreementOnMutations(t *testing.T, texts map[string]string) {
	t.Helper()
	schema := compileSchema(t)
	rejected, total := 0, 0
	for name, text := range texts {
		tree := parseTree(t, text)
		compare := func(n *yaml.Node, what string) {
			total++
			err := schema.Validate(jsonOf(tree))
			ok := accepts(tree)
			if ok != (err == nil) {
				t.Errorf("%s:%d:%d: %s: checker accepts: %v, schema: %v", name, n.Line, n.Column, what, ok, err)
			}
			if !ok {
				rejected++
			}
		}
		for _, n := range nodes(tree) {
			mutate(n, compare)
		}
	}
	t.Logf("%d of %d mutations rejected", rejected, total)
	if rejected < total/3 {
		t.Errorf("only %d of %d mutations rejected: the test has lost its force", rejected, total)
	}
}

// mutate changes a node in every way in turn, calls compare, and restores the node.
func mutate(n *yaml.Node, compare func(n *yaml.Node, what string)) {
	saved := *n
	try := func(what string, changed yaml.Node) {
		changed.Line, changed.Column = saved.Line, saved.Column
		*n = changed
		compare(n, what)
		*n = saved
	}
	scalar := func(tag, value string) yaml.Node { return yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value} }
	try("a text", scalar("!!str", "Some text"))
	try("a name", scalar("!!str", "name"))
	try("a number", scalar("!!int", "7"))
	try("a negative number", scalar("!!int", "-7"))
	try("a fraction", scalar("!!float", "0.5"))
	try("a share", scalar("!!str", "1/2"))
	try("a boolean", scalar("!!bool", "true"))
	try("nothing", scalar("!!null", ""))
	try("a date", scalar("!!timestamp", "2024-01-31"))
	try("an empty list", yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"})
	try("an empty mapping", yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
	item := scalar("!!str", "name")
	try("a list of a text", yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{&item}})
	for i := range saved.Content {
		changed := saved
		switch saved.Kind {
		case yaml.SequenceNode:
			changed.Content = append(append([]*yaml.Node{}, saved.Content[:i]...), saved.Content[i+1:]...)
			try("without item "+strconv.Itoa(i), changed)
		case yaml.MappingNode:
			if i%2 == 0 {
				changed.Content = append(append([]*yaml.Node{}, saved.Content[:i]...), saved.Content[i+2:]...)
				try("without "+saved.Content[i].Value, changed)
			}
		}
	}
	if saved.Kind == yaml.MappingNode {
		for _, key := range []string{"unknwon", "Some Key", "epsilon", "discover"} {
			k, v := scalar("!!str", key), scalar("!!int", "7")
			changed := saved
			changed.Content = append(append([]*yaml.Node{}, saved.Content...), &k, &v)
			if !has(saved.Content, key) {
				try("with "+key, changed)
			}
		}
	}
}

func has(content []*yaml.Node, key string) bool {
	for i := 0; i < len(content); i += 2 {
		if content[i].Value == key {
			return true
		}
	}
	return false
}

func TestSchemaIsTheSameEveryTime(t *testing.T) {
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("two schemas differ")
	}
	var out map[string]any
	if err := json.Unmarshal(Schema(), &out); err != nil ||
		fmt.Sprint(out["$schema"]) != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("schema %v, %v", out["$schema"], err)
	}
}
