package main

import (
	"bytes"
	"go/ast"
	"go/types"
	"unicode/utf8"
)

const (
	mostLines   = 60  // of a function
	mostColumns = 120 // of a line
)

// countStatements counts the statements in the bodies of functions. It does not count blocks, cases, labels and empty
// statements, which only hold others.
func (s *source) countStatements() int {
	n := 0
	for _, file := range s.files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node.(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.LabeledStmt, *ast.EmptyStmt:
			case ast.Stmt:
				n++
			}
			return true
		})
	}
	return n
}

// countExported counts the exported names that a package declares, and the exported methods and fields of its exported
// types.
func (s *source) countExported() (names, members int) {
	for _, name := range s.pkg.Scope().Names() {
		object := s.pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		names++
		if t, ok := object.(*types.TypeName); ok && !t.IsAlias() {
			members += exportedMembers(t.Type().(*types.Named))
		}
	}
	return names, members
}

func exportedMembers(t *types.Named) (n int) {
	for m := range t.Methods() {
		if m.Exported() {
			n++
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				n++
			}
		}
	case *types.Interface:
		for m := range u.ExplicitMethods() {
			if m.Exported() {
				n++
			}
		}
	}
	return n
}

// longFunctions returns the functions that have more than mostLines lines, from the line of func to that of the
// closing brace.
func (t *tree) longFunctions(s *source) (found []*ast.FuncDecl) {
	for _, file := range s.files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && t.lineCount(f) > mostLines {
				found = append(found, f)
			}
		}
	}
	return found
}

// lineCount returns how many lines a node has.
func (t *tree) lineCount(n ast.Node) int {
	return t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
}

// longLines returns the numbers of the lines that have more than mostColumns characters. A tab counts as one.
func longLines(text []byte) (found []int) {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if utf8.RuneCount(bytes.TrimRight(line, "\r\n")) > mostColumns {
			found = append(found, n)
		}
	}
	return found
}
