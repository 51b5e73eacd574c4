package structure

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// This file makes docs/reference.md, the reference of the spec language, from its JSON Schema and
// from nothing else.

const referenceHead = `# The spec language: every key

Made from the JSON Schema of the language (` + "`dprelease schema`" + `), which also serves editors: every key of a spec, with what it takes, what holds without it,
and an example. ` + "`NAME`" + ` stands for a name of your choice, ` + "`[]`" + ` for an entry of a list. Keys that are not here are refused. The [README](../README.md#the-spec-in-brief) has
the language in brief, [spec.md](spec.md) explains what is not obvious, and [errors.md](errors.md) says what is refused and why.

`

// TestReferenceIsMadeFromTheSchema fails if docs/reference.md differs from what the schema says: then run it with
// -update.
func TestReferenceIsMadeFromTheSchema(t *testing.T) {
	atRoot(t)
	var root node
	if err := json.Unmarshal(spec.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	w := &referenceWriter{defs: root.object("$defs")}
	w.keys(root, "")
	if len(w.written) < 100 {
		t.Fatalf("the schema has %d keys", len(w.written))
	}
	for _, e := range w.lines {
		var read map[string]any
		if err := yaml.Unmarshal([]byte(e.line), &read); err != nil {
			t.Errorf("%s: %v", e.line, err)
		}
		for _, value := range read {
			if got, want := asJSON(t, value), asJSON(t, e.value); got != want {
				t.Errorf("%s is read as %s", e.line, got)
			}
		}
	}
	got := referenceHead + w.contents() + w.page.String()
	name := filepath.Join("docs", "reference.md")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the schema says; run this test with -update (-page +schema):\n%s", name, diff)
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// node is a JSON Schema, or a part of one.
type node map[string]any

func (n node) object(key string) node {
	m, _ := n[key].(map[string]any)
	return m
}

func (n node) text(key string) string {
	s, _ := n[key].(string)
	return s
}

func (n node) texts(key string) []string {
	all, _ := n[key].([]any)
	var out []string
	for _, one := range all {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

// referenceWriter writes the page, key by key.
type referenceWriter struct {
	defs    node
	page    strings.Builder
	written []string
	lines   []example
}

// example is a line of the page with the value that it shows.
type example struct {
	line  string
	value any
}

// order is the usual order of a spec's keys; other keys follow by name.
var order = []string{
	"version", "release", "corrects", "params", "about", "fit", "privacy", "budget", "collect", "tables", "impossible",
	"marginals",
	"synthetic", "diagnostics",
	"title", "population", "period", "contact", "protects", "neighbours", "account", "protocol", "epsilon", "delta",
	"rho", "split",
	"share", "shuffled", "honest",
	"source", "unit", "collected", "weight", "expect", "where", "join", "sample", "columns", "from", "type", "values",
	"codebook",
	"range", "grid", "derived_from",
	"step", "levels", "unknown", "null", "by", "every", "stats", "table",
}

func (w *referenceWriter) keys(n node, at string) {
	if ref := n.text("$ref"); ref != "" {
		n = w.defs.object(path.Base(ref))
	}
	properties := n.object("properties")
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		place := func(s string) int {
			if i := slices.Index(order, s); i >= 0 {
				return i
			}
			return len(order)
		}
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		key := strings.TrimPrefix(at+"."+name, ".")
		if slices.Contains(w.written, key) {
			continue // of several alternatives, or of a tree that holds itself
		}
		w.written = append(w.written, key)
		property := properties.object(name)
		w.key(key, property, slices.Contains(n.texts("required"), name), n["dependentRequired"])
		if strings.Count(key, ".split") < 2 {
			w.keys(property, key)
		}
	}
	if items := n.object("items"); items != nil {
		w.keys(items, at+"[]")
	}
	if values := n.object("additionalProperties"); values != nil {
		w.keys(values, at+".NAME")
	}
	for _, part := range []string{"then", "else"} {
		if alternative := n.object(part); alternative != nil {
			w.keys(alternative, at)
		}
	}
}

var (
	without = regexp.MustCompile(`^(.*?)(?: Without it: (.*)\.)?(?: \(([^() ]+\.md[^() ]*)\))?$`)
	unbuilt = regexp.MustCompile(`^(.*?) ?\([^()]*: not supported by this version\)$`)
)

// key writes one key.
func (w *referenceWriter) key(key string, n node, required bool, needs any) {
	level := "###"
	if !strings.Contains(key, ".") {
		level = "##"
	}
	parts := without.FindStringSubmatch(n.text("description"))
	takes := n.text("title")
	built := unbuilt.FindStringSubmatch(takes)
	if built != nil {
		takes = built[1]
	}
	fmt.Fprintf(&w.page, "%s `%s`\n\n%s\n\n", level, key, parts[1])
	if built != nil {
		w.page.WriteString("*Not built in this version: refused by name.*\n\n")
	}
	fmt.Fprintf(&w.page, "- **Type:** %s\n", strings.Join(w.types(n), ", or "))
	if takes != "" {
		fmt.Fprintf(&w.page, "- **Takes:** %s\n", escapeMarkdown(takes))
	}
	if limits := w.limits(n); limits != "" {
		fmt.Fprintf(&w.page, "- **Allowed:** %s\n", limits)
	}
	if later := unbuiltValues(n); later != nil && built == nil {
		fmt.Fprintf(&w.page, "- **Not built in this version:** `%s`, which is refused by name\n",
			strings.Join(later, "`, `"))
	}
	switch {
	case required:
		w.page.WriteString("- **Default:** none, the key must be there\n")
	case parts[2] != "":
		fmt.Fprintf(&w.page, "- **Default:** without it, %s\n", escapeMarkdown(parts[2]))
	}
	if m, ok := needs.(map[string]any); ok {
		if others := node(m).texts(path.Ext("." + key)[1:]); others != nil {
			fmt.Fprintf(&w.page, "- **Only beside:** `%s`\n", strings.Join(others, "`, `"))
		}
	}
	name := key[strings.LastIndex(key, ".")+1:]
	if examples, _ := n["examples"].([]any); len(examples) > 0 {
		w.lines = append(w.lines, example{name + ": " + flowYAML(examples[0]), examples[0]})
		fmt.Fprintf(&w.page, "- **Example:** `%s: %s`\n", name, flowYAML(examples[0]))
	}
	if page := parts[3]; page != "" {
		link := "../" + page
		if strings.HasPrefix(page, "docs/") {
			link = strings.TrimPrefix(page, "docs/")
		}
		fmt.Fprintf(&w.page, "- **More:** [%s](%s)\n", strings.TrimPrefix(page, "docs/"), link)
	}
	w.page.WriteString("\n")
}

// types returns the kinds of values that a schema accepts, in words.
func (w *referenceWriter) types(n node) []string {
	if ref := n.text("$ref"); ref != "" {
		n = w.defs.object(path.Base(ref))
	}
	var out []string
	add := func(words ...string) {
		for _, s := range words {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	kinds := n.texts("type")
	if s := n.text("type"); s != "" {
		kinds = []string{s}
	}
	switch {
	case slices.Equal(kinds, []string{"number", "string"}) && strings.Contains(n.text("pattern"), "second|minute"):
		add("exact number or duration")
	case slices.Equal(kinds, []string{"number", "string"}):
		add("exact number (decimal, fraction or percent)")
	case slices.Equal(kinds, []string{"string", "number", "boolean"}):
		add("text")
	default:
		words := map[string]string{"string": "text", "integer": "whole number", "boolean": "true or false",
			"object": "mapping", "array": "list"}
		for _, k := range kinds {
			add(words[k])
		}
	}
	for _, part := range []string{"then", "else"} {
		if alternative := n.object(part); alternative != nil {
			add(w.types(alternative)...)
		}
	}
	if out == nil && n.object("not") == nil && n["if"] == nil {
		add("anything")
	}
	return out
}

// limits returns the values that a schema allows beyond its type: its choices and its bounds.
func (w *referenceWriter) limits(n node) string {
	var out []string
	if unbuilt.MatchString(n.text("title")) {
		return ""
	}
	if all := n.texts("enum"); all != nil {
		out = append(out, "`"+strings.Join(all, "`, `")+"`")
	}
	if least, ok := n["minimum"].(float64); ok {
		most, _ := n["maximum"].(float64)
		if least == most {
			out = append(out, fmt.Sprintf("%.0f", least))
		} else {
			out = append(out, fmt.Sprintf("%.0f to %.0f", least, most))
		}
	}
	for _, part := range []string{"then", "else"} {
		if alternative := n.object(part); alternative != nil {
			if s := w.limits(alternative); s != "" {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, ", ")
}

// unbuiltValues returns the choices of a schema that this version does not build.
func unbuiltValues(n node) []string {
	var out []string
	if unbuilt.MatchString(n.text("title")) {
		out = n.texts("enum")
	}
	for _, part := range []string{"then", "else"} {
		if alternative := n.object(part); alternative != nil {
			out = append(out, unbuiltValues(alternative)...)
		}
	}
	return out
}

// contents lists the keys at the top.
func (w *referenceWriter) contents() string {
	var out []string
	for _, key := range w.written {
		if !strings.Contains(key, ".") {
			out = append(out, fmt.Sprintf("[`%s`](#%s)", key, key))
		}
	}
	return strings.Join(out, " · ") + "\n\n"
}

// escapeMarkdown escapes the markup characters of Markdown.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("*", "\\*", "<", "&lt;", "[", "\\[", "]", "\\]", "_", "\\_").Replace(s)
}

// flowYAML writes a JSON value as YAML on one line.
func flowYAML(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var keys, out []string
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			out = append(out, k+": "+flowYAML(v[k]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case []any:
		var out []string
		for _, one := range v {
			out = append(out, flowYAML(one))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case string:
		if plainText.MatchString(v) {
			return v
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		return strings.Replace(fmt.Sprintf("%v", v), "e-0", "e-", 1)
	}
	return fmt.Sprint(value)
}

// plainText is text that YAML reads as itself without quotes, also within brackets.
var plainText = regexp.MustCompile(`^[\p{L}0-9][^,:#\[\]{}"*&!|>'%@]*%?$`)
