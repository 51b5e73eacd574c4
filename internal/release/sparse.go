package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds what is said of single cells of sparse tables: figures as of any table, or that the cell is not above the
// threshold.

// ThresholdLaw is that of a cell of a sparse table that is not published: its noisy count is not above the threshold. The
// interval is one-sided, from 0 on.
const ThresholdLaw Law = "threshold"

// NotAbove is what is known of a cell that a sparse table does not have.
type NotAbove struct {
	Threshold int64 `json:"threshold"`
	Bound     int64 `json:"bound"` // how many rows it has at most, at the confidence
}

// notAbove is that of a table, with the chance that a cell of more rows would be published.
func notAbove(t plan.Table, m plan.Measurement) (n *NotAbove, attained float64) {
	return &NotAbove{t.Sparse.Above, t.Sparse.Bound}, 1 - m.Mechanism.Above(t.Sparse.Bound-t.Sparse.Above)
}

// mostSparseRows bounds the rows of an answer from a sparse table.
const mostSparseRows = 1_000_000

// fillSparse works out the rows of an answer from a sparse table, one cell each. It fails where a row would add cells up:
// those that are not published are missing in every sum.
func (a *Answer) fillSparse(ctx context.Context, p *plan.Plan, reader *synth.Reader, asked *inquiry, from holder, answers []measured.Measured) error {
	table, answer := p.Tables[from.table], answers[0]
	refuse := func(format string, args ...any) error {
		return &verdict.Unusable{File: a.Folder, Err: fmt.Errorf(format, args...)}
	}
	rows := 1.0
	for _, codes := range from.codes {
		rows *= float64(len(codes))
	}
	if rows > mostSparseRows {
		return refuse("the answer would have %.0f rows, more than %s: name fewer categories with --where", rows, budget.Group(mostSparseRows))
	}
	figures, err := reader.Statistic(from.table, answers)
	if err != nil {
		return &verdict.Unusable{File: a.Folder, Err: err}
	}
	a.Table, a.Statistic, a.Confidence = table.Path, answerName, table.Statistics[0].Confidence
	a.Measurements, a.Above = []string{answer.Measurement.ID}, table.Sparse.Above
	for _, row := range from.rows(asked) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var cell []int
		for key, of := range from.selected(row.at) {
			if len(of) != 1 {
				return refuse("only table %s holds this, which has the cells above %s alone: nothing can be added up from it, so give one category of %s", table.Path, budget.Group(table.Sparse.Above), table.By[key])
			}
			cell = append(cell, of[0])
		}
		out, err := a.sparseRow(reader, table, answer, figures, cell)
		if err != nil {
			return &verdict.Unusable{File: a.Folder, Err: err}
		}
		out.Keys = row.keys
		a.Rows = append(a.Rows, out)
	}
	return nil
}

// sparseRow is what a sparse table says of one cell.
func (a *Answer) sparseRow(reader *synth.Reader, table plan.Table, answer measured.Measured, figures synth.Statistic, cell []int) (AnswerRow, error) {
	at, above, impossible, err := reader.Cell(answer, cell)
	out := AnswerRow{Cells: 1}
	switch {
	case err != nil:
		return out, err
	case impossible:
		out.Law, out.Attained = ExactLaw, 1
	case above:
		bearing := compiled.NewBearing(answer.Measurement, []float64{1}, []int64{1})
		law := newInterval([]compiled.Bearing{bearing}, a.Confidence, figures, at, 1)
		out.Unbiased, out.StandardError = float64(answer.Values.Value(at)), math.Sqrt(bearing.Variance)
		out.Low, out.High, out.Law, out.Attained = out.Unbiased-law.margin, out.Unbiased+law.margin, law.law, law.attained
	default:
		out.NotAbove, out.Attained = notAbove(table, answer.Measurement)
		out.High, out.Law = float64(out.NotAbove.Bound), ThresholdLaw
	}
	return out, nil
}

// MarshalJSON leaves the estimate out of a row that has none.
func (r AnswerRow) MarshalJSON() ([]byte, error) {
	type plain AnswerRow
	if r.NotAbove == nil {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct {
		Keys     []string  `json:"keys"`
		Cells    int       `json:"cells"`
		NotAbove *NotAbove `json:"not_above"`
		Low      float64   `json:"low"`
		High     float64   `json:"high"`
		Law      Law       `json:"law"`
		Attained float64   `json:"attained"`
	}{r.Keys, r.Cells, r.NotAbove, r.Low, r.High, r.Law, r.Attained})
}

