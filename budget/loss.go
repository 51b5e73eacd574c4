package budget

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
)

// Loss is the privacy loss of mechanisms composed in one plan. Only [Compose] and [Loss.Sampled] return one.
type Loss struct {
	epsilon *big.Rat // nil unless every step is pure
	rho     *big.Rat
	steps   []step
	sketch  []sketch // of the steps; nil if they are one Gaussian
	// the Gaussian that all steps together are, with a Sigma of 1: it has closed forms. Sigma is 0 if they are not one
	// Gaussian
	normal Gaussian
	slack  float64  // the steps dominate the mechanisms up to factors e^{±slack} on probabilities
	sample *big.Rat // probability that a unit is in the sample; nil if there is no sample
	// byRho is the same loss with all quantiles represented by their ρ alone. For many choices that is tighter than the
	// pairs of the choices, for few it is looser. Nil without such choices.
	byRho    *Loss
	identity identity   // of the mechanisms
	untilted func() sum // the composition behind all true positive rates, computed on first use
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

// Compose returns the loss of running all steps on the same data, all of them fixed in advance: the sum of the pure ε,
// if every step has one, the sum of the ρ, both exact, and the distribution of the loss of the worst unit that the
// sensitivities allow.
//
// Guarantee: the joint output is ε-differentially private (if ε is not nil), ρ-zCDP, and (ε, δ)-differentially private
// for the ε that [Loss.EpsilonAt] returns, for the neighbours that the sensitivities of the steps were computed for:
// the caller ensures that they are the same for all steps. Theorems: ε adds (Dwork, McSherry, Nissim & Smith 2006); ρ
// adds (Bun & Steinke 2016, lemma 2.3); dominating pairs compose (Zhu, Dong & Wang 2022, theorem 10). Argument:
// docs/proofs/pld.md.
//
// It returns an error for a step that does not validate. Composing no steps gives a loss of zero.
func Compose(steps ...Mechanism) (Loss, error) {
	loss, err := composeWith(steps, Mechanism.withoutShifts)
	loss.identity = identityOf(groupEqual(steps))
	if err != nil || !slices.ContainsFunc(steps, Mechanism.listsChoices) {
		return loss, err
	}
	byRho, err := composeWith(steps, func(m Mechanism) bool { return m.withoutShifts() || m.listsChoices() })
	loss.byRho = &byRho
	return loss, err
}

// composeWith composes steps; it represents the mechanisms for which withoutShifts is true by their norms or their ρ
// alone.
func composeWith(steps []Mechanism, withoutShifts func(Mechanism) bool) (Loss, error) {
	loss := Loss{epsilon: new(big.Rat), rho: new(big.Rat)}
	adaptive, smooth := new(big.Rat), smoothing{}
	var listed []repeated
	for _, g := range groupEqual(steps) {
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
			if muSquared, slack, ok := g.mechanism.smoothedGaussian(); ok {
				smooth.addTerm(muSquared, slack, float64(g.count))
			} else {
				adaptive.Add(adaptive, rho)
			}
			continue
		}
		listed = append(listed, g)
	}
	for _, g := range listed {
		if muSquared, slack, ok := g.mechanism.absorbedGaussian(smooth.muSquared); ok {
			smooth.addTerm(muSquared, slack, float64(g.count))
			continue
		}
		loss.steps = append(loss.steps, g.mechanism.dominatingSteps(g.count)...)
	}
	if adaptive.Sign() > 0 { // converted once, not step by step
		loss.steps = append(loss.steps, step{zcdpPair(roundUp(adaptive)), 1})
	}
	if smooth.terms > 0 {
		if loss.slack = smooth.slack; len(loss.steps) == 0 {
			loss.normal = smooth.composedGaussian()
		}
		loss.steps = append(loss.steps, step{smooth.composedGaussian().dominatingPair(), 1})
	}
	if !loss.isNormal() {
		loss.sketch = sketchesOf(loss.steps)
	}
	loss.untilted = sync.OnceValue(func() sum { return compose(loss.steps, loss.sketch, 0, usual) })
	return loss, nil
}

// sketchesOf returns the sketches of steps.
func sketchesOf(steps []step) []sketch {
	var all []sketch
	for _, s := range steps {
		all = append(all, s.sketchOf())
	}
	return all
}

// repeated is a mechanism, the number of times it occurs in a list, and its first index.
type repeated struct {
	mechanism Mechanism
	count     int64
	first     int
}

// identityText returns a text that is the same for equal mechanisms only.
func (m Mechanism) identityText() string {
	return fmt.Sprint(m.Kind, m.Parameter, m.L1, m.L2Squared, m.Shifts != nil, m.Shifts)
}

