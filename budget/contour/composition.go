package contour

import (
	"maps"
	"math"
	"math/big"
	"slices"
)

// A group is count independent losses of one law, which are those of the
// mechanisms but for factors e^(±slack) in probabilities.
type group struct {
	law   law
	count int64
	slack float64
}

// A composition is a sum of independent losses.
type composition struct {
	groups  []group
	anchor  *big.Rat // Σ count·anchor
	most    *big.Rat // greatest loss, nil where there is none
	spacing *big.Rat // of the lattice anchor + hℤ that holds every loss, or nil
	density int64    // how many losses have a density
	slack   float64  // Σ slack
}

func newComposition(groups map[string]*group) *composition {
	p := &composition{anchor: new(big.Rat), most: new(big.Rat), spacing: new(big.Rat)}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := *groups[name]
		if g.count == 0 {
			continue
		}
		p.groups = append(p.groups, g)
		p.slack += g.slack
		count := new(big.Rat).SetInt64(g.count)
		p.anchor.Add(p.anchor, new(big.Rat).Mul(count, g.law.anchor()))
		if most := g.law.most(); most == nil || p.most == nil {
			p.most = nil
		} else {
			p.most.Add(p.most, new(big.Rat).Mul(most, count))
		}
		if spacing := g.law.spacing(); spacing == nil {
			p.density += g.count
			p.spacing = nil
		} else if p.spacing != nil {
			p.spacing = commonDivisor(p.spacing, spacing)
		}
	}
	return p
}

// commonDivisor is the greatest rational of which both are integer multiples.
func commonDivisor(a, b *big.Rat) *big.Rat {
	left := new(big.Int).Mul(a.Num(), b.Denom())
	right := new(big.Int).Mul(b.Num(), a.Denom())
	divisor := new(big.Int).GCD(nil, nil, left, right)
	return new(big.Rat).SetFrac(divisor, new(big.Int).Mul(a.Denom(), b.Denom()))
}

// A judgement is the work on δ(ε) of a composition at one ε.
type judgement struct {
	*composition
	epsilon *big.Rat
	excess  float64 // anchor − ε
	c       float64 // where the contour crosses the axis, above −½ and not 0
	base    float64 // log of E[e^(c(L−ε))]
	expects float64 // rough δ
}

func (p *composition) judge(epsilon float64) *judgement {
	j := &judgement{composition: p, epsilon: new(big.Rat).SetFloat64(epsilon)}
	j.excess = float(new(big.Rat).Sub(p.anchor, j.epsilon))
	j.c = j.saddle()
	j.base = j.moment(j.c)
	// Laplace's method in u = log c.
	const du = 0x1p-8
	bend := (j.height(j.c*math.Exp(du)) + j.height(j.c*math.Exp(-du)) - 2*j.height(j.c)) / (du * du)
	j.expects = math.Exp(j.height(j.c)) * j.c / math.Sqrt(2*math.Pi*max(bend, 1))
	return j
}

// moment is log E[e^(c(L−ε))], for c > −½.
func (j *judgement) moment(c float64) float64 {
	total := c * j.excess
	for _, g := range j.groups {
		total += float64(g.count) * real(g.law.log(c, 0))
	}
	return total
}

// height is the logarithm of the integrand's size on the axis. It is convex in c
// on either side of 0.
func (j *judgement) height(c float64) float64 {
	return j.moment(c) - math.Log(math.Abs(c)) - math.Log1p(c)
}

// saddle is where the integrand is least on the axis, roughly: any c > 0 gives
// the integral, the saddle gives it without cancellation.
func (j *judgement) saddle() float64 {
	return math.Exp(least(-80, 120, 1e-3, func(u float64) float64 { return j.height(math.Exp(u)) }))
}

// leftmost is how near a contour on the left comes to −½, beyond which laws are
// not told.
const leftmost = -0.4375

// leftward is the judgement with a contour to the left of 0, where that is the
// farther saddle: where δ is near 1, and 1−δ is what the integral gives.
func (j *judgement) leftward() *judgement {
	c := least(leftmost, 0, 1e-3, j.height)
	if -c <= j.c {
		return j
	}
	left := *j
	left.c, left.base = c, j.moment(c)
	return &left
}

// residue is what the pole at 0 adds to the integral: P(all).
func (j *judgement) residue() float64 {
	if j.c < 0 {
		return 1
	}
	return 0
}

// least is where a function that falls and then rises is least, to within a
// tolerance: by the golden section.
func least(a, b, tolerance float64, f func(float64) float64) float64 {
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

// hockey is the logarithm of the least κ for which (1−e^(−y))₊ ≤ κ·e^(cy).
func hockey(c float64) float64 { return c*math.Log(c) - (1+c)*math.Log1p(c) }

// aliases bounds what the trapezoid rule of step 2π/d adds to δ(ε):
// Σ_{m≠0} e^(cmd)·δ(ε+md), by δ ≤ 1 to the left and by Chernoff's bound to the
// right; for c < 0 that of 1−δ, by 1−δ ≤ e^ε to the left and 1−δ ≤ 1 to the right.
func (j *judgement) aliases(d float64) float64 {
	if j.c < 0 {
		return math.Exp(float(j.epsilon))/math.Expm1((1+j.c)*d) + 1/math.Expm1(-j.c*d)
	}
	bound := 1 / math.Expm1(j.c*d)
	if j.most != nil && float(j.most) <= float(j.epsilon)+d {
		return bound
	}
	right := math.Inf(1)
	for q := 1.0625; q < 64; q *= 1.25 {
		c := j.c * q
		first := j.moment(c) + hockey(c) - (c-j.c)*d
		right = min(right, math.Exp(first)/-math.Expm1(-(c-j.c)*d))
	}
	return bound + right
}

// period is a d at which aliases stay below a bound.
func (j *judgement) period(bound float64) float64 {
	d := math.Log1p(2/bound) / math.Abs(j.c)
	for j.aliases(d) > bound {
		d *= 1.25
	}
	return d
}
