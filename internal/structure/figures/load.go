package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// source is one package of the module, parsed and type-checked without its tests.
type source struct {
	// path is the import path below the module's: "plan/residual"; "." is the root.
	path  string
	pkg   *types.Package
	info  *types.Info
	files []*ast.File // in the order of their names
	names []string    // base name of each file
	texts [][]byte    // source of each file
	tests [][]byte    // source of each test file
}

// tree holds the packages that were read, with the positions of their files.
type tree struct {
	module  string
	fset    *token.FileSet
	sources []*source
}

// goPackage is what the go command prints about a package.
type goPackage struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Module                             *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }
}

// loadTree reads the packages that match a pattern of the go command, in the module at dir, as they are built on this
// system. Packages that they import are read from the compiler's export data. If a package does not compile, it
// returns what it could read together with an error.
func loadTree(dir, pattern string) (*tree, error) {
	all, err := goList(dir, "-deps", "-export", pattern)
	if err != nil {
		return nil, err
	}
	wanted, err := goList(dir, pattern)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	t := &tree{fset: token.NewFileSet()}
	imports := importer.ForCompiler(t.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s does not compile", path)
		}
		return os.Open(exports[path])
	})
	var problems []error
	for _, p := range wanted {
		if p.Error != nil {
			problems = append(problems, errors.New(p.Error.Err))
		}
		if p.Module == nil || !p.Module.Main || len(p.GoFiles) == 0 {
			continue
		}
		t.module = p.Module.Path
		s, err := t.readPackage(p, imports)
		if s == nil {
			return nil, err
		}
		problems = append(problems, err)
		t.sources = append(t.sources, s)
	}
	if len(t.sources) == 0 {
		problems = append(problems, fmt.Errorf("no package matches %s", pattern))
	}
	return t, errors.Join(problems...)
}

// goList runs go list in dir.
func goList(dir string, args ...string) ([]goPackage, error) {
	fields := "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Module,Error"
	cmd := exec.Command("go", append([]string{"list", "-e", fields}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// readPackage parses and type-checks one package. It returns nil if a file cannot be read or parsed.
func (t *tree) readPackage(p goPackage, imports types.Importer) (*source, error) {
	s := &source{path: path.Clean("./" + strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, t.module), "/"))}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(t.fset, path.Join(s.path, name), text,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files, s.names, s.texts = append(s.files, file), append(s.names, name), append(s.texts, text)
	}
	for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		s.tests = append(s.tests, text)
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	var problems []error
	config := types.Config{Importer: imports, Error: func(err error) { problems = append(problems, err) }}
	s.pkg, _ = config.Check(p.ImportPath, t.fset, s.files, s.info) // its error is the first of the problems
	return s, errors.Join(problems...)
}

// fileName returns the base name of the file at a position.
func (t *tree) fileName(pos token.Pos) string {
	return path.Base(t.fset.Position(pos).Filename)
}
