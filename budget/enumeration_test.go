package budget_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/contour"
)

// This file is a second accountant of Skellam noise, which package contour does not judge: it enumerates the outcomes
// of a composition and applies the definitions of δ and of the Rényi divergence to them. It has its own probabilities,
// in floats of 160 bits, and neither a grid of losses nor a transform.
//
// Of δ it gives a lower bound. Every simplification merges outcomes or leaves some out, and neither makes neighbours
// easier to tell apart:
//
//   - Outcomes are merged where there would be more than mostOutcomes: those whose losses are in one of that many
//     intervals. The losses that are kept span some 25 standard deviations, so an interval of width w is a 5000th of
//     one. A merger takes at most w²/4 of a loss's variance, so that δ falls by less than 1e-5 of it in 25 mergers.
//   - Outcomes of a probability below 1e-30 are left out: less than 1e-20 in all, 1e-8 of the least δ that is compared.
//   - Probabilities are rounded to float64. Every product of up to 30 of them is within 1e-12 of its value, which
//     [outcomes.delta] turns into a bound on its error.

// The figures of the program are held to it as upper bounds, and to an excess of ε of at most [excessOfEpsilon]. The
// excess is of ε and not of δ, as δ(ε) has corners where few outcomes decide it: there a little ε is much δ.

const (
	mostOutcomes = 1 << 17
	leastOutcome = 1e-30
	// leastWeight is P(x)/P(0) from which on the values of a law are left out.
	leastWeight = 1e-45
	mostShift   = 40
)

// pmf holds the probabilities P(X = x) of a symmetric law at x = 0, 1, …, up to a factor, beyond all that matter.
type pmf []*big.Float

// wide returns x with 160 bits.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(x) }

// skellamPMF lists the chances that two Poisson variables of mean μ/2 differ by k, for k up to extra beyond those that
// matter.
func skellamPMF(variance *big.Rat, extra int) (out pmf) {
	half := wide(0).SetRat(variance)
	half.Quo(half, wide(2))
	poisson, product := pmf{wide(1)}, wide(0)
	for n := 1; n < int(ratFloat(variance)) || poisson[n-1].MantExp(nil) > poisson[0].MantExp(nil)-400; n++ {
		next := wide(0).Mul(poisson[n-1], half)
		poisson = append(poisson, next.Quo(next, wide(float64(n))))
	}
	for k := 0; k < len(poisson); k++ {
		sum := wide(0)
		for n, p := range poisson[:len(poisson)-k] {
			sum.Add(sum, product.Mul(p, poisson[n+k]))
		}
		out = append(out, sum)
		if ratio, _ := wide(0).Quo(sum, out[0]).Float64(); ratio < leastWeight {
			if extra--; extra < 0 {
				break
			}
		}
	}
	return out
}

// weightPMF lists the weights of a law, up to extra beyond those that matter.
func weightPMF(weight func(x float64) float64, extra int) (out pmf) {
	for x := 0.0; ; x++ {
		out = append(out, wide(weight(x)))
		if weight(x) < leastWeight {
			if extra--; extra < 0 {
				return out
			}
		}
	}
}

var knownPMFs = map[string]pmf{}

// pmfOf returns the probabilities of the noise of a mechanism, of which coordinates change by up to mostShift.
func pmfOf(m budget.Mechanism) (out pmf) {
	key, p := fmt.Sprint(m.Kind, m.Parameter), ratFloat(m.Parameter)
	if known, ok := knownPMFs[key]; ok {
		return known
	}
	switch m.Kind {
	case budget.Skellam:
		out = skellamPMF(m.Parameter, mostShift)
	case budget.DiscreteGaussian:
		out = weightPMF(func(x float64) float64 { return math.Exp(-x * x / (2 * p)) }, mostShift)
	case budget.DiscreteLaplace:
		out = weightPMF(func(x float64) float64 { return math.Exp(-x / p) }, mostShift)
	}
	knownPMFs[key] = out
	return out
}

