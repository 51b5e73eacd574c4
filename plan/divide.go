package plan

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the division of the budget: the kind of noise that each group of tables gets, and its part of its leaf.

// blueprint is how the tables of a release can be measured, whatever the size of its budget.
type blueprint struct {
	release *spec.Release
	tables  []*table // those that are published
	drafts  []microdata
	groups  []*group
	pure    bool
	// rough says that the size of a budget of ε and δ is taken from the conversion of ρ alone, for Gaussian noise: for what needs
	// to be known before the measurements are.
	rough bool
	// about says that the size of a budget of ε and δ is found by rough compositions: for what is said and not spent.
	about bool
	// tight is by how much the caps of tables are lowered, where noise on integers has not quite the variance that is reckoned with, and
	// levelled are the leaves whose tables all have an equal share, as nothing else leaves none worse.
	tight    map[*table]float64
	levelled map[int]bool
}

// Summing says how columns are measured along which tables count up, or are asked for ranges.
type Summing string

const (
	// RangedApart measures them for that in the leaves that ask for it.
	RangedApart Summing = ""
	// RangedEverywhere does so in all leaves, so that their measurements bear on each other.
	RangedEverywhere Summing = "everywhere"
	// CellByCell measures them as other columns: sums are added up from cells.
	CellByCell Summing = "cells"
	// LevelsSeparate measures them as other columns too, and every level of a column as one of its own. It is taken where
	// tables are guarded and residuals of levels that lie within each other would make some worse than by themselves.
	LevelsSeparate Summing = "levels"
)

// newBlueprint groups the tables and designs every group.
func newBlueprint(r *spec.Release, tables, parts []*table, drafts []microdata, tighten float64, how Summing) (*blueprint, error) {
	b := &blueprint{release: r, tables: tables, drafts: drafts, pure: r.Budget.Epsilon != nil && r.Budget.Delta == nil}
	each, _ := sampleOf(r).Each().Float64()
	for _, confidential := range r.Tables {
		var own []*table
		for _, t := range tables {
			if t.marginal.Table == confidential.Name {
				own = append(own, t)
			}
		}
		if own == nil {
			continue
		}
		c, err := newChains(r, own, how)
		if err != nil {
			return nil, err
		}
		for leaf, l := range r.Budget.Leaves {
			of := slices.DeleteFunc(slices.Clone(own), func(t *table) bool { return t.leaf != leaf })
			for _, p := range parts {
				if p.marginal.Table == confidential.Name && p.leaf == leaf {
					of = append(of, p)
				}
			}
			for place, tables := range connected(of, c) {
				g := &group{release: r, leaf: leaf, place: place, tables: tables, chains: c, minimise: r.Budget.Minimise, unit: each, needed: l.Needed}
				if v := tables[0].value; tables[0].of == nil && v != nil && v.Weight {
					g.unit, _ = confidential.Weight.Lattice.Step.Float64()
				}
				if err := g.design(r, tighten); err != nil {
					return nil, at(r, "marginals."+g.tables[0].marginal.Name, err)
				}
				b.groups = append(b.groups, g)
			}
		}
	}
	return b, nil
}

// ranges are the columns of some tables that are measured for what counts up along them, by leaf.
func (v Summing) ranges(r *spec.Release, tables []*table) map[source]bool {
	out := map[source]bool{}
	for _, t := range tables {
		for i, a := range t.counted {
			if t.sums[i] == residual.Cells || t.apart() || v == CellByCell || v == LevelsSeparate {
				continue
			}
			out[source{r.Budget.Leaves[t.leaf].Path, a.Column}] = true
			for _, l := range r.Budget.Leaves {
				if v == RangedEverywhere {
					out[source{l.Path, a.Column}] = true
				}
			}
		}
	}
	return out
}

// variants are those that differ for some tables.
func (d *draftPlan) variants(r *spec.Release) []Summing {
	all := d.summings(r)
	if r.Budget.Minimise == spec.Guarded {
		all = append(all, LevelsSeparate)
	}
	return all
}

// summings are the variants that differ for tables that count up, or are asked for ranges.
func (d *draftPlan) summings(r *spec.Release) []Summing {
	if !slices.ContainsFunc(d.tables, (*table).summed) {
		return []Summing{RangedApart}
	}
	if !mixed(r, d.tables) {
		return []Summing{RangedApart, CellByCell}
	}
	return []Summing{RangedApart, RangedEverywhere, CellByCell}
}

