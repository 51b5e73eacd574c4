package maker

// This file sorts the cells of a table into the classes of precision that the spec defines, from the published arrays
// alone.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/synth"
)

// classCounter sorts cells into classes.
type classCounter struct {
	classes []report.FitClass
	bounds  []float64
	signed  bool // figures below zero are valid; otherwise noise alone makes a figure negative
}

// newClassCounter returns the empty classes of a release, nil if its spec has none.
func newClassCounter(p *plan.Plan, signed bool) *classCounter {
	fit := p.Release().Fit
	if fit == nil {
		return nil
	}
	f := &classCounter{classes: make([]report.FitClass, len(fit)), signed: signed}
	for i, c := range fit {
		f.classes[i].Name = c.Name
		if c.AtMost != nil {
			bound, _ := c.AtMost.Float64()
			f.bounds = append(f.bounds, bound)
			f.classes[i].AtMost = budget.FormatRat(c.AtMost)
		}
	}
	return f
}

// add sorts a cell by its figure and standard error.
func (f *classCounter) add(figure, standardError float64) {
	if f.signed && figure < 0 {
		figure = -figure
	}
	class := slices.IndexFunc(f.bounds, func(bound float64) bool {
		return figure > 0 &&
			standardError <= float64(bound*figure)
	})
	if class < 0 {
		class = len(f.bounds)
	}
	f.classes[class].Cells++
}

// finish returns the classes with their shares.
func (f *classCounter) finish() []report.FitClass {
	var all int64
	for _, c := range f.classes {
		all += c.Cells
	}
	for i := range f.classes {
		f.classes[i].Share = report.Ratio(f.classes[i].Cells, all)
	}
	return f.classes
}

// fitOfCounts sorts the cells of a count. It returns nil if the spec has no classes.
func fitOfCounts(p *plan.Plan, s synth.Statistic) []report.FitClass {
	f := newClassCounter(p, false)
	if f == nil {
		return nil
	}
	unbiased, errors := s.Unbiased.Float64Values(), s.Error.Float64Values()
	largest := 0.0
	for i, v := range unbiased {
		if s.Flags[i] == synth.Impossible {
			continue
		}
		f.add(v, errors[i])
		largest = max(largest, errors[i])
	}
	for i, c := range p.Release().Fit {
		if c.AtMost != nil {
			f.classes[i].From = fitFrom(p.Sample, largest, c.AtMost)
		}
	}
	return f.finish()
}

// countFrom returns the least count, 1 or more, of which a standard error is at most the share atMost; 0 if no count is
// large enough.
func countFrom(standardError float64, atMost *big.Rat) int64 {
	r := new(big.Rat).SetFloat64(standardError)
	r.Quo(r, atMost)
	up := new(big.Int).Add(r.Num(), r.Denom())
	up.Sub(up, big.NewInt(1)).Quo(up, r.Denom())
	if !up.IsInt64() {
		return 0
	}
	return max(up.Int64(), 1)
}

// fitOfFigures sorts the cells of a figure other than the count. It returns nil if the spec has no classes, and for
// quantiles, which have no standard error. A figure for which the noise leaves the error open is in the last class.
func fitOfFigures(p *plan.Plan, planned plan.Table, n synth.Number) []report.FitClass {
	if statistic.OfFigure(n.Figure).Ranked() {
		return nil
	}
	f := newClassCounter(p, mayBeBelowZero(p, planned, n.Figure))
	if f == nil {
		return nil
	}
	for i, flag := range n.Flags {
		switch {
		case flag == synth.Withheld:
		case n.Estimate.IsNull(i) || n.Error.IsNull(i):
			f.add(0, 0)
		default:
			f.add(n.Estimate.Value(i), n.Error.Value(i))
		}
	}
	return f.finish()
}

// mayBeBelowZero reports whether the exact figure can be below zero: it uses values that can.
func mayBeBelowZero(p *plan.Plan, planned plan.Table, f plan.Figure) bool {
	if !statistic.OfFigure(f).Signed() {
		return false
	}
	columns := []string{f.Column}
	for _, term := range []*plan.Term{f.Of, f.Over} {
		if term != nil {
			columns = append(columns, term.Column)
		}
	}
	from := p.Release().Table(planned.From)
	return slices.ContainsFunc(columns, func(name string) bool {
		c := from.Column(name)
		return c != nil && c.Lattice != nil && c.Lattice.Value(c.Lattice.First).Sign() < 0
	})
}
