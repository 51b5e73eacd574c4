package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// missingEntries returns the kinds for which a package's arrays by kind have no entry, each with its place. An array
// whose elements are arrays by kind lists pairs: it must have the legal ones.
func (t *tree) missingEntries(s *source, legal map[string][]string) []string {
	var all []string
	for _, file := range s.files {
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, spec := range general.Specs {
				value := spec.(*ast.ValueSpec)
				for i, e := range value.Values {
					if literal, ok := e.(*ast.CompositeLit); ok && kindsOf(literal.Type) != "" {
						all = append(all, t.missingInArray(s, value.Names[i].Name, literal, legal)...)
					}
				}
			}
		}
	}
	return all
}

// kindsOf returns the name of the constant that is the length of an array type, if it counts kinds, "" otherwise.
func kindsOf(e ast.Expr) string {
	array, ok := e.(*ast.ArrayType)
	if !ok {
		return ""
	}
	switch length := array.Len.(type) {
	case *ast.SelectorExpr:
		if strings.HasSuffix(length.Sel.Name, "Kinds") {
			return length.Sel.Name
		}
	case *ast.Ident:
		if strings.HasSuffix(length.Name, "Kinds") {
			return length.Name
		}
	}
	return ""
}

// missingInArray returns the missing entries of one array.
func (t *tree) missingInArray(s *source, name string, literal *ast.CompositeLit, legal map[string][]string) []string {
	var holes []string
	hole := func(at ast.Node, what string) {
		holes = append(holes, fmt.Sprintf("%s: %s has nothing for %s", t.fset.Position(at.Pos()), name, what))
	}
	array, ok := s.info.TypeOf(literal).Underlying().(*types.Array)
	if !ok {
		return nil
	}
	entries := entriesOf(literal)
	if int64(len(entries)) != array.Len() {
		hole(literal, fmt.Sprintf("%d of %d kinds", array.Len()-int64(len(entries)), array.Len()))
	}
	if kindsOf(literal.Type.(*ast.ArrayType).Elt) == "" || name == legalName {
		return holes
	}
	for kind, entry := range entries {
		inner, ok := entry.(*ast.CompositeLit)
		if !ok {
			continue
		}
		has := entriesOf(inner)
		for _, other := range legal[kind] {
			if has[other] == nil {
				hole(inner, kind+" with "+other)
			}
		}
	}
	return holes
}

// legalName is the name of the array of legal pairs.
const legalName = "legal"

// legalPairs returns the kinds that each kind goes with, by the array of package plan.
func (t *tree) legalPairs() map[string][]string {
	pairs := map[string][]string{}
	i := slices.IndexFunc(t.sources, func(s *source) bool { return s.path == "plan" })
	if i < 0 {
		return pairs
	}
	for _, file := range t.sources[i].files {
		ast.Inspect(file, func(n ast.Node) bool {
			value, ok := n.(*ast.ValueSpec)
			if !ok || value.Names[0].Name != legalName || len(value.Values) != 1 {
				return true
			}
			literal, ok := value.Values[0].(*ast.CompositeLit)
			if !ok {
				return true
			}
			for kind, entry := range entriesOf(literal) {
				for other := range entriesOf(entry.(*ast.CompositeLit)) {
					pairs[kind] = append(pairs[kind], other)
				}
			}
			return false
		})
	}
	for _, others := range pairs {
		slices.Sort(others)
	}
	return pairs
}

// entriesOf returns the elements of a literal by the names of their keys, or by their indices if they have none. It
// leaves out nil entries.
func entriesOf(literal *ast.CompositeLit) map[string]ast.Expr {
	entries := map[string]ast.Expr{}
	for i, e := range literal.Elts {
		name := fmt.Sprint(i)
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
			switch key := pair.Key.(type) {
			case *ast.SelectorExpr:
				name = key.Sel.Name
			case *ast.Ident:
				name = key.Name
			}
		}
		if empty, ok := e.(*ast.Ident); ok && empty.Name == "nil" {
			continue
		}
		entries[name] = e
	}
	return entries
}
