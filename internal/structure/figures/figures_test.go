package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted reads a module of testdata in which each figure is known.
func planted(t *testing.T) *tree {
	t.Helper()
	read, err := loadTree(filepath.Join("testdata", "planted"), "./...")
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
		if got := read.references(of(t, read, path)).largestCycle(); !slices.Equal(got, want) {
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
		if got := namesText(g[c.from][c.to]); got != c.want {
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
	if got := two.largestCycle(); !slices.Equal(got, []string{"d", "e", "f"}) {
		t.Errorf("%v", got)
	}
	if got := two.without([]string{"e"}, "", "").largestCycle(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("without a file of it: %v", got)
	}
	if got := two.without(nil, "f", "d").largestCycle(); !slices.Equal(got, []string{"a", "b"}) {
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

func TestStatements(t *testing.T) {
	read := planted(t)
	for path, want := range map[string]int{
		"line": 2,       // two returns
		"ring": 6,       // an if and five returns
		"long": 57 + 60, // 58 and 57 increments, two returns
	} {
		if got := of(t, read, path).countStatements(); got != want {
			t.Errorf("%s has %d statements, want %d", path, got, want)
		}
	}
}

func TestExportedNames(t *testing.T) {
	read := planted(t)
	for path, want := range map[string][2]int{
		"ring": {4, 0}, // A, B, Leaf, Root; thing is not exported
		"spec": {5, 7}, // StatKind, Count, Marginal, Budget, Parse; four fields and two methods, a field
		"plan": {6, 3}, // Most, Counted, Rows, Plan, Again, Kinds; three methods of Plan, none of the others
	} {
		if names, members := of(t, read, path).countExported(); names != want[0] || members != want[1] {
			t.Errorf("%s exports %d names and %d members, want %v", path, names, members, want)
		}
	}
}

func TestLongFunctionsAndLines(t *testing.T) {
	read := planted(t)
	s := of(t, read, "long")
	long := read.longFunctions(s)
	if len(long) != 1 || long[0].Name.Name != "Long" || read.lineCount(long[0]) != 61 {
		t.Errorf("%d long functions", len(long))
	}
	if got := longLines(s.texts[0]); !slices.Equal(got, []int{129}) {
		t.Errorf("long lines %v", got)
	}
	if got := read.rowOf(s); got.lines != 1 || got.testLines != 2 || got.functions != 1 {
		t.Errorf("%+v", got)
	}
}

func TestKindTests(t *testing.T) {
	read := planted(t)
	for path, want := range map[string]string{
		"plan":   "kind of measurement 2, kind of statistic 4, sparse 4", // one of them in top.go
		"spec":   "sparse 1",
		"budget": "",
	} {
		found := map[string]int{}
		for _, test := range read.kindTests(of(t, read, path)) {
			found[test.kind]++
		}
		if got := countsText(found); got != want {
			t.Errorf("%s tests for %q, want %q", path, got, want)
		}
	}
}

func TestHoles(t *testing.T) {
	read := planted(t)
	s := of(t, read, "holes")
	legal := map[string][]string{"first": {"first", "third"}, "second": {"first"}}
	var got []string
	for _, hole := range read.missingEntries(s, legal) {
		_, what, _ := strings.Cut(hole, ": ")
		got = append(got, what)
	}
	want := []string{"lacks has nothing for 2 of 3 kinds", "pairs has nothing for first with third"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRepresentations(t *testing.T) {
	read := planted(t)
	if got := of(t, read, "spec").representations(); !slices.Equal(got, []string{"Marginal", "figures"}) {
		t.Errorf("%v", got)
	}
}

func TestSites(t *testing.T) {
	read := planted(t)
	s := of(t, read, "plan")
	for i, want := range []int{2, 2, 1, 0} {
		if got := len(s.callSites(tasks[i])); got != want {
			t.Errorf("%s in %d places, want %d", tasks[i].name, got, want)
		}
	}
}

// What is printed has each figure, and the list each place.
func TestPrinted(t *testing.T) {
	read := planted(t)
	var figures, list bytes.Buffer
	if err := read.writeFigures(&figures); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"      5      3           6      4        0          0      0         0  ring",
		"Tests of kinds outside the registries: 11",
		"by package: plan 10, spec 1",
		"Representations of a marginal: 2",
		"    2  the plan is encoded (plan.Plan.Bytes): plan 2",
	} {
		if !strings.Contains(figures.String(), line+"\n") {
			t.Errorf("no line %q in:\n%s", line, &figures)
		}
	}
	read.writeList(&list, of(t, read, "long"))
	if want := `long/long.go:5:1: function of 61 lines: Long
long/long.go:129: line of more than 120 characters
`; list.String() != want {
		t.Errorf("got:\n%s", &list)
	}
}

// A package that does not compile is an error, and what can be read of it is printed all the same.
func TestWhatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module broken\n\ngo 1.26.0\n",
		"a.go":   "package broken\n\nfunc A() int { return B() }\n",
		"b.go":   "package broken\n\nfunc B() int { return A() + missing }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := loadTree(dir, ".")
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the error is %v", err)
	}
	if got := read.references(of(t, read, ".")).largestCycle(); len(got) != 2 {
		t.Errorf("%v reach each other", got)
	}
}
