package optimise

import (
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the guarded designs, for a budget under which no table may be worse than measured by itself with an
// equal share of its leaf.

// designGuarded adds the design of one kind of noise for a group of tables that may share measurements. Discrete
// Gaussian noise goes on residuals and, if residuals cannot keep to the caps, also on tables by themselves. Discrete
// Laplace noise goes on tables.
func (g *Group) designGuarded(r *spec.Release, noise budget.Kind) error {
	laplace, ranged := noise.Pure(), g.hasRanges() || g.hasSums() && g.HasSeparableLevels()
	if laplace && ranged && r.Budget.Delta != nil {
		return nil
	}
	var d Design
	var err error
	if laplace || byTables(noise) && !ranged || len(g.Tables) == 1 && !g.HasSeparableLevels() && !ranged {
		d, err = g.guardedTables(r, noise)
	} else {
		d, err = g.guardedResiduals(r)
	}
	if err == nil {
		g.Designs = append(g.Designs, d)
	}
	return err
}

// guardedTables measures the tables by themselves, each with an amount of its own, except those that the others
// determine well enough. With an ε for each table the problem has several solutions. The search starts from all
// tables, and again from the outermost ones; as long as these leave some table worse than an equal share, it adds the
// tables that are worse.
func (g *Group) guardedTables(r *spec.Release, noise budget.Kind) (Design, error) {
	standalone := make([]bool, len(g.Tables))
	for i, t := range g.Tables {
		standalone[i] = !g.hasRanges() && !g.Chains.IsFlat(t)
	}
	best, err := g.guardedOf(r, noise, g.allTables(), standalone)
	if err != nil || best.guard.power == 1 || slices.Contains(standalone, true) {
		return best, err
	}
	for measured := g.outermostTables(); len(measured) < len(g.Tables); {
		d, err := g.guardedOf(r, noise, measured, standalone)
		if err != nil {
			return best, err
		}
		if d.worst <= 1+capSlack {
			if d.Error < best.Error || best.worst > 1+capSlack {
				return d, nil
			}
			break
		}
		more := slices.Clone(measured)
		for i, over := range d.blame {
			if over > 0 && !slices.Contains(measured, i) {
				more = append(more, i)
			}
		}
		if len(more) == len(measured) {
			break
		}
		slices.Sort(more)
		measured = more
	}
	return best, nil
}

// guardedOf measures some of the tables, given by index. The search begins with equal shares.
func (g *Group) guardedOf(r *spec.Release, noise budget.Kind, measured []int, standalone []bool) (Design, error) {
	d := Design{Kind: strategy.Direct, Noise: noise}
	for _, i := range measured {
		t, from := g.Tables[i], len(d.Measurements)
		if err := g.planPortions(r, &d, t); err != nil {
			return d, err
		}
		var all float64
		for _, p := range d.Measurements[from:] {
			weight := float64(float64(t.Possible()) * p.addedVariance)
			d.guardAmounts = append(d.guardAmounts, optimalPart(spec.LeastSum, noise, weight, p))
			all += d.guardAmounts[len(d.guardAmounts)-1]
		}
		for j := from; j < len(d.Measurements); j++ {
			d.guardAmounts[j] /= all * float64(len(measured))
		}
	}
	return g.solveGuarded(d, standalone, nil)
}

// guardedResiduals measures what the tables share. If no amounts of that keep to the caps, it also measures tables
// whose noise has the shape of their residuals, and combines the two. Tables of several levels, or with columns along
// which counts are added up, are measured by themselves and contribute to no others.
func (g *Group) guardedResiduals(r *spec.Release) (Design, error) {
	standalone, lifted := make([]bool, len(g.Tables)), make([]bool, len(g.Tables))
	tables := r.Privacy.Neighbours == spec.Replace // under which residuals are not optimal
	for {
		d, why, err := g.sharedAndTables(r, standalone, tables)
		switch {
		case err != nil:
			return d, err
		case !why.IsZero() && (g.hasRanges() || g.hasSums() && g.HasSeparableLevels()):
			return d, rangesUnmeasurable(why)
		case !why.IsZero():
			g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals, Noise: noiseInRho(r.Budget),
				Why: why})
			return g.guardedTables(r, noiseInRho(r.Budget))
		}
		if d, err = g.solveGuarded(d, standalone, lifted); err != nil || d.worst <= 1+capSlack {
			return d, err
		}
		if len(g.Reasons) == 0 {
			g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals, Noise: d.Noise,
				Why: d.explainCaps(g)})
		}
		if !g.extendMeasured(&d, standalone, lifted, &tables) {
			return d, nil
		}
	}
}