// mixed tells that a column which one leaf asks for ranges of is used in another that does not.
func mixed(r *spec.Release, tables []*table) bool {
	for _, confidential := range r.Tables {
		asks, uses := map[string]map[int]bool{}, map[string]map[int]bool{}
		note := func(in map[string]map[int]bool, column string, leaf int) {
			if in[column] == nil {
				in[column] = map[int]bool{}
			}
			in[column][leaf] = true
		}
		for _, t := range tables {
			if t.marginal.Table != confidential.Name || t.apart() {
				continue
			}
			for i, a := range t.counted {
				note(uses, a.Column, t.leaf)
				if t.sums[i] != residual.Cells {
					note(asks, a.Column, t.leaf)
				}
			}
		}
		for column, leaves := range asks {
			if len(leaves) < len(uses[column]) {
				return true
			}
		}
	}
	return false
}

// division is one way to spend the budget on a blueprint.
type division struct {
	choice  []int    // the design of each group
	taken   []design // that design, with the parts that it has in its leaf
	planned []planned
	shares  []float64 // of each group in its leaf: of ε in a pure budget, else of ρ
	cost    budget.Cost
	leaves  []Leaf
	errors  []float64 // of each leaf, in the sense of the objective; 0 where targets decide
	error   float64   // of all
	epsilon float64   // at the budget's δ, where targets decide it all
	// about is set where the size of the budget was found roughly, which was enough to see that another division is better.
	about bool
}

