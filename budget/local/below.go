package local

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file computes the distribution function of a sum of scores by Fourier sums, which are exact but for what their
// tails hold: docs/proofs/local.md.

// tailLog is −ln of what the tails hold that are left out, twice the probability of one tail: 2 e^−37 < 2e-16.
const tailLog = 37

// bernsteinDistance returns a distance such that a sum of independent Bernoulli variables of the given variance lies at
// least that far from its mean with a probability of at most 2 e^−[tailLog]. Theorem: Bernstein's inequality, P(|S−μ| ≥
// x) ≤ 2 exp(−x²/(2V + 2x/3)).
func bernsteinDistance(variance float64) float64 {
	const third = tailLog / 3.
	return third + math.Sqrt(third*third+float64(2*tailLog*variance))
}

// probabilityAtMost returns P(S ≤ score) if the given number of respondents have a category of A.
func (l law) probabilityAtMost(holders, score int64) float64 {
	mean, variance := l.moments(float64(holders))
	distance := bernsteinDistance(variance)
	first := max(int64(l.reports)*l.least, int64(math.Floor(mean-distance)))
	last := min(int64(l.reports)*l.most, int64(math.Ceil(mean+distance)))
	switch {
	case score < first:
		return 0
	case score >= last:
		return 1
	}
	w := window{first, last - first + 1}
	h := l.drawnHolders(holders)
	sum := float64(0.5 * w.share(score))
	for j := int64(1); 2*j <= w.size; j++ {
		x := float64(j) / float64(w.size)
		sineHalf := sine(x)
		square := float64(sineHalf * sineHalf)
		if float64(variance*square) > tailLog/2. {
			break
		}
		a, b := l.holder.wave(x, sineHalf, cosine(x)), l.other.wave(x, sineHalf, cosine(x))
		term := w.indicator(score, j, sineHalf, h.characteristic(a, b, 2*x))
		if 2*j == w.size {
			term /= 2
		}
		sum += term
	}
	return math.Min(math.Max(2*sum, 0), 1)
}

// window is a range of so many whole numbers that holds nearly all of the law of S. Its probabilities are the Fourier
// sums of the characteristic function at 2πj/size.
type window struct{ first, size int64 }

// share returns the share of the window that lies at or below s.
func (w window) share(s int64) float64 { return float64(s-w.first+1) / float64(w.size) }

// indicator returns the real part of φ/size · Σ e^{−2πijy/size} over the y of the window up to s, which is a geometric
// series: φ/size · e^{−πij(first+s)/size} · sin(πj(s−first+1)/size) / sin(πj/size).
func (w window) indicator(s, j int64, sineHalf float64, phi transform) float64 {
	size := sine(w.halfTurns(j, s-w.first+1)) / float64(sineHalf*float64(w.size))
	turned := phi.factor.times(polar{0, w.halfTurns(j, 2*phi.whole-w.first-s)}).wave().times(phi.sum)
	return float64(size * turned.real)
}

// halfTurns returns the angle π·j·k/size in half turns, j·k/size, less a multiple of 2.
func (w window) halfTurns(j, k int64) float64 {
	period := 2 * w.size
	return float64(j*(k%period)%period) / float64(w.size)
}

// holdersLaw is the law of H, the number of holders among the respondents who answer: H is first + i·stride with a
// probability in proportion to weights[i]. With a stride above 1 it stands for the whole numbers between as well.
type holdersLaw struct {
	first, stride, reports int64
	weights                []float64
}

// drawnHolders returns the law of H. The stride is at most a fifth of its standard deviation.
func (l law) drawnHolders(holders int64) holdersLaw {
	all, n := int64(l.respondents), int64(l.reports)
	mean, variance := l.drawnMoments(float64(holders))
	distance := bernsteinDistance(variance)
	low := max(0, n-(all-holders), int64(math.Floor(mean-distance)))
	high := min(holders, n, int64(math.Ceil(mean+distance)))
	stride := max(1, int64(math.Sqrt(variance)/5))
	h := holdersLaw{low, stride, n, make([]float64, (high-low)/stride+1)}
	chance := l.reports / l.respondents
	expect := [4]float64{float64(float64(holders) * chance), float64(float64(all-holders) * chance),
		float64(holders) * (1 - chance), float64(all-holders) * (1 - chance)}
	var sum float64
	for i := range h.weights {
		in := low + int64(i)*stride
		var log float64
		for cell, count := range [4]int64{in, n - in, holders - in, all - holders - (n - in)} {
			log += logPoisson(float64(count), expect[cell])
		}
		h.weights[i] = budget.Exp(log)
		sum += h.weights[i]
	}
	for i := range h.weights {
		h.weights[i] /= sum
	}
	return h
}

// transform is a characteristic function at one t: e^{it·whole} · factor · sum.
type transform struct {
	whole  int64
	factor polar
	sum    wave
}

// characteristic returns the characteristic function of S at t = turns·π, which is E a^H b^(n−H): a and b are the
// characteristic functions, at t, of one report of a holder and of one of anybody else. It sums a^{first} b^{n−last} Σ
// weight · (a^stride)^i (b^stride)^{I−i}, in which no power overflows.
func (h holdersLaw) characteristic(a, b scoreWave, turns float64) transform {
	steps := int64(len(h.weights) - 1)
	others := h.reports - h.first - steps*h.stride
	phi := transform{h.first*a.whole + others*b.whole,
		a.polar.power(float64(h.first)).times(b.polar.power(float64(others))), wave{1, 0}}
	if steps == 0 {
		return phi
	}
	up, down := a.power(float64(h.stride), turns).wave(), b.power(float64(h.stride), turns).wave()
	sum, power := wave{}, wave{1, 0}
	for i := steps; i >= 0; i-- { // Horner's rule in a^stride / b^stride, times a power of b
		sum = sum.times(up).plus(h.weights[i], power)
		power = power.times(down)
	}
	phi.sum = sum
	return phi
}

// logFactorials holds ln x! for small x.
var logFactorials = func() (logs [16]float64) {
	product := 1.0
	for x := range logs {
		product *= math.Max(float64(x), 1)
		logs[x] = budget.Log(product)
	}
	return logs
}()

// logPoisson returns ln(M^x e^−M / x!). For large x it is accurate relatively to the probability: x ln(x/M) + M − x is
// computed without cancellation, and the rest is Stirling's series, of which the first term left out is below 1e-16.
// Source: Loader 2000, Fast and accurate computation of binomial probabilities.
func logPoisson(x, m float64) float64 {
	if x < float64(len(logFactorials)) {
		if x == 0 {
			return -m
		}
		return float64(x*budget.Log(m)) - m - logFactorials[int(x)]
	}
	square := float64(x * x)
	series := 1. / 1188
	for _, c := range [...]float64{-1. / 1680, 1. / 1260, -1. / 360, 1. / 12} {
		series = series/square + c
	}
	return -relativeEntropy(x, m) - series/x - float64(budget.Log(2*math.Pi*x)/2)
}

// relativeEntropy returns x ln(x/M) + M − x for positive numbers, without cancellation: with v = (x−M)/(x+M) it is
// (x−M)v + 2x Σ v^(2j+1)/(2j+1).
func relativeEntropy(x, m float64) float64 {
	difference := x - m
	if math.Abs(difference) >= 0.1*(x+m) {
		return float64(x*budget.Log(x/m)) - difference
	}
	v := difference / (x + m)
	sum, power, square := float64(difference*v), float64(2*x*v), float64(v*v)
	for k := 3.0; ; k += 2 {
		power = float64(power * square)
		next := sum + power/k
		if next == sum {
			return sum
		}
		sum = next
	}
}
