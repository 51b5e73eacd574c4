package release

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// The tests of this file run the whole program on neighbouring inputs and bound
// its privacy loss from below. docs/audit.md says what that shows.
//
// A release has many disjoint blocks, each a pair of neighbouring inputs of its
// own. Under add-remove the worst unit, with all its rows in one cell of every
// marginal and two rows more than max_rows, is planted in a random half of the
// blocks, and the other half stays empty. Under replace a trial is two blocks,
// between which the unit moves with all its rows.
//
// Failures by chance. An audit is fixed before its release is seen: statistic,
// event and claim come from the plan. Its bound exceeds the truth with probability
// at most 2e-10 for any program (Clopper and Pearson, twice). For the program as it
// should be, and for each broken one, the laws are known, and every test works out
// how likely its own verdict is to be wrong and wants at most mostWrong = 1e-11: an
// honest release judged broken, an honest release that stays below 0.9 of its
// claim, a broken release not noticed. In the long run, with DPRELEASE_LONG,
// there are 9 honest releases with 2 checks each and 24 broken ones with 1, all for
// both orders of the neighbours: 84 checks, together below 9e-10. Any other run has
// 4 of the honest ones and 10 of the broken ones: 36 checks, below 4e-10.
const mostWrong = 1e-11

// alive is the share of its claim that an audit must reach.
const alive = 0.9

// least δ at ε₀, and least ε at its own δ, of a release whose δ is audited.
const (
	leastDelta   = 0.1
	leastEpsilon = 4
)

// event is {statistic ≥ least} on one of two neighbouring inputs rather than on
// the other: where the unit is present, or, reversed, {−statistic ≥ least} where
// it is absent. Privacy is promised for both orders.
type event struct {
	scoring
	reversed bool
	least    int
}

// happens reports whether the event occurs in a trial.
func (e event) happens(noisy [][]int64, trial int) bool {
	s := e.of(noisy, trial)
	if e.reversed {
		s = -s
	}
	return s >= e.least
}

// laws returns the law of the statistic, or of its negative, first for the input on which the event is expected and
// then for the other, for noise of m and so many counted rows of the worst unit.
func (e event) laws(m budget.Mechanism, rows int) (likely, unlikely releasetest.Law) {
	present, absent := e.scoring.laws(m, rows)
	if e.reversed {
		return absent.Negated(), present.Negated()
	}
	return present, absent
}

// probabilities returns the probabilities of the event on the two inputs, for noise of m and so many counted rows of
// the worst unit.
func (e event) probabilities(m budget.Mechanism, rows int) (p1, p0 float64) {
	likely, unlikely := e.laws(m, rows)
	return likely.AtLeast(e.least), unlikely.AtLeast(e.least)
}

// frequencies is how often an event happened on either input.
type frequencies struct{ likely, unlikely frequency }

func (f *frequencies) add(e event, noisy [][]int64, planted []bool) {
	for trial, there := range planted {
		side := &f.unlikely
		if there != e.reversed {
			side = &f.likely
		}
		side.trials++
		if e.happens(noisy, trial) {
			side.hits++
		}
	}
}

// audit is a plan's claim and the event by which it is put to the test.
type audit struct {
	figure
	event
	claim float64
}

// newAudits fixes the audits of a plan, one for each order of the neighbours,
// before anything is released. The claim is that of all its mechanisms composed,
// which must be within its guarantee; under pure ε it is the less of the two.
func newAudits(t *testing.T, a audited, p *compiled.Compiled) []audit {
	t.Helper()
	withinGuarantee(t, a, p)
	m := p.Measurements[0].Mechanism
	for _, other := range p.Measurements {
		if other.Mechanism.Kind != m.Kind || other.Mechanism.Parameter.Cmp(m.Parameter) != 0 {
			t.Fatal("the statistic is for marginals with noise of one law")
		}
	}
	f := figure{pure: p.Guarantee.Definition == "pure", epsilon0: a.epsilon0}
	claim := claimOf(t, f, p.Measurements)
	if promised, _ := mustRat(t, p.Guarantee.Epsilon).Float64(); f.pure {
		claim = min(claim, promised)
	}
	both := make([]audit, 2)
	for i := range both {
		e := event{scoring: scoring{m.Kind, a.neighbours, a.maxRows, a.marginals}, reversed: i == 1}
		likely, unlikely := e.laws(m, a.maxRows)
		e.least = bestThreshold(f, likely, unlikely, a.trials)
		both[i] = audit{f, e, claim}
	}
	return both
}

