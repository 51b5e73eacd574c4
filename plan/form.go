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

// This file lists what a plan knows of each kind of what is counted and of what is given out: which of them go
// together, and the forms in which questions and measurements are written in JSON, with a key for each kind. The plain
// kinds, rows and all answers, have none.

// legal lists which answers of what is counted can be given out. Groups that nobody lists are selected by the units
// that they count; thresholds and choices compare counts, or sums of weights, with each other. Values at a rank, bins,
// different values and diagnostics are given out whole.
var legal = [counted.Kinds][selection.Kinds]bool{
	counted.KindRows: {selection.KindAll: true, selection.KindAbove: true, selection.KindTop: true,
		selection.KindGroups: true},
	counted.KindValues:     {selection.KindAll: true, selection.KindAbove: true, selection.KindTop: true},
	counted.KindQuantiles:  {selection.KindAll: true},
	counted.KindBins:       {selection.KindAll: true},
	counted.KindDistinct:   {selection.KindAll: true},
	counted.KindDiagnostic: {selection.KindAll: true},
	counted.KindReports:    {selection.KindAll: true, selection.KindTexts: true},
}

// queryForm is the JSON form of a [Query].
type queryForm struct {
	Table        string             `json:"table"`
	Factors      []Factor           `json:"factors"`
	Value        *counted.Values    `json:"value,omitempty"`
	Quantile     *counted.Quantiles `json:"quantile,omitempty"`
	Distribution *counted.Bins      `json:"distribution,omitempty"`
	Distinct     *counted.Distinct  `json:"distinct,omitempty"`
	Diagnostic   counted.Diagnostic `json:"diagnostic,omitempty"`
	Reports      *counted.Reports   `json:"reports,omitempty"`
	PerUnit      spec.PerUnit       `json:"per_unit,omitzero"`
}

// measurementForm is the JSON form of a [Measurement].
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
	Texts      *selection.Texts  `json:"texts,omitempty"`
}

// definitionForm is the JSON form of [Measurement.Canonical].
type definitionForm struct {
	ID         string            `json:"id"`
	Query      queryForm         `json:"query"`
	Impossible int64             `json:"impossible,omitempty"`
	Above      int64             `json:"above,omitempty"`
	Mechanism  budget.Mechanism  `json:"mechanism"`
	Discovery  *selection.Groups `json:"discovery,omitempty"`
	Top        *selection.Top    `json:"top,omitempty"`
	Texts      *selection.Texts  `json:"texts,omitempty"`
}

// countedForms lists where what is counted is in a query's form: how it is written, and what is read there, nil if
// there is none.
var countedForms = [counted.Kinds]struct {
	write func(f *queryForm, c counted.Counted)
	read  func(f queryForm) counted.Counted
}{
	counted.KindRows: {func(*queryForm, counted.Counted) {}, func(queryForm) counted.Counted { return nil }},
	counted.KindValues: {func(f *queryForm, c counted.Counted) { f.Value = pointerTo[counted.Values](c) },
		func(f queryForm) counted.Counted { return pointedTo(f.Value) }},
	counted.KindQuantiles: {func(f *queryForm, c counted.Counted) { f.Quantile = pointerTo[counted.Quantiles](c) },
		func(f queryForm) counted.Counted { return pointedTo(f.Quantile) }},
	counted.KindBins: {func(f *queryForm, c counted.Counted) { f.Distribution = pointerTo[counted.Bins](c) },
		func(f queryForm) counted.Counted { return pointedTo(f.Distribution) }},
	counted.KindDistinct: {func(f *queryForm, c counted.Counted) { f.Distinct = pointerTo[counted.Distinct](c) },
		func(f queryForm) counted.Counted { return pointedTo(f.Distinct) }},
	counted.KindDiagnostic: {func(f *queryForm, c counted.Counted) { f.Diagnostic = c.(counted.Diagnostic) },
		func(f queryForm) counted.Counted {
			if f.Diagnostic == "" {
				return nil
			}
			return f.Diagnostic
		}},
	counted.KindReports: {func(f *queryForm, c counted.Counted) { f.Reports = pointerTo[counted.Reports](c) },
		func(f queryForm) counted.Counted { return pointedTo(f.Reports) }},
}

