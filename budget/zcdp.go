package budget

import (
	"fmt"
	"math"
	"math/big"
)

// Conversions between ρ-zCDP and (ε, δ), after Canonne, Kamath & Steinke 2020,
// corollary 13: a ρ-zCDP mechanism is (ε, δ)-differentially private for
//
//	δ = min over a > 1 of  exp((a−1)(aρ−ε)) · (1−1/a)^a / (a−1)
//
// Written with b = a−1 the logarithm of the bound is
//
//	ln δ(b) = b(bρ+ρ−ε) − b·ln(1+1/b) − ln(1+b)
//
// which is convex in b, loses no digits at either end, and holds for every
// b > 0: an inexact minimiser costs accuracy, never soundness.

// roundingSlack bounds the rounding error of the sums below in units of the sum
// of the absolute values of their terms: fewer than 8 roundings of 2⁻⁵³ each on
// the path of every term.
const roundingSlack = 0x1p-50

// smallestDelta is the least bound that is returned for ρ > 0, in place of results that float64 would round to zero.
const smallestDelta = 0x1p-1022

// ZCDPDelta returns a δ for which every ρ-zCDP mechanism is (ε, δ)-differentially
// private: the tight conversion, rounded up, at most 1 and at least 2⁻¹⁰²² (0
// only for ρ = 0). It is never below the exact minimum, and above it by less than
// 1e-12 of it for ρ ≤ 50 and δ ≥ 1e-50.
//
// Guarantee: for the neighbours under which ρ was computed. Theorem: Canonne,
// Kamath & Steinke 2020, corollary 13. Argument: docs/proofs/zcdp.md. Arguments
// that are negative or not finite get the bound that always holds, 1.
func ZCDPDelta(rho, epsilon float64) float64 {
	if !isAmount(rho) || !isAmount(epsilon) {
		return 1
	}
	if rho == 0 {
		return 0
	}
	b := leastReached(func(b float64) bool {
		return float64((b+b+1)*rho)-epsilon >= log1p(1/b)
	})
	growth := float64(b * (float64(b*rho) + rho - epsilon))
	ratio := float64(b * log1p(1/b))
	spread := log1p(b)
	size := float64(b*(float64(b*rho)+rho+epsilon)) + ratio + spread
	exponent := growth - ratio - spread + float64(size*roundingSlack)
	delta := Exp(exponent) * (1 + roundingSlack)
	if !(delta < 1) { // also where an extreme argument has overflowed
		return 1
	}
	return math.Max(delta, smallestDelta)
}

// ZCDPEpsilon returns an ε for which every ρ-zCDP mechanism is (ε, δ)-
// differentially private: the tight conversion, rounded up, at least 0. It is
// never below the exact minimum, and above it by less than 1e-12 of
// ρ + 2√(ρ·ln(1/δ)) for δ ≤ ½.
//
// Solved for ε the bound of corollary 13 reads, with L = ln(1/δ),
//
//	ε(b) = bρ + ρ + (L − ln(1+b))/b − ln(1+1/b),
//
// least where b²ρ + ln(1+b) = L.
//
// Guarantee and theorem: as for [ZCDPDelta]. A δ of 0 or less, or a ρ that is
// negative or not finite, gives +Inf; a δ of 1 or more gives 0.
func ZCDPEpsilon(rho, delta float64) float64 {
	switch {
	case !isAmount(rho) || !(delta > 0):
		return math.Inf(1)
	case rho == 0 || delta >= 1:
		return 0
	}
	l := -Log(delta)
	b := leastReached(func(b float64) bool {
		return float64(float64(b*b)*rho)+log1p(b) >= l
	})
	terms := [...]float64{float64(b * rho), rho, l / b, -log1p(b) / b, -log1p(1 / b)}
	var sum, size float64
	for _, term := range terms {
		sum += term
		size += math.Abs(term)
	}
	return math.Max(0, sum+float64(size*roundingSlack))
}

