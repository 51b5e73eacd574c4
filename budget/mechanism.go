package budget

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// Kind is the kind of a [Mechanism].
type Kind string

// The kinds of [Mechanism] other than laws of noise.
const (
	// ExponentialMechanism chooses, with bounded range ε.
	ExponentialMechanism Kind = "exponential-mechanism"
	// ExponentialQuantiles draws quantiles of disjoint cells, with P(y) ∝ exp(−θ·u/2) for the distance u from a rank
	// and parameter θ.
	ExponentialQuantiles Kind = "exponential-quantiles"
	// PermuteAndFlip chooses, with pure ε.
	PermuteAndFlip Kind = "permute-and-flip"
	// RandomizedResponse changes a category, with pure ε.
	RandomizedResponse Kind = "randomized-response"
	// SubsetSelection reports a set of categories that holds the true one with a fixed probability, with pure ε.
	SubsetSelection Kind = "subset-selection"
	// AdaptiveBlock chooses each step after seeing its own answers, within a cap in ρ that is fixed beforehand.
	AdaptiveBlock Kind = "adaptive-block"
)

// hasSensitivities reports whether the loss of the kind depends on the sensitivity of answers or scores, and not on the
// parameter alone.
func (k Kind) hasSensitivities() bool { return k.addsNoise() || k == ExponentialQuantiles }

// Mechanism describes how an answer is protected: which noise is added independently to every coordinate of an integer
// query, and the sensitivity of that query; or another mechanism and its loss. It is pure data: accountant, sampler and
// report all read the same value. Its JSON form is {"kind", "parameter", "l1", "l2_squared", "shifts", "shares"}, with
// every number but those of shares exact in a string; the last four are left out if there are none.
type Mechanism struct {
	Kind Kind
	// Parameter is the scale t of the discrete Laplace law, σ² of the discrete Gaussian, or the variance μ of [Skellam]
	// noise, in units of the query (σ² and μ: units squared); ρ of an adaptive block; θ of quantiles, the range of the
	// loss for each unit by which scores change; ε of the others.
	Parameter *big.Rat
	// L1 is the L1 sensitivity, the largest Σ|Δ|, and L2Squared the squared L2 sensitivity, the largest ΣΔ², of the
	// vector of true answers, or of the bounds on the changes of each quantile's scores. Nil for the other kinds.
	L1, L2Squared *big.Int
	// Shifts restricts the vectors Δ by which the true answers can change between neighbours: each is, in absolute
	// values, one of these (positive, in descending order) or loses less (docs/proofs/shifts.md). Nil adds no
	// restriction to L1 and L2Squared.
	Shifts []Shift
	// Shares says how several holders of data draw the noise together. It concerns its error and not its loss.
	Shares Shares
}

// maxDeviationBits bounds the scale t and σ by 2^50, so that noise never approaches the ends of a 64-bit count: 2^62 is
// 4096 scales away.
const maxDeviationBits = 50

// Validate returns an error that says what to change if m is not a complete mechanism: an unknown kind, a parameter
// outside (0, 2^50] for t or (0, 2^100] for σ², a sensitivity that is not positive, L2² above L1² (impossible for
// integer shifts), an empty list of shifts, which would mean that no unit changes an answer, [Skellam] noise of a
// variance above 2^24 or below 2^−12 or without a list of its worst shifts, or [Shares] of a law that has none, or out
// of their range: for the discrete Gaussian, of a σ² below [LeastGaussianShare] in each share, or above 2^80.
func (m Mechanism) Validate() error {
	bits := uint(maxDeviationBits)
	switch m.Kind {
	case ExponentialMechanism, ExponentialQuantiles, PermuteAndFlip, RandomizedResponse, SubsetSelection, AdaptiveBlock:
	default:
		if !m.Kind.addsNoise() {
			return fmt.Errorf("mechanism kind %q is unknown", m.Kind)
		}
		bits = m.Kind.law().parameterBits()
	}
	divisible := m.Kind == DiscreteLaplace || m.Kind == Skellam || m.Kind == DiscreteGaussian
	if err := m.Shares.validate(divisible); err != nil {
		return fmt.Errorf("%s: %w", m.Kind, err)
	}
	if m.Parameter == nil || m.Parameter.Sign() <= 0 {
		return fmt.Errorf("%s: param must be positive", m.Kind)
	}
	if limit := new(big.Int).Lsh(big.NewInt(1), bits); m.Parameter.Cmp(new(big.Rat).SetInt(limit)) > 0 {
		return fmt.Errorf("%s: param is above 2^%d, more noise than a 64-bit count can carry: spend more budget here "+
			"or ask for fewer tables", m.Kind, bits)
	}
	if !m.Kind.hasSensitivities() {
		if m.L1 != nil || m.L2Squared != nil || m.Shifts != nil {
			return fmt.Errorf("%s: has no sensitivities, its parameter says its loss", m.Kind)
		}
		return nil
	}
	if m.L1 == nil || m.L1.Sign() <= 0 || m.L2Squared == nil || m.L2Squared.Sign() <= 0 {
		return fmt.Errorf("%s: l1 and l2_squared must be positive", m.Kind)
	}
	if m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) > 0 {
		return fmt.Errorf("%s: l2_squared is above l1², which no shift can reach", m.Kind)
	}
	if m.Shifts != nil && len(m.Shifts) == 0 {
		return fmt.Errorf("%s: shifts must list one or more, or be left out where no more is known than l1 and l2_squared",
			m.Kind)
	}
	for _, shift := range m.Shifts {
		if err := shift.checkWithin(m.L1, m.L2Squared); err != nil {
			return fmt.Errorf("%s: %w", m.Kind, err)
		}
	}
	if m.Kind == DiscreteGaussian && m.Shares != (Shares{}) {
		if err := checkGaussianShares(m.Parameter, m.Shares.Needed); err != nil {
			return fmt.Errorf("%s: %w", m.Kind, err)
		}
	}
	if m.Kind.addsNoise() {
		if err := m.Kind.law().checkShifts(m); err != nil {
			return fmt.Errorf("%s: %w", m.Kind, err)
		}
	}
	return nil
}

