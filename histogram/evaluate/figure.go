package evaluate

// This file holds the comparison of figures beside a count: sums, means, ratios and quantiles of the true rows.

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
)

// truth is a figure of the true rows of one cell: an interval where every value between two is one, as of quantiles. It
// is NaN where there is none.
type truth struct{ low, high float64 }

func exactly(x float64) truth { return truth{x, x} }

// truths are the exact answers that a figure rests on, by the IDs of their measurements, as they come in.
type truths struct {
	comparison *comparison
	table      plan.Table
	figure     plan.Figure
	unit       float64 // of the table's count
	asked      map[string]plan.Measurement

	mu  sync.Mutex
	got map[string]answer.Answer
}

// askFigure asks for the truth of a figure of a published table.
func (c *comparison) askFigure(claim Claim, t plan.Table, out *Difference) error {
	i := slices.IndexFunc(t.Figures, func(f plan.Figure) bool { return f.Name == claim.Figure })
	if i < 0 {
		return fmt.Errorf("table %s has no figure %s in the plan of this release", claim.Path, claim.Figure)
	}
	x := &truths{comparison: c, table: t, figure: t.Figures[i], asked: map[string]plan.Measurement{"": c.countOf(t)},
		got: map[string]answer.Answer{}, unit: t.Statistics[0].UnitValue()}
	for _, id := range partsOf(x.figure) {
		at := slices.IndexFunc(c.plan.Measurements, func(m plan.Measurement) bool { return m.ID == id })
		if at < 0 {
			return fmt.Errorf("figure %s of table %s rests on %s, which the plan does not measure", claim.Figure, claim.Path, id)
		}
		x.asked[id] = ranked(c.plan.Measurements[at], x.figure, c.plan.Release())
	}
	for id, m := range x.asked {
		c.questions = append(c.questions, question{measurement: m, compare: func(counted answer.Answer) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.got[id] = counted; len(x.got) < len(x.asked) {
				return nil
			}
			figures, err := claim.Read()
			if err == nil {
				*out, err = x.compare(figures)
			}
			if err != nil {
				return fmt.Errorf("figure %s of table %s: %w", claim.Figure, claim.Path, err)
			}
			return nil
		}})
	}
	return nil
}

// partsOf are the measurements that a figure rests on, beside the count of its table.
func partsOf(f plan.Figure) (ids []string) {
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range []string{f.Sums, f.Squares, f.Part} {
		add(id)
	}
	for _, term := range []*plan.Term{f.Of, f.Over} {
		if term == nil {
			continue
		}
		for _, id := range []string{term.Counts, term.Sums} {
			add(id)
		}
	}
	return ids
}

// compare holds what is published of a figure against the truth.
func (x *truths) compare(f Figures) (Difference, error) {
	counts := x.got[""].Counts
	d := Difference{Rows: total(counts)}
	for _, n := range []int{len(f.Unbiased), len(f.Low), len(f.High)} {
		if n != len(counts) {
			return d, errOtherCells
		}
	}
	of, err := x.cells()
	if err != nil {
		return d, err
	}
	for cell := range counts {
		t := of(cell)
		switch {
		case math.IsNaN(t.low):
			d.Undefined++
		case math.IsNaN(f.Unbiased[cell]):
			d.Withheld++
		default:
			d.Cells++
			off := max(t.low-f.Unbiased[cell], f.Unbiased[cell]-t.high, 0)
			d.L1 += off
			d.Squares += off * off
			if !math.IsNaN(f.Low[cell]) {
				d.Bounded++
			}
			if f.Low[cell] <= t.low && t.high <= f.High[cell] {
				d.Covered++
			}
		}
	}
	return d, nil
}

// Cells says what the figure is of the true rows of each cell.
func (x *truths) cells() (func(cell int) truth, error) {
	f, counts := x.figure, x.got[""].Counts
	switch f.Kind {
	case spec.Units, spec.Distinct:
		part := x.got[f.Part].Counts
		return func(cell int) truth { return exactly(float64(part[cell])) }, nil
	case spec.Quantiles:
		return x.quantile()
	case spec.Ratio:
		of, err := x.term(*f.Of)
		if err != nil {
			return nil, err
		}
		over, err := x.term(*f.Over)
		return func(cell int) truth { return exactly(quotient(of(cell), over(cell))) }, err
	}
	s, err := x.scales(x.asked[f.Sums])
	if err != nil {
		return nil, err
	}
	sums, squares := x.got[f.Sums].Counts, x.got[f.Squares].Counts
	return func(cell int) truth {
		scale, rows, sum := s(cell), float64(counts[cell]), float64(sums[cell])
		switch f.Kind {
		case spec.Sum:
			return exactly(x.unit * (scale.factor*sum + scale.centre*rows))
		case spec.Mean:
			return exactly(scale.centre + scale.factor*quotient(sum, rows))
		}
		mean := quotient(sum, rows)
		variance := scale.factor * scale.factor * max(quotient(float64(squares[cell]), rows)-mean*mean, 0)
		if f.Kind == spec.Deviation {
			return exactly(math.Sqrt(variance))
		}
		return exactly(variance)
	}, nil
}

