package describe

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the privacy loss of a plan and of its parts: leaves, tables, and the attributes of a unit.

// isParentColumn reports whether a factor of a table is a column of its rows' parent rows.
func isParentColumn(p *plan.Plan, table string, f plan.Factor) bool {
	link := p.Release().Table(table).Column(f.Attribute).Link
	return link != nil && link.Column != ""
}

// isLinkedTo reports whether a factor of a table takes its values from other rows of the unit, and these values
// change if the unit's values of a column do: either the factor is that column of the parent, or it is a number of
// rows that the column decides.
func isLinkedTo(p *plan.Plan, table string, f plan.Factor, column string) bool {
	link := p.Release().Table(table).Column(f.Attribute).Link
	switch {
	case link == nil:
		return false
	case link.Column == "":
		return dropsRows(p, link.Table, column)
	}
	return haveSameValues(p.Release().Table(link.Table), link.Column, column) ||
		isLinkedTo(p, link.Table, plan.Factor{Attribute: link.Column}, column)
}

// Loss explains the privacy loss of a plan: of the whole release, of each leaf of its budget and each table
// separately, and of each attribute, which is what the release reveals of it to somebody who knows everything else
// about a unit.
type Loss struct {
	Release    string      `json:"release"`
	Deltas     []string    `json:"deltas"` // at which Epsilons are stated
	Whole      LossLine    `json:"whole"`
	Leaves     []LossLine  `json:"leaves,omitempty"` // of a budget that is split
	Tables     []LossLine  `json:"tables"`
	Attributes []LossLine  `json:"attributes"`
	Conversion *Conversion `json:"conversion,omitempty"`

	neighbours spec.Neighbours
	sample     plan.Sample
	local      bool // answers were randomised on the respondents' devices
}

// LossLine is the loss of some of a plan's mechanisms. Every figure is rounded up.
type LossLine struct {
	Of string `json:"of"`
	// Tables is the number of published tables; the microdata of a table count as one.
	Tables   int               `json:"tables"`
	Pure     string            `json:"epsilon,omitempty"` // a pure ε, if there is one: exact, or rounded up for a sample
	Rho      string            `json:"rho"`               // exact
	Epsilons []plan.Equivalent `json:"epsilons"`
	// TruePositiveRates of the best attack at these false positive rates.
	TruePositiveRates []TruePositiveRate `json:"true_positive_rates"`

	kind string // of a table: its marginal and how many attributes it has
}

// TruePositiveRate bounds how often an attack is right about a unit that is in the data if it is wrong about one that
// is not at this rate.
type TruePositiveRate struct {
	FalsePositiveRate float64 `json:"false_positive_rate"`
	AtMost            float64 `json:"at_most"`
}

// Conversion is what the numerical composition of losses has gained over the conversion of the sum of ρ: the ρ that
// is spent, and the ρ that the conversion would have allowed.
type Conversion struct {
	Rho   string `json:"rho"`
	Plain string `json:"plain_rho"`
}

// lossDeltas are the δ at which ε is stated, in addition to the plan's own δ.
var lossDeltas = []string{"1e-6", "1e-9", "1e-12"}

// falsePositiveRates are the rates at which attacks are judged.
var falsePositiveRates = []float64{0.01, 0.05}

// PrivacyLoss works out the loss of the plan and of its parts.
//
// Contract: the loss of a leaf is the loss of all measurements it pays for, for the plan's neighbours. The loss of a
// table is the loss of all measurements that contribute to it, and the loss of microdata is the loss of their columns
// and their block. The loss of an attribute is for neighbours that differ in one unit's values of the attribute,
// everything else about it and all others known: only tables that hold the attribute can distinguish them, and in
// each at most all of the unit's counted rows move from one cell to another, whatever the plan's own neighbours are;
// the blocks of microdata that hold it are charged accordingly (docs/proofs/adaptive.md).
func PrivacyLoss(p *compiled.Compiled) (*Loss, error) {
	deltas := slices.Clone(lossDeltas)
	if d := p.Guarantee.Delta; d != "" &&
		!slices.ContainsFunc(deltas, func(text string) bool { return plan.Amount(text).Cmp(plan.Amount(d)) == 0 }) {
		deltas = append([]string{d}, deltas...)
	}
	return lossAt(p, deltas, falsePositiveRates)
}

