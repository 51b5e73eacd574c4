package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// kindRule says how tests of kinds are counted.
const kindRule = `A test of a kind is a comparison with nil, zero or "", or a condition, whose operand is a field or
a method without arguments that is named for the kind (or its length); a comparison or a case with a constant
of a type that lists kinds; or a type assertion or a case of a type switch on an interface that has one type
a kind. Files that are named for a kind may test for that kind: for a sample, invariants and impossible cells,
which can be absent, in every package, for other kinds in package plan and below. Package plan/statistic may
test for all. These are the registries. Fields and constants of package budget, and of other
modules, are of no marginal.`

// kind is a kind of marginal, statistic or measurement.
type kind struct {
	name string
	// words name fields, methods and types that are of the kind, in any case.
	words []string
	// files are those of package plan, and of packages below it, that are the kind's own.
	files []string
	// anywhere says that files of the same names are the kind's own in every package.
	anywhere bool
}

var kinds = []kind{
	{"weighted", []string{"Weighted", "Weight", "Value"}, []string{"value.go", "weight.go", "values.go"}, false},
	{"sparse", []string{"Sparse", "Above"}, []string{"sparse.go", "above.go"}, false},
	{"top-k", []string{"Top", "Choices"}, []string{"top.go"}, false},
	{"discovery", []string{"Discovered", "Discovery", "Discover"}, []string{"discover.go", "discovered.go"}, false},
	{"impossible", []string{"Impossible", "Impossibilities"}, []string{"impossible.go"}, true},
	{"invariant", []string{"Invariant", "Invariants"}, []string{"invariants.go", "invariant.go"}, true},
	{"sample", []string{"Sample", "Sampled", "Partial"}, []string{"sample.go", "sampling.go"}, true},
	{"quantile", []string{"Quantile", "Quantiles"}, []string{"quantiles.go", "quantile.go", "quantileway.go"}, false},
	{"distribution", []string{"Distribution"}, []string{"distribution.go", "bins.go"}, false},
	{"distinct", []string{"Distinct"}, []string{"distinct.go"}, false},
	{"left out", []string{"Diagnostic", "Counts"}, []string{"diagnostic.go"}, false},
	{"bound of a unit", []string{"PerUnit"}, nil, false},
	{"kind of statistic", []string{"StatKind"}, nil, false},
	{"kind of measurement", []string{"Counted", "Selection"}, []string{"measurement.go", "counted.go", "selection.go"}, false},
}

// registry is the package that may test for every kind.
const registry = "plan/statistic"

// kindTest is a place that tests for a kind.
type kindTest struct {
	kind string
	at   ast.Node
}

// kindTests are the places of a package, outside the registries, that test for a kind.
func (t *tree) kindTests(s *source) []kindTest {
	if s.path == registry {
		return nil
	}
	k := &kindFinder{source: s, module: t.module}
	for _, file := range s.files {
		ast.Inspect(file, k.visit)
	}
	return slices.DeleteFunc(k.found, func(found kindTest) bool {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == found.kind })
		return (kinds[i].anywhere || s.path == "plan" || strings.HasPrefix(s.path, "plan/")) &&
			slices.Contains(kinds[i].files, t.base(found.at.Pos()))
	})
}

type kindFinder struct {
	*source
	module string
	found  []kindTest
}

func (k *kindFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		k.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			k.condition(n.X)
		}
	case *ast.IfStmt:
		k.condition(n.Cond)
	case *ast.ForStmt:
		k.condition(n.Cond)
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				if n.Tag == nil {
					k.condition(e)
				} else {
					k.constant(n.Tag, e)
				}
			}
		}
	case *ast.TypeSwitchStmt:
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				k.asserted(switched(n), e)
			}
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			k.asserted(n.X, n)
		}
	}
	return true
}

func (k *kindFinder) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		k.condition(n.X)
		k.condition(n.Y)
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		switch {
		case k.isZero(n.Y):
			k.operand(n.X)
		case k.isZero(n.X):
			k.operand(n.Y)
		default:
			k.constant(n.X, n.Y)
		}
	}
}

// condition looks at an expression that decides a branch as it stands.
func (k *kindFinder) condition(e ast.Expr) {
	if e == nil {
		return
	}
	if b, ok := k.info.TypeOf(e).(*types.Basic); ok && b.Kind() == types.Bool {
		k.operand(e)
	}
}

// operand looks at what is compared: a field or a method that is named for a kind, or its length.
func (k *kindFinder) operand(e ast.Expr) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if f, isIdent := call.Fun.(*ast.Ident); isIdent && f.Name == "len" && len(call.Args) == 1 {
			e = ast.Unparen(call.Args[0])
		} else if len(call.Args) == 0 {
			e = call.Fun
		}
	}
	if selector, ok := e.(*ast.SelectorExpr); ok && k.info.Selections[selector] != nil {
		k.add(k.info.Uses[selector.Sel], e)
	}
}

// constant looks at a comparison of two expressions, of which one may be a constant of a type that lists kinds.
func (k *kindFinder) constant(a, b ast.Expr) {
	for _, e := range []ast.Expr{a, b} {
		if named, ok := types.Unalias(k.info.TypeOf(e)).(*types.Named); ok && k.info.Types[e].Value != nil {
			k.add(named.Obj(), e)
			return
		}
	}
}

// asserted looks at an expression whose dynamic type is asked for.
func (k *kindFinder) asserted(e ast.Expr, at ast.Node) {
	if e == nil {
		return
	}
	if named, ok := types.Unalias(k.info.TypeOf(e)).(*types.Named); ok && types.IsInterface(named) {
		k.add(named.Obj(), at)
	}
}

// switched is the expression that a type switch is on.
func switched(n *ast.TypeSwitchStmt) ast.Expr {
	var e ast.Expr
	switch assign := n.Assign.(type) {
	case *ast.ExprStmt:
		e = assign.X
	case *ast.AssignStmt:
		e = assign.Rhs[0]
	}
	if assertion, ok := e.(*ast.TypeAssertExpr); ok {
		return assertion.X
	}
	return nil
}

// add notes a test whose subject is named by an object.
func (k *kindFinder) add(object types.Object, at ast.Node) {
	if object.Pkg() == nil {
		return
	}
	below, ours := strings.CutPrefix(object.Pkg().Path(), k.module)
	name := kindNamed(object.Name())
	if ours && !strings.HasPrefix(below, "/budget") && name != "" {
		k.found = append(k.found, kindTest{name, at})
	}
}

// kindNamed is the kind that a name stands for, "" where it stands for none.
func kindNamed(name string) string {
	for _, k := range kinds {
		if slices.ContainsFunc(k.words, func(word string) bool { return strings.EqualFold(word, name) }) {
			return k.name
		}
	}
	return ""
}

// isZero reports whether an expression is nil or a constant that is zero or empty.
func (k *kindFinder) isZero(e ast.Expr) bool {
	t := k.info.Types[e]
	switch {
	case t.IsNil():
		return true
	case t.Value == nil:
		return false
	}
	switch t.Value.Kind() {
	case constant.String:
		return constant.StringVal(t.Value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(t.Value) == 0
	}
	return false
}
