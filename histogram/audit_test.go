package histogram

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

// The tests of this file let an attacker ask all rounds of an adaptive method, on
// neighbouring inputs, and bound what they lose from below.
//
// The figure is δ(½): of an event with the probabilities p₁ and p₀ on two
// neighbouring inputs, p₁ − e^½·p₀. The event is fixed by the plan alone:
// {log-likelihood ratio ≥ ½}. The claim is what the accountant says of the
// plan's choices and answers composed, which is within what it says of the block.
// With the bounds of Clopper and Pearson for p₁ and p₀, each wrong with probability
// 1e-10, the bound exceeds the truth with probability at most 2e-10 for any program.
// That an honest method comes near its claim, and that a broken one exceeds it,
// holds of all frequencies but those that its laws give with probability below
// mostWrong: the tests work that out as well.

const (
	auditEpsilon = 0.5
	auditAlive   = 0.7 // of its claim, which an audit must reach
)

// attack is an attacker who knows everything but whether a unit is there. In
// each round he has one of two pairs chosen: one whose score the unit raises as far
// as it can, and one whose score it lowers as far. Which pairs take these parts in
// the second round depends on the first answer.
type attack struct {
	neighbours spec.Neighbours
	rows       int64   // max_rows
	epsilon    float64 // of a choice
	sigma2     float64 // of the noise
}

// newAttack is the attack on a plan.
func newAttack(p *plan.Plan, rows int64) attack {
	s := p.Synthetic[0]
	a := attack{neighbours: p.Release().Privacy.Neighbours, rows: rows}
	a.epsilon, _ = s.Select.Parameter.Float64()
	a.sigma2, _ = s.Noise.Parameter.Float64()
	return a
}

// deltasOf is what the accountant says of so many rounds, and of the whole block.
func deltasOf(t *testing.T, s plan.Synthetic, rounds int) (steps, block float64) {
	t.Helper()
	delta := func(steps ...budget.Mechanism) float64 {
		loss, err := budget.Compose(steps...)
		if err != nil {
			t.Fatal(err)
		}
		return loss.DeltaAt(auditEpsilon).Value
	}
	return delta(slices.Repeat([]budget.Mechanism{s.Select, s.Noise}, rounds)...), delta(s.Block)
}

// ratio is the log-likelihood ratio of what the attacker saw: how many choices fell
// towards the unit less those away from it, and the sum of the noisy counts of the
// unit's cell, less those of the other unit's.
func (a attack) ratio(choices int, counts int64) float64 {
	return a.epsilon/2*float64(choices) + float64(a.rows)*(float64(counts)-a.centre())/a.sigma2
}

// centre is the count half way between the neighbours.
func (a attack) centre() float64 {
	if a.neighbours == spec.Replace {
		return 0
	}
	return float64(rounds*a.rows) / 2
}

// probabilities are those of the event on the two inputs, where choices have an ε
// and noise a σ², worked out from their definitions.
func (a attack) probabilities(epsilon, sigma2 float64) (p1, p0 float64) {
	cells := rounds
	if a.neighbours == spec.Replace {
		cells *= 2
	}
	sum := gaussianSum(sigma2, cells)
	middle := int64(len(sum) / 2)
	towards := distuv.Binomial{N: rounds, P: 1 / (1 + math.Exp(-epsilon/2))}
	for n := range rounds + 1 {
		for i, q := range sum {
			noise := int64(i) - middle
			there, absent := noise+rounds*a.rows, noise
			if a.neighbours == spec.Replace {
				absent -= rounds * a.rows
			}
			if a.ratio(2*n-rounds, there) >= auditEpsilon {
				p1 += q * towards.Prob(float64(n))
			}
			if a.ratio(2*n-rounds, absent) >= auditEpsilon {
				p0 += q * towards.Prob(float64(rounds-n))
			}
		}
	}
	return p1, p0
}

// gaussianSum is the law of a sum of so many draws with P(x) ∝ exp(−x²/2σ²), cut
// where what is left out is below 1e-15, around the middle.
func gaussianSum(sigma2 float64, draws int) []float64 {
	reach := int(9*math.Sqrt(sigma2)) + 2
	one, total := make([]float64, 2*reach+1), 0.0
	for i := range one {
		one[i] = math.Exp(-float64((i-reach)*(i-reach)) / (2 * sigma2))
		total += one[i]
	}
	sum := []float64{1}
	for range draws {
		next := make([]float64, len(sum)+2*reach)
		for i, p := range sum {
			for j, q := range one {
				next[i+j] += p * q / total
			}
		}
		sum = next
	}
	return sum
}

