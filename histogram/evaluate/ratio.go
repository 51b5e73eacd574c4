package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the terms of ratios, of the true rows.

// Term returns the rows of a cell that a term takes, by weight, and the sum of their values.
func (x *truths) Term(t plan.Term) (func(cell int) (rows, sum float64), error) {
	counts := x.got[t.Counts].Counts
	within, err := x.cellsWithin(t)
	if err != nil {
		return nil, err
	}
	scales := func(int) scale { return scale{} }
	if t.Sums != "" {
		if scales, err = x.scalesOf(x.asked[t.Sums]); err != nil {
			return nil, err
		}
	}
	sums := x.got[t.Sums].Counts
	each := len(within)
	return func(cell int) (rows, sum float64) {
		for i, is := range within {
			if at := cell*each + i; is {
				rows += float64(counts[at])
				if t.Sums != "" {
					s := scales(at)
					sum += s.factor*float64(sums[at]) + s.centre*float64(counts[at])
				}
			}
		}
		return rows, sum
	}, nil
}

// cellsWithin returns, for each cell of a term's parts within one cell of the table, whether the term includes it.
func (x *truths) cellsWithin(t plan.Term) ([]bool, error) {
	table := x.comparison.plan.Release().Table(x.table.From)
	within := []bool{true}
	for _, c := range t.Where {
		name, level, _ := strings.Cut(c.Attribute, ".")
		a := attributes.Counted(table, spec.Attribute{Column: name, Level: level})
		l, ok := table.Column(a.Column).Domain.Level(a.Level)
		if !ok {
			return nil, fmt.Errorf("the column %s has no level %q", a.Column, a.Level)
		}
		var next []bool
		for _, is := range within {
			for _, category := range l.Categories {
				next = append(next, is && (len(c.Categories) == 0 || slices.Contains(c.Categories, category.Code)))
			}
		}
		within = next
	}
	return within, nil
}
