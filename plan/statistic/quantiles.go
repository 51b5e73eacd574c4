package statistic

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the quantiles of a column: a figure for each share.

type quantiles struct{ plain }

func (quantiles) Plural(l *language.Language) string { return l.Text("quantiles") }

func (quantiles) Parts(t Table, s spec.Stat) ([]Part, error) {
	name, at := quantilesOf(t.Marginal, s.Column)
	q := counted.Quantiles{Column: s.Column, Weight: t.rows().Weight != nil}
	for _, share := range at {
		q.At = append(q.At, share.RatString())
	}
	return []Part{{Name: name, Counted: q}}, nil
}

func (quantiles) Figures(t Table, s spec.Stat) []plan.Figure {
	name, at := quantilesOf(t.Marginal, s.Column)
	var all []plan.Figure
	for _, share := range s.At {
		f := figure(s)
		f.Name, f.At, f.Part = s.QuantileName(share), share.RatString(), ID(t.Path, name, nil)
		f.Index, _ = slices.BinarySearchFunc(at, share, (*big.Rat).Cmp)
		all = append(all, f)
	}
	return all
}

// quantilesOf returns the name of the part with the quantiles of a column, and their shares. All statistics of a
// table that ask for some of these shares use it.
func quantilesOf(m *spec.Marginal, column string) (name string, at []*big.Rat) {
	for _, s := range m.Stats {
		if s.Kind != spec.Quantiles || s.Column != column {
			continue
		}
		if name == "" {
			name = s.Name + "_quantiles"
		}
		for _, share := range s.At {
			place, found := slices.BinarySearchFunc(at, share, (*big.Rat).Cmp)
			if !found {
				at = slices.Insert(at, place, share)
			}
		}
	}
	return name, at
}

func (quantiles) Clamped() bool { return true }
func (quantiles) Signed() bool  { return true }
func (quantiles) Ranked() bool  { return true }

func (quantiles) ErrorSources(plan.Figure, Measured) ErrorSources { return ErrorSources{PerRows: true} }

func (quantiles) RowsNeeded(f plan.Figure, _ *spec.Table) float64 {
	return 2 * f.Quality.Ranks / leftOpen
}

func (quantiles) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	share, ok := new(big.Rat).SetString(f.At)
	switch {
	case f.At == "1/2":
		return l.Text("median of %s", rows.Title(f.Column))
	case !ok:
		return l.Text("%s quantile of %s", f.At, rows.Title(f.Column))
	}
	return l.Text("%s quantile of %s", l.Number(budget.Decimal(share.Mul(share, big.NewRat(100, 1)))+"%"),
		rows.Title(f.Column))
}
