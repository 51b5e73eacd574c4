package graphical

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds the marginals of a model, including those of attributes that no clique of its tree has together.

// Marginal returns the counts that the model expects of one clique, which is too little work to need a context.
func (m *Model) Marginal(c Clique) (counts []float64) {
	m.Marginals(context.Background(), []Clique{c}, func(_ int, expected []float64) { counts = expected })
	return counts
}

// Marginals calls found with the index of each clique and the counts that the model expects of it. found is called by
// two goroutines, in any order, and must not change the counts. Once the context has ended it is not called any more.
func (m *Model) Marginals(ctx context.Context, cliques []Clique, found func(i int, counts []float64)) {
	law := m.calibrated()
	law.applyLevel()
	q := newInquiry(m.domain, law, m.total)
	questions := make([]question, len(cliques))
	bothUntil(ctx, len(cliques), func(i int) { questions[i] = q.chooseRoot(i, m.rankClique(cliques[i])) })
	var jobs [][]question
	together := map[string]int{}
	for _, asked := range questions {
		if ctx.Err() != nil {
			return
		}
		q.requestBases(asked.root, asked.of, -1)
		if job, known := together[asked.group.key()]; known && len(asked.group) > 1 {
			jobs[job] = append(jobs[job], asked)
			continue
		}
		together[asked.group.key()] = len(jobs)
		jobs = append(jobs, []question{asked})
	}
	bothUntil(ctx, len(q.jobs), func(i int) { *q.jobs[i].into = q.projectClique(q.jobs[i]) })
	bothUntil(ctx, len(q.ways), func(a int) {
		for _, w := range q.ways[a] {
			q.conditionalLaw(w.from, w.to, []int{a}, nil)
		}
	})
	bothUntil(ctx, len(jobs), func(i int) {
		known := map[string]*array{}
		for _, asked := range jobs[i] {
			counts := q.jointCounts(asked.root, asked.of, -1, known)
			found(asked.index, counts.reordered(m.domain, m.ranksOf(cliques[asked.index])).values)
		}
	})
}

// bothUntil runs n jobs on two goroutines, and begins no job once the context has ended. Jobs may therefore depend on
// those of an earlier call with the same context.
func bothUntil(ctx context.Context, n int, job func(i int)) {
	parallel.Each(2, n, func(i int) {
		if ctx.Err() == nil {
			job(i)
		}
	})
}

// array is a table whose attributes may be in any order.
type array struct {
	of     []int
	values []float64
}

// inquiry answers many questions about one law. It computes the counts of any attributes from a root clique. It takes
// the root's marginal of the requested attributes and of those that the root shares with its neighbours, multiplies it
// by the conditional laws of the attributes beyond these neighbours, one after the other, and sums over whatever is no
// longer needed. The choice of the root affects only the time.
type inquiry struct {
	domain     Domain
	law        *calibrated
	toward     [][]int // by clique and attribute: the neighbour on the path to it; −1: the clique has it
	bases      map[base]*array
	jobs       []projection
	beyond     map[way]*array
	ways       [][]way // by attribute: the ways to it
	negligible float64 // counts up to this one are left out of sums: 2⁻⁴⁰ of the rows
}

// base identifies a marginal of a clique.
type base struct {
	clique     int
	attributes string
}

// way identifies an attribute that lies beyond the edge from one clique to another.
type way struct{ from, to, attribute int }

// question asks for the counts of some attributes. The largest group of them that lies beyond one edge of the root is
// found jointly, and only once for all questions with the same group.
type question struct {
	index int // index among the questions
	of    Clique
	root  int
	group Clique
}

type projection struct {
	clique int
	onto   Clique
	into   *array
}

func newInquiry(d Domain, law *calibrated, total float64) *inquiry {
	q := &inquiry{domain: d, law: law, bases: map[base]*array{}, beyond: map[way]*array{}, ways: make([][]way, len(d)),
		negligible: total * 0x1p-40}
	n := len(law.Cliques)
	q.toward = make([][]int, n)
	for i := range q.toward {
		q.toward[i] = make([]int, len(d))
		for a := range d {
			q.toward[i][a] = -2
		}
	}
	for i := n - 1; i >= 0; i-- { // below
		for _, a := range law.Cliques[i] {
			for at, child := i, -1; at >= 0 && q.toward[at][a] == -2; at, child = law.Parent[at], at {
				q.toward[at][a] = child
			}
		}
	}
	for i, clique := range law.Cliques {
		for _, a := range clique {
			q.toward[i][a] = -1
		}
		for a := range d {
			if q.toward[i][a] == -2 {
				q.toward[i][a] = law.Parent[i]
			}
		}
	}
	return q
}

// separator returns the attributes that two neighbours share.
func (q *inquiry) separator(a, b int) Clique {
	if q.law.Parent[a] == b {
		return q.law.Shared[a]
	}
	return q.law.Shared[b]
}