// StatedLoss is [PrivacyLoss] where the guarantee itself states an ε: at its δ, or at the δ of its first equivalent;
// a pure guarantee needs none. It judges no attack, and takes a fraction of the time.
func StatedLoss(p *compiled.Compiled) (*Loss, error) {
	var deltas []string
	if p.Guarantee.Delta != "" {
		deltas = append(deltas, p.Guarantee.Delta)
	}
	for _, e := range p.Guarantee.Equivalents[:min(1, len(p.Guarantee.Equivalents))] {
		deltas = append(deltas, e.Delta)
	}
	return lossAt(p, deltas, nil)
}

// lossAt works out the loss at these δ, and the success of attacks at these false positive rates.
func lossAt(c *compiled.Compiled, deltas []string, rates []float64) (*Loss, error) {
	p := c.Plan()
	deltas = deltasBeyondReserved(p, deltas)
	l := &Loss{Release: p.Name, Deltas: deltas, neighbours: p.Release().Privacy.Neighbours, sample: p.Sample,
		local: p.Release().Collection != nil}
	known := map[string]LossLine{} // by the mechanisms: tables, and attributes, share few
	reserved := workload.Reserved(p)
	lossFor := func(name string, tables int, steps []budget.Mechanism, sample plan.Sample) (LossLine, error) {
		key := fmt.Sprint(steps, sample.Share, reserved)
		one, ok := known[key]
		if !ok {
			var err error
			if one, err = lossOf(name, steps, sample, reserved, deltas, rates); err != nil {
				return one, err
			}
			known[key] = one
		}
		one.Of, one.Tables = name, tables
		return one, nil
	}
	var err error
	if l.Whole, err = lossFor("the whole release", len(p.Tables)+len(p.Synthetic)+len(p.Models), p.Mechanisms(),
		p.Sample); err != nil {
		return nil, err
	}
	for _, leaf := range leafParts(p) {
		one, err := lossFor(leaf.name, leaf.tables, leaf.steps, p.Sample)
		if err != nil {
			return nil, err
		}
		l.Leaves = append(l.Leaves, one)
	}
	parts, err := tableParts(c)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		one, err := lossFor(part.name, part.tables, part.steps, p.Sample)
		if err != nil {
			return nil, err
		}
		one.kind = part.kind
		l.Tables = append(l.Tables, one)
	}
	for _, column := range Attributes(p) {
		tables, steps, err := MechanismsOfColumn(p, column)
		if err != nil {
			return nil, err
		}
		if reserved != nil { // for the unit that is removed, and for the one that is added
			reserved = new(big.Rat).Mul(workload.Reserved(p), big.NewRat(selectionCharges(p), 1))
		}
		// The values of a unit do not change whether it is drawn, so sampling gains nothing.
		one, err := lossFor(column, tables, steps, plan.Sample{})
		if err != nil {
			return nil, err
		}
		l.Attributes = append(l.Attributes, one)
	}
	if g := p.Guarantee; g.PlainRho != "" && !hasLaplace(p) {
		l.Conversion = &Conversion{Rho: g.Rho, Plain: g.PlainRho}
	}
	return l, nil
}

// lossPart is a part of a plan: a leaf of its budget, a published table, the microdata of one or a model, with all that
// is measured for it.
type lossPart struct {
	name   string
	kind   string
	tables int
	steps  []budget.Mechanism
}

// leafParts returns the leaves of a budget that is split.
func leafParts(p *plan.Plan) []lossPart {
	if len(p.Leaves) < 2 {
		return nil
	}
	all := make([]lossPart, len(p.Leaves))
	for i, l := range p.Leaves {
		all[i] = lossPart{name: l.Path, tables: l.Tables}
		for _, m := range p.Measurements {
			if m.Leaf == l.Path {
				all[i].steps = append(all[i].steps, plan.Mechanisms([]plan.Measurement{m})...)
			}
		}
		for _, s := range p.Synthetic {
			if s.Adaptive() && s.Leaf == l.Path {
				all[i].tables++
				all[i].steps = append(all[i].steps, s.Block)
			}
		}
		for _, m := range p.Models {
			if m.Leaf == l.Path {
				all[i].tables++
				all[i].steps = append(all[i].steps, m.Mechanisms()...)
			}
		}
	}
	return all
}

