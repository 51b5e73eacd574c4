package contour

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"

	"github.com/dprelease/dprelease/budget"
)

// A law is the law of the privacy loss L of one coordinate of one mechanism, under P, with ∫ e^(−L) dP = 1.
type law interface {
	// anchorLoss returns the loss o relative to which the law is given.
	anchorLoss() *big.Rat
	// latticeSpacing returns the h of the lattice o + hℤ that holds every loss; nil if the losses have a density.
	latticeSpacing() *big.Rat
	// maxLoss returns the largest loss, nil if there is none.
	maxLoss() *big.Rat
	// logMGF returns log(M(z)·e^(−zo)) at z = c+it, up to a multiple of 2πi, for c > −½ and, if there is a lattice,
	// |t| ≤ π/h. (The function has the period 2π/h in t.)
	logMGF(c, t float64) complex128
	// damping returns |M(c+it)/M(c)|², or an upper bound of it, at less cost than logMGF; axis is logMGF(c, 0).
	damping(c, t, axis float64) float64
	// weights returns the probabilities of the losses o − h·(first + i): all of them, or, if there are infinitely many,
	// all but a share below e^(−decay). It returns nil if the losses have a density.
	weights(decay float64) (first int64, p []float64)
}

// noiseLaw is how a kind of noise loses.
type noiseLaw struct {
	// byL1 reports that, of all shifts within the sensitivities, one coordinate of the whole L1 loses most.
	byL1 bool
	// loss returns the law of the loss of noise with a parameter against a shift, and a name that only equal laws
	// share.
	loss func(parameter *big.Rat, shift int64) (law, string)
}

// noiseLaws are the laws of noise by their kinds.
var noiseLaws = map[budget.Kind]noiseLaw{
	budget.DiscreteGaussian: {loss: func(variance *big.Rat, shift int64) (law, string) {
		return newGaussian(variance, shift), fmt.Sprint("gaussian ", variance, shift)
	}},
	budget.DiscreteLaplace: {byL1: true, loss: func(scale *big.Rat, shift int64) (law, string) {
		rate := new(big.Rat).Inv(scale)
		return newLaplace(rate, shift), fmt.Sprint("laplace ", rate, shift)
	}},
}

// gaussian is the loss (s² − 2sX)/2σ² of discrete Gaussian noise X against a
// shift by s (Canonne, Kamath & Steinke 2020).
type gaussian struct {
	variance *big.Rat // σ²
	shift    int64    // s

	sigma2, s, rho float64 // σ², s, s²/2σ²
	logZero        float64 // log Θ(0), by the sum that logMGF uses
}

func newGaussian(variance *big.Rat, shift int64) *gaussian {
	g := &gaussian{variance: variance, shift: shift, sigma2: toFloat(variance), s: float64(shift)}
	g.rho = toFloat(g.anchorLoss())
	if g.isDual() {
		g.logZero = math.Log(real(g.theta(0, 0)))
	} else {
		_, p, _ := unnormalisedGaussian(g.sigma2, 0)
		g.logZero = math.Log(sum(p))
	}
	return g
}

func (g *gaussian) anchorLoss() *big.Rat {
	half := new(big.Rat).Mul(g.latticeSpacing(), new(big.Rat).SetInt64(g.shift))
	return half.Quo(half, big.NewRat(2, 1))
}

func (g *gaussian) latticeSpacing() *big.Rat {
	return new(big.Rat).Quo(new(big.Rat).SetInt64(g.shift), g.variance)
}

func (g *gaussian) maxLoss() *big.Rat { return nil }

// isDual reports whether the sum over frequencies is shorter than the sum over integers.
func (g *gaussian) isDual() bool { return g.sigma2*2*math.Pi >= 1 }

// logMGF is z²ρ + log(Θ(zs)/Θ(0)), with Θ(a) = Σ exp(−(x+a)²/2σ²) over the integers x: summed directly for small σ, and
// by Poisson's formula for larger σ.
func (g *gaussian) logMGF(c, t float64) complex128 {
	if g.isDual() {
		ratio := cmplx.Log(g.theta(c, t))
		return complex((c*c-t*t)*g.rho+real(ratio)-g.logZero, 2*c*t*g.rho+imag(ratio))
	}
	first, p, top := unnormalisedGaussian(g.sigma2, c*g.s)
	var total complex128
	for i, w := range p {
		sin, cos := math.Sincos((first + float64(i)) * t * g.s / g.sigma2)
		total += complex(w*cos, -w*sin)
	}
	total = cmplx.Log(total)
	return complex(c*c*g.rho+top+real(total)-g.logZero, imag(total))
}

