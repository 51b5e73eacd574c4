package contour

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// gaussianStep returns discrete Gaussian noise of parameter σ² on a query with the given sensitivities.
func gaussianStep(variance *big.Rat, l1, l2Squared int64) budget.Mechanism {
	return budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: variance, L1: big.NewInt(l1),
		L2Squared: big.NewInt(l2Squared)}
}

// laplaceStep is discrete Laplace noise of scale t on a query of sensitivity l1.
func laplaceStep(scale *big.Rat, l1 int64) budget.Mechanism {
	return budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: scale, L1: big.NewInt(l1),
		L2Squared: big.NewInt(l1 * l1)}
}

// choice is a mechanism that adds no noise.
func choice(kind budget.Kind, epsilon *big.Rat) budget.Mechanism {
	return budget.Mechanism{Kind: kind, Parameter: epsilon}
}

func times(count int, step budget.Mechanism) []budget.Mechanism {
	steps := make([]budget.Mechanism, count)
	for i := range steps {
		steps[i] = step
	}
	return steps
}

func together(parts ...[]budget.Mechanism) []budget.Mechanism {
	var all []budget.Mechanism
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func mustDelta(t testing.TB, steps []budget.Mechanism, epsilon float64) Result {
	t.Helper()
	r, err := Delta(steps, epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// only returns the composition of steps that have a single assignment of shapes.
func only(t testing.TB, steps ...budget.Mechanism) *composition {
	t.Helper()
	all, err := listCompositions(steps)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d compositions, %v; want one", len(all), err)
	}
	return all[0]
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

// An outcome is what a mechanism can answer: its probability on the data and on
// the neighbour.
type outcome struct{ p, q float64 }

// answers returns the outcomes of noise on one coordinate that a unit shifts by s, from the definition of the noise:
// weight(x) up to a factor, over |x| ≤ reach.
func answers(weight func(x float64) float64, s, reach int) []outcome {
	var all []outcome
	var total float64
	for x := -reach - s; x <= reach+s; x++ {
		total += weight(float64(x))
	}
	for x := -reach; x <= reach+s; x++ {
		all = append(all, outcome{weight(float64(x)) / total, weight(float64(x-s)) / total})
	}
	return all
}

func gaussianAnswers(sigma2 float64, s int) []outcome {
	return answers(func(x float64) float64 { return math.Exp(-x * x / (2 * sigma2)) }, s, int(12*math.Sqrt(sigma2))+2)
}

func laplaceAnswers(scale float64, s int) []outcome {
	return answers(func(x float64) float64 { return math.Exp(-math.Abs(x) / scale) }, s, int(45*scale)+2)
}

func responses(epsilon float64) []outcome {
	p := 1 / (1 + math.Exp(-epsilon))
	return []outcome{{p, 1 - p}, {1 - p, p}}
}

// jointly returns the outcomes of mechanisms run together, without negligible ones.
func jointly(parts ...[]outcome) []outcome {
	all := []outcome{{1, 1}}
	for _, part := range parts {
		var next []outcome
		for _, a := range all {
			for _, b := range part {
				if o := (outcome{a.p * b.p, a.q * b.q}); o.p > 1e-22 {
					next = append(next, o)
				}
			}
		}
		all = next
	}
	return all
}

// hockeyStick returns Σ max(0, P − e^ε·Q), the definition of δ(ε).
func hockeyStick(all []outcome, epsilon float64) float64 {
	var s compensated
	for _, o := range all {
		s.add(math.Max(0, o.p-math.Exp(epsilon)*o.q))
	}
	return s.value()
}

// boundedRange is δ(ε) of the loss that dominates bounded range e, in closed form.
func boundedRange(e, epsilon float64) float64 {
	switch {
	case epsilon >= e:
		return 0
	case epsilon <= -e:
		return -math.Expm1(epsilon)
	}
	root := math.Exp(e/2) - math.Exp(epsilon/2)
	return root * root / math.Expm1(e)
}
