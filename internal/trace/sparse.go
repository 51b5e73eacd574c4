package trace

import (
	"encoding/json"

	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the trace of a cell of a sparse table.

// sparseCell traces a cell of a sparse table.
func (t *Trace) sparseCell(e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error {
	_, selected, err := t.cellOf(e, table, codes)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	planned, answer := e.Plan.Tables[table], answers[0]
	var cell []int
	for _, of := range selected {
		cell = append(cell, of[0])
	}
	at, above, impossible, err := reader.Cell(answer, cell)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	if !above {
		if t.Law, t.Attained = interval.Exact, 1; !impossible {
			t.NotAbove, t.Attained = interval.NewNotAbove(planned, answer.Measurement)
			t.High, t.Law = float64(t.NotAbove.Bound), interval.Threshold
		}
		return nil
	}
	return t.oneAnswer(e, reader, table, at, answers)
}

// oneAnswer traces a figure that is one answer to a table's own measurement, at this index.
func (t *Trace) oneAnswer(e *published.Release, reader *synth.Reader, table, at int,
	answers []measured.Measured) error {
	planned, answer := e.Plan.Tables[table], answers[0]
	if err := t.readFigures(e, planned, at); err != nil {
		return err
	}
	figures, err := reader.Statistic(table, answers)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	unit := planned.Statistics[0].UnitValue()
	made := &synth.Trace{
		Contributions: []compiled.Contribution{compiled.NewContribution(answer.Measurement, []float64{1}, []int64{1})},
		Sums:          []float64{float64(answer.Values.Value(at))},
	}
	t.setOrigins(made, unit)
	law := interval.New(made.Contributions, t.Confidence, figures, at, unit)
	t.Law, t.Attained = law.Law, law.Attained
	if t.Difference != 0 {
		return &published.Altered{Folder: t.Folder, File: planned.File()}
	}
	return nil
}

// MarshalJSON omits what a cell that is not published does not have.
func (t *Trace) MarshalJSON() ([]byte, error) {
	type plain Trace
	if t.NotAbove == nil && t.Missing == nil {
		return json.Marshal((*plain)(t))
	}
	type absent struct {
		Folder    string             `json:"folder"`
		Release   string             `json:"release"`
		Status    string             `json:"status"`
		Table     string             `json:"table"`
		Cell      []KeyOf            `json:"cell"`
		Statistic string             `json:"statistic"`
		NotAbove  *interval.NotAbove `json:"not_above,omitempty"`
		Missing   *Missing           `json:"missing,omitempty"`
	}
	a := absent{t.Folder, t.Release, t.Status, t.Table, t.Cell, t.Statistic, t.NotAbove, t.Missing}
	if t.Missing != nil {
		return json.Marshal(a)
	}
	return json.Marshal(struct {
		absent
		Low        float64      `json:"low"`
		High       float64      `json:"high"`
		Confidence float64      `json:"confidence"`
		Law        interval.Law `json:"law"`
		Attained   float64      `json:"attained"`
		Covers     string       `json:"interval_covers"`
	}{a, t.Low, t.High, t.Confidence, t.Law, t.Attained, t.Covers})
}
