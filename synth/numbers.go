package synth

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the numbers of a table: its figures other than the count, cell by cell, computed from the
// measurements that the plan names.

// numbers computes the figures of one table.
type numbers struct {
	release  *spec.Release
	table    *spec.Table
	planned  plan.Table
	measured map[string]measured.Measured
	cells    int
	counts   []float64 // noisy, in published units
	classes  []int     // by cell: the class of its count; counts of one class have the same law of noise
	noises   []Noise   // by class
	unit     float64   // what a unit of weight stands for: the step of the weights, or 1
	laws     map[string]any
	keys     []Key
	estimate *compiled.Estimate // from which the counts come; nil if they are one measurement
	marginal int                // index of the table in estimate
}

// newNumbers takes a table whose count is computed. e is the estimate from which the count comes, nil if it is one
// measurement.
func newNumbers(r *spec.Release, planned plan.Table, table Table, byID map[string]measured.Measured,
	e *compiled.Estimate, marginal int) *numbers {
	n := &numbers{release: r, table: r.Table(planned.From), planned: planned, measured: byID, cells: table.Cells,
		laws: map[string]any{}, keys: table.Keys, estimate: e, marginal: marginal}
	n.unit, _ = n.table.WeightStep().Float64()
	n.counts, n.classes = table.Statistics[0].Unbiased.Float64Values(), make([]int, table.Cells)
	if e == nil {
		unit := planned.Statistics[0].UnitValue()
		n.noises = []Noise{NoiseOf(byID[planned.Statistics[0].Measurement].Measurement.Mechanism).scaledBy(unit)}
		return n
	}
	n.classify(e, marginal)
	return n
}

// classify finds the laws of the noise of reconstructed counts: one for all cells of equal shape along every axis.
func (n *numbers) classify(e *compiled.Estimate, marginal int) {
	axes := e.Axes[marginal]
	shapes := make([][]string, len(axes))
	for i, a := range axes {
		shapes[i] = shapesOf(e, a)
	}
	for cell, first := range alikeBy(crossShapes(shapes)) {
		if cell != first {
			n.classes[cell] = n.classes[first]
			continue
		}
		q, rest := make([][]float64, len(axes)), cell
		for i := len(axes) - 1; i >= 0; i-- {
			size := len(shapes[i])
			q[i], rest = indicator([]int{rest % size}, size), rest/size
		}
		n.classes[cell], n.noises = len(n.noises), append(n.noises, Noise(e.Sum(marginal, q).Terms()))
	}
}

// shapesOf returns the shapes of the categories of an axis. If all categories are of one kind, it computes only one.
func shapesOf(e *compiled.Estimate, a residual.Axis) []string {
	column := e.Columns[a.Column]
	shapes := make([]string, column.Size(a.Level))
	_, ranged := column.Ranging()
	alike := !ranged && len(column.Kinds(a.Level)) == 1
	q := make([]float64, len(shapes))
	for k := range shapes {
		if alike && k > 0 {
			shapes[k] = shapes[0]
			continue
		}
		q[k] = 1
		shapes[k] = e.Shape(a, q)
		q[k] = 0
	}
	return shapes
}

