package plan

import (
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/counted"
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
	switch {
	case ok != (m.Mechanism.Kind == budget.SubsetSelection):
		return errIllegal
	case !ok:
		return nil
	}
	return reports.CheckQuestion(m.Cells, m.Mechanism.Parameter)
}

// WithoutRandomiser returns a question without the randomiser of its reports, which the planner chooses.
func (q Query) WithoutRandomiser() Query {
	if reports, ok := q.Counted.(counted.Reports); ok {
		q.Counted = counted.Reports{Of: reports.Of}
	}
	return q
}