// settle chooses the noise of every group: discrete Gaussian noise for all, or discrete Laplace noise for all or, group by
// group, for some, where that makes the error of all tables less under the release's accountant, and of no leaf more. uniform is what the plan would be with one kind for all, in
// the order of [noises]; nil where that would be too
// little for targets, or has no chance.
func (b *blueprint) settle() (best *division, uniform []*division, err error) {
	uniform = make([]*division, len(noises(b.release.Budget)))
	var little error
	for kind := range noises(b.release.Budget) {
		choice := make([]int, len(b.groups))
		for i, g := range b.groups {
			choice[i] = g.best[kind]
		}
		if kind > 0 && b.tooMany(choice) {
			continue
		}
		d, err := b.divide(choice, best)
		if errors.Is(err, errTooLittle) { // the other kind may be cheaper
			little = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if best == nil || !d.about && d.less(best) {
			best = d
		}
		uniform[kind] = d
		if len(b.groups) == 0 {
			break // microdata alone
		}
	}
	if best == nil {
		return nil, nil, little
	}
	// With several leaves a group that changes alone makes its own leaf worse, but for one that has most of the budget.
	if len(noises(b.release.Budget)) == 1 || len(b.release.Budget.Leaves) > 1 || len(b.groups) <= 1 || len(b.groups) > mostFlips {
		return best, uniform, nil
	}
	for i, g := range b.groups {
		choice := slices.Clone(best.choice)
		if choice[i] = g.best[0]; best.choice[i] == g.best[0] {
			choice[i] = g.best[1]
		}
		switch trial, err := b.divide(choice, best); {
		case errors.Is(err, errTooLittle):
		case err != nil:
			return nil, nil, err
		case !trial.about && trial.less(best):
			best = trial
		}
	}
	return best, uniform, nil
}

// tooMany tells that so many measurements have Laplace noise by this choice that Gaussian noise is better under ε and δ: of
// k equal ones that is so from about k = ln(1/δ) on, where k·√2/ε is √(2k·ln(1/δ))/ε, and here from more than twice that.
func (b *blueprint) tooMany(choice []int) bool {
	var sum, squares float64
	for i, g := range b.groups {
		design := g.designs[choice[i]]
		if design.noise != budget.DiscreteLaplace || g.needed {
			continue
		}
		amount := g.amount(design, true)
		for _, part := range design.parts {
			sum += float64(amount * part)
			squares += float64(amount*part) * float64(amount*part)
		}
	}
	delta, _ := b.release.Budget.Delta.Float64()
	return squares > 0 && float64(sum*sum)/squares > float64(-2*budget.Log(delta))+8
}

// mostFlips bounds the groups that are tried one by one with their other noise.
const mostFlips = 16

// less tells that a division is better than another by more than rounding, for all leaves together and for none of them
// worse: no leaf pays for what another gains.
func (d *division) less(other *division) bool {
	const rounding = 1e-6
	for leaf, e := range d.errors {
		if e > float64(other.errors[leaf]*(1+rounding)) {
			return false
		}
	}
	if d.error != other.error {
		return d.error < float64(other.error*(1-rounding))
	}
	return d.epsilon < float64(other.epsilon*(1-rounding))
}

// divide gives every group its design's measurements, shares every leaf among them, and finds the size of the budget.
//
// Within a leaf a group has what makes the error of all least: for an error of e/ρ a part ∝ √e, for e/ε² ∝ ∛e, and
// where the largest variance counts ∝ e and √e. Where all noise of a leaf is Laplace noise, ε add up (nearly, under ε
// and δ) and are divided; elsewhere ρ are.
//
// A division that a rough size of the budget shows to be no better than the best so far is left at that.
func (b *blueprint) divide(choice []int, best *division) (*division, error) {
	d := &division{choice: choice, about: b.about, shares: make([]float64, len(b.groups))}
	var parts []float64 // of all measurements
	sums := make([]float64, len(b.release.Budget.Leaves))
	var amounts []float64
	var err error
	if d.taken, amounts, err = b.taken(choice); err != nil {
		return nil, err
	}
	for i, g := range b.groups {
		whole := b.inEpsilon(choice, g.leaf)
		design, amount := d.taken[i], amounts[i]
		for j, p := range design.planned {
			part := 0.0
			switch {
			case g.needed:
			case design.guard != nil:
				part = float64(amount * design.amounts[j])
			case design.noise == budget.DiscreteGaussian:
				part = float64(amount * design.parts[j])
			case b.pure:
				part = float64(amount * design.parts[j])
			case whole:
				part = float64(float64(amount*design.parts[j]) * float64(amount*design.parts[j]))
			default:
				part = float64(amount*float64(design.parts[j]*design.parts[j])) / (2 * design.perRho())
			}
			parts = append(parts, part)
			sums[g.leaf] += part
			d.shares[i] += part
			d.planned = append(d.planned, p)
		}
	}
	for i, g := range b.groups {
		d.shares[i] /= sums[g.leaf]
	}
	for leaf, l := range b.release.Budget.Leaves {
		if l.Needed {
			continue
		}
		var own []float64
		var at []int
		for i, p := range d.planned {
			if p.group.leaf == leaf {
				own, at = append(own, parts[i]), append(at, i)
			}
		}
		for i, share := range exactShares(own) {
			d.planned[at[i]].share = share
		}
	}
	if err := distinct(d.planned); err != nil {
		return nil, err
	}
	if best != nil {
		d.about = true
		if err := b.size(d); err != nil {
			return nil, err
		}
		if d.weigh(b); !d.mayBeLess(best) {
			return d, nil
		}
		d.about = b.about
	}
	if err := b.size(d); err != nil {
		return nil, err
	}
	d.weigh(b)
	return d, nil
}

// mayBeLess reports whether a division whose errors are known roughly may be better than another.
func (d *division) mayBeLess(other *division) bool {
	const off = 1e-3 // more than the errors can be
	least := *d
	least.errors = slices.Clone(d.errors)
	for i := range least.errors {
		least.errors[i] *= 1 - off
	}
	least.error *= 1 - off
	return least.less(other)
}

// taken are the designs that are chosen for the groups, and the parts that these have of their leaves, in proportion. Where
// tables are guarded, several groups of a leaf have both from one problem.
func (b *blueprint) taken(choice []int) (designs []design, amounts []float64, err error) {
	designs, amounts = make([]design, len(b.groups)), make([]float64, len(b.groups))
	for i, g := range b.groups {
		designs[i] = g.designs[choice[i]]
		if b.levelled[g.leaf] && g.divisible() {
			if designs[i], err = g.levelled(designs[i].noise); err != nil {
				return nil, nil, err
			}
		}
		amounts[i] = g.amount(designs[i], b.inEpsilon(choice, g.leaf))
	}
	if b.release.Budget.Minimise != spec.Guarded {
		return designs, amounts, nil
	}
	for leaf := range b.release.Budget.Leaves {
		var of []int
		for i, g := range b.groups {
			if g.leaf == leaf && !g.needed {
				of = append(of, i)
			}
		}
		if len(of) > 0 {
			b.guardLeaf(of, designs, amounts)
		}
	}
	return designs, amounts, nil
}

// inEpsilon tells that the groups of a leaf have Laplace noise alone.
func (b *blueprint) inEpsilon(choice []int, leaf int) bool {
	for i, g := range b.groups {
		if g.leaf == leaf && g.designs[choice[i]].noise != budget.DiscreteLaplace {
			return false
		}
	}
	return true
}

// amount is a group's part of its leaf, of ε or of ρ, in proportion.
func (g *group) amount(d design, inEpsilon bool) float64 {
	switch largest := g.minimise == spec.LeastLargest; {
	case g.needed:
		return 0
	case inEpsilon && largest:
		return math.Sqrt(d.error)
	case inEpsilon:
		return cubeRoot(d.error)
	case largest:
		return float64(d.error * d.perRho())
	}
	return math.Sqrt(float64(d.error * d.perRho()))
}

// perRho is ρ where the amount is 1: itself for Gaussian noise, Σ(ε·part)²/2 for the ε of Laplace noise.
func (d design) perRho() float64 {
	if d.noise != budget.DiscreteLaplace {
		return 1
	}
	var sum float64
	for _, part := range d.parts {
		sum += float64(part * part)
	}
	return sum / 2
}

// atShare is a figure of a design, its error or its spread, for a group's share of a leaf's amount: of ε or, where an
// amount of 1 takes perRho of it, of ρ.
func atShare(figure, perRho float64, amount budget.Cost, share float64) float64 {
	if amount.Epsilon != nil {
		e, _ := amount.Epsilon.Float64()
		e *= share
		return figure / float64(e*e)
	}
	rho, _ := amount.Rho.Float64()
	return float64(figure*perRho) / float64(rho*share)
}

// weigh works out the errors of a division. Groups of targets have theirs as the targets want it.
func (d *division) weigh(b *blueprint) {
	d.errors, d.error = make([]float64, len(d.leaves)), 0
	largest := b.release.Budget.Minimise == spec.LeastLargest
	for i, g := range b.groups {
		if g.needed {
			continue
		}
		design := d.taken[i]
		e := atShare(design.error, design.perRho(), d.leaves[g.leaf].Amount, d.shares[i])
		if largest {
			d.errors[g.leaf] = max(d.errors[g.leaf], e)
		} else {
			d.errors[g.leaf] += e
		}
	}
	for _, e := range d.errors {
		if largest {
			d.error = max(d.error, e)
		} else {
			d.error += e
		}
	}
}

// size finds the size of the budget: the amounts of its leaves as asked and, for an ε,δ budget, the largest ρ for which
// all that they buy, measurements and blocks, composed, is within ε and δ.
func (b *blueprint) size(d *division) error {
	asked := b.release.Budget
	needed := b.needs(d.planned)
	total := asked.Epsilon
	switch {
	case asked.Delta != nil:
		var err error
		if total, err = b.calibrate(d, needed); err != nil {
			return err
		}
	case asked.Epsilon == nil:
		total = asked.Rho
	}
	var err error
	d.leaves, err = b.allocate(total, needed)
	if err != nil {
		return err
	}
	sum := new(big.Rat)
	for _, l := range d.leaves {
		if b.pure {
			sum.Add(sum, l.Amount.Epsilon)
		} else {
			sum.Add(sum, l.Amount.Rho)
		}
	}
	if b.pure {
		d.cost.Epsilon = sum
	} else {
		d.cost.Rho = sum
	}
	return nil
}

// needs are what the leaves of targets take, by their paths.
func (b *blueprint) needs(all []planned) map[string]*big.Rat {
	needed := map[string]*big.Rat{}
	for _, p := range all {
		if p.needs == nil {
			continue
		}
		path := p.group.path()
		if needed[path] == nil {
			needed[path] = new(big.Rat)
		}
		needed[path].Add(needed[path], p.charge(b.pure))
	}
	return needed
}

// calibrate finds the ρ of an ε,δ budget. Where targets need more than the conversion of ρ alone allows, the search
// begins at what they need. It fails with [errTooLittle] where that is more than ε and δ allow.
func (b *blueprint) calibrate(d *division, needed map[string]*big.Rat) (*big.Rat, error) {
	asked := b.release.Budget
	from, err := budget.RhoForEpsilonDelta(asked.Epsilon, asked.Delta)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	if least, err := asked.Least(needed); err != nil {
		return nil, fmt.Errorf("%w: %w", errTooLittle, err)
	} else if least.Cmp(from) >= 0 { // a millionth more, so that there is something for every share
		from = least.Add(least, new(big.Rat).Quo(least, big.NewRat(1_000_000, 1)))
	}
	if b.rough {
		return from, nil
	}
	if b.isFixed(from, needed) {
		return b.fixed(d, needed, from)
	}
	build := func(rho *big.Rat) ([]budget.Mechanism, error) {
		leaves, err := b.allocate(rho, needed)
		if err != nil {
			return nil, err
		}
		trial := &Plan{Leaves: leaves}
		err = trial.spend(b, d.planned)
		return trial.Mechanisms(), err
	}
	var rho *big.Rat
	if d.about {
		rho, err = budget.CalibrateRoughly(asked.Epsilon, asked.Delta, from, build)
	} else {
		rho, _, err = budget.Calibrate(asked.Epsilon, asked.Delta, from, build)
	}
	switch {
	case errors.Is(err, budget.ErrExceeded):
		return nil, errTooLittle
	case err != nil:
		return nil, fmt.Errorf("budget: %w", err)
	}
	return rho, nil
}

// isFixed tells that no leaf has a share: twice the total gives the same amounts.
func (b *blueprint) isFixed(total *big.Rat, needed map[string]*big.Rat) bool {
	once, err := b.release.Budget.Divide(total, needed)
	if err != nil {
		return false
	}
	twice, err := b.release.Budget.Divide(new(big.Rat).Add(total, total), needed)
	return err == nil && slices.EqualFunc(once, twice, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
}

// fixed is a ρ for a budget all of whose leaves have their amounts, whatever it is. It fails with [errTooLittle] where
// these are more than ε and δ allow.
func (b *blueprint) fixed(d *division, needed map[string]*big.Rat, total *big.Rat) (*big.Rat, error) {
	leaves, err := b.allocate(total, needed)
	if err != nil {
		return nil, err
	}
	trial := &Plan{Leaves: leaves}
	if err := trial.spend(b, d.planned); err != nil {
		return nil, err
	}
	loss, err := budget.Compose(trial.Mechanisms()...)
	if err != nil {
		return nil, err
	}
	bound, err := loss.EpsilonAt(b.release.Budget.Delta)
	if err != nil {
		return nil, err
	}
	d.epsilon = bound.Value
	if epsilon := new(big.Rat).SetFloat64(bound.Value); epsilon == nil || epsilon.Cmp(b.release.Budget.Epsilon) > 0 {
		return nil, errTooLittle
	}
	return total, nil
}

// distinct refuses two measurements of one name, which their noise is derived from.
func distinct(all []planned) error {
	seen := make(map[string]bool, len(all))
	for _, p := range all {
		id := p.id()
		if seen[id] {
			return fmt.Errorf("two measurements would have one name, %s: give a column another name and say where it comes from (from: …)", id)
		}
		seen[id] = true
	}
	return nil
}

// partBits is how many digits of a share are kept.
const partBits = 30

// exactShares are shares in proportion to parts, as exact fractions of few digits: each rounded down by less than 2⁻²⁹
// of it, unless it has no more digits than that.
//
// Contract: they add up to at most 1, whatever the rounding of floats.
func exactShares(parts []float64) []*big.Rat {
	var sum float64
	for _, p := range parts {
		sum += p
	}
	out, total, most := make([]*big.Rat, len(parts)), new(big.Rat), 0
	for i, p := range parts {
		fraction, exponent := math.Frexp(p / sum)
		out[i] = new(big.Rat).SetInt64(int64(math.Floor(math.Ldexp(fraction, partBits))))
		out[i].Quo(out[i], new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(partBits-exponent))))
		total.Add(total, out[i])
		if out[i].Cmp(out[most]) > 0 {
			most = i
		}
	}
	if excess := total.Sub(total, big.NewRat(1, 1)); excess.Sign() > 0 {
		out[most].Sub(out[most], excess)
	}
	return out
}
