package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted reads a module of testdata in which each figure is known.
func planted(t *testing.T) *tree {
	t.Helper()
	read, err := load(filepath.Join("testdata", "planted"), "./...")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// of is one package of the planted module.
func of(t *testing.T, read *tree, path string) *source {
	t.Helper()
	i := slices.IndexFunc(read.sources, func(s *source) bool { return s.path == path })
	if i < 0 {
		t.Fatalf("no package %s", path)
	}
	return read.sources[i]
}

func TestCycle(t *testing.T) {
	read := planted(t)
	for path, want := range map[string][]string{"ring": {"a.go", "b.go", "c.go"}, "line": nil} {
		if got := read.references(of(t, read, path)).cycle(); !slices.Equal(got, want) {
			t.Errorf("%s: %v reach each other, want %v", path, got, want)
		}
	}
}

func TestReferencesNameWhatIsUsed(t *testing.T) {
	read := planted(t)
	g := read.references(of(t, read, "ring"))
	for _, c := range []struct{ from, to, want string }{
		{"a.go", "b.go", "B"},
		{"b.go", "c.go", "thing thing.grow thing.size"},
		{"c.go", "a.go", "A"},
		{"b.go", "leaf.go", "Leaf"},
		{"root.go", "a.go", "A×2"},
		{"leaf.go", "a.go", ""},
		{"c.go", "c.go", ""},
	} {
		if got := counted(g[c.from][c.to]); got != c.want {
			t.Errorf("%s uses %q of %s, want %q", c.from, got, c.to, c.want)
		}
	}
}

// Of two cycles the larger is found, and files that only lead from one to the other are in neither.
func TestLargestCycle(t *testing.T) {
	edges := func(pairs ...string) graph {
		g := graph{}
		for _, pair := range pairs {
			a, b, _ := strings.Cut(pair, " ")
			for _, name := range []string{a, b} {
				if g[name] == nil {
					g[name] = map[string]map[string]int{}
				}
			}
			g[a][b] = map[string]int{"X": 1}
		}
		return g
	}
	two := edges("a b", "b a", "b c", "c d", "d e", "e f", "f d", "g a", "f h")
	if got := two.cycle(); !slices.Equal(got, []string{"d", "e", "f"}) {
		t.Errorf("%v", got)
	}
	if got := two.without([]string{"e"}, "", "").cycle(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("without a file of it: %v", got)
	}
	if got := two.without(nil, "f", "d").cycle(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("without a reference of it: %v", got)
	}
}

func TestWhyAndMove(t *testing.T) {
	read := planted(t)
	s := of(t, read, "ring")
	g := read.references(s)
	var why, move bytes.Buffer
	writeWhy(&why, s, g)
	for _, line := range []string{
		"ring: 3 of 5 files reach each other",
		"   0    1    1  a.go",
		"   0  b.go -> c.go: thing thing.grow thing.size",
	} {
		if !strings.Contains(why.String(), line+"\n") {
			t.Errorf("no line %q in:\n%s", line, &why)
		}
	}
	if err := writeMove(&move, s, g, []string{"c.go", "leaf.go"}); err != nil {
		t.Fatal(err)
	}
	if want := `What these files use of those that stay:
  a.go: A (in c.go)
What the files that stay use of these:
  c.go: thing×2 thing.grow thing.size×2 (in b.go root.go)
  leaf.go: Leaf×2 (in a.go b.go)
Largest cycle: 3 files today, 0 in what stays
`; move.String() != want {
		t.Errorf("got:\n%s", &move)
	}
	if err := writeMove(&move, s, g, []string{"none.go"}); err == nil {
		t.Error("a file that is not there can be moved")
	}
}
