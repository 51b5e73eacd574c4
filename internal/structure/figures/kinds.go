package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// kindRule describes how tests of kinds are counted.
const kindRule = `A test of a kind is a comparison with nil, zero or "", or a condition, whose operand is a field or
a method without arguments that is named for the kind (or its length); a comparison or a case with a constant
of a type that lists kinds, or with its word; or a type assertion or a case of a type switch on an interface that has one type
a kind. Files that are named for a kind may test for that kind, in every package, and a file that lists what is done
by kind, in an array with an element a kind, may assert the types of kinds. Packages plan/counted, plan/selection and
plan/statistic, and the forms of plans in plan/form.go, may test for all. These are the registries. Fields and
constants of package budget, and of other modules, are of no marginal.`

// kind is a kind of marginal, statistic or measurement.
type kind struct {
	name string
	// words are the names of the kind's fields, methods and types, in any case.
	words []string
	// types are the kind's types of packages plan/counted and plan/selection; its constants have the prefix Kind.
	types []string
	// files are the kind's own files, in every package.
	files []string
}

var kinds = []kind{
	{"weighted", []string{"Weighted", "Weight"}, nil, []string{"weight.go", "weights.go"}},
	{"rows", nil, []string{"Rows"}, []string{"rows.go"}},
	{"values", nil, []string{"Values"}, []string{"value.go", "values.go", "sum.go", "sums.go"}},
	{"all cells", nil, []string{"All"}, []string{"all.go"}},
	{"sparse", []string{"Sparse", "Above"}, []string{"Above", "AboveFacts"}, []string{"sparse.go", "above.go"}},
	{"top-k", []string{"Top", "Choices"}, []string{"Top", "TopFacts"}, []string{"top.go"}},
	{"discovery", []string{"Discovered", "Discovery", "Discover"}, []string{"Groups", "GroupsFacts"},
		[]string{"discover.go", "discovered.go", "groups.go"}},
	{"texts", nil, []string{"Texts", "TextsFacts"}, []string{"texts.go", "collect_texts.go"}},
	{"impossible", []string{"Impossible", "Impossibilities"}, nil, []string{"impossible.go"}},
	{"invariant", []string{"Invariant", "Invariants"}, nil, []string{"invariants.go", "invariant.go"}},
	{"sample", []string{"Sample", "Sampled", "Partial"}, nil, []string{"sample.go", "sampling.go"}},
	{"quantile", []string{"Quantile", "Quantiles"}, []string{"Quantiles"},
		[]string{"quantiles.go", "quantile.go", "quantilemethod.go"}},
	{"bins", []string{"Distribution"}, []string{"Bins"}, []string{"distribution.go", "bins.go", "quantilemethod.go"}},
	{"distinct", []string{"Distinct"}, []string{"Distinct"}, []string{"distinct.go"}},
	{"reports", nil, []string{"Reports"}, []string{"reports.go", "collect.go", "collection.go"}},
	{"left out", []string{"Diagnostic", "Counts"}, []string{"Diagnostic"}, []string{"diagnostic.go"}},
	{"bound of a unit", []string{"PerUnit"}, nil, []string{"perunit.go"}},
	{"kind of statistic", []string{"StatKind"}, nil, nil},
	{"kind of measurement", []string{"Counted", "Selection"}, nil, nil},
}

// registries are the packages, and the files, that may test for every kind.
var registries = []string{"plan/counted", "plan/selection", "plan/statistic", "plan/form.go"}

// hasKinds reports whether an object is declared in a package that has one type a kind.
func (k *kindFinder) hasKinds(object types.Object) bool {
	if object.Pkg() == nil {
		return false
	}
	path := object.Pkg().Path()
	return path == k.module+"/plan/counted" || path == k.module+"/plan/selection"
}

// kindTest is a place that tests for a kind.
type kindTest struct {
	kind string
	at   ast.Node
}

// kindTests returns the places of a package, outside the registries, that test for a kind.
func (t *tree) kindTests(s *source) []kindTest {
	if slices.Contains(registries, s.path) {
		return nil
	}
	var all []kindTest
	for _, file := range s.files {
		k := &kindFinder{source: s, module: t.module, lists: listsKinds(file)}
		ast.Inspect(file, k.visit)
		name := t.fileName(file.Pos())
		all = append(all, slices.DeleteFunc(k.found, func(found kindTest) bool {
			i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == found.kind })
			return slices.Contains(kinds[i].files, name) || slices.Contains(registries, s.path+"/"+name)
		})...)
	}
	return all
}

// listsKinds reports whether a file declares an array with an element for each kind.
func listsKinds(file *ast.File) bool {
	lists := false
	ast.Inspect(file, func(n ast.Node) bool {
		if array, ok := n.(*ast.ArrayType); ok {
			switch length := array.Len.(type) {
			case *ast.SelectorExpr:
				lists = lists || strings.HasSuffix(length.Sel.Name, "Kinds")
			case *ast.Ident:
				lists = lists || strings.HasSuffix(length.Name, "Kinds")
			}
		}
		return !lists
	})
	return lists
}

type kindFinder struct {
	*source
	module string
	lists  bool // the file has an array with an element for each kind
	found  []kindTest
}

