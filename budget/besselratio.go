package budget

import "math/big"

// This file holds the probabilities of Skellam noise X, the difference of two independent Poisson variables of mean
// μ/2:
//
//	P(x) = e^(−μ)·I_|x|(μ),   r_k = P(k+1)/P(k) = I_{k+1}(μ)/I_k(μ),   k ≥ 0,
//
// with I the modified Bessel function of the first kind. P(k−1) − P(k+1) = (2k/μ)·P(k), so r_{k−1} = 1/(2k/μ + r_k): a
// backward recurrence of positive terms, in which errors fade (Gautschi 1967).

// besselBits is the precision of the recurrence, which rounds each step to it.
const besselBits = 128

// skellamWeights returns P(k)/P(0) for k from 0 to last, each within 2^−80 of it in proportion, for μ up to 2^24 and
// last up to 2^18.
func skellamWeights(variance *big.Rat, last int) []*big.Float {
	twice := newBessel().Quo(newBessel().SetInt64(2), newBessel().SetRat(variance)) // 2/μ
	ratio := besselRatio(twice, last)
	ratios := make([]*big.Float, last) // r_k for k < last
	for k := last; k > 0; k-- {
		ratio = nextBesselRatio(twice, k, ratio)
		ratios[k-1] = ratio
	}
	weights := []*big.Float{newBessel().SetInt64(1)}
	for k, r := range ratios {
		weights = append(weights, newBessel().Mul(weights[k], r))
	}
	return weights
}

// besselRatio returns r_k. It begins the recurrence with two ends between which r_m lies, for so large an m that the
// ends of r_k agree. Each step exchanges the ends.
func besselRatio(twice *big.Float, k int) *big.Float {
	for beyond := 64; ; beyond *= 2 {
		m := k + beyond
		low, high := newBessel(), nextBesselRatio(twice, m+1, newBessel()) // 0 < r_m < 1/(2(m+1)/μ)
		for j := m; j > k; j-- {
			low, high = nextBesselRatio(twice, j, high), nextBesselRatio(twice, j, low)
		}
		width := newBessel().Sub(high, low)
		if width.Cmp(newBessel().SetMantExp(high, -100)) <= 0 {
			return high
		}
	}
}

// nextBesselRatio returns r_{j−1} from r_j.
func nextBesselRatio(twice *big.Float, j int, ratio *big.Float) *big.Float {
	next := newBessel().Mul(twice, newBessel().SetInt64(int64(j)))
	next.Add(next, ratio)
	return next.Quo(newBessel().SetInt64(1), next)
}

func newBessel() *big.Float { return new(big.Float).SetPrec(besselBits) }

// logOf returns ln x, within 4 ulp of it, for x > 0.
func logOf(x *big.Float) float64 {
	if f, _ := newBessel().Sub(x, newBessel().SetInt64(1)).Float64(); f > -0.25 && f < 0.4 {
		return log1p(f)
	}
	mantissa := new(big.Float)
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64() // in [½, 1]
	if float64(exponent) <= 0 {
		return Log(m) + float64(float64(exponent)*ln2)
	}
	return Log(2*m) + float64(float64(exponent-1)*ln2)
}

const ln2 = ln2High + ln2Low
