package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/spec"
)

// This file writes what a spec says of a model as a plan has it.

// NewModel returns a model that a spec asks for as the plan writes it, without what the planner decides: rounds,
// schedule, and the tables that it is made of.
func NewModel(r *spec.Release, s *spec.Model) plan.Model {
	t := r.Table(s.Table)
	out := plan.Model{Name: s.Name, Table: s.Table, Leaf: s.Leaf, Method: s.Method, Class: s.Class,
		Target: factorOf(t, s.Target)}
	if s.Link == spec.LogLink {
		out.Link = boosting.Log
	}
	for _, a := range s.By {
		out.By = append(out.By, factorOf(t, a))
	}
	out.Pairs = s.Pairs
	if s.Test != nil {
		out.Test = s.Test.RatString()
	}
	return out
}

// factorOf returns the factor of a column, at the level at which its rows are counted.
func factorOf(t *spec.Table, a spec.Attribute) plan.Factor {
	a = attributes.Counted(t, a)
	return plan.Factor{Attribute: a.Column, Level: a.Level, Basis: plan.Identity}
}
