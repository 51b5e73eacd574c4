package contour

import (
	"maps"
	"math"
	"math/big"
	"slices"
)

// A group is count independent losses of one law. They are the losses of the mechanisms up to factors e^(±slack) in
// probabilities.
type group struct {
	law   law
	count int64
	slack float64
}

// A composition is a sum of independent losses.
type composition struct {
	groups  []group
	anchor  *big.Rat // Σ count·anchor
	maxLoss *big.Rat // largest loss, nil if there is none
	spacing *big.Rat // of the lattice anchor + hℤ that holds every loss, or nil
	density int64    // how many losses have a density
	slack   float64  // Σ slack
}

func newComposition(groups map[string]*group) *composition {
	p := &composition{anchor: new(big.Rat), maxLoss: new(big.Rat), spacing: new(big.Rat)}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := *groups[name]
		if g.count == 0 {
			continue
		}
		p.groups = append(p.groups, g)
		p.slack += g.slack
		count := new(big.Rat).SetInt64(g.count)
		p.anchor.Add(p.anchor, new(big.Rat).Mul(count, g.law.anchorLoss()))
		if most := g.law.maxLoss(); most == nil || p.maxLoss == nil {
			p.maxLoss = nil
		} else {
			p.maxLoss.Add(p.maxLoss, new(big.Rat).Mul(most, count))
		}
		if spacing := g.law.latticeSpacing(); spacing == nil {
			p.density += g.count
			p.spacing = nil
		} else if p.spacing != nil {
			p.spacing = commonDivisor(p.spacing, spacing)
		}
	}
	return p
}

// commonDivisor returns the largest rational of which both are integer multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	left := new(big.Int).Mul(a.Num(), b.Denom())
	right := new(big.Int).Mul(b.Num(), a.Denom())
	divisor := new(big.Int).GCD(nil, nil, left, right)
	return new(big.Rat).SetFrac(divisor, new(big.Int).Mul(a.Denom(), b.Denom()))
}

// An integrand is the computation of δ(ε) of a composition at one ε.
type integrand struct {
	*composition
	epsilon    *big.Rat
	excess     float64 // anchor − ε
	c          float64 // where the contour crosses the axis, above −½ and not 0
	logMoment  float64 // log of E[e^(c(L−ε))]
	roughDelta float64 // rough δ
}

func (p *composition) newIntegrand(epsilon float64) *integrand {
	j := &integrand{composition: p, epsilon: new(big.Rat).SetFloat64(epsilon)}
	j.excess = toFloat(new(big.Rat).Sub(p.anchor, j.epsilon))
	j.c = j.saddlePoint()
	j.logMoment = j.logMomentAt(j.c)
	// Laplace's method in u = log c.
	const du = 0x1p-8
	bend := (j.logHeight(j.c*math.Exp(du)) + j.logHeight(j.c*math.Exp(-du)) - 2*j.logHeight(j.c)) / (du * du)
	j.roughDelta = math.Exp(j.logHeight(j.c)) * j.c / math.Sqrt(2*math.Pi*max(bend, 1))
	return j
}

// logMomentAt returns log E[e^(c(L−ε))], for c > −½.
func (j *integrand) logMomentAt(c float64) float64 {
	total := c * j.excess
	for _, g := range j.groups {
		total += float64(g.count) * real(g.law.logMGF(c, 0))
	}
	return total
}

// logHeight returns the logarithm of the integrand's size on the axis. It is convex in c on either side of 0.
func (j *integrand) logHeight(c float64) float64 {
	return j.logMomentAt(c) - math.Log(math.Abs(c)) - math.Log1p(c)
}

// saddlePoint returns roughly where the integrand is least on the axis: any c > 0 gives the integral, the saddle point
// gives it without cancellation.
func (j *integrand) saddlePoint() float64 {
	return math.Exp(minimiser(-80, 120, 1e-3, func(u float64) float64 { return j.logHeight(math.Exp(u)) }))
}

// leftmostContour is the smallest c of a contour on the left; laws are not defined from −½ on.
const leftmostContour = -0.4375

// leftOfZero returns the integrand with a contour to the left of 0 if the saddle point there is farther from 0. This is
// the case where δ is near 1; the integral then gives 1−δ.
func (j *integrand) leftOfZero() *integrand {
	c := minimiser(leftmostContour, 0, 1e-3, j.logHeight)
	if -c <= j.c {
		return j
	}
	left := *j
	left.c, left.logMoment = c, j.logMomentAt(c)
	return &left
}

// residueAtZero returns what the pole at 0 adds to the integral: P(all).
func (j *integrand) residueAtZero() float64 {
	if j.c < 0 {
		return 1
	}
	return 0
}

// minimiser returns the minimum point of a function that decreases and then increases, to within a tolerance, by
// golden-section search.
func minimiser(a, b, tolerance float64, f func(float64) float64) float64 {
	const golden = 0.6180339887498949
	x, y := b-golden*(b-a), a+golden*(b-a)
	fx, fy := f(x), f(y)
	for b-a > tolerance {
		if fx <= fy {
			b, y, fy = y, x, fx
			x = b - golden*(b-a)
			fx = f(x)
		} else {
			a, x, fx = x, y, fy
			y = a + golden*(b-a)
			fy = f(y)
		}
	}
	return (a + b) / 2
}

// logHockeyStick returns the logarithm of the least κ for which (1−e^(−y))₊ ≤ κ·e^(cy).
func logHockeyStick(c float64) float64 { return c*math.Log(c) - (1+c)*math.Log1p(c) }

// aliasBound bounds what the trapezoid rule of step 2π/d adds to δ(ε): Σ_{m≠0} e^(cmd)·δ(ε+md), by δ ≤ 1 to the left
// and by Chernoff's bound to the right; for c < 0 it bounds the error of 1−δ, by 1−δ ≤ e^ε to the left and 1−δ ≤ 1 to
// the right.
func (j *integrand) aliasBound(d float64) float64 {
	if j.c < 0 {
		return math.Exp(toFloat(j.epsilon))/math.Expm1((1+j.c)*d) + 1/math.Expm1(-j.c*d)
	}
	bound := 1 / math.Expm1(j.c*d)
	if j.maxLoss != nil && toFloat(j.maxLoss) <= toFloat(j.epsilon)+d {
		return bound
	}
	right := math.Inf(1)
	for q := 1.0625; q < 64; q *= 1.25 {
		c := j.c * q
		first := j.logMomentAt(c) + logHockeyStick(c) - (c-j.c)*d
		right = min(right, math.Exp(first)/-math.Expm1(-(c-j.c)*d))
	}
	return bound + right
}

// aliasPeriod returns a d at which aliases stay below a bound.
func (j *integrand) aliasPeriod(bound float64) float64 {
	d := math.Log1p(2/bound) / math.Abs(j.c)
	for j.aliasBound(d) > bound {
		d *= 1.25
	}
	return d
}
