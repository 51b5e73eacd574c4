package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// walker is a [coins] that takes one path through all decisions of a sampler and
// notes what it passed by. Running a sampler on every path of weight above a
// threshold gives, without any drawing, its probabilities: each outcome has at
// least the mass found, and all of them together miss only what was left out.
type walker struct {
	script  []int // choices to take first
	path    []int
	weight  float64
	least   float64 // alternatives below this weight are not taken up
	pending *[]branch
	left    *float64
}

type branch struct {
	script []int
	weight float64
}

// choose takes the scripted choice, or the first; the other choices of a new
// decision become pending.
func (w *walker) choose(weights ...float64) int {
	depth := len(w.path)
	if depth < len(w.script) {
		w.path = append(w.path, w.script[depth]) // the branch has its weight
		return w.script[depth]
	}
	for choice, probability := range weights[1:] {
		weight := w.weight * probability
		if weight < w.least {
			*w.left += weight
			continue
		}
		script := append(append([]int(nil), w.path...), choice+1)
		*w.pending = append(*w.pending, branch{script, weight})
	}
	w.weight *= weights[0]
	w.path = append(w.path, 0)
	return 0
}

func (w *walker) Bool() bool { return w.choose(0.5, 0.5) == 1 }

func (w *walker) BernoulliBig(numerator, denominator *big.Int) bool {
	p, _ := new(big.Rat).SetFrac(numerator, denominator).Float64()
	switch {
	case p <= 0:
		return false
	case p >= 1:
		return true
	}
	return w.choose(1-p, p) == 1
}

func (w *walker) BelowBig(n *big.Int) *big.Int {
	weights := make([]float64, n.Int64())
	for i := range weights {
		weights[i] = 1 / float64(len(weights))
	}
	return big.NewInt(int64(w.choose(weights...)))
}

// enumerate returns the mass found for every outcome of run, and the mass left.
func enumerate(least float64, run func(coins) int64) (mass map[int64]float64, left float64) {
	mass = map[int64]float64{}
	pending := []branch{{nil, 1}}
	for len(pending) > 0 {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		w := &walker{script: next.script, weight: next.weight, least: least, pending: &pending, left: &left}
		outcome := run(w)
		mass[outcome] += w.weight
	}
	return mass, left
}

func assertMass(t *testing.T, what string, mass, left, want float64) {
	t.Helper()
	const rounding = 1e-12
	if mass > want+rounding || mass+left < want-rounding {
		t.Errorf("%s: probability in [%.15g, %.15g], want %.15g", what, mass, mass+left, want)
	}
}

func boolOutcome(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func TestBernoulliExpIsExact(t *testing.T) {
	one, left := enumerate(1e-18, func(c coins) int64 { return boolOutcome(bigBernoulliExpOne(c)) })
	assertMass(t, "exp(−1)", one[1], left, math.Exp(-1))
	if left > 1e-15 {
		t.Errorf("exp(−1) is known only to %g", left)
	}
	for q := int64(1); q <= 12; q++ {
		for p := int64(0); p <= q; p++ {
			mass, left := enumerate(1e-18, func(c coins) int64 {
				return boolOutcome(bigBernoulliExp(c, big.NewInt(p), big.NewInt(q)))
			})
			assertMass(t, big.NewRat(p, q).String(), mass[1], left, math.Exp(-float64(p)/float64(q)))
		}
	}
}

func TestBernoulliExpSquareIsExact(t *testing.T) {
	for _, c := range []struct{ p, q1, q2 int64 }{
		{0, 1, 1}, {1, 1, 1}, {1, 2, 3}, {3, 4, 3}, {2, 1, 1}, {5, 4, 3}, {7, 3, 50}, {7, 50, 3}, {9, 4, 4},
	} {
		mass, left := enumerate(1e-6, func(w coins) int64 {
			return boolOutcome(bigBernoulliExpSquare(w, big.NewInt(c.p), big.NewInt(c.q1), big.NewInt(c.q2)))
		})
		want := math.Exp(-float64(c.p*c.p) / float64(c.q1*c.q2))
		assertMass(t, "exp(−p²/q₁q₂)", mass[1], left, want)
		assertKnown(t, "exp(−p²/q₁q₂)", left)
	}
}

func TestReferenceLaplaceHasTheExactLaw(t *testing.T) {
	for _, c := range []struct{ n, d int64 }{{1, 1}, {2, 1}, {3, 2}, {1, 2}} {
		law := bigLaplace{big.NewInt(c.n), big.NewInt(c.d)}
		mass, left := enumerate(3e-6, func(w coins) int64 { return law.draw(w).Int64() })
		a := math.Exp(-float64(c.d) / float64(c.n))
		assertKnown(t, "discrete Laplace", left)
		for x := int64(-6); x <= 6; x++ {
			assertMass(t, "discrete Laplace", mass[x], left, (1-a)/(1+a)*math.Pow(a, math.Abs(float64(x))))
		}
	}
}

// TestReferenceGaussianAcceptsWithTheExactProbability covers the step that turns
// the discrete Laplace proposal above into a discrete Gaussian.
func TestReferenceGaussianAcceptsWithTheExactProbability(t *testing.T) {
	testkit.SkipPassed(t)
	for _, sigmaSquared := range []*big.Rat{big.NewRat(1, 9), big.NewRat(3, 4), big.NewRat(1, 1), big.NewRat(5, 2),
		big.NewRat(40961, 4096)} {
		law := newBigGaussian(sigmaSquared)
		s, _ := sigmaSquared.Float64()
		scale := math.Floor(math.Sqrt(s)) + 1
		for y := int64(0); y <= 4; y++ {
			mass, left := enumerate(1e-6, func(w coins) int64 { return boolOutcome(law.accept(w, big.NewInt(y))) })
			assertKnown(t, "acceptance", left)
			assertMass(t, "acceptance", mass[1], left, math.Exp(-math.Pow(float64(y)-s/scale, 2)/(2*s)))
		}
	}
}

func assertKnown(t *testing.T, what string, left float64) {
	t.Helper()
	t.Logf("%s: %.2g of the mass left over", what, left)
	if left > 0.1 {
		t.Errorf("%s is known only to %g", what, left)
	}
}

// TestEnumerationSeesAWrongSampler plants mistakes in the walk itself.
func TestEnumerationSeesAWrongSampler(t *testing.T) {
	law := bigLaplace{big.NewInt(2), big.NewInt(1)}
	keepsMinusZero := func(w coins) int64 {
		y := bigDrawExponential(w, law.numerator)
		if w.Bool() {
			y.Neg(y)
		}
		return y.Int64()
	}
	mass, left := enumerate(1e-5, keepsMinusZero)
	a := math.Exp(-0.5)
	if exact := (1 - a) / (1 + a); mass[0] <= exact && exact <= mass[0]+left {
		t.Error("a doubled zero stayed within what enumeration allows")
	}
	evenIsTrue := func(w coins) int64 {
		k := big.NewInt(2)
		for w.BernoulliBig(bigOne, k) {
			k.Add(k, bigOne)
		}
		return 1 - int64(k.Bit(0))
	}
	if mass, left := enumerate(1e-18, evenIsTrue); mass[1] <= math.Exp(-1) && math.Exp(-1) <= mass[1]+left {
		t.Error("a reversed parity stayed within what enumeration allows")
	}
}
