package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the guarded designs: those of a budget under which no table is to be worse than measured by itself with an
// equal share of its leaf.

// guardedFor adds the design of one kind of noise for a group of tables that may share measurements. Discrete Gaussian
// noise goes on residuals; where they cannot keep to the caps, also on tables by themselves. Discrete Laplace noise goes on tables.
func (g *group) guardedFor(r *spec.Release, noise budget.Kind) error {
	laplace, ranged := noise == budget.DiscreteLaplace, g.ranged() || g.summed() && g.several()
	if laplace && ranged && r.Budget.Delta != nil {
		return nil
	}
	var d design
	var err error
	if laplace || len(g.tables) == 1 && !g.several() && !ranged {
		d, err = g.guardedTables(r, noise)
	} else {
		d, err = g.guardedResiduals(r)
	}
	if err == nil {
		g.designs = append(g.designs, d)
	}
	return err
}

// guardedTables measures the tables by themselves, each with an amount of its own; none of those that the others say well enough.
// With an ε for each that problem has several solutions. They are looked for from all tables on, and from those that lie in no
// other: as long as that leaves some worse than an equal share, together with these.
func (g *group) guardedTables(r *spec.Release, noise budget.Kind) (design, error) {
	standalone := make([]bool, len(g.tables))
	for i, t := range g.tables {
		standalone[i] = !g.ranged() && !g.chains.flat(t)
	}
	best, err := g.guardedOf(r, noise, g.all(), standalone)
	if err != nil || best.guard.power == 1 || slices.Contains(standalone, true) {
		return best, err
	}
	for measured := g.outermost(); len(measured) < len(g.tables); {
		d, err := g.guardedOf(r, noise, measured, standalone)
		if err != nil {
			return best, err
		}
		if d.worst <= 1+capSlack {
			if d.error < best.error || best.worst > 1+capSlack {
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

// guardedOf measures some of the tables, by their places. The search begins with equal shares.
func (g *group) guardedOf(r *spec.Release, noise budget.Kind, measured []int, standalone []bool) (design, error) {
	d := design{kind: Direct, noise: noise}
	for _, i := range measured {
		t, from := g.tables[i], len(d.planned)
		if err := g.portions(r, &d, t); err != nil {
			return d, err
		}
		var all float64
		for _, p := range d.planned[from:] {
			d.amounts = append(d.amounts, partOf(spec.LeastSum, noise, float64(float64(t.possible())*p.adds), p))
			all += d.amounts[len(d.amounts)-1]
		}
		for j := from; j < len(d.planned); j++ {
			d.amounts[j] /= all * float64(len(measured))
		}
	}
	return g.guarded(d, standalone, nil)
}

// guardedResiduals measures what the tables share. Where no amounts of that keep to the caps, tables whose noise has the shape of
// their residuals are measured as well, and put together with them; tables of several levels, or along whose columns counts
// are added up, are measured by themselves and bear on no others.
func (g *group) guardedResiduals(r *spec.Release) (design, error) {
	standalone, lifted := make([]bool, len(g.tables)), make([]bool, len(g.tables))
	tables := r.Privacy.Neighbours == spec.Replace // under which residuals are not the best there is
	for {
		d, why, err := g.sharedAndTables(r, standalone, tables)
		switch {
		case err != nil:
			return d, err
		case why != "" && (g.ranged() || g.summed() && g.several()):
			return d, &fault{"", "the tables along whose columns counts are added up cannot be measured: " + why, "fewer attributes or coarser levels"}
		case why != "":
			g.reasons = append(g.reasons, Alternative{Kind: Residuals, Noise: budget.DiscreteGaussian, Why: why})
			return g.guardedTables(r, budget.DiscreteGaussian)
		}
		if d, err = g.guarded(d, standalone, lifted); err != nil || d.worst <= 1+capSlack {
			return d, err
		}
		if len(g.reasons) == 0 {
			g.reasons = append(g.reasons, Alternative{Kind: Residuals, Noise: d.noise, Why: d.because(g)})
		}
		if !g.block(&d, standalone, lifted, &tables) {
			return d, nil
		}
	}
}

// block chooses what else is measured as the caps were not met: the tables that are flat, all of them, and of the others
// those that stand most in the way. Those that cannot be measured by themselves keep the variance that they have. It reports
// whether anything is left to choose.
func (g *group) block(d *design, standalone, lifted []bool, tables *bool) bool {
	most, open := 0.0, func(i int) bool { return !standalone[i] && !lifted[i] && !g.chains.flat(g.tables[i]) }
	for i := range g.tables {
		if open(i) {
			most = max(most, d.blame[i])
		}
	}
	for i, t := range g.tables {
		if !*tables && g.chains.flat(t) && d.blame[i] >= most/4 {
			*tables = true
			return true
		}
	}
	changed := false
	for i, t := range g.tables {
		if !open(i) || d.blame[i] < most/4 {
			continue
		}
		changed = true
		if t.summed() {
			lifted[i] = true
		} else {
			standalone[i] = true
		}
	}
	return changed
}

// because says which table stands most in the way of residuals, and by how much.
func (d *design) because(g *group) string {
	worst := 0
	for i, b := range d.blame {
		if b > d.blame[worst] {
			worst = i
		}
	}
	return fmt.Sprintf("no amounts of them leave every table as good as by itself with an equal share; %s, for one, would have about %s times that error",
		g.tables[worst].path, budget.DecimalNearest(math.Sqrt(d.worst), 4))
}

// sharedAndTables are what the tables share that are not standalone, these tables themselves where that is asked for, and those that are.
func (g *group) sharedAndTables(r *spec.Release, standalone []bool, tables bool) (d design, why string, err error) {
	d = design{kind: Residuals, noise: budget.DiscreteGaussian}
	if slices.Contains(standalone, false) {
		w, err := g.workloadWithout(standalone)
		if err != nil {
			return d, err.Error(), nil
		}
		if why := g.planResiduals(r, &d, w); why != "" {
			return d, why, nil
		}
	}
	for i, t := range g.tables {
		if standalone[i] || tables && g.chains.flat(t) {
			d.planned = append(d.planned, g.byItself(r, t, d.noise))
		}
	}
	d.amounts = make([]float64, len(d.planned))
	for i := range d.amounts {
		d.amounts[i] = 1 / float64(len(d.planned))
	}
	return d, "", nil
}

// workloadWithout is the workload of the tables that are not standalone.
func (g *group) workloadWithout(standalone []bool) (*residual.Workload, error) {
	if !slices.Contains(standalone, true) {
		return g.workload()
	}
	var marginals []residual.Marginal
	for i, t := range g.tables {
		if !standalone[i] {
			marginals = append(marginals, residual.Marginal{Axes: set(g.chains.axes(t)), Weight: t.weight})
		}
	}
	return residual.NewWorkload(g.chains.columns, marginals)
}

// guarded finds the amounts of a design, and what they make of the tables. standalone are the tables that are one measurement
// each; the caps of those that are lifted cannot be met.
func (g *group) guarded(d design, standalone, lifted []bool) (design, error) {
	var err error
	if d.guard, err = g.guardOf(&d, standalone); err != nil {
		return d, err
	}
	for i, is := range lifted {
		if is {
			d.guard.caps[i] *= liftedCap
		}
	}
	found := d.guard.solve(d.amounts)
	if keep := d.guard.needed(found.amounts); len(keep) < len(d.planned) {
		d.planned, d.guard, found.amounts = picked(d.planned, keep), d.guard.only(keep), picked(found.amounts, keep)
		found = d.guard.solve(found.amounts)
	}
	d.worst, d.blame = found.worst, found.blame
	if d.blame == nil {
		d.blame = found.ratios(d.guard)
	}
	d.take(g, found.amounts)
	return d, nil
}

// liftedCap is by how much a cap is lifted that cannot be met.
const liftedCap = 1e3

// take gives a design amounts of the guard, of any sum, with the errors that come of them for an amount of 1.
func (d *design) take(g *group, amounts []float64) {
	d.parts, d.amounts = slices.Clone(amounts), slices.Clone(amounts)
	var all float64
	for _, x := range amounts {
		all += x
	}
	for i := range d.amounts {
		d.amounts[i] /= all
	}
	if d.inRho() { // an amount of 1 is an ε
		all = 0
		for i, x := range amounts {
			d.parts[i] = math.Sqrt(x)
			all += d.parts[i]
		}
	}
	for i := range d.parts {
		d.parts[i] /= all
	}
	if g.apart() {
		return
	}
	s := newGuardSearch(d.guard, d.amounts)
	s.look()
	d.error, d.spread = 0, 0
	for i, t := range g.tables {
		g.add(d, t, s.variances[i]/d.rhoAt(), s.variances[i]/d.rhoAt())
	}
	d.kind = d.guardedKind(g)
}

// rhoAt is the ρ where the amount is 1, for amounts of the guard that are in ρ.
func (d *design) rhoAt() float64 {
	if d.inRho() {
		return d.perRho()
	}
	return 1
}

// inRho reports whether the guard has ρ where the design has ε: of Laplace noise under ε and δ.
func (d *design) inRho() bool { return d.noise == budget.DiscreteLaplace && d.guard.power == 1 }

// guardedKind names what is measured.
func (d *design) guardedKind(g *group) StrategyKind {
	residuals, own := 0, make([]bool, len(g.tables))
	for _, p := range d.planned {
		if p.table == nil {
			residuals++
			continue
		}
		own[slices.Index(g.tables, p.table)] = true
	}
	measured := 0
	for _, is := range own {
		if is {
			measured++
		}
	}
	switch {
	case residuals == len(d.planned):
		return Residuals
	case residuals > 0:
		return ResidualsAndTables
	case measured < len(g.tables) && measured == len(g.outermost()) && len(d.planned) == measured && !slices.ContainsFunc(g.outermost(), func(i int) bool { return !own[i] }):
		return Largest
	case len(g.tables) > 1 && len(d.parts) == len(g.tables) && slices.Max(d.parts)-slices.Min(d.parts) < capSlack*slices.Max(d.parts):
		return EqualShares
	}
	return Direct
}

// guardOf is the guard of a design for all of an amount, an equal share of which is that of each table of the group.
func (g *group) guardOf(d *design, standalone []bool) (*guard, error) {
	m := &guard{power: 1}
	if d.noise == budget.DiscreteLaplace && g.release.Budget.Delta == nil {
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
	n := float64(len(g.tables))
	own := map[*table]int{} // the terms of those that are standalone
	shared := 0
	for i, t := range g.tables {
		m.tables.row()
		m.weights = append(m.weights, float64(t.weight*float64(t.possible())))
		direct := m.variance(g.byItself(g.release, t, d.noise))
		m.caps = append(m.caps, float64(float64(direct*g.chains.added(t))*m.raised(n)))
		if standalone[i] {
			own[t] = m.terms
			m.tables.link(m.terms, 1)
			m.terms++
			continue
		}
		w.Shares(shared, func(residual int, share float64) { m.tables.link(residual, share) })
		shared++
	}
	for _, p := range d.planned {
		m.measurements.row()
		if at, ok := own[p.table]; ok && p.table != nil {
			m.measurements.link(at, 1/m.variance(p))
			continue
		}
		err := w.Bearing(p.asks, func(residual int, factor float64) { m.measurements.link(residual, 1/float64(m.variance(p)*factor)) })
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// variance is that of a measurement for an amount of 1: of ε with a power of 2, else of ρ, ε²/2 of Laplace noise.
func (m *guard) variance(p planned) float64 {
	if p.noise == budget.DiscreteLaplace && m.power == 1 {
		return p.variance(math.Sqrt2)
	}
	return p.variance(1)
}

// picked are the elements at some places.
func picked[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = all[k]
	}
	return out
}

// apartGuard is the guard of a group that is one table measured by itself.
func (d *design) apartGuard(g *group) {
	d.guard = &guard{power: 1, terms: 1, weights: []float64{1}, caps: []float64{d.error}}
	if d.noise == budget.DiscreteLaplace {
		if g.release.Budget.Delta == nil {
			d.guard.power = 2
		} else {
			d.guard.caps[0] /= 2 // an ε of √2 is a ρ of 1
		}
	}
	d.guard.tables.row()
	d.guard.tables.link(0, d.guard.caps[0])
	d.guard.measurements.row()
	d.guard.measurements.link(0, 1)
	d.amounts = []float64{1}
}

// guardLeaf gives the groups of a leaf, by their places, what is the best for all of them together: their designs other
// parts, and each its part of the leaf.
func (b *blueprint) guardLeaf(of []int, designs []design, amounts []float64) {
	tables := 0
	for _, i := range of {
		tables += len(b.groups[i].tables)
	}
	var m guard
	var start []float64
	for _, i := range of {
		part := float64(len(b.groups[i].tables)) / float64(tables)
		m.join(designs[i].guard, 1/part)
		for _, x := range designs[i].amounts {
			start = append(start, float64(x*part))
		}
		amounts[i] = part
	}
	if len(of) < 2 && len(b.tight) == 0 || b.levelled[b.groups[of[0]].leaf] {
		return
	}
	m.lift(start)
	at := 0
	for _, i := range of {
		for _, t := range b.groups[i].tables {
			if times, ok := b.tight[t]; ok {
				m.caps[at] = float64(m.caps[at] * times)
			}
			at++
		}
	}
	found := m.solve(start)
	for _, i := range of {
		n := len(designs[i].amounts)
		designs[i].take(b.groups[i], found.amounts[:n])
		amounts[i] = 0
		for _, x := range found.amounts[:n] {
			amounts[i] += x
		}
		found.amounts = found.amounts[n:]
	}
}

// divisible reports whether every table of the group can be measured by itself, cell by cell.
func (g *group) divisible() bool { return !g.apart() && !g.ranged() && !(g.summed() && g.several()) }

// levelled measures each table of a group by itself with an equal share.
func (g *group) levelled(noise budget.Kind) (design, error) {
	d, standalone := design{kind: Direct, noise: noise}, make([]bool, len(g.tables))
	for i, t := range g.tables {
		d.planned, d.amounts = append(d.planned, g.byItself(g.release, t, noise)), append(d.amounts, 1/float64(len(g.tables)))
		standalone[i] = !g.chains.flat(t)
	}
	var err error
	if d.guard, err = g.guardOf(&d, standalone); err == nil {
		d.take(g, d.amounts)
	}
	return d, err
}

const (
	// unguarded is from which ratio of its error to that of an equal share on a table is worse than by itself: rounding comes to less.
	unguarded = 1.001
	// mostTightened is how often caps are lowered before a leaf is levelled.
	mostTightened = 4
)

// worse are the tables that share a leaf's amount and are worse than by themselves with an equal share of it, with the ratio of their
// errors to that: by the noise that there will be, on integers and with rounded parameters. Tables that nothing else bears on have
// at least their share.
func (d *draftPlan) worse() (map[*table]float64, error) {
	b := d.blueprint
	if b.release.Budget.Minimise != spec.Guarded {
		return nil, nil
	}
	all := make([]int64, len(d.plan.Leaves))
	for _, g := range b.groups {
		all[g.leaf] += int64(len(g.tables))
	}
	known, worse := map[*distance]float64{}, map[*table]float64{}
	for i, g := range b.groups {
		if g.needed || g.apart() {
			continue
		}
		clear(known)
		for _, t := range g.tables {
			p := g.byItself(b.release, t, d.division.taken[i].noise)
			equal, ok := known[p.distance]
			if !ok {
				p.share = big.NewRat(1, all[g.leaf])
				m, err := p.spend(d.plan.Leaves[g.leaf].Amount)
				if err != nil {
					return nil, err
				}
				equal = m.Mechanism.Variance()
				known[p.distance] = equal
			}
			s := d.plan.Tables[t.place].Statistics[0]
			is := max(s.OfRanges, s.StandardError)
			if s.OfRanges > 0 {
				is = s.OfRanges
			}
			if ratio := is / (math.Sqrt(float64(equal*g.chains.added(t))) * g.unit); ratio > unguarded {
				worse[t] = ratio
			}
		}
	}
	return worse, nil
}

// guardTighter lowers the caps of tables that are worse than by themselves or, after some attempts, gives their leaves equal shares.
// It reports whether that changes anything.
func (b *blueprint) guardTighter(worse map[*table]float64, attempt int) bool {
	changed := false
	for t, ratio := range worse {
		switch {
		case b.levelled[t.leaf]:
		case attempt < mostTightened:
			times, ok := b.tight[t]
			if !ok {
				times = 1
			}
			if b.tight == nil {
				b.tight = map[*table]float64{}
			}
			b.tight[t], changed = float64(times*(1-capSlack))/float64(ratio*ratio), true
		default:
			if b.levelled == nil {
				b.levelled = map[int]bool{}
			}
			b.levelled[t.leaf], changed = true, true
		}
	}
	return changed
}
