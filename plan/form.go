package plan

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the forms in which questions and measurements are written in JSON: a key for each kind of what is
// counted and of what is given out, of which the plain ones, rows and all answers, have none.

// queryForm is how a [Query] is written.
type queryForm struct {
	Table        string             `json:"table"`
	Factors      []Factor           `json:"factors"`
	Value        *counted.Values    `json:"value,omitempty"`
	Quantile     *counted.Quantiles `json:"quantile,omitempty"`
	Distribution *counted.Bins      `json:"distribution,omitempty"`
	Distinct     *counted.Distinct  `json:"distinct,omitempty"`
	Diagnostic   counted.Diagnostic `json:"diagnostic,omitempty"`
	PerUnit      spec.PerUnit       `json:"per_unit,omitzero"`
}

// measurementForm is how a [Measurement] is written.
type measurementForm struct {
	ID         string            `json:"id"`
	Leaf       string            `json:"leaf,omitempty"`
	Query      queryForm         `json:"query"`
	Cells      int64             `json:"cells"`
	Impossible int64             `json:"impossible,omitempty"`
	Above      int64             `json:"above,omitempty"` // the threshold; 0 where there is none
	Mechanism  budget.Mechanism  `json:"mechanism"`
	Discovery  *selection.Groups `json:"discovery,omitempty"`
	Top        *selection.Top    `json:"top,omitempty"`
}

// definitionForm is how [Measurement.Canonical] is written.
type definitionForm struct {
	ID         string            `json:"id"`
	Query      queryForm         `json:"query"`
	Impossible int64             `json:"impossible,omitempty"`
	Above      int64             `json:"above,omitempty"`
	Mechanism  budget.Mechanism  `json:"mechanism"`
	Discovery  *selection.Groups `json:"discovery,omitempty"`
	Top        *selection.Top    `json:"top,omitempty"`
}

// form returns the query as it is written.
func (q Query) form() queryForm {
	f := queryForm{Table: q.Table, Factors: q.Factors, PerUnit: q.PerUnit}
	switch c := q.Counted.(type) {
	case counted.Values:
		f.Value = &c
	case counted.Quantiles:
		f.Quantile = &c
	case counted.Bins:
		f.Distribution = &c
	case counted.Distinct:
		f.Distinct = &c
	case counted.Diagnostic:
		f.Diagnostic = c
	}
	return f
}

// query reads the form. It reports an error where more than one thing is counted.
func (f queryForm) query() (Query, error) {
	q := Query{Table: f.Table, Factors: f.Factors, PerUnit: f.PerUnit}
	var kinds []counted.Counted
	if f.Value != nil {
		kinds = append(kinds, *f.Value)
	}
	if f.Quantile != nil {
		kinds = append(kinds, *f.Quantile)
	}
	if f.Distribution != nil {
		kinds = append(kinds, *f.Distribution)
	}
	if f.Distinct != nil {
		kinds = append(kinds, *f.Distinct)
	}
	if f.Diagnostic != "" {
		kinds = append(kinds, f.Diagnostic)
	}
	switch len(kinds) {
	case 0:
		q.Counted = counted.Rows{}
	case 1:
		q.Counted = kinds[0]
	default:
		return q, errors.New("a measurement " + errIllegal.Error())
	}
	return q, nil
}

// MarshalJSON writes the query in its form.
func (q Query) MarshalJSON() ([]byte, error) { return written(q.form()) }

// form returns the measurement as it is written.
func (m Measurement) form() measurementForm {
	f := measurementForm{ID: m.ID, Leaf: m.Leaf, Query: m.Query.form(), Cells: m.Cells, Impossible: m.Impossible,
		Mechanism: m.Mechanism}
	switch s := m.Selection.(type) {
	case selection.Above:
		f.Above = s.Threshold
	case selection.Groups:
		f.Discovery = &s
	case selection.Top:
		f.Top = &s
	}
	return f
}

// MarshalJSON writes the measurement in its form.
func (m Measurement) MarshalJSON() ([]byte, error) { return written(m.form()) }

// written encodes a form and leaves it to whoever encodes the whole which characters are escaped.
func written(form any) ([]byte, error) {
	line, err := canonical.Line(form)
	return []byte(line), err
}

// UnmarshalJSON reads a measurement. It reports an error where a key is unknown, or where the measurement counts, or
// gives out, more than one thing.
func (m *Measurement) UnmarshalJSON(b []byte) error {
	var f measurementForm
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return err
	}
	q, err := f.Query.query()
	if err != nil {
		return err
	}
	*m = Measurement{ID: f.ID, Leaf: f.Leaf, Query: q, Cells: f.Cells, Impossible: f.Impossible, Mechanism: f.Mechanism}
	var kinds []selection.Selection
	if f.Above != 0 {
		kinds = append(kinds, selection.Above{Threshold: f.Above})
	}
	if f.Discovery != nil {
		kinds = append(kinds, *f.Discovery)
	}
	if f.Top != nil {
		kinds = append(kinds, *f.Top)
	}
	switch len(kinds) {
	case 0:
		m.Selection = selection.All{}
	case 1:
		m.Selection = kinds[0]
	default:
		return errors.New("a measurement " + errIllegal.Error())
	}
	return nil
}

// selectsOnce reports whether a table has the facts of one selection at most, as its measurement has one.
func (t Table) selectsOnce() bool {
	selections := 0
	for _, is := range []bool{t.Sparse != nil, t.Top != nil, t.Discovered != nil} {
		if is {
			selections++
		}
	}
	return selections <= 1
}