// lowerBound is that of δ(½) where the event was seen so often in as many trials on
// either input. It never falls with hits1 and never rises with hits0.
func lowerBound(hits1, hits0, trials int) float64 {
	return 1 - mostLikely(trials-hits1, trials) - math.Exp(auditEpsilon)*mostLikely(hits0, trials)
}

// mostLikely is the upper bound of Clopper and Pearson (1934): the least
// probability under which so few hits have one of 1e-10 or less.
func mostLikely(hits, trials int) float64 {
	if hits >= trials {
		return 1
	}
	low, high := float64(hits)/float64(trials), 1.0
	for range 40 {
		if p := (low + high) / 2; atMost(hits, trials, p) > 1e-10 {
			low = p
		} else {
			high = p
		}
	}
	return high
}

// happens asks all rounds of an oracle and tells whether the event is seen.
func (a attack) happens(t *testing.T, o *Oracle) bool {
	t.Helper()
	other := map[int]int{ab: 3, ac: 4, bc: 4} // cells of another unit; the unit's own is 0
	full := plan.ModelScale * a.rows
	towards, counts := 0, int64(0)
	left := []int{ab, ac, bc}
	for round := range rounds {
		raised, lowered := left[0], left[1]
		models := zeros(&Exact{inner: o.inner.opened.exact}, raised, lowered)
		models[1][0] = full
		if a.neighbours == spec.Replace {
			models[0][other[raised]] = full
		}
		choice, err := o.Select(context.Background(), round, []int{raised, lowered}, models)
		if err != nil {
			t.Fatal(err)
		}
		if choice == raised {
			towards++
		}
		m, err := o.Measure(context.Background(), round, choice)
		if err != nil {
			t.Fatal(err)
		}
		answer := m.Values.Int64Values()
		counts += answer[0]
		if a.neighbours == spec.Replace {
			counts -= answer[other[choice]]
		}
		left = slices.DeleteFunc(left, func(pair int) bool { return pair == choice })
		if answer[1]%2 == 0 {
			slices.Reverse(left)
		}
	}
	return a.ratio(2*towards-rounds, counts) >= auditEpsilon
}

// frequencies are how often the event was seen where the unit is there, and where
// it is not, each in as many trials with keys of their own.
func (a attack) frequencies(t *testing.T, inputs [2]*Exact, trials, firstKey int, broken func(o *oracle)) (hits [2]int) {
	t.Helper()
	for side, e := range inputs {
		fresh := oracles(t, e)
		for n := range trials {
			o := fresh(firstKey + 2*n + side)
			if broken != nil {
				broken(o.inner)
			}
			if a.happens(t, o) {
				hits[side]++
			}
		}
	}
	return hits
}

// leastBound is what laws let the lower bound be, but with probability below
// mostWrong.
func (a attack) leastBound(epsilon, sigma2 float64, trials int) float64 {
	p1, p0 := a.probabilities(epsilon, sigma2)
	low, _ := span(trials, p1, mostWrong/2)
	_, high := span(trials, p0, mostWrong/2)
	return lowerBound(low, high, trials)
}

// audited is a plan under attack, with the claim and neighbouring inputs: the unit
// is there, with two rows more than are counted, or it is not.
type audited struct {
	attack
	claim, block float64 // of the steps, and of the block that they are in
	forgotten    float64 // the claim that leaves a round out
	inputs       [2]*Exact
}

const (
	auditRows   = 3
	auditTrials = 8000
)

func newAudited(t *testing.T, neighbours spec.Neighbours) audited {
	t.Helper()
	p := personsOf(t, "UNIT", fmt.Sprintf("{id: id, max_rows: %d}", auditRows), "add-remove", string(neighbours), "RHO", "6")
	a := audited{attack: newAttack(p, auditRows)}
	a.claim, a.block = deltasOf(t, p.Synthetic[0], rounds)
	a.forgotten, _ = deltasOf(t, p.Synthetic[0], rounds-1)
	others := "id,a,b,c\n2,x,y,z\n3,y,x,z\n3,x,y,z\n"
	with, without := others+strings.Repeat("1,x,x,x\n", auditRows+2), others
	if neighbours == spec.Replace {
		without += strings.Repeat("4,y,y,y\n", auditRows+2)
	}
	a.inputs = [2]*Exact{exactOf(t, p, folder(t, "a.csv", with), 1), exactOf(t, p, folder(t, "a.csv", without), 1)}
	return a
}