// tableParts returns the tables of a plan, its microdata and its models, in order.
func tableParts(p *compiled.Compiled) ([]lossPart, error) {
	behind, err := p.MeasurementsByTable()
	if err != nil {
		return nil, err
	}
	var all []lossPart
	for i, t := range p.Tables {
		all = append(all, lossPart{t.Path, fmt.Sprint(t.Marginal, len(t.By)), 1, plan.Mechanisms(behind[i])})
	}
	for i, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		all = append(all, lossPart{s.Name(), s.Name(), 1, append(plan.Mechanisms(p.ColumnsOf(i)), s.Block)})
	}
	for _, m := range p.Models {
		all = append(all, lossPart{m.Path(), m.Path(), 1, m.Mechanisms()})
	}
	return all, nil
}

// lossOf returns the loss of composed mechanisms. reserved is the additional δ of selections; nil for none.
func lossOf(name string, steps []budget.Mechanism, sample plan.Sample, reserved *big.Rat, deltas []string,
	rates []float64) (LossLine, error) {
	one := LossLine{Of: name}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return one, fmt.Errorf("composing the loss of %s: %w", name, err)
	}
	one.Rho = budget.FormatRat(loss.Rho())
	if loss, one.Pure, err = amplifiedLoss(loss, sample); err != nil {
		return one, fmt.Errorf("the loss of %s: %w", name, err)
	}
	if reserved != nil {
		one.Pure = "" // a selection has no pure ε
	}
	for _, d := range deltas {
		left := plan.Amount(d)
		if reserved != nil {
			left = new(big.Rat).Sub(left, reserved)
		}
		bound, err := loss.EpsilonAt(left)
		if err != nil {
			return one, fmt.Errorf("ε of %s at δ = %s: %w", name, d, err)
		}
		one.Epsilons = append(one.Epsilons,
			plan.Equivalent{Delta: d, Epsilon: budget.RoundUp(bound.Value, plan.Significant),
				Method: bound.Method})
	}
	for _, rate := range rates {
		most := loss.TruePositiveRate(rate)
		if reserved != nil {
			most = min(1, budget.RoundUp(most+floatAbove(reserved), plan.Significant))
		}
		one.TruePositiveRates = append(one.TruePositiveRates, TruePositiveRate{rate, most})
	}
	return one, nil
}

