package budget

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
)

// Loss is the privacy loss of mechanisms composed in one plan. Only [Compose]
// and [Loss.Sampled] make one.
type Loss struct {
	epsilon *big.Rat // nil unless every step is pure
	rho     *big.Rat
	steps   []step
	sketch  []sketch // of the steps; nil where they are one Gaussian
	// that is all of the steps, with a Sigma of 1: it has closed forms. Sigma is 0 where they are no Gaussian
	normal Gaussian
	slack  float64  // the steps dominate the mechanisms but for factors e^{±slack} on probabilities
	sample *big.Rat // probability that a unit is in the sample; nil where all are
	// byRho is the same loss with all quantiles known by their ρ alone: of many choices that tells more than the pairs of
	// each, of few less. Nil without such choices.
	byRho    *Loss
	of       identity   // of the mechanisms
	untilted func() sum // what all of its true positive rates are read from, worked out when first asked for
}

// Bound is an ε or a δ, rounded up, and the method that proves it.
type Bound struct {
	Value  float64
	Method string
}

// The methods a [Bound] can name.
const (
	MethodPure = "sum of pure epsilons"
	MethodZCDP = "zCDP converted by Canonne, Kamath & Steinke 2020"
	MethodGDP  = "Gaussian loss in closed form (Balle & Wang 2018)"
	MethodPLD  = "privacy loss distributions, connecting the dots (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022)"
)

// Compose returns the loss of running all steps on the same data, all of them
// fixed in advance: the sum of the pure ε, where every step has one, the sum of
// the ρ, both exact, and the distribution of the loss of the worst unit that
// the sensitivities allow.
//
// Guarantee: the joint output is ε-differentially private (where ε is not nil),
// ρ-zCDP, and (ε, δ)-differentially private as [Loss.EpsilonAt] says, for the
// neighbours that the sensitivities of the steps were computed for: the caller
// sees to it that they are the same for all. Theorems: ε adds (Dwork, McSherry,
// Nissim & Smith 2006); ρ adds (Bun & Steinke 2016, lemma 2.3); dominating pairs
// compose (Zhu, Dong & Wang 2022, theorem 10). Argument: docs/proofs/pld.md.
//
// It returns an error for a step that does not validate; no steps lose nothing.
func Compose(steps ...Mechanism) (Loss, error) {
	loss, err := composed(steps, Mechanism.withoutShifts)
	loss.of = identityOf(group(steps))
	if err != nil || !slices.ContainsFunc(steps, Mechanism.listsChoices) {
		return loss, err
	}
	byRho, err := composed(steps, func(m Mechanism) bool { return m.withoutShifts() || m.listsChoices() })
	loss.byRho = &byRho
	return loss, err
}

// composed is Compose, with those mechanisms known by norms or their ρ alone that it is told.
func composed(steps []Mechanism, withoutShifts func(Mechanism) bool) (Loss, error) {
	loss := Loss{epsilon: new(big.Rat), rho: new(big.Rat)}
	adaptive, smooth := new(big.Rat), smoothing{}
	var listed []repeated
	for _, g := range group(steps) {
		if err := g.mechanism.Validate(); err != nil {
			return Loss{}, fmt.Errorf("step %d: %w", g.first+1, err)
		}
		count := new(big.Rat).SetInt64(g.count)
		rho := new(big.Rat).Mul(g.mechanism.Rho(), count)
		loss.rho.Add(loss.rho, rho)
		epsilon, err := g.mechanism.Epsilon()
		if err != nil {
			loss.epsilon = nil
		}
		if loss.epsilon != nil {
			loss.epsilon.Add(loss.epsilon, epsilon.Mul(epsilon, count))
		}
		if withoutShifts(g.mechanism) {
			if muSquared, slack, ok := g.mechanism.smoothed(); ok {
				smooth.add(muSquared, slack, float64(g.count))
			} else {
				adaptive.Add(adaptive, rho)
			}
			continue
		}
		listed = append(listed, g)
	}
	for _, g := range listed {
		if muSquared, slack, ok := g.mechanism.absorbed(smooth.muSquared); ok {
			smooth.add(muSquared, slack, float64(g.count))
			continue
		}
		loss.steps = append(loss.steps, g.mechanism.steps(g.count)...)
	}
	if adaptive.Sign() > 0 { // converted once, not step by step
		loss.steps = append(loss.steps, step{zcdpAtoms(roundUp(adaptive)), 1})
	}
	if smooth.terms > 0 {
		if loss.slack = smooth.slack; len(loss.steps) == 0 {
			loss.normal = smooth.gaussian()
		}
		loss.steps = append(loss.steps, step{smooth.gaussian().pair(), 1})
	}
	if !loss.isNormal() {
		loss.sketch = sketchesOf(loss.steps)
	}
	loss.untilted = sync.OnceValue(func() sum { return compose(loss.steps, loss.sketch, 0, usual) })
	return loss, nil
}

