package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// This file runs the YAML that the pages show: a spec is rehearsed from end to end, after a fragment of one is filled
// up with what it leaves open (testdata/pages/whole.yaml), and an account is opened by a policy.

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

func TestYAMLOfPages(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	blocks := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range yamlBlock.FindAllStringSubmatchIndex(string(text), -1) {
			blocks++
			body := string(text[at[2]:at[3]])
			name, _ := filepath.Rel(root, page)
			t.Run(fmt.Sprintf("%s:%d", filepath.ToSlash(name), 1+strings.Count(string(text[:at[0]]), "\n")),
				func(t *testing.T) {
					t.Parallel()
					runYAML(t, body)
				})
		}
	}
	if blocks < 30 {
		t.Errorf("the pages have %d blocks of YAML", blocks)
	}
}

// runYAML runs one block in a folder of its own.
func runYAML(t *testing.T, body string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "pages"))); err != nil {
		t.Fatal(err)
	}
	block := yamlOf(t, body)
	command := "dprelease rehearse block.yaml --rows 50"
	if entryOf(block, "cap") != nil {
		command = openingAccount
		body = strings.ReplaceAll(body, "/mnt/safe", t.TempDir())
	} else {
		filled, err := yaml.Marshal(filledUp(t, block))
		if err != nil {
			t.Fatal(err)
		}
		body = string(filled)
	}
	if err := os.WriteFile(filepath.Join(dir, "block.yaml"), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runShell(dir, command); err != nil {
		t.Errorf("%v\n%s\n%s", err, body, out)
	}
}

// openingAccount opens the account of a policy, after the one that it may be part of.
const openingAccount = `
for key in office anna bo carl; do dprelease ledger key $key; done
printf 'account: lfs-register\nprotects: person\nneighbours: add-remove\ncap: {rho: 1, delta: 1e-6}\n' > register.yaml
for policy in register block; do dprelease ledger init $policy.yaml --ledger office.db --office-key office; done
`

func yamlOf(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return document.Content[0]
}

// entryOf is the value of a mapping under a path of keys, nil where there is none.
func entryOf(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		i := -1
		if n != nil && n.Kind == yaml.MappingNode {
			i = slices.IndexFunc(n.Content, func(c *yaml.Node) bool { return c.Value == key })
		}
		if i < 0 || i%2 == 1 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// addEntry adds an entry to a mapping that has none under the key, and returns the one that it then has.
func addEntry(n *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	if there := entryOf(n, key); there != nil {
		return there
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// names are the keys of a mapping.
func names(n *yaml.Node) []string {
	var all []string
	for i := 0; n != nil && i < len(n.Content); i += 2 {
		all = append(all, n.Content[i].Value)
	}
	return all
}

// filledUp is a fragment of a spec with what it leaves open: tables and their columns, a marginal of each table, and
// for each leaf of the budget something that is measured with it. Microdata with a budget that has no leaves stay
// alone.
func filledUp(t *testing.T, spec *yaml.Node) *yaml.Node {
	t.Helper()
	if entryOf(spec, "version") != nil {
		return spec
	}
	text, err := os.ReadFile(filepath.Join("testdata", "pages", "whole.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	whole := yamlOf(t, string(text))
	own := &yaml.Node{Kind: yaml.MappingNode}
	if i := slices.Index(names(spec), "columns"); i >= 0 {
		own = spec.Content[2*i+1]
		spec.Content = slices.Delete(spec.Content, 2*i, 2*i+2)
	}
	alone := entryOf(spec, "marginals") == nil && entryOf(spec, "budget") != nil && entryOf(spec, "synthetic") != nil
	for _, key := range []string{"version", "release", "privacy", "budget", "tables"} {
		addEntry(spec, key, entryOf(whole, key))
	}
	tables := entryOf(spec, "tables")
	marginals := yamlOf(t, "{}")
	if !alone {
		marginals = addEntry(spec, "marginals", marginals)
	}
	asked := len(marginals.Content) > 0
	for i, name := range names(tables) {
		table := tables.Content[2*i+1]
		for _, key := range []string{"source", "unit"} {
			addEntry(table, key, entryOf(whole, "tables", "persons", key))
		}
		columns := addEntry(table, "columns", own)
		first := append(names(columns), "sex")[0]
		for _, column := range names(entryOf(whole, "columns")) {
			addEntry(columns, column, entryOf(whole, "columns", column))
		}
		if !asked && !alone {
			addEntry(marginals, "of_"+name, yamlOf(t, fmt.Sprintf("{table: %s, by: [%s]}", name, first)))
		}
	}
	if !alone {
		fillLeaves(t, spec, marginals, asked)
	}
	return spec
}

// fillLeaves gives a spec the leaves that its marginals and microdata name, and the leaves of its budget marginals.
func fillLeaves(t *testing.T, spec, marginals *yaml.Node, asked bool) {
	t.Helper()
	targets, used := map[string]string{}, []string{}
	for _, section := range []*yaml.Node{marginals, entryOf(spec, "synthetic"), entryOf(spec, "models")} {
		for i := range names(section) {
			if leaf := entryOf(section.Content[2*i+1], "budget"); leaf != nil {
				used = append(used, leaf.Value)
				if entryOf(section.Content[2*i+1], "target") != nil {
					targets[leaf.Value] = ", target: {margin: 500}"
				}
			}
		}
	}
	split := entryOf(spec, "budget", "split")
	if split == nil && len(used) == 0 {
		return
	}
	if split == nil {
		split = addEntry(entryOf(spec, "budget"), "split", yamlOf(t, "{}"))
		for _, leaf := range append(used, "others") {
			share := "1"
			if targets[leaf] != "" {
				share = "needed"
			} else if len(used) > len(targets) {
				share = "1/2"
			}
			addEntry(split, leaf, yamlOf(t, share))
		}
	}
	var give func(split *yaml.Node)
	give = func(split *yaml.Node) {
		for i, leaf := range names(split) {
			value := split.Content[2*i+1]
			if inner := entryOf(value, "split"); inner != nil {
				give(inner)
				continue
			}
			if value.Value == "needed" {
				targets[leaf] = ", target: {margin: 500}"
			}
			if slices.Contains(used, leaf) {
				continue
			}
			if !asked {
				marginals.Content, asked = nil, true
			}
			addEntry(marginals, "in_"+leaf,
				yamlOf(t, fmt.Sprintf("{table: %s, by: [sex], budget: %s%s}", names(entryOf(spec, "tables"))[0], leaf,
					targets[leaf])))
		}
	}
	give(split)
}
