package release

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// What was counted once stays in the record, whatever is counted for the same plan later; another account is not
// concerned, and the record holds no digest that somebody without its key could ask for.
func TestCountedFilesStayConfidential(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(t.TempDir(), "r.yaml")
	text := "version: 1\nrelease: first\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {epsilon: 1}\n" +
		"tables: {persons: {source: {csv: a.csv}, unit: row, columns: {x: {values: [a, b]}}}}\n" +
		"marginals: {m: {by: [x]}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(t.Context(), planfile.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		in := []readInput{{Table: "persons", Path: path, Digests: []files.Digest{files.DigestText(text)}}}
		if err := noteSources(t.Context(), root, []string{"ledger people"}, p, in); err != nil {
			t.Fatal(err)
		}
	}
	c, err := readSources(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		text, account string
		refused       bool
	}{
		{"one", "ledger people", true}, {"two", "ledger people", true}, {"three", "ledger people", false},
		{"one", "ledger firms", false},
	} {
		later := plan.NewEmpty(&spec.Release{Source: spec.Source{Files: map[string]string{"p.csv": want.text}}})
		if err := c.refuseCounted(compiled.Of(later), []string{want.account}); (err != nil) != want.refused {
			t.Errorf("%s on %s: %v", want.text, want.account, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, sourcesFile))
	if err != nil {
		t.Fatal(err)
	}
	if d := files.DigestText("one").SHA256; len(b) == 0 || strings.Contains(string(b), d) {
		t.Errorf("the record holds the digest %s", d)
	}
	if info, err := os.Stat(filepath.Join(root, sourcesFile)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the record: %v, %v", info.Mode(), err)
	}

	// By the record the directory is known as one that holds no public file.
	const listed = "version: 1\nrelease: r\nprivacy: {protects: row, neighbours: add-remove}\nbudget: {epsilon: 1}\n" +
		"tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: {codebook: list.csv}}}}\n" +
		"marginals: {m: {by: [a]}}\n"
	if err := errors.Join(os.WriteFile(filepath.Join(root, "r.yaml"), []byte(listed), 0o600),
		os.WriteFile(filepath.Join(root, "list.csv"), []byte("code\n1\n2\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Load(t.Context(), filepath.Join(root, "r.yaml"), spec.Options{}); err == nil ||
		!strings.Contains(err.Error(), "lies in a state directory") {
		t.Errorf("a code book in the state directory: %v", err)
	}
	if err := os.Remove(filepath.Join(root, sourcesFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Load(t.Context(), filepath.Join(root, "r.yaml"), spec.Options{}); err != nil {
		t.Errorf("without the record: %v", err)
	}
}
