package workload

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures that a table publishes beside its count, before anything is said of their quality.

// figures are those that a table publishes, without their quality.
func figures(r *spec.Release, t *Table) []plan.Figure {
	var all []plan.Figure
	for _, s := range t.Marginal.Stats {
		f := plan.Figure{Name: s.Name, Kind: s.Kind, Column: s.Column}
		id := func(name string) string { return partPath(t.Path, name, nil) }
		switch s.Kind {
		case spec.Count:
			continue
		case spec.Units:
			if t.statistic() == spec.Units.String() {
				continue
			}
			f.Part = id(spec.Units.String())
		case spec.Distinct:
			f.Part = id(s.Name)
		case spec.Sum, spec.Mean:
			f.Sums = id(sumsName(s.Column, 1))
		case spec.Variance, spec.Deviation:
			f.Sums, f.Squares = id(sumsName(s.Column, 1)), id(sumsName(s.Column, 2))
		case spec.Ratio:
			by := whereColumns(s)
			of, over := termOf(r, t, s.Of, by), termOf(r, t, s.Over, by)
			f.Of, f.Over = &of, &over
		case spec.Quantiles:
			name, at := quantilesOf(t.Marginal, s.Column)
			f.Part = id(name)
			for _, share := range s.At {
				one := f
				place, _ := slices.BinarySearchFunc(at, share, (*big.Rat).Cmp)
				one.Name, one.At, one.Place = s.QuantileName(share), share.RatString(), place
				all = append(all, one)
			}
			continue
		}
		all = append(all, f)
	}
	return all
}

// termOf is a term of a ratio whose parts have these attributes beside those of the table.
func termOf(r *spec.Release, t *Table, term spec.Term, by []spec.Attribute) plan.Term {
	out := plan.Term{Kind: term.Kind, Column: term.Column}
	if len(by) > 0 {
		out.Counts = partPath(t.Path, "count", by)
	}
	if term.Kind != spec.Count {
		name, _ := termSumsName(r, t, term.Column, by)
		out.Sums = partPath(t.Path, name, by)
	}
	for _, a := range by {
		c := plan.Condition{Attribute: a.String()}
		if i := slices.IndexFunc(term.Where, func(w spec.Condition) bool { return w.Attribute == a }); i >= 0 {
			level, _ := r.Table(t.Marginal.Table).Column(a.Column).Domain.Level(a.Level)
			for _, code := range term.Where[i].Codes {
				c.Categories = append(c.Categories, level.Categories[code].Code)
			}
		}
		out.Where = append(out.Where, c)
	}
	return out
}

// GoodRows is for how many rows in a cell the quality of figures is said that depends on it.
const GoodRows = 1000

func Square(x float64) float64 { return float64(x * x) }
