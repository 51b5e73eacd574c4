package residual

import "slices"

// This file holds the variance factors of a residual: the effect of its noise on what a marginal shows.

// varianceFactors are what noise of variance 1 on each integer of a column's residual, or on its total, adds to the
// variance of each row that an axis shows, and to the mean variance of the sums that count: the rows themselves or, for
// Ranges, all sums of neighbouring categories.
type varianceFactors struct {
	each []float64
	mean float64
}

// axisVarianceFactors returns the variance factors of an axis, for each residual of its column that contributes to it
// ([Column.ContributingLevels]). They are computed once.
func (c *Column) axisVarianceFactors(a Axis) []varianceFactors {
	a.Column = 0 // as it may stand anywhere
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.known[a]
	if !ok {
		if c.known == nil {
			c.known = map[Axis][]varianceFactors{}
		}
		r = c.newVarianceFactors(a)
		c.known[a] = r
	}
	return r
}

func (c *Column) newVarianceFactors(a Axis) []varianceFactors {
	if c.ranged != nil {
		out := c.ranged.rangedVarianceFactors(c.finestTo(a.Level), c.Size(a.Level), a.Sums)
		if c.Size(a.Level) == 1 { // the total, on which the residual has only what rounding leaves
			out[1] = zeroVarianceFactors(1)
		}
		return out
	}
	out := make([]varianceFactors, a.Level+1)
	for level := range out {
		r := &out[level]
		if a.Sums == Prefixes {
			r.each = c.prefixShares(a.Level, level)
		} else {
			r.each = c.noiseShares(a.Level, level)
		}
		r.finish(a.Sums)
		if a.Sums == Ranges {
			r.mean = c.rangeShare(a.Level, level)
		}
	}
	return out
}

// Mean returns the mean of what noise of variance 1 on the integers of a column's residual of a level, 0 for the
// total, adds to the variance of the sums that a marginal needs along an axis. A residual that does not contribute to
// the axis adds nothing.
func (c *Column) Mean(a Axis, level int) float64 {
	at := slices.Index(c.ContributingLevels(a.Level), level)
	if at < 0 {
		return 0
	}
	return c.axisVarianceFactors(a)[at].mean
}

// ContributingLevels returns the levels whose residuals contribute to an axis of a level, 0 for the total: of a ranged
// column that and its one residual.
func (c *Column) ContributingLevels(level int) []int {
	if c.ranged != nil {
		return []int{0, c.Levels()}
	}
	return upTo(level + 1)
}

func zeroVarianceFactors(size int) varianceFactors {
	return varianceFactors{each: make([]float64, size)}
}

// add adds the squares of the rows' sums of a vector g on the finest categories from a given one on. of maps these to
// the categories of the axis. g adds up to 0, or has all categories, so no prefix sum is left behind it. For Ranges
// the mean is, until finished, the sum over all of them.
func (r *varianceFactors) add(g []float64, from int, of []int, sums Sums) {
	first, last := len(r.each), -1
	for _, c := range of[from : from+len(g)] {
		first, last = min(first, c), max(last, c)
	}
	rows := make([]float64, last+1-first)
	for j, x := range g {
		rows[of[from+j]-first] += x
	}
	var all rangeSum
	for i, x := range rows {
		all.next(x, 1)
		if sums == Prefixes {
			x = all.prefix
		}
		r.each[first+i] += float64(x * x)
	}
	r.mean += all.sumSquares(len(r.each))
}

// finish turns sums into means.
func (r *varianceFactors) finish(sums Sums) {
	n := float64(len(r.each))
	if sums == Ranges {
		r.mean /= n * (n + 1) / 2
		return
	}
	r.mean = 0
	for _, x := range r.each {
		r.mean += x
	}
	r.mean /= n
}

// rangeSum is the sum of the squares of all sums of neighbours, over n categories: (n+1)·ΣP² − (ΣP)² with prefix sums
// P.
type rangeSum struct{ prefix, prefixes, squares float64 }

// next adds a category and the zeros behind it: the given number in all.
func (s *rangeSum) next(x float64, categories int) {
	s.prefix += x
	s.prefixes += float64(s.prefix * float64(categories))
	s.squares += float64(float64(s.prefix*s.prefix) * float64(categories))
}

func (s *rangeSum) sumSquares(n int) float64 {
	return float64(float64(n+1)*s.squares) - float64(s.prefixes*s.prefixes)
}

// prefixShares is [Column.noiseShares] for the prefix sums of the categories.
func (c *Column) prefixShares(at, k int) []float64 {
	of, part := c.spreadLevel(at, k)
	out := make([]float64, len(of))
	l := c.levels[k]
	b := make([]float64, l.size) // what the sum so far takes of each category of level k
	if k == 0 {
		for j, x := range part {
			b[0] += x
			out[j] = float64(b[0] * b[0])
		}
		return out
	}
	parents := l.parentCount()
	sums, squares := make([]float64, parents), make([]float64, parents) // of b, by group
	// A group adds (Σb² − (Σb)²/g)/(c·g)².
	term := func(j int) float64 {
		p, g := l.parent[j], float64(l.group[j])
		scale := float64(l.scale[j]) * g
		return (squares[p] - float64(sums[p]*sums[p])/g) / (scale * scale)
	}
	var total float64
	for s, j := range of {
		before := term(j)
		squares[l.parent[j]] += float64(part[s]*part[s]) + float64(2*b[j]*part[s])
		sums[l.parent[j]] += part[s]
		b[j] += part[s]
		total += term(j) - before
		out[s] = max(total, 0)
	}
	return out
}

// rangeShare returns the mean of what noise of variance 1 on level k's integers adds to the variance of all sums of
// neighbouring categories of level at. Each group adds, over 1/(c·g)², Σ_j ‖W·s_j‖² − ‖W·Σ_j s_j‖²/g, with s_j the
// parts of its category j.
func (c *Column) rangeShare(at, k int) float64 {
	of, part := c.spreadLevel(at, k)
	n := len(of)
	l := c.levels[k]
	byCategory, groups := make([][]int, l.size), make([][]int, max(l.parentCount(), 1))
	for s, j := range of {
		byCategory[j] = append(byCategory[j], s)
		if k > 0 {
			groups[l.parent[j]] = append(groups[l.parent[j]], s)
		}
	}
	norm := func(members []int) float64 {
		var all rangeSum
		for i, s := range members {
			next := n
			if i+1 < len(members) {
				next = members[i+1]
			}
			all.next(part[s], next-s)
		}
		return all.sumSquares(n)
	}
	var sum float64
	for j, members := range byCategory {
		if k == 0 {
			sum += norm(members)
			continue
		}
		scale := float64(l.scale[j]) * float64(l.group[j])
		sum += norm(members) / (scale * scale)
	}
	for _, members := range groups {
		if k > 0 {
			j := of[members[0]]
			g := float64(l.group[j])
			scale := float64(l.scale[j]) * g
			sum -= norm(members) / g / (scale * scale)
		}
	}
	return max(sum, 0) / (float64(n) * float64(n+1) / 2)
}

// worstRows returns rows of an axis such that every other row is dominated by one of these: nothing adds less to it.
func worstRows(factors []varianceFactors) []int {
	below := func(a, b int) bool {
		for _, r := range factors {
			if r.each[a] > r.each[b] {
				return false
			}
		}
		return true
	}
	var front []int
next:
	for row := range factors[0].each {
		kept := front[:0]
		for i, other := range front {
			if below(row, other) {
				front = append(kept, front[i:]...)
				continue next
			}
			if !below(other, row) {
				kept = append(kept, other)
			}
		}
		front = append(kept, row)
	}
	return front
}
