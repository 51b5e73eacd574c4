package local

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the amplification by shuffling: what reports are worth when nobody can see who sent which.

// mostHonest is how many honest reports are counted: more of them protect no less.
const mostHonest = 1 << 30

// leastDelta is the least δ at which anything is gained, so that no probability underflows.
const leastDelta = 1e-100

// Shuffled returns an ε at which the multiset of all reports is (ε, δ)-differentially private when each report is
// ε₀-locally private, the argument epsilon, and at least so many reports, the respondent's own included, are honest:
// their devices apply the same randomiser, independently, and keep the randomness to themselves. Neighbours: any two
// answers of one respondent, where all else stays. It returns an error unless 0 < ε₀ ≤ [MaxEpsilon], 0 < δ < 1 and
// honest ≥ 1.
//
// Guarantee: the ε is at least the least at which the hockey-stick divergence of
//
//	(A+Δ, C−A+1−Δ) and (A+1−Δ, C−A+Δ),  C ~ Bin(honest−1, e^−ε₀),  A ~ Bin(C, ½),  Δ ~ Bern(e^ε₀/(1+e^ε₀))
//
// is at most δ in both orders, and at most ε₀, rounded up. Theorem: Feldman, McMillan & Talwar 2021, Hiding among the
// clones, the reduction by which theorem 3.1 is proved. Argument: docs/proofs/shuffle.md.
func Shuffled(epsilon *big.Rat, honest int64, delta *big.Rat) (epsilonUp float64, err error) {
	switch {
	case epsilon.Sign() <= 0 || epsilon.Cmp(big.NewRat(MaxEpsilon, 1)) > 0:
		return 0, fmt.Errorf("ε is %s, expected a number above 0 and at most %d", epsilon.RatString(), MaxEpsilon)
	case delta.Sign() <= 0 || delta.Cmp(big.NewRat(1, 1)) >= 0:
		return 0, fmt.Errorf("δ is %s, expected a number above 0 and below 1", delta.RatString())
	case honest < 1:
		return 0, errors.New("no honest report")
	}
	most := floatUp(epsilon)
	allowed := -floatUp(new(big.Rat).Neg(delta))
	if allowed < leastDelta {
		return most, nil
	}
	c := newClones(floatUp(expUp(epsilon)), min(honest, mostHonest), allowed)
	ratio := c.leastRatio(allowed)
	if ratio == 1 {
		return 0, nil
	}
	return math.Min(most, math.Nextafter(float64(budget.Log(ratio)*(1+0x1p-51)), math.Inf(1))), nil
}

