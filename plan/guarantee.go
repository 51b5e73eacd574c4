package plan

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
	"github.com/dprelease/dprelease/spec"
)

// Guarantee is what the release promises, in the terms of the spec.
type Guarantee struct {
	Definition  string       `json:"definition"` // "pure", "zcdp" or "approximate"
	Epsilon     string       `json:"epsilon,omitempty"`
	Delta       string       `json:"delta,omitempty"`
	Rho         string       `json:"rho,omitempty"`
	PlainRho    string       `json:"plain_rho,omitempty"` // what ε and δ would allow by the conversion of ρ alone
	Equivalents []Equivalent `json:"equivalents,omitempty"`
	Method      string       `json:"method"`
	Protects    string       `json:"protects"`
	Neighbours  string       `json:"neighbours"`
	Unit        string       `json:"unit"`
	MaxRows     int64        `json:"max_rows"`                  // in all tables
	Rows        []UnitRows   `json:"rows_in_tables,omitempty"`  // where they are several
	WithoutID   string       `json:"rows_without_id,omitempty"` // what happens to them, "" where the run stops
	Account     string       `json:"account,omitempty"`
	Also        []string     `json:"also,omitempty"`       // accounts of further datasets that are read, charged as well
	Sample      string       `json:"sample,omitempty"`     // the share of the units that is drawn in secret, an exact fraction; "" for all
	Invariants  []string     `json:"given_away,omitempty"` // public figures, of which it says nothing: [Invariant.Sentence]
}

// LeftOut says of rows without an id that they are counted nowhere.
const LeftOut = "left out"

// Equivalent is the ε that the guarantee implies at a δ, rounded up.
type Equivalent struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Method  string  `json:"method"`
}

// equivalentDeltas are where a plan in ρ says its ε.
var equivalentDeltas = []string{"1e-6", "1e-9"}

// significant is how many digits of an ε a plan keeps.
const significant = 7

// decisive is how far above δ, relatively, the second accountant's figure and its
// error may end together if it is to count as a judgement.
const decisive = 1e-3

// guarantee states the promise in the spec's own terms. spent is the budget that its mechanisms may have together: that of
// the release, or of those units that a sample draws.
func guarantee(r *spec.Release, spent spec.Budget, p *Plan) (Guarantee, error) {
	g := Guarantee{
		Protects: r.Privacy.Protects, Neighbours: string(r.Privacy.Neighbours),
		Account: r.Privacy.Account, Also: r.Privacy.Also,
	}
	g.unitOf(r)
	g.Invariants = givenAway(p.Invariants)
	var capped, rounds, sampled string // how those of microdata enter: what they may lose at most, however many are made
	if p.Adapts() {
		capped, rounds = ", with the rounds of microdata by their cap in ρ (Bun and Steinke 2016)", " and the cap of all rounds of microdata"
	}
	if p.Sample != nil {
		g.Sample = p.Sample.Share
		sampled = fmt.Sprintf(", of a secret sample of %s of the units, drawn once (Balle, Barthe and Gaboardi 2018)", shareText(p.Sample.Share))
	}
	switch b := r.Budget; {
	case b.Delta != nil:
		g.Definition, g.Epsilon, g.Delta = "approximate", budget.FormatRat(b.Epsilon), budget.FormatRat(b.Delta)
		g.Rho = budget.FormatRat(p.Cost.Rho)
		g.Method = "the privacy losses of all measurements composed numerically (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022)" + capped + sampled
		if reserved := p.Reserved(); reserved != nil {
			g.Method += fmt.Sprintf(", at a δ of %s: the other %s are reserved for groups that nobody listed to appear (Desfontaines, Voss, Gipson and Mandayam 2022)", budget.DecimalUp(spent.Delta, significant), budget.DecimalUp(reserved, significant))
		}
		plain, err := budget.RhoForEpsilonDelta(spent.Epsilon, spent.Delta)
		if err != nil {
			return g, fmt.Errorf("budget: %w", err)
		}
		g.PlainRho = budget.FormatRat(plain)
		judged, err := judge(p.Mechanisms(), spent.Epsilon, spent.Delta)
		if judged {
			g.Method += ", and judged again by a contour integral"
		}
		return g, err
	case b.Epsilon != nil:
		g.Definition, g.Epsilon = "pure", budget.FormatRat(p.Cost.Epsilon)
		g.Method = "the ε of all measurements" + rounds + sampled + " added up (Dwork, McSherry, Nissim and Smith 2006)"
		return g, nil
	default:
		g.Definition, g.Rho = "zcdp", budget.FormatRat(p.Cost.Rho)
		g.Method = "the ρ of all measurements" + rounds + sampled + " added up (Bun and Steinke 2016)"
	}
	var err error
	g.Equivalents, err = equivalents(p.Mechanisms())
	return g, err
}

// judge fails where the second accountant, which shares no code with the first,
// finds that the mechanisms exceed ε and δ, and tells whether it could judge
// them: not all kinds of mechanism, and not to enough digits at every ε.
//
// Contract: a plan that New returns without an error has been judged by two
// accountants, or by one, and then its method does not speak of the second.
// Argument: docs/proofs/contour.md.
func judge(all []budget.Mechanism, epsilon, delta *big.Rat) (bool, error) {
	e, _ := epsilon.Float64()
	d, _ := delta.Float64()
	second, err := contour.Delta(all, e)
	switch {
	case errors.Is(err, contour.ErrCannotJudge):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("judging the plan a second time: %w", err)
	case second.Delta-second.Error > d*(1+1e-9):
		return false, fmt.Errorf("the two accountants disagree: the plan has δ = %g by one of them, %g by the other: nothing was planned, please report this", d, second.Delta)
	}
	return second.Delta+second.Error <= d*(1+decisive), nil
}

// equivalents are the ε that mechanisms in ρ imply at the usual δ.
func equivalents(all []budget.Mechanism) ([]Equivalent, error) {
	loss, err := budget.Compose(all...)
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
		out[i] = Equivalent{Delta: d, Epsilon: budget.RoundUp(bound.Value, significant), Method: bound.Method}
	}
	return out, nil
}
