package budget

import "math"

// This file holds the only Exp, Log, log1p and expm1 of the program. The functions of package math are assembly on some
// architectures and may be compiled to fused multiply-adds on others, so their last bit depends on the machine, which
// must not be true of a plan or a published table. Only + − × ÷ and bit operations occur here, and every product that
// is added to something is written float64(x*y), which the language forbids to fuse.
//
// Each result is within 1 ulp of the exact value, 1.5 for expm1; subnormal
// results of Exp are within 1 ulp of their coarser spacing.

const (
	// ln2High has 21 trailing zero bits, so that k×ln2High is exact for every
	// exponent k; ln2High + ln2Low is ln 2 to 107 bits.
	ln2High = 0x1.62e42feep-01
	ln2Low  = 0x1.a39ef35793c76p-33
	log2E   = 0x1.71547652b82fep+00

	// maxExpArgument is the largest x with a finite exp(x); below
	// minExpArgument even the smallest subnormal is too large.
	maxExpArgument = 0x1.62e42fefa39efp+09
	minExpArgument = -0x1.74910d52d3052p+09
)

// expTerms holds 1/13!, …, 1/2!: the Taylor coefficients of (eʳ−1−r)/r². For
// |r| ≤ ln(2)/2 the first term left out is below 5e-18 of the sum.
var expTerms = [...]float64{
	1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
	1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2,
}

// logTerms holds 2/23, 2/21, …, 2/3: the coefficients of the series of
// (2·artanh(s) − 2s)/s in powers of s². For |s| ≤ 0.1716 the first term left
// out is below 2e-18 of the sum.
var logTerms = [...]float64{
	2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7, 2. / 5, 2. / 3,
}

// Exp returns eˣ within 1 ulp, the same bits on every architecture. Exp(NaN) is
// NaN; results out of range are 0 or +Inf.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > maxExpArgument:
		return math.Inf(1)
	case x < minExpArgument:
		return 0
	}
	k, r, low := reduceByLn2(x)
	return scaleByPowerOfTwo(1+(r+(float64(r*r*expSeries(r))+low)), k)
}

// expm1 returns eˣ − 1 within 1.5 ulp, accurate also near 0, the same bits on
// every architecture. expm1(NaN) is NaN.
func expm1(x float64) float64 {
	switch {
	case x != x || x == 0:
		return x
	case x > maxExpArgument:
		return math.Inf(1)
	case x < -40:
		return -1
	case x > 40:
		return Exp(x) // 1 is far below half an ulp
	}
	k, r, low := reduceByLn2(x)
	tail := float64(r*r*expSeries(r)) + low
	if k == 0 {
		return r + tail
	}
	// eˣ − 1 = 2ᵏ((1 − 2⁻ᵏ) + (eʳ − 1)); 1 − 2⁻ᵏ is exact for |k| ≤ 53.
	return scaleByPowerOfTwo((1-powerOfTwo(-k))+(r+tail), k)
}

// Log returns ln x within 1 ulp, the same bits on every architecture. Log(0) is
// −Inf, and Log of a negative number or NaN is NaN.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, k := splitNearOne(x)
	return logOfParts(m-1, 0, k)
}

// log1p returns ln(1+x) within 1 ulp, accurate also near 0, the same bits on
// every architecture. log1p(−1) is −Inf, and below −1 it is NaN.
func log1p(x float64) float64 {
	switch {
	case x != x || x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case x > math.MaxFloat64 || x == 0:
		return x
	case -0.25 < x && x < 0.4:
		return logOfParts(x, 0, 0)
	}
	sum := 1 + x
	lost := x - (sum - 1) // what rounding took from 1+x; exact, as |x| > ¼
	if x > 1 {
		lost = 1 - (sum - x)
	}
	m, k := splitNearOne(sum)
	return logOfParts(m-1, lost/sum, k)
}

// logOfParts returns k·ln 2 + ln(1+f) + low for f in [√½−1, √2−1] and a small
// low. With s = f/(2+f), ln(1+f) = 2·artanh s = f − (f²/2 − s·(f²/2 + R)),
// where s·R is the series beyond its first term; f is exact, so the rounding
// errors are all in the small parts.
func logOfParts(f, low float64, k int) float64 {
	if f == 0 {
		return float64(float64(k)*ln2High) + (float64(float64(k)*ln2Low) + low)
	}
	s := f / (2 + f)
	z := s * s
	halfSquare := float64(0.5 * f * f)
	series := float64(s * (halfSquare + float64(z*logSeries(z))))
	small := halfSquare - (series + (float64(float64(k)*ln2Low) + low))
	return float64(float64(k)*ln2High) - (small - f)
}

// reduceByLn2 writes x = k·ln 2 + r + low with |r| ≤ ln(2)/2 (a hair more by
// rounding) and low the part of r that float64 lost.
func reduceByLn2(x float64) (k int, r, low float64) {
	half := 0.5
	if x < 0 {
		half = -0.5
	}
	k = int(float64(x*log2E) + half)
	high := x - float64(float64(k)*ln2High)
	product := float64(float64(k) * ln2Low)
	r = high - product
	return k, r, (high - r) - product
}

// expSeries evaluates the polynomial of expTerms, highest power first. It is written out because most of the time is
// spent here.
func expSeries(r float64) float64 {
	sum := float64(expTerms[0]*r) + expTerms[1]
	sum = float64(sum*r) + expTerms[2]
	sum = float64(sum*r) + expTerms[3]
	sum = float64(sum*r) + expTerms[4]
	sum = float64(sum*r) + expTerms[5]
	sum = float64(sum*r) + expTerms[6]
	sum = float64(sum*r) + expTerms[7]
	sum = float64(sum*r) + expTerms[8]
	sum = float64(sum*r) + expTerms[9]
	sum = float64(sum*r) + expTerms[10]
	sum = float64(sum*r) + expTerms[11]
	return sum
}

// logSeries evaluates the polynomial of logTerms, highest power first.
func logSeries(z float64) float64 {
	sum := float64(logTerms[0]*z) + logTerms[1]
	sum = float64(sum*z) + logTerms[2]
	sum = float64(sum*z) + logTerms[3]
	sum = float64(sum*z) + logTerms[4]
	sum = float64(sum*z) + logTerms[5]
	sum = float64(sum*z) + logTerms[6]
	sum = float64(sum*z) + logTerms[7]
	sum = float64(sum*z) + logTerms[8]
	sum = float64(sum*z) + logTerms[9]
	sum = float64(sum*z) + logTerms[10]
	return sum
}

// splitNearOne writes a positive finite x as m·2ᵏ with m in [√½, √2).
func splitNearOne(x float64) (m float64, k int) {
	const smallestNormal = 0x1p-1022
	if x < smallestNormal {
		x *= 0x1p54
		k = -54
	}
	bits := math.Float64bits(x)
	k += int(bits>>52) - 1023
	m = math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if m >= math.Sqrt2 {
		return float64(m * 0.5), k + 1
	}
	return m, k
}

// powerOfTwo returns 2ᵏ for −1022 ≤ k ≤ 1023.
func powerOfTwo(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// scaleByPowerOfTwo returns x·2ᵏ for x near 1, rounding once where the result
// is subnormal.
func scaleByPowerOfTwo(x float64, k int) float64 {
	switch {
	case k > 1023:
		return float64(x*powerOfTwo(k-1)) * 2
	case k < -1021:
		return float64(x * powerOfTwo(k+54) * 0x1p-54)
	}
	return float64(x * powerOfTwo(k))
}

// CubeRoot returns ∛x for x > 0.
func CubeRoot(x float64) float64 { return Exp(Log(x) / 3) }
