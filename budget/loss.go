package budget

import (
	"errors"
	"fmt"
	"math/big"
)

// Loss is the privacy loss of mechanisms composed in one plan. Only [Compose]
// makes one.
type Loss struct {
	epsilon *big.Rat // nil unless every step is pure
	rho     *big.Rat
}

// Bound is an ε, rounded up, and the method that proves it.
type Bound struct {
	Value  float64
	Method string
}

// The methods a [Bound] can name.
const (
	MethodPure = "sum of pure epsilons"
	MethodZCDP = "zCDP converted by Canonne, Kamath & Steinke 2020"
)

// Compose returns the loss of running all steps on the same data, all of them
// fixed in advance. Steps that are all discrete Laplace add up in ε; in every
// case the steps add up in ρ, a discrete Laplace step entering with ε²/2. Sums
// are exact.
//
// Guarantee: the joint output is ε-differentially private (where ε is not nil)
// and ρ-zCDP, for the neighbours that the sensitivities of the steps were
// computed for: the caller sees to it that they are the same for all. Theorems:
// ε adds (Dwork, McSherry, Nissim & Smith 2006); ρ adds (Bun & Steinke 2016,
// lemma 2.3); ε-DP is ε²/2-zCDP (there, proposition 3.3).
//
// It returns an error for a step that does not validate; no steps lose nothing.
func Compose(steps ...Mechanism) (Loss, error) {
	loss := Loss{epsilon: new(big.Rat), rho: new(big.Rat)}
	for i, step := range steps {
		if err := step.Validate(); err != nil {
			return Loss{}, fmt.Errorf("step %d: %w", i+1, err)
		}
		loss.rho.Add(loss.rho, step.Rho())
		epsilon, err := step.Epsilon()
		if err != nil {
			loss.epsilon = nil
		}
		if loss.epsilon != nil {
			loss.epsilon.Add(loss.epsilon, epsilon)
		}
	}
	return loss, nil
}

// Epsilon returns the ε of pure differential privacy, exactly, or nil where a
// step has none.
func (l Loss) Epsilon() *big.Rat {
	if l.epsilon == nil {
		return nil
	}
	return new(big.Rat).Set(l.epsilon)
}

// Rho returns the ρ of zero-concentrated differential privacy, exactly.
func (l Loss) Rho() *big.Rat { return new(big.Rat).Set(orZero(l.rho)) }

// EpsilonAt returns an ε for which the composition is (ε, δ)-differentially
// private: the smaller of the pure ε, where there is one, and the tight
// conversion of ρ. It is rounded up and names the method it came from.
//
// Guarantee: for the neighbours of the steps. Theorem: as for [Compose] and
// [ZCDPEpsilon]; ρ is rounded up and δ down before converting.
//
// A nil delta is 0. It returns an error for a δ outside [0, 1), and for δ = 0
// where a step has no pure ε.
func (l Loss) EpsilonAt(delta *big.Rat) (Bound, error) {
	d := orZero(delta)
	if d.Sign() < 0 || d.Cmp(big.NewRat(1, 1)) >= 0 {
		return Bound{}, errors.New("delta must be at least 0 and below 1")
	}
	if l.epsilon == nil && d.Sign() == 0 {
		return Bound{}, errors.New("no epsilon holds at delta 0 with Gaussian noise: name a delta above 0")
	}
	converted := Bound{ZCDPEpsilon(roundUp(l.Rho()), roundDown(d)), MethodZCDP}
	if l.epsilon == nil {
		return converted, nil
	}
	if pure := (Bound{roundUp(l.epsilon), MethodPure}); pure.Value <= converted.Value {
		return pure, nil
	}
	return converted, nil
}