// extendMeasured chooses what else is measured if the caps were not met: all flat tables, and of the others those
// that hinder the caps most. Tables that cannot be measured by themselves keep their variance. It reports whether
// anything was left to choose.
func (g *Group) extendMeasured(d *Design, standalone, lifted []bool, tables *bool) bool {
	most, open := 0.0, func(i int) bool { return !standalone[i] && !lifted[i] && !g.Chains.IsFlat(g.Tables[i]) }
	for i := range g.Tables {
		if open(i) {
			most = max(most, d.blame[i])
		}
	}
	for i, t := range g.Tables {
		if !*tables && g.Chains.IsFlat(t) && d.blame[i] >= most/4 {
			*tables = true
			return true
		}
	}
	changed := false
	for i, t := range g.Tables {
		if !open(i) || d.blame[i] < most/4 {
			continue
		}
		changed = true
		if t.HasSums() {
			lifted[i] = true
		} else {
			standalone[i] = true
		}
	}
	return changed
}

// explainCaps says which table hinders residuals most, and by how much.
func (d *Design) explainCaps(g *Group) phrase.Phrase {
	worst := 0
	for i, b := range d.blame {
		if b > d.blame[worst] {
			worst = i
		}
	}
	return phrase.New(phrase.WorseTable, g.Tables[worst].Path, budget.DecimalNearest(math.Sqrt(d.worst), 4))
}

// sharedAndTables designs what the tables that are not standalone share, these tables themselves if tables is set,
// and the standalone tables.
func (g *Group) sharedAndTables(r *spec.Release, standalone []bool, tables bool) (d Design, why phrase.Phrase,
	err error) {
	d = Design{Kind: strategy.Residuals, Noise: noiseInRho(r.Budget)}
	if slices.Contains(standalone, false) {
		w, err := g.workloadWithout(standalone)
		if err != nil {
			why, err = asReason(err)
			return d, why, err
		}
		if why := g.planResiduals(r, &d, w); !why.IsZero() {
			return d, why, nil
		}
	}
	for i, t := range g.Tables {
		if standalone[i] || tables && g.Chains.IsFlat(t) {
			d.Measurements = append(d.Measurements, g.StandaloneMeasurement(r, t, d.Noise))
		}
	}
	d.guardAmounts = make([]float64, len(d.Measurements))
	for i := range d.guardAmounts {
		d.guardAmounts[i] = 1 / float64(len(d.Measurements))
	}
	return d, why, nil
}

// workloadWithout returns the workload of the tables that are not standalone.
func (g *Group) workloadWithout(standalone []bool) (*residual.Workload, error) {
	if !slices.Contains(standalone, true) {
		return g.residualWorkload()
	}
	var marginals []residual.Marginal
	for i, t := range g.Tables {
		if !standalone[i] {
			marginals = append(marginals, residual.Marginal{Axes: workload.SetOf(g.Chains.Axes(t)),
				Importance: t.Weight})
		}
	}
	return residual.NewWorkload(g.Chains.Columns, marginals)
}

// solveGuarded finds the amounts of a design, and the variances that they give the tables. Tables that are standalone
// are one measurement each; the caps of those that are lifted cannot be met.
func (g *Group) solveGuarded(d Design, standalone, lifted []bool) (Design, error) {
	var err error
	if d.guard, err = g.guardOf(&d, standalone); err != nil {
		return d, err
	}
	for i, is := range lifted {
		if is {
			d.guard.caps[i] *= liftedCap
		}
	}
	found := d.guard.solve(d.guardAmounts)
	if keep := d.guard.neededMeasurements(found.amounts); len(keep) < len(d.Measurements) {
		d.Measurements, d.guard = elementsAt(d.Measurements, keep), d.guard.restrictedTo(keep)
		found = d.guard.solve(elementsAt(found.amounts, keep))
	}
	d.worst, d.blame = found.worst, found.blame
	if d.blame == nil {
		d.blame = found.capExcesses(d.guard)
	}
	d.setAmounts(g, found.amounts)
	return d, nil
}

