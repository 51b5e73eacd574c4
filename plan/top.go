package plan

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds top tables: tables of the cells with the largest counts, which are chosen privately, one after the other, and
// then counted again with noise of their own.

// Choices says that of the cells of a query some are chosen, one after the other and each once, the likelier the more is counted
// in them; and that the integers of these alone get noise, and are the answers of the measurement.
type Choices struct {
	Of int64 `json:"of"` // how many
	// Select makes each of them, among the cells that are left.
	Select budget.Mechanism `json:"select"`
	// Sensitivity is how far one unit can move the integer of a cell, and Monotone tells that it moves those of all cells up, or
	// all down.
	Sensitivity int64 `json:"sensitivity"`
	Monotone    bool  `json:"monotone,omitempty"`
}

// Moves is how far apart one unit's moves of two cells can be.
func (c *Choices) Moves() *big.Int {
	moves := big.NewInt(c.Sensitivity)
	if !c.Monotone {
		moves.Lsh(moves, 1)
	}
	return moves
}

// direction says in which way units move the integers of cells.
func (c *Choices) direction() string {
	if c.Monotone {
		return ", all cells in one direction"
	}
	return ", in either direction"
}

// costText is what all choices and the noise of the counts cost together, in four digits rounded up: an ε where both have one
// that is theirs, else a ρ. Without choices it is the noise alone.
func (c *Choices) costText(noise budget.Mechanism) string {
	switch {
	case c == nil:
		return costText(noise, 1)
	case noise.Kind == budget.DiscreteLaplace && c.Select.Kind == budget.PermuteAndFlip:
		return costOfAll(append(c.Steps(), noise))
	}
	sum := noise.Rho()
	for _, m := range c.Steps() {
		sum.Add(sum, m.Rho())
	}
	return rhoText(sum)
}

// Steps are the mechanisms of all choices.
//
// Guarantee: what is learned of the choices is no more than of these mechanisms, composed. Neighbours: those of the sensitivity.
// Theorem: each choice depends on those before it by which cells are left alone, and has the same bound whichever these are, so
// that bounds compose as of mechanisms fixed in advance (pure ε and ρ: Dwork, Rothblum & Vadhan 2010; Bun & Steinke 2016, lemma
// 2.3; dominating pairs: Zhu, Dong & Wang 2022, theorem 10). Argument: docs/proofs/topk.md.
func (c *Choices) Steps() []budget.Mechanism {
	steps := make([]budget.Mechanism, c.Of)
	for i := range steps {
		steps[i] = c.Select
	}
	return steps
}

// Top says of a table that it has the cells that were chosen, in the order of their choice.
type Top struct {
	Of int64 `json:"of"`
	// Choosing is the share of the table's amount that the choices take; the rest is for the noise of the counts.
	Choosing string `json:"choosing"`
	// Shortfall bounds by how much the count of a cell that is not in the table exceeds that of one that is: with a probability
	// of Attained or more no such pair is further apart.
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"`
}

// someCells tells that a table has some of its cells, by what is counted in them.
func (t Table) someCells() bool { return t.Sparse != nil || t.Top != nil || t.Discovered != nil }

// rechosen are the choices of a measurement where a unit's rows may be in other cells: one removal and one addition, or one
// replacement.
func (p *Plan) rechosen(m Measurement) []budget.Mechanism {
	if m.Top == nil {
		return nil
	}
	steps := m.Top.Steps()
	for i := range steps {
		steps[i] = p.exchanged(steps[i])
	}
	return steps
}

// top is how many cells of the table are chosen, 0 of one that has them all.
func (t *table) top() int64 {
	if t.of != nil {
		return 0
	}
	return t.marginal.Top
}

// chosenFrom tells that cells are published by what is counted in them, so that they are not visited one by one.
func (t *table) chosenFrom() bool { return t.sparse() || t.top() > 0 }

// checkTop refuses a table of which no cells can be chosen.
func (t *table) checkTop() error {
	switch {
	case t.top() == 0:
		return nil
	case t.discovers != nil:
		return &fault{"top", fmt.Sprintf("table %s is by columns whose categories nobody lists, among which none can be compared", t.path), "columns with a domain, or no `top`: groups that are discovered are published by their counts"}
	case t.masked():
		return &fault{"top", fmt.Sprintf("table %s has impossible cells, among which none may be chosen", t.path), "a table without what is impossible, or without `top`"}
	case t.cells <= t.top():
		return &fault{"top", fmt.Sprintf("table %s has %s, and %d are to be chosen", t.path, budget.Plural(t.cells, "cell"), t.top()), "a smaller number; without `top` all cells are published, for less"}
	}
	return nil
}

