package plan

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the planning of microdata: what their method will ask, and what each part of it may cost.

// maxCandidates bounds the sets of columns that a method chooses among.
const maxCandidates = 100_000

// microdata are the microdata of one table on their way through the planner.
type microdata struct {
	asked   *spec.Synthetic
	sketch  *Plan  // of the tables alone, without noise
	above   string // method of their parent, "" where they have none
	leaf    int    // noLeaf: they cost nothing
	method  string
	ways    int
	why     string // auto chose the method; "" where the spec says which
	by      []Factor
	given   int
	unit    string // the name of the column that links rows, "" where none are
	derived []Factor
	columns []int64 // cells of each column
	cells   int64   // of all columns and all candidates, which are counted
}

// noLeaf is the place of the leaf of microdata that cost nothing.
const noLeaf = -1

// expandSynthetic lists the microdata that a spec asks for beside its tables.
func expandSynthetic(r *spec.Release, tables []*table) ([]microdata, error) {
	var all []microdata
	sketch := For(r)
	for _, t := range tables {
		if r.Synthetic != nil {
			sketch.Tables = append(sketch.Tables, newTable(r, t))
		}
	}
	for i := range r.Synthetic {
		d, err := draft(r, &r.Synthetic[i], sketch, all)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s (line %d): %w", r.Synthetic[i].Table, r.Synthetic[i].Line, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// draft works out what microdata will have counted: of linked ones, the columns of their parent's rows too. It refuses more pairs, or larger ones, than can be counted, and
// columns whose measurements would have one name.
func draft(r *spec.Release, asked *spec.Synthetic, sketch *Plan, before []microdata) (microdata, error) {
	d := microdata{asked: asked, sketch: sketch, leaf: slices.IndexFunc(r.Budget.Leaves, func(l spec.Leaf) bool { return l.Path == asked.Leaf })}
	free := asked.Method == spec.TablesMethod || asked.Method == spec.AutoMethod && asked.Leaf == "" && len(r.Marginals) > 0
	switch pure := r.Budget.Epsilon != nil && r.Budget.Delta == nil; {
	case free && asked.Leaf != "":
		return d, errors.New("method tables spends nothing: leave `budget` out")
	case free:
		d.leaf = noLeaf
	case d.leaf < 0:
		return d, fmt.Errorf("the budget has no leaf %q", asked.Leaf)
	case pure:
		return d, errors.New("a pure ε budget cannot pay for them: give the budget a δ, or state it in ρ")
	}
	t := r.Table(asked.Table)
	if t == nil {
		return d, fmt.Errorf("there is no table %q", asked.Table)
	}
	for _, a := range asked.By {
		f := Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}
		if Counted(t, a) == a {
			d.by = append(d.by, f)
		} else {
			d.derived = append(d.derived, f)
		}
	}
	d.unit = linkedBy(r, asked.Table)
	for _, other := range before { // parents come first
		if other.asked.Table == asked.Parent {
			d.above = other.method
		}
	}
	for _, f := range d.derived {
		if _, _, err := originOf(t, d.by, f); err != nil {
			return d, err
		}
	}
	n := int64(len(d.by))
	for _, a := range asked.Given {
		d.by, d.given = append(d.by, Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}), d.given+1
	}
	if n < 2 {
		return d, fmt.Errorf("%s: at least two are needed, as pairs of them are measured", budget.Plural(n, "column"))
	}
	levels, err := Query{Table: asked.Table, Factors: d.by}.Levels(r)
	if err != nil {
		return d, err
	}
	for _, level := range levels {
		d.columns = append(d.columns, int64(level.Size()))
	}
	if err := d.choose(); err != nil {
		return d, err
	}
	return d, d.distinct()
}