// liftedCap is the factor by which a cap is lifted that cannot be met.
const liftedCap = 1e3

// setAmounts gives a design amounts of the guard, of any sum, and the errors that follow for an amount of 1.
func (d *Design) setAmounts(g *Group, amounts []float64) {
	d.parts, d.guardAmounts = slices.Clone(amounts), slices.Clone(amounts)
	normalise(d.guardAmounts)
	if d.inRho() { // an amount of 1 is an ε
		for i, x := range amounts {
			d.parts[i] = math.Sqrt(x)
		}
	}
	normalise(d.parts)
	if g.IsStandalone() {
		return
	}
	s := newGuardSearch(d.guard, d.guardAmounts)
	s.evaluate()
	d.Error, d.Spread = 0, 0
	for i, t := range g.Tables {
		g.addErrors(d, t, s.variances[i]/d.rhoAt(), s.variances[i]/d.rhoAt())
	}
	d.Kind = d.guardedKind(g)
}

// rhoAt returns the ρ of an amount of 1, if the amounts of the guard are in ρ.
func (d *Design) rhoAt() float64 {
	if d.inRho() {
		return d.perRho()
	}
	return 1
}

// inRho reports whether the guard has ρ where the design has ε, as for Laplace noise under ε and δ.
func (d *Design) inRho() bool { return d.Noise.Pure() && d.guard.power == 1 }

// guardedKind returns the kind of strategy that a guarded design is.
func (d *Design) guardedKind(g *Group) strategy.Kind {
	residuals, own := 0, make([]bool, len(g.Tables))
	for _, p := range d.Measurements {
		if p.Table == nil {
			residuals++
			continue
		}
		own[slices.Index(g.Tables, p.Table)] = true
	}
	measured := 0
	for _, is := range own {
		if is {
			measured++
		}
	}
	switch {
	case residuals == len(d.Measurements):
		return strategy.Residuals
	case residuals > 0:
		return strategy.ResidualsAndTables
	case measured < len(g.Tables) && measured == len(g.outermostTables()) && len(d.Measurements) == measured &&
		!slices.ContainsFunc(g.outermostTables(), func(i int) bool { return !own[i] }):
		return strategy.Largest
	case len(g.Tables) > 1 && len(d.parts) == len(g.Tables) &&
		slices.Max(d.parts)-slices.Min(d.parts) < capSlack*slices.Max(d.parts):
		return strategy.EqualShares
	}
	return strategy.Direct
}

