package graphical

import (
	"context"
	"slices"

	"github.com/dprelease/dprelease/internal/parallel"
)

// This file holds the marginals of a model, also of attributes that no clique of its tree holds together.

// Marginal is the counts that the model expects of a clique: of one alone, which is not worth an interruption.
func (m *Model) Marginal(c Clique) (counts []float64) {
	m.Marginals(context.Background(), []Clique{c}, func(_ int, expected []float64) { counts = expected })
	return counts
}

// Marginals calls found with the place of each clique and the counts that the model expects of it. It is called by two
// goroutines, in no order, and must not change what it gets; and for no clique any more once the context has ended.
func (m *Model) Marginals(ctx context.Context, cliques []Clique, found func(i int, counts []float64)) {
	law := m.calibrated()
	law.settle()
	q := newInquiry(m.domain, law, m.total)
	questions := make([]question, len(cliques))
	bothUntil(ctx, len(cliques), func(i int) { questions[i] = q.prepare(i, m.inside(cliques[i])) })
	var jobs [][]question
	together := map[string]int{}
	for _, asked := range questions {
		if ctx.Err() != nil {
			return
		}
		q.ask(asked.root, asked.of, -1)
		if job, known := together[asked.group.key()]; known && len(asked.group) > 1 {
			jobs[job] = append(jobs[job], asked)
			continue
		}
		together[asked.group.key()] = len(jobs)
		jobs = append(jobs, []question{asked})
	}
	bothUntil(ctx, len(q.jobs), func(i int) { *q.jobs[i].into = q.project(q.jobs[i]) })
	bothUntil(ctx, len(q.ways), func(a int) {
		for _, w := range q.ways[a] {
			q.given(w.from, w.to, []int{a}, nil)
		}
	})
	bothUntil(ctx, len(jobs), func(i int) {
		known := map[string]*array{}
		for _, asked := range jobs[i] {
			found(asked.place, q.joint(asked.root, asked.of, -1, known).arranged(m.domain, m.ranked(cliques[asked.place])).
				values)
		}
	})
}

// bothUntil does n jobs, each by one of two goroutines, and begins no job once the context has ended. So jobs may rest on those of a call before with
// the same context.
func bothUntil(ctx context.Context, n int, job func(i int)) {
	parallel.Each(2, n, func(i int) {
		if ctx.Err() == nil {
			job(i)
		}
	})
}

// array is a table whose attributes are in any order.
type array struct {
	of     []int
	values []float64
}

// inquiry is many questions to one law. The counts of any attributes are those of what a clique has of them and of what
// it shares with its neighbours, in which the conditional laws of the attributes beyond these neighbours are then put,
// one after the other, and summed over. What clique that is makes no difference but for time.
type inquiry struct {
	domain Domain
	law    *calibrated
	toward [][]int // clique, attribute → the neighbour that is nearer to it; −1: it is in the clique
	bases  map[base]*array
	jobs   []projection
	beyond map[way]*array
	ways   [][]way // those to each attribute
	none   float64 // counts that are left out of sums: 2⁻⁴⁰ of the rows
}

// base is some attributes of a clique, together.
type base struct {
	clique     int
	attributes string
}

// way is what lies beyond an edge: of one clique towards another, one attribute.
type way struct{ from, to, attribute int }

// question asks for the counts of some attributes. Those of them that lie beyond one edge of the root are found
// together with it, and for all questions that have the same: the largest such group.
type question struct {
	place int // among what is asked
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
		none: total * 0x1p-40}
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

// shared is what two neighbours share.
func (q *inquiry) shared(a, b int) Clique {
	if q.law.Parent[a] == b {
		return q.law.Shared[a]
	}
	return q.law.Shared[b]
}

// groups are the attributes that lie beyond the edges of a clique, by edge; the clique's own are left out.
func (q *inquiry) groups(clique int, of []int, from int) (towards []int, groups [][]int) {
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

// needed is what a clique has of some attributes, and of those that it shares with the ways to the others.
func (q *inquiry) needed(clique int, of []int, towards []int) Clique {
	var own Clique
	for _, a := range of {
		if q.toward[clique][a] == -1 {
			own = append(own, a)
		}
	}
	slices.Sort(own)
	for _, to := range towards {
		own = own.union(q.shared(clique, to))
	}
	return own
}

// aside reports whether all of some attributes lie beyond one edge of a clique.
func (q *inquiry) aside(clique int, of Clique) bool {
	for _, a := range of {
		if to := q.toward[clique][a]; to < 0 || to != q.toward[clique][of[0]] {
			return false
		}
	}
	return len(of) > 0
}

// prepare chooses where a question is answered, by the cells that it takes there: those of the table that it starts
// from, times those of the largest group beyond one edge.
func (q *inquiry) prepare(place int, of Clique) question {
	asked, best := question{place: place, of: of}, 0.0
	for i := range q.law.Cliques {
		if q.aside(i, of) {
			continue
		}
		largest := 1.0
		towards, groups := q.groups(i, of, -1)
		for _, g := range groups {
			largest = max(largest, q.domain.Cells(g))
			if len(g) > 1 {
				largest *= 16 // more so, as it is found for this question alone
			}
		}
		cells := float64(q.domain.Cells(q.needed(i, of, towards))*largest) + float64(len(q.law.tables[i])/4)
		if best == 0 || cells < best {
			best, asked.root = cells, i
		}
	}
	_, groups := q.groups(asked.root, of, -1)
	for _, g := range groups {
		if len(g) > len(asked.group) {
			asked.group = g
		}
	}
	return asked
}

// ask lists the projections of cliques that a question needs.
func (q *inquiry) ask(clique int, of []int, from int) {
	towards, groups := q.groups(clique, of, from)
	own := q.needed(clique, of, towards)
	if from >= 0 {
		own = own.union(q.shared(clique, from))
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
				q.ask(to, []int{a}, clique)
			}
		}
		if len(groups[i]) > 1 {
			q.ask(to, groups[i], clique)
		}
	}
}

