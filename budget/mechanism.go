package budget

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// Kind names the law of the noise.
type Kind string

// The laws of noise that a [Mechanism] can add, both over all integers.
const (
	// DiscreteLaplace has P(x) ∝ exp(−|x|/t), with scale t.
	DiscreteLaplace Kind = "discrete-laplace"
	// DiscreteGaussian has P(x) ∝ exp(−x²/2σ²), with parameter σ².
	DiscreteGaussian Kind = "discrete-gaussian"
)

// Mechanism says which noise is added, independently, to every coordinate of an
// integer query, and how far one unit can move that query. It is pure data:
// accountant, sampler and report all read the same value. Its JSON form is
// {"kind", "parameter", "l1", "l2_squared"}, with every number exact in a string.
type Mechanism struct {
	Kind Kind
	// Parameter is the scale t of the discrete Laplace law, or σ² of the discrete
	// Gaussian, in units of the query (σ²: units squared).
	Parameter *big.Rat
	// L1 is the largest Σ|Δ|, and L2Squared the largest ΣΔ², that the vector of
	// true answers can change by between neighbours.
	L1, L2Squared *big.Int
}

// maxDeviationBits bounds the scale t and σ by 2^50, so that noise never nears
// the ends of a 64-bit count: 2^62 lies 4096 scales away.
const maxDeviationBits = 50

// Validate returns an error that says what to change if m is not a complete
// mechanism: an unknown kind, a parameter outside (0, 2^50] for t or (0, 2^100]
// for σ², a sensitivity that is not positive, or L2² above L1² (impossible for
// integer shifts).
func (m Mechanism) Validate() error {
	bits := uint(maxDeviationBits)
	switch m.Kind {
	case DiscreteLaplace:
	case DiscreteGaussian:
		bits *= 2
	default:
		return fmt.Errorf("mechanism kind %q is unknown: want %q or %q", m.Kind, DiscreteLaplace, DiscreteGaussian)
	}
	if m.Parameter == nil || m.Parameter.Sign() <= 0 {
		return fmt.Errorf("%s: param must be positive", m.Kind)
	}
	if limit := new(big.Int).Lsh(big.NewInt(1), bits); m.Parameter.Cmp(new(big.Rat).SetInt(limit)) > 0 {
		return fmt.Errorf("%s: param is above 2^%d, more noise than a 64-bit count can carry: spend more budget here or ask for fewer tables", m.Kind, bits)
	}
	if m.L1 == nil || m.L1.Sign() <= 0 || m.L2Squared == nil || m.L2Squared.Sign() <= 0 {
		return fmt.Errorf("%s: l1 and l2_squared must be positive", m.Kind)
	}
	if m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) > 0 {
		return fmt.Errorf("%s: l2_squared is above l1², which no shift can reach", m.Kind)
	}
	return nil
}

// Variance returns the variance of the noise on one coordinate, of the discrete
// law itself and not of its continuous limit, with relative error below 1e-12.
// It is zero for a mechanism that does not validate.
func (m Mechanism) Variance() float64 {
	if m.Validate() != nil {
		return 0
	}
	if m.Kind == DiscreteLaplace {
		return laplaceVariance(nearest(m.Parameter))
	}
	return gaussianVariance(nearest(m.Parameter))
}

// Margin returns the least m for which P(|X| ≤ m) ≥ confidence under the
// discrete law of one coordinate, together with the probability that is really
// attained, P(|X| ≤ m), which for a law on integers is usually higher.
//
// The tail P(|X| > m) carries a relative error below 1e-12, so m can be one too
// small only if P(|X| ≤ m) equals the confidence to that accuracy. A confidence
// of 1 or more has no finite margin and gives (2^63−1, 1).
func (m Mechanism) Margin(confidence float64) (margin int64, attained float64) {
	if m.Validate() != nil {
		return 0, 0
	}
	if m.Kind == DiscreteLaplace {
		return leastMargin(confidence, laplaceTail(nearest(m.Parameter)))
	}
	return leastMargin(confidence, gaussianTail(nearest(m.Parameter)))
}

// Epsilon returns the ε of pure differential privacy that the mechanism gives.
// It is exact. A discrete Gaussian has none, and returns an error.
func (m Mechanism) Epsilon() (*big.Rat, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Kind != DiscreteLaplace {
		return nil, fmt.Errorf("%s noise gives no pure epsilon: ask for its rho, or for epsilon at a delta", m.Kind)
	}
	return laplaceEpsilon(m.L1, m.Parameter), nil
}

// Rho returns the exact ρ of zero-concentrated differential privacy that the
// mechanism gives, or nil if it does not validate.
func (m Mechanism) Rho() *big.Rat {
	if m.Validate() != nil {
		return nil
	}
	if m.Kind == DiscreteLaplace {
		return pureRho(laplaceEpsilon(m.L1, m.Parameter))
	}
	return gaussianRho(m.L2Squared, m.Parameter)
}

type mechanismJSON struct {
	Kind      Kind   `json:"kind"`
	Parameter string `json:"parameter"`
	L1        string `json:"l1"`
	L2Squared string `json:"l2_squared"`
}

// MarshalJSON writes the canonical form; an invalid mechanism is an error.
func (m Mechanism) MarshalJSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(mechanismJSON{m.Kind, FormatRat(m.Parameter), m.L1.String(), m.L2Squared.String()})
}

// UnmarshalJSON reads what MarshalJSON writes, and validates it.
func (m *Mechanism) UnmarshalJSON(data []byte) error {
	var text mechanismJSON
	if err := decodeStrict(data, &text); err != nil {
		return fmt.Errorf("mechanism: %w", err)
	}
	param, err := ParseRat(text.Parameter)
	if err != nil {
		return fmt.Errorf("mechanism param: %w", err)
	}
	l1, err := parseInteger(text.L1)
	if err != nil {
		return fmt.Errorf("mechanism l1: %w", err)
	}
	l2Squared, err := parseInteger(text.L2Squared)
	if err != nil {
		return fmt.Errorf("mechanism l2_squared: %w", err)
	}
	read := Mechanism{Kind: text.Kind, Parameter: param, L1: l1, L2Squared: l2Squared}
	if err := read.Validate(); err != nil {
		return err
	}
	*m = read
	return nil
}