// floatUp returns the least float64 that is at least r.
func floatUp(r *big.Rat) float64 {
	f, _ := r.Float64()
	if new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// roundoff bounds the relative error of one operation.
const roundoff = 0x1p-53

// clones is the law of C, the number of clones among the other honest reports, within a range around its mean.
type clones struct {
	ratio  float64 // e^ε₀, taken to be exact
	least  int64
	chance []float64 // at least P(C = least + i) / (1 + error)
	spread float64   // −ln of what is left out of binomial laws: e^−spread is small compared with δ
}

// newClones returns the law of Bin(honest−1, 1/ratio).
//
// Contract: the range leaves out a probability of at most 2 e^−spread (Bernstein's inequality). Chances are computed by
// their ratios and normalised to 1, which makes them larger; the errors of so many ratios are in [clones.error].
func newClones(ratio float64, honest int64, delta float64) clones {
	spread := 30 - budget.Log(delta)
	others := float64(honest - 1)
	mean := others / ratio
	third := spread / 3
	distance := third + math.Sqrt(float64(third*third)+float64(2*spread*mean*(1-1/ratio))) + 1
	least := int64(math.Max(0, math.Floor(mean-distance)))
	most := int64(math.Min(others, math.Ceil(mean+distance)))
	c := clones{ratio, least, make([]float64, most-least+1), spread}
	middle := min(max(int64(mean), least), most)
	c.chance[middle-least] = 1
	sum := 1.0
	for x, p := middle+1, 1.0; x <= most; x++ {
		p = float64(p * (others - float64(x-1)) / float64(float64(x)*(ratio-1)))
		c.chance[x-least] = p
		sum += p
	}
	for x, p := middle-1, 1.0; x >= least; x-- {
		p = float64(p * float64(float64(x+1)*(ratio-1)) / (others - float64(x)))
		c.chance[x-least] = p
		sum += p
	}
	for i := range c.chance {
		c.chance[i] /= sum
	}
	return c
}

// error bounds the relative error of the chances: four roundings for each factor, and as many in the sum of them.
func (c clones) error() float64 { return float64(16 * roundoff * float64(len(c.chance)+16)) }

// leastRatio returns a number E = e^ε from 1 to e^ε₀ at which δ(ε) is at most the given one, and above the least such
// number by 2^−40 of E − 1 at most, but for the slack of [clones.delta].
func (c clones) leastRatio(delta float64) float64 {
	low, high := 1.0, c.ratio // at e^ε₀, δ is 0
	if c.delta(low) <= delta {
		return low
	}
	for high-low > float64(0x1p-40*(high-1)) {
		middle := low + float64((high-low)/2)
		if middle <= low || middle >= high {
			break
		}
		if c.delta(middle) <= delta {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// delta returns an upper bound of the hockey-stick divergence at e^ε = E: the mean over C of that for C = c,
//
//	δ_c = (e^ε₀−E)/(e^ε₀+1) · b(x−1) − (E−1) · T(x),
//
// where b(j) and T(j) are the probabilities that Bin(c, ½) is j, and at least j, and x is the least number of reports
// of the first kind, out of c + 1, that speaks for it by more than E ([threshold]). It goes from many clones to few,
// as T then grows, so that its relative error does not.
//
// Contract: e^−spread is added for each thing that is left out: both ends of the law of C, and the clones for which the
// threshold is far out ([clones.farOut]). Roundings are added.
func (c clones) delta(bigE float64) float64 {
	lean := float64((bigE-1)*(c.ratio+1)) / float64(2*(c.ratio-1)*(bigE+1))
	s := stake{(c.ratio - bigE) / (c.ratio + 1), bigE - 1,
		2 * float64((c.ratio-1)*(bigE+1)) / (c.ratio - bigE)}
	top := min(c.least+int64(len(c.chance))-1, c.farOut(lean))
	out := float64(4 * budget.Exp(-c.spread))
	if top < c.least {
		return out
	}
	h := newHalf(top, threshold(top, lean))
	var sum float64
	for x := top; ; x-- {
		sum += float64(c.chance[x-c.least] * h.difference(s))
		if x == c.least {
			return out + float64(sum*(1+c.error()))
		}
		h.removeClone(threshold(x-1, lean))
	}
}

// farOut returns a number of clones from which on P(Bin(c, ½) ≥ x−1) ≤ e^−spread, with x the threshold. Theorem:
// Hoeffding's inequality, exp(−2(lean·c − 1)²/c).
func (c clones) farOut(lean float64) int64 {
	root := math.Sqrt(c.spread / 2)
	root = (root + math.Sqrt(float64(root*root)+float64(4*lean))) / float64(2*lean)
	if !(root < 0x1p20) {
		return math.MaxInt64
	}
	return int64(root*root) + 2
}

// threshold returns the least whole number above (c+1)(½ + lean), where lean = (E−1)(e^ε₀+1) / (2(e^ε₀−1)(E+1)).
func threshold(c int64, lean float64) int64 {
	m := float64(c + 1)
	return min(int64(math.Floor(float64(m/2)+float64(m*lean)))+1, c+1)
}

// halfBinomial holds b = P(Bin(c, ½) = x−1) and T = P(Bin(c, ½) ≥ x) for one c and x, with the errors that they may
// have.
type halfBinomial struct {
	clones, at float64 // c and x
	b, tail    float64
	bError     float64 // relative
	tailError  float64 // absolute
}

// newHalf returns them for c clones and a threshold x > (c+1)/2. It adds up all probabilities from the middle on, in
// units of that of the middle, and leaves off when the rest is negligible: the sum then is too small, and b too large.
func newHalf(c, x int64) halfBinomial {
	n := float64(c)
	middle := math.Ceil(n / 2)
	weight, total, tail, b := 1.0, 1.0, 0.0, 0.0
	j := middle
	for ; ; j++ {
		if j == float64(x-1) {
			b = weight
		}
		if j >= float64(x) {
			tail += weight
		}
		if j > middle {
			total += weight + weight
		} else if 2*middle > n {
			total = 2 // the two middle ones of an odd c
		}
		if j >= n || j >= float64(x) && float64(weight*(n+1)) < float64(0x1p-60*tail) {
			break
		}
		weight *= (n - j) / (j + 1)
	}
	err := 8 * roundoff * (j - middle + 4)
	return halfBinomial{n, float64(x), b / total, tail / total, err, float64(err * (tail / total))}
}

// stake is what the outcomes beyond the threshold gain and cost: (e^ε₀−E)/(e^ε₀+1) for b, E − 1 for T. Its steepness
// is 2/(½−lean), which bounds how much more likely the outcome before the threshold may be than b.
type stake struct{ gain, price, steepness float64 }

// difference returns an upper bound of max(0, gain·b − price·T): roundings are added, and what is lost if a threshold
// is rounded to the wrong side of a whole number.
func (h *halfBinomial) difference(s stake) float64 {
	up, down := float64(s.gain*h.b), float64(s.price*h.tail)
	slack := float64(up*(h.bError+32*roundoff)) + float64(s.price*h.tailError) + float64(down*32*roundoff)
	tie := 64 * roundoff * (2 + s.price) * h.b * math.Min(s.steepness, h.clones+1)
	return math.Max(0, up-down) + slack + float64(tie)
}

// removeClone goes from c to c − 1 clones, with a new threshold that is the same or less by one:
//
//	T_{c−1}(x) = T_c(x) − b_{c−1}(x−1)/2,  T_{c−1}(x−1) = T_c(x) + b_{c−1}(x−1)/2.
func (h *halfBinomial) removeClone(x int64) {
	same := float64(h.b * 2 * (h.clones + 1 - h.at) / h.clones) // b_{c−1}(x−1)
	if float64(x) < h.at {
		h.tail += float64(same / 2)
		h.b = float64(h.b*2*(h.at-1)) / h.clones // b_{c−1}(x−2)
		h.at--
	} else {
		h.tail -= float64(same / 2)
		h.b = same
	}
	h.clones--
	h.bError += 8 * roundoff
	h.tailError += float64(same*h.bError) + float64(2*roundoff*h.tail)
}
