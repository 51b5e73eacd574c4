package contour

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

const (
	// maxListed bounds the losses in each of the two lists.
	maxListed = 1 << 20
	// maxProducts bounds the work to convolve one group.
	maxProducts = 1 << 27
	// minPruned is the length up to which nothing is left out of a list.
	minPruned = 1 << 12
	// maxPruned is the tilted probability left out of a list at a time.
	maxPruned = 1e-14
)

// A weightedLoss is a loss with its probability, and with the same probability tilted by e^(c·loss) and normalised,
// which is its weight in δ(ε).
type weightedLoss struct{ loss, p, tilted float64 }

// deltaByListing returns δ(ε) by listing losses. It divides the groups into two lists, of all sums of losses in each,
// and combines every loss of one with all losses of the other that reach ε with it, by precomputed sums. It returns
// false if there are too many losses.
func (j *integrand) deltaByListing() (Result, bool) {
	decay := 45 - math.Log(max(j.roughDelta, smallestDelta))
	var parts [][]weightedLoss
	var entropy float64
	for _, g := range j.groups {
		part := g.listMasses(j.c, decay+math.Log(float64(g.count)))
		if part == nil {
			return Result{}, false
		}
		for _, m := range part {
			if m.tilted > 0 {
				entropy -= m.tilted * math.Log(m.tilted)
			}
		}
		parts = append(parts, part)
	}
	if entropy > 2*math.Log(maxListed) {
		return Result{}, false
	}
	slices.SortStableFunc(parts, func(a, b []weightedLoss) int { return len(b) - len(a) })
	left, right, dropped := []weightedLoss{{0, 1, 1}}, []weightedLoss{{0, 1, 1}}, 0.0
	for _, part := range parts {
		if len(left) > len(right) {
			left, right = right, left
		}
		if len(left)*len(part) > 4*maxListed {
			return Result{}, false
		}
		var less float64
		if left, less = dropNegligible(allSums(left, part)); len(left) > maxListed {
			return Result{}, false
		}
		dropped += less
	}
	delta, reached := sumPairs(left, right, toFloat(j.epsilon))
	// What the groups leave out adds at most its probability to δ. What the lists leave out adds at most its share of
	// Chernoff's bound.
	missing := float64(len(parts))*math.Exp(-decay) + dropped*math.Exp(j.logMoment+logHockeyStick(j.c))
	rounding := roundoff * (64 + math.Sqrt(float64(len(left)+len(right)))) * reached
	return Result{Delta: min(1, max(0, delta)), Error: missing + rounding + smallestDelta}, true
}

// dropNegligible removes the smallest tilted probabilities from a long list, and returns their sum.
func dropNegligible(all []weightedLoss) (kept []weightedLoss, dropped float64) {
	if len(all) <= minPruned {
		return all, 0
	}
	const faint = 300 // exponents of two that are told apart
	var shares [faint + 1]float64
	rank := func(m weightedLoss) int {
		_, exponent := math.Frexp(m.tilted)
		if m.tilted == 0 {
			return faint
		}
		return min(max(-exponent, 0), faint)
	}
	for _, m := range all {
		shares[rank(m)] += m.tilted
	}
	last := faint
	for ; last > 0 && dropped+shares[last] <= maxPruned; last-- {
		dropped += shares[last]
	}
	return slices.DeleteFunc(all, func(m weightedLoss) bool { return rank(m) > last }), dropped
}

// sumPairs returns Σ p_a·p_b·(1−e^(ε−a−b)) over the a+b > ε, and Σ p_a·p_b over them.
func sumPairs(left, right []weightedLoss, epsilon float64) (delta, reached float64) {
	slices.SortFunc(right, func(a, b weightedLoss) int { return cmp.Compare(b.loss, a.loss) })
	// above[i] = Σ p of right[:i+1]; under[i] = Σ p·e^(−(loss − that of i)) of them.
	above, under := make([]float64, len(right)), make([]float64, len(right))
	var all compensated
	for i, b := range right {
		all.add(b.p)
		above[i], under[i] = all.value(), b.p
		if i > 0 {
			under[i] += under[i-1] * math.Exp(b.loss-right[i-1].loss)
		}
	}
	var total, reach compensated
	for _, a := range left {
		need := epsilon - a.loss
		i := sort.Search(len(right), func(i int) bool { return right[i].loss <= need }) - 1
		if i < 0 {
			continue
		}
		total.add(a.p * (above[i] - math.Exp(need-right[i].loss)*under[i]))
		reach.add(a.p * above[i])
	}
	return total.value(), reach.value()
}

// allSums returns every sum of a loss of a and a loss of b.
func allSums(a, b []weightedLoss) []weightedLoss {
	sums := make([]weightedLoss, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			sums = append(sums, weightedLoss{x.loss + y.loss, x.p * y.p, x.tilted * y.tilted})
		}
	}
	return sums
}

// listMasses returns the losses of a whole group, tilted at c, up to a share below e^(−decay) for each of its members;
// nil if that takes too long.
func (g group) listMasses(c, decay float64) []weightedLoss {
	h := g.law.latticeSpacing()
	if h == nil {
		return nil
	}
	if l, ok := g.law.(*laplace); ok && l.shift > maxListed {
		return nil
	}
	if n, ok := g.law.(*gaussian); ok && n.sigma2*decay > maxListed {
		return nil
	}
	first, one := g.law.weights(decay)
	if work := float64(g.count) * float64(len(one)); work > maxListed || (g.count > 1 && work*work > maxProducts) {
		return nil
	}
	p := []float64{1}
	for range g.count {
		p = convolve(p, one)
	}
	spacing, top := toFloat(h), float64(g.count)*toFloat(g.law.anchorLoss())
	moment := float64(g.count) * real(g.law.logMGF(c, 0))
	all := make([]weightedLoss, len(p))
	for i := range p {
		below := spacing * (float64(g.count*first) + float64(i))
		all[i] = weightedLoss{top - below, p[i], p[i] * math.Exp(-c*below-moment)}
	}
	return all
}

func convolve(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for k, y := range b {
			c[i+k] += x * y
		}
	}
	return c
}