// allNumbers returns the figures of the table, in the plan's order.
func (n *numbers) allNumbers() ([]Number, error) {
	var out []Number
	for _, f := range n.planned.Figures {
		of, err := n.figureOf(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		cells := make([]Figure, n.cells)
		for i := range cells {
			cells[i] = of(i)
			if n.planned.Show > 0 {
				cells[i] = cells[i].ShownFrom(float64(n.planned.Show), n.counts[i])
			}
		}
		out = append(out, Number{Figure: f, FigureColumns: ColumnsOf(cells)})
	}
	return out, nil
}

// figures lists, by statistic, how a figure is computed, cell by cell.
var figures = [spec.StatKinds]func(n *numbers, f plan.Figure) (func(cell int) Figure, error){
	spec.Count:     (*numbers).noFigure,
	spec.Units:     (*numbers).countedFigure,
	spec.Distinct:  (*numbers).countedFigure,
	spec.Sum:       (*numbers).sumFigure,
	spec.Mean:      (*numbers).meanFigure,
	spec.Variance:  (*numbers).varianceFigure,
	spec.Deviation: (*numbers).deviationFigure,
	spec.Ratio:     (*numbers).ratioFigure,
	spec.Quantiles: (*numbers).quantileFigure,
	spec.Share:     (*numbers).share,
	spec.Variation: (*numbers).variationFigure,
}

// figureOf returns the function that computes a figure in each cell.
func (n *numbers) figureOf(f plan.Figure) (func(cell int) Figure, error) {
	return figures[f.Kind](n, f)
}

// noFigure fails: the count is the table's own statistic.
func (n *numbers) noFigure(f plan.Figure) (func(cell int) Figure, error) {
	return nil, fmt.Errorf("there is no way to work out a %s", f.Kind)
}

// part is a measurement of a figure with its noisy integers.
type part struct {
	measured.Measured
	noise  Noise
	values []int64
}

func (n *numbers) partOf(id string) (part, error) {
	m, ok := n.measured[id]
	if !ok || int64(m.Values.Len()) != m.Measurement.Cells {
		return part{}, fmt.Errorf("measurement %s is missing, or not whole", id)
	}
	return part{Measured: m, noise: NoiseOf(m.Measurement.Mechanism), values: m.Values.Int64Values()}, nil
}

// countedFigure is a count of units or of values, as it was drawn.
func (n *numbers) countedFigure(f plan.Figure) (func(cell int) Figure, error) {
	p, err := n.partOf(f.Part)
	if err != nil {
		return nil, err
	}
	margin, deviation := p.noise.Margin(confidence), math.Sqrt(p.noise.Variance())
	least, most := statistic.OfFigure(f).Limits(f, n.table)
	return func(cell int) Figure { return additiveFigure(float64(p.values[cell]), deviation, margin, least, most) }, nil
}

// confidence is that of every interval.
const confidence = 0.95

// scale converts sums of a column about the middle of a range: an integer stands for factor units of the column, the
// middle is centre, and values lie within half of it.
type scale struct{ factor, centre, half float64 }

// scalesOf returns the scale by cell of a part. All cells have one scale, unless the column's range depends on strata.
func (n *numbers) scalesOf(p part) func(cell int) scale {
	v := valuesOf(p.Measurement.Query)
	l := n.table.Column(v.Column).Lattice
	step, _ := l.Step.Float64()
	of := func(first, last, by int64) scale {
		return scale{
			factor: step / float64(v.Times*by), centre: float64(step*float64(first+last)) / 2,
			half: float64(step*float64(last-first)) / 2,
		}
	}
	if v.Per == "" {
		one := of(l.First, l.Last, 1)
		return func(int) scale { return one }
	}
	all := make([]scale, len(l.Strata))
	for i, s := range l.Strata {
		all[i] = of(s.First, s.Last, v.By[i])
	}
	stride, size := n.strideOf(p.Measurement.Query, v.Per)
	return func(cell int) scale { return all[cell/stride%size] }
}

// strideOf returns the stride and the number of a column's categories among the cells of a query.
func (n *numbers) strideOf(q plan.Query, column string) (stride, size int) {
	levels, err := q.Levels(n.release)
	if err != nil {
		panic("synth: a plan that was made has levels: " + err.Error())
	}
	stride = 1
	for i := len(levels) - 1; i >= 0; i-- {
		size = levels[i].Size()
		if q.Factors[i].Attribute == column {
			break
		}
		stride *= size
	}
	return stride, size
}

// law returns the law for a key, which it computes once for all cells that share it.
func law[T any](n *numbers, key string, make func() T) T {
	known, ok := n.laws[key]
	if !ok {
		known = make()
		n.laws[key] = known
	}
	return known.(T)
}

// sumFigure is the sum of a column: the sum about the middle of its range, plus the middle times the count.
func (n *numbers) sumFigure(f plan.Figure) (func(cell int) Figure, error) {
	p, err := n.partOf(f.Sums)
	if err != nil {
		return nil, err
	}
	scales := n.scalesOf(p)
	least, most := statistic.OfFigure(f).Limits(f, n.table)
	type margins struct{ deviation, margin float64 }
	return func(cell int) Figure {
		s, class := scales(cell), n.classes[cell]
		m := law(n, fmt.Sprint("sum ", f.Sums, s, class), func() margins {
			noise := slices.Concat(p.noise.scaledBy(float64(s.factor*n.unit)), n.noises[class].scaledBy(s.centre))
			return margins{math.Sqrt(noise.Variance()), noise.Margin(confidence)}
		})
		v := float64(float64(s.factor*n.unit)*float64(p.values[cell])) + float64(s.centre*n.counts[cell])
		return additiveFigure(v, m.deviation, m.margin, least, most)
	}, nil
}

// meanFigure is the mean of a column.
func (n *numbers) meanFigure(f plan.Figure) (func(cell int) Figure, error) {
	p, err := n.partOf(f.Sums)
	if err != nil {
		return nil, err
	}
	scales := n.scalesOf(p)
	return func(cell int) Figure {
		s, class := scales(cell), n.classes[cell]
		factor := float64(s.factor * n.unit)
		l := law(n, fmt.Sprint("mean ", f.Sums, s, class), func() *Ratio {
			return NewMean(p.noise.scaledBy(factor), n.noises[class], -s.half, s.half, confidence)
		})
		return l.Figure(float64(factor*float64(p.values[cell])), n.counts[cell]).Scaled(s.centre, 1)
	}, nil
}

// quantileFigure is a value as it was drawn, with the ends of its interval.
func (n *numbers) quantileFigure(f plan.Figure) (func(cell int) Figure, error) {
	p, err := n.partOf(f.Part)
	if err != nil {
		return nil, err
	}
	q, drawn := p.Measurement.Query.Counted.(counted.Quantiles)
	if !drawn {
		return n.readQuantile(f, p)
	}
	l := n.table.Column(q.Column).Lattice
	step, _ := l.Step.Float64()
	ends := func(int) domain.Stratum { return domain.Stratum{First: l.First, Last: l.Last} }
	byStratum := slices.ContainsFunc(p.Measurement.Query.Factors, func(f plan.Factor) bool {
		return l.By != "" && f.Attribute == l.By && f.Level == ""
	})
	if byStratum {
		stride, size := n.strideOf(p.Measurement.Query, l.By)
		ends = func(cell int) domain.Stratum { return l.Strata[cell/stride%size] }
	}
	return func(cell int) Figure {
		drawn := p.values[cell*q.Draws()+3*f.Index:][:3]
		value := float64(step * float64(drawn[0]))
		if whole := ends(cell); drawn[1] <= whole.First && drawn[2] >= whole.Last {
			return unpublishedFigure(Unbounded)
		}
		return boundedFigure(value, null, float64(step*float64(drawn[1])), float64(step*float64(drawn[2])))
	}, nil
}

// momentsLaw gives a figure of one cell from its noisy count and the noisy sums of its values and of their squares
// about the middle of their range.
type momentsLaw interface {
	Figure(count, sum, squares float64) Figure
}

// momentsFigure is a figure of a column whose law, called name, is made from the noises of its moments: one for each
// scale and class.
func (n *numbers) momentsFigure(f plan.Figure, name string, lawOf func(count, sum, squares Noise, s scale) momentsLaw) (
	func(cell int) Figure, error) {
	p, err := n.partOf(f.Sums)
	if err != nil {
		return nil, err
	}
	squares, err := n.partOf(f.Squares)
	if err != nil {
		return nil, err
	}
	scales := n.scalesOf(p)
	return func(cell int) Figure {
		s, class := scales(cell), n.classes[cell]
		factor, square := float64(s.factor*n.unit), float64(s.factor*s.factor)*n.unit
		l := law(n, fmt.Sprint(name, " ", f.Sums, s, class), func() momentsLaw {
			return lawOf(n.noises[class], p.noise.scaledBy(factor), squares.noise.scaledBy(square), s)
		})
		return l.Figure(n.counts[cell], float64(factor*float64(p.values[cell])),
			float64(square*float64(squares.values[cell])))
	}, nil
}

// varianceFigure is the variance of a column.
func (n *numbers) varianceFigure(f plan.Figure) (func(cell int) Figure, error) {
	return n.momentsFigure(f, "variance", func(count, sum, squares Noise, s scale) momentsLaw {
		return NewVariance(count, sum, squares, s.half, confidence)
	})
}

// variationFigure is the coefficient of variation of a column.
func (n *numbers) variationFigure(f plan.Figure) (func(cell int) Figure, error) {
	return n.momentsFigure(f, "variation", func(count, sum, squares Noise, s scale) momentsLaw {
		return NewVariation(count, sum, squares, s.centre, s.half, confidence)
	})
}

// deviationFigure is the standard deviation of a column: the root of its variance.
func (n *numbers) deviationFigure(f plan.Figure) (func(cell int) Figure, error) {
	variance, err := n.varianceFigure(f)
	if err != nil {
		return nil, err
	}
	return func(cell int) Figure { return variance(cell).SquareRoot() }, nil
}

// share is the count of a cell over the total of several, itself among them.
func (n *numbers) share(f plan.Figure) (func(cell int) Figure, error) {
	sizes := make([]int, len(n.keys))
	for i, key := range n.keys {
		sizes[i] = key.Level.Size()
	}
	of, all := statistic.Totals(f, n.planned.By, sizes)
	totals := make([]float64, all)
	for cell, count := range n.counts {
		totals[of[cell]] += count
	}
	return func(cell int) Figure {
		l := law(n, fmt.Sprint("share ", f.Name, " ", n.classes[cell]), func() *Ratio {
			return NewRatio(n.shareParts(f, cell, sizes, n.cells/all), Domain{Low: 0, High: 1}, confidence)
		})
		return l.ofSums(n.counts[cell], totals[of[cell]])
	}, nil
}

// shareParts are the independent noises that the count of a cell and its total, of so many cells, rest on.
//
// Of a table that is one measurement these are the noise of the cell, which is in the total as well, and that of the
// other cells. Of one that is put together they are those of all integers that the two rest on, by their weights in
// both. Cells of one class have the same: the weights of a cell depend on its category along each axis, and along the
// axes that a total adds up over its own are alike for all integers.
func (n *numbers) shareParts(f plan.Figure, cell int, sizes []int, together int) []Part {
	if n.estimate == nil {
		others := slices.Clone(n.noises[0])
		for i := range others {
			others[i].Count *= float64(together - 1)
		}
		return []Part{{Noise: n.noises[0], Numerator: 1, Denominator: 1}, {Noise: others, Denominator: 1}}
	}
	one, total := make([][]float64, len(sizes)), make([][]float64, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		one[i], cell = indicator([]int{cell % sizes[i]}, sizes[i]), cell/sizes[i]
		if total[i] = one[i]; statistic.TakesAllCategories(f, n.planned.By[i]) {
			total[i] = slices.Repeat([]float64{1}, sizes[i])
		}
	}
	over, under := n.estimate.Sum(n.marginal, one).Weights(), n.estimate.Sum(n.marginal, total).Weights()
	var parts []Part
	for _, source := range slices.Sorted(maps.Keys(over)) {
		draw, place := n.estimate.Sources[source].Mechanism.NoiseTerm(1, 1), map[[2]float64]int{}
		for i, weight := range over[source] {
			both := [2]float64{weight, under[source][i]}
			if at, known := place[both]; known {
				parts[at].Noise[0].Count += draw.Count
				continue
			}
			place[both] = len(parts)
			parts = append(parts, Part{Noise: Noise{draw}, Numerator: both[0], Denominator: both[1]})
		}
	}
	return parts
}