// negligibleExponent is an exponent at which terms are negligible compared with 1 in every sum here.
const negligibleExponent = 50

// theta returns Σ exp(−2π²σ²m² + 2πi·m·(c+it)s) over the integers m, which is Θ((c+it)s)/(σ√2π).
func (g *gaussian) theta(c, t float64) complex128 {
	turn := c * g.s
	turn -= math.Round(turn)
	total := complex(1, 0)
	for m := 1.0; ; m++ {
		decay, growth := 2*math.Pi*math.Pi*g.sigma2*m*m, 2*math.Pi*m*t*g.s
		if decay-math.Abs(growth) > negligibleExponent {
			return total
		}
		sin, cos := math.Sincos(2 * math.Pi * m * turn)
		up, down := math.Exp(-decay-growth), math.Exp(-decay+growth)
		total += complex((up+down)*cos, (up-down)*sin)
	}
}

// logEnvelope returns an upper bound of log|M(c+it)/M(c)| for |t| ≤ π/h that decreases in |t|, from all terms of theta
// brought into phase. It is for dual laws only.
func (g *gaussian) logEnvelope(c, t float64) float64 {
	return math.Log(real(g.theta(0, t))/real(g.theta(c, 0))) - t*t*g.rho
}

func (g *gaussian) damping(c, t, _ float64) float64 {
	if !g.isDual() {
		return 1
	}
	return math.Exp(2 * g.logEnvelope(c, t))
}

func (g *gaussian) weights(decay float64) (int64, []float64) {
	// P(|X| > r) ≤ 2·exp(−r²/2σ²): X is sub-Gaussian with σ².
	r := math.Ceil(math.Sqrt(2 * g.sigma2 * (decay + 1)))
	p := make([]float64, int(2*r)+1)
	for i := range p {
		x := float64(i) - r
		p[i] = math.Exp(-x * x / (2 * g.sigma2))
	}
	scale(p, 1/sum(p))
	return -int64(r), p
}

// unnormalisedGaussian lists exp(−(x+a)²/2σ²)/e^top for the integers x from first on where it is not negligible, for
// small σ; e^top is the largest.
func unnormalisedGaussian(sigma2, a float64) (first float64, p []float64, top float64) {
	centre := math.Round(a)
	off := a - centre
	r := math.Ceil(math.Sqrt(2*sigma2*negligibleExponent)) + 1
	for x := -r; x <= r; x++ {
		p = append(p, math.Exp(-x*(x+2*off)/(2*sigma2)))
	}
	return -r - centre, p, -off * off / (2 * sigma2)
}

// laplace is the loss (|X−s| − |X|)/t of discrete Laplace noise X of scale t against a shift by s. With s = 1 it is the
// loss of ε-randomized response, ε = 1/t: ±ε, +ε with probability e^ε/(1+e^ε).
type laplace struct {
	rate  *big.Rat // 1/t
	shift int64    // s

	a, s                      float64 // 1/t, s
	oneMinusAlpha, logOnePlus float64 // 1 − α, log(1 + α)
}

func newLaplace(rate *big.Rat, shift int64) *laplace {
	a := toFloat(rate)
	return &laplace{
		rate: rate, shift: shift, a: a, s: float64(shift),
		oneMinusAlpha: -math.Expm1(-a), logOnePlus: math.Log1p(math.Exp(-a)),
	}
}

func (l *laplace) anchorLoss() *big.Rat { return l.maxLoss() }

func (l *laplace) latticeSpacing() *big.Rat { return new(big.Rat).Mul(l.rate, big.NewRat(2, 1)) }

func (l *laplace) maxLoss() *big.Rat {
	return new(big.Rat).Mul(l.rate, new(big.Rat).SetInt64(l.shift))
}

// logMGF sums the loss s/t of x ≤ 0, the losses (s−2x)/t between, and −s/t of x ≥ s:
// with α = e^(−1/t) and r = e^(−(2z+1)/t),
//
//	M(z)·e^(−zs/t) = (1 + (1−α)(r + … + r^(s−1)) + r^s) / (1+α).
func (l *laplace) logMGF(c, t float64) complex128 {
	total := cmplx.Log(l.scaledMGF(c, t))
	return complex(real(total)-l.logOnePlus, imag(total))
}

