package budget

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// This file tests every law of noise against its own probabilities, whichever laws there are.

// masses are the probabilities of a law: P(X = x) for |x| up to a few more than its outcomes.
type masses struct {
	most int
	of   []float64 // of[most+x]
}

// massesOf returns the probabilities of a law of a parameter, from the weights of its outcomes.
func massesOf(l law, parameter float64) masses {
	o := l.outcomes(parameter)
	all := masses{most: int(o.Size) + 30}
	sum := 0.0
	for x := -all.most; x <= all.most; x++ {
		w := o.Weight(math.Abs(float64(x)))
		all.of = append(all.of, w)
		sum += w
	}
	for i := range all.of {
		all.of[i] /= sum
	}
	return all
}

func (m masses) at(x int) float64 {
	if x < -m.most || x > m.most {
		return 0
	}
	return m.of[m.most+x]
}

// mean returns the mean of a function of X.
func (m masses) mean(f func(x float64) float64) (sum float64) {
	for i, p := range m.of {
		sum += p * f(float64(i-m.most))
	}
	return sum
}

// delta returns the δ at ε of X against X+shift, by its definition.
func (m masses) delta(shift int, epsilon float64) (sum float64) {
	for x := -m.most; x <= m.most+shift; x++ {
		sum += max(0, m.at(x-shift)-math.Exp(epsilon)*m.at(x))
	}
	return sum
}

