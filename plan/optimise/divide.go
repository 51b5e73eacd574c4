package optimise

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the division of the budget: the kind of noise of each group of tables, and its part of its leaf.

// Blueprint says how the tables of a release can be measured, whatever the size of its budget.
type Blueprint struct {
	Release *spec.Release
	tables  []*workload.Table // the published ones
	drafts  []Microdata
	models  []Model
	Groups  []*Group
	Chains  map[string]workload.Chains // the columns of each confidential table that has tables
	Pure    bool
	// RhoConversionOnly takes the size of a budget of ε and δ from the conversion of ρ alone, for Gaussian noise. It
	// serves what must be known before the measurements are.
	RhoConversionOnly bool
	// RoughCompositions finds the size of a budget of ε and δ by rough compositions. It serves figures that are shown
	// and not spent.
	RoughCompositions bool
	// capFactors are the factors by which the caps of tables are lowered, because the variance of noise on integers is
	// not exactly the predicted one. levelled are the leaves whose tables all have an equal share, because nothing else
	// leaves no table worse.
	capFactors map[*workload.Table]float64
	levelled   map[int]bool
}

// NewBlueprint groups the tables and designs every group.
func NewBlueprint(r *spec.Release, tables, parts []*workload.Table, drafts []Microdata, models []Model,
	tighten float64, how strategy.Summing) (*Blueprint, error) {
	b := &Blueprint{Release: r, tables: tables, drafts: drafts, models: models, Chains: map[string]workload.Chains{},
		Pure: r.Budget.Epsilon != nil && r.Budget.Delta == nil}
	each, _ := workload.SampleOf(r).RowWeight().Float64()
	for _, confidential := range r.Tables {
		own := workload.TablesOf(tables, confidential.Name)
		if own == nil {
			continue
		}
		c, err := workload.NewChains(r, own, how)
		if err != nil {
			return nil, err
		}
		b.Chains[confidential.Name] = c
		for leaf, l := range r.Budget.Leaves {
			of := slices.DeleteFunc(slices.Clone(own), func(t *workload.Table) bool { return t.Leaf != leaf })
			for _, p := range parts {
				if p.Marginal.Table == confidential.Name && p.Leaf == leaf {
					of = append(of, p)
				}
			}
			for index, tables := range workload.Connected(of, c) {
				g := &Group{Release: r, Leaf: leaf, index: index, Tables: tables, Chains: c,
					Minimise: r.Budget.Minimise,
					Needed:   l.Needed}
				g.Unit = unitOf(tables[0], confidential, each)
				if err := g.addDesigns(r, tighten); err != nil {
					return nil, workload.LocateFault(r, "marginals."+g.Tables[0].Marginal.Name, err)
				}
				b.Groups = append(b.Groups, g)
			}
		}
	}
	return b, nil
}

// Division is one way to spend the budget on a blueprint.
type Division struct {
	choice        []int    // the index of each group's design
	ChosenDesigns []Design // that design, with its parts of the leaf
	Measurements  []PlannedMeasurement
	Shares        []float64 // of each group in its leaf: of ε in a pure budget, else of ρ
	Cost          budget.Cost
	Leaves        []plan.Leaf
	errors        []float64 // of each leaf, by the objective; 0 if targets decide
	Error         float64   // of all
	epsilon       float64   // at the budget's δ, if targets decide everything
	// isRough reports whether the size of the budget was found roughly, which was enough to see that another division
	// is better.
	isRough bool
}

