package budget

import (
	"fmt"
	"math"
	"math/big"
)

// This file bounds the ρ of Skellam noise: the least ρ with a Rényi divergence of order α of at most αρ, for every α
// above 1. For a shift by d, with θ = α−1 and L the loss under P,
//
//	ρ(d) = sup K(θ)/(θ(θ+1)) over θ > 0,   K(θ) = ln E e^{θL}.
//
// For d = 1 and μ from ½ on it is above d²/2μ, the ρ of Gaussian noise of that variance: by 5 % for μ = 1, and by less
// for larger μ. In all cases that were computed with d ≥ 2 it is below.

const (
	// renyiStep is the distance of orders in units of √(θ(θ+1)). Between two of them K is at most its chord, which is
	// above a bound of the form ρθ(θ+1) by at most renyiStep²/4 of it.
	renyiStep = 0x1p-5
	// orderSlack is the share by which ρ is taken to be above its limit for small orders.
	orderSlack = 0x1p-12
	// rhoSlack is more than the relative rounding error of a ρ.
	rhoSlack = 0x1p-30
)

// rememberedRho holds the ρ of Skellam noise, by variance and shift.
var rememberedRho = memory[string, float64]{capacity: maxRemembered, size: func(float64) int { return 1 }}

// skellamRho returns ρ of noise of a variance, rounded up: the largest over the worst shifts of a mechanism of the sum
// over the coordinates.
//
// Guarantee: for the neighbours of the sensitivities and shifts. Theorem: Rényi divergences of independent coordinates
// add (Bun & Steinke 2016, lemma 2.2); a pair that dominates has the larger divergences, as the other can be made from
// it (Blackwell 1953) and divergences fall (van Erven & Harremoës 2014, theorem 9). Argument: docs/proofs/skellam.md.
func skellamRho(variance *big.Rat, shifts [][]int64) *big.Rat {
	var largest float64
	for _, shift := range shifts {
		var sum, each float64
		for i, d := range shift {
			if i == 0 || d != shift[i-1] {
				each = shiftRho(variance, d)
			}
			sum += each
		}
		largest = max(largest, float64(sum*(1+float64(float64(len(shift))*0x1p-50))))
	}
	return new(big.Rat).SetFloat64(largest)
}

// shiftRho returns an upper bound of ρ(d) for Skellam noise of a variance, within 1e-3 of it.
//
// Guarantee: adding the noise to an answer that changes by d, or by less, is ρ(d)-zCDP. Neighbours: those that change
// it so, in either order. Theorem: Bun & Steinke 2016, definition 1.1. Argument: docs/proofs/skellam.md.
func shiftRho(variance *big.Rat, d int64) float64 {
	return rememberedRho.getOrCompute(fmt.Sprint(variance, d), func() float64 {
		mu, shift := nearest(variance), float64(d)
		size := float64(shift * arsinh((math.Sqrt(mu)+float64((shift+1)/2))/mu)) // of a loss, about
		first := 0x1p-11 / size
		losses, left := listRenyiLosses(variance, d, first+1)
		bound := float64(losses.nearOne(first) * (1 + orderSlack))
		highest := orderBeyond(mu, shift, float64(bound*2*mu)/float64(shift*shift))
		if highest > first {
			losses, left = listRenyiLosses(variance, d, highest+1)
		}
		for theta := first; theta <= highest; {
			bound = max(bound, float64(losses.ratio(theta)*(1+renyiStep*renyiStep/4)))
			if theta == highest {
				break
			}
			theta = min(highest, theta+float64(renyiStep*math.Sqrt(float64(theta*(theta+1)))))
		}
		return float64((bound + left) * (1 + rhoSlack))
	})
}