// countedCells is how many cells of a table get noise where it is measured by itself.
func (t *table) countedCells() int64 {
	if k := t.top(); k > 0 {
		return k
	}
	return t.cells
}

// choices are those of a table, without their mechanism.
//
// Guarantee: no unit moves the integer of a cell by more than Sensitivity and, where Monotone, moves none up and another down.
// Neighbours: under add-remove one unit's rows come or go, at most each of them in one cell, of weights of 0 or more; under
// replace the integer of a cell is in [0, each·M] of either unit, with M the largest weight, so that it moves by at most that.
// Argument: docs/proofs/topk.md.
func (t *table) choices(r *spec.Release) (*Choices, error) {
	confidential := r.Table(t.marginal.Table)
	_, each := rowsOf(confidential.Unit, t.perUnit, t.cells)
	e := t.value.extent(confidential)
	moves := e.largest()
	moves = new(big.Int).Mul(moves, big.NewInt(each))
	if !moves.IsInt64() || e.least.Sign() < 0 {
		return nil, &fault{"top", fmt.Sprintf("a unit can move a cell of table %s further than counts are compared by", t.path), "a smaller range of the weight, or a coarser step"}
	}
	return &Choices{Of: t.top(), Sensitivity: moves.Int64(), Monotone: r.Privacy.Neighbours == spec.AddRemove}, nil
}

// choosing is the kind of mechanism that choices are made by beside this kind of noise: permute-and-flip in a pure budget, as it
// falls short by no more than the exponential mechanism of the same ε; else the exponential mechanism, which for a quarter of
// its ρ falls short by hardly more.
func choosing(noise budget.Kind) budget.Kind {
	if noise == budget.DiscreteLaplace {
		return budget.PermuteAndFlip
	}
	return budget.ExponentialMechanism
}

// chosen is the design of a top table: what the choices get, and what the noise gets, are such that the sum of squares of the
// shortfall that has the confidence, in standard errors of that confidence, and of the standard error of the counts is least.
//
// With an amount of 1 for each alone they are A and B. As parts f and 1−f of a ρ they are A/√f and B/√(1−f), and A²/f + B²/(1−f)
// is least, (A+B)², for f = A/(A+B); as parts of an ε they are A/f and B/(1−f), and the least is (A^⅔+B^⅔)³ for A^⅔/(A^⅔+B^⅔)
// (Lagrange).
func (g *group) chosen(r *spec.Release, noise budget.Kind) (design, error) {
	t := g.tables[0]
	d := design{kind: Direct, noise: noise, parts: []float64{1}}
	p := g.byItself(r, t, noise)
	c, err := t.choices(r)
	if err != nil {
		return d, err
	}
	k := float64(c.Of)
	one := budget.Mechanism{Kind: choosing(noise), Parameter: big.NewRat(1, 1)}
	const fine = int64(1) << 20 // so that the shortfall, in parts of it, is no small integer
	shortfall, _ := one.Shortfall(t.cells, new(big.Int).Mul(c.Moves(), big.NewInt(fine)), (1-confidence)/k)
	z := budget.NormalQuantile((1 - confidence) / 2)
	a := float64(shortfall) / float64(float64(fine)*z) // for a choice of ε = 1
	b := math.Sqrt(p.variance(1))
	var part float64
	if noise == budget.DiscreteLaplace {
		a *= k // each choice has one k-th of ε
		x, y := cubeRoot(float64(a*a)), cubeRoot(float64(b*b))
		part = x / (x + y)
	} else {
		a *= math.Sqrt(k / 8) // ε = √(8ρ/k)
		part = a / (a + b)
	}
	steps := min(max(math.Floor(float64(part*choosingSteps)+0.5), 1), choosingSteps-1)
	p.choosing, p.choices = big.NewRat(int64(steps), choosingSteps), c
	d.planned = []planned{p}
	part = steps / choosingSteps
	rest := 1 - part
	if noise == budget.DiscreteLaplace { // errors fall as the square of an ε
		part, rest = float64(part*part), float64(rest*rest)
	}
	counts := float64(b*b) / rest
	d.spread = float64(k * counts)
	if d.error = float64(t.weight * (float64(a*a)/part + counts)); g.minimise != spec.LeastLargest {
		d.error *= k
	}
	return d, nil
}

