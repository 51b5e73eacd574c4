package plan

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file holds measurements: a query, and the mechanism that answers it.

// Measurement is a query with the exact noise that its answers get. Everything that is ever learned of a confidential
// table is a measurement.
type Measurement struct {
	ID    string // path of the table it was planned for, or a name in microdata
	Leaf  string // budget leaf that pays
	Query Query
	Cells int64 // answers of the query; 0 if groups are discovered
	// Impossible is how many of the answers are never measured: those that [Query.Impossible] marks, exact zeros.
	Impossible int64
	Mechanism  budget.Mechanism
	// Selection says which of the answers are given out.
	Selection selection.Selection
}

// errIllegal is the error for a measurement that combines what cannot be combined.
var errIllegal = errors.New("asks for what this version cannot count at once")

// Check returns an error unless the measurement counts what can be counted of its table, and gives out what can be
// given out of that: by the table of legal pairs; by factors of categories only, unless rows or sums of values are
// counted; without factors if rows that were left out are counted; and with one bound per unit.
func (m Measurement) Check(t *spec.Table) error {
	q := m.Query
	kind := q.Counted.Kind()
	traits := kind.Traits()
	plain := !slices.ContainsFunc(q.Factors, func(f Factor) bool { return f.Basis != Identity })
	bounded := q.PerUnit != spec.PerUnit{}
	switch {
	case !legal[kind][m.Selection.Kind()],
		!plain && !traits.AnyFactor,
		len(q.Factors) > 0 && traits.NoFactor,
		bounded && traits.OwnBound:
		return errIllegal
	}
	if err := q.Counted.Check(t); err != nil {
		return err
	}
	return m.checkReports()
}

// Noisy reports whether the answers get noise, or are drawn.
func (m Measurement) Noisy() bool {
	return m.Query.Counted.Kind().Traits().Drawn || m.Mechanism.Variance() > 0
}

// Canonical returns the definition from which the noise stream of the measurement is derived. It contains the ID, so
// that a question asked twice in one plan is answered with two independent draws.
func (m Measurement) Canonical() []byte {
	form := m.form()
	form.Mechanism.Shares.Added = form.Mechanism.Shares.Needed // a holder's share is the same, whoever else adds one
	return canonical.Must(json.Marshal(definitionForm{form.ID, form.Query, form.Impossible, form.Above, form.Mechanism,
		form.Discovery, form.Top, form.Texts}))
}

// TableMeasurements returns the measurements for tables: all but those of microdata.
func (p *Plan) TableMeasurements() []Measurement {
	n := len(p.Measurements)
	for _, s := range p.Synthetic {
		n -= s.Measured()
	}
	return p.Measurements[:n]
}

// Measured returns the plan's measurements by ID.
func (p *Plan) Measured() map[string]Measurement {
	all := make(map[string]Measurement, len(p.Measurements))
	for _, m := range p.Measurements {
		all[m.ID] = m
	}
	return all
}

// Mechanisms returns the mechanisms of measurements, in their order. If each device
// draws one of several questions, which all have the same mechanism, that is listed once: which question is drawn does
// not depend on the answers, so a respondent loses what one question costs.
func Mechanisms(all []Measurement) []budget.Mechanism {
	steps := make([]budget.Mechanism, 0, len(all))
	drawn := false
	for _, m := range all {
		if m.IsDrawn() && drawn {
			continue
		}
		drawn = drawn || m.IsDrawn()
		steps = append(append(steps, m.Mechanism), m.Selection.Steps()...)
	}
	return steps
}