// groupByEdge returns the attributes that lie beyond the edges of a clique, by edge. It leaves out the attributes of
// the clique itself and those beyond the edge to from.
func (q *inquiry) groupByEdge(clique int, of []int, from int) (towards []int, groups [][]int) {
	for _, a := range of {
		to := q.toward[clique][a]
		if to < 0 || to == from {
			continue
		}
		if g := slices.Index(towards, to); g >= 0 {
			groups[g] = append(groups[g], a)
		} else {
			towards, groups = append(towards, to), append(groups, []int{a})
		}
	}
	return towards, groups
}

// neededAttributes returns the attributes of a clique that are needed for the counts of the attributes in of: those in
// of that the clique itself has, and all that it shares with the neighbours in towards, beyond which the others lie.
func (q *inquiry) neededAttributes(clique int, of []int, towards []int) Clique {
	var own Clique
	for _, a := range of {
		if q.toward[clique][a] == -1 {
			own = append(own, a)
		}
	}
	slices.Sort(own)
	for _, to := range towards {
		own = own.union(q.separator(clique, to))
	}
	return own
}

// isBeyondOneEdge reports whether all of some attributes lie beyond the same edge of a clique.
func (q *inquiry) isBeyondOneEdge(clique int, of Clique) bool {
	for _, a := range of {
		if to := q.toward[clique][a]; to < 0 || to != q.toward[clique][of[0]] {
			return false
		}
	}
	return len(of) > 0
}

// chooseRoot chooses the root of a question, by the cells that an answer takes there: those of the table that it starts
// from, times those of the largest group beyond one edge.
func (q *inquiry) chooseRoot(index int, of Clique) question {
	asked, best := question{index: index, of: of}, 0.0
	for i := range q.law.Cliques {
		if q.isBeyondOneEdge(i, of) {
			continue
		}
		largest := 1.0
		towards, groups := q.groupByEdge(i, of, -1)
		for _, g := range groups {
			largest = max(largest, q.domain.Cells(g))
			if len(g) > 1 {
				largest *= 16 // weighted more, as it is computed for this question only
			}
		}
		cells := float64(q.domain.Cells(q.neededAttributes(i, of, towards))*largest) + float64(len(q.law.tables[i])/4)
		if best == 0 || cells < best {
			best, asked.root = cells, i
		}
	}
	_, groups := q.groupByEdge(asked.root, of, -1)
	for _, g := range groups {
		if len(g) > len(asked.group) {
			asked.group = g
		}
	}
	return asked
}

// requestBases adds the projections of cliques that a question needs to the jobs.
func (q *inquiry) requestBases(clique int, of []int, from int) {
	towards, groups := q.groupByEdge(clique, of, from)
	own := q.neededAttributes(clique, of, towards)
	if from >= 0 {
		own = own.union(q.separator(clique, from))
	}
	id := base{clique, own.key()}
	if q.bases[id] == nil {
		q.bases[id] = &array{}
		q.jobs = append(q.jobs, projection{clique, own, q.bases[id]})
	}
	for i, to := range towards {
		for _, a := range groups[i] {
			if _, known := q.beyond[way{clique, to, a}]; !known {
				q.beyond[way{clique, to, a}] = &array{}
				q.ways[a] = append(q.ways[a], way{clique, to, a})
				q.requestBases(to, []int{a}, clique)
			}
		}
		if len(groups[i]) > 1 {
			q.requestBases(to, groups[i], clique)
		}
	}
}

func (q *inquiry) projectClique(p projection) array {
	return array{p.onto, marginalTable(q.domain, q.law.axes[p.clique], q.law.tables[p.clique], p.onto)}
}

// conditionalLaw returns the law of attributes beyond an edge given those that the edge shares: an array of the shared
// attributes, then of these. The law of a single attribute is kept with the inquiry, others are kept in known.
func (q *inquiry) conditionalLaw(from, to int, of []int, known map[string]*array) *array {
	var out *array
	if len(of) == 1 {
		out = q.beyond[way{from, to, of[0]}]
	} else {
		id := Clique(slices.Concat([]int{from, to}, of)).key()
		if known[id] == nil {
			known[id] = &array{}
		}
		out = known[id]
	}
	if out.values != nil {
		return out
	}
	shared := q.separator(from, to)
	*out = q.jointCounts(to, of, from, known).reordered(q.domain, slices.Concat(shared, of))
	if base := q.bases[base{to, shared.union(of).key()}]; base != nil && &base.values[0] == &out.values[0] {
		out.values = slices.Clone(out.values)
	}
	n := len(out.values) / max(int(q.domain.Cells(shared)), 1)
	for i := 0; i < len(out.values); i += n {
		if all := sum(out.values[i : i+n]); all > 0 {
			scale(out.values[i:i+n], 1/all)
		}
	}
	return out
}