// choosingSteps is of how many parts the share of choices is a whole number.
const choosingSteps = 64

// choose gives a measurement the choices that a part of its cost buys, of an ε or of a ρ, and returns what is left for its noise.
//
// Guarantee: all choices together cost at most their part: ε of k choices adds up, and so does ρ, of which each has ε²/8.
// Neighbours: those of the sensitivity. Theorem: as for [Choices.Steps]; Cesar & Rogers 2021, lemma 3.2. Argument:
// docs/proofs/topk.md.
func (p planned) choose(m *Measurement, cost *big.Rat) (rest *big.Rat, err error) {
	part := new(big.Rat).Mul(cost, p.choosing)
	each := new(big.Rat).Quo(part, big.NewRat(p.choices.Of, 1))
	c := *p.choices
	c.Select.Kind = choosing(p.noise)
	if p.noise == budget.DiscreteLaplace {
		c.Select.Parameter = floor(each, choiceBits)
	} else {
		c.Select.Parameter = rootBelow(each.Mul(each, big.NewRat(8, 1)), choiceBits)
	}
	if c.Select.Parameter.Sign() == 0 {
		return nil, fmt.Errorf("a choice among its cells gets too little to tell them apart at all: choose fewer cells, or spend more budget here")
	}
	m.Top = &c
	return new(big.Rat).Sub(cost, part), nil
}

// floor is the largest multiple of 2^−bits that is at most x ≥ 0.
func floor(x *big.Rat, bits uint) *big.Rat {
	scaled := new(big.Int).Lsh(x.Num(), bits)
	return new(big.Rat).SetFrac(scaled.Quo(scaled, x.Denom()), new(big.Int).Lsh(big.NewInt(1), bits))
}

// tops says of every top table how far it may fall short. It fails on one whose choices get next to nothing.
func (p *Plan) tops(tables []*table, all []planned) error {
	measured, shares := p.measured(), map[string]string{}
	for _, one := range all {
		if one.choices != nil {
			shares[one.table.path] = one.choosing.RatString()
		}
	}
	for i, t := range tables {
		if t.top() == 0 {
			continue
		}
		c := measured[t.path].Top
		miss := (1 - confidence) / float64(c.Of)
		margin, exceeded := c.Select.Shortfall(t.cells, c.Moves(), miss)
		if margin == math.MaxInt64 {
			return at(p.Release(), "marginals."+t.marginal.Name, &fault{"top", fmt.Sprintf("a choice among the cells of table %s gets too little to tell them apart at all", t.path), "fewer cells to choose, or more of the budget"})
		}
		each, _ := p.eachOf(p.Tables[i]).Float64()
		top := p.Tables[i].Top
		top.Choosing = shares[t.path]
		top.Shortfall = float64(each * float64(margin))
		top.Attained = max(confidence, math.Floor(float64((1-float64(float64(c.Of)*exceeded))*1e9))/1e9)
		p.Tables[i].Expectation = top.expectation(p.Tables[i])
	}
	return nil
}

// choosesBy tells that choices are of as many cells as the table has.
func (t Table) choosesBy(c *Choices) bool {
	if t.Top == nil || c == nil {
		return t.Top == nil && c == nil
	}
	return c.Of == t.Top.Of && c.Of < t.Cells && c.Sensitivity > 0
}

// Sentence says which cells a table has, and how far it may fall short.
func (t *Top) Sentence(cells int64) string {
	return fmt.Sprintf("Of %s the %s with the largest counts, as far as private choices find them: with a probability of %s no cell that is left out has over %s more than one that is here.",
		budget.Plural(cells, "cell"), budget.Group(t.Of), percentDown(t.Attained), budget.Group(WholeMargin(t.Shortfall)))
}

// percentDown is a probability in per cent, rounded down to one decimal.
func percentDown(x float64) string {
	return fmt.Sprintf("%g%%", math.Floor(x*1000)/10)
}

// expectation says in words what a top table will hold, and what its figures are good for.
func (t *Top) expectation(of Table) string {
	return t.Sentence(of.Cells) + fmt.Sprintf(" The counts of those that are here are drawn anew: each within ±%s of the exact one 19 times in 20, whichever were chosen.",
		budget.Group(WholeMargin(of.Statistics[0].Margin)))
}
