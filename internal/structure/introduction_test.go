package structure

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// This file checks that every public package has an introduction: a comment that says what the package owns and what it
// never does, and an example of its main use that runs as a test.

// public are the folders whose packages others may import, except those below an internal one.
var public = []string{"budget", "histogram", "plan", "report", "spec", "synth"}

// packageFiles are the Go files of a package and of its tests.
type packageFiles struct{ sources, tests []*ast.File }

// publicPackages parses all public packages and returns them by their paths.
func publicPackages(t *testing.T) map[string]*packageFiles {
	t.Helper()
	all := map[string]*packageFiles{}
	for _, tests := range []bool{false, true} {
		eachFile(t, public, tests, func(file string, parsed *ast.File) {
			name := path.Dir(filepath.ToSlash(file))
			if slices.Contains(strings.Split(name, "/"), "internal") || strings.Contains(name, "testdata") {
				return
			}
			if all[name] == nil {
				all[name] = &packageFiles{}
			}
			if tests {
				all[name].tests = append(all[name].tests, parsed)
			} else {
				all[name].sources = append(all[name].sources, parsed)
			}
		})
	}
	return all
}

var (
	saysOwns  = regexp.MustCompile(`\bowns\b`)
	saysNever = regexp.MustCompile(`\b[Nn]ever\b`)
)

// missingParts lists what the introduction of a package lacks.
func (p *packageFiles) missingParts() []string {
	var comment string
	for _, file := range p.sources {
		comment += file.Doc.Text()
	}
	var lacks []string
	if len(p.sources) == 0 || !strings.HasPrefix(comment, "Package "+p.sources[0].Name.Name+" ") {
		lacks = append(lacks, "no package comment")
	}
	if !saysOwns.MatchString(comment) {
		lacks = append(lacks, "its comment does not say what it owns")
	}
	if !saysNever.MatchString(comment) {
		lacks = append(lacks, "its comment does not say what it never does")
	}
	if !p.hasExample() {
		lacks = append(lacks, "no func Example with an output, from outside of the package")
	}
	return lacks
}

// hasExample reports whether the package has an example that runs as a test and shows only what others can reach.
func (p *packageFiles) hasExample() bool {
	return slices.ContainsFunc(p.tests, func(file *ast.File) bool {
		return strings.HasSuffix(file.Name.Name, "_test") && slices.ContainsFunc(doc.Examples(file), showsPackage)
	})
}

// showsPackage reports whether an example is that of its package and has a checked output.
func showsPackage(e *doc.Example) bool { return e.Name == "" && e.Output != "" }

// TestPublicPackagesIntroduceThemselves fails if the comment of a public package does not say what it owns or what it
// never does, or if no running example shows its main use.
func TestPublicPackagesIntroduceThemselves(t *testing.T) {
	atRoot(t)
	all := publicPackages(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, lack := range all[name].missingParts() {
			t.Errorf("package %s: %s", name, lack)
		}
	}
	for _, name := range public {
		if all[name] == nil {
			t.Errorf("package %s is empty", name)
		}
	}
}

// TestMissingIntroductionsAreNoticed leaves out one part of an introduction at a time.
func TestMissingIntroductionsAreNoticed(t *testing.T) {
	atRoot(t)
	const (
		comment = "// Package trees grows trees.\n//\n// It owns the saw. It never fells a neighbour's tree.\n"
		example = "func Example() {\n\tfmt.Println(1)\n\t// Output: 1\n}\n"
	)
	for _, c := range []struct{ name, comment, tests, example, want string }{
		{"nothing left out", comment, "trees_test", example, ""},
		{"comment", "", "trees_test", example,
			"no package comment; its comment does not say what it owns; its comment does not say what it never does"},
		{"comment of another package", strings.Replace(comment, "trees", "shrubs", 1), "trees_test", example,
			"no package comment"},
		{"what it owns", strings.Replace(comment, "owns", "has", 1), "trees_test", example,
			"its comment does not say what it owns"},
		{"what it never does", strings.Replace(comment, "never", "seldom", 1), "trees_test", example,
			"its comment does not say what it never does"},
		{"example", comment, "trees_test", "", "no func Example with an output, from outside of the package"},
		{"output", comment, "trees_test", strings.Replace(example, "Output", "Shows", 1),
			"no func Example with an output, from outside of the package"},
		{"what the output is", comment, "trees_test", strings.Replace(example, "Output: 1", "Output:", 1),
			"no func Example with an output, from outside of the package"},
		{"example of the package", comment, "trees_test", strings.Replace(example, "Example", "ExampleTree", 1),
			"no func Example with an output, from outside of the package"},
		{"package of the example", comment, "trees", example,
			"no func Example with an output, from outside of the package"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &packageFiles{sources: []*ast.File{parseText(t, c.comment+"package trees\n")},
				tests: []*ast.File{parseText(t, "package "+c.tests+"\n\nimport \"fmt\"\n\n"+c.example)}}
			if got := strings.Join(p.missingParts(), "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// parseText parses the text of a Go file.
func parseText(t *testing.T, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "trees.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
