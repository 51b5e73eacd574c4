package statistic

import (
	"fmt"
	"math"
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

// Truth returns the interval of the quantiles of the true rows: from the least value up to which there are as many rows
// as the share says, to the least up to which there are more.
func (quantiles) Truth(f plan.Figure, x Exact) (func(cell int) Truth, error) {
	share, ok := new(big.Rat).SetString(f.At)
	if !ok {
		return nil, fmt.Errorf("the share %q of a quantile is no fraction", f.At)
	}
	valuesOf, err := x.Values(f.Part)
	return func(cell int) Truth {
		values, rows := valuesOf(cell)
		var all, below int64
		for _, n := range rows {
			all += n
		}
		rank := new(big.Int).Mul(share.Num(), big.NewInt(all)) // in parts of 1/denominator
		out := exactly(math.NaN())
		for i, value := range values {
			below += rows[i]
			order := new(big.Int).Mul(share.Denom(), big.NewInt(below)).Cmp(rank)
			if order >= 0 && math.IsNaN(out.Low) {
				out.Low = value
			}
			if order > 0 {
				out.High = value
				break
			}
		}
		return out
	}, err
}
