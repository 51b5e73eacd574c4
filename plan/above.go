package plan

import "github.com/dprelease/dprelease/plan/selection"

// This file holds sparse tables, which have the cells above a threshold.

func statesAbove(t Table) bool { return t.Sparse != nil }

func givesAbove(t Table, s selection.Selection) bool { return selection.Threshold(s) == t.Sparse.Above }

func aboveAsAsked(t, asked Table) bool { return t.Sparse.Above == asked.Sparse.Above }
