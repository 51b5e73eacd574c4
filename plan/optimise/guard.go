package optimise

import (
	"cmp"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the guard: the amounts of measurements for which the sum of variances is least among all that leave
// no table with a larger variance than its cap.

// guard is the problem for the tables of one budget leaf. An amount x ≥ 0 for each measurement, of sum 1, gives a term
// (a residual, or a table that nothing else bears on) the precision
//
//	P_τ = Σ slope·x^power
//
// over the measurements that bear on it, and a table the variance Σ share/P_τ over its terms. The least Σ
// weight·variance is asked for with no variance above its cap.
//
// With a power of 1, for amounts of ρ, every variance is convex in x, and any weights W_t ≥ weight_t give a bound (weak
// duality): no x within the caps has a sum below min_x Σ W·variance − Σ (W − weight)·cap, and that minimum is at least
// f²/max_s(∂f/∂x_s) for f = Σ W·variance at any x, as f is convex and falls as 1/x. With a power of 2, for amounts of
// ε, the problem is not convex: what is found is no worse than the equal shares that the search begins with.
type guard struct {
	power        int
	measurements links // to terms: slopes
	tables       links // to terms: shares
	weights      []float64
	caps         []float64
	terms        int
}

// links are rows of entries, each of which names a column.
type links struct {
	ends   []int // of rows
	at     []int32
	values []float64
}

// row adds an empty row, the last.
func (l *links) row() { l.ends = append(l.ends, len(l.at)) }

// link adds an entry to the last row.
func (l *links) link(at int, value float64) {
	l.at, l.values = append(l.at, int32(at)), append(l.values, value)
	l.ends[len(l.ends)-1] = len(l.at)
}

// copyRow adds a row of other links, whose columns come after so many others.
func (l *links) copyRow(from *links, row, after int) {
	l.row()
	at, values := from.each(row)
	for k, column := range at {
		l.link(after+int(column), values[k])
	}
}

// rows is how many rows there are.
func (l *links) rows() int { return len(l.ends) }

// each is a row's columns and entries.
func (l *links) each(row int) ([]int32, []float64) {
	from := 0
	if row > 0 {
		from = l.ends[row-1]
	}
	return l.at[from:l.ends[row]], l.values[from:l.ends[row]]
}

// guarded is what was found.
type guarded struct {
	amounts   []float64
	variances []float64 // of the tables
	sum       float64   // Σ weight·variance
	bound     float64   // below which no amounts within the caps bring it; 0 where none is known
	worst     float64   // the largest variance over its cap
	// blame are the tables' parts of the proof that no amounts keep to all caps, of sum 1; nil where there is none.
	blame []float64
}

// ratios are by how much the variances are above their caps, 0 for those that are not.
func (g *guarded) ratios(of *guard) []float64 {
	out := make([]float64, len(g.variances))
	for i, v := range g.variances {
		out[i] = max(0, v/of.caps[i]-1)
	}
	return out
}

// needed are the measurements, by their places, without those whose amounts together are next to nothing and without
// which every term keeps its precision.
func (g *guard) needed(amounts []float64) []int {
	precision, order := make([]float64, g.terms), make([]int, len(amounts))
	for i, x := range amounts {
		order[i] = i
		at, slopes := g.measurements.each(i)
		for k, term := range at {
			precision[term] += float64(slopes[k] * g.raised(x))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(amounts[a], amounts[b]) })
	var keep []int
	dropped := 0.0
	for _, i := range order {
		at, slopes := g.measurements.each(i)
		needed := dropped+amounts[i] > nextToNothing
		for k, term := range at {
			needed = needed || float64(slopes[k]*g.raised(amounts[i])) > float64(precision[term]*nextToNothing)
		}
		if needed {
			keep = append(keep, i)
			continue
		}
		dropped += amounts[i]
		for k, term := range at {
			precision[term] -= float64(slopes[k] * g.raised(amounts[i]))
		}
	}
	slices.Sort(keep)
	return keep
}

// only is the same problem with some of the measurements, by their places.
func (g *guard) only(keep []int) *guard {
	out := *g
	out.measurements = links{}
	for _, i := range keep {
		out.measurements.copyRow(&g.measurements, i, 0)
	}
	return &out
}

// join adds the problem of another group to that of a leaf, in which an equal share is by a factor smaller than in the
// group's own.
func (g *guard) join(other *guard, factor float64) {
	for i := range other.measurements.rows() {
		g.measurements.copyRow(&other.measurements, i, g.terms)
	}
	for i := range other.tables.rows() {
		g.tables.copyRow(&other.tables, i, g.terms)
	}
	g.power, g.terms = other.power, g.terms+other.terms
	g.weights = append(g.weights, other.weights...)
	for _, c := range other.caps {
		g.caps = append(g.caps, float64(c*g.raised(factor)))
	}
}

// lift raises the caps that some amounts do not keep to, as these are the best that were found, to what they come to.
func (g *guard) lift(amounts []float64) {
	s := newGuardSearch(g, amounts)
	s.look()
	for i, v := range s.variances {
		g.caps[i] = max(g.caps[i], v)
	}
}

// raised is an amount to the power of the guard.
func (g *guard) raised(x float64) float64 {
	if g.power == 2 {
		return float64(x * x)
	}
	return x
}

const (
	// nextToNothing is what measurements that are left out may have, all together of the amount and each of a precision.
	nextToNothing = 5e-5
	// capSlack is by how much, relatively, a variance may be above its cap: far below what rounding is allowed.
	capSlack = 2e-4
	// guardGap is to which part the sum is least.
	guardGap = 1e-4
	// guardRounds and guardWork bound the search: in rounds, and in entries that are looked at.
	guardRounds, guardWork = 4000, 1 << 29
	// stillness is what the amounts, of sum 1, move in a round at most that ends the search.
	stillness = 1e-10
)

// within reports whether all tables keep to their caps.
func (g *guarded) within() bool { return g.worst <= 1+capSlack }

// certified reports whether no amounts have a sum that is less by more than the gap.
func (g *guarded) certified() bool { return g.within() && g.sum <= float64(g.bound*(1+guardGap)) }

// solve searches from some amounts, by multiplicative steps: the weight of a table goes up with its variance over its
// cap, and down to its own weight; an amount goes with what its measurement does for the weighted sum. Of a residual
// that nothing else bears on the step is exact (Cauchy & Schwarz), of others it never makes that sum larger (Yu 2010).
// It returns the best amounts within the caps, or those of the least worst table where none were met.
func (g *guard) solve(amounts []float64) guarded {
	s := newGuardSearch(g, amounts)
	rounds := min(guardRounds, max(50, guardWork/(1+len(g.measurements.at)+2*len(g.tables.at))))
	for range rounds {
		s.look()
		if s.best.certified() || s.best.blame != nil || s.still {
			break
		}
		s.step()
	}
	return s.best
}

// guardSearch is a search on its way.
type guardSearch struct {
	*guard
	amounts   []float64
	weights   []float64 // W, from those of the tables on
	precision []float64 // of terms
	variances []float64 // of tables
	moved     []float64 // amounts, not of sum 1 yet
	pull      []float64 // of terms: Σ W·share/P²
	separate  bool      // every measurement bears on one term, and no two on the same
	still     bool      // nothing moves any more
	best      guarded
}

func newGuardSearch(g *guard, amounts []float64) *guardSearch {
	s := &guardSearch{
		guard: g, amounts: slices.Clone(amounts), weights: slices.Clone(g.weights), precision: make([]float64, g.terms),
		variances: make([]float64, g.tables.rows()), moved: make([]float64, len(amounts)), pull: make([]float64, g.terms),
		separate: g.power == 1,
	}
	taken := make([]bool, g.terms)
	for i := range g.measurements.rows() {
		at, _ := g.measurements.each(i)
		s.separate = s.separate && len(at) == 1 && !taken[at[0]]
		for _, term := range at {
			taken[term] = true
		}
	}
	s.best.worst = math.Inf(1)
	return s
}

// look works out the variances, and keeps the amounts where they are the best so far.
func (s *guardSearch) look() {
	clear(s.precision)
	for i, x := range s.amounts {
		at, slopes := s.measurements.each(i)
		x = s.raised(x)
		for k, term := range at {
			s.precision[term] += float64(slopes[k] * x)
		}
	}
	sum, worst := 0.0, 0.0
	for t := range s.variances {
		at, shares := s.tables.each(t)
		variance := 0.0
		for k, term := range at {
			variance += shares[k] / s.precision[term]
		}
		s.variances[t] = variance
		sum += float64(s.guard.weights[t] * variance)
		worst = max(worst, variance/s.caps[t])
	}
	b := &s.best
	within := worst <= 1+capSlack
	if within && (!b.within() || sum < b.sum) || !within && worst < b.worst && !b.within() {
		b.amounts, b.variances = append(b.amounts[:0], s.amounts...), append(b.variances[:0], s.variances...)
		b.sum, b.worst = sum, worst
	}
}

// step moves the weights and then the amounts, and notes the bound of these weights.
func (s *guardSearch) step() {
	clear(s.pull)
	held, capped, weighted := 0.0, 0.0, 0.0
	for t, variance := range s.variances {
		own := s.guard.weights[t]
		s.weights[t] = max(own, float64(s.weights[t]*(variance/s.caps[t])))
		held += float64((s.weights[t] - own) * s.caps[t])
		capped += float64(s.weights[t] * s.caps[t])
		weighted += float64(s.weights[t] * variance)
		at, shares := s.tables.each(t)
		for k, term := range at {
			s.pull[term] += float64(s.weights[t] * shares[k])
		}
	}
	for term, p := range s.precision {
		s.pull[term] = s.pull[term] / p / p
	}
	all, most, moved := 0.0, 0.0, 0.0
	for i, x := range s.amounts {
		at, slopes := s.measurements.each(i)
		gain := 0.0
		for k, term := range at {
			gain += float64(slopes[k] * s.pull[term])
		}
		most = max(most, gain)
		s.moved[i] = float64(x * s.root(gain))
		all += s.moved[i]
	}
	for i, x := range s.amounts {
		s.amounts[i] = s.moved[i] / all
		moved += math.Abs(s.amounts[i] - x)
	}
	s.still = moved < stillness
	if s.power != 1 {
		return
	}
	least := float64(weighted*weighted) / most
	if s.separate {
		least = float64(all * all)
	}
	s.best.bound = max(s.best.bound, least-held)
	if least > float64(capped*(1+capSlack)) {
		s.best.blame = make([]float64, len(s.weights))
		for t, w := range s.weights {
			s.best.blame[t] = float64(w*s.caps[t]) / capped
		}
	}
}

// root is by how much a gain moves an amount.
func (s *guardSearch) root(gain float64) float64 {
	if s.power == 1 {
		return math.Sqrt(gain)
	}
	if gain == 0 {
		return 0
	}
	return budget.CubeRoot(gain)
}