// whole returns the sum of P(x) over all x.
func (p pmf) whole() *big.Float {
	sum := wide(0)
	for _, w := range p[1:] {
		sum.Add(sum, w)
	}
	return sum.Add(sum, sum).Add(sum, p[0])
}

// at returns P(x), up to the factor; nil if x does not matter.
func (p pmf) at(x int) *big.Float {
	if x = max(x, -x); x < len(p) {
		return p[x]
	}
	return nil
}

// outcomes are what a mechanism can answer: p and q are the probabilities on the data and on the neighbour, and loss is
// ln p/q.
type outcomes []struct{ p, q, loss float64 }

// coordinate returns the outcomes of a coordinate that changes by d, of either sign.
func (p pmf) coordinate(d int) (all outcomes) {
	whole := p.whole()
	for x := -len(p); x <= len(p); x++ {
		here, there := p.at(x), p.at(x-d)
		if here == nil || there == nil {
			continue
		}
		of, _ := wide(0).Quo(here, whole).Float64()
		against, _ := wide(0).Quo(there, whole).Float64()
		if of >= leastOutcome && against > 0 {
			all = append(all, struct{ p, q, loss float64 }{of, against, logOfWide(here) - logOfWide(there)})
		}
	}
	return all
}

func logOfWide(x *big.Float) float64 {
	mantissa := new(big.Float)
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}

