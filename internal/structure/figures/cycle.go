package main

import (
	"go/types"
	"maps"
	"slices"
	"strings"
)

// graph holds which files of a package refer to which: graph[a][b] maps the names, declared in file b, that file a
// uses, to how often it does. A name is that of a constant, variable, type, function, method or field; one that
// belongs to a type is written with it ("Plan.Encode").
type graph map[string]map[string]map[string]int

// references returns the references between the files of a package.
func (t *tree) references(s *source) graph {
	g := graph{}
	owners := fieldOwners(s.pkg)
	for _, name := range s.names {
		g[name] = map[string]map[string]int{}
	}
	for id, object := range s.info.Uses {
		if object.Pkg() != s.pkg || !object.Pos().IsValid() {
			continue
		}
		if _, isPackage := object.(*types.PkgName); isPackage {
			continue
		}
		from, to := t.fileName(id.Pos()), t.fileName(object.Pos())
		if from == to {
			continue
		}
		if g[from][to] == nil {
			g[from][to] = map[string]int{}
		}
		g[from][to][qualifiedName(object, owners)]++
	}
	return g
}

// fieldOwners maps the fields of a package's types to the names of the types. Methods name their types themselves.
func fieldOwners(p *types.Package) map[types.Object]string {
	all := map[types.Object]string{}
	for _, name := range p.Scope().Names() {
		if named, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
			if s, ok := named.Type().Underlying().(*types.Struct); ok {
				for i := range s.NumFields() {
					if all[s.Field(i)] == "" {
						all[s.Field(i)] = name
					}
				}
			}
		}
	}
	return all
}

// qualifiedName returns the name of an object, with its type's if it is a method or a field.
func qualifiedName(object types.Object, owners map[types.Object]string) string {
	switch object := object.(type) {
	case *types.Func:
		if receiver := object.Signature().Recv(); receiver != nil {
			return typeName(receiver.Type()) + "." + object.Name()
		}
	case *types.Var:
		if owner := owners[object.Origin()]; owner != "" {
			return owner + "." + object.Name()
		}
	}
	return object.Name()
}

// typeName returns the name of a type without its package and pointers.
func typeName(t types.Type) string {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Name()
	}
	return t.String()
}

// without returns the graph without the files, and without the references from one file to another.
func (g graph) without(files []string, from, to string) graph {
	rest := graph{}
	for a, targets := range g {
		if slices.Contains(files, a) {
			continue
		}
		rest[a] = map[string]map[string]int{}
		for b, names := range targets {
			if !slices.Contains(files, b) && (a != from || b != to) {
				rest[a][b] = names
			}
		}
	}
	return rest
}

// largestCycle returns the largest set of files that all reach each other by references, sorted; of several of that
// size, the first. It is empty if no two files reach each other.
func (g graph) largestCycle() []string {
	var largest []string
	for _, component := range g.stronglyConnected() {
		if len(component) > 1 && len(component) > len(largest) {
			largest = component
		}
	}
	return largest
}

// stronglyConnected returns the strongly connected components of the graph (Tarjan 1972, Depth-first search and linear
// graph algorithms), each sorted, in the order of their first files.
func (g graph) stronglyConnected() [][]string {
	var (
		all   [][]string
		stack []string
		index = map[string]int{}
		low   = map[string]int{}
		visit func(string)
	)
	visit = func(a string) {
		index[a] = len(index) + 1
		low[a] = index[a]
		stack = append(stack, a)
		for _, b := range slices.Sorted(maps.Keys(g[a])) {
			if index[b] == 0 {
				visit(b)
				low[a] = min(low[a], low[b])
			} else if slices.Contains(stack, b) {
				low[a] = min(low[a], index[b])
			}
		}
		if low[a] == index[a] {
			first := slices.Index(stack, a)
			component := slices.Sorted(slices.Values(stack[first:]))
			all, stack = append(all, component), stack[:first]
		}
	}
	for _, a := range slices.Sorted(maps.Keys(g)) {
		if index[a] == 0 {
			visit(a)
		}
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return all
}