// count works out how many cells have to be counted. It refuses too many candidates, and too large ones.
func (d *microdata) count() error {
	n := int64(len(d.by))
	if all, what := d.named().CandidateCount(), strings.TrimSuffix(d.sets(), " of"); n > maxCandidates || all > maxCandidates {
		return fmt.Errorf("%s have %s %s, more than %s: %s", budget.Plural(n, "column"), budget.Group(all), what, budget.Group(maxCandidates), d.fewer("name fewer columns under `by`"))
	}
	if d.method == AIM && !d.fits() {
		return fmt.Errorf("a model by method aim has room for columns of %s categories, and of %s together, and these have more: use coarser levels or fewer columns under `by`, or method: mst",
			budget.Group(MostOfModel().Largest), budget.Group(MostOfModel().Cells))
	}
	d.cells = 0
	for _, cells := range d.columns {
		d.cells += cells
	}
	for _, candidate := range d.named().Candidates() {
		if len(candidate) == 1 {
			continue
		}
		cells := int64(1)
		for _, column := range candidate {
			if d.columns[column] > maxCells/cells {
				return fmt.Errorf("%s would have more than 2^36 cells: %s", d.together(candidate), d.fewer("use coarser levels under `by`"))
			}
			cells *= max(d.columns[column], 1)
		}
		if d.cells += cells; d.cells > maxCells {
			return fmt.Errorf("all %s columns are counted, and would have more than 2^36 cells together: %s", d.sets(), d.fewer("use coarser levels or fewer columns under `by`"))
		}
	}
	return nil
}

// sizes are the cells of each candidate.
func (d *microdata) sizes() (all []int64) {
	for _, candidate := range d.named().Candidates() {
		cells := int64(1)
		for _, column := range candidate {
			cells *= d.columns[column]
		}
		all = append(all, cells)
	}
	return all
}

// sets is what the candidates are.
func (d *microdata) sets() string { return d.named().sets() }

// fewer is what to do where there is too much to choose from.
func (d *microdata) fewer(otherwise string) string {
	if d.ways > 2 {
		return "ask for ways: 2, or " + otherwise
	}
	return otherwise
}

// together names a candidate.
func (d *microdata) together(candidate []int) string {
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

// distinct refuses columns that cannot stand side by side: two measurements, or two columns of the microdata, would
// have one name.
func (d *microdata) distinct() error {
	s := d.named()
	seen := map[string]string{}
	if d.unit != "" {
		seen[d.unit] = "the column that says which rows belong together"
	}
	for i, f := range s.Columns() {
		for _, name := range []string{f.String(), f.String() + LabelSuffix} {
			if other, ok := seen[name]; ok {
				return fmt.Errorf("there would be two columns %q, of %s and of %s: give the column another name and say where it comes from (from: %s)", name, other, f, f.Attribute)
			}
			seen[name] = f.String()
		}
		if i < len(s.By) {
			seen[s.Column(i)] = "column " + f.String()
		}
	}
	for _, candidate := range s.Candidates() {
		id, of := s.answerID(0, candidate), d.together(candidate)
		if other, ok := seen[id]; ok {
			return fmt.Errorf("%s and %s would have one name, %s: give a column another name and say where it comes from (from: …)", other, of, id)
		}
		seen[id] = of
	}
	return nil
}

// named are the microdata as the plan writes them, without mechanisms.
func (d *microdata) named() Synthetic {
	s := Synthetic{Table: d.asked.Table, Leaf: d.asked.Leaf, Method: d.method, Why: d.why, Ways: d.ways, By: d.by, Parent: d.asked.Parent, Given: d.given, Derived: d.derived, Rows: d.asked.Rows, Files: d.asked.Files}
	s.Rounds = s.joins()
	if d.method == Tables {
		s.Rounds = 0
	}
	if d.method == AIM {
		most := MostOfModel()
		s.Most, s.Rounds = &most, roundsPerColumn*len(d.by)
	}
	return s
}

// thirds are the parts of a leaf of microdata: the columns, the choices and the pairs get one each.
const thirds = 3

// spend divides the amount of a leaf: among the columns, the choices and the pairs of [MST], a third each, equally within
// a third; of [AIM] a fifth equally among the columns, the rest to the rounds, of which the first has what it would if all
// were alike.
//
// Guarantee: the measurements of the columns and the block are together ρ-zCDP with ρ at most the amount. Neighbours:
// the release's own; a unit has at most max_rows counted rows. Theorem: adaptive composition adds ρ (Bun & Steinke
// 2016, lemma 2.3); a choice of bounded range ε is (ε²/8)-zCDP (Cesar & Rogers 2021, lemma 3.2). Argument:
// docs/proofs/adaptive.md.
func (d microdata) spend(r *spec.Release, amount *big.Rat) ([]Measurement, Synthetic, error) {
	s := d.named()
	if i, ok := totalOf(r, s.Table); ok && s.Rows == 0 && s.Parent == "" && i.Total() > 0 && i.Total() <= mostRows {
		s.Rows, s.RowsOf = i.Total(), i.Name
	}
	if !s.Adaptive() {
		return nil, s, nil
	}
	columns, choices := big.NewRat(1, thirds), big.NewRat(1, thirds)
	if s.Method == AIM {
		columns = ofColumns
		choices = new(big.Rat).Sub(big.NewRat(1, 1), ofColumns)
		choices.Mul(choices, selection)
	}
	column := new(big.Rat).Mul(amount, columns)
	choice := new(big.Rat).Mul(amount, choices)
	answers := new(big.Rat).Sub(amount, new(big.Rat).Add(column, choice))
	column.Quo(column, big.NewRat(int64(len(d.by)), 1))
	round := new(big.Rat).Quo(choice, big.NewRat(int64(s.Rounds), 1))
	answer := new(big.Rat).Quo(answers, big.NewRat(int64(s.Rounds), 1))
	var all []Measurement
	for i, cells := range d.columns {
		noise, err := noiseFor(r, s.Table, cells, budget.Cost{Rho: column})
		if err != nil {
			return nil, s, fmt.Errorf("column %s: %w", d.by[i], err)
		}
		all = append(all, Measurement{ID: s.Column(i), Leaf: s.Leaf, Query: Query{Table: s.Table, Factors: d.by[i : i+1]}, Cells: cells, Mechanism: noise})
	}
	var err error
	if s.Select, err = choiceFor(round); err != nil {
		return nil, s, err
	}
	if s.Noise, err = noiseFor(r, s.Table, leastPair, budget.Cost{Rho: answer}); err != nil {
		return nil, s, fmt.Errorf("what a round measures: %w", err)
	}
	if s.Method == MST {
		s.Block = block(s.Rounds, s.Select, s.Noise)
		return all, s, nil
	}
	if s.Noise.Parameter.Cmp(leastVariance) < 0 {
		return nil, s, errors.New("the budget is so large that what a round measures would have next to no noise: an ε of 10 already hides next to nothing")
	}
	s.Block = budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: answers.Add(answers, choice)}
	return all, s, nil
}

