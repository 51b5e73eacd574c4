package optimise

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the planning of microdata: what their method measures, and what each part of it may cost.

// Microdata are the synthetic rows of one table while they are planned.
type Microdata struct {
	Requested    *spec.Synthetic
	sketch       *plan.Plan // of the tables alone, without noise
	parentMethod string     // of their parent; "" without a parent
	Leaf         int        // [NoLeaf] if they cost nothing
	Method       string
	ways         int
	why          []phrase.Phrase // why the planner chose the method; nil if the spec names it
	by           []plan.Factor
	// of the columns in by, how many are of the parent's rows
	given      int
	unitColumn string // the column that links rows; "" without links
	derived    []plan.Factor
	Columns    []int64 // cells of each column
	Cells      int64   // of all columns and all candidates, all of which are counted
}

// NoLeaf is the leaf index of microdata that cost nothing.
const NoLeaf = -1

// ExpandSynthetic returns the microdata that a spec asks for in addition to its tables.
func ExpandSynthetic(r *spec.Release, tables []*workload.Table) ([]Microdata, error) {
	var all []Microdata
	sketch := plan.NewEmpty(r)
	for _, t := range tables {
		if r.Synthetic != nil {
			sketch.Tables = append(sketch.Tables, workload.NewTable(r, t))
		}
	}
	for i := range r.Synthetic {
		d, err := draftMicrodata(r, &r.Synthetic[i], sketch, all)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", r.Synthetic[i].Table, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// draftMicrodata works out what is counted for microdata. Linked microdata also count the columns of their parent's
// rows. It returns an error if there are more pairs, or larger ones, than can be counted, or if measurements would
// share a name.
func draftMicrodata(r *spec.Release, request *spec.Synthetic, sketch *plan.Plan,
	before []Microdata) (Microdata, error) {
	d := Microdata{Requested: request, sketch: sketch,
		Leaf: slices.IndexFunc(r.Budget.Leaves, func(l spec.Leaf) bool { return l.Path == request.Leaf })}
	free := request.Method == spec.TablesMethod || request.Method == spec.AutoMethod && request.Leaf == "" &&
		len(r.Marginals) > 0
	switch pure := r.Budget.Epsilon != nil && r.Budget.Delta == nil; {
	case free && request.Leaf != "":
		return d, errors.New("method tables spends nothing: leave `budget` out")
	case free:
		d.Leaf = NoLeaf
	case d.Leaf < 0:
		return d, fmt.Errorf("the budget has no leaf %q", request.Leaf)
	case pure:
		return d, errors.New("a pure ε budget cannot pay for them: give the budget a δ, or state it in ρ")
	}
	t := r.Table(request.Table)
	if t == nil {
		return d, fmt.Errorf("there is no table %q", request.Table)
	}
	for _, a := range request.By {
		f := plan.Factor{Attribute: a.Column, Level: a.Level, Basis: plan.Identity}
		if attributes.Counted(t, a) == a {
			d.by = append(d.by, f)
		} else {
			d.derived = append(d.derived, f)
		}
	}
	d.unitColumn = r.LinkedBy(request.Table)
	for _, other := range before { // parents come first
		if other.Requested.Table == request.Parent {
			d.parentMethod = other.Method
		}
	}
	for _, f := range d.derived {
		if _, _, err := (plan.Synthetic{By: d.by}).OriginOf(t, f); err != nil {
			return d, err
		}
	}
	n := int64(len(d.by))
	for _, a := range request.Given {
		d.by, d.given = append(d.by, plan.Factor{Attribute: a.Column, Level: a.Level, Basis: plan.Identity}), d.given+1
	}
	if n < 2 {
		return d, fmt.Errorf("%s: at least two are needed, as pairs of them are measured", budget.Plural(n, "column"))
	}
	levels, err := plan.Query{Table: request.Table, Factors: d.by}.Levels(r)
	if err != nil {
		return d, err
	}
	for _, level := range levels {
		d.Columns = append(d.Columns, int64(level.Size()))
	}
	if err := d.chooseMethod(); err != nil {
		return d, err
	}
	return d, d.checkDistinctNames()
}

// countCells works out how many cells have to be counted. It returns an error if there are too many candidates, or
// too large ones.
func (d *Microdata) countCells() error {
	n := int64(len(d.by))
	if all, what := adaptive.CandidateCount(d.Named()),
		strings.TrimSuffix(d.Sets(), " of"); n > adaptive.MaxCandidates ||
		all > adaptive.MaxCandidates {
		return fmt.Errorf("%s have %s %s, more than %s: %s", budget.Plural(n, "column"), budget.Group(all), what,
			budget.Group(adaptive.MaxCandidates), d.adviseFewer("name fewer columns under `by`"))
	}
	if d.Method == plan.AIM && !d.fitsModel() {
		return fmt.Errorf("a model by method aim has room for columns of %s categories, and of %s together, and "+
			"these have more: use coarser levels or fewer columns under `by`, or method: mst",
			budget.Group(adaptive.MaxModelSize().Largest), budget.Group(adaptive.MaxModelSize().Cells))
	}
	d.Cells = 0
	for _, cells := range d.Columns {
		d.Cells += cells
	}
	for _, candidate := range adaptive.Candidates(d.Named()) {
		if len(candidate) == 1 {
			continue
		}
		cells := int64(1)
		for _, column := range candidate {
			if d.Columns[column] > limit.Cells/cells {
				return fmt.Errorf("%s would have more than 2^36 cells: %s", d.candidateName(candidate),
					d.adviseFewer("use coarser levels under `by`"))
			}
			cells *= max(d.Columns[column], 1)
		}
		if d.Cells += cells; d.Cells > limit.Cells {
			return fmt.Errorf("all %s columns are counted, and would have more than 2^36 cells together: %s", d.Sets(),
				d.adviseFewer("use coarser levels or fewer columns under `by`"))
		}
	}
	return nil
}

// Sizes returns the number of cells of each candidate.
func (d *Microdata) Sizes() (all []int64) {
	for _, candidate := range adaptive.Candidates(d.Named()) {
		cells := int64(1)
		for _, column := range candidate {
			cells *= d.Columns[column]
		}
		all = append(all, cells)
	}
	return all
}

// Sets returns what the candidates are, in words.
func (d *Microdata) Sets() string { return adaptive.DescribeCandidates(d.Named()) }

// adviseFewer returns what a person can do if there is too much to choose from.
func (d *Microdata) adviseFewer(otherwise string) string {
	if d.ways > 2 {
		return "ask for ways: 2, or " + otherwise
	}
	return otherwise
}

// candidateName returns the name of a candidate in messages.
func (d *Microdata) candidateName(candidate []int) string {
	names := make([]string, len(candidate))
	for i, column := range candidate {
		names[i] = d.by[column].String()
	}
	switch last := len(names) - 1; last {
	case 0:
		return "column " + names[0]
	case 1:
		return fmt.Sprintf("the pair of %s and %s", names[0], names[1])
	default:
		return fmt.Sprintf("the set of %s and %s", strings.Join(names[:last], ", "), names[last])
	}
}

// checkDistinctNames returns an error if two measurements, or two columns of the microdata, would have one name.
func (d *Microdata) checkDistinctNames() error {
	s := d.Named()
	seen := map[string]string{}
	if d.unitColumn != "" {
		seen[d.unitColumn] = "the column that says which rows belong together"
	}
	for i, f := range s.Columns() {
		for _, name := range []string{f.String(), f.String() + statistic.LabelSuffix} {
			if other, ok := seen[name]; ok {
				return fmt.Errorf("there would be two columns %q, of %s and of %s: give the column another name and "+
					"say where it comes from (from: %s)", name, other, f, f.Attribute)
			}
			seen[name] = f.String()
		}
		if i < len(s.By) {
			seen[s.Column(i)] = "column " + f.String()
		}
	}
	for _, candidate := range adaptive.Candidates(s) {
		id, of := adaptive.AnswerID(s, 0, candidate), d.candidateName(candidate)
		if other, ok := seen[id]; ok {
			return fmt.Errorf("%s and %s would have one name, %s: give a column another name and say where it comes "+
				"from (from: …)", other, of, id)
		}
		seen[id] = of
	}
	return nil
}

// Named returns the microdata as the plan writes them, without mechanisms.
func (d *Microdata) Named() plan.Synthetic {
	s := plan.Synthetic{Table: d.Requested.Table, Leaf: d.Requested.Leaf, Method: d.Method, Why: d.why, Ways: d.ways,
		By: d.by, Parent: d.Requested.Parent, Given: d.given, Derived: d.derived,
		Rows: d.Requested.Rows, Files: d.Requested.Files}
	s.Rounds = adaptive.JoinCount(s)
	if d.Method == plan.Tables {
		s.Rounds = 0
	}
	if d.Method == plan.AIM {
		most := adaptive.MaxModelSize()
		s.LargestModel, s.Rounds = &most, adaptive.RoundsPerColumn*len(d.by)
	}
	return s
}

// thirds is the number of equal parts of a leaf of microdata: the columns, the choices and the pairs get one each.
const thirds = 3

// spendLeaf divides the amount of a leaf. MST gives a third each to the columns, the choices and the pairs, equally
// within a third. AIM gives a fifth to the columns, equally, and the rest to the rounds; the first round gets what it
// would get if all were equal.
//
// Guarantee: the measurements of the columns and the block are together ρ-zCDP with ρ at most the amount. Neighbours:
// the release's own; a unit has at most max_rows counted rows. Theorem: adaptive composition adds ρ (Bun & Steinke
// 2016, lemma 2.3); a choice of bounded range ε is (ε²/8)-zCDP (Cesar & Rogers 2021, lemma 3.2). Argument:
// docs/proofs/adaptive.md.
func (d Microdata) spendLeaf(r *spec.Release, amount *big.Rat) ([]plan.Measurement, plan.Synthetic, error) {
	s := d.Named()
	if i, ok := r.TotalOf(s.Table); ok && s.Rows == 0 && s.Parent == "" && i.Total() > 0 &&
		i.Total() <= limit.MicrodataRows {
		s.Rows, s.RowsOf = i.Total(), i.Name
	}
	if !s.Adaptive() {
		return nil, s, nil
	}
	columns, choices := big.NewRat(1, thirds), big.NewRat(1, thirds)
	if s.Method == plan.AIM {
		columns = adaptive.OfColumns
		choices = new(big.Rat).Sub(big.NewRat(1, 1), adaptive.OfColumns)
		choices.Mul(choices, adaptive.Selection)
	}
	column := new(big.Rat).Mul(amount, columns)
	choice := new(big.Rat).Mul(amount, choices)
	answers := new(big.Rat).Sub(amount, new(big.Rat).Add(column, choice))
	column.Quo(column, big.NewRat(int64(len(d.by)), 1))
	round := new(big.Rat).Quo(choice, big.NewRat(int64(s.Rounds), 1))
	answer := new(big.Rat).Quo(answers, big.NewRat(int64(s.Rounds), 1))
	var all []plan.Measurement
	for i, cells := range d.Columns {
		noise, err := NoiseFor(r, s.Table, cells, budget.Cost{Rho: column})
		if err != nil {
			return nil, s, fmt.Errorf("column %s: %w", d.by[i], err)
		}
		all = append(all, plan.Measurement{ID: s.Column(i), Leaf: s.Leaf,
			Query: plan.Query{Table: s.Table, Factors: d.by[i : i+1], Counted: counted.Rows{}}, Cells: cells,
			Mechanism: noise,
			Selection: selection.All{}})
	}
	var err error
	if s.Select, err = choiceFor(round); err != nil {
		return nil, s, err
	}
	if s.Noise, err = NoiseFor(r, s.Table, leastPair, budget.Cost{Rho: answer}); err != nil {
		return nil, s, fmt.Errorf("what a round measures: %w", err)
	}
	if s.Method == plan.MST {
		s.Block = adaptive.Block(s.Rounds, s.Select, s.Noise)
		return all, s, nil
	}
	if s.Noise.Parameter.Cmp(adaptive.LeastVariance) < 0 {
		return nil, s, errors.New(
			"the budget is so large that what a round measures would have next to no noise: an ε of 10 already hides " +
				"next to nothing")
	}
	s.Block = budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: answers.Add(answers, choice)}
	return all, s, nil
}

// leastPair is the fewest cells for which the sensitivity of counts equals the sensitivity of any pair of columns.
const leastPair = 2

// choiceFor returns the exponential mechanism with the largest ε, a multiple of 2⁻²⁴, for which ε²/8 is at most ρ >
// 0. It returns an error if that ε is zero.
//
// Guarantee: ρ-zCDP, for the neighbours that the scores' sensitivity is for. Theorem: Cesar & Rogers 2021, lemma 3.2.
// Argument: docs/proofs/adaptive.md.
func choiceFor(rho *big.Rat) (budget.Mechanism, error) {
	epsilon := budget.RootBelow(new(big.Rat).Mul(rho, big.NewRat(8, 1)), adaptive.ChoiceBits)
	if epsilon.Sign() == 0 {
		return budget.Mechanism{},
			fmt.Errorf("a choice among columns gets ρ %s, too little to tell them apart at all: spend more budget "+
				"here or name fewer columns", budget.DecimalUp(rho, 4))
	}
	return budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: epsilon}, nil
}

// NoiseFor returns the noise that a cost buys for a marginal with that many cells: the usual noise that is priced in
// ε for an ε, the budget's noise that is priced in ρ for a ρ.
func NoiseFor(r *spec.Release, table string, cells int64, cost budget.Cost) (budget.Mechanism, error) {
	s := counted.Unit{Table: r.Table(table), Neighbours: r.Privacy.Neighbours, Cells: cells}.Counts()
	if cost.Epsilon != nil {
		return noiseFor(budget.DefaultLaw(true), s, cost.Epsilon)
	}
	return noiseFor(noiseInRho(r.Budget), s, cost.Rho)
}