// quotient is NaN where nothing is divided by.
func quotient(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// scale is how sums are read: each integer is factor units of the column from the centre.
type scale struct{ factor, centre float64 }

// scales are those of a measurement's cells: one, or where its value goes by strata, one for each category of these.
func (x *truths) scales(m plan.Measurement) (func(cell int) scale, error) {
	v, release := m.Query.Counted.(counted.Values), x.comparison.plan.Release()
	step, _ := release.Table(m.Query.Table).Column(v.Column).Lattice.Step.Float64()
	of := func(minus, by int64) scale {
		return scale{step / (float64(v.Times) * float64(by)), step * float64(minus) / float64(v.Times)}
	}
	if v.Per == "" {
		one := of(v.Minus, 1)
		return func(int) scale { return one }, nil
	}
	levels, err := m.Query.Levels(release)
	if err != nil {
		return nil, err
	}
	stride := 1
	for i := len(levels) - 1; i >= 0; i-- {
		if size := levels[i].Size(); m.Query.Factors[i].Attribute == v.Per && size == len(v.By) {
			return func(cell int) scale { stratum := cell / stride % size; return of(v.Off[stratum], v.By[stratum]) }, nil
		}
		stride *= levels[i].Size()
	}
	return nil, fmt.Errorf("measurement %s does not tell the strata of its value apart", m.ID)
}

// term is a term of a ratio, of the true rows of each cell of the table.
func (x *truths) term(t plan.Term) (func(cell int) float64, error) {
	counts := x.got[t.Counts].Counts
	within, err := x.within(t)
	if err != nil {
		return nil, err
	}
	scales := func(int) scale { return scale{} }
	if t.Sums != "" {
		if scales, err = x.scales(x.asked[t.Sums]); err != nil {
			return nil, err
		}
	}
	sums := x.got[t.Sums].Counts
	each := len(within)
	return func(cell int) float64 {
		rows, sum := 0.0, 0.0
		for i, is := range within {
			if at := cell*each + i; is {
				rows += float64(counts[at])
				if t.Sums != "" {
					s := scales(at)
					sum += s.factor*float64(sums[at]) + s.centre*float64(counts[at])
				}
			}
		}
		switch t.Kind {
		case spec.Count:
			return x.unit * rows
		case spec.Sum:
			return x.unit * sum
		}
		return quotient(sum, rows)
	}, nil
}

// within says of each cell of a term's parts, among those that one cell of the table has there, whether the term takes
// it.
func (x *truths) within(t plan.Term) ([]bool, error) {
	table := x.comparison.plan.Release().Table(x.table.From)
	within := []bool{true}
	for _, c := range t.Where {
		name, level, _ := strings.Cut(c.Attribute, ".")
		a := attributes.Counted(table, spec.Attribute{Column: name, Level: level})
		l, ok := table.Column(a.Column).Domain.Level(a.Level)
		if !ok {
			return nil, fmt.Errorf("the column %s has no level %q", a.Column, a.Level)
		}
		var next []bool
		for _, is := range within {
			for _, category := range l.Categories {
				next = append(next, is && (len(c.Categories) == 0 || slices.Contains(c.Categories, category.Code)))
			}
		}
		within = next
	}
	return within, nil
}

// ranked asks for every value of the rows where a measurement asks for bins of them: truth knows no bins.
func ranked(m plan.Measurement, f plan.Figure, r *spec.Release) plan.Measurement {
	if d, ok := m.Query.Counted.(counted.Bins); ok {
		m.Query.Counted = counted.Quantiles{Column: d.Column, Weight: d.Weight, At: []string{f.At}}
		m.Cells /= d.PerCell(r.Table(m.Query.Table))
	}
	return m
}

// quantile is where the quantiles of the true rows lie: from the least place up to which there are as many rows as the
// share says, to the least up to which there are more.
func (x *truths) quantile() (func(cell int) truth, error) {
	q, pairs := x.asked[x.figure.Part].Query.Counted.(counted.Quantiles), x.got[x.figure.Part]
	l := x.comparison.plan.Release().Table(x.table.From).Column(q.Column).Lattice
	share, ok := new(big.Rat).SetString(x.figure.At)
	if !ok {
		return nil, fmt.Errorf("the share %q of a quantile is no fraction", x.figure.At)
	}
	step, _ := l.Step.Float64()
	points := uint64(l.Places())
	return func(cell int) truth {
		from, _ := slices.BinarySearch(pairs.Cells, uint64(cell)*points)
		end, _ := slices.BinarySearch(pairs.Cells, uint64(cell+1)*points)
		rank := new(big.Int).Mul(share.Num(), big.NewInt(total(pairs.Counts[from:end]))) // in parts of 1/denominator
		out, below := exactly(math.NaN()), int64(0)
		for i := from; i < end; i++ {
			below += pairs.Counts[i]
			value := step * float64(l.First+int64(pairs.Cells[i]%points))
			order := new(big.Int).Mul(share.Denom(), big.NewInt(below)).Cmp(rank)
			if order >= 0 && math.IsNaN(out.low) {
				out.low = value
			}
			if order > 0 {
				out.high = value
				break
			}
		}
		return out
	}, nil
}