// jointCounts returns the counts of attributes, computed from a clique, together with what that clique shares with the
// neighbour from, or without that if from is negative.
func (q *inquiry) jointCounts(clique int, of []int, from int, known map[string]*array) array {
	towards, groups := q.groupByEdge(clique, of, from)
	own := q.neededAttributes(clique, of, towards)
	var keep Clique
	if from >= 0 {
		keep = q.separator(clique, from)
		own = own.union(keep)
	}
	out := *q.bases[base{clique, own.key()}]
	for len(towards) > 0 {
		// Continue with the neighbour that leaves the fewest cells.
		best, least := 0, 0.0
		for i, to := range towards {
			cells := q.domain.Cells(q.remainingAttributes(out.of, clique, of, keep, towards,
				to)) * q.domain.Cells(groups[i])
			if i == 0 || cells < least {
				best, least = i, cells
			}
		}
		to := towards[best]
		left := q.remainingAttributes(out.of, clique, of, keep, towards, to)
		law := q.conditionalLaw(clique, to, groups[best], known)
		out = q.multiplyIn(out, law, q.separator(clique, to), groups[best], left)
		towards, groups = slices.Delete(towards, best, best+1), slices.Delete(groups, best, best+1)
	}
	return out
}

// remainingAttributes returns the attributes of an array that are still needed once the law beyond the neighbour done
// has been multiplied in.
func (q *inquiry) remainingAttributes(have []int, clique int, of []int, keep Clique, towards []int, done int) Clique {
	var out Clique
	for _, a := range have {
		needed := slices.Contains(of, a) || keep.has(a)
		for _, to := range towards {
			needed = needed || to != done && q.separator(clique, to).has(a)
		}
		if needed {
			out = append(out, a)
		}
	}
	return out
}

// multiplyIn multiplies an array by a conditional law and sums over the attributes that are not left.
func (q *inquiry) multiplyIn(x array, law *array, shared Clique, of []int, left []int) array {
	var kept, summed, others []int
	for _, a := range shared {
		if slices.Contains(left, a) {
			kept = append(kept, a)
		} else {
			summed = append(summed, a)
		}
	}
	for _, a := range x.of {
		if !shared.has(a) {
			others = append(others, a)
		}
	}
	a := x.reordered(q.domain, slices.Concat(kept, others, summed)).values
	b := law.reordered(q.domain, slices.Concat(kept, summed, of)).values
	n, sums, columns := int(q.domain.Cells(others)), int(q.domain.Cells(summed)), int(q.domain.Cells(of))
	out := array{slices.Concat(kept, others, of), make([]float64, len(a)/sums*columns)}
	for i := range int(q.domain.Cells(kept)) {
		for j := range n {
			row := i*n + j
			multiplyRow(out.values[row*columns:(row+1)*columns], a[row*sums:(row+1)*sums],
				b[i*sums*columns:(i+1)*sums*columns],
				q.negligible)
		}
	}
	return out
}

// multiplyRow adds row × matrix to out. It leaves out entries of row that are at most none.
func multiplyRow(out, row, matrix []float64, negligible float64) {
	n := len(out)
	for k := 0; k < len(row); k++ {
		x := row[k]
		if x <= negligible {
			continue
		}
		// Take two rows of the matrix at a time if there are two left.
		l := k + 1
		for l < len(row) && row[l] <= negligible {
			l++
		}
		if l == len(row) {
			a := matrix[k*n : (k+1)*n]
			for i := range out {
				out[i] += float64(x * a[i])
			}
			return
		}
		y := row[l]
		a, b := matrix[k*n:(k+1)*n], matrix[l*n:(l+1)*n]
		a, b = a[:len(out)], b[:len(out)]
		for i := range out {
			out[i] += float64(x*a[i]) + float64(y*b[i])
		}
		k = l
	}
}

// reordered returns the array with its attributes in another order.
func (x array) reordered(d Domain, of []int) array {
	if slices.Equal(x.of, of) {
		return x
	}
	steps := make([]int, len(of)) // through x.values
	step := 1
	for i := len(x.of) - 1; i >= 0; i-- {
		steps[slices.Index(of, x.of[i])] = step
		step *= d[x.of[i]]
	}
	sizes := make([]int, len(of))
	for i, a := range of {
		sizes[i] = d[a]
	}
	out := array{of, make([]float64, len(x.values))}
	copyPermuted(out.values, x.values, sizes, steps)
	return out
}

// copyPermuted sets a table to the cells of another in another order, given the sizes of its axes and their steps in
// the other.
func copyPermuted(out, from []float64, sizes, steps []int) {
	if len(sizes) == 0 {
		out[0] = from[0]
		return
	}
	if len(sizes) == 1 {
		step, at := steps[0], 0
		out = out[:sizes[0]]
		for i := range out {
			out[i] = from[at]
			at += step
		}
		return
	}
	n := len(out) / sizes[0]
	for i := range sizes[0] {
		copyPermuted(out[i*n:(i+1)*n], from[i*steps[0]:], sizes[1:], steps[1:])
	}
}