// sketchesOf are the sketches of steps.
func sketchesOf(steps []step) []sketch {
	var all []sketch
	for _, s := range steps {
		all = append(all, s.sketch())
	}
	return all
}

// repeated is a mechanism with how often it stands in a list, and where first.
type repeated struct {
	mechanism Mechanism
	count     int64
	first     int
}

// text tells mechanisms apart.
func (m Mechanism) text() string {
	return fmt.Sprint(m.Kind, m.Parameter, m.L1, m.L2Squared, m.Shifts != nil, m.Shifts)
}

// group counts equal mechanisms, in the order of their first places.
func group(steps []Mechanism) []repeated {
	var groups []repeated
	places := map[string]int{}
	for i, m := range steps {
		key := m.text()
		place, ok := places[key]
		if !ok {
			place = len(groups)
			places[key] = place
			groups = append(groups, repeated{m, 0, i})
		}
		groups[place].count++
	}
	return groups
}

// Epsilon returns the ε of pure differential privacy, exactly, or nil where a
// step has none or only a sample is released, whose ε is no rational.
func (l Loss) Epsilon() *big.Rat {
	if l.epsilon == nil || l.sample != nil {
		return nil
	}
	return new(big.Rat).Set(l.epsilon)
}

// Rho returns the ρ of zero-concentrated differential privacy, exactly. A
// release of a sample is charged as if it were of all units.
func (l Loss) Rho() *big.Rat { return new(big.Rat).Set(orZero(l.rho)) }

// EpsilonAt returns an ε ≥ 0 for which the composition is (ε, δ)-differentially
// private: the least of the pure ε, where there is one, the tight conversion of
// ρ, and the loss distribution. It is rounded up and names the method it came
// from.
//
// Guarantee: for the neighbours of the steps. Theorem: as for [Compose] and
// [ZCDPEpsilon]; ρ is rounded up and δ down before converting.
//
// A nil delta is 0. It returns an error for a δ outside [0, 1), and for δ = 0
// where a step has no pure ε.
func (l Loss) EpsilonAt(delta *big.Rat) (Bound, error) {
	return l.epsilonAt(delta, Loss.numericalEpsilon)
}

// roughEpsilonAt is about what EpsilonAt is, mostly to within 1e-5 of it, and may be less.
func (l Loss) roughEpsilonAt(delta *big.Rat) (Bound, error) {
	return l.epsilonAt(delta, Loss.roughEpsilon)
}

// epsilonAt is EpsilonAt, with the ε of the loss distribution by numerical.
func (l Loss) epsilonAt(delta *big.Rat, numerical func(Loss, float64) float64) (Bound, error) {
	d := orZero(delta)
	if d.Sign() < 0 || d.Cmp(big.NewRat(1, 1)) >= 0 {
		return Bound{}, errors.New("delta must be at least 0 and below 1")
	}
	if l.epsilon == nil && d.Sign() == 0 {
		return Bound{}, errors.New("no epsilon holds at delta 0 with Gaussian noise: name a delta above 0")
	}
	if l.sample != nil {
		// δ′ = qδ at ε′ = ln(1 + q(e^ε − 1)).
		whole, err := l.whole().epsilonAt(minRat(new(big.Rat).Quo(d, l.sample), mostDelta), numerical)
		whole.Value = amplified(whole.Value, roundUp(l.sample))
		return whole, err
	}
	best := Bound{ZCDPEpsilon(roundUp(l.Rho()), roundDown(d)), MethodZCDP}
	if l.epsilon != nil {
		best = least(best, Bound{roundUp(l.epsilon), MethodPure})
	}
	return least(best, Bound{numerical(l, roundDown(d)), l.method()}), nil
}

