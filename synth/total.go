package synth

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the totals of a column: sums of its values over cells of a table, with the measurements that
// contribute to them.

// ColumnTotals adds up a column's values over cells of a table that publishes their sum, mean, variance or deviation. A
// cell's sum is Σ (value − centre) + centre·count, for the centre of the column's range: the first term is a
// measurement of its own, and the count is the table's. (No table has both such statistics and impossible cells.)
type ColumnTotals struct {
	reader  *Reader
	table   int
	part    plan.Measurement
	values  []int64
	counts  *array.Float64
	unit    float64
	scale   func(cell int) scale
	stratum int // the index of the key on which the column's range depends, −1 for none
	sizes   []int
}

// ColumnMeasurement returns the measurement of the sums of a column in a table, and false if there is none.
func (r *Reader) ColumnMeasurement(table int, column string) (plan.Measurement, bool) {
	for _, f := range r.plan.Tables[table].Figures {
		if f.Column == column && f.Sums != "" {
			return r.plan.Measurement(f.Sums)
		}
	}
	return plan.Measurement{}, false
}

// ColumnTotals reads the sums of a column, for a table that [Reader.ShowsCells] its cells. The answers are those of
// [Reader.Needed] and [Reader.ColumnMeasurement]. It returns an error if one is missing, or if the table has no sums of
// the column.
func (r *Reader) ColumnTotals(table int, column string, answers []measured.Measured) (*ColumnTotals, error) {
	p, ok := r.ColumnMeasurement(table, column)
	if !ok {
		return nil, fmt.Errorf("table %s has no sums of %s", r.plan.Tables[table].Path, column)
	}
	at := slices.IndexFunc(answers, func(m measured.Measured) bool { return m.Measurement.ID == p.ID })
	if at < 0 {
		return nil, fmt.Errorf("measurement %s is missing", p.ID)
	}
	counts, err := r.Cells(table, answers)
	if err != nil {
		return nil, err
	}
	levels, err := p.Query.Levels(r.plan.Release())
	if err != nil {
		return nil, err
	}
	n := &numbers{release: r.plan.Release(), table: r.plan.Release().Table(r.plan.Tables[table].From)}
	c := &ColumnTotals{
		reader: r, table: table, part: p, values: answers[at].Values.Int64Values(), counts: counts, unit: 1,
		stratum: -1,
		scale:   n.scalesOf(part{Measured: answers[at]}),
	}
	if w := n.table.Weight; w != nil {
		c.unit, _ = w.Lattice.Step.Float64()
	}
	for i, f := range p.Query.Factors {
		c.sizes = append(c.sizes, levels[i].Size())
		if valuesOf(p.Query).Per == f.Attribute {
			c.stratum = i
		}
	}
	return c, nil
}

// Centre returns the centre and half width of the column's range in the cells whose category of each key is selected;
// one is false if their ranges have different centres.
func (c *ColumnTotals) Centre(selected [][]int) (centre, half float64, one bool) {
	if c.stratum < 0 {
		s := c.scale(0)
		return s.centre, s.half, true
	}
	stride := product(c.sizes[c.stratum+1:])
	for i, category := range selected[c.stratum] {
		s := c.scale(category * stride)
		if i > 0 && s.centre != centre {
			return 0, 0, false
		}
		centre, half = s.centre, max(half, s.half)
	}
	return centre, half, true
}

// Sum returns the sum over the cells whose category of each key is selected, and the contributions to it, with weights
// in the column's unit.
func (c *ColumnTotals) Sum(selected [][]int) (sum float64, rests []compiled.Contribution) {
	about, rests := c.AboutCentre(selected)
	q := c.countCoefficients(selected)
	centre := 1.0
	if c.stratum < 0 {
		centre = c.scale(0).centre
	}
	var counted float64
	for cell, w := range residual.Outer(q...) {
		if w != 0 {
			counted += float64(w * c.counts.Value(cell))
		}
	}
	return about + float64(centre*counted), append(rests, c.reader.weightedBearings(c.table, q, centre)...)
}

// countCoefficients returns the coefficients of the counts along every key: 1 for a selected category, or the centre of
// its stratum.
func (c *ColumnTotals) countCoefficients(selected [][]int) [][]float64 {
	q := c.indicators(selected)
	if c.stratum < 0 {
		return q
	}
	stride := product(c.sizes[c.stratum+1:])
	for category := range q[c.stratum] {
		q[c.stratum][category] *= c.scale(category * stride).centre
	}
	return q
}

// indicators returns, along every key, the vector with 1 for selected categories.
func (c *ColumnTotals) indicators(selected [][]int) [][]float64 {
	q := make([][]float64, len(selected))
	for key, s := range selected {
		q[key] = indicator(s, c.sizes[key])
	}
	return q
}

// AboutCentre returns Σ (value − centre) over these cells, each about its own centre, and the contributions to it.
func (c *ColumnTotals) AboutCentre(selected [][]int) (sum float64, rests []compiled.Contribution) {
	weights := residual.Outer(c.indicators(selected)...)
	for cell, w := range weights {
		if w != 0 {
			weights[cell] = float64(c.scale(cell).factor * c.unit)
			sum += float64(weights[cell] * float64(c.values[cell]))
		}
	}
	return sum, bearingsOn(c.part, weights)
}

// bearingsOn returns the contribution of one measurement to a sum with these weights on its integers, none if all are
// 0.
func bearingsOn(m plan.Measurement, all []float64) []compiled.Contribution {
	var weights []float64
	var integers []int64
	for _, w := range all {
		if w == 0 {
			continue
		}
		at := slices.Index(weights, w)
		if at < 0 {
			at = len(weights)
			weights, integers = append(weights, w), append(integers, 0)
		}
		integers[at]++
	}
	if weights == nil {
		return nil
	}
	return []compiled.Contribution{compiled.NewContribution(m, weights, integers)}
}

// weightedBearings returns the contributions to factor times the sum Σ Π_a q_a(s_a)·count_s of a table's counts, in
// published units.
func (r *Reader) weightedBearings(table int, q [][]float64, factor float64) []compiled.Contribution {
	if r.IsInvariant(table) || factor == 0 {
		return nil
	}
	factor = float64(factor * r.plan.Tables[table].Statistics[0].UnitValue())
	if at := r.at[table]; at.estimate >= 0 {
		return scaledBearings(r.estimates[at.estimate].Sum(at.marginal, q).Contributions(), factor)
	}
	return scaledBearings(bearingsOn(r.sourcesOf(table)[0], residual.Outer(q...)), factor)
}

// CountContributions returns the contributions to the count of the cells whose category of each key is selected, in
// published units.
func (r *Reader) CountContributions(table int, selected [][]int) []compiled.Contribution {
	return scaledBearings(r.Contributions(table, selected), r.countUnit(table))
}

// countUnit returns what one noisy integer of a table's count stands for; 1 for public figures.
func (r *Reader) countUnit(table int) float64 {
	if r.IsInvariant(table) {
		return 1
	}
	return r.plan.Tables[table].Statistics[0].UnitValue()
}

// scaledBearings returns the contributions to a figure times a factor.
func scaledBearings(rests []compiled.Contribution, factor float64) []compiled.Contribution {
	out := make([]compiled.Contribution, len(rests))
	for i, b := range rests {
		b.Weights = slices.Clone(b.Weights)
		for j := range b.Weights {
			b.Weights[j].Value = float64(b.Weights[j].Value * factor)
		}
		b.Variance = float64(b.Variance * float64(factor*factor))
		out[i] = b
	}
	return out
}
