package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// Guarantee is what the release promises, in the terms of the spec.
type Guarantee struct {
	Definition  string       `json:"definition"` // "pure", "zcdp" or "approximate"
	Epsilon     string       `json:"epsilon,omitempty"`
	Delta       string       `json:"delta,omitempty"`
	Rho         string       `json:"rho,omitempty"`
	Equivalents []Equivalent `json:"equivalents,omitempty"`
	Method      string       `json:"method"`
	Protects    string       `json:"protects"`
	Neighbours  string       `json:"neighbours"`
	Unit        string       `json:"unit"`
	MaxRows     int64        `json:"max_rows"`
	Account     string       `json:"account,omitempty"`
}

// Equivalent is the ε that the guarantee implies at a δ, rounded up.
type Equivalent struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Method  string  `json:"method"`
}

// equivalentDeltas are where a plan in ρ says its ε.
var equivalentDeltas = []string{"1e-6", "1e-9"}

// guarantee states the promise in the spec's own terms.
func guarantee(r *spec.Release, p *Plan) (Guarantee, error) {
	unit := r.Tables[0].Unit
	g := Guarantee{
		Protects: r.Privacy.Protects, Neighbours: string(r.Privacy.Neighbours),
		Unit: "each row", MaxRows: unit.MaxRows, Account: r.Privacy.Account,
	}
	if !unit.Row {
		g.Unit = "all rows with the same " + unit.ID
	}
	switch b := r.Budget; {
	case b.Delta != nil:
		g.Definition, g.Epsilon, g.Delta = "approximate", budget.FormatRat(b.Epsilon), budget.FormatRat(b.Delta)
		g.Rho = budget.FormatRat(p.Cost.Rho)
		g.Method = "the ρ of all measurements added up, converted to ε at δ (Canonne, Kamath and Steinke 2020)"
		return g, nil
	case b.Epsilon != nil:
		g.Definition, g.Epsilon = "pure", budget.FormatRat(b.Epsilon)
		g.Method = "the ε of all measurements added up (Dwork, McSherry, Nissim and Smith 2006)"
		return g, nil
	default:
		g.Definition, g.Rho = "zcdp", budget.FormatRat(b.Rho)
		g.Method = "the ρ of all measurements added up (Bun and Steinke 2016)"
	}
	var err error
	g.Equivalents, err = equivalents(p.Measurements)
	return g, err
}

// equivalents are the ε that measurements in ρ imply at the usual δ.
func equivalents(all []Measurement) ([]Equivalent, error) {
	steps := make([]budget.Mechanism, len(all))
	for i, m := range all {
		steps[i] = m.Mechanism
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return nil, fmt.Errorf("composing the plan: %w", err)
	}
	out := make([]Equivalent, len(equivalentDeltas))
	for i, d := range equivalentDeltas {
		delta, err := budget.ParseRat(d)
		if err != nil {
			return nil, err
		}
		bound, err := loss.EpsilonAt(delta)
		if err != nil {
			return nil, fmt.Errorf("ε at δ = %s: %w", d, err)
		}
		out[i] = Equivalent{Delta: d, Epsilon: bound.Value, Method: bound.Method}
	}
	return out, nil
}