// ChooseNoise chooses the noise of every group: discrete Gaussian noise for all, or discrete Laplace noise for all or,
// group by group, for some, if that lowers the error of all tables under the release's accountant and raises that of
// no leaf. uniform is the plan with one kind for all, in the order of [Noises]; an element is nil if the budget would
// be too small for the targets, or if that kind cannot win.
func (b *Blueprint) ChooseNoise() (best *Division, uniform []*Division, err error) {
	uniform = make([]*Division, len(Noises(b.Release.Budget)))
	var little error
	for kind := range Noises(b.Release.Budget) {
		choice := make([]int, len(b.Groups))
		for i, g := range b.Groups {
			choice[i] = g.Best[kind]
		}
		if kind > 0 && b.hasTooManyLaplace(choice) {
			continue
		}
		d, err := b.divideBudget(choice, best)
		if errors.Is(err, ErrTooLittle) { // the other kind may be cheaper
			little = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if best == nil || !d.isRough && d.isBetter(best) {
			best = d
		}
		uniform[kind] = d
		if len(b.Groups) == 0 {
			break // microdata alone
		}
	}
	if best == nil {
		return nil, nil, little
	}
	// With several leaves a group that changes alone makes its own leaf worse, but for one that has most of the budget.
	if len(Noises(b.Release.Budget)) == 1 || len(b.Release.Budget.Leaves) > 1 || len(b.Groups) <= 1 ||
		len(b.Groups) > mostFlips {
		return best, uniform, nil
	}
	for i, g := range b.Groups {
		choice := slices.Clone(best.choice)
		if choice[i] = g.Best[0]; best.choice[i] == g.Best[0] {
			choice[i] = g.Best[1]
		}
		switch trial, err := b.divideBudget(choice, best); {
		case errors.Is(err, ErrTooLittle):
		case err != nil:
			return nil, nil, err
		case !trial.isRough && trial.isBetter(best):
			best = trial
		}
	}
	return best, uniform, nil
}

// hasTooManyLaplace reports whether this choice gives so many measurements Laplace noise that Gaussian noise is
// better under ε and δ. For k equal measurements that is so from about k = ln(1/δ) on, where k·√2/ε is
// √(2k·ln(1/δ))/ε; the limit here is more than twice that.
func (b *Blueprint) hasTooManyLaplace(choice []int) bool {
	var sum, squares float64
	for i, g := range b.Groups {
		design := g.Designs[choice[i]]
		if !design.Noise.Pure() || g.Needed {
			continue
		}
		amount := g.leafPart(design, true)
		for _, part := range design.parts {
			sum += float64(amount * part)
			squares += float64(float64(amount*part) * float64(amount*part))
		}
	}
	delta, _ := b.Release.Budget.Delta.Float64()
	return squares > 0 && float64(sum*sum)/squares > float64(-2*budget.Log(delta))+8
}

// mostFlips is the largest number of groups that are tried one by one with their other noise.
const mostFlips = 16

// isBetter reports whether a division is better than another by more than rounding, over all leaves together, and
// worse in no leaf: no leaf pays for what another gains.
func (d *Division) isBetter(other *Division) bool {
	const rounding = 1e-6
	for leaf, e := range d.errors {
		if e > float64(other.errors[leaf]*(1+rounding)) {
			return false
		}
	}
	if d.Error != other.Error {
		return d.Error < float64(other.Error*(1-rounding))
	}
	return d.epsilon < float64(other.epsilon*(1-rounding))
}

// divideBudget gives every group its design's measurements, shares every leaf among them, and finds the size of the
// budget.
//
// Within a leaf the groups' parts minimise the error of all: ∝ √e for an error of e/ρ, ∝ ∛e for e/ε², and ∝ e and √e
// if the largest variance counts. If all noise of a leaf is Laplace noise, ε add up (nearly, under ε and δ) and are
// divided; elsewhere ρ are.
//
// A division is left with a rough size of the budget if that shows it to be no better than the best so far.
func (b *Blueprint) divideBudget(choice []int, best *Division) (*Division, error) {
	d := &Division{choice: choice, isRough: b.RoughCompositions, Shares: make([]float64, len(b.Groups))}
	var parts []float64 // of all measurements
	sums := make([]float64, len(b.Release.Budget.Leaves))
	var amounts []float64
	var err error
	if d.ChosenDesigns, amounts, err = b.chosenDesigns(choice); err != nil {
		return nil, err
	}
	for i, g := range b.Groups {
		whole := b.isAllLaplace(choice, g.Leaf)
		design, amount := d.ChosenDesigns[i], amounts[i]
		for j, p := range design.Measurements {
			part := 0.0
			switch {
			case g.Needed:
			case design.guard != nil:
				part = float64(amount * design.guardAmounts[j])
			case !design.Noise.Pure() || b.Pure:
				part = float64(amount * design.parts[j])
			case whole:
				part = float64(float64(amount*design.parts[j]) * float64(amount*design.parts[j]))
			default:
				part = float64(amount*float64(design.parts[j]*design.parts[j])) / (2 * design.perRho())
			}
			parts = append(parts, part)
			sums[g.Leaf] += part
			d.Shares[i] += part
			d.Measurements = append(d.Measurements, p)
		}
	}
	for i, g := range b.Groups {
		d.Shares[i] /= sums[g.Leaf]
	}
	for leaf, l := range b.Release.Budget.Leaves {
		if l.Needed {
			continue
		}
		var own []float64
		var at []int
		for i, p := range d.Measurements {
			if p.Group.Leaf == leaf {
				own, at = append(own, parts[i]), append(at, i)
			}
		}
		for i, share := range ExactShares(raiseTiny(own)) {
			d.Measurements[at[i]].Share = share
		}
	}
	if err := checkDistinctIDs(d.Measurements); err != nil {
		return nil, err
	}
	if best != nil {
		d.isRough = true
		if err := b.setSize(d); err != nil {
			return nil, err
		}
		if d.setErrors(b); !d.mayBeBetter(best) {
			return d, nil
		}
		d.isRough = b.RoughCompositions
	}
	if err := b.setSize(d); err != nil {
		return nil, err
	}
	d.setErrors(b)
	return d, nil
}

// mayBeBetter reports whether a division whose errors are known roughly may be better than another.
func (d *Division) mayBeBetter(other *Division) bool {
	const off = 1e-3 // more than the errors can be
	least := *d
	least.errors = slices.Clone(d.errors)
	for i := range least.errors {
		least.errors[i] *= 1 - off
	}
	least.Error *= 1 - off
	return least.isBetter(other)
}

// chosenDesigns returns the designs that are chosen for the groups, and the groups' parts of their leaves, in
// proportion. If tables are guarded, one problem decides both for all groups of a leaf.
func (b *Blueprint) chosenDesigns(choice []int) (designs []Design, amounts []float64, err error) {
	designs, amounts = make([]Design, len(b.Groups)), make([]float64, len(b.Groups))
	for i, g := range b.Groups {
		designs[i] = g.Designs[choice[i]]
		if b.levelled[g.Leaf] && g.isDivisible() {
			if designs[i], err = g.designLevelled(designs[i].Noise); err != nil {
				return nil, nil, err
			}
		}
		amounts[i] = g.leafPart(designs[i], b.isAllLaplace(choice, g.Leaf))
	}
	if b.Release.Budget.Minimise != spec.Guarded {
		return designs, amounts, nil
	}
	for leaf := range b.Release.Budget.Leaves {
		var groups []int
		for i, g := range b.Groups {
			if g.Leaf == leaf && !g.Needed {
				groups = append(groups, i)
			}
		}
		if len(groups) > 0 {
			b.guardLeaf(groups, designs, amounts)
		}
	}
	return designs, amounts, nil
}

// isAllLaplace reports whether all groups of a leaf have Laplace noise.
func (b *Blueprint) isAllLaplace(choice []int, leaf int) bool {
	for i, g := range b.Groups {
		if g.Leaf == leaf && !g.Designs[choice[i]].Noise.Pure() {
			return false
		}
	}
	return true
}

// leafPart returns a group's part of its leaf, of ε or of ρ, in proportion.
func (g *Group) leafPart(d Design, inEpsilon bool) float64 {
	switch largest := g.Minimise == spec.LeastLargest; {
	case g.Needed:
		return 0
	case inEpsilon && largest:
		return math.Sqrt(d.Error)
	case inEpsilon:
		return budget.CubeRoot(d.Error)
	case largest:
		return float64(d.Error * d.perRho())
	}
	return math.Sqrt(float64(d.Error * d.perRho()))
}

// perRho returns the ρ of an amount of 1: 1 for Gaussian noise, Σ(ε·part)²/2 for Laplace noise with an ε of 1.
func (d Design) perRho() float64 {
	if !d.Noise.Pure() {
		return 1
	}
	var sum float64
	for _, part := range d.parts {
		sum += float64(part * part)
	}
	return sum / 2
}

// atShare returns the error or the spread of a design for a group's share of a leaf's amount: of ε, or of ρ, of which
// an amount of 1 takes perRho.
func atShare(figure, perRho float64, amount budget.Cost, share float64) float64 {
	if amount.Epsilon != nil {
		e, _ := amount.Epsilon.Float64()
		e *= share
		return figure / float64(e*e)
	}
	rho, _ := amount.Rho.Float64()
	return float64(figure*perRho) / float64(rho*share)
}

// setErrors works out the errors of a division. Groups of targets are left out, as targets decide their errors.
func (d *Division) setErrors(b *Blueprint) {
	d.errors, d.Error = make([]float64, len(d.Leaves)), 0
	largest := b.Release.Budget.Minimise == spec.LeastLargest
	for i, g := range b.Groups {
		if g.Needed {
			continue
		}
		design := d.ChosenDesigns[i]
		e := atShare(design.Error, design.perRho(), d.Leaves[g.Leaf].Amount, d.Shares[i])
		if largest {
			d.errors[g.Leaf] = max(d.errors[g.Leaf], e)
		} else {
			d.errors[g.Leaf] += e
		}
	}
	for _, e := range d.errors {
		if largest {
			d.Error = max(d.Error, e)
		} else {
			d.Error += e
		}
	}
}

// setSize finds the size of the budget: the amounts of its leaves as the spec states them and, for an ε,δ budget, the
// largest ρ for which the composition of all measurements and blocks is within ε and δ.
func (b *Blueprint) setSize(d *Division) error {
	asked := b.Release.Budget
	needed := b.TargetCosts(d.Measurements)
	total := asked.Epsilon
	switch {
	case asked.Delta != nil:
		var err error
		if total, err = b.calibrateRho(d, needed); err != nil {
			return err
		}
	case asked.Epsilon == nil:
		total = asked.Rho
	}
	var err error
	d.Leaves, err = b.Allocate(total, needed)
	if err != nil {
		return err
	}
	sum := new(big.Rat)
	for _, l := range d.Leaves {
		sum.Add(sum, cmp.Or(l.Amount.Epsilon, l.Amount.Rho))
	}
	d.Cost = b.costOf(sum)
	return nil
}

// TargetCosts returns what the leaves of targets take, by leaf path.
func (b *Blueprint) TargetCosts(all []PlannedMeasurement) map[string]*big.Rat {
	needed := map[string]*big.Rat{}
	for _, p := range all {
		if p.TargetCost == nil {
			continue
		}
		path := p.Group.leafPath()
		if needed[path] == nil {
			needed[path] = new(big.Rat)
		}
		needed[path].Add(needed[path], p.leafCharge(b.Pure))
	}
	return needed
}

// calibrateRho finds the ρ of an ε,δ budget. If targets need more than the conversion of ρ alone allows, the search
// begins at what they need. It returns [ErrTooLittle] if that is more than ε and δ allow.
func (b *Blueprint) calibrateRho(d *Division, needed map[string]*big.Rat) (*big.Rat, error) {
	budgeted := b.Release.Budget
	from, err := budget.RhoForEpsilonDelta(budgeted.Epsilon, budgeted.Delta)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	if least, err := budgeted.LeastTotal(needed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTooLittle, err)
	} else if least.Cmp(from) >= 0 { // a millionth more, so that there is something for every share
		from = least.Add(least, new(big.Rat).Quo(least, big.NewRat(1_000_000, 1)))
	}
	if b.RhoConversionOnly {
		return from, nil
	}
	if b.IsFixed(from, needed) {
		return b.fixedRho(d, needed, from)
	}
	build := func(rho *big.Rat) ([]budget.Mechanism, error) {
		leaves, err := b.Allocate(rho, needed)
		if err != nil {
			return nil, err
		}
		trial := &plan.Plan{Leaves: leaves}
		err = Spend(trial, b, d.Measurements)
		return trial.Mechanisms(), err
	}
	var rho *big.Rat
	if d.isRough {
		rho, err = budget.CalibrateRoughly(budgeted.Epsilon, budgeted.Delta, from, build)
	} else {
		rho, _, err = budget.Calibrate(budgeted.Epsilon, budgeted.Delta, from, build)
	}
	switch {
	case errors.Is(err, budget.ErrExceeded):
		return nil, ErrTooLittle
	case err != nil:
		return nil, fmt.Errorf("budget: %w", err)
	}
	return rho, nil
}

