package report

// This file holds how the cells of a table are sorted by what they are precise enough for, in the classes that the spec has:
// from the published arrays alone.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// FitClass is how many cells of a table are in a class of fitness: the first whose AtMost their relative standard error does
// not pass. That is the standard error beside a figure divided by the figure without its sign, before it is shown as zero or
// rounded. Impossible and withheld cells are in no class.
type FitClass struct {
	Name   string `json:"name"`
	AtMost string `json:"at_most,omitempty"` // an exact fraction; "" of the last class, which takes the rest
	// From is, of counts, from which count on a cell of the table is in this class or a better one, whichever cell it is.
	From  int64   `json:"from,omitempty"`
	Cells int64   `json:"cells"`
	Share float64 `json:"share"` // of the cells in all classes
}

// fitted sorts cells into classes.
type fitted struct {
	classes []FitClass
	bounds  []float64
	signed  bool // figures below zero are figures like others; else noise alone takes one there
}

// fitting is the empty classes of a release, nil where its spec has none.
func fitting(p *plan.Plan, signed bool) *fitted {
	fit := p.Release().Fit
	if fit == nil {
		return nil
	}
	f := &fitted{classes: make([]FitClass, len(fit)), signed: signed}
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
	class := slices.IndexFunc(f.bounds, func(bound float64) bool { return figure > 0 && standardError <= float64(bound*figure) })
	if class < 0 {
		class = len(f.bounds)
	}
	f.classes[class].Cells++
}

// done are the classes with their shares.
func (f *fitted) done() []FitClass {
	var all int64
	for _, c := range f.classes {
		all += c.Cells
	}
	for i := range f.classes {
		f.classes[i].Share = part64(f.classes[i].Cells, all)
	}
	return f.classes
}

// fitOfCounts sorts the cells of a count, nil where the spec has no classes.
func fitOfCounts(p *plan.Plan, s synth.Statistic) []FitClass {
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
		if c.AtMost != nil && p.Sample == nil { // errors that hold sampling grow with the count
			f.classes[i].From = countFrom(largest, c.AtMost)
		}
	}
	return f.done()
}

// countFrom is the least count, 1 or more, beside which a standard error is at most a part of it; 0 where that is beyond all counts.
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

// fitOfFigures sorts the cells of a figure beside the count, nil where the spec has no classes, and of quantiles, which have
// no standard error. A figure whose error the noise leaves open is in the last class.
func fitOfFigures(p *plan.Plan, planned plan.Table, n synth.Number) []FitClass {
	if n.Kind == spec.Quantiles {
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
	if slices.Contains([]spec.StatKind{spec.Units, spec.Distinct, spec.Variance, spec.Deviation}, f.Kind) {
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

// FitColumn is a class with what heads its column.
type FitColumn struct {
	Name  string
	Bound string // what the relative standard error of its figures is
}

// FitRow is a figure of a table with its cells by class.
type FitRow struct {
	Table, Figure string
	Classes       []FitClass
}

// FitColumns are the classes of the release, none where the spec has none.
func (r *Report) FitColumns() []FitColumn {
	rows := r.FitRows()
	if len(rows) == 0 {
		return nil
	}
	columns := make([]FitColumn, len(rows[0].Classes))
	for i, c := range rows[0].Classes {
		columns[i] = FitColumn{Name: c.Name, Bound: "more"}
		if c.AtMost != "" {
			columns[i].Bound = "at most " + c.Percent()
		}
	}
	return columns
}

// FitRows are the figures of the release that are sorted into classes, in the order of the tables.
func (r *Report) FitRows() []FitRow {
	var rows []FitRow
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if s.Fit != nil {
				rows = append(rows, FitRow{t.Path, s.Name, s.Fit})
			}
		}
		for _, f := range t.Figures {
			if f.Fit != nil {
				rows = append(rows, FitRow{t.Path, f.Name, f.Fit})
			}
		}
	}
	return rows
}

// Percent is the bound of the class as a percentage, "" of the last.
func (c FitClass) Percent() string {
	r, ok := new(big.Rat).SetString(c.AtMost)
	if !ok {
		return ""
	}
	v, _ := r.Float64()
	return budget.Percent(v)
}

// CellsText is how many cells are in the class, with their share.
func (c FitClass) CellsText() string {
	if c.Cells == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s)", budget.Group(c.Cells), budget.Percent(c.Share))
}

// FitText says what the classes mean, "" where there are none.
func (r *Report) FitText() string {
	columns := r.FitColumns()
	if columns == nil {
		return ""
	}
	var classes []string
	for _, c := range columns[:len(columns)-1] {
		classes = append(classes, c.Name+" "+c.Bound)
	}
	return fmt.Sprintf("The office sorts figures by their relative standard error, the standard error beside a figure divided by the figure: %s; %s is the rest, every count of zero or below among it. Which class a cell is in was worked out from its noisy figure, so a cell close to a bound may be on the wrong side of it. %s",
		strings.Join(classes, ", "), columns[len(columns)-1].Name, r.errorHolds())
}

// errorHolds says what the standard errors hold and what they do not.
func (r *Report) errorHolds() string {
	if r.Guarantee.Sample != "" {
		return "The standard errors hold the noise and the drawing of the sample; response error is not in them."
	}
	return "Sampling and response error do not enter into it."
}

// FitFrom says of a table of counts from which count on its cells are in a class, "" where that is not known.
func (row FitRow) FitFrom() string {
	var from []string
	for _, c := range row.Classes {
		if c.From > 0 {
			from = append(from, fmt.Sprintf("%s from %s on", c.Name, budget.Group(c.From)))
		}
	}
	return inWords(from)
}
