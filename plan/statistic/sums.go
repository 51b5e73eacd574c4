package statistic

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the sums of a column's values about the middle of their range, from which sums, means, variances
// and ratios are computed.

// summed is what statistics have in common that are computed from the sums of a column's values and from the table's
// count.
type summed struct{ plain }

func (summed) Clamped() bool            { return true }
func (summed) OfCount(plan.Figure) bool { return true }
func (summed) Describe(l *language.Language, f plan.Figure, _ []string, rows spec.TableWords) string {
	switch f.Kind {
	case spec.Sum:
		return l.Text("sum of %s", rows.Title(f.Column))
	case spec.Mean:
		return l.Text("mean of %s", rows.Title(f.Column))
	}
	return l.Text("variance of %s", rows.Title(f.Column))
}

// sumsOf returns the sum of a power of a column's values about the middle of their range, in half ranges: the error
// of a sum is compared with the error of a count as if each row were at an end of the range.
func sumsOf(t Table, column string, power int, more []spec.Attribute) Part {
	by := slices.Concat(t.CountedBy, attributes.CountedBy(t.rows(), more))
	return Part{Name: sumsName(column, power), MoreAttributes: more, Counted: powerOf(t, column, power, by)}
}

// powerOf returns the value of a power of a column, for a query by some attributes.
func powerOf(t Table, column string, power int, by []spec.Attribute) counted.Values {
	v := centredValues(t.rows().Column(column), by)
	v.Power, v.Weight = power, t.rows().Weight != nil
	return v
}

// sumsName names the part with the sums of a power of a column.
func sumsName(column string, power int) string {
	if power == 2 {
		return column + "_squares"
	}
	return column + "_sums"
}

// centredValues returns the value of a column's lattice points about the middle of its range. If the query
// distinguishes strata, each has its own middle, and a factor with which all have nearly the same reach.
func centredValues(c *spec.Column, by []spec.Attribute) counted.Values {
	l := c.Lattice
	v := counted.Values{Column: c.Name, Power: 1, Times: 1}
	if l.By == "" || !slices.Contains(by, spec.Attribute{Column: l.By}) {
		if (l.First+l.Last)%2 != 0 {
			v.Times = 2
		}
		v.Minus = (l.First + l.Last) / 2 * v.Times
		if v.Times == 2 {
			v.Minus = l.First + l.Last
		}
		return v
	}
	v.Per, v.Times = l.By, 2
	var widest int64
	for _, s := range l.Strata {
		widest = max(widest, s.Last-s.First)
	}
	for _, s := range l.Strata {
		v.Off = append(v.Off, s.First+s.Last)
		v.By = append(v.By, max(1, widest/max(1, s.Last-s.First)))
	}
	return v
}

// scaleOf returns, in the column's unit, what an integer of a part's value stands for, the middle of its range, and
// half of its width; for strata, of the widest.
func scaleOf(from Measured, part string) (unit, middle, half float64) {
	v := from.ByID[part].Query.Counted.(counted.Values)
	l := from.Rows.Column(v.Column).Lattice
	step, _ := l.Step.Float64()
	first, last := l.First, l.Last
	for i, by := range v.By {
		if by == slices.Min(v.By) {
			first, last = l.Strata[i].First, l.Strata[i].Last
		}
	}
	return step / float64(v.Times), step * float64(first+last) / 2, step * float64(last-first) / 2
}

// rangeOf returns the least and the largest value of a figure's column.
func rangeOf(f plan.Figure, rows *spec.Table) (low, high float64) {
	l := rows.Column(f.Column).Lattice
	step, _ := l.Step.Float64()
	return float64(step * float64(l.First)), float64(step * float64(l.Last))
}
