package plan

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// Loss explains the privacy loss of a plan: of the whole release, of each table
// alone, and of each attribute, which is what the release shows of it to somebody
// who knows all else about a unit.
type Loss struct {
	Release    string      `json:"release"`
	Deltas     []string    `json:"deltas"` // at which Epsilons are said
	Whole      LossOf      `json:"whole"`
	Tables     []LossOf    `json:"tables"`
	Attributes []LossOf    `json:"attributes"`
	Conversion *Conversion `json:"conversion,omitempty"`
}

// LossOf is the loss of some of a plan's mechanisms. Every figure is rounded up.
type LossOf struct {
	Of       string       `json:"of"`
	Tables   int          `json:"tables"`            // published ones that it is of; the microdata of a table count as one
	Pure     string       `json:"epsilon,omitempty"` // exact, where there is a pure ε
	Rho      string       `json:"rho"`               // exact
	Epsilons []Equivalent `json:"epsilons"`
	// TruePositiveRates of the best attack at these false positive rates.
	TruePositiveRates []TruePositiveRate `json:"true_positive_rates"`
}

// TruePositiveRate bounds how often an attack is right about a unit that is in
// the data when it is wrong about one that is not at this rate.
type TruePositiveRate struct {
	FalsePositiveRate float64 `json:"false_positive_rate"`
	AtMost            float64 `json:"at_most"`
}

// Conversion is what composing losses numerically has gained over converting
// the sum of ρ: the ρ that is spent, and the ρ that it would have allowed.
type Conversion struct {
	Rho   string `json:"rho"`
	Plain string `json:"plain_rho"`
}

// lossDeltas are where ε is said, beside the plan's own δ.
var lossDeltas = []string{"1e-6", "1e-9", "1e-12"}

// falsePositiveRates are those at which attacks are judged.
var falsePositiveRates = []float64{0.01, 0.05}

// Loss works out the loss of the plan and of its parts.
//
// Contract: the loss of a table is that of its measurement for the plan's
// neighbours, and that of microdata the loss of their columns and their block; that
// of an attribute is for neighbours that differ in one unit's
// values of the attribute, everything else about it and all others known: only
// tables that hold the attribute can tell them apart, and in each at most all of
// the unit's counted rows move from one cell to another, whatever the plan's own
// neighbours are; the blocks of microdata that hold it are charged as for that
// (docs/proofs/adaptive.md).
func (p *Plan) Loss() (*Loss, error) {
	deltas := slices.Clone(lossDeltas)
	if d := p.Guarantee.Delta; d != "" && !slices.ContainsFunc(deltas, func(text string) bool { return amount(text).Cmp(amount(d)) == 0 }) {
		deltas = append([]string{d}, deltas...)
	}
	return p.loss(deltas, falsePositiveRates)
}

// StatedLoss is [Plan.Loss] where the guarantee itself says an ε: at its δ, or at
// that of its first equivalent; a pure guarantee needs none. No attack is judged.
// It takes a fraction of the time.
func (p *Plan) StatedLoss() (*Loss, error) {
	var deltas []string
	if p.Guarantee.Delta != "" {
		deltas = append(deltas, p.Guarantee.Delta)
	}
	for _, e := range p.Guarantee.Equivalents[:min(1, len(p.Guarantee.Equivalents))] {
		deltas = append(deltas, e.Delta)
	}
	return p.loss(deltas, nil)
}

// loss works out the loss at these δ, and what attacks at these rates of false
// positives find.
func (p *Plan) loss(deltas []string, rates []float64) (*Loss, error) {
	l := &Loss{Release: p.Name, Deltas: deltas}
	alike := map[string]LossOf{} // by the mechanisms: tables, and attributes, share few
	of := func(name string, tables int, steps []budget.Mechanism) (LossOf, error) {
		key := fmt.Sprint(steps)
		one, ok := alike[key]
		if !ok {
			var err error
			if one, err = lossOf(name, steps, deltas, rates); err != nil {
				return one, err
			}
			alike[key] = one
		}
		one.Of, one.Tables = name, tables
		return one, nil
	}
	var err error
	if l.Whole, err = of("the whole release", len(p.Tables)+len(p.Synthetic), p.Mechanisms()); err != nil {
		return nil, err
	}
	parts, err := p.parts()
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		one, err := of(part.name, 1, part.steps)
		if err != nil {
			return nil, err
		}
		l.Tables = append(l.Tables, one)
	}
	for _, column := range p.attributes() {
		tables, steps, err := p.changing(column)
		if err != nil {
			return nil, err
		}
		one, err := of(column, tables, steps)
		if err != nil {
			return nil, err
		}
		l.Attributes = append(l.Attributes, one)
	}
	if g := p.Guarantee; g.PlainRho != "" {
		l.Conversion = &Conversion{Rho: g.Rho, Plain: g.PlainRho}
	}
	return l, nil
}

