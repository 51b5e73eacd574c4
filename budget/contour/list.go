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
	// fewListed is a length up to which nothing is left out of a list.
	fewListed = 1 << 12
	// spared is the tilted probability left out of a list at a time.
	spared = 1e-14
)

// A mass is a probability at a loss, and the same probability tilted by
// e^(c·loss) and normalised: what the loss matters for δ(ε).
type mass struct{ loss, p, tilted float64 }

// list is δ(ε) by naming losses: the groups are divided into two lists, of all
// sums of losses in each, and every loss of one meets all that reach ε with it of
// the other by sums prepared in advance. False where they are too many.
func (j *judgement) list() (Result, bool) {
	decay := 45 - math.Log(max(j.expects, faintest))
	var parts [][]mass
	var entropy float64
	for _, g := range j.groups {
		part := g.masses(j.c, decay+math.Log(float64(g.count)))
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
	slices.SortStableFunc(parts, func(a, b []mass) int { return len(b) - len(a) })
	left, right, dropped := []mass{{0, 1, 1}}, []mass{{0, 1, 1}}, 0.0
	for _, part := range parts {
		if len(left) > len(right) {
			left, right = right, left
		}
		if len(left)*len(part) > 4*maxListed {
			return Result{}, false
		}
		var less float64
		if left, less = prune(allSums(left, part)); len(left) > maxListed {
			return Result{}, false
		}
		dropped += less
	}
	delta, reached := meet(left, right, float(j.epsilon))
	// What the groups leave out adds at most its probability to δ; what the lists
	// leave out, by Chernoff's bound, its share of that bound.
	missing := float64(len(parts))*math.Exp(-decay) + dropped*math.Exp(j.base+hockey(j.c))
	rounding := roundoff * (64 + math.Sqrt(float64(len(left)+len(right)))) * reached
	return Result{Delta: min(1, max(0, delta)), Error: missing + rounding + faintest}, true
}

// prune leaves out of a long list what matters least, and says how much tilted
// probability that is.
func prune(all []mass) (kept []mass, dropped float64) {
	if len(all) <= fewListed {
		return all, 0
	}
	const faint = 300 // exponents of two that are told apart
	var shares [faint + 1]float64
	rank := func(m mass) int {
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
	for ; last > 0 && dropped+shares[last] <= spared; last-- {
		dropped += shares[last]
	}
	return slices.DeleteFunc(all, func(m mass) bool { return rank(m) > last }), dropped
}

// meet is Σ p_a·p_b·(1−e^(ε−a−b)) over the a+b > ε, and Σ p_a·p_b over them.
func meet(left, right []mass, epsilon float64) (delta, reached float64) {
	slices.SortFunc(right, func(a, b mass) int { return cmp.Compare(b.loss, a.loss) })
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

// allSums is every sum of a loss of one and one of the other.
func allSums(a, b []mass) []mass {
	sums := make([]mass, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			sums = append(sums, mass{x.loss + y.loss, x.p * y.p, x.tilted * y.tilted})
		}
	}
	return sums
}

// masses lists the losses of a whole group, tilted at c, up to a share below
// e^(−decay) for each of its members; nil where that takes too long.
func (g group) masses(c, decay float64) []mass {
	h := g.law.spacing()
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
	spacing, top := float(h), float64(g.count)*float(g.law.anchor())
	moment := float64(g.count) * real(g.law.log(c, 0))
	all := make([]mass, len(p))
	for i := range p {
		below := spacing * (float64(g.count*first) + float64(i))
		all[i] = mass{top - below, p[i], p[i] * math.Exp(-c*below-moment)}
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
