package compiled

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the average cell, from the rows that a spec expects, and the verdict on cells of that size.

// BandOf judges a figure against an average cell of this size.
func BandOf(s plan.Statistic, cell float64) usefulness.Band {
	switch {
	case s.Margin <= cell/10:
		return usefulness.Good
	case s.Median > cell:
		return usefulness.MostlyNoise
	case s.StandardError > cell/2:
		return usefulness.Weak
	}
	return usefulness.Usable
}

// TableKey returns a key for what a table shows: its confidential table and its attributes.
func TableKey(from string, by []string) string {
	return fmt.Sprint(from, slices.Sorted(slices.Values(by)))
}

// CellsForAverage returns the number that the rows are divided by for an average cell, if they were spread evenly over
// the possible cells: the number of those cells and, for n categories of a cumulative attribute, a factor of 2/(n+1),
// as the i-th of them has i/n of the rows.
func CellsForAverage(p *plan.Plan, t plan.Table) float64 {
	cells := float64(Possible(t))
	cumulative, _ := p.SummedAlong(t)
	for _, name := range t.By {
		if slices.Contains(cumulative, name) {
			cells *= 2 / (SizeOf(p, t.From, plan.AttributeOf(name)) + 1)
		}
	}
	return cells
}

// Possible returns how many cells of a table can have rows.
func Possible(t plan.Table) int64 { return t.Cells - t.Impossible }

// SizeOf returns the number of categories of an attribute.
func SizeOf(p *plan.Plan, table string, a spec.Attribute) float64 {
	level, ok := p.Release().Table(table).Column(a.Column).Domain.Level(a.Level)
	if !ok {
		return 1 // refused before
	}
	return float64(level.Size())
}

const (
	// LittleShare is the largest part of the cells that may be zero in a table whose cells are used one by one.
	LittleShare = 0.1
	// littleTail is the distance, in standard errors, of the mean of a normal law from its tenth percentile.
	littleTail = 1.2816
)

// VerdictOn judges a table by the size of its average cell, and by the part of its cells that could be zero or are in
// the last class of `fit`: cells are not to be used if the noise is too large for the average cell, and are to be
// added up if more than [LittleShare] of them are bad.
func VerdictOn(p *plan.Plan, t plan.Table, cell, bad float64) usefulness.Verdict {
	s := t.Statistics[0]
	band, unfit := BandOf(s, cell), UnfitAbove(p)
	switch {
	case band == usefulness.Weak || band == usefulness.MostlyNoise || unfit > 0 && s.StandardError > unfit*cell:
		return usefulness.DoNotUse
	case bad <= LittleShare:
		return usefulness.UseCells
	case Summable(p, t):
		return usefulness.AddUpFirst
	}
	return usefulness.LargeCellsOnly
}

// EvenVerdict returns the verdict on a table whose cells are all as large as the average one.
func EvenVerdict(p *plan.Plan, t plan.Table, cell float64) usefulness.Verdict {
	s, bad := t.Statistics[0], 0.0
	least := s.Margin
	if unfit := UnfitAbove(p); unfit > 0 {
		least = max(least, s.StandardError/unfit)
	}
	if cell < least+float64(littleTail*s.StandardError) {
		bad = 1
	}
	return VerdictOn(p, t, cell, bad)
}

// UnfitAbove returns the relative standard error above which a figure is in the last class of `fit`, 0 if the spec has
// no classes.
func UnfitAbove(p *plan.Plan) float64 {
	most := 0.0
	for _, c := range p.Release().Fit {
		if c.AtMost != nil {
			bound, _ := c.AtMost.Float64()
			most = max(most, bound)
		}
	}
	return most
}

// Summable reports whether the cells of a table can be added up.
func Summable(p *plan.Plan, t plan.Table) bool {
	cumulative, _ := p.SummedAlong(t)
	return !t.CountsUnits() && cumulative == nil
}
