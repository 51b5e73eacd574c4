package budget

import (
	"errors"
	"math"
	"math/big"
)

// maxDelta is the largest δ at which a conversion is computed.
var maxDelta = new(big.Rat).SetFloat64(1 - 0x1p-20)

// Sampled returns the loss of the same mechanisms when they see only a sample of the units. Each unit is in it
// independently with probability q. The sample is drawn once for the whole release and never shown.
//
// Guarantee: (ε, δ)-differential privacy of all units becomes (ln(1+q(e^ε−1)), qδ) for add-remove neighbours; there is
// no such gain when one unit is replaced by another, which the caller must refuse. Theorem: Balle, Barthe & Gaboardi
// 2018, theorem 8. Argument: docs/proofs/sampling.md.
//
// It returns an error unless 0 < q ≤ 1, and for a loss that is already that of a sample: amplification holds once for a
// whole release, not for its parts.
func (l Loss) Sampled(q *big.Rat) (Loss, error) {
	if q == nil || q.Sign() <= 0 || q.Cmp(big.NewRat(1, 1)) > 0 {
		return Loss{}, errors.New("a sampling probability must lie above 0 and be at most 1")
	}
	if l.sample != nil {
		return Loss{}, errors.New("the loss is of a sample already: a release draws one sample")
	}
	l.sample = new(big.Rat).Set(q)
	return l, nil
}

// BeforeSampling returns the ε and δ that mechanisms may spend on a sample, drawn with probability q, so that the
// release has this ε and δ (nil: 0). It inverts [Loss.Sampled]: ln(1 + (e^ε − 1)/q), rounded down to a multiple of
// 2^−30, and δ/q.
//
// It returns an error unless 0 < q ≤ 1 and ε > 0, if ε is too small to leave anything, and if δ/q is not below 1.
func BeforeSampling(epsilon, delta, q *big.Rat) (e, d *big.Rat, err error) {
	if _, err := (Loss{}).Sampled(q); err != nil {
		return nil, nil, err
	}
	if epsilon == nil || epsilon.Sign() <= 0 {
		return nil, nil, errors.New("a sample gains something of an ε above 0 alone")
	}
	steps := math.Floor(math.Ldexp(unamplified(roundDown(epsilon), roundUp(q)), 30))
	if !(steps >= 1) || !(steps < 1<<53) {
		return nil, nil, errors.New("the budget leaves no ε for the sample")
	}
	e = big.NewRat(int64(steps), 1<<30)
	if delta == nil {
		return e, nil, nil
	}
	if d = new(big.Rat).Quo(delta, q); d.Cmp(maxDelta) > 0 {
		return nil, nil, errors.New("δ is as large as the sample: make it much smaller")
	}
	return e, d, nil
}

// withoutSample returns the loss without the sampling.
func (l Loss) withoutSample() Loss {
	l.sample = nil
	return l
}

// amplified returns ln(1 + q(e^ε − 1)), rounded up.
func amplified(epsilon, q float64) float64 {
	if epsilon > 30 { // e^ε would lose the rest: ε + ln(q + (1−q)e^{−ε})
		return float64((epsilon + Log(q+float64((1-q)*Exp(-epsilon)))) * (1 + 0x1p-50))
	}
	return float64(log1p(float64(q*expm1(epsilon))) * (1 + 0x1p-50))
}

// unamplified returns the ε′ for which ln(1 + q(e^ε′ − 1)) is epsilon, rounded down.
func unamplified(epsilon, q float64) float64 {
	if epsilon > 30 {
		return float64((epsilon + Log((1-float64((1-q)*Exp(-epsilon)))/q)) * (1 - 0x1p-50))
	}
	return float64(log1p(float64(expm1(epsilon)/q)*(1-0x1p-50)) * (1 - 0x1p-50))
}

func minRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