// leastPair is the fewest cells for which the sensitivity of counts is that of any pair of columns.
const leastPair = 2

// choiceBits is the number of fractional bits of the ε of a choice. There are more than of a scale of noise: an ε is
// small where a scale is large, and the search for a budget's ρ wants an ε that follows it closely.
const choiceBits = 24

// choiceFor is the exponential mechanism with the largest ε, a multiple of 2⁻²⁴, for which ε²/8 is at most ρ > 0. It
// fails where that is zero.
//
// Guarantee: ρ-zCDP, for the neighbours that the scores' sensitivity is of. Theorem: Cesar & Rogers 2021, lemma 3.2.
// Argument: docs/proofs/adaptive.md.
func choiceFor(rho *big.Rat) (budget.Mechanism, error) {
	epsilon := rootBelow(new(big.Rat).Mul(rho, big.NewRat(8, 1)), choiceBits)
	if epsilon.Sign() == 0 {
		return budget.Mechanism{}, fmt.Errorf("a choice among columns gets ρ %s, too little to tell them apart at all: spend more budget here or name fewer columns", budget.DecimalUp(rho, 4))
	}
	return budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: epsilon}, nil
}

// block stands for rounds that each make a choice and measure what they chose: ρ = rounds·(ε²/8 + ρ of the noise).
//
// Guarantee: all rounds together are ρ-zCDP, also where each asks what the answers before it suggest. Neighbours: those
// of choice and noise. Theorem: Bun & Steinke 2016, lemma 2.3. Argument: docs/proofs/adaptive.md.
func block(rounds int, choice, noise budget.Mechanism) budget.Mechanism {
	rho := new(big.Rat).Add(choice.Rho(), noise.Rho())
	return budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: rho.Mul(rho, big.NewRat(int64(rounds), 1))}
}