// groupEqual counts equal mechanisms, in the order of their first occurrence.
func groupEqual(steps []Mechanism) []repeated {
	var groups []repeated
	places := map[string]int{}
	for i, m := range steps {
		key := m.identityText()
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

// Epsilon returns the ε of pure differential privacy, exactly. It returns nil if a step has none, or if only a sample
// is released, whose ε is not rational.
func (l Loss) Epsilon() *big.Rat {
	if l.epsilon == nil || l.sample != nil {
		return nil
	}
	return new(big.Rat).Set(l.epsilon)
}

// Rho returns the ρ of zero-concentrated differential privacy, exactly. A
// release of a sample is charged as if it were of all units.
func (l Loss) Rho() *big.Rat { return new(big.Rat).Set(orZero(l.rho)) }

// EpsilonAt returns an ε ≥ 0 for which the composition is (ε, δ)-differentially private: the least of the pure ε, if
// there is one, the tight conversion of ρ, and the ε of the loss distribution. It is rounded up, and the bound names
// the method that gave it.
//
// Guarantee: for the neighbours of the steps. Theorem: as for [Compose] and
// [ZCDPEpsilon]; ρ is rounded up and δ down before converting.
//
// A nil delta is 0. It returns an error for a δ outside [0, 1), and for δ = 0 if a step has no pure ε.
func (l Loss) EpsilonAt(delta *big.Rat) (Bound, error) {
	return l.epsilonAt(delta, Loss.numericalEpsilon)
}

// roughEpsilonAt approximates EpsilonAt, mostly to within 1e-5 of it, and may be below it.
func (l Loss) roughEpsilonAt(delta *big.Rat) (Bound, error) {
	return l.epsilonAt(delta, Loss.roughEpsilon)
}

// epsilonAt is EpsilonAt with the ε of the loss distribution computed by numerical.
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
		whole, err := l.withoutSample().epsilonAt(minRat(new(big.Rat).Quo(d, l.sample), maxDelta), numerical)
		whole.Value = amplified(whole.Value, roundUp(l.sample))
		return whole, err
	}
	best := Bound{ZCDPEpsilon(roundUp(l.Rho()), roundDown(d)), MethodZCDP}
	if l.epsilon != nil {
		best = smallerBound(best, Bound{roundUp(l.epsilon), MethodPure})
	}
	return smallerBound(best, Bound{numerical(l, roundDown(d)), l.methodName()}), nil
}

// isNormal reports whether all steps together are one Gaussian.
func (l Loss) isNormal() bool { return l.normal.Sigma > 0 }

// methodName returns the method behind the figures of the steps.
func (l Loss) methodName() string {
	if l.isNormal() {
		return MethodGDP
	}
	return MethodPLD
}

// TruePositiveRate returns an upper bound on the true-positive rate of any membership attack whose false-positive rate
// is at most falsePositiveRate, in [0, 1]: how often it finds a unit that is present, if it errs about an absent unit
// at most that often. Without a sample, the bound also holds with absent and present exchanged.
//
// Guarantee: for the neighbours of the steps. Theorem: a test between
// (ε, δ)-private outputs has power at most e^ε·α + δ, for every such pair
// (Wasserman & Zhou 2010, theorem 2.4; Kairouz, Oh & Viswanath 2015).
func (l Loss) TruePositiveRate(falsePositiveRate float64) float64 {
	if l.sample != nil {
		// A unit outside the sample shows nothing: q·(power) + (1−q)·α.
		q := roundUp(l.sample)
		power := l.withoutSample().TruePositiveRate(falsePositiveRate)
		return min(1, (float64(q*power)+float64((1-q)*falsePositiveRate))*(1+0x1p-50))
	}
	if len(l.steps) == 0 {
		return falsePositiveRate
	}
	if l.isNormal() {
		return min(1, l.withSlack(l.normal.TruePositiveRate(min(1, l.withSlack(falsePositiveRate)))))
	}
	work := func() float64 {
		s := l.untilted()
		rate := min(1, l.withSlack(s.truePositiveRate(min(1, l.withSlack(falsePositiveRate)))))
		if l.byRho != nil {
			rate = min(rate, l.byRho.TruePositiveRate(falsePositiveRate))
		}
		return rate
	}
	return l.recall(question{l.identity, true, falsePositiveRate}, work)
}

// recall returns the remembered answer to a question. It calls work every time if the mechanisms have no identity.
func (l Loss) recall(q question, work func() float64) float64 {
	if l.identity == (identity{}) {
		return work()
	}
	return rememberedAnswers.getOrCompute(q, work)
}

func smallerBound(a, b Bound) Bound {
	if b.Value < a.Value {
		return b
	}
	return a
}

// numericalEpsilon returns the ε ≥ 0 of the loss distribution at δ, or +Inf.
func (l Loss) numericalEpsilon(delta float64) float64 {
	work := func() float64 {
		epsilon, _ := l.composedEpsilon(delta, usual)
		if l.byRho != nil {
			epsilon = min(epsilon, l.byRho.numericalEpsilon(delta))
		}
		return epsilon
	}
	return l.recall(question{mechanisms: l.identity, at: delta}, work)
}

// usualExcess is the mean of what connecting the dots adds, for losses anywhere between two dots, as a fraction of the
// most that it adds.
const usualExcess = 2. / 3

// roughEpsilon approximates numericalEpsilon.
func (l Loss) roughEpsilon(delta float64) float64 {
	epsilon, excess := l.composedEpsilon(delta, rough)
	epsilon = max(0, epsilon-float64(excess*usualExcess))
	if l.byRho != nil {
		epsilon = min(epsilon, l.byRho.roughEpsilon(delta))
	}
	return epsilon
}

// composedEpsilon returns the ε ≥ 0 of the loss distribution at δ, or +Inf, and an estimate of how much the resolution
// has increased it.
func (l Loss) composedEpsilon(delta float64, r resolution) (epsilon, excess float64) {
	switch {
	case len(l.steps) == 0:
		return 0, 0
	case delta <= 0:
		return math.Inf(1), 0
	case l.isNormal():
		return l.normal.Epsilon(delta/l.withSlack(1)) + 2*l.slack, 0
	}
	s := compose(l.steps, l.sketch, tiltFor(l.sketch, -Log(delta)), r)
	return max(0, s.epsilonAt(delta/l.withSlack(1))+2*l.slack), s.excess
}

// withSlack returns a probability enlarged by the factor up to which the steps dominate.
func (l Loss) withSlack(p float64) float64 { return float64(p * (1 + float64(2*l.slack))) }