// pointerTo returns a pointer to what is counted, for its form.
func pointerTo[T counted.Counted](c counted.Counted) *T {
	value := c.(T)
	return &value
}

// pointedTo returns what a form points to, nil if it points to nothing.
func pointedTo[T counted.Counted](p *T) counted.Counted {
	if p == nil {
		return nil
	}
	return *p
}

// form returns the query in its form.
func (q Query) form() queryForm {
	f := queryForm{Table: q.Table, Factors: q.Factors, PerUnit: q.PerUnit}
	countedForms[q.Counted.Kind()].write(&f, q.Counted)
	return f
}

// query reads the form. It reports an error where more than one thing is counted.
func (f queryForm) query() (Query, error) {
	q := Query{Table: f.Table, Factors: f.Factors, PerUnit: f.PerUnit, Counted: counted.Rows{}}
	found := 0
	for _, form := range countedForms {
		if c := form.read(f); c != nil {
			q.Counted = c
			found++
		}
	}
	if found > 1 {
		return q, errors.New("a measurement " + errIllegal.Error())
	}
	return q, nil
}

// MarshalJSON writes the query in its form.
func (q Query) MarshalJSON() ([]byte, error) { return encodeForm(q.form()) }

// form returns the measurement in its form.
func (m Measurement) form() measurementForm {
	f := measurementForm{ID: m.ID, Leaf: m.Leaf, Query: m.Query.form(), Cells: m.Cells, Impossible: m.Impossible,
		Mechanism: m.Mechanism}
	selectionForms[m.Selection.Kind()].write(&f, m.Selection)
	return f
}

// selectionForms lists where a selection is in a measurement's form: how it is written, and what is read there, nil
// if there is none.
var selectionForms = [selection.Kinds]struct {
	write func(f *measurementForm, s selection.Selection)
	read  func(f measurementForm) selection.Selection
}{
	selection.KindAll: {func(*measurementForm, selection.Selection) {},
		func(measurementForm) selection.Selection { return nil }},
	selection.KindAbove: {func(f *measurementForm, s selection.Selection) { f.Above = selection.Threshold(s) },
		func(f measurementForm) selection.Selection {
			if f.Above == 0 {
				return nil
			}
			return selection.Above{Threshold: f.Above}
		}},
	selection.KindTop: {func(f *measurementForm, s selection.Selection) { top := s.(selection.Top); f.Top = &top },
		func(f measurementForm) selection.Selection {
			if f.Top == nil {
				return nil
			}
			return *f.Top
		}},
	selection.KindGroups: {
		func(f *measurementForm, s selection.Selection) { groups := s.(selection.Groups); f.Discovery = &groups },
		func(f measurementForm) selection.Selection {
			if f.Discovery == nil {
				return nil
			}
			return *f.Discovery
		}},
	selection.KindTexts: {
		func(f *measurementForm, s selection.Selection) { texts := s.(selection.Texts); f.Texts = &texts },
		func(f measurementForm) selection.Selection {
			if f.Texts == nil {
				return nil
			}
			return *f.Texts
		}},
}

// MarshalJSON writes the measurement in its form.
func (m Measurement) MarshalJSON() ([]byte, error) { return encodeForm(m.form()) }

// encodeForm encodes a form. Whoever encodes the whole decides which characters are escaped.
func encodeForm(form any) ([]byte, error) {
	line, err := canonical.Line(form)
	return []byte(line), err
}

// UnmarshalJSON reads a measurement. It returns an error for an unknown key, and for a measurement that counts, or
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
	m.Selection = selection.All{}
	found := 0
	for _, form := range selectionForms {
		if s := form.read(f); s != nil {
			m.Selection = s
			found++
		}
	}
	if found > 1 {
		return errors.New("a measurement " + errIllegal.Error())
	}
	return nil
}

// selectsOnce reports whether a table has the facts of at most one selection, as its measurement has one.
func (t Table) selectsOnce() bool {
	selections := 0
	for _, is := range []bool{t.Sparse != nil, t.Top != nil, t.Discovered != nil, t.Texts != nil} {
		if is {
			selections++
		}
	}
	return selections <= 1
}
