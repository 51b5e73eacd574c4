package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file checks that what other programs can call names nothing that they cannot import.

// TestPublicSignaturesNameNothingInternal fails if an exported function, method, field, variable or constant of the
// root package or of the packages spec, budget and plan has a type of an internal package.
func TestPublicSignaturesNameNothingInternal(t *testing.T) {
	atRoot(t)
	seen := 0
	for _, folder := range []string{".", "spec", "budget", "plan"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "internal" || folder == "." && path != "."):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			seen++
			for _, name := range internalNames(file) {
				t.Errorf("%s: %s.%s is of an internal package, and an exported signature names it",
					files.Position(name.Pos()), name.X, name.Sel)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("%d files were read", seen)
	}
}

// internalNames returns the names of internal packages in the exported signatures of a file.
func internalNames(file *ast.File) (all []*ast.SelectorExpr) {
	internal := map[string]bool{}
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		internal[name] = internal[name] || strings.Contains(path, "/internal/")
	}
	collect := func(of ast.Expr) {
		ast.Inspect(of, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				n.Fields.List = slices.DeleteFunc(n.Fields.List, isPrivate)
			case *ast.InterfaceType:
				n.Methods.List = slices.DeleteFunc(n.Methods.List, isPrivate)
			case *ast.SelectorExpr:
				if x, is := n.X.(*ast.Ident); is && internal[x.Name] {
					all = append(all, n)
				}
			}
			return true
		})
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(qualifiedName(d))) {
				collect(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						collect(s.Type)
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) && s.Type != nil {
						collect(s.Type)
					}
				}
			}
		}
	}
	return all
}

// isPrivate reports whether no other package can name a field or method; an embedded one is part of its type.
func isPrivate(f *ast.Field) bool {
	return len(f.Names) > 0 && !slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
}

// TestInternalSignaturesAreNoticed plants one of each kind.
func TestInternalSignaturesAreNoticed(t *testing.T) {
	atRoot(t)
	for text, want := range map[string]int{
		"func F(k sign.Key) {}":                                       1,
		"func F() (func(sign.Key), error) { return nil, nil }":        1,
		"func f(k sign.Key) {}":                                       0,
		"func F() { var k sign.Key; _ = k }":                          0,
		"type T struct { K sign.Key; k sign.Key }":                    1,
		"type T struct { sign.Key }":                                  1,
		"type T interface { M(sign.Key); m(sign.Key) }":               1,
		"type T = sign.Key":                                           1,
		"type t struct { K sign.Key }":                                0,
		"type T int\nfunc (T) M(map[string]*sign.Key) {}":             1,
		"type t int\nfunc (t) M(sign.Key) {}":                         0,
		"var V []sign.Key\nvar v sign.Key":                            1,
		"func F(k sign.Key, other func() sign.Key) (all []*sign.Key)": 3,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go",
			"package p\nimport \"example.org/m/internal/sign\"\n"+text+"\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(internalNames(file)); got != want {
			t.Errorf("%s: %d names of internal packages are found, want %d", text, got, want)
		}
	}
}
