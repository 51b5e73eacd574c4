package diff

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/dprelease/dprelease/budget"
)

// This file computes the margin of a difference: the largest difference between two figures that two independent draws
// of noise explain.

// slack covers the rounding of the few floating-point steps below.
const slack = 1e-9

// differenceMargin returns an m such that |X − Y| > m has a probability of at most chance, for the independent noise X
// and Y of two cells: the largest difference that the noise explains. If both cells are one measurement each, m is a
// whole number.
//
// If both are, and have discrete Laplace noise that is one draw, m is the quantile for two draws of the wider one,
// exact if they have one scale (laplaceMargin), provided that it is less. Otherwise m is Chernoff's bound for the
// discrete laws themselves, not for a normal law: P(X − Y ≥ m) ≤ exp(K(s) − s·m) for every s > 0 at which K(s) = log E
// exp(sX) + log E exp(−sY) is finite. Both laws are symmetric, so E exp(−sY) = E exp(sY), and P(|X − Y| ≥ m) is at most
// twice that. Each s thus makes m = (K(s) + log(2 / chance)) / s a valid margin, and the search below only looks for a
// small one. A cell that combines several measurements has symmetric noise as well, and a bound on K(s) by the standard
// error that is published with it (tableNoise.ofCell).
//
// Discrete Laplace with scale t, by summing two geometric series with p = exp(−1/t): E exp(sX) = (1 − p)² / ((1 −
// p·eˢ)(1 − p·e⁻ˢ)) for s < 1/t. Discrete Gaussian with parameter σ²: E exp(sX) ≤ exp(s²σ²/2), since completing the
// square leaves exp(s²σ²/2) times the ratio of Σₓ exp(−(x − sσ²)²/2σ²) to Σₓ exp(−x²/2σ²), and a shift off the
// integers lowers that sum (its Fourier series has positive coefficients, by Poisson summation, so it is largest at 0;
// Canonne, Kamath and Steinke 2020, lemma 22). For two Gaussians the best s gives m = √(2(σ²+τ²) log(2/chance)), which
// is above the quantile of the normal law with that variance.
func differenceMargin(x, y cellNoise, chance float64) float64 {
	laws := [2]symmetricLaw{x.law, y.law}
	if max(laws[0].scale(), laws[1].scale()) == 0 { // two public figures
		return 0
	}
	tail := math.Log(2 / chance)
	bound := func(s float64) float64 { return (laws[0].logMoment(s) + laws[1].logMoment(s) + tail) / s }
	margin := bound(bestTilt(bound, laws)) * (1 + slack)
	if !x.single || !y.single {
		return margin
	}
	whole := int64(math.Ceil(margin)) - 1
	if laws[0].isOneLaplace() && laws[1].isOneLaplace() {
		whole = laplaceMargin(max(laws[0].t, laws[1].t), chance, whole)
	}
	return float64(whole)
}

// laplaceMargin returns the least m, at most a known margin, for which two draws of discrete Laplace noise with scale
// t differ by more than m with a probability of at most chance.
//
// With p = exp(−1/t), P(X − Y = d) = ((1 − p)/(1 + p))² p^|d| (|d| + (1 + p²)/(1 − p²)), by summing p^|x| p^|d − x|;
// its tail is the sum of a geometric series and of its derivative. A Y of a smaller scale does not increase the
// difference: P(|X − y| > m) rises with |y|, because X is symmetric and falls off to both sides, and P(|Y| > y) =
// 2p^(y+1)/(1 + p) rises with the scale.
func laplaceMargin(t, chance float64, known int64) int64 {
	p, q := math.Exp(-1/t), -math.Expm1(-1/t) // q = 1 − p
	beyond := func(m int64) float64 {
		n := float64(m) + 1
		return 2 * q / ((1 + p) * (1 + p)) * math.Exp(-n/t) * (n + (1+p*p)/(q*(1+p)) + p/q)
	}
	least := sort.Search(int(known), func(m int) bool { return beyond(int64(m))*(1+slack) <= chance })
	return int64(least)
}

// bestTilt returns an s at which the bound is near its minimum. The bound falls and then rises: K is convex and
// vanishes at 0. Logarithms of s are searched by thirds between where the bound is surely falling and where it is
// infinite or rising.
func bestTilt(bound func(s float64) float64, laws [2]symmetricLaw) float64 {
	scale := max(laws[0].scale(), laws[1].scale())
	low, high := math.Log(1e-3/scale), math.Log(1e3/scale)
	for range 200 {
		third := (high - low) / 3
		a, b := low+third, high-third
		if bound(math.Exp(a)) <= bound(math.Exp(b)) {
			high = b
		} else {
			low = a
		}
	}
	return math.Exp(low)
}