// IsFixed reports whether no leaf has a share, so that twice the total gives the same amounts.
func (b *Blueprint) IsFixed(total *big.Rat, needed map[string]*big.Rat) bool {
	once, err := b.Release.Budget.Divide(total, needed)
	if err != nil {
		return false
	}
	twice, err := b.Release.Budget.Divide(new(big.Rat).Add(total, total), needed)
	return err == nil && slices.EqualFunc(once, twice, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
}

// fixedRho returns a ρ for a budget whose leaves all have fixed amounts. It returns [ErrTooLittle] if these cost more
// than ε and δ allow.
func (b *Blueprint) fixedRho(d *Division, needed map[string]*big.Rat, total *big.Rat) (*big.Rat, error) {
	leaves, err := b.Allocate(total, needed)
	if err != nil {
		return nil, err
	}
	trial := &plan.Plan{Leaves: leaves}
	if err := Spend(trial, b, d.Measurements); err != nil {
		return nil, err
	}
	loss, err := budget.Compose(trial.Mechanisms()...)
	if err != nil {
		return nil, err
	}
	bound, err := loss.EpsilonAt(b.Release.Budget.Delta)
	if err != nil {
		return nil, err
	}
	d.epsilon = bound.Value
	if epsilon := new(big.Rat).SetFloat64(bound.Value); epsilon == nil || epsilon.Cmp(b.Release.Budget.Epsilon) > 0 {
		return nil, ErrTooLittle
	}
	return total, nil
}

// checkDistinctIDs returns an error if two measurements have one name, as their noise is derived from it.
func checkDistinctIDs(all []PlannedMeasurement) error {
	seen := make(map[string]bool, len(all))
	for _, p := range all {
		id := p.id()
		if seen[id] {
			return fmt.Errorf("two measurements would have one name, %s: give a column another name and say where it "+
				"comes from (from: …)", id)
		}
		seen[id] = true
	}
	return nil
}

const (
	// leastUsablePart is the part of a leaf below which noise cannot be drawn: its parameter would be beyond the
	// mechanisms' range.
	leastUsablePart = 1. / (1 << 44)
	// leastShare is what a measurement gets in place of a smaller part.
	leastShare = 1. / (1 << 30)
)

// raiseTiny returns the parts, with those below the least usable part raised to the least share. A design may give
// nothing to a measurement that helps no table; it is measured all the same, and needs noise that can be drawn.
func raiseTiny(parts []float64) []float64 {
	all, out := sum(parts), slices.Clone(parts)
	for i, p := range parts {
		if p < leastUsablePart*all {
			out[i] = leastShare * all
		}
	}
	return out
}

// partBits is the number of binary digits that a share keeps.
const partBits = 30

// ExactShares returns shares in proportion to parts, as exact fractions of few digits. Each share is rounded down by
// less than 2⁻²⁹ of it, unless it has no more digits than that.
//
// Contract: they add up to at most 1, whatever the rounding of floats.
func ExactShares(parts []float64) []*big.Rat {
	all := sum(parts)
	out, total, most := make([]*big.Rat, len(parts)), new(big.Rat), 0
	for i, p := range parts {
		fraction, exponent := math.Frexp(p / all)
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
