package plan

import (
	"encoding/json"

	"github.com/dprelease/dprelease/budget"
)

// This file holds measurements: a query, and the mechanism that answers it.

// Measurement is a query with the exact noise that its answers get. Everything
// that is ever learned of a confidential table is a measurement.
type Measurement struct {
	ID    string `json:"id"`             // path of the table it was planned for, or of microdata and what they ask
	Leaf  string `json:"leaf,omitempty"` // budget leaf that pays
	Query Query  `json:"query"`
	Cells int64  `json:"cells"` // answers of the query
	// Impossible is how many of the answers are never measured: those that [Query.Impossible] marks, exact zeros.
	Impossible int64 `json:"impossible,omitempty"`
	// Above is the threshold of a sparse measurement: of all its answers those are kept whose noisy integer is larger. 0:
	// all are kept.
	Above     int64            `json:"above,omitempty"`
	Mechanism budget.Mechanism `json:"mechanism"`
	// Discovery selects the groups that are measured, where they are not listed; Cells is 0 then.
	Discovery *Discovery `json:"discovery,omitempty"`
	// Top is set where of all cells some are chosen: the answers are then the noisy integers of these, and where they are,
	// in the order of their choice.
	Top *Choices `json:"top,omitempty"`
}

// Canonical is the definition from which the noise stream of the measurement is
// derived. It holds the ID, so that a question asked twice in one plan is
// answered with two independent draws.
func (m Measurement) Canonical() []byte {
	b, err := json.Marshal(struct {
		ID         string           `json:"id"`
		Query      Query            `json:"query"`
		Impossible int64            `json:"impossible,omitempty"`
		Above      int64            `json:"above,omitempty"`
		Mechanism  budget.Mechanism `json:"mechanism"`
		Discovery  *Discovery       `json:"discovery,omitempty"`
		Top        *Choices         `json:"top,omitempty"`
	}{m.ID, m.Query, m.Impossible, m.Above, m.Mechanism, m.Discovery, m.Top})
	if err != nil {
		panic("plan: a measurement always encodes: " + err.Error())
	}
	return b
}

// TableMeasurements are the measurements for tables: all but those of microdata.
func (p *Plan) TableMeasurements() []Measurement {
	n := len(p.Measurements)
	for _, s := range p.Synthetic {
		n -= s.Measured()
	}
	return p.Measurements[:n]
}

// Measured are the plan's measurements by their IDs.
func (p *Plan) Measured() map[string]Measurement {
	all := make(map[string]Measurement, len(p.Measurements))
	for _, m := range p.Measurements {
		all[m.ID] = m
	}
	return all
}

// Mechanisms are those of measurements, in their order.
func Mechanisms(all []Measurement) []budget.Mechanism {
	steps := make([]budget.Mechanism, 0, len(all))
	for _, m := range all {
		if steps = append(steps, m.Mechanism); m.Discovery != nil {
			steps = append(steps, m.Discovery.StepsOf(1)...)
		}
		if m.Top != nil {
			steps = append(steps, m.Top.Steps()...)
		}
	}
	return steps
}