// scaledMGF returns M(z)·e^(−zs/t)·(1+α).
func (l *laplace) scaledMGF(c, t float64) complex128 {
	w := complex((2*c+1)*l.a, 2*t*l.a)
	last := oneMinusExp(w * complex(l.s, 0)) // 1 − r^s
	if l.shift == 1 {
		return 2 - last
	}
	between := cmplx.Exp(-w) * oneMinusExp(w*complex(l.s-1, 0)) / oneMinusExp(w)
	return 2 - last + between*complex(l.oneMinusAlpha, 0)
}

func (l *laplace) damping(c, t, axis float64) float64 {
	if l.shift == 1 {
		size := math.Exp(-(2*c + 1) * l.a)
		return 1 - 2*size*(1-math.Cos(2*t*l.a))/((1+size)*(1+size))
	}
	total := l.scaledMGF(c, t)
	return (real(total)*real(total) + imag(total)*imag(total)) * math.Exp(-2*(axis+l.logOnePlus))
}

func (l *laplace) weights(float64) (int64, []float64) {
	p := make([]float64, l.shift+1)
	for x := range p {
		p[x] = math.Exp(-l.a*float64(x)) / (1 + math.Exp(-l.a))
		if 0 < x && x < len(p)-1 {
			p[x] *= l.oneMinusAlpha
		}
	}
	return 0, p
}

// exponential is the loss that dominates every mechanism of bounded range ε, such
// as the exponential mechanism: of density e^(x/2)/(4·sinh(ε/2)) on [−ε, ε].
type exponential struct {
	epsilon *big.Rat

	e float64
}

func newExponential(epsilon *big.Rat) *exponential {
	return &exponential{epsilon: epsilon, e: toFloat(epsilon)}
}

func (x *exponential) anchorLoss() *big.Rat     { return x.epsilon }
func (x *exponential) latticeSpacing() *big.Rat { return nil }
func (x *exponential) maxLoss() *big.Rat        { return x.epsilon }

// logMGF comes from M(z) = sinh((z+½)ε) / ((2z+1)·sinh(ε/2)).
func (x *exponential) logMGF(c, t float64) complex128 {
	w := complex(2*c+1, 2*t)
	ratio := cmplx.Log(oneMinusExp(w*complex(x.e, 0)) / w)
	return complex(real(ratio)-math.Log(-math.Expm1(-x.e)), imag(ratio))
}

// logDecay returns log A for which |M(c+it)·e^(−(c+it)ε)| ≤ A/t.
func (x *exponential) logDecay(c float64) float64 {
	return math.Log1p(math.Exp(-(2*c+1)*x.e)) - math.Log(-2*math.Expm1(-x.e))
}

func (x *exponential) damping(c, t, axis float64) float64 {
	return min(1, math.Exp(2*(x.logDecay(c)-axis))/(t*t))
}

func (x *exponential) weights(float64) (int64, []float64) { return 0, nil }

// normal is the loss of Gaussian noise against a shift by μ standard deviations:
// N(ρ, 2ρ) with ρ = μ²/2.
type normal struct {
	rho *big.Rat

	r float64
}

func newNormal(rho *big.Rat) *normal { return &normal{rho: rho, r: toFloat(rho)} }

func (n *normal) anchorLoss() *big.Rat     { return n.rho }
func (n *normal) latticeSpacing() *big.Rat { return nil }
func (n *normal) maxLoss() *big.Rat        { return nil }

// logMGF comes from M(z) = e^(z(z+1)ρ).
func (n *normal) logMGF(c, t float64) complex128 { return complex((c*c-t*t)*n.r, 2*c*t*n.r) }

func (n *normal) damping(_, t, _ float64) float64 { return math.Exp(-2 * t * t * n.r) }

func (n *normal) weights(float64) (int64, []float64) { return 0, nil }

// oneMinusExp returns 1 − e^(−w) for Re w > 0, also accurate near 0.
func oneMinusExp(w complex128) complex128 {
	size := math.Exp(-real(w))
	sin, cos := math.Sincos(imag(w) / 2)
	return complex(-math.Expm1(-real(w))+2*size*sin*sin, 2*size*sin*cos)
}

func toFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

func sum(p []float64) float64 {
	var s compensated
	for _, x := range p {
		s.add(x)
	}
	return s.value()
}

func scale(p []float64, by float64) {
	for i := range p {
		p[i] *= by
	}
}

// compensated is a sum that keeps what rounding loses (Neumaier 1974).
type compensated struct{ total, dropped float64 }

func (s *compensated) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.dropped += (s.total - t) + x
	} else {
		s.dropped += (x - t) + s.total
	}
	s.total = t
}

func (s *compensated) value() float64 { return s.total + s.dropped }