// withinGuarantee wants the composed loss of a plan within what it promises, for
// the neighbours that are audited.
func withinGuarantee(t *testing.T, a audited, p *compiled.Compiled) {
	t.Helper()
	if p.Guarantee.Neighbours != string(a.neighbours) {
		t.Fatalf("the guarantee is for %s", p.Guarantee.Neighbours)
	}
	loss, promised := composeLosses(t, p.Measurements), mustRat(t, p.Guarantee.Epsilon)
	if p.Guarantee.Definition == "pure" {
		if loss.Epsilon() == nil || loss.Epsilon().Cmp(promised) > 0 {
			t.Errorf("the measurements together have ε = %v, and the guarantee says %v", loss.Epsilon(), promised)
		}
		return
	}
	b, err := loss.EpsilonAt(mustRat(t, p.Guarantee.Delta))
	if limit, _ := promised.Float64(); err != nil || b.Value > limit || limit < leastEpsilon {
		t.Errorf("the measurements together have ε = %g (%v), and the guarantee says %g; an audit wants %d or more",
			b.Value,
			err, limit, leastEpsilon)
	}
	if d := deltaAt(t, loss, a.epsilon0); d < leastDelta {
		t.Errorf("δ is %g at ε₀ = %g; an audit wants %g or more", d, a.epsilon0, leastDelta)
	}
}

// claimOf is what the accountant says of measurements: their ε, or their δ at ε₀.
func claimOf(t *testing.T, f figure, all []plan.Measurement) float64 {
	t.Helper()
	loss := composeLosses(t, all)
	if !f.pure {
		return deltaAt(t, loss, f.epsilon0)
	}
	epsilon, _ := loss.Epsilon().Float64()
	return epsilon
}