// part is one published table, or the microdata of one, with all that is asked
// for it.
type part struct {
	name  string
	steps []budget.Mechanism
}

// parts are the tables of a plan and its microdata, in order.
func (p *Plan) parts() ([]part, error) {
	behind, err := p.behind()
	if err != nil {
		return nil, err
	}
	var all []part
	for i, t := range p.Tables {
		all = append(all, part{t.Path, mechanisms(behind[i])})
	}
	for i, s := range p.Synthetic {
		all = append(all, part{s.name(), append(mechanisms(p.columnsOf(i)), s.Block)})
	}
	return all, nil
}

// lossOf is the loss of mechanisms composed.
func lossOf(name string, steps []budget.Mechanism, deltas []string, rates []float64) (LossOf, error) {
	one := LossOf{Of: name}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return one, fmt.Errorf("composing the loss of %s: %w", name, err)
	}
	one.Pure, one.Rho = budget.FormatRat(loss.Epsilon()), budget.FormatRat(loss.Rho())
	for _, d := range deltas {
		bound, err := loss.EpsilonAt(amount(d))
		if err != nil {
			return one, fmt.Errorf("ε of %s at δ = %s: %w", name, d, err)
		}
		one.Epsilons = append(one.Epsilons, Equivalent{Delta: d, Epsilon: budget.RoundUp(bound.Value, significant), Method: bound.Method})
	}
	for _, rate := range rates {
		one.TruePositiveRates = append(one.TruePositiveRates, TruePositiveRate{rate, loss.TruePositiveRate(rate)})
	}
	return one, nil
}

// attributes are the columns that tables and microdata are counted by, in the
// order of their first table.
func (p *Plan) attributes() []string {
	var columns []string
	for _, m := range p.Measurements {
		for _, f := range m.Query.Factors {
			if !slices.Contains(columns, f.Attribute) {
				columns = append(columns, f.Attribute)
			}
		}
	}
	return columns
}

// removedAndAdded is the ρ of two steps between neighbours, as a multiple of that
// of one: √ρ adds up over steps.
const removedAndAdded = 4

// changing is the mechanisms of the measurements and blocks that hold a column,
// for neighbours that differ in one unit's values of it, and of how many tables
// they are.
//
// Guarantee: the mechanisms bound what these neighbours tell apart. Theorem: a
// block that is ρ-zCDP when a unit is added or removed is 4ρ-zCDP for one removal
// and one addition (Bun & Steinke 2016, proposition 1.9); where units are replaced
// the change is one step. Argument: docs/proofs/sensitivity.md and
// docs/proofs/adaptive.md.
func (p *Plan) changing(column string) (tables int, steps []budget.Mechanism, err error) {
	for _, m := range p.Measurements {
		if slices.ContainsFunc(m.Query.Factors, func(f Factor) bool { return f.Attribute == column }) && m.Cells > 1 {
			changed, err := p.changed(m, column)
			if err != nil {
				return 0, nil, fmt.Errorf("measurement %s: %w", m.ID, err)
			}
			steps = append(steps, changed)
		}
	}
	for _, t := range p.Tables {
		if slices.ContainsFunc(p.Query(t).Factors, func(f Factor) bool { return f.Attribute == column }) {
			tables++
		}
	}
	for _, s := range p.Synthetic {
		if !slices.ContainsFunc(s.By, func(f Factor) bool { return f.Attribute == column }) {
			continue
		}
		changed := s.Block
		if p.release.Privacy.Neighbours != spec.Replace {
			changed.Parameter = new(big.Rat).Mul(changed.Parameter, big.NewRat(removedAndAdded, 1))
		}
		steps = append(steps, changed)
		tables++
	}
	return tables, steps, nil
}