// Attributes returns the columns that affect what is measured, each of which has a loss of its own: first those that
// tables, microdata and models are counted by, in the order of their first table; then those whose values are added up,
// ranked or counted, or that decide how, or which rows count; and last the columns of the files that affect any of
// these without being a column of the table.
func Attributes(p *plan.Plan) []string {
	var columns []string
	for _, m := range p.Measurements {
		for _, f := range m.Query.Factors {
			if !slices.Contains(columns, f.Attribute) && !isParentColumn(p, m.Query.Table, f) {
				columns = append(columns, f.Attribute)
			}
		}
	}
	for _, m := range p.Models {
		for _, f := range m.Columns() {
			if !slices.Contains(columns, f.Attribute) && !isParentColumn(p, m.Table, f) {
				columns = append(columns, f.Attribute)
			}
		}
	}
	for _, m := range p.Measurements {
		for _, c := range p.Release().Table(m.Query.Table).Columns {
			if !slices.Contains(columns, c.Name) && readsColumn(p, m.Query, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	for _, t := range p.Tables { // a column of a single category is not measured, and may leave rows out
		for _, f := range p.Query(t).Factors {
			if !slices.Contains(columns, f.Attribute) && dropsRows(p, t.From, f.Attribute) {
				columns = append(columns, f.Attribute)
			}
		}
	}
	for _, e := range p.Release().Impossible {
		for _, c := range e.Where {
			// what decides it, where it is derived
			read := attributes.Counted(p.Release().Table(e.Table), c.Attribute).Column
			if e.Drop && isMeasured(p, e.Table) && !slices.Contains(columns, read) {
				columns = append(columns, read)
			}
		}
	}
	for _, t := range p.Release().Tables {
		if isMeasured(p, t.Name) {
			columns = append(columns, hiddenColumns(p, t, columns)...)
		}
	}
	return columns
}

// isMeasured reports whether a plan asks anything of a table.
func isMeasured(p *plan.Plan, table string) bool {
	return slices.ContainsFunc(p.Measurements, func(m plan.Measurement) bool { return m.Query.Table == table }) ||
		slices.ContainsFunc(p.Models, func(m plan.Model) bool { return m.Table == table })
}

// hiddenColumns returns the attributes of a measured table beyond those already found: columns by whose values rows
// count or not, or weigh, and columns of its files from which one of these, or of those found, is made, except the
// unit's id. A file column that only one column is made of is not named again, but the key of a lookup is.
func hiddenColumns(p *plan.Plan, t *spec.Table, found []string) []string {
	var more, read []string
	if t.Where != nil {
		read = append(read, t.Where.Expression.Sources()...)
	}
	read = append(read, weightRead(p, t)...)
	for _, c := range t.Columns {
		if !slices.Contains(found, c.Name) && shareAny(c.Inputs(), read) {
			more = append(more, c.Name)
		}
	}
	stands := map[string]bool{t.Unit.ID: true}
	for _, c := range t.Columns {
		if !slices.Contains(found, c.Name) && !slices.Contains(more, c.Name) {
			continue
		}
		if read = append(read, c.Inputs()...); len(c.Inputs()) == 1 && c.Lookup == nil {
			stands[c.Inputs()[0]] = true
		}
	}
	for _, name := range read {
		if stands[name] {
			continue
		}
		stands[name] = true
		if t.Column(name) != nil {
			name += ofTheFile
		}
		if !slices.Contains(found, name) {
			more = append(more, name)
		}
	}
	return more
}

// dropsRows reports whether a column's values decide which rows of a table are left out: by its own policies, by an
// entry of `impossible` on it or on a column derived from it, or by the table's predicate. It also reports columns
// that decide which rows of a unit are kept, as a column made of the unit's id does, or whether the table has rows,
// as the number of rows and the existence of a parent row do.
func dropsRows(p *plan.Plan, table, column string) bool {
	t := p.Release().Table(table)
	if s, is := p.Child(table); is && (s.Size == column || dropsRows(p, s.Parent, column)) {
		return true
	}
	return slices.ContainsFunc(t.Columns, func(c *spec.Column) bool {
		return (c.Unknown.Action == spec.Drop || c.Null.Action == spec.Drop) && haveSameValues(t, c.Name, column)
	}) || t.DropsUnweighted() && slices.Contains(fileColumns(t, column), t.Weight.From) ||
		slices.Contains(fileColumns(t, column), t.Unit.ID) || t.Where != nil &&
		shareAny(t.Where.Expression.Sources(), fileColumns(t, column)) ||
		slices.ContainsFunc(p.Release().Impossible, func(e spec.Impossible) bool {
			return e.Drop && e.Table == table && slices.ContainsFunc(e.Where, func(c spec.Condition) bool {
				return haveSameValues(t, attributes.Counted(t, c.Attribute).Column, column)
			})
		})
}

// exchangeMechanism returns the mechanism of a measurement if other rows of a unit may be counted: those it had are
// removed, and others added, each step within the sensitivity for adding or removing a unit (the triangle
// inequality). If units are replaced, the mechanism already covers that. Where the loss for twice the sensitivity is
// unknown, as it can be of Skellam noise, the two steps are charged by their ρ.
func exchangeMechanism(p *plan.Plan, m budget.Mechanism) budget.Mechanism {
	switch {
	case p.Release().Privacy.Neighbours == spec.Replace:
	case m.L1 == nil: // a choice, whose parameter is its loss
		m.Parameter = new(big.Rat).Add(m.Parameter, m.Parameter)
	default:
		twice := m
		twice.L1 = new(big.Int).Lsh(m.L1, 1)
		twice.L2Squared = new(big.Int).Lsh(m.L2Squared, 2)
		twice.Shifts = nil
		if twice.Validate() != nil { // Skellam noise, whose loss these norms do not bound
			return twoSteps(m.Rho())
		}
		return twice
	}
	return m
}

// readsColumn reports whether what a query adds up, ranks or distinguishes within its cells are values of a column,
// or depend on it.
func readsColumn(p *plan.Plan, q plan.Query, column string) bool {
	t := p.Release().Table(q.Table)
	if weighsBy(t, q, column) {
		return true
	}
	of := q.Counted.Reads()
	if of == "" {
		return false
	}
	l := t.Column(of).Lattice
	return haveSameValues(t, of, column) ||
		l != nil && haveSameValues(t, attributes.Counted(t, plan.AttributeOf(l.By)).Column, column)
}

// dependsOn reports whether a query partitions rows by a column, at a level of two categories or more, or reads it.
func dependsOn(p *plan.Plan, q plan.Query, column string) bool {
	if readsColumn(p, q, column) {
		return true
	}
	for _, f := range q.Factors {
		if isLinkedTo(p, q.Table, f, column) {
			return true
		}
		t := p.Release().Table(q.Table)
		if haveSameValues(t, f.Attribute, column) && isDivided(t.Column(f.Attribute).Domain, f.Level) {
			return true
		}
	}
	return false
}

// removedAndAdded is the ρ of two steps between neighbours, as a multiple of the ρ of one: √ρ adds up over steps.
const removedAndAdded = 4

// twoSteps returns a mechanism with the ρ of two steps between neighbours, for the ρ of one.
func twoSteps(rho *big.Rat) budget.Mechanism {
	return budget.Mechanism{Kind: budget.AdaptiveBlock,
		Parameter: new(big.Rat).Mul(rho, big.NewRat(removedAndAdded, 1))}
}

// MechanismsOfColumn returns the mechanisms of the measurements, blocks of microdata and rounds of models that a column
// affects, for neighbours that differ in one unit's values of it, and the number of published tables, microdata and
// models that the column affects. The mechanisms are in the order of the measurements, the noise of each before its
// choices; those of blocks come after them, and those of models last. It returns an error as [Query.Residual] does.
//
// Guarantee: the mechanisms bound what distinguishes these neighbours. Theorem: a block that is ρ-zCDP when a unit is
// added or removed is 4ρ-zCDP for one removal and one addition (Bun & Steinke 2016, proposition 1.9); where units are
// replaced the change is one step. All rounds of a model are charged for both: rows in other cells may also be held
// out, or no longer. Argument: docs/proofs/sensitivity.md, docs/proofs/adaptive.md and docs/proofs/models.md.
func MechanismsOfColumn(p *plan.Plan, column string) (tables int, steps []budget.Mechanism, err error) {
	drawn := false
	for _, m := range p.Measurements {
		selects := selecting[m.Selection.Kind()]
		parts := dependsOn(p, m.Query, column)
		if m.IsDrawn() && parts {
			if drawn {
				continue // a device answers one of the questions, and all have one mechanism
			}
			drawn = true
		}
		if dropsRows(p, m.Query.Table, column) || selects.exchanged && parts ||
			slices.ContainsFunc(m.Query.Factors,
				func(f plan.Factor) bool { return isLinkedTo(p, m.Query.Table, f, column) }) {
			steps = append(append(steps, exchangeMechanism(p, m.Mechanism)), selects.again(p, m)...)
			continue
		}
		if parts {
			changed, err := changeMechanism(p, m, column)
			if err != nil {
				return 0, nil, fmt.Errorf("measurement %s: %w", m.ID, err)
			}
			steps = append(append(steps, changed), selects.again(p, m)...)
		}
	}
	for _, t := range p.Tables {
		if dropsRows(p, t.From, column) || slices.ContainsFunc(t.Figures, func(f plan.Figure) bool {
			return p.Release().Collection != nil && f.Column == column
		}) || slices.ContainsFunc(p.Query(t).Factors,
			func(f plan.Factor) bool { return haveSameValues(p.Release().Table(t.From), f.Attribute, column) }) {
			tables++
		}
	}
	for _, s := range p.Synthetic {
		if !dropsRows(p, s.Table, column) && !slices.ContainsFunc(s.By, func(f plan.Factor) bool {
			return haveSameValues(p.Release().Table(s.Table), f.Attribute, column) || isLinkedTo(p, s.Table, f, column)
		}) {
			continue
		}
		tables++
		if !s.Adaptive() {
			continue
		}
		changed := s.Block
		if p.Release().Privacy.Neighbours != spec.Replace {
			changed = twoSteps(changed.Parameter)
		}
		steps = append(steps, changed)
	}
	for _, m := range p.Models {
		if !dropsRows(p, m.Table, column) && !slices.ContainsFunc(m.Columns(), func(f plan.Factor) bool {
			return haveSameValues(p.Release().Table(m.Table), f.Attribute, column) || isLinkedTo(p, m.Table, f, column)
		}) {
			continue
		}
		tables++
		for _, step := range m.Mechanisms() { // other values in a column are other rows
			steps = append(steps, exchangeMechanism(p, step))
		}
	}
	return tables, steps, nil
}

// changeMechanism returns the mechanism of a measurement for neighbours that differ in a unit's values of one column.
// k rows leave one cell for another. In a residual they change the integers by the difference of two columns of the
// query that differ in one factor, the factor that is made of the same values; if several factors are, the bound is
// for removing a unit and adding another. That bound also holds for measurements of values, of drawn quantiles, and
// under caps of their own.
//
// Guarantee: the sensitivity bounds that change. Neighbours: a unit with other values of the column in its k rows,
// all else equal. Theorem: ‖(a − a′) ⊗ b‖ = ‖a − a′‖·‖b‖, and norms are convex. Argument: docs/proofs/residuals.md.
func changeMechanism(p *plan.Plan, m plan.Measurement, column string) (budget.Mechanism, error) {
	if !m.Query.Counted.Kind().Traits().AsRows || m.Query.PerUnit != (spec.PerUnit{}) {
		return exchangeMechanism(p, m.Mechanism), nil
	}
	t := p.Release().Table(m.Query.Table)
	moved := slices.DeleteFunc(slices.Clone(m.Query.Factors),
		func(f plan.Factor) bool { return !haveSameValues(t, f.Attribute, column) })
	changed := m.Mechanism
	rows := t.Unit.AllRows()
	k := big.NewInt(rows)
	columns, axes, plain, err := m.Query.Residual(p.Release())
	if err != nil {
		return changed, err
	}
	changed.L2Squared = new(big.Int).Mul(k, k)
	if !slices.Contains(plain, false) {
		changed.L2Squared.Lsh(changed.L2Squared, 1)
		changed.L1 = k.Lsh(k, 1)
		changed.Shifts = []budget.Shift{{rows, rows}}
		return changed, nil
	}
	if len(moved) > 1 {
		return exchangeMechanism(p, m.Mechanism), nil
	}
	changed.L1 = k.Lsh(k, 1)
	for i, a := range axes {
		moves := residual.CountSensitivity()
		if !plain[i] {
			moves = columns[i].Sensitivity(a.Level)
		}
		squares := moves.Squares
		if haveSameValues(t, m.Query.Factors[i].Attribute, column) {
			squares = moves.PairSquares
		}
		changed.L1.Mul(changed.L1, big.NewInt(moves.Norm))
		changed.L2Squared.Mul(changed.L2Squared, big.NewInt(squares))
	}
	return changed, nil
}

// rechoiceSteps returns the choices of a measurement if a unit's rows may be in other cells: one removal and one
// addition, or one replacement.
func rechoiceSteps(p *plan.Plan, m plan.Measurement) []budget.Mechanism {
	steps := slices.Clone(m.Selection.Steps())
	for i := range steps {
		steps[i] = exchangeMechanism(p, steps[i])
	}
	return steps
}

// floatAbove returns the least float that is not below x.
func floatAbove(x *big.Rat) float64 {
	f, exact := x.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(x) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}
