package structure

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exactPackages handle data between confidential counts and what is chosen and published of them. Counts, scores,
// choices and noise are integers there, and nothing is a floating-point number. (Package tabulate estimates in floats
// how rows are counted fastest.)
var exactPackages = []string{"histogram", "histogram/internal/answer", "histogram/internal/boosted",
	"histogram/internal/encoding",
	"histogram/scan", "internal/noise"}

// mayUseFloats lists the files of these packages that run before anything is counted, or from which nothing is
// released.
var mayUseFloats = []string{
	// read columns of floats, as which a file may hold its numbers, before anything is counted
	"histogram/internal/encoding/encode.go", "histogram/internal/encoding/expression.go",
	"histogram/internal/encoding/grid.go", "histogram/internal/encoding/place.go",
	"internal/noise/probability.go", // draws with the exact fraction that a float is, as a threshold says it
}

// inexactNames are the names of Go's inexact arithmetic.
var inexactNames = []string{"float32", "float64", "complex64", "complex128", "Float", "NewFloat", "Float32", "Float64",
	"SetFloat64", "Float64frombits"}

// inexactIn lists what in a source is, or makes, a floating-point number.
func inexactIn(name string, source any) (found []string, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.Ident:
			if slices.Contains(inexactNames, n.Name) {
				what = n.Name
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT && strings.Contains(n.Value, ".") || n.Kind == token.IMAG { // 1e18 is an integer as well
				what = n.Value
			}
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && of.Name == "math" && !strings.HasPrefix(n.Sel.Name, "Max") &&
				!strings.HasPrefix(n.Sel.Name, "Min") {
				what = "math." + n.Sel.Name
			}
		}
		if what != "" {
			found = append(found, fmt.Sprintf("%s: %s", files.Position(n.Pos()), what))
		}
		return true
	})
	return found, nil
}

func TestNothingOnTheWayFromCountsIsAFloat(t *testing.T) {
	atRoot(t)
	read := 0
	for _, pkg := range exactPackages {
		names, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(mayUseFloats, filepath.ToSlash(name)) {
				continue
			}
			found, err := inexactIn(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
			read++
		}
	}
	if read < 20 {
		t.Errorf("only %d files were read", read)
	}
}

// TestFloatsAreNoticed plants a selection that computes in floats, in several ways.
func TestFloatsAreNoticed(t *testing.T) {
	atRoot(t)
	path := filepath.Join("internal", "noise", "selection.go")
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := inexactIn(path, source); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	for _, planted := range []string{
		"func planted(score int64) bool { return float64(score) > 0 }",
		"func planted(x *big.Rat) { x.Float64() }",
		"func planted() any { return 0.5 }",
		"func planted() any { return new(big.Float) }",
		"func planted() any { return math.Exp(-1) }",
		"var planted = 1.5e3",
	} {
		if found, err := inexactIn(path, string(source)+"\n"+planted+"\n"); err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", planted, found, err)
		}
	}
}
