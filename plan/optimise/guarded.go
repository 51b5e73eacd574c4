package optimise

import (
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the guarded designs: those of a budget under which no table is to be worse than measured by itself
// with an equal share of its leaf.

// guardedFor adds the design of one kind of noise for a group of tables that may share measurements. Discrete Gaussian
// noise goes on residuals; where they cannot keep to the caps, also on tables by themselves. Discrete Laplace noise
// goes on tables.
func (g *Group) guardedFor(r *spec.Release, noise budget.Kind) error {
	laplace, ranged := noise.Pure(), g.ranged() || g.summed() && g.Several()
	if laplace && ranged && r.Budget.Delta != nil {
		return nil
	}
	var d Design
	var err error
	if laplace || len(g.Tables) == 1 && !g.Several() && !ranged {
		d, err = g.guardedTables(r, noise)
	} else {
		d, err = g.guardedResiduals(r)
	}
	if err == nil {
		g.Designs = append(g.Designs, d)
	}
	return err
}

// guardedTables measures the tables by themselves, each with an amount of its own; none of those that the others say
// well enough. With an ε for each that problem has several solutions. They are looked for from all tables on, and from
// those that lie in no other: as long as that leaves some worse than an equal share, together with these.
func (g *Group) guardedTables(r *spec.Release, noise budget.Kind) (Design, error) {
	standalone := make([]bool, len(g.Tables))
	for i, t := range g.Tables {
		standalone[i] = !g.ranged() && !g.Chains.Flat(t)
	}
	best, err := g.guardedOf(r, noise, g.all(), standalone)
	if err != nil || best.guard.power == 1 || slices.Contains(standalone, true) {
		return best, err
	}
	for measured := g.outermost(); len(measured) < len(g.Tables); {
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

// guardedOf measures some of the tables, by their places. The search begins with equal shares.
func (g *Group) guardedOf(r *spec.Release, noise budget.Kind, measured []int, standalone []bool) (Design, error) {
	d := Design{Kind: strategy.Direct, Noise: noise}
	for _, i := range measured {
		t, from := g.Tables[i], len(d.Planned)
		if err := g.portions(r, &d, t); err != nil {
			return d, err
		}
		var all float64
		for _, p := range d.Planned[from:] {
			d.amounts = append(d.amounts, partOf(spec.LeastSum, noise, float64(float64(t.Possible())*p.adds), p))
			all += d.amounts[len(d.amounts)-1]
		}
		for j := from; j < len(d.Planned); j++ {
			d.amounts[j] /= all * float64(len(measured))
		}
	}
	return g.guarded(d, standalone, nil)
}

// guardedResiduals measures what the tables share. Where no amounts of that keep to the caps, tables whose noise has
// the shape of their residuals are measured as well, and put together with them; tables of several levels, or along
// whose columns counts are added up, are measured by themselves and bear on no others.
func (g *Group) guardedResiduals(r *spec.Release) (Design, error) {
	standalone, lifted := make([]bool, len(g.Tables)), make([]bool, len(g.Tables))
	tables := r.Privacy.Neighbours == spec.Replace // under which residuals are not the best there is
	for {
		d, why, err := g.sharedAndTables(r, standalone, tables)
		switch {
		case err != nil:
			return d, err
		case why != "" && (g.ranged() || g.summed() && g.Several()):
			return d, unmeasurable(why)
		case why != "":
			g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals, Noise: noiseInRho(r.Budget),
				Why: why})
			return g.guardedTables(r, noiseInRho(r.Budget))
		}
		if d, err = g.guarded(d, standalone, lifted); err != nil || d.worst <= 1+capSlack {
			return d, err
		}
		if len(g.Reasons) == 0 {
			g.Reasons = append(g.Reasons, strategy.Alternative{Kind: strategy.Residuals, Noise: d.Noise, Why: d.because(g)})
		}
		if !g.block(&d, standalone, lifted, &tables) {
			return d, nil
		}
	}
}

// block chooses what else is measured as the caps were not met: the tables that are flat, all of them, and of the
// others those that stand most in the way. Those that cannot be measured by themselves keep the variance that they
// have. It reports whether anything is left to choose.
func (g *Group) block(d *Design, standalone, lifted []bool, tables *bool) bool {
	most, open := 0.0, func(i int) bool { return !standalone[i] && !lifted[i] && !g.Chains.Flat(g.Tables[i]) }
	for i := range g.Tables {
		if open(i) {
			most = max(most, d.blame[i])
		}
	}
	for i, t := range g.Tables {
		if !*tables && g.Chains.Flat(t) && d.blame[i] >= most/4 {
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
		if t.Summed() {
			lifted[i] = true
		} else {
			standalone[i] = true
		}
	}
	return changed
}

// because says which table stands most in the way of residuals, and by how much.
func (d *Design) because(g *Group) string {
	worst := 0
	for i, b := range d.blame {
		if b > d.blame[worst] {
			worst = i
		}
	}
	return fmt.Sprintf("no amounts of them leave every table as good as by itself with an equal share; %s, for one, would have about %s times that error",
		g.Tables[worst].Path, budget.DecimalNearest(math.Sqrt(d.worst), 4))
}

// sharedAndTables are what the tables share that are not standalone, these tables themselves where that is asked for,
// and those that are.
func (g *Group) sharedAndTables(r *spec.Release, standalone []bool, tables bool) (d Design, why string, err error) {
	d = Design{Kind: strategy.Residuals, Noise: noiseInRho(r.Budget)}
	if slices.Contains(standalone, false) {
		w, err := g.workloadWithout(standalone)
		if err != nil {
			return d, err.Error(), nil
		}
		if why := g.planResiduals(r, &d, w); why != "" {
			return d, why, nil
		}
	}
	for i, t := range g.Tables {
		if standalone[i] || tables && g.Chains.Flat(t) {
			d.Planned = append(d.Planned, g.ByItself(r, t, d.Noise))
		}
	}
	d.amounts = make([]float64, len(d.Planned))
	for i := range d.amounts {
		d.amounts[i] = 1 / float64(len(d.Planned))
	}
	return d, "", nil
}

// workloadWithout is the workload of the tables that are not standalone.
func (g *Group) workloadWithout(standalone []bool) (*residual.Workload, error) {
	if !slices.Contains(standalone, true) {
		return g.workload()
	}
	var marginals []residual.Marginal
	for i, t := range g.Tables {
		if !standalone[i] {
			marginals = append(marginals, residual.Marginal{Axes: workload.SetOf(g.Chains.Axes(t)), Importance: t.Weight})
		}
	}
	return residual.NewWorkload(g.Chains.Columns, marginals)
}

// guarded finds the amounts of a design, and what they make of the tables. standalone are the tables that are one
// measurement each; the caps of those that are lifted cannot be met.
func (g *Group) guarded(d Design, standalone, lifted []bool) (Design, error) {
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
	if keep := d.guard.needed(found.amounts); len(keep) < len(d.Planned) {
		d.Planned, d.guard, found.amounts = picked(d.Planned, keep), d.guard.only(keep), picked(found.amounts, keep)
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
func (d *Design) take(g *Group, amounts []float64) {
	d.parts, d.amounts = slices.Clone(amounts), slices.Clone(amounts)
	normalise(d.amounts)
	if d.inRho() { // an amount of 1 is an ε
		for i, x := range amounts {
			d.parts[i] = math.Sqrt(x)
		}
	}
	normalise(d.parts)
	if g.Apart() {
		return
	}
	s := newGuardSearch(d.guard, d.amounts)
	s.look()
	d.Error, d.Spread = 0, 0
	for i, t := range g.Tables {
		g.add(d, t, s.variances[i]/d.rhoAt(), s.variances[i]/d.rhoAt())
	}
	d.Kind = d.guardedKind(g)
}

// rhoAt is the ρ where the amount is 1, for amounts of the guard that are in ρ.
func (d *Design) rhoAt() float64 {
	if d.inRho() {
		return d.perRho()
	}
	return 1
}

// inRho reports whether the guard has ρ where the design has ε: of Laplace noise under ε and δ.
func (d *Design) inRho() bool { return d.Noise.Pure() && d.guard.power == 1 }

// guardedKind names what is measured.
func (d *Design) guardedKind(g *Group) strategy.Kind {
	residuals, own := 0, make([]bool, len(g.Tables))
	for _, p := range d.Planned {
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
	case residuals == len(d.Planned):
		return strategy.Residuals
	case residuals > 0:
		return strategy.ResidualsAndTables
	case measured < len(g.Tables) && measured == len(g.outermost()) && len(d.Planned) == measured &&
		!slices.ContainsFunc(g.outermost(), func(i int) bool { return !own[i] }):
		return strategy.Largest
	case len(g.Tables) > 1 && len(d.parts) == len(g.Tables) &&
		slices.Max(d.parts)-slices.Min(d.parts) < capSlack*slices.Max(d.parts):
		return strategy.EqualShares
	}
	return strategy.Direct
}

// guardOf is the guard of a design for all of an amount, an equal share of which is that of each table of the group.
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
	own := map[*workload.Table]int{} // the terms of those that are standalone
	shared := 0
	for i, t := range g.Tables {
		m.tables.row()
		m.weights = append(m.weights, float64(t.Weight*float64(t.Possible())))
		direct := m.variance(g.ByItself(g.Release, t, d.Noise))
		m.caps = append(m.caps, float64(float64(direct*g.Chains.Added(t))*m.raised(n)))
		if standalone[i] {
			own[t] = m.terms
			m.tables.link(m.terms, 1)
			m.terms++
			continue
		}
		w.Shares(shared, func(residual int, share float64) { m.tables.link(residual, share) })
		shared++
	}
	for _, p := range d.Planned {
		m.measurements.row()
		if at, ok := own[p.Table]; ok && p.Table != nil {
			m.measurements.link(at, 1/m.variance(p))
			continue
		}
		err := w.Bearing(p.asks,
			func(residual int, factor float64) { m.measurements.link(residual, 1/float64(m.variance(p)*factor)) })
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// variance is that of a measurement for an amount of 1: of ε with a power of 2, else of ρ, ε²/2 of Laplace noise.
func (m *guard) variance(p Planned) float64 {
	if p.Noise.Pure() && m.power == 1 {
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
func (d *Design) apartGuard(g *Group) {
	d.guard = &guard{power: 1, terms: 1, weights: []float64{1}, caps: []float64{d.Error}}
	if d.Noise.Pure() {
		if g.Release.Budget.Delta == nil {
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
func (b *Blueprint) guardLeaf(of []int, designs []Design, amounts []float64) {
	tables := 0
	for _, i := range of {
		tables += len(b.Groups[i].Tables)
	}
	var m guard
	var start []float64
	for _, i := range of {
		part := float64(len(b.Groups[i].Tables)) / float64(tables)
		m.join(designs[i].guard, 1/part)
		for _, x := range designs[i].amounts {
			start = append(start, float64(x*part))
		}
		amounts[i] = part
	}
	if len(of) < 2 && len(b.tight) == 0 || b.levelled[b.Groups[of[0]].Leaf] {
		return
	}
	m.lift(start)
	at := 0
	for _, i := range of {
		for _, t := range b.Groups[i].Tables {
			if times, ok := b.tight[t]; ok {
				m.caps[at] = float64(m.caps[at] * times)
			}
			at++
		}
	}
	found := m.solve(start)
	for _, i := range of {
		n := len(designs[i].amounts)
		designs[i].take(b.Groups[i], found.amounts[:n])
		amounts[i] = sum(found.amounts[:n])
		found.amounts = found.amounts[n:]
	}
}

// divisible reports whether every table of the group can be measured by itself, cell by cell.
func (g *Group) divisible() bool { return !g.Apart() && !g.ranged() && !(g.summed() && g.Several()) }

// levelled measures each table of a group by itself with an equal share.
func (g *Group) levelled(noise budget.Kind) (Design, error) {
	d, standalone := Design{Kind: strategy.Direct, Noise: noise}, make([]bool, len(g.Tables))
	for i, t := range g.Tables {
		d.Planned, d.amounts = append(d.Planned, g.ByItself(g.Release, t, noise)), append(d.amounts, 1/float64(len(g.Tables)))
		standalone[i] = !g.Chains.Flat(t)
	}
	var err error
	if d.guard, err = g.guardOf(&d, standalone); err == nil {
		d.take(g, d.amounts)
	}
	return d, err
}

const (
	// Unguarded is from which ratio of its error to that of an equal share on a table is worse than by itself: rounding
	// comes to less.
	Unguarded = 1.001
	// mostTightened is how often caps are lowered before a leaf is levelled.
	mostTightened = 4
)

// GuardTighter lowers the caps of tables that are worse than by themselves or, after some attempts, gives their leaves
// equal shares. It reports whether that changes anything.
func (b *Blueprint) GuardTighter(worse map[*workload.Table]float64, attempt int) bool {
	changed := false
	for t, ratio := range worse {
		switch {
		case b.levelled[t.Leaf]:
		case attempt < mostTightened:
			times, ok := b.tight[t]
			if !ok {
				times = 1
			}
			if b.tight == nil {
				b.tight = map[*workload.Table]float64{}
			}
			b.tight[t], changed = float64(times*(1-capSlack))/float64(ratio*ratio), true
		default:
			if b.levelled == nil {
				b.levelled = map[int]bool{}
			}
			b.levelled[t.Leaf], changed = true, true
		}
	}
	return changed
}
