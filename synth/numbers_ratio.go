package synth

import (
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the ratios of a table's numbers: which cells of their parts each term takes.

// termCells are cells, of those that a part has for one cell of the table, that the same terms of a ratio take: both,
// only the numerator, or only the denominator.
type termCells struct {
	of, over bool
	indexes  []int
}

// termCellsOf returns the cells that the terms of a ratio take, and how many cells its parts have for each cell of the
// table.
func (n *numbers) termCellsOf(f plan.Figure) (all []termCells, per int, err error) {
	per = 1
	masks := [2][]bool{{true}, {true}}
	for i := range f.Of.Where {
		level, err := n.levelOf(f.Of.Where[i].Attribute)
		if err != nil {
			return nil, 0, err
		}
		per *= level.Size()
		for term, t := range []*plan.Term{f.Of, f.Over} {
			named := t.Where[i].Categories
			masks[term] = residual.Cross(masks[term], level.Categories, func(before bool, c domain.Category) bool {
				return before && (len(named) == 0 || slices.Contains(named, c.Code))
			})
		}
	}
	all = []termCells{{of: true, over: true}, {of: true}, {over: true}}
	for place := range per {
		for i := range all {
			if all[i].of == masks[0][place] && all[i].over == masks[1][place] {
				all[i].indexes = append(all[i].indexes, place)
			}
		}
	}
	return slices.DeleteFunc(all, func(t termCells) bool { return t.indexes == nil }), per, nil
}

// levelOf returns the level of an attribute of the table's rows, named as in a spec.
func (n *numbers) levelOf(attribute string) (*domain.Level, error) {
	for _, c := range n.table.Columns {
		for _, level := range append([]string{""}, c.Domain.LevelNames()...) {
			if (spec.Attribute{Column: c.Name, Level: level}).String() == attribute {
				if l, ok := c.Domain.Level(level); ok {
					return l, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("there is no attribute %s", attribute)
}

// ingredient is a noisy number on which a ratio depends: its value by cell, its noise by the class of the cell's count,
// and its coefficients in the sums and counts of both terms.
type ingredient struct {
	value                              func(cell int) float64
	noise                              func(class int) Noise
	ofSum, ofCount, overSum, overCount float64
}

// ratioFigure is the ratio of two terms.
func (n *numbers) ratioFigure(f plan.Figure) (func(cell int) Figure, error) {
	takings, per, err := n.termCellsOf(f)
	if err != nil {
		return nil, err
	}
	ingredients, err := n.ingredientsOf(f, takings, per)
	if err != nil {
		return nil, err
	}
	values := func(cell int) []float64 {
		out := make([]float64, len(ingredients))
		for i, g := range ingredients {
			out[i] = g.value(cell)
		}
		return out
	}
	if statistic.IsMean(*f.Of) && statistic.IsMean(*f.Over) {
		return func(cell int) Figure {
			l := law(n, fmt.Sprint("ratio ", f.Name, " ", n.classes[cell]), func() *MeanRatio {
				parts := make([]MeanPart, len(ingredients))
				for i, g := range ingredients {
					parts[i] = MeanPart{Noise: g.noise(n.classes[cell]), OverSum: g.ofSum, OverCount: g.ofCount,
						UnderSum:   g.overSum,
						UnderCount: g.overCount}
				}
				return NewMeanRatio(parts, n.rangeOf(f.Of.Column), n.rangeOf(f.Over.Column), confidence)
			})
			return l.Figure(values(cell)...)
		}, nil
	}
	if statistic.IsMean(*f.Of) != statistic.IsMean(*f.Over) {
		return nil, fmt.Errorf("a mean over something else than a mean")
	}
	ends := n.domainOf(f, takings)
	return func(cell int) Figure {
		l := law(n, fmt.Sprint("ratio ", f.Name, " ", n.classes[cell]), func() *Ratio {
			parts := make([]Part, len(ingredients))
			for i, g := range ingredients {
				parts[i] = Part{Noise: g.noise(n.classes[cell]), Numerator: g.ofSum + g.ofCount,
					Denominator: g.overSum + g.overCount}
			}
			return NewRatio(parts, ends, confidence)
		})
		return l.Figure(values(cell)...)
	}, nil
}

// ingredientsOf returns the counts on which a ratio depends, one for each group of term cells, and the sums of its
// columns.
func (n *numbers) ingredientsOf(f plan.Figure, takings []termCells, per int) ([]ingredient, error) {
	var all []ingredient
	for _, t := range takings {
		g, err := n.countOf(f, t, per)
		if err != nil {
			return nil, err
		}
		weigh := func(term *plan.Term, takes bool) (count float64) {
			switch {
			case !takes:
				return 0
			case statistic.IsSum(*term):
				return n.rangeOf(term.Column).Centre
			}
			return 1
		}
		g.ofCount, g.overCount = weigh(f.Of, t.of), weigh(f.Over, t.over)
		all = append(all, g)
		for _, column := range summedColumns(f) {
			ofSum, overSum := t.of && f.Of.Column == column, t.over && f.Over.Column == column
			if !ofSum && !overSum {
				continue
			}
			id := f.Of.Sums
			if f.Of.Column != column {
				id = f.Over.Sums
			}
			g, err := n.sumOf(id, t, per)
			if err != nil {
				return nil, err
			}
			if ofSum {
				g.ofSum = 1
			}
			if overSum {
				g.overSum = 1
			}
			all = append(all, g)
		}
	}
	return all, nil
}

// summedColumns returns the columns whose sums a ratio uses.
func summedColumns(f plan.Figure) []string {
	var out []string
	for _, t := range []*plan.Term{f.Of, f.Over} {
		if t.Column != "" && !slices.Contains(out, t.Column) {
			out = append(out, t.Column)
		}
	}
	return out
}

// countOf returns the count of some of the cells that a part has for a cell, or the table's own count.
func (n *numbers) countOf(f plan.Figure, t termCells, per int) (ingredient, error) {
	if statistic.OfFigure(f).OfCount(f) {
		return ingredient{
			value: func(cell int) float64 { return n.counts[cell] },
			noise: func(class int) Noise { return n.noises[class] },
		}, nil
	}
	return n.sumOfCells(f.Of.Counts, t, per, n.unit)
}

// sumOf returns the sum of a column about the middle of its range in some of the cells that a part has for a cell.
func (n *numbers) sumOf(id string, t termCells, per int) (ingredient, error) {
	p, err := n.partOf(id)
	if err != nil {
		return ingredient{}, err
	}
	if valuesOf(p.Measurement.Query).Per != "" {
		return ingredient{}, fmt.Errorf("strata in a ratio")
	}
	return n.sumOfCells(id, t, per, float64(n.scalesOf(p)(0).factor*n.unit))
}

// sumOfCells returns the sum of some of the cells that a part has for a cell of the table, times a factor.
func (n *numbers) sumOfCells(id string, t termCells, per int, factor float64) (ingredient, error) {
	p, err := n.partOf(id)
	if err != nil {
		return ingredient{}, err
	}
	noise := p.noise.scaledBy(factor)
	for i := range noise {
		noise[i].Count *= float64(len(t.indexes))
	}
	return ingredient{
		value: func(cell int) float64 {
			var sum int64
			for _, place := range t.indexes {
				sum += p.values[cell*per+place]
			}
			return float64(factor * float64(sum))
		},
		noise: func(int) Noise { return noise },
	}, nil
}

// rangeOf returns the range of a column's mean.
func (n *numbers) rangeOf(column string) MeanRange {
	l := n.table.Column(column).Lattice
	step, _ := l.Step.Float64()
	return MeanRange{Centre: float64(step*float64(l.First+l.Last)) / 2, Low: float64(step * float64(l.First)),
		High: float64(step * float64(l.Last))}
}

// domainOf returns the range of a ratio of counts and sums: a share if the denominator takes all rows of the numerator,
// the ratio of the columns' ranges if both take the same rows, and otherwise anything from 0 on.
func (n *numbers) domainOf(f plan.Figure, takings []termCells) Domain {
	ofAlone := slices.ContainsFunc(takings, func(t termCells) bool { return t.of && !t.over })
	overAlone := slices.ContainsFunc(takings, func(t termCells) bool { return t.over && !t.of })
	bounds := func(t *plan.Term) (low, high float64) {
		if t.Column == "" { // rows
			return 1, 1
		}
		r := n.rangeOf(t.Column)
		return r.Low, r.High
	}
	ofLow, ofHigh := bounds(f.Of)
	overLow, overHigh := bounds(f.Over)
	out := Domain{High: math.Inf(1)}
	if ofLow < 0 && overLow > 0 && !ofAlone {
		out.Low = ofLow / overLow
	}
	if ofAlone || !(overLow > 0) {
		return out
	}
	out.High = math.Max(0, ofHigh/overLow)
	if !overAlone && ofLow >= 0 {
		out.Low = ofLow / overHigh
	}
	return out
}
