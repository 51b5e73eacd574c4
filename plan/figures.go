package plan

import (
	"math"
	"math/big"
	"reflect"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the figures of a table beside its count: what each is worked out from, and how good it will be.

// Figure is one published figure per cell that is worked out from noisy integers: of the table's count, which its first
// statistic says, and of parts, measurements of their own.
type Figure struct {
	Name string        `json:"name"` // of its column
	Kind spec.StatKind `json:"kind"`
	// Column is what it is of; "" of a ratio and of units.
	Column string `json:"column,omitempty"`
	// At is the share of a quantile, and Place its place among those that its part draws.
	At    string `json:"at,omitempty"`
	Place int    `json:"place,omitempty"`
	// Sums and Squares are the parts that hold the sums of the column's values about the middle of its range, and of their
	// squares; Part holds what is drawn or counted: quantiles, units, distinct values.
	Sums    string `json:"sums,omitempty"`
	Squares string `json:"squares,omitempty"`
	Part    string `json:"part,omitempty"`
	// Of and Over are the terms of a ratio.
	Of   *Term `json:"of,omitempty"`
	Over *Term `json:"over,omitempty"`
	// Quality is how good it will be.
	Quality Quality `json:"quality"`
}

// Term is one of the two that a ratio is of: over the cells of its parts that it takes for each cell of the table, their
// count, sum or mean.
type Term struct {
	Kind   spec.StatKind `json:"kind"`
	Column string        `json:"column,omitempty"`
	// Counts is the part that holds the counts, "" for the table's own count, and Sums the one of the sums.
	Counts string `json:"counts,omitempty"`
	Sums   string `json:"sums,omitempty"`
	// Where are the cells that it takes: of the attributes that its parts have beside those of the table, in their order, the
	// categories; none stands for all.
	Where []Condition `json:"where,omitempty"`
}

// Condition is met by the rows whose category of an attribute is one of some.
type Condition struct {
	Attribute  string   `json:"attribute"`
	Categories []string `json:"categories,omitempty"` // by their codes; none: all
}

// Quality is how good a figure will be.
type Quality struct {
	// Rows is for a cell of how many rows the rest is said; 0: for every cell.
	Rows int64 `json:"rows,omitempty"`
	// StandardError and Margin are in the figure's unit; Margin is half the width of its interval, about.
	StandardError float64 `json:"standard_error,omitempty"`
	Margin        float64 `json:"margin,omitempty"`
	// Ranks is, of a quantile, by how many rows at most its rank is off, at the usual confidence; by how much weight of weighted
	// ones. Margin is then for Rows rows that lie evenly over a tenth of the column's range, and Cell is the width of the bins
	// that it is read from, in the column's unit: no interval is narrower. Instead is what the other way to quantiles would give
	// for the same part of the budget; nil where there is none.
	Ranks   float64  `json:"ranks,omitempty"`
	Cell    float64  `json:"cell,omitempty"`
	Bins    int64    `json:"bins,omitempty"` // of its distribution; 0: it is drawn
	Instead *Quality `json:"instead,omitempty"`
}

// figures are those that a table publishes, without their quality.
func figures(r *spec.Release, t *table) []Figure {
	var all []Figure
	for _, s := range t.marginal.Stats {
		f := Figure{Name: s.Name, Kind: s.Kind, Column: s.Column}
		id := func(name string) string { return partPath(t.path, name, nil) }
		switch s.Kind {
		case spec.Count:
			continue
		case spec.Units:
			if t.statistic() == string(spec.Units) {
				continue
			}
			f.Part = id(string(spec.Units))
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
			name, at := quantilesOf(t.marginal, s.Column)
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
func termOf(r *spec.Release, t *table, term spec.Term, by []spec.Attribute) Term {
	out := Term{Kind: term.Kind, Column: term.Column}
	if len(by) > 0 {
		out.Counts = partPath(t.path, "count", by)
	}
	if term.Kind != spec.Count {
		name, _ := termSumsName(r, t, term.Column, by)
		out.Sums = partPath(t.path, name, by)
	}
	for _, a := range by {
		c := Condition{Attribute: a.String()}
		if i := slices.IndexFunc(term.Where, func(w spec.Condition) bool { return w.Attribute == a }); i >= 0 {
			level, _ := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level)
			for _, code := range term.Where[i].Codes {
				c.Categories = append(c.Categories, level.Categories[code].Code)
			}
		}
		out.Where = append(out.Where, c)
	}
	return out
}

// Additive reports whether the figure can be added up: its estimate is published too, whose mean over the noise is the exact figure
// of the rows as they are counted.
func (f Figure) Additive() bool {
	return f.Kind == spec.Sum || f.Kind == spec.Units || f.Kind == spec.Distinct
}

// Limits returns the least and the most that an additive figure of a table of these rows can be by what the spec declares: 0, the
// number of values of its column, or infinity.
func (f Figure) Limits(rows *spec.Table) (least, most float64) {
	most = math.Inf(1)
	switch f.Kind {
	case spec.Distinct:
		most = float64(rows.Column(f.Column).Domain.Size())
	case spec.Sum: // weights are not negative
		l := rows.Column(f.Column).Lattice
		if l.First < 0 {
			least = math.Inf(-1)
		}
		if l.Last <= 0 {
			most = 0
		}
	}
	return least, most
}

// asAsked tells that a figure is the one that the spec asks for, whatever is said of its quality.
func (f Figure) asAsked(asked Figure) bool {
	f.Quality, asked.Quality = Quality{}, Quality{}
	return reflect.DeepEqual(f, asked)
}

// goodRows is for how many rows in a cell the quality of figures is said that depends on it.
const goodRows = 1000

// assessFigures says how good the figures of a table will be, by the standard errors of what they are worked out from and a
// normal law: about.
func (p *Plan) assessFigures(t *Table, measured map[string]Measurement) {
	for i := range t.Figures {
		f := &t.Figures[i]
		if f.Kind == spec.Quantiles {
			continue // [draftPlan.assessQuantiles]
		}
		rows, counts, parts := p.restsOn(*t, *f, measured)
		variance := float64(counts * square(t.Statistics[0].StandardError))
		for _, part := range parts {
			variance += float64(part.squared * measured[part.id].Mechanism.Variance())
		}
		if variance == 0 {
			continue // it depends on more than a number of rows
		}
		per := max(float64(rows), 1)
		f.Quality = Quality{
			Rows: rows, StandardError: budget.RoundUp(math.Sqrt(variance)/per, significant),
			Margin: budget.RoundUp(budget.NormalQuantile((1-confidence)/2)*math.Sqrt(variance)/per, significant),
		}
	}
}

// rested is a part that a figure rests on, with the square of the factor that its noise has in the figure.
type rested struct {
	id      string
	squared float64
}

// restsOn says for a cell of how many rows the error of a figure is said, 0 for every cell, and by which factors, squared, the
// noise of the table's count and that of its parts enter the figure times these rows. Nothing enters one whose error depends
// on more.
func (p *Plan) restsOn(t Table, f Figure, measured map[string]Measurement) (rows int64, counts float64, parts []rested) {
	confidential := p.Release().Table(t.From)
	rows = goodRows
	if w := confidential.Weight; w != nil {
		most, _ := w.Lattice.Step.Float64()
		rows = int64(float64(goodRows*w.Lattice.Last) * most)
	}
	switch f.Kind {
	case spec.Units, spec.Distinct:
		return 0, 0, []rested{{f.Part, 1}}
	case spec.Sum, spec.Mean:
		unit, middle, half := scaleOf(confidential, measured[f.Sums].Query.Value)
		parts = []rested{{f.Sums, square(unit)}}
		if f.Kind == spec.Mean {
			return rows, square(half), parts
		}
		return 0, square(middle), parts
	case spec.Ratio:
		if f.Of.Kind != spec.Count || f.Over.Kind != spec.Count {
			break
		}
		cells := f.Of.cells(p, &t) + f.Over.cells(p, &t)
		if f.Of.Counts == "" {
			return rows, cells, nil
		}
		return rows, 0, []rested{{f.Of.Counts, cells}}
	}
	return rows, 0, nil
}

// cells is of how many cells of its part the term is the sum, for each cell of the table.
func (t Term) cells(p *Plan, of *Table) float64 {
	n := 1.0
	for _, c := range t.Where {
		if len(c.Categories) > 0 {
			n *= float64(len(c.Categories))
		} else {
			n *= p.sizeOf(of.From, attributeOf(c.Attribute))
		}
	}
	return n
}

func square(x float64) float64 { return float64(x * x) }

// scaleOf is, in the column's unit, what an integer of the value stands for, the middle of its range, and half of its width;
// of the widest of strata.
func scaleOf(t *spec.Table, v *Value) (unit, middle, half float64) {
	l := t.Column(v.Column).Lattice
	step, _ := l.Step.Float64()
	first, last := l.First, l.Last
	for i, by := range v.By {
		if by == slices.Min(v.By) {
			first, last = l.Strata[i].First, l.Strata[i].Last
		}
	}
	return step / float64(v.Times), step * float64(first+last) / 2, step * float64(last-first) / 2
}