// changed is the mechanism of a measurement for neighbours that differ in a unit's values of one column: k rows that
// leave one cell for another or, in a residual, move the integers by the difference of two columns of the query that
// differ in one factor.
//
// Guarantee: the sensitivity bounds that move. Neighbours: a unit with other values of the column in its k rows, all
// else equal. Theorem: ‖(a − a′) ⊗ b‖ = ‖a − a′‖·‖b‖, and norms are convex. Argument: docs/proofs/residuals.md.
func (p *Plan) changed(m Measurement, column string) (budget.Mechanism, error) {
	changed := m.Mechanism
	rows := p.release.Table(m.Query.Table).Unit.MaxRows
	k := big.NewInt(rows)
	columns, axes, residuals, err := m.Query.Residual(p.release)
	if err != nil {
		return changed, err
	}
	changed.L2Squared = new(big.Int).Mul(k, k)
	if !residuals {
		changed.L2Squared.Lsh(changed.L2Squared, 1)
		changed.L1 = k.Lsh(k, 1)
		changed.Shifts = []budget.Shift{{rows, rows}}
		return changed, nil
	}
	changed.L1 = k.Lsh(k, 1)
	for i, a := range axes {
		moves := columns[i].Moves(a.Level)
		squares := moves.Squares
		if m.Query.Factors[i].Attribute == column {
			squares = moves.Apart
		}
		changed.L1.Mul(changed.L1, big.NewInt(moves.Norm))
		changed.L2Squared.Mul(changed.L2Squared, big.NewInt(squares))
	}
	return changed, nil
}

// Write prints the loss as a page: what the release, each table and each
// attribute costs, and how far the best attack gets.
func (l *Loss) Write(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Privacy loss of release %s; every figure is rounded up\n\n", l.Release)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	heads := []string{"", "tables", "ρ"}
	if l.Whole.Pure != "" {
		heads = append(heads, "pure ε")
	}
	for _, d := range l.Deltas {
		heads = append(heads, "ε at δ = "+d)
	}
	for _, rate := range falsePositiveRates {
		heads = append(heads, "found, "+budget.Percent(rate)+" wrongly")
	}
	fmt.Fprintln(t, strings.Join(heads, "\t"))
	l.row(t, l.Whole)
	fmt.Fprintln(t, "each table alone"+strings.Repeat("\t", len(heads)-1))
	for from := 0; from < len(l.Tables); {
		to := from + 1
		for to < len(l.Tables) && l.Tables[to].sameAs(l.Tables[from]) {
			to++
		}
		one := l.Tables[from]
		if more := to - from - 1; more > 0 {
			one.Of += fmt.Sprintf(" and %d more like it", more)
		}
		one.Of = "  " + one.Of
		l.row(t, one)
		from = to
	}
	fmt.Fprintln(t, "each attribute, all else known"+strings.Repeat("\t", len(heads)-1))
	for _, one := range l.Attributes {
		one.Of = "  " + one.Of
		l.row(t, one)
	}
	t.Flush()
	fmt.Fprintf(b, "\nFound: how often the best attack finds a unit that is in the data, if it may wrongly find one that is not at the rate named;\nwithout the release it would find as many as it finds wrongly.\n")
	if c := l.Conversion; c != nil {
		spent, plain := amount(c.Rho), amount(c.Plain)
		more, _ := new(big.Rat).Quo(spent, plain).Float64()
		fmt.Fprintf(b, "\nComposed numerically, the budget buys ρ %s; the conversion of ρ alone would allow %s, with %s more variance in every cell.\n",
			budget.Amount(spent), strings.TrimPrefix(budget.Amount(plain), "= "), budget.Percent(more-1))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sameAs tells that two tables lose the same.
func (a LossOf) sameAs(b LossOf) bool {
	return a.Rho == b.Rho && a.Pure == b.Pure && slices.Equal(a.Epsilons, b.Epsilons) && slices.Equal(a.TruePositiveRates, b.TruePositiveRates)
}

func (l *Loss) row(w io.Writer, one LossOf) {
	cells := []string{one.Of, fmt.Sprint(one.Tables), budget.DecimalUp(amount(one.Rho), 4)}
	if l.Whole.Pure != "" {
		cells = append(cells, budget.DecimalUp(amount(one.Pure), 4))
	}
	for _, e := range one.Epsilons {
		cells = append(cells, strings.TrimPrefix(e.Bound(), "ε = "))
	}
	for _, r := range one.TruePositiveRates {
		cells = append(cells, budget.DecimalUp(new(big.Rat).SetFloat64(100*r.AtMost), 4)+" %")
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}
