package plan

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the planning of microdata: what their method will ask, and what each part of it may cost.

// maxPairs bounds the pairs of columns that a method chooses among.
const maxPairs = 100000

// microdata are the microdata of one table on their way through the planner.
type microdata struct {
	asked   *spec.Synthetic
	leaf    int
	by      []Factor
	derived []Factor
	columns []int64 // cells of each column
	cells   int64   // of all columns and all pairs of them, which are counted
}

// expandSynthetic lists the microdata that a spec asks for.
func expandSynthetic(r *spec.Release) ([]microdata, error) {
	var all []microdata
	for i := range r.Synthetic {
		d, err := draft(r, &r.Synthetic[i])
		if err != nil {
			return nil, fmt.Errorf("microdata of %s (line %d): %w", r.Synthetic[i].Table, r.Synthetic[i].Line, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// draft works out what microdata will have counted. It refuses more pairs, or larger ones, than can be counted, and
// columns whose measurements would have one name.
func draft(r *spec.Release, asked *spec.Synthetic) (microdata, error) {
	d := microdata{asked: asked, leaf: slices.IndexFunc(r.Budget.Leaves, func(l spec.Leaf) bool { return l.Path == asked.Leaf })}
	if d.leaf < 0 {
		return d, fmt.Errorf("the budget has no leaf %q", asked.Leaf)
	}
	if r.Budget.Epsilon != nil && r.Budget.Delta == nil {
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
	for _, f := range d.derived {
		if _, _, err := originOf(t, d.by, f); err != nil {
			return d, err
		}
	}
	n := int64(len(d.by))
	if n < 2 {
		return d, fmt.Errorf("%s: at least two are needed, as pairs of them are measured", budget.Plural(n, "column"))
	}
	if pairs := n * (n - 1) / 2; pairs > maxPairs {
		return d, fmt.Errorf("%s have %s pairs, more than %s: name fewer columns under `by`", budget.Plural(n, "column"), budget.Group(pairs), budget.Group(maxPairs))
	}
	levels, err := Query{Table: asked.Table, Factors: d.by}.Levels(r)
	if err != nil {
		return d, err
	}
	for _, level := range levels {
		d.columns = append(d.columns, int64(level.Size()))
		d.cells += int64(level.Size())
	}
	s := d.named()
	for _, pair := range s.Pairs() {
		a, b := d.columns[pair[0]], d.columns[pair[1]]
		if a > maxCells/max(b, 1) {
			return d, fmt.Errorf("the pair of %s and %s would have more than 2^36 cells: use coarser levels under `by`", d.by[pair[0]], d.by[pair[1]])
		}
		if d.cells += a * b; d.cells > maxCells {
			return d, errors.New("all pairs of columns are counted, and would have more than 2^36 cells together: use coarser levels or fewer columns under `by`")
		}
	}
	return d, d.distinct()
}

// distinct refuses columns that cannot stand side by side: two measurements, or two columns of the microdata, would
// have one name.
func (d microdata) distinct() error {
	s := d.named()
	seen := map[string]string{}
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
	for _, pair := range s.Pairs() {
		id, of := s.pairID(pair), fmt.Sprintf("the pair of %s and %s", d.by[pair[0]], d.by[pair[1]])
		if other, ok := seen[id]; ok {
			return fmt.Errorf("%s and %s would have one name, %s: give a column another name and say where it comes from (from: …)", other, of, id)
		}
		seen[id] = of
	}
	return nil
}

// named are the microdata as the plan writes them, without mechanisms.
func (d microdata) named() Synthetic {
	return Synthetic{Table: d.asked.Table, Leaf: d.asked.Leaf, Method: MST, By: d.by, Derived: d.derived, Rows: d.asked.Rows, Rounds: len(d.by) - 1}
}

// thirds are the parts of a leaf of microdata: the columns, the choices and the pairs get one each.
const thirds = 3

// spend divides the amount of a leaf among the columns, the choices and the pairs, a third each, equally within a
// third.
//
// Guarantee: the measurements of the columns and the block are together ρ-zCDP with ρ at most the amount. Neighbours:
// the release's own; a unit has at most max_rows counted rows. Theorem: adaptive composition adds ρ (Bun & Steinke
// 2016, lemma 2.3); a choice of bounded range ε is (ε²/8)-zCDP (Cesar & Rogers 2021, lemma 3.2). Argument:
// docs/proofs/adaptive.md.
func (d microdata) spend(r *spec.Release, amount *big.Rat) ([]Measurement, Synthetic, error) {
	s := d.named()
	third := new(big.Rat).Quo(amount, big.NewRat(thirds, 1))
	column := new(big.Rat).Quo(third, big.NewRat(int64(len(d.by)), 1))
	round := new(big.Rat).Quo(third, big.NewRat(int64(s.Rounds), 1))
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
	if s.Noise, err = noiseFor(r, s.Table, leastPair, budget.Cost{Rho: round}); err != nil {
		return nil, s, fmt.Errorf("pairs of columns: %w", err)
	}
	s.Block = block(s.Rounds, s.Select, s.Noise)
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
		return budget.Mechanism{}, fmt.Errorf("a choice among pairs of columns gets ρ %s, too little to tell them apart at all: spend more budget here or name fewer columns", budget.DecimalUp(rho, 4))
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
