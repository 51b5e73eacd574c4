package local

import (
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the law of a report's score: how many categories of a set A the report holds. A has m of the k
// categories of the question.

// scoreLaw is the law of the score of one respondent's report: it is first + i with probability masses[i].
type scoreLaw struct {
	mean, variance float64
	first          int64
	masses         []float64
}

// scores returns the law of the score of a holder, whose category is in A, and that of another respondent.
func (c Count) scores() (holder, other scoreLaw) {
	p, q := c.Chances()
	least, most := c.scoreRange()
	otherMean := new(big.Rat).Mul(q, new(big.Rat).SetInt64(c.cells()))
	holderMean := new(big.Rat).Add(otherMean, p.Sub(p, q))
	if most == least+1 {
		return twoScores(holderMean, least), twoScores(otherMean, least)
	}
	first, masses := c.uniformScores()
	inside, outside := c.cells(), c.Categories-c.cells()
	holder = scoreLaw{variance: c.scoreVariance(inside), first: first}
	other = scoreLaw{variance: c.scoreVariance(outside), first: first}
	holder.mean, _ = holderMean.Float64()
	other.mean, _ = otherMean.Float64()
	holder.masses = c.scoreProbabilities(masses, inside, first, 1)
	other.masses = c.scoreProbabilities(masses, outside, c.Support-first, -1)
	return holder, other
}

// cells returns m.
func (c Count) cells() int64 { return max(1, c.Cells) }

// scoreRange returns the least and the most categories of A that a report can hold.
func (c Count) scoreRange() (least, most int64) {
	return max(0, c.cells()+c.Support-c.Categories), min(c.cells(), c.Support)
}

// twoScores returns the law of a score of two values, the least and one more: a Bernoulli variable and a constant. Such
// is the score of a single category, of all but one, and of reports of a single category or of all but one.
func twoScores(mean *big.Rat, least int64) scoreLaw {
	s := scoreLaw{first: least}
	s.mean, _ = mean.Float64()
	chance, _ := new(big.Rat).Sub(mean, new(big.Rat).SetInt64(least)).Float64()
	s.masses = []float64{1 - chance, chance}
	s.variance = float64(chance * (1 - chance))
	return s
}

// varianceShare returns the given share of the variance.
func (s scoreLaw) varianceShare(share float64) float64 {
	if len(s.masses) == 2 { // in this order, so that the intervals of a single category keep their bits
		return float64(float64(share*s.masses[1]) * (1 - s.masses[1]))
	}
	return float64(share * s.variance)
}

// scoreVariance returns the variance of the number of categories of a side in a report, for a respondent whose category
// is one of the m of that side:
//
//	(m−1)(k−m)/((k−1)²(k−2)) · (p (w−1)(k−w) + (1−p) w (k−1−w)) + p(1−p) ((k−m)/(k−1))²,
//
// the mean of the variances, and the variance of the means, of a report that holds the respondent's category and of one
// that does not. The rest of the w categories in the report are of the other side, and have this variance too.
func (r Randomiser) scoreVariance(side int64) float64 {
	k, w, m := float64(r.Categories), float64(r.Support), float64(side)
	p, _ := r.floats()
	drawn := float64(p*(w-1)*(k-w)) + float64((1-p)*w*(k-1-w))
	drawn = float64(drawn * (m - 1) / (k - 1) * (k - m) / (k - 1) / (k - 2))
	moved := (k - m) / (k - 1)
	return drawn + float64(p*(1-p)*moved*moved)
}

// massBits is the precision of masses before they are rounded. Those below 2^leastMass of the largest are left out:
// there are fewer than 2^20, each is weighed by at most e^10, and in 10^12 reports they add up to less than 10^−15.
const (
	massBits  = 128
	leastMass = -128
)

// uniformScores returns the law of the score of a uniformly random set of w categories, up to a common factor: the
// hypergeometric C(m, y) C(k−m, w−y), from its mode outwards, without what is negligible.
func (c Count) uniformScores() (first int64, masses []*big.Float) {
	k, w, m := c.Categories, c.Support, c.cells()
	least, most := c.scoreRange()
	mode := (m + 1) * (w + 1) / (k + 2)
	up := []*big.Float{whole(1)}
	for y := mode; y < most && up[y-mode].MantExp(nil) > leastMass; y++ {
		up = append(up, ratio(up[y-mode], (m-y)*(w-y), (y+1)*(k-m-w+y+1)))
	}
	down := up[:1:1]
	for y := mode; y > least && down[mode-y].MantExp(nil) > leastMass; y-- {
		down = append(down, ratio(down[mode-y], y*(k-m-w+y), (m-y+1)*(w-y+1)))
	}
	for i := len(down) - 1; i > 0; i-- {
		masses = append(masses, down[i])
	}
	return mode - int64(len(down)-1), append(masses, up...)
}

// whole returns a whole number.
func whole(x int64) *big.Float { return new(big.Float).SetPrec(massBits).SetInt64(x) }

// ratio returns x·a/b.
func ratio(x *big.Float, a, b int64) *big.Float {
	product := new(big.Float).Mul(x, whole(a))
	return product.Quo(product, whole(b))
}

// scoreProbabilities returns the law of the score of a respondent whose category is one of a side, A or all others,
// from the law of a uniformly random set. The first mass is the probability that the set holds in categories of the
// side; from one mass to the next, that number changes by step. Of such sets the share in/side holds the respondent's
// category, and each has a probability in proportion to p/w; the others have one in proportion to (1−p)/(k−w).
func (r Randomiser) scoreProbabilities(masses []*big.Float, side, in, step int64) []float64 {
	truth := new(big.Float).Mul(whole(r.Keep), whole(r.Categories-r.Support))
	lie := new(big.Float).Mul(whole(chances-r.Keep), whole(r.Support))
	weighed, sum := make([]*big.Float, len(masses)), whole(0)
	for i, mass := range masses {
		weight := new(big.Float).Mul(truth, whole(in))
		weight.Add(weight, new(big.Float).Mul(lie, whole(side-in)))
		weighed[i] = weight.Mul(weight, mass)
		sum.Add(sum, weighed[i])
		in += step
	}
	law := make([]float64, len(masses))
	for i, mass := range weighed {
		law[i], _ = mass.Quo(mass, sum).Float64()
	}
	return law
}

// wave returns the characteristic function of the score at t = 2πx, for 0 < x ≤ ½, from the sine and the cosine of t/2.
func (s scoreLaw) wave(x, sineHalf, cosineHalf float64) scoreWave {
	if len(s.masses) == 2 {
		w := newBernoulliWave(s.masses[1], sineHalf, cosineHalf)
		w.whole += s.first
		return w
	}
	whole := int64(math.Floor(s.mean + 0.5))
	var missing, imaginary float64 // of 1 − missing + i·imaginary, about the nearest whole number to the mean
	for i, mass := range s.masses {
		half := float64(x * float64(s.first+int64(i)-whole))
		sineOf := sine(half)
		missing += float64(mass * float64(2*sineOf*sineOf))
		imaginary += float64(mass * sine(2*half))
	}
	return scoreWave{polar{logModulus(missing, imaginary), angle(imaginary, 1-missing)}, whole}
}

// logModulus returns ln |1 − missing + i·imaginary| of a number in the unit disc, accurate relatively also near 0. The
// logarithm of 0 is replaced by a number so small that the number itself is negligible.
func logModulus(missing, imaginary float64) float64 {
	lost := float64(missing*(2-missing)) - float64(imaginary*imaginary)
	if lost < 0.5 {
		return logOnePlus(-math.Max(lost, 0)) / 2
	}
	square := float64((1-missing)*(1-missing)) + float64(imaginary*imaginary)
	return budget.Log(math.Max(square, 1e-300)) / 2
}