// and returns the outcomes of both together.
func (a outcomes) and(b outcomes) (all outcomes) {
	if len(a)*len(b) <= mostOutcomes {
		for _, x := range a {
			for _, y := range b {
				if p := x.p * y.p; p >= leastOutcome {
					all = append(all, struct{ p, q, loss float64 }{p, x.q * y.q, x.loss + y.loss})
				}
			}
		}
		return all
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range a {
		for _, y := range b {
			if x.p*y.p >= leastOutcome {
				low, high = min(low, x.loss+y.loss), max(high, x.loss+y.loss)
			}
		}
	}
	merged := make(outcomes, mostOutcomes)
	width := (high - low) / (mostOutcomes - 1)
	for _, x := range a {
		for _, y := range b {
			if p := x.p * y.p; p >= leastOutcome {
				one := &merged[int((x.loss+y.loss-low)/width)]
				one.p += p
				one.q += x.q * y.q
			}
		}
	}
	for _, one := range merged {
		if one.p > 0 {
			one.loss = math.Log(one.p / one.q)
			all = append(all, one)
		}
	}
	return all
}

// delta returns Σ max(0, p − e^ε·q), which is δ(ε), and the most by which rounding changes it.
func (a outcomes) delta(epsilon float64) (delta, rounding float64) {
	grown := math.Exp(epsilon)
	for _, x := range a {
		if x.p > grown*x.q {
			delta += x.p - grown*x.q
			rounding += x.p + grown*x.q
		}
	}
	return delta, 1e-12 * rounding
}

// epsilonAt returns about the ε at which δ is so much.
func (a outcomes) epsilonAt(delta float64) float64 {
	low, high := 0.0, 200.0
	for range 50 {
		middle := (low + high) / 2
		if at, _ := a.delta(middle); at > delta {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// enumerated is noise on answers that change by a vector, and how often it is added anew.
type enumerated struct {
	mechanism budget.Mechanism
	by        []int
	runs      int
}

// outcomesOf returns the outcomes of noise on answers that change by certain vectors.
func outcomesOf(parts ...enumerated) outcomes {
	all := outcomes{{1, 1, 0}}
	for _, part := range parts {
		p, coordinates := pmfOf(part.mechanism), map[int]outcomes{}
		for _, d := range part.by {
			if coordinates[d] == nil {
				coordinates[d] = p.coordinate(d)
			}
		}
		for range part.runs {
			for _, d := range part.by {
				all = all.and(coordinates[d])
			}
		}
	}
	return all
}

func ratFloat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// skellamWithin returns Skellam noise of a variance on answers with these sensitivities, and with these shifts if any
// are given.
func skellamWithin(variance *big.Rat, l1, l2Squared int64, shifts ...budget.Shift) budget.Mechanism {
	return budget.Mechanism{Kind: budget.Skellam, Parameter: variance, L1: big.NewInt(l1),
		L2Squared: big.NewInt(l2Squared), Shifts: shifts}
}

// excessOfEpsilon is the most by which an ε is above the least one, as a share of it. Most of it is from the dots of
// several shifts, whose spacing adds up to 2⁻¹⁴ of a loss's variance; of one shift it is 1e-4.
const excessOfEpsilon = 1e-3

// judgeByOutcomes compares the ε of mechanisms at several δ with the outcomes of each way in which a unit may change
// the answers: it is enough for all of them, and little more than one of them needs.
func judgeByOutcomes(t *testing.T, name string, steps []budget.Mechanism, ways []outcomes) (worst float64) {
	t.Helper()
	loss := composed(t, steps)
	for _, delta := range []float64{1e-4, 1e-6, 1e-9, 1e-12} {
		bound, err := loss.EpsilonAt(new(big.Rat).SetFloat64(delta))
		if err != nil {
			t.Fatal(err)
		}
		least := 0.0
		for i, way := range ways {
			if at, rounding := way.delta(bound.Value); at-rounding > delta {
				t.Errorf("%s: ε = %v is said to be enough for δ = %v, and change %d has δ = %v", name, bound.Value,
					delta, i, at)
			}
			least = max(least, way.epsilonAt(delta))
		}
		worst = max(worst, bound.Value/least-1)
		if !(bound.Value <= least*(1+excessOfEpsilon)) {
			t.Errorf("%s: ε at δ = %v is %v, and %v is enough", name, delta, bound.Value, least)
		}
		for _, epsilon := range []float64{least / 2, least} {
			got := loss.DeltaAt(epsilon)
			for i, way := range ways {
				if at, rounding := way.delta(epsilon); got.Value < at-rounding {
					t.Errorf("%s: δ(%v) = %v is below the %v of change %d", name, epsilon, got.Value, at, i)
				}
			}
		}
	}
	return worst
}

// changesWithin lists the vectors of positive integers, in descending order, with these norms at most.
func changesWithin(l1, l2Squared int) (all [][]int) {
	var extend func(begun []int, most, sum, squares int)
	extend = func(begun []int, most, sum, squares int) {
		if len(begun) > 0 {
			all = append(all, slices.Clone(begun))
		}
		for d := min(most, sum); d >= 1; d-- {
			if d*d <= squares {
				extend(append(begun, d), d, sum-d, squares-d*d)
			}
		}
	}
	extend(nil, l1, l1, l2Squared)
	return all
}

// TestOutcomesAgreeWithTheContour compares this accountant with the contour integral, for laws that both know.
func TestOutcomesAgreeWithTheContour(t *testing.T) {
	gaussian, laplace := noisy(budget.DiscreteGaussian, 13, 2, 3, 9), noisy(budget.DiscreteLaplace, 7, 3, 2, 4)
	all := outcomesOf(enumerated{gaussian, []int{3}, 7}, enumerated{laplace, []int{2}, 5})
	steps := together(part{gaussian, 7}, part{laplace, 5})
	for _, epsilon := range []float64{0, 2, 8, 14, 19} {
		got, _ := all.delta(epsilon)
		want, err := contour.Delta(steps, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := got / want.Delta; !(ratio <= 1+1e-10 && ratio >= 1-1e-5) {
			t.Errorf("δ(%v) is %v by outcomes, %v by the contour integral: a ratio of 1%+.2g", epsilon, got, want.Delta,
				ratio-1)
		}
	}
}

// TestSkellamAgainstAllChanges compares single measurements with every vector by which a unit may change the answers,
// and with signs of both kinds.
func TestSkellamAgainstAllChanges(t *testing.T) {
	worst := 0.0
	for _, variance := range []*big.Rat{big.NewRat(1, 2), big.NewRat(7, 3), big.NewRat(20, 1)} {
		for _, norms := range [][2]int{{1, 1}, {2, 2}, {2, 4}, {3, 3}, {3, 5}, {4, 4}, {4, 6}, {4, 10}} {
			m := skellamWithin(variance, int64(norms[0]), int64(norms[1]))
			var ways []outcomes
			for _, by := range changesWithin(norms[0], norms[1]) {
				ways = append(ways, outcomesOf(enumerated{m, by, 1}))
				by[len(by)-1] *= -1
				ways = append(ways, outcomesOf(enumerated{m, by, 1}))
			}
			worst = max(worst, judgeByOutcomes(t, fmt.Sprint("variance ", variance, ", norms ", norms),
				[]budget.Mechanism{m}, ways))
		}
	}
	t.Logf("ε is above by up to %.2g of it", worst)
}

// TestCompositionsWithSkellamAgainstTheirOutcomes compares several measurements with Skellam noise, and such with other
// laws.
func TestCompositionsWithSkellamAgainstTheirOutcomes(t *testing.T) {
	four, large, small := big.NewRat(4, 1), big.NewRat(101, 1), big.NewRat(3, 4)
	laplace := noisy(budget.DiscreteLaplace, 5, 2, 1, 1)
	gaussian := noisy(budget.DiscreteGaussian, 17, 3, 2, 4)
	worst := 0.0
	for _, c := range []struct {
		name  string
		parts []enumerated
	}{
		{"ten runs", []enumerated{{skellamWithin(four, 1, 1), []int{1}, 10}}},
		{"runs of one vector", []enumerated{{skellamWithin(four, 2, 2), []int{1, -1}, 4}}},
		{"little noise", []enumerated{{skellamWithin(small, 2, 4), []int{2}, 2},
			{skellamWithin(small, 3, 3), []int{1, 1, 1}, 1}}},
		{"unlike variances", []enumerated{{skellamWithin(four, 1, 1), []int{1}, 2},
			{skellamWithin(large, 12, 72, budget.Shift{6, 6}), []int{6, -6}, 2}}},
		{"with Laplace noise", []enumerated{{skellamWithin(four, 2, 4), []int{2}, 3}, {laplace, []int{1}, 4}}},
		{"with Gaussian noise", []enumerated{{skellamWithin(four, 1, 1), []int{1}, 3}, {gaussian, []int{2}, 4}}},
		{"with both", []enumerated{{skellamWithin(large, 7, 49), []int{-7}, 2}, {gaussian, []int{2}, 2},
			{laplace, []int{1}, 3}, {skellamWithin(small, 1, 1), []int{1}, 1}}},
	} {
		var steps []budget.Mechanism
		for _, p := range c.parts {
			steps = append(steps, part{p.mechanism, p.runs}.steps()...)
		}
		worst = max(worst, judgeByOutcomes(t, c.name, steps, []outcomes{outcomesOf(c.parts...)}))
	}
	t.Logf("ε is above by up to %.2g of it", worst)
}

// TestSeveralShiftsInSeveralRuns lets a unit change the answers of each run by another vector, which the envelope of a
// mechanism's shifts has to cover.
func TestSeveralShiftsInSeveralRuns(t *testing.T) {
	laplace := noisy(budget.DiscreteLaplace, 5, 2, 1, 1)
	m := skellamWithin(big.NewRat(4, 1), 4, 4) // (2) or (1, 1, 1, 1)
	var ways []outcomes
	for twos := range 4 {
		ways = append(ways, outcomesOf(enumerated{m, []int{2}, twos}, enumerated{m, []int{1, 1, -1, 1}, 3 - twos},
			enumerated{laplace, []int{1}, 2}))
	}
	worst := judgeByOutcomes(t, "several shifts", together(part{m, 3}, part{laplace, 2}), ways)
	t.Logf("ε is above by up to %.2g of it", worst)
}

// TestSkellamRhoAgainstItsOutcomes compares the ρ of mechanisms, and of compositions, with the largest ratio of the
// Rényi divergence of all coordinates to its order, over orders from 1 on. Values that are left out have no part in the
// divergences of these orders.
func TestSkellamRhoAgainstItsOutcomes(t *testing.T) {
	worst := 0.0
	for _, variance := range []*big.Rat{big.NewRat(1, 64), big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(4, 1),
		big.NewRat(101, 1)} {
		p := skellamPMF(variance, 0)
		ratio := func(by []int, theta float64) (sum float64) {
			for _, d := range by {
				sum += p.renyi(d, theta) / (1 + theta)
			}
			return sum
		}
		for _, norms := range [][2]int{{1, 1}, {2, 4}, {3, 5}, {4, 4}, {4, 10}} {
			m := skellamWithin(variance, int64(norms[0]), int64(norms[1]))
			most, gaussian := 0.0, float64(norms[1])/(2*ratFloat(variance))
			for _, by := range changesWithin(norms[0], norms[1]) {
				for theta := 1e-4; theta < 3+math.Sqrt(ratFloat(variance)); theta *= 1.3 {
					most = max(most, ratio(by, theta))
				}
			}
			rho, all := ratFloat(m.Rho()), ratFloat(composed(t, []budget.Mechanism{m, m, m}).Rho())
			worst = max(worst, rho/most-1)
			if !(rho >= most && rho <= most*(1+1e-3)) || math.Abs(all/(3*rho)-1) > 1e-12 {
				t.Errorf("variance %v, norms %v: ρ is %v, of three runs %v, and the largest ratio %v", variance, norms,
					rho,
					all, most)
			}
			if variance.Cmp(big.NewRat(1, 1)) == 0 && norms[0] == norms[1] && rho < 1.05*gaussian {
				t.Errorf("norms %v: ρ is %v, as of Gaussian noise", norms, rho)
			}
		}
	}
	t.Logf("ρ is above by up to %.2g of it", worst)
}

// renyi returns the Rényi divergence of order 1+θ of a coordinate from one that changes by d.
func (p pmf) renyi(d int, theta float64) float64 {
	whole := logOfWide(p.whole())
	var sum float64
	for x := -len(p); x <= len(p); x++ {
		here, there := p.at(x), p.at(x+d)
		if here == nil || there == nil {
			continue
		}
		mass, loss := math.Exp(logOfWide(here)-whole), logOfWide(here)-logOfWide(there)
		sum += mass*math.Expm1(theta*loss) + theta*(math.Exp(logOfWide(there)-whole)-mass) // the second sums to 0
	}
	return math.Log1p(sum) / theta
}

// TestWhatLosesMoreThanItsChargeIsNoticed lets this accountant judge Skellam noise by what other noise loses, and by
// what it loses for another vector of the same L2 norm.
func TestWhatLosesMoreThanItsChargeIsNoticed(t *testing.T) {
	four := skellamWithin(big.NewRat(4, 1), 4, 4)
	truth := outcomesOf(enumerated{four, []int{1, 1, 1, 1}, 2})
	for name, charged := range map[string]budget.Mechanism{
		"a 500th more noise": skellamWithin(big.NewRat(501, 125), 4, 4, budget.Shift{1, 1, 1, 1}),
		"one change by 2":    skellamWithin(big.NewRat(4, 1), 4, 4, budget.Shift{2}),
	} {
		bound, err := composed(t, []budget.Mechanism{charged, charged}).EpsilonAt(big.NewRat(1, 1000000))
		if err != nil {
			t.Fatal(err)
		}
		if at, rounding := truth.delta(bound.Value); at-rounding <= 1e-6 {
			t.Errorf("charged for %s, δ is %v", name, at)
		}
	}
}