func (q *inquiry) project(p projection) array {
	return array{p.onto, project(q.domain, q.law.axes[p.clique], q.law.tables[p.clique], p.onto)}
}

// given is the law of attributes beyond an edge given those that it shares: an array of the shared ones, then of them.
// That of a single one is kept with the inquiry, and others among those that are known.
func (q *inquiry) given(from, to int, of []int, known map[string]*array) *array {
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
	shared := q.shared(from, to)
	*out = q.joint(to, of, from, known).arranged(q.domain, slices.Concat(shared, of))
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

// joint is the counts of attributes, seen from a clique, and of what it shares with the neighbour from which it is
// asked.
func (q *inquiry) joint(clique int, of []int, from int, known map[string]*array) array {
	towards, groups := q.groups(clique, of, from)
	own := q.needed(clique, of, towards)
	var keep Clique
	if from >= 0 {
		keep = q.shared(clique, from)
		own = own.union(keep)
	}
	out := *q.bases[base{clique, own.key()}]
	for len(towards) > 0 {
		// The next is the one that leaves the fewest cells.
		best, least := 0, 0.0
		for i, to := range towards {
			cells := q.domain.Cells(q.left(out.of, clique, of, keep, towards, to)) * q.domain.Cells(groups[i])
			if i == 0 || cells < least {
				best, least = i, cells
			}
		}
		to := towards[best]
		left := q.left(out.of, clique, of, keep, towards, to)
		out = q.put(out, q.given(clique, to, groups[best], known), q.shared(clique, to), groups[best], left)
		towards, groups = slices.Delete(towards, best, best+1), slices.Delete(groups, best, best+1)
	}
	return out
}

// left is what is still needed of an array once the way to a neighbour is put in.
func (q *inquiry) left(have []int, clique int, of []int, keep Clique, towards []int, done int) Clique {
	var out Clique
	for _, a := range have {
		needed := slices.Contains(of, a) || keep.has(a)
		for _, to := range towards {
			needed = needed || to != done && q.shared(clique, to).has(a)
		}
		if needed {
			out = append(out, a)
		}
	}
	return out
}

// put multiplies an array by a conditional law and sums over what is not left.
func (q *inquiry) put(x array, law *array, shared Clique, of []int, left []int) array {
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
	a := x.arranged(q.domain, slices.Concat(kept, others, summed)).values
	b := law.arranged(q.domain, slices.Concat(kept, summed, of)).values
	n, sums, columns := int(q.domain.Cells(others)), int(q.domain.Cells(summed)), int(q.domain.Cells(of))
	out := array{slices.Concat(kept, others, of), make([]float64, len(a)/sums*columns)}
	for i := range int(q.domain.Cells(kept)) {
		for j := range n {
			row := i*n + j
			multiplyRow(out.values[row*columns:(row+1)*columns], a[row*sums:(row+1)*sums], b[i*sums*columns:(i+1)*sums*columns],
				q.none)
		}
	}
	return out
}

// multiplyRow adds to a row another times a matrix; entries of that other that are none or less are left out.
func multiplyRow(out, row, matrix []float64, none float64) {
	n := len(out)
	for k := 0; k < len(row); k++ {
		x := row[k]
		if x <= none {
			continue
		}
		// Two rows of the matrix at a time, where there are such.
		l := k + 1
		for l < len(row) && row[l] <= none {
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

// arranged is the array with its attributes in another order.
func (x array) arranged(d Domain, of []int) array {
	if slices.Equal(x.of, of) {
		return x
	}
	steps := make([]int, len(of)) // in x
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
	gather(out.values, x.values, sizes, steps)
	return out
}

// gather sets a table to the cells of another in another order, given the sizes of what runs and the steps of each.
func gather(out, from []float64, sizes, steps []int) {
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
		gather(out[i*n:(i+1)*n], from[i*steps[0]:], sizes[1:], steps[1:])
	}
}
