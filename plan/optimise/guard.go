package optimise

import (
	"cmp"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the guard: the amounts of measurements that minimise the sum of variances among all that keep each
// table's variance within its cap.

// guard is the problem for the tables of one budget leaf. Amounts x ≥ 0 of the measurements, of sum 1, give a term (a
// residual, or a table to which nothing else contributes) the precision
//
//	P_τ = Σ slope·x^power
//
// over the measurements that contribute to it, and a table the variance Σ share/P_τ over its terms. The problem is to
// minimise Σ weight·variance with no variance above its cap.
//
// With a power of 1, for amounts of ρ, every variance is convex in x, and any weights W_t ≥ weight_t give a bound
// (weak duality): no x within the caps has a sum below min_x Σ W·variance − Σ (W − weight)·cap, and that minimum is
// at least f²/max_s(∂f/∂x_s) for f = Σ W·variance at any x, as f is convex and falls as 1/x. With a power of 2, for
// amounts of ε, the problem is not convex: the solution found is no worse than the equal shares that the search
// begins with.
type guard struct {
	power        int
	measurements links // to terms: slopes
	tables       links // to terms: shares
	weights      []float64
	caps         []float64
	terms        int
}

// links is a sparse matrix: rows of entries, each with its column.
type links struct {
	ends   []int // of rows
	at     []int32
	values []float64
}

// addRow appends an empty row.
func (l *links) addRow() { l.ends = append(l.ends, len(l.at)) }

// addEntry adds an entry to the last row.
func (l *links) addEntry(at int, value float64) {
	l.at, l.values = append(l.at, int32(at)), append(l.values, value)
	l.ends[len(l.ends)-1] = len(l.at)
}

// copyRow appends a row of another matrix, with its columns shifted by an offset.
func (l *links) copyRow(from *links, row, after int) {
	l.addRow()
	at, values := from.row(row)
	for k, column := range at {
		l.addEntry(after+int(column), values[k])
	}
}

// rowCount returns the number of rows.
func (l *links) rowCount() int { return len(l.ends) }

// row returns the columns and the entries of a row.
func (l *links) row(row int) ([]int32, []float64) {
	from := 0
	if row > 0 {
		from = l.ends[row-1]
	}
	return l.at[from:l.ends[row]], l.values[from:l.ends[row]]
}

// guardSolution is the best solution found.
type guardSolution struct {
	amounts   []float64
	variances []float64 // of the tables
	sum       float64   // Σ weight·variance
	bound     float64   // no amounts within the caps have a smaller sum; 0 if none is known
	worst     float64   // the largest ratio of a variance to its cap
	// blame is each table's part, of sum 1, of the proof that no amounts meet all caps; nil if there is no such proof.
	blame []float64
}

// capExcesses returns by how much each variance exceeds its cap, relatively; 0 for those within.
func (g *guardSolution) capExcesses(of *guard) []float64 {
	out := make([]float64, len(g.variances))
	for i, v := range g.variances {
		out[i] = max(0, v/of.caps[i]-1)
	}
	return out
}

// neededMeasurements returns the indices of the measurements without those that together have a negligible amount and
// without which every term keeps its precision.
func (g *guard) neededMeasurements(amounts []float64) []int {
	precision, order := make([]float64, g.terms), make([]int, len(amounts))
	for i, x := range amounts {
		order[i] = i
		at, slopes := g.measurements.row(i)
		for k, term := range at {
			precision[term] += float64(slopes[k] * g.toPower(x))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(amounts[a], amounts[b]) })
	var keep []int
	dropped := 0.0
	for _, i := range order {
		at, slopes := g.measurements.row(i)
		needed := dropped+amounts[i] > nextToNothing
		for k, term := range at {
			needed = needed || float64(slopes[k]*g.toPower(amounts[i])) > float64(precision[term]*nextToNothing)
		}
		if needed {
			keep = append(keep, i)
			continue
		}
		dropped += amounts[i]
		for k, term := range at {
			precision[term] -= float64(slopes[k] * g.toPower(amounts[i]))
		}
	}
	slices.Sort(keep)
	return keep
}

// restrictedTo returns the same problem with some of the measurements, given by index.
func (g *guard) restrictedTo(keep []int) *guard {
	out := *g
	out.measurements = links{}
	for _, i := range keep {
		out.measurements.copyRow(&g.measurements, i, 0)
	}
	return &out
}

// joinGroup adds the problem of another group to the problem of a leaf. An equal share in the leaf is by the factor
// smaller than in the group alone.
func (g *guard) joinGroup(other *guard, factor float64) {
	for i := range other.measurements.rowCount() {
		g.measurements.copyRow(&other.measurements, i, g.terms)
	}
	for i := range other.tables.rowCount() {
		g.tables.copyRow(&other.tables, i, g.terms)
	}
	g.power, g.terms = other.power, g.terms+other.terms
	g.weights = append(g.weights, other.weights...)
	for _, c := range other.caps {
		g.caps = append(g.caps, float64(c*g.toPower(factor)))
	}
}

// liftCaps raises the caps that some amounts exceed to the variances of these amounts, as they are the best that were
// found.
func (g *guard) liftCaps(amounts []float64) {
	s := newGuardSearch(g, amounts)
	s.evaluate()
	for i, v := range s.variances {
		g.caps[i] = max(g.caps[i], v)
	}
}

// toPower returns an amount to the power of the guard.
func (g *guard) toPower(x float64) float64 {
	if g.power == 2 {
		return float64(x * x)
	}
	return x
}

const (
	// nextToNothing bounds what omitted measurements may have: of the amount all together, and of a precision each.
	nextToNothing = 5e-5
	// capSlack is by how much, relatively, a variance may exceed its cap: far below what rounding is allowed.
	capSlack = 2e-4
	// guardGap is the relative gap to the bound at which the sum counts as least.
	guardGap = 1e-4
	// guardRounds and guardWork bound the search: its rounds, and the entries that it visits.
	guardRounds, guardWork = 4000, 1 << 29
	// stillness ends the search: the total change of the amounts, of sum 1, in a round.
	stillness = 1e-10
)

// meetsCaps reports whether all tables are within their caps.
func (g *guardSolution) meetsCaps() bool { return g.worst <= 1+capSlack }

// isCertified reports whether no amounts have a sum that is less by more than the gap.
func (g *guardSolution) isCertified() bool {
	return g.meetsCaps() && g.sum <= float64(g.bound*(1+guardGap))
}

// solve searches from some amounts, by multiplicative steps: the weight of a table goes up with the ratio of its
// variance to its cap, and down to its own weight; an amount grows with what its measurement contributes to the
// weighted sum. For a residual with a single contributing measurement the step is exact (Cauchy & Schwarz), for
// others it never makes that sum larger (Yu 2010). It returns the best amounts within the caps or, if none were met,
// those with the least worst ratio.
func (g *guard) solve(amounts []float64) guardSolution {
	s := newGuardSearch(g, amounts)
	rounds := min(guardRounds, max(50, guardWork/(1+len(g.measurements.at)+2*len(g.tables.at))))
	for range rounds {
		s.evaluate()
		if s.best.isCertified() || s.best.blame != nil || s.isStill {
			break
		}
		s.step()
	}
	return s.best
}

// guardSearch is the state of a search.
type guardSearch struct {
	*guard
	amounts   []float64
	weights   []float64 // W, from those of the tables on
	precision []float64 // of terms
	variances []float64 // of tables
	next      []float64 // next amounts, before they are scaled to sum 1
	gradient  []float64 // of terms: Σ W·share/P²
	separate  bool      // every measurement contributes to one term, no two to the same
	isStill   bool      // the amounts no longer change
	best      guardSolution
}

func newGuardSearch(g *guard, amounts []float64) *guardSearch {
	s := &guardSearch{
		guard: g, amounts: slices.Clone(amounts), weights: slices.Clone(g.weights), precision: make([]float64, g.terms),
		variances: make([]float64, g.tables.rowCount()), next: make([]float64, len(amounts)),
		gradient: make([]float64, g.terms), separate: g.power == 1,
	}
	taken := make([]bool, g.terms)
	for i := range g.measurements.rowCount() {
		at, _ := g.measurements.row(i)
		s.separate = s.separate && len(at) == 1 && !taken[at[0]]
		for _, term := range at {
			taken[term] = true
		}
	}
	s.best.worst = math.Inf(1)
	return s
}

// evaluate works out the variances, and keeps the amounts if they are the best so far.
func (s *guardSearch) evaluate() {
	clear(s.precision)
	for i, x := range s.amounts {
		at, slopes := s.measurements.row(i)
		x = s.toPower(x)
		for k, term := range at {
			s.precision[term] += float64(slopes[k] * x)
		}
	}
	sum, worst := 0.0, 0.0
	for t := range s.variances {
		at, shares := s.tables.row(t)
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
	if within && (!b.meetsCaps() || sum < b.sum) || !within && worst < b.worst && !b.meetsCaps() {
		b.amounts, b.variances = append(b.amounts[:0], s.amounts...), append(b.variances[:0], s.variances...)
		b.sum, b.worst = sum, worst
	}
}

// step updates the weights and then the amounts, and records the bound that these weights give.
func (s *guardSearch) step() {
	clear(s.gradient)
	capTerm, capped, weighted := 0.0, 0.0, 0.0
	for t, variance := range s.variances {
		own := s.guard.weights[t]
		s.weights[t] = max(own, float64(s.weights[t]*(variance/s.caps[t])))
		capTerm += float64((s.weights[t] - own) * s.caps[t])
		capped += float64(s.weights[t] * s.caps[t])
		weighted += float64(s.weights[t] * variance)
		at, shares := s.tables.row(t)
		for k, term := range at {
			s.gradient[term] += float64(s.weights[t] * shares[k])
		}
	}
	for term, p := range s.precision {
		s.gradient[term] = s.gradient[term] / p / p
	}
	all, most, change := 0.0, 0.0, 0.0
	for i, x := range s.amounts {
		at, slopes := s.measurements.row(i)
		gain := 0.0
		for k, term := range at {
			gain += float64(slopes[k] * s.gradient[term])
		}
		most = max(most, gain)
		s.next[i] = float64(x * s.stepFactor(gain))
		all += s.next[i]
	}
	for i, x := range s.amounts {
		s.amounts[i] = s.next[i] / all
		change += math.Abs(s.amounts[i] - x)
	}
	s.isStill = change < stillness
	if s.power != 1 {
		return
	}
	least := float64(weighted*weighted) / most
	if s.separate {
		least = float64(all * all)
	}
	s.best.bound = max(s.best.bound, least-capTerm)
	if least > float64(capped*(1+capSlack)) {
		s.best.blame = make([]float64, len(s.weights))
		for t, w := range s.weights {
			s.best.blame[t] = float64(w*s.caps[t]) / capped
		}
	}
}

// stepFactor returns the factor by which a gain changes an amount.
func (s *guardSearch) stepFactor(gain float64) float64 {
	if s.power == 1 {
		return math.Sqrt(gain)
	}
	if gain == 0 {
		return 0
	}
	return budget.CubeRoot(gain)
}