// TestAuditOfABlock attacks rounds as they should be: their bound must come near
// the claim, not exceed it, and exceed a claim that leaves a round out.
func TestAuditOfABlock(t *testing.T) {
	skipUnderRace(t)
	for _, neighbours := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		a := newAudited(t, neighbours)
		if a.claim > a.block {
			t.Errorf("%s: the steps lose %g and the block %g", neighbours, a.claim, a.block)
		}
		if least := a.leastBound(a.epsilon, a.sigma2, auditTrials); least < auditAlive*a.claim || least <= a.forgotten {
			t.Errorf("%s: by its laws the bound may be as low as %g", neighbours, least)
		}
		hits := a.frequencies(t, a.inputs, auditTrials, 0, nil)
		bound := lowerBound(hits[0], hits[1], auditTrials)
		t.Logf("%s: δ(½) of the block %.4f, of its steps %.4f, but for a round %.4f; lower bound %.4f", neighbours, a.block, a.claim, a.forgotten, bound)
		if !(bound <= a.claim) || !(bound >= auditAlive*a.claim) {
			t.Errorf("%s: the bound is %g and the claim %g", neighbours, bound, a.claim)
		}
		if !(bound > a.forgotten) {
			t.Errorf("%s: a round uncounted is not noticed: the bound is %g and the claim %g", neighbours, bound, a.forgotten)
		}
	}
}

// TestAuditCatchesBrokenBlocks attacks broken rounds in the same way: the bound must
// exceed the claim.
func TestAuditCatchesBrokenBlocks(t *testing.T) {
	skipUnderRace(t)
	for _, neighbours := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		a := newAudited(t, neighbours)
		for i, b := range []struct {
			what            string
			epsilon, sigma2 float64 // what choices and noise are like
			trials          int
			broken          func(o *oracle)
		}{
			{"double the ε", 2 * a.epsilon, a.sigma2, auditTrials / 2, func(o *oracle) {
				o.method.Select.Parameter = new(big.Rat).Mul(big.NewRat(2, 1), o.method.Select.Parameter)
			}},
			{"k forgotten in scores", auditRows * a.epsilon, a.sigma2, auditTrials / 4, func(o *oracle) { o.sensitivity /= auditRows }},
			{"next to no noise", a.epsilon, 1e-3, auditTrials / 2, func(o *oracle) {
				o.pairs = slices.Clone(o.pairs)
				for i := range o.pairs {
					o.pairs[i].measurement.Mechanism.Parameter = big.NewRat(1, 1000)
				}
			}},
		} {
			if least := a.leastBound(b.epsilon, b.sigma2, b.trials); least <= a.claim {
				t.Errorf("%s: by its laws %s may show a bound of %g, of a claim of %g", neighbours, b.what, least, a.claim)
			}
			hits := a.frequencies(t, a.inputs, b.trials, (i+1)<<20, b.broken)
			bound := lowerBound(hits[0], hits[1], b.trials)
			t.Logf("%s, %s: claim %.4f, lower bound %.4f", neighbours, b.what, a.claim, bound)
			if !(bound > a.claim) {
				t.Errorf("%s: %s is not noticed: the bound %g is not above the claim %g", neighbours, b.what, bound, a.claim)
			}
		}
	}
}

// TestAuditOfKnownLaws holds the attack's laws and bound against closed forms.
func TestAuditOfKnownLaws(t *testing.T) {
	near := func(what string, got, want, relative float64) {
		t.Helper()
		if !(math.Abs(got-want) <= relative*math.Abs(want)) {
			t.Errorf("%s is %g, expected %g", what, got, want)
		}
	}
	near("the bound of no hits in 1000", mostLikely(0, 1000), 1-math.Pow(1e-10, 1e-3), 1e-6)
	near("the bound of 1000 hits and none", lowerBound(1000, 0, 1000), math.Pow(1e-10, 1e-3)*(1+math.Exp(0.5))-math.Exp(0.5), 1e-6)
	p := 1 / (1 + math.Exp(-0.5)) // that a choice falls towards the unit, for ε = 1
	// Counts that say next to nothing, as the attacker weighs them, leave the choices: both towards the unit.
	for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		a := attack{neighbours: n, rows: 2, epsilon: 1, sigma2: 1e9}
		p1, p0 := a.probabilities(1, 1e-3)
		near(fmt.Sprint(n, " p1"), p1, p*p, 1e-12)
		near(fmt.Sprint(n, " p0"), p0, (1-p)*(1-p), 1e-12)
	}
	sum, variance := gaussianSum(4, 3), 0.0
	for i, q := range sum {
		variance += q * float64((i-len(sum)/2)*(i-len(sum)/2))
	}
	near("the variance of three", variance, 12, 1e-9) // of the discrete law at σ² = 4, within 1e-30 of σ²
}
