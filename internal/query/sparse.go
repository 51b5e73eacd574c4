package query

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds answers about single cells of sparse tables: figures as in any table, or that the cell is not above
// the threshold.

// mostSparseRows bounds the rows of an answer from a sparse table.
const mostSparseRows = 1_000_000

// fillSparse computes the rows of an answer from a sparse table, one cell each. It returns an error if a row would add
// cells up: cells that are not published would be missing in the sum.
func (a *Answer) fillSparse(ctx context.Context, p *compiled.Compiled, reader *synth.Reader, question *resolvedQuestion,
	from matchingTable, answers []measured.Measured) error {
	table, answer := p.Tables[from.table], answers[0]
	refuse := func(format string, args ...any) error {
		return &verdict.Unusable{File: a.Folder, Err: fmt.Errorf(format, args...)}
	}
	rows := 1.0
	for _, codes := range from.codes {
		rows *= float64(len(codes))
	}
	if rows > mostSparseRows {
		return refuse("the answer would have %.0f rows, more than %s: name fewer categories with --where", rows,
			budget.Group(mostSparseRows))
	}
	figures, err := reader.Statistic(from.table, answers)
	if err != nil {
		return &verdict.Unusable{File: a.Folder, Err: err}
	}
	a.Table, a.Statistic, a.Confidence = table.Path, answerName, table.Statistics[0].Confidence
	a.Measurements, a.Above = []string{answer.Measurement.ID}, table.Sparse.Above
	for _, row := range from.questionRows(question) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var cell []int
		for key, of := range from.selectedCategories(row.at) {
			if len(of) != 1 {
				return refuse("only table %s holds this, which has the cells above %s alone: nothing can be added up "+
					"from it, so give one category of %s", table.Path, budget.Group(table.Sparse.Above), table.By[key])
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

// sparseRow returns the answer of a sparse table about one cell.
func (a *Answer) sparseRow(reader *synth.Reader, table plan.Table, answer measured.Measured, figures synth.Statistic,
	cell []int) (AnswerRow, error) {
	at, above, impossible, err := reader.Cell(answer, cell)
	out := AnswerRow{Cells: 1}
	switch {
	case err != nil:
		return out, err
	case impossible:
		out.Law, out.Attained = interval.Exact, 1
	case above:
		contribution := compiled.NewContribution(answer.Measurement, []float64{1}, []int64{1})
		law := interval.New([]compiled.Contribution{contribution}, a.Confidence, figures, at, 1)
		out.Unbiased, out.StandardError = float64(answer.Values.Value(at)), math.Sqrt(contribution.Variance)
		out.Low, out.High, out.Law, out.Attained = out.Unbiased-law.Margin, out.Unbiased+law.Margin, law.Law,
			law.Attained
	default:
		out.NotAbove, out.Attained = interval.NewNotAbove(table, answer.Measurement)
		out.High, out.Law = float64(out.NotAbove.Bound), interval.Threshold
	}
	return out, nil
}

// coversText says what the figures of an answer and their intervals are about.
func (a *Answer) coversText() string {
	if a.Above > 0 {
		return fmt.Sprintf(
			"The table has the cells above %s alone: figures little above that are too large on the mean. Intervals "+
				"hold over all cells, in the table or not, and cover %s.\n", budget.Group(a.Above), a.Covers)
	}
	return "Figures are unbiased estimates, and may be negative. Intervals cover " + a.Covers + ".\n"
}

// MarshalJSON omits the estimate of a row that has none.
func (r AnswerRow) MarshalJSON() ([]byte, error) {
	type plain AnswerRow
	if r.NotAbove == nil {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct {
		Keys     []string           `json:"keys"`
		Cells    int                `json:"cells"`
		NotAbove *interval.NotAbove `json:"not_above"`
		Low      float64            `json:"low"`
		High     float64            `json:"high"`
		Law      interval.Law       `json:"law"`
		Attained float64            `json:"attained"`
	}{r.Keys, r.Cells, r.NotAbove, r.Low, r.High, r.Law, r.Attained})
}