// renyi returns the Rényi divergence of order α of X from X+shift, over outcomes that both have here.
func (m masses) renyi(shift int, alpha float64) float64 {
	sum := 0.0
	for x := -m.most + shift; x <= m.most; x++ {
		if p, q := m.at(x), m.at(x-shift); p > 0 && q > 0 {
			sum += math.Exp(alpha*math.Log(p) + (1-alpha)*math.Log(q))
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// largestLoss returns the largest ln P(X = x)/P(X+shift = x), over outcomes that both have here.
func (m masses) largestLoss(shift int) (largest float64) {
	for x := -m.most + shift; x <= m.most; x++ {
		if p, q := m.at(x), m.at(x-shift); p > 0 && q > 0 {
			largest = max(largest, math.Log(p/q))
		}
	}
	return largest
}

// epsilonFor returns about the ε at which δ is so much, 0 if it is less there.
func (m masses) epsilonFor(shift int, delta float64) float64 {
	low, high := 0.0, 200.0
	for range 60 {
		if middle := (low + high) / 2; m.delta(shift, middle) > delta {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// deltaOfTwo returns the δ at ε of two independent X against both X+1, by its definition.
func (m masses) deltaOfTwo(epsilon float64) (sum float64) {
	factor := math.Exp(epsilon)
	for x := -m.most; x <= m.most+1; x++ {
		p, q := m.at(x-1), m.at(x)
		for y := -m.most; y <= m.most+1; y++ {
			sum += max(0, p*m.at(y-1)-factor*q*m.at(y))
		}
	}
	return sum
}

// faultsOfLaw compares what a law says of itself with its probabilities, and returns what does not fit.
func faultsOfLaw(kind Kind, l law, parameter *big.Rat) (faults []string) {
	value, _ := parameter.Float64()
	m := massesOf(l, value)
	fault := func(what string, got, want float64) {
		faults = append(faults, fmt.Sprintf("%s %s: %s is %g, and by its probabilities %g", kind, FormatRat(parameter),
			what, got, want))
	}
	near := func(what string, got, want, relative float64) {
		if !(math.Abs(got-want) <= relative*math.Abs(want)+1e-9) {
			fault(what, got, want)
		}
	}
	variance := m.mean(func(x float64) float64 { return x * x })
	near("the variance", l.variance(value), variance, 1e-6)
	tail := l.tailFunction(value)
	for _, at := range []int64{0, 1, 2, 5, int64(math.Sqrt(variance)), int64(3 * math.Sqrt(variance))} {
		near(fmt.Sprintf("P(|X| > %d)", at), tail(at), m.mean(func(x float64) float64 {
			if math.Abs(x) > float64(at) {
				return 1
			}
			return 0
		}), 1e-6)
	}
	if excess := l.excessOver(variance); excess == 0 && !l.isSubGaussian() {
		fault("the fourth cumulant over the variance of a law that is not treated as normal", excess, 1)
	} else if excess != 0 {
		fourth := m.mean(func(x float64) float64 { return x * x * x * x })
		near("the fourth cumulant over the variance", excess, (fourth-3*variance*variance)/variance, 1e-4)
	}
	if l.isSubGaussian() {
		for _, lambda := range []float64{0.01, 0.1, 0.5, 1} {
			moment := m.mean(func(x float64) float64 { return math.Exp(lambda * x) })
			if !(moment <= math.Exp(value*lambda*lambda/2)*(1+1e-9)) {
				fault(fmt.Sprintf("the sub-Gaussian bound at %g", lambda), math.Exp(value*lambda*lambda/2), moment)
			}
		}
	}
	for shift := 1; shift <= 3; shift++ {
		d := big.NewInt(int64(shift))
		one := Mechanism{Kind: kind, Parameter: parameter, L1: d, L2Squared: new(big.Int).Mul(d, d)}
		price, _ := l.costOf(one).Float64()
		if l.isPure() {
			near(fmt.Sprintf("ε of a shift by %d", shift), price, m.largestLoss(shift), 1e-6)
		} else {
			for _, alpha := range []float64{1.1, 2, 5} {
				if got := m.renyi(shift, alpha) / alpha; !(got <= price*(1+1e-6)) {
					fault(fmt.Sprintf("ρ of a shift by %d at order %g", shift, alpha), price, got)
				}
			}
		}
		loss, err := Compose(one)
		if err != nil {
			return append(faults, err.Error())
		}
		for _, delta := range []float64{1e-1, 1e-3, 1e-5, 1e-7} {
			epsilon := m.epsilonFor(shift, delta)
			got, want := loss.numericalDelta(epsilon), m.delta(shift, epsilon)
			if !(got >= want*(1-1e-3)-1e-12 && got <= want*1.1+1e-12) {
				fault(fmt.Sprintf("δ(%g) of a shift by %d", epsilon, shift), got, want)
			}
		}
	}
	if m.most > 400 { // the sums below would take long
		return faults
	}
	both := Mechanism{Kind: kind, Parameter: parameter, L1: big.NewInt(2), L2Squared: big.NewInt(2)} // two shifts by 1
	price, _ := l.costOf(both).Float64()
	if l.isPure() {
		near("ε of two shifts by 1", price, 2*m.largestLoss(1), 1e-6)
	} else if got := 2 * m.renyi(1, 2) / 2; !(got <= price*(1+1e-6)) {
		fault("ρ of two shifts by 1", price, got)
	}
	loss, err := Compose(both)
	if err != nil {
		return append(faults, err.Error())
	}
	for _, epsilon := range []float64{0, price / 4, price} {
		got, want := loss.numericalDelta(epsilon), m.deltaOfTwo(epsilon)
		if !(got >= want*(1-1e-3)-1e-9 && got <= want*1.1+1e-9) {
			fault(fmt.Sprintf("δ(%g) of two shifts by 1", epsilon), got, want)
		}
	}
	return faults
}

// lawParameters are parameters at which laws are looked at, whose outcomes can be added up.
var lawParameters = []*big.Rat{big.NewRat(1, 2), big.NewRat(7, 3), big.NewRat(25, 1), big.NewRat(301, 2)}

// What every law of noise says of itself (variance, tails, cumulant, price and loss) is what its probabilities give.
func TestEveryLawIsWhatItsProbabilitiesGive(t *testing.T) {
	for _, kind := range append(Laws(), Skellam) {
		for _, parameter := range lawParameters {
			for _, fault := range faultsOfLaw(kind, kind.law(), parameter) {
				t.Error(fault)
			}
		}
	}
}

// Laws that misstate one thing each.
type (
	wideLaw    struct{ law }
	cheapLaw   struct{ law }
	lightTails struct{ law }
	flatLaw    struct{ law }
	narrowLaw  struct{ law }
)

func (l wideLaw) variance(parameter float64) float64 { return 1.01 * l.law.variance(parameter) }
func (l cheapLaw) costOf(m Mechanism) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(9, 10), l.law.costOf(m))
}
func (l lightTails) tailFunction(parameter float64) func(m int64) float64 {
	tail := l.law.tailFunction(parameter)
	return func(m int64) float64 { return tail(m + 1) }
}
func (l flatLaw) excessOver(variance float64) float64   { return 1 + l.law.excessOver(variance)/2 }
func (l narrowLaw) outcomes(parameter float64) Outcomes { return l.law.outcomes(0.95 * parameter) }

// A law that misstates its variance, tails, cumulant or price is noticed, and so is one that draws less noise than its
// price and loss are of.
func TestLawsThatMisstateThemselvesAreNoticed(t *testing.T) {
	for _, kind := range append(Laws(), Skellam) {
		for _, parameter := range lawParameters {
			l := kind.law()
			for what, mutant := range map[string]law{"the variance": wideLaw{l}, " of a shift by 1": cheapLaw{l},
				"P(|X| >": lightTails{l}, "cumulant": flatLaw{l}, "δ(": narrowLaw{l}} {
				faults := faultsOfLaw(kind, mutant, parameter)
				if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, what) }) {
					t.Errorf("%s %s: a wrong law is not noticed by %q: %q", kind, FormatRat(parameter), what, faults)
				}
			}
		}
	}
}