// guardOf returns the guard of a design for all of an amount. The cap of each table is its variance with an equal
// share.
func (g *Group) guardOf(d *Design, standalone []bool) (*guard, error) {
	m := &guard{power: 1}
	if d.Noise.Pure() && g.Release.Budget.Delta == nil {
		m.power = 2
	}
	var w *residual.Workload
	if slices.Contains(standalone, false) {
		var err error
		if w, err = g.workloadWithout(standalone); err != nil {
			return nil, err
		}
		m.terms = len(w.Residuals)
	}
	n := float64(len(g.Tables))
	own := map[*workload.Table]int{} // the terms of the standalone tables
	shared := 0
	for i, t := range g.Tables {
		m.tables.addRow()
		m.weights = append(m.weights, float64(t.Weight*float64(t.Possible())))
		direct := m.variance(g.StandaloneMeasurement(g.Release, t, d.Noise))
		m.caps = append(m.caps, float64(float64(direct*g.Chains.MeanCellsAdded(t))*m.toPower(n)))
		if standalone[i] {
			own[t] = m.terms
			m.tables.addEntry(m.terms, 1)
			m.terms++
			continue
		}
		w.Shares(shared, func(residual int, share float64) { m.tables.addEntry(residual, share) })
		shared++
	}
	for _, p := range d.Measurements {
		m.measurements.addRow()
		if at, ok := own[p.Table]; ok && p.Table != nil {
			m.measurements.addEntry(at, 1/m.variance(p))
			continue
		}
		err := w.VisitContributions(p.source,
			func(residual int, factor float64) { m.measurements.addEntry(residual, 1/float64(m.variance(p)*factor)) })
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// variance returns the variance of a measurement for an amount of 1: of ε with a power of 2, else of ρ, which is ε²/2
// for Laplace noise.
func (m *guard) variance(p PlannedMeasurement) float64 {
	if p.Noise.Pure() && m.power == 1 {
		return p.variance(math.Sqrt2)
	}
	return p.variance(1)
}

// elementsAt returns the elements with these indices.
func elementsAt[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = all[k]
	}
	return out
}

// guardStandalone sets the guard of a group that is one table measured by itself.
func (d *Design) guardStandalone(g *Group) {
	d.guard = &guard{power: 1, terms: 1, weights: []float64{1}, caps: []float64{d.Error}}
	if d.Noise.Pure() {
		if g.Release.Budget.Delta == nil {
			d.guard.power = 2
		} else {
			d.guard.caps[0] /= 2 // an ε of √2 is a ρ of 1
		}
	}
	d.guard.tables.addRow()
	d.guard.tables.addEntry(0, d.guard.caps[0])
	d.guard.measurements.addRow()
	d.guard.measurements.addEntry(0, 1)
	d.guardAmounts = []float64{1}
}

// guardLeaf finds what is best for the groups of a leaf, given by index, together: it gives their designs new parts,
// and each group its part of the leaf.
func (b *Blueprint) guardLeaf(groups []int, designs []Design, amounts []float64) {
	tables := 0
	for _, i := range groups {
		tables += len(b.Groups[i].Tables)
	}
	var m guard
	var start []float64
	for _, i := range groups {
		part := float64(len(b.Groups[i].Tables)) / float64(tables)
		m.joinGroup(designs[i].guard, 1/part)
		for _, x := range designs[i].guardAmounts {
			start = append(start, float64(x*part))
		}
		amounts[i] = part
	}
	if len(groups) < 2 && len(b.capFactors) == 0 || b.levelled[b.Groups[groups[0]].Leaf] {
		return
	}
	m.liftCaps(start)
	at := 0
	for _, i := range groups {
		for _, t := range b.Groups[i].Tables {
			if times, ok := b.capFactors[t]; ok {
				m.caps[at] = float64(m.caps[at] * times)
			}
			at++
		}
	}
	found := m.solve(start)
	for _, i := range groups {
		n := len(designs[i].guardAmounts)
		designs[i].setAmounts(b.Groups[i], found.amounts[:n])
		amounts[i] = sum(found.amounts[:n])
		found.amounts = found.amounts[n:]
	}
}

// isDivisible reports whether every table of the group can be measured by itself, cell by cell.
func (g *Group) isDivisible() bool {
	return !g.IsStandalone() && !g.hasRanges() && !(g.hasSums() && g.HasSeparableLevels())
}

// designLevelled measures each table of a group by itself with an equal share.
func (g *Group) designLevelled(noise budget.Kind) (Design, error) {
	d, standalone := Design{Kind: strategy.Direct, Noise: noise}, make([]bool, len(g.Tables))
	for i, t := range g.Tables {
		d.Measurements = append(d.Measurements, g.StandaloneMeasurement(g.Release, t, noise))
		d.guardAmounts = append(d.guardAmounts, 1/float64(len(g.Tables)))
		standalone[i] = !g.Chains.IsFlat(t)
	}
	var err error
	if d.guard, err = g.guardOf(&d, standalone); err == nil {
		d.setAmounts(g, d.guardAmounts)
	}
	return d, err
}

const (
	// Unguarded is the ratio of a table's error to its error with an equal share from which the table counts as worse
	// than by itself. Rounding comes to less.
	Unguarded = 1.001
	// mostTightened is how many times caps are lowered before a leaf is levelled.
	mostTightened = 4
)

// GuardTighter lowers the caps of tables that are worse than by themselves or, after some attempts, gives their
// leaves equal shares. It reports whether that changes anything.
func (b *Blueprint) GuardTighter(worse map[*workload.Table]float64, attempt int) bool {
	changed := false
	for t, ratio := range worse {
		switch {
		case b.levelled[t.Leaf]:
		case attempt < mostTightened:
			times, ok := b.capFactors[t]
			if !ok {
				times = 1
			}
			if b.capFactors == nil {
				b.capFactors = map[*workload.Table]float64{}
			}
			b.capFactors[t], changed = float64(times*(1-capSlack))/float64(ratio*ratio), true
		default:
			if b.levelled == nil {
				b.levelled = map[int]bool{}
			}
			b.levelled[t.Leaf], changed = true, true
		}
	}
	return changed
}
