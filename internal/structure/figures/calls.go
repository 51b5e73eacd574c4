package main

import (
	"go/ast"
	"go/types"
	"slices"
)

// task is something that each step should do once.
type task struct {
	name string
	// functions do the task: names as in graph, with the package ("spec.Parse", "plan.Plan.Bytes").
	functions []string
}

var tasks = []task{
	{"the spec is parsed", []string{"spec.Load", "spec.Parse"}},
	{"the plan is encoded", []string{"plan.Plan.Bytes"}},
	{"the plan is hashed", []string{"plan.Plan.Hash"}},
	{"estimates are planned", []string{"compiled.Workload.Estimates"}},
}

// callSites returns the places of a package that name a function that does a task. A method that is named without
// being called counts too.
func (s *source) callSites(w task) (found []ast.Node) {
	for id, object := range s.info.Uses {
		f, ok := object.(*types.Func)
		if !ok || f.Pkg() == nil {
			continue
		}
		if name := f.Pkg().Name() + "." + qualifiedName(f.Origin(), nil); slices.Contains(w.functions, name) {
			found = append(found, id)
		}
	}
	slices.SortFunc(found, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	return found
}