// tableNoise is the noise of the cells of a table. If single, each cell has one draw of a law; otherwise each is a
// weighted sum of independent draws, and its standard error is published with it.
type tableNoise struct {
	single bool
	law    symmetricLaw
	// For weighted sums: the largest variance of a draw of discrete Laplace noise, 0 for
	// discrete Gaussian ones; for those the largest parameter ÷ variance.
	widest, excess float64
}

// cellNoise is the noise of one cell: its law, or one whose moments are no less.
type cellNoise struct {
	single bool
	law    symmetricLaw
}

// combinedNoise returns the noise of what is combined from measurements with these mechanisms.
func combinedNoise(all []budget.Mechanism) (tableNoise, error) {
	n := tableNoise{}
	for _, m := range all {
		law, err := symmetricLawOf(m)
		if err != nil {
			return n, err
		}
		if law.t > 0 {
			n.widest = max(n.widest, m.Variance()/law.draws)
		} else {
			n.excess = max(n.excess, law.variance/m.Variance())
		}
	}
	if (n.widest > 0) == (n.excess > 0) {
		return n, errors.New("it is put together from noise of other laws than this version knows")
	}
	return n, nil
}

// ofCell returns the noise of a cell with this standard error.
//
// Gaussian: each draw, times its weight w, has a log E exp(sX) of at most s²w²σ²/2, whatever w, and these add up to
// that of one Gaussian whose parameter is the sum of the w²σ², here the cell's variance times the largest σ² ÷
// variance. (A normal law of the cell's own variance would be no bound: if σ is small, a discrete law has the variance
// of its far less likely steps.)
//
// Laplace: a pure budget's tables are plain sums, of weights of at most 1. A draw of variance v has E exp(sX) = 1 / (1
// − v·(cosh s − 1)), and cosh ws − 1 ≤ w²·(cosh s − 1) for |w| ≤ 1, by their series. If the terms w²v add up to V and
// none is above u, the sum of −log(1 − w²v·(cosh s − 1)) is at most that of V/u terms of u, since −log(1 − x) is
// convex and 0 at 0; and if V is below u, that of one term of V. Noise that is added in shares counts as a number of
// draws that is at least 1 and need not be whole, which changes nothing.
func (n tableNoise) ofCell(standardError float64) cellNoise {
	if n.single {
		return cellNoise{single: true, law: n.law}
	}
	variance := standardError * standardError
	if n.widest == 0 {
		return cellNoise{law: symmetricLaw{variance: variance * n.excess}}
	}
	draws := max(1, variance/n.widest)
	u := draws / variance // one over the variance of a draw, 2p/(1−p)²
	return cellNoise{law: symmetricLaw{t: 1 / math.Log1p(u+math.Sqrt(u*(2+u))), draws: draws}}
}

// symmetricLaw is the law of noise: if t is positive a sum of draws of discrete Laplace noise with scale t, whose
// number is at least 1 and need not be whole ([budget.Shares]); otherwise discrete Gaussian with parameter variance.
type symmetricLaw struct{ t, variance, draws float64 }

// isOneLaplace reports whether the noise is one draw of discrete Laplace noise.
func (l symmetricLaw) isOneLaplace() bool { return l.t > 0 && l.draws == 1 }

func symmetricLawOf(m budget.Mechanism) (symmetricLaw, error) {
	parameter, _ := m.Parameter.Float64()
	switch {
	case m.Kind.Pure():
		return symmetricLaw{t: parameter, draws: m.Draws()}, nil
	case m.Kind.Normal():
		return symmetricLaw{variance: parameter}, nil
	}
	return symmetricLaw{}, fmt.Errorf("the mechanism %q adds no noise whose law is known", m.Kind)
}

// scale returns about a standard deviation.
func (l symmetricLaw) scale() float64 {
	return max(l.t*math.Sqrt(l.draws), math.Sqrt(l.variance))
}

// logMoment returns log E exp(sX), or an upper bound; +∞ if there is none.
func (l symmetricLaw) logMoment(s float64) float64 {
	if l.t == 0 {
		return s * s * l.variance / 2
	}
	if s*l.t >= 1 {
		return math.Inf(1)
	}
	logOneMinus := func(exponent float64) float64 { return math.Log(-math.Expm1(exponent)) } // of 1 − e^exponent
	return l.draws * (2*logOneMinus(-1/l.t) - logOneMinus(s-1/l.t) - logOneMinus(-s-1/l.t))
}