// Epsilon returns the exact ε of pure differential privacy that the mechanism gives. A discrete Gaussian and an
// adaptive block have none, and return an error.
func (m Mechanism) Epsilon() (*big.Rat, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Kind.Pure() {
		return m.Price(), nil
	}
	switch m.Kind {
	case ExponentialQuantiles:
		return quantilesEpsilon(m.L1, m.Parameter), nil
	case ExponentialMechanism, PermuteAndFlip, RandomizedResponse, SubsetSelection:
		return new(big.Rat).Set(m.Parameter), nil
	}
	return nil, fmt.Errorf("%s gives no pure epsilon: ask for its rho, or for epsilon at a delta", m.Kind)
}

// Rho returns the exact ρ of zero-concentrated differential privacy that the mechanism gives, or nil if it does not
// validate: Δ₂²/2σ² for the discrete Gaussian, the bound of docs/proofs/skellam.md for [Skellam] noise, ε²/8 for the
// exponential mechanism, Δ₂²θ²/8 for quantiles, ε²/2 for other pure mechanisms.
//
// Guarantee: for the neighbours of the sensitivities. Theorem: Canonne, Kamath &
// Steinke 2020, theorem 14; a mechanism of bounded range ε is (ε²/8)-zCDP (Cesar
// & Rogers 2021, lemma 3.2); an ε-private one (ε²/2)-zCDP (Bun & Steinke 2016,
// proposition 3.3).
func (m Mechanism) Rho() *big.Rat {
	if m.Validate() != nil {
		return nil
	}
	switch {
	case m.Kind.Pure():
		return pureRho(m.Price())
	case m.Kind.addsNoise():
		return m.Price()
	}
	switch m.Kind {
	case ExponentialMechanism:
		return boundedRangeRho(m.Parameter)
	case ExponentialQuantiles:
		return quantilesRho(m.L2Squared, m.Parameter)
	case AdaptiveBlock:
		return new(big.Rat).Set(m.Parameter)
	}
	return pureRho(m.Parameter)
}

type mechanismJSON struct {
	Kind      Kind    `json:"kind"`
	Parameter string  `json:"parameter"`
	L1        string  `json:"l1,omitempty"`
	L2Squared string  `json:"l2_squared,omitempty"`
	Shifts    []Shift `json:"shifts,omitempty"`
	Shares    *Shares `json:"shares,omitempty"`
}

// MarshalJSON writes the canonical form; an invalid mechanism is an error.
func (m Mechanism) MarshalJSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	text := mechanismJSON{Kind: m.Kind, Parameter: FormatRat(m.Parameter), Shifts: m.Shifts}
	if m.Kind.hasSensitivities() {
		text.L1, text.L2Squared = m.L1.String(), m.L2Squared.String()
	}
	if m.Shares != (Shares{}) {
		text.Shares = &m.Shares
	}
	return json.Marshal(text)
}

// UnmarshalJSON reads what MarshalJSON writes, and validates it.
func (m *Mechanism) UnmarshalJSON(data []byte) error {
	var text mechanismJSON
	if err := decodeStrict(data, &text); err != nil {
		return fmt.Errorf("mechanism: %w", err)
	}
	read := Mechanism{Kind: text.Kind, Shifts: text.Shifts}
	var err error
	if read.Parameter, err = ParseRat(text.Parameter); err != nil {
		return fmt.Errorf("mechanism param: %w", err)
	}
	if text.L1 != "" {
		if read.L1, err = parseInteger(text.L1); err != nil {
			return fmt.Errorf("mechanism l1: %w", err)
		}
	}
	if text.L2Squared != "" {
		if read.L2Squared, err = parseInteger(text.L2Squared); err != nil {
			return fmt.Errorf("mechanism l2_squared: %w", err)
		}
	}
	if text.Shares != nil {
		if read.Shares = *text.Shares; read.Shares == (Shares{}) {
			return fmt.Errorf("mechanism shares: leave them out where there are none")
		}
	}
	if err := read.Validate(); err != nil {
		return err
	}
	*m = read
	return nil
}