// orderBeyond returns a θ from which on K(θ) is at most λ·θ(θ+1)d²/2μ. With θd = sμ·cosh s and c = cosh s it is any s
// with λc ≥ 1 and
//
//	g = (c−1)² + (λ−1)c² + s²/4 ≥ 0,   (s/2)·(μsg + d(λc−1) − 1) ≥ exp(−μs²/2 − s(d+1)/2).
//
// Argument: docs/proofs/skellam.md.
func orderBeyond(mu, d, lambda float64) float64 {
	for s := 0x1p-40; ; s *= 1 + 0x1p-4 {
		c := (Exp(s) + Exp(-s)) / 2
		rise := float64(expm1(s) * -expm1(-s) / 2) // c − 1
		g := float64(rise*rise) + float64((lambda-1)*c*c) + float64(s*s/4)
		over := float64(mu*s*g) + float64(d*(float64(lambda*c)-1)) - 1
		rest := Exp(-float64(mu*s*s/2) - float64(s*(d+1)/2))
		if float64(lambda*c) >= 1 && g >= 0 && float64(s*over/2) >= float64(rest*(1+0x1p-20))+0x1p-30 {
			return float64(s*mu*c) / d
		}
	}
}

// renyiLosses lists, of the pair (X, X−d), the losses L = ln P(x)/P(x+d) that are above 0, and ln P(x).
type renyiLosses struct{ loss, logMass []float64 }

// listRenyiLosses lists the losses up to an x beyond which E e^{θL} has less than left = e^−100.
func listRenyiLosses(variance *big.Rat, d int64, theta float64) (all renyiLosses, left float64) {
	mu, shift := nearest(variance), float64(d)
	last := skellamReach(mu, 100)
	// Beyond last, L is at most its tangent at the tilt t = arsinh((last+1)/μ).
	beyond := func(last int) float64 {
		n := float64(last + 1)
		z := n / mu
		t, cosh := arsinh(z), 1+coshMinusOne(z)
		s := float64(theta*shift) / float64(mu*cosh)
		if s > t {
			return math.Inf(1)
		}
		return float64(theta*shift*(t-z/cosh)) + float64(s*(shift+1)/2) + float64(mu*(cosh-1)) - float64((t-s)*n)
	}
	for !(beyond(last) <= -101) {
		last += last/8 + 1
	}
	weights := skellamWeights(variance, last+int(d))
	whole := newBessel()
	for k := len(weights) - 1; k > 0; k-- {
		whole.Add(whole, weights[k])
	}
	whole.Add(whole, whole)
	logWhole := logOf(whole.Add(whole, weights[0]))
	for x := -int((d - 1) / 2); x <= last; x++ { // L > 0 for x > −d/2
		here, there := weights[max(x, -x)], weights[x+int(d)]
		all.loss = append(all.loss, logOf(newBessel().Quo(here, there)))
		all.logMass = append(all.logMass, logOf(here)-logWhole)
	}
	return all, Exp(-100)
}

// ratio returns K(θ)/(θ(θ+1)) of the losses that are listed. As L is −L at the x that mirrors another, and P there
// P·e^{−L},
//
//	E e^{θL} − 1 = Σ P·(e^{θL} − 1)(1 − e^{−(θ+1)L}) over L > 0.
func (l renyiLosses) ratio(theta float64) float64 {
	var top, sum float64 // terms are divided by e^top, so that none overflows
	for i, loss := range l.loss {
		top = max(top, l.logMass[i]+float64(theta*loss))
	}
	for i, loss := range l.loss {
		power := float64(theta * loss)
		sum += float64(Exp(l.logMass[i]+power-top) * expm1(-power) * expm1(-power-loss))
	}
	if top == 0 {
		return log1p(sum) / float64(theta*(theta+1))
	}
	return (top + Log(sum+Exp(-top))) / float64(theta*(theta+1))
}

// nearOne bounds K(θ)/(θ(θ+1)) for θ up to a given one: in K ≤ E e^{θL} − 1, (e^{θL} − 1)/θ rises with θ and (1 −
// e^{−(θ+1)L})/(θ+1) falls.
func (l renyiLosses) nearOne(theta float64) float64 {
	var sum float64
	for i, loss := range l.loss {
		power := float64(theta * loss)
		sum += float64(Exp(l.logMass[i]+power) * expm1(-power) * expm1(-loss))
	}
	return sum / theta
}