// isNormal reports whether all steps together are one Gaussian.
func (l Loss) isNormal() bool { return l.normal.Sigma > 0 }

// method names where the figures of the steps come from.
func (l Loss) method() string {
	if l.isNormal() {
		return MethodGDP
	}
	return MethodPLD
}

// TruePositiveRate returns an upper bound on how often any attack that is wrong
// about an absent unit at most at the rate falsePositiveRate, in [0, 1], is right
// about a present one; without a sample, the same with absent and present
// exchanged.
//
// Guarantee: for the neighbours of the steps. Theorem: a test between
// (ε, δ)-private outputs has power at most e^ε·α + δ, for every such pair
// (Wasserman & Zhou 2010, theorem 2.4; Kairouz, Oh & Viswanath 2015).
func (l Loss) TruePositiveRate(falsePositiveRate float64) float64 {
	if l.sample != nil {
		// A unit outside the sample shows nothing: q·(power) + (1−q)·α.
		q := roundUp(l.sample)
		return min(1, (float64(q*l.whole().TruePositiveRate(falsePositiveRate))+float64((1-q)*falsePositiveRate))*(1+0x1p-50))
	}
	if len(l.steps) == 0 {
		return falsePositiveRate
	}
	if l.isNormal() {
		return min(1, l.slackened(l.normal.TruePositiveRate(min(1, l.slackened(falsePositiveRate)))))
	}
	work := func() float64 {
		s := l.untilted()
		rate := min(1, l.slackened(s.truePositiveRate(min(1, l.slackened(falsePositiveRate)))))
		if l.byRho != nil {
			rate = min(rate, l.byRho.TruePositiveRate(falsePositiveRate))
		}
		return rate
	}
	return l.remembered(question{l.of, true, falsePositiveRate}, work)
}

// remembered is the answer to a question, which is worked out every time where it is of no known mechanisms.
func (l Loss) remembered(q question, work func() float64) float64 {
	if l.of == (identity{}) {
		return work()
	}
	return remembered.of(q, work)
}

func least(a, b Bound) Bound {
	if b.Value < a.Value {
		return b
	}
	return a
}

// numericalEpsilon is the ε ≥ 0 of the loss distribution at δ, or +Inf.
func (l Loss) numericalEpsilon(delta float64) float64 {
	work := func() float64 {
		epsilon, _ := l.composedEpsilon(delta, usual)
		if l.byRho != nil {
			epsilon = min(epsilon, l.byRho.numericalEpsilon(delta))
		}
		return epsilon
	}
	return l.remembered(question{of: l.of, at: delta}, work)
}

// usualExcess is the part of what connecting dots adds at most that it adds on the mean, to losses anywhere between two
// dots.
const usualExcess = 2. / 3

// roughEpsilon is about what numericalEpsilon is.
func (l Loss) roughEpsilon(delta float64) float64 {
	epsilon, excess := l.composedEpsilon(delta, rough)
	epsilon = max(0, epsilon-float64(excess*usualExcess))
	if l.byRho != nil {
		epsilon = min(epsilon, l.byRho.roughEpsilon(delta))
	}
	return epsilon
}

// composedEpsilon is the ε ≥ 0 of the loss distribution at δ, or +Inf, with an estimate of by how much the resolution
// has made it larger.
func (l Loss) composedEpsilon(delta float64, r resolution) (epsilon, excess float64) {
	switch {
	case len(l.steps) == 0:
		return 0, 0
	case delta <= 0:
		return math.Inf(1), 0
	case l.isNormal():
		return l.normal.Epsilon(delta/l.slackened(1)) + 2*l.slack, 0
	}
	s := compose(l.steps, l.sketch, tiltFor(l.sketch, -Log(delta)), r)
	return max(0, s.epsilon(delta/l.slackened(1))+2*l.slack), s.excess
}

// slackened is a probability enlarged by the factor that the steps leave open.
func (l Loss) slackened(p float64) float64 { return float64(p * (1 + float64(2*l.slack))) }