// sparseCell is the trace of a cell of a sparse table.
func (t *Trace) sparseCell(e *published.Release, reader *synth.Reader, table int, selected [][]int, answers []measured.Measured) error {
	refuse := func(err error) error { return &verdict.Unusable{File: t.Folder, Err: err} }
	planned, answer := e.Plan.Tables[table], answers[0]
	var cell []int
	for _, of := range selected {
		cell = append(cell, of[0])
	}
	at, above, impossible, err := reader.Cell(answer, cell)
	if err != nil {
		return refuse(err)
	}
	if !above {
		if t.Law, t.Attained = ExactLaw, 1; !impossible {
			t.NotAbove, t.Attained = notAbove(planned, answer.Measurement)
			t.High, t.Law = float64(t.NotAbove.Bound), ThresholdLaw
		}
		return nil
	}
	if err := t.read(e, planned, at); err != nil {
		return err
	}
	figures, err := reader.Statistic(table, answers)
	if err != nil {
		return refuse(err)
	}
	made := &synth.Trace{
		Bearings: []compiled.Bearing{compiled.NewBearing(answer.Measurement, []float64{1}, []int64{1})},
		Sums:     []float64{float64(answer.Values.Value(at))},
	}
	t.origins(made, 1)
	law := newInterval(made.Bearings, t.Confidence, figures, at, 1)
	t.Law, t.Attained = law.law, law.attained
	if t.Difference != 0 {
		return &published.Altered{Place: t.Folder, File: planned.File()}
	}
	return nil
}

// MarshalJSON leaves out of a cell that is not published what it does not have.
func (t *Trace) MarshalJSON() ([]byte, error) {
	type plain Trace
	if t.NotAbove == nil && t.Missing == nil {
		return json.Marshal((*plain)(t))
	}
	type absent struct {
		Folder    string    `json:"folder"`
		Release   string    `json:"release"`
		Status    string    `json:"status"`
		Table     string    `json:"table"`
		Cell      []KeyOf   `json:"cell"`
		Statistic string    `json:"statistic"`
		NotAbove  *NotAbove `json:"not_above,omitempty"`
		Missing   *Missing  `json:"missing,omitempty"`
	}
	a := absent{t.Folder, t.Release, t.Status, t.Table, t.Cell, t.Statistic, t.NotAbove, t.Missing}
	if t.Missing != nil {
		return json.Marshal(a)
	}
	return json.Marshal(struct {
		absent
		Low        float64 `json:"low"`
		High       float64 `json:"high"`
		Confidence float64 `json:"confidence"`
		Law        Law     `json:"law"`
		Attained   float64 `json:"attained"`
		Covers     string  `json:"interval_covers"`
	}{a, t.Low, t.High, t.Confidence, t.Law, t.Attained, t.Covers})
}

// text says what is known of the cell.
func (n *NotAbove) text(confidence, attained float64) string {
	return fmt.Sprintf("not above %s\n%g %% bound      0 … %s (a cell of more rows is published with a chance of %s or more)\n\nThe cell has a noisy count like any other; it is not published, as it is not above the threshold. It need not be empty.\n",
		budget.Group(n.Threshold), 100*confidence, budget.Group(n.Bound), percentDown(attained))
}

// sparseFigures reads the counts of a sparse table with their intervals, and the places of their cells in domain order.
// columns are those of its keys, and of its figures.
func sparseCounts(t published.Table, columns []string) (histogram.Figures, error) {
	f := histogram.Figures{Cells: []uint64{}}
	keys := len(t.Planned.By)
	codes := placesOfCodes(t)
	err := t.EachRow(t.Planned.File(), columns, func(r parquet.Row) error {
		cell, known := uint64(0), true
		for i := range keys {
			at, ok := codes[i][r[i].String()]
			cell, known = cell*uint64(t.Levels[i].Size())+at, known && ok
		}
		if last := len(f.Cells) - 1; !known || last >= 0 && f.Cells[last] >= cell {
			return &verdict.Unusable{File: filepath.Join(t.Place, t.Planned.File()), Err: fmt.Errorf("row %d is not that of its place in the domain", len(f.Cells)+1)}
		}
		f.Cells, f.Published = append(f.Cells, cell), append(f.Published, r[keys].Int64())
		for i, column := range []*[]float64{&f.Unbiased, &f.Low, &f.High} {
			*column = append(*column, published.Number(r[keys+1+i]))
		}
		return nil
	})
	return f, err
}