// deltaAt is the least δ at which the accountant has at most this ε, to 1e-9 of it.
func deltaAt(t *testing.T, loss budget.Loss, epsilon float64) float64 {
	t.Helper()
	low, high := 1e-12, 1.0
	for high > low*(1+1e-9) {
		middle := math.Sqrt(low * high)
		bound, err := loss.EpsilonAt(new(big.Rat).SetFloat64(middle))
		if err != nil {
			t.Fatal(err)
		}
		if bound.Value <= epsilon {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func composeLosses(t *testing.T, all []plan.Measurement) budget.Loss {
	t.Helper()
	steps := make([]budget.Mechanism, len(all))
	for i, m := range all {
		steps[i] = m.Mechanism
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// passes wants an honest release, whose noise is that of m, to keep its claim and
// to come near it.
func (au audit) passes(t *testing.T, m budget.Mechanism, seen frequencies, trials int) {
	t.Helper()
	p1, p0 := au.probabilities(m, au.rows)
	alarm, _ := au.chances(au.claim, p1, p0, trials)
	_, dead := au.chances(alive*au.claim, p1, p0, trials)
	bound := au.bound(seen.likely, seen.unlikely)
	t.Logf("claim %.4f, lower bound %.4f (%.3f of it); above its claim with probability below %.0e, under %g of it with %.0e",
		au.claim, bound, bound/au.claim, alarm, alive, dead)
	if alarm > mostWrong || dead > mostWrong {
		t.Errorf("by the laws of its noise and %d trials a side, its bound is above the claim with probability %.0e "+
			"and too low with %.0e", trials, alarm, dead)
	}
	if seen.likely.trials != trials || seen.unlikely.trials != trials {
		t.Errorf("there were %v trials, expected %d on either side", seen, trials)
	}
	if !(bound <= au.claim) {
		t.Errorf("the bound %g is above the claim %g", bound, au.claim)
	}
	if !(bound >= alive*au.claim) {
		t.Errorf("the bound %g is below %g of the claim %g", bound, alive, au.claim)
	}
}

// catches wants a broken release, whose noise is that of m and whose worst unit
// has as many counted rows, to be found above the claim.
func (au audit) catches(t *testing.T, what string, m budget.Mechanism, rows int, seen frequencies) {
	t.Helper()
	p1, p0 := au.probabilities(m, rows)
	_, missed := au.chances(au.claim, p1, p0, seen.likely.trials)
	bound := au.bound(seen.likely, seen.unlikely)
	t.Logf("%s: claim %.4f, lower bound %.4f; missed with probability below %.0e", what, au.claim, bound, missed)
	if missed > mostWrong {
		t.Errorf("%s: missed with probability %.0e: too few trials", what, missed)
	}
	if !(bound > au.claim) {
		t.Errorf("%s is not noticed: the bound %g is not above the claim %g", what, bound, au.claim)
	}
}

// test audits the release as it should be, and broken ones by the same audits. A
// broken one shows with a quarter of the trials.
func (a audited) test(t *testing.T) {
	p := a.honest(t)
	m := p.Measurements[0].Mechanism
	audits := newAudits(t, a, p)
	seen := a.run(t, p, audits, 1)
	for i, au := range audits {
		au.passes(t, m, seen[i], a.trials)
		if a.marginals > 1 {
			au.claim = claimOf(t, au.figure, p.Measurements[1:])
			au.catches(t, "one composition forgotten", m, a.maxRows, seen[i])
		}
	}
	t.Run("mistakes", func(t *testing.T) { a.testMistakes(t, m, audits) })
}

// testMistakes requires the audits to notice what is planted.
func (a audited) testMistakes(t *testing.T, m budget.Mechanism, audits []audit) {
	testkit.SkipPassed(t)
	a.trials, a.runs = a.trials/4, a.runs/4
	half := a.plan(t, fmt.Sprintf("{id: id, max_rows: %d}", a.maxRows), noisePrice(m, 2, a.marginals))
	seen := a.run(t, half, audits, 2)
	for i, au := range audits {
		au.catches(t, "half the scale", half.Measurements[0].Mechanism, a.maxRows, seen[i])
	}
	// Every row a unit of its own: the very same noise, and nothing is bounded.
	free := a.plan(t, "row", noisePrice(ofOneRow(m, a.maxRows), 1, a.marginals))
	if got := free.Measurements[0].Mechanism; got.Kind != m.Kind || got.Parameter.Cmp(m.Parameter) != 0 {
		t.Fatalf("the release without a bound has the noise %s, not %s", got.Parameter, m.Parameter)
	}
	seen = a.run(t, free, audits, 3)
	for i, au := range audits {
		au.catches(t, "bound not applied", m, a.rows(), seen[i])
	}
}

// noisePrice is the budget, as a spec writes it, that buys m's noise with its
// scale divided by a factor in each of so many marginals.
func noisePrice(m budget.Mechanism, factor int64, marginals int) string {
	n := new(big.Rat).SetInt64(int64(marginals))
	if m.Kind == budget.DiscreteLaplace { // ε = Δ₁/t
		epsilon := new(big.Rat).Quo(new(big.Rat).SetInt(m.L1), m.Parameter)
		return "epsilon: " + budget.FormatRat(n.Mul(n, epsilon.Mul(epsilon, big.NewRat(factor, 1))))
	}
	rho := new(big.Rat).Quo(new(big.Rat).SetInt(m.L2Squared), m.Parameter) // ρ = Δ₂²/2σ²
	return "rho: " + budget.FormatRat(n.Mul(n, rho.Mul(rho, big.NewRat(factor*factor, 2))))
}

// ofOneRow is m with the sensitivities of a unit of one row.
func ofOneRow(m budget.Mechanism, maxRows int) budget.Mechanism {
	k := big.NewInt(int64(maxRows))
	m.L1 = new(big.Int).Quo(m.L1, k)
	m.L2Squared = new(big.Int).Quo(m.L2Squared, new(big.Int).Mul(k, k))
	return m
}

func mustRat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, err := budget.ParseRat(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAuditPublished audits what is read from the published Parquet of one
// release: a single table of 200 000 cells, two tables with the unit in both, and
// the same where units are replaced, under ε and under ε, δ. With what is left of
// TestAuditComposition, either definition is audited for either neighbours without
// the settings that wait for DPRELEASE_LONG.
func TestAuditPublished(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range []struct {
		name string
		long bool // left out unless DPRELEASE_LONG is set
		audited
	}{
		{"one table, ε", false, audited{neighbours: spec.AddRemove, budget: "epsilon: 1", maxRows: 2, marginals: 1,
			trials: 100000}},
		{"one table, ε, replace", false, audited{neighbours: spec.Replace, budget: "epsilon: 3", maxRows: 2,
			marginals: 1,
			trials:    120000}},
		{"two tables, ε", true, audited{neighbours: spec.AddRemove, budget: "epsilon: 3", maxRows: 2, marginals: 2,
			trials: 120000}},
		{"two tables, ε δ", false, audited{neighbours: spec.AddRemove, budget: approximate, maxRows: 4, marginals: 2,
			trials: 200000, epsilon0: 0.5}},
		{"one table, ε δ, replace", true, audited{neighbours: spec.Replace, budget: approximate, maxRows: 3,
			marginals: 1,
			trials:    100000, epsilon0: 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			releasetest.SkipLong(t, c.long)
			c.test(t)
		})
	}
}

// TestAuditComposition audits a hundred runs in process, each with a fresh key and
// an input of its own, by events on all measurements of a run: two or three
// marginals, one of them over one attribute and the others over two.
func TestAuditComposition(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range []struct {
		name string
		long bool // left out unless DPRELEASE_LONG is set
		audited
	}{
		{"ε", true, audited{neighbours: spec.AddRemove, budget: "epsilon: 3", maxRows: 2, marginals: 3, trials: 300000,
			runs: 100}},
		{"ε, replace", true, audited{neighbours: spec.Replace, budget: "epsilon: 4", maxRows: 1, marginals: 2,
			trials: 300000,
			runs:   100}},
		{"ε δ", true, audited{neighbours: spec.AddRemove, budget: approximate, maxRows: 3, marginals: 3, trials: 100000,
			epsilon0: 0.5, runs: 100}},
		{"ε δ, replace", false, audited{neighbours: spec.Replace, budget: approximate, maxRows: 2, marginals: 3,
			trials: 100000, epsilon0: 0.5, runs: 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			releasetest.SkipLong(t, c.long)
			c.test(t)
		})
	}
}

// approximate is the budget of the releases whose δ is audited.
const approximate = "epsilon: 8, delta: 1e-6"