func (k *kindFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		k.checkComparison(n)
	case *ast.IndexExpr:
		k.checkWord(n.Index)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			k.checkCondition(n.X)
		}
	case *ast.IfStmt:
		k.checkCondition(n.Cond)
	case *ast.ForStmt:
		k.checkCondition(n.Cond)
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				if n.Tag == nil {
					k.checkCondition(e)
				} else {
					k.checkConstants(n.Tag, e)
				}
			}
		}
	case *ast.TypeSwitchStmt:
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				k.checkAssertion(switchedOn(n), e, e)
			}
		}
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			k.checkAssertion(n.X, n.Type, n)
		}
	}
	return true
}

func (k *kindFinder) checkComparison(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		k.checkCondition(n.X)
		k.checkCondition(n.Y)
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		k.checkWord(n.X)
		k.checkWord(n.Y)
		switch {
		case k.isKind(n.X), k.isKind(n.Y):
			k.checkConstants(n.X, n.Y)
		case k.isZero(n.Y):
			k.checkOperand(n.X)
		case k.isZero(n.X):
			k.checkOperand(n.Y)
		default:
			k.checkConstants(n.X, n.Y)
		}
	}
}

// isKind reports whether an expression is a constant of a type that has a constant for each kind, the first of which
// is 0.
func (k *kindFinder) isKind(e ast.Expr) bool {
	named, ok := types.Unalias(k.info.TypeOf(e)).(*types.Named)
	return ok && k.info.Types[e].Value != nil && (k.hasKinds(named.Obj()) || named.Obj().Name() == "StatKind")
}

// checkWord looks at an expression that something is compared with, or found by: the word of a kind.
func (k *kindFinder) checkWord(e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "String" && k.isKind(f.X) {
		k.checkConstants(f.X, f.X)
	}
}

// checkCondition looks at an expression that is the condition of a branch.
func (k *kindFinder) checkCondition(e ast.Expr) {
	if e == nil {
		return
	}
	if b, ok := k.info.TypeOf(e).(*types.Basic); ok && b.Kind() == types.Bool {
		k.checkOperand(e)
	}
}

// checkOperand looks at a compared operand: a field or a method that is named for a kind, or its length.
func (k *kindFinder) checkOperand(e ast.Expr) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		if f, isIdent := call.Fun.(*ast.Ident); isIdent && f.Name == "len" && len(call.Args) == 1 {
			e = ast.Unparen(call.Args[0])
		} else if len(call.Args) == 0 {
			e = call.Fun
		}
	}
	if selector, ok := e.(*ast.SelectorExpr); ok && k.info.Selections[selector] != nil {
		k.addTest(k.info.Uses[selector.Sel], e)
	}
}

// checkConstants looks at a comparison of two expressions, one of which may be a constant of a type that lists kinds.
func (k *kindFinder) checkConstants(a, b ast.Expr) {
	for _, e := range []ast.Expr{a, b} {
		named, ok := types.Unalias(k.info.TypeOf(e)).(*types.Named)
		if !ok || k.info.Types[e].Value == nil {
			continue
		}
		object := types.Object(named.Obj())
		if k.hasKinds(object) {
			if object = k.constantNamed(e); object == nil {
				continue
			}
		}
		k.addTest(object, e)
		return
	}
}

// checkAssertion looks at an expression whose dynamic type is tested, and at the tested type.
func (k *kindFinder) checkAssertion(e, asked ast.Expr, at ast.Node) {
	if e == nil || k.lists {
		return
	}
	named, ok := types.Unalias(k.info.TypeOf(e)).(*types.Named)
	if !ok || !types.IsInterface(named) {
		return
	}
	if k.hasKinds(named.Obj()) {
		if named, ok = types.Unalias(k.info.TypeOf(asked)).(*types.Named); !ok {
			return
		}
	}
	k.addTest(named.Obj(), at)
}

// switchedOn returns the expression of a type switch.
func switchedOn(n *ast.TypeSwitchStmt) ast.Expr {
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

// constantNamed returns the constant that an expression names, nil for any other expression.
func (k *kindFinder) constantNamed(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return k.info.Uses[e.Sel]
	case *ast.Ident:
		return k.info.Uses[e]
	}
	return nil
}

// addTest records a test whose subject is named by an object.
func (k *kindFinder) addTest(object types.Object, at ast.Node) {
	if object.Pkg() == nil {
		return
	}
	below, ours := strings.CutPrefix(object.Pkg().Path(), k.module)
	name := k.kindOf(object)
	if ours && !strings.HasPrefix(below, "/budget") && name != "" {
		k.found = append(k.found, kindTest{name, at})
	}
}

// kindOf returns the kind that an object stands for, "" if there is none.
func (k *kindFinder) kindOf(object types.Object) string {
	_, isVar := object.(*types.Var)
	_, isFunc := object.(*types.Func)
	byType := k.hasKinds(object) && !isVar && !isFunc
	for _, one := range kinds {
		if byType && slices.Contains(one.types, strings.TrimPrefix(object.Name(), "Kind")) ||
			!byType && slices.ContainsFunc(one.words,
				func(word string) bool { return strings.EqualFold(word, object.Name()) }) {
			return one.name
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
