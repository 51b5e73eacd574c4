package optimise

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the design of tables of the largest cells: choices, and counts of the chosen cells.

// choiceMechanism returns the kind of mechanism for choices that goes with a kind of noise. In a pure budget that is
// permute-and-flip, whose shortfall is no larger than that of the exponential mechanism with the same ε. Elsewhere it
// is the exponential mechanism, whose shortfall is hardly larger for a quarter of the ρ.
func choiceMechanism(noise budget.Kind) budget.Kind {
	if noise.Pure() {
		return budget.PermuteAndFlip
	}
	return budget.ExponentialMechanism
}

// designChosen returns the design of a top table. The parts of the choices and of the noise minimise the sum of two
// squares: the shortfall that has the confidence, in standard errors of that confidence, and the standard error of
// the counts.
//
// For an amount of 1 on each separately they are A and B. As parts f and 1−f of a ρ they are A/√f and B/√(1−f), and
// A²/f + B²/(1−f) is least, (A+B)², for f = A/(A+B); as parts of an ε they are A/f and B/(1−f), and the least is
// (A^⅔+B^⅔)³ for A^⅔/(A^⅔+B^⅔) (Lagrange).
func (g *Group) designChosen(r *spec.Release, noise budget.Kind) (Design, error) {
	t := g.Tables[0]
	d := Design{Kind: strategy.Direct, Noise: noise, parts: []float64{1}}
	p := g.StandaloneMeasurement(r, t, noise)
	c, err := t.Choices(r)
	if err != nil {
		return d, err
	}
	k := float64(c.Of)
	one := budget.Mechanism{Kind: choiceMechanism(noise), Parameter: big.NewRat(1, 1)}
	const fine = int64(1) << 20 // so that the shortfall, in parts of it, is no small integer
	shortfall, _ := one.Shortfall(t.Cells, new(big.Int).Mul(c.ScoreSensitivity(), big.NewInt(fine)),
		(1-counted.Confidence)/k)
	z := budget.NormalQuantile((1 - counted.Confidence) / 2)
	a := float64(shortfall) / float64(float64(fine)*z) // for a choice of ε = 1
	b := math.Sqrt(p.variance(1))
	var part float64
	if noise.Pure() {
		a *= k // each choice has one k-th of ε
		x, y := budget.CubeRoot(float64(a*a)), budget.CubeRoot(float64(b*b))
		part = x / (x + y)
	} else {
		a = float64(a * math.Sqrt(k/8)) // ε = √(8ρ/k)
		part = a / (a + b)
	}
	steps := min(max(math.Floor(float64(part*choiceParts)+0.5), 1), choiceParts-1)
	p.Choosing, p.Selection = big.NewRat(int64(steps), choiceParts), c
	d.Measurements = []PlannedMeasurement{p}
	part = float64(steps / choiceParts)
	rest := 1 - part
	if noise.Pure() { // errors fall as the square of an ε
		part, rest = float64(part*part), float64(rest*rest)
	}
	counts := float64(b*b) / rest
	d.Spread = float64(k * counts)
	if d.Error = float64(t.Weight * (float64(a*a)/part + counts)); g.Minimise != spec.LeastLargest {
		d.Error *= k
	}
	return d, nil
}

// choiceParts is the denominator of the share of choices.
const choiceParts = 64

// spendOnChoices gives a measurement the choices that a part of its cost buys, of an ε or of a ρ, and the noise that
// the rest buys.
//
// Guarantee: all choices together cost at most their part: ε of k choices adds up, and so does ρ, of which each has
// ε²/8. Neighbours: those of the sensitivity. Theorem: as for [selection.Top.Steps]; Cesar & Rogers 2021, lemma 3.2.
// Argument: docs/proofs/topk.md.
func (p PlannedMeasurement) spendOnChoices(m *plan.Measurement, cost *big.Rat) error {
	part := new(big.Rat).Mul(cost, p.Choosing)
	c := p.Selection.(selection.Top)
	each := new(big.Rat).Quo(part, big.NewRat(c.Of, 1))
	c.Select.Kind = choiceMechanism(p.Noise)
	if p.Noise.Pure() {
		c.Select.Parameter = floorToBits(each, adaptive.ChoiceBits)
	} else {
		c.Select.Parameter = budget.RootBelow(each.Mul(each, big.NewRat(8, 1)), adaptive.ChoiceBits)
	}
	if c.Select.Parameter.Sign() == 0 {
		return fmt.Errorf("a choice among its cells gets too little to tell them apart at all: choose fewer cells, " +
			"or spend more budget here")
	}
	m.Selection = c
	return p.setNoise(m, new(big.Rat).Sub(cost, part))
}

// floorToBits returns the largest multiple of 2^−bits that is at most x ≥ 0.
func floorToBits(x *big.Rat, bits uint) *big.Rat {
	scaled := new(big.Int).Lsh(x.Num(), bits)
	return new(big.Rat).SetFrac(scaled.Quo(scaled, x.Denom()), new(big.Int).Lsh(big.NewInt(1), bits))
}
