package maker

// This file holds how the cells of a table are sorted by what they are precise enough for, in the classes that the spec
// has: from the published arrays alone.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/synth"
)

// fitted sorts cells into classes.
type fitted struct {
	classes []report.FitClass
	bounds  []float64
	signed  bool // figures below zero are figures like others; else noise alone takes one there
}

// fitting is the empty classes of a release, nil where its spec has none.
func fitting(p *plan.Plan, signed bool) *fitted {
	fit := p.Release().Fit
	if fit == nil {
		return nil
	}
	f := &fitted{classes: make([]report.FitClass, len(fit)), signed: signed}
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

// add sorts a cell with its figure and standard error.
func (f *fitted) add(figure, standardError float64) {
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

// done are the classes with their shares.
func (f *fitted) done() []report.FitClass {
	var all int64
	for _, c := range f.classes {
		all += c.Cells
	}
	for i := range f.classes {
		f.classes[i].Share = report.Ratio(f.classes[i].Cells, all)
	}
	return f.classes
}

// fitOfCounts sorts the cells of a count, nil where the spec has no classes.
func fitOfCounts(p *plan.Plan, s synth.Statistic) []report.FitClass {
	f := fitting(p, false)
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
	return f.done()
}

// countFrom is the least count, 1 or more, beside which a standard error is at most a part of it; 0 where that is
// beyond all counts.
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

// fitOfFigures sorts the cells of a figure beside the count, nil where the spec has no classes, and of quantiles, which
// have no standard error. A figure whose error the noise leaves open is in the last class.
func fitOfFigures(p *plan.Plan, planned plan.Table, n synth.Number) []report.FitClass {
	if statistic.OfFigure(n.Figure).Ranked() {
		return nil
	}
	f := fitting(p, mayBeBelowZero(p, planned, n.Figure))
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
	return f.done()
}

// mayBeBelowZero tells that a figure can be below zero by itself: it is of values that can.
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