func isAmount(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

// leastReached returns a b > 0 close to where a monotone predicate turns from false to true: within 2⁻³⁰ of it
// relatively, or one end of [2⁻³⁰⁰, 2³⁰⁰] if it turns beyond that.
func leastReached(reached func(b float64) bool) float64 {
	const end = 0x1p300
	below, above := 1/end, end
	for above > below*(1+0x1p-30) {
		middle := float64(math.Sqrt(below) * math.Sqrt(above))
		if reached(middle) {
			above = middle
		} else {
			below = middle
		}
	}
	return above
}

// significantBits is the precision of the ρ that RhoForEpsilonDelta returns.
const significantBits = 40

// RhoForEpsilonDelta returns the largest ρ for which [ZCDPDelta] shows every
// ρ-zCDP mechanism to be (ε, δ)-differentially private, rounded down to a
// dyadic rational of 40 significant bits; it is below the exact optimum by less
// than 1e-11 of it for ε ≤ 50 and 1e-50 ≤ δ ≤ 0.01.
//
// Guarantee: ZCDPDelta(ρ, ε) ≤ δ holds for the ρ returned, with ε and δ rounded
// down to float64 first, so the promise does not rest on the search. For the
// neighbours under which ρ is then spent. Theorem: Canonne, Kamath & Steinke
// 2020, corollary 13. Argument: docs/proofs/zcdp.md.
//
// It returns an error unless ε > 0 and 0 < δ < 1, both within 1e-300 … 1e300.
func RhoForEpsilonDelta(epsilon, delta *big.Rat) (*big.Rat, error) {
	if epsilon == nil || epsilon.Sign() <= 0 || delta == nil || delta.Sign() <= 0 || delta.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, fmt.Errorf("a budget of epsilon and delta needs epsilon above 0 and delta between 0 and 1")
	}
	e, d := roundDown(epsilon), roundDown(delta)
	if e < 1e-300 || e > 1e300 || d < 1e-300 {
		return nil, fmt.Errorf("epsilon and delta must lie within 1e-300 and 1e300")
	}
	// Positive float64s of 40 significant bits are ordered as their bit patterns
	// without the last 13 bits.
	const dropped = 53 - significantBits
	at := func(index uint64) float64 { return math.Float64frombits(index << dropped) }
	fits, exceeds := uint64(0), math.Float64bits(math.MaxFloat64)>>dropped
	for exceeds-fits > 1 {
		middle := fits + (exceeds-fits)/2
		if ZCDPDelta(at(middle), e) <= d {
			fits = middle
		} else {
			exceeds = middle
		}
	}
	if fits == 0 {
		return nil, fmt.Errorf("epsilon %s with delta %s is too small to spend", clipText(FormatRat(epsilon)),
			clipText(FormatRat(delta)))
	}
	return new(big.Rat).SetFloat64(at(fits)), nil
}

// DecimalRho returns the largest decimal of four significant digits that is at most RhoForEpsilonDelta, for people to
// write down: what is that ρ-zCDP is (ε, δ)-differentially private, for the same neighbours. It returns an error as
// [RhoForEpsilonDelta] does.
func DecimalRho(epsilon, delta *big.Rat) (*big.Rat, error) {
	rho, err := RhoForEpsilonDelta(epsilon, delta)
	if err != nil {
		return nil, err
	}
	exact, _ := rho.Float64() // of 40 bits
	return decimalBelow(exact, 4), nil
}

// pureRho returns ρ = ε²/2, exactly.
//
// Guarantee: every ε-differentially private mechanism is ρ-zCDP, for the same
// neighbours. Theorem: Bun & Steinke 2016, proposition 3.3.
func pureRho(epsilon *big.Rat) *big.Rat {
	rho := new(big.Rat).Mul(epsilon, epsilon)
	return rho.Quo(rho, big.NewRat(2, 1))
}

// boundedRangeRho returns ρ = ε²/8, exactly.
//
// Guarantee: every mechanism of bounded range ε, such as the exponential
// mechanism, is ρ-zCDP, for the same neighbours. Theorem: Cesar & Rogers 2021,
// lemma 3.2.
func boundedRangeRho(epsilon *big.Rat) *big.Rat {
	rho := new(big.Rat).Mul(epsilon, epsilon)
	return rho.Quo(rho, big.NewRat(8, 1))
}
