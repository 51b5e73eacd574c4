package plan

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/hierarchy"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what a measurement says of reports, if it is a question that was put to respondents.

// Reports returns the reports that the measurement counts; it reports false if it counts something else.
func (m Measurement) Reports() (counted.Reports, bool) {
	reports, ok := m.Query.Counted.(counted.Reports)
	return reports, ok
}

// IsDrawn reports whether the measurement is one of several questions of which each device draws one and answers no
// other.
func (m Measurement) IsDrawn() bool {
	reports, ok := m.Reports()
	return ok && reports.Chance > 0
}

// checkReports returns an error unless reports, and only these, have the mechanism that devices use, and are those of
// the question.
func (m Measurement) checkReports() error {
	reports, ok := m.Reports()
	_, isTexts := m.Texts()
	switch {
	case ok != (m.Mechanism.Kind == budget.SubsetSelection),
		ok && (reports.Length > 0) != isTexts:
		return errIllegal
	case !ok:
		return nil
	}
	return reports.CheckQuestion(m.Cells, m.Mechanism.Parameter)
}

// Along returns how the categories of a query lie along one of its attributes. It reports false if that is none of
// them.
func (q Query) Along(r *spec.Release, attribute string) (hierarchy.Question, bool) {
	of, found := hierarchy.Question{Outer: 1, Size: 1, Inner: 1}, false
	levels, err := q.Levels(r)
	if err != nil {
		return of, false
	}
	for i, f := range q.Factors {
		switch size := levels[i].Size(); {
		case f.String() == attribute:
			of.Size, found = size, true
		case found:
			of.Inner *= size
		default:
			of.Outer *= size
		}
	}
	return of, found
}

// CheckBands returns an error unless the bands of a question fit the attribute that they are said to lie along.
func (m Measurement) CheckBands(r *spec.Release) error {
	reports, _ := m.Reports()
	if len(reports.Bands) == 0 && reports.Along == "" {
		return nil
	}
	of, ok := m.Query.Along(r, reports.Along)
	if !ok || len(reports.Bands) == 0 {
		return errIllegal
	}
	return reports.CheckBands(of)
}

// WithoutRandomiser returns a question without the randomiser of its reports, which the planner chooses.
func (q Query) WithoutRandomiser() Query {
	if reports, ok := q.Counted.(counted.Reports); ok {
		q.Counted = counted.Reports{Of: reports.Of}
	}
	return q
}
