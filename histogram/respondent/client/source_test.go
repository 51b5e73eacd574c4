package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostLines bounds the lines of code, so that whoever is asked can have the client read.
const mostLines = 400

// TestClientIsSmall fails if the client imports anything but the standard library, computes with floating-point numbers
// or has too many lines of code, not counting comments, blank lines and imports.
func TestClientIsSmall(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				lines -= files.Position(d.End()).Line - files.Position(d.Pos()).Line + 1
			}
		}
		checkFile(t, name, file)
	}
	if t.Logf("%d lines of code", lines); lines == 0 || lines >= mostLines {
		t.Errorf("%d lines of code, want less than %d", lines, mostLines)
	}
}

// checkFile looks at imports and numbers.
func checkFile(t *testing.T, name string, file *ast.File) {
	for _, i := range file.Imports {
		if strings.Contains(i.Path.Value, ".") || i.Path.Value == `"math"` {
			t.Errorf("%s imports %s", name, i.Path.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.FLOAT {
				t.Errorf("%s has the number %s", name, n.Value)
			}
		case *ast.Ident:
			if n.Name == "float64" || n.Name == "float32" || n.Name == "Float64" || n.Name == "Float" {
				t.Errorf("%s has a %s", name, n.Name)
			}
		}
		return true
	})
}
