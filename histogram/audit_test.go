package histogram

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
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
// each round he has one of two candidates chosen: one whose score the unit raises as far
// as it can, and one whose score it lowers as far. Which pairs take these parts in
// the second round of MST depends on the first answer; AIM is asked for the set of all three columns, whose
// weight is 3, or for that of the first two, whose weight is 2, in both rounds.
type attack struct {
	neighbours      spec.Neighbours
	rows            int64   // max_rows
	epsilon         float64 // of a choice
	sigma2          float64 // of the noise
	raised, lowered float64 // weights of the candidates, as parts of the largest
}

// newAttack is the attack on a method.
func newAttack(neighbours spec.Neighbours, s plan.Synthetic, rows int64) attack {
	a := attack{neighbours: neighbours, rows: rows, raised: 1, lowered: 1}
	if s.Method == plan.AIM {
		a.lowered = 2.0 / 3
	}
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
		return claimedDelta(t, loss)
	}
	return delta(slices.Repeat([]budget.Mechanism{s.Select, s.Noise}, rounds)...), delta(s.Block)
}

// claimedDelta is the least δ at which the accountant has an ε of ½, to 1e-9 of it.
func claimedDelta(t *testing.T, loss budget.Loss) float64 {
	low, high := 1e-12, 1.0
	for high > low*(1+1e-9) {
		middle := math.Sqrt(low * high)
		bound, err := loss.EpsilonAt(new(big.Rat).SetFloat64(middle))
		if err != nil {
			t.Fatal(err)
		}
		if bound.Value <= auditEpsilon {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// towards are the chances that a choice of this ε falls towards the unit, where it is there and
// where it is not.
func (a attack) towards(epsilon float64) (there, absent float64) {
	return 1 / (1 + math.Exp(-epsilon*a.raised/2)), 1 / (1 + math.Exp(epsilon*a.lowered/2))
}

// ratio is the log-likelihood ratio of what the attacker saw: how many choices fell
// towards the unit, and the sum of the noisy counts of the unit's cell, less those of the
// other unit's.
func (a attack) ratio(towards int, counts int64) float64 {
	there, absent := a.towards(a.epsilon)
	choices := float64(towards)*math.Log(there/absent) + float64(rounds-towards)*math.Log((1-there)/(1-absent))
	return choices + float64(a.rows)*(float64(counts)-a.centre())/a.sigma2
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
	there, absent := a.towards(epsilon)
	towards, away := distuv.Binomial{N: rounds, P: there}, distuv.Binomial{N: rounds, P: absent}
	for n := range rounds + 1 {
		for i, q := range sum {
			noise := int64(i) - middle
			there, absent := noise+rounds*a.rows, noise
			if a.neighbours == spec.Replace {
				absent -= rounds * a.rows
			}
			if a.ratio(n, there) >= auditEpsilon {
				p1 += q * towards.Prob(float64(n))
			}
			if a.ratio(n, absent) >= auditEpsilon {
				p0 += q * away.Prob(float64(n))
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
	left := []int{ab, ac, bc}
	method := o.inner.method
	if method.Method == plan.AIM {
		other, left = map[int]int{setABC: 10, setAB: 3}, []int{setABC, setAB}
	}
	full := adaptive.ModelScale * a.rows
	towards, counts := 0, int64(0)
	for round := range rounds {
		raised, lowered := left[0], left[1]
		models := [][]int64{make([]int64, len(o.inner.counts[raised])), make([]int64, len(o.inner.counts[lowered]))}
		models[1][0] = full
		if a.neighbours == spec.Replace {
			models[0][other[raised]] = full
		}
		// what the others' rows are apart from the models
		penalties := []int64{adaptive.ModelScale * auditOthers, adaptive.ModelScale * auditOthers}
		choice, err := o.Select(context.Background(), round, method.Select, []int{raised, lowered}, models, penalties)
		if err != nil {
			t.Fatal(err)
		}
		if choice == raised {
			towards++
		}
		m, err := o.Measure(context.Background(), round, choice, method.Noise)
		if err != nil {
			t.Fatal(err)
		}
		answer := m.Values.Int64Values()
		counts += answer[0]
		if a.neighbours == spec.Replace {
			counts -= answer[other[choice]]
		}
		if method.Method == plan.AIM {
			continue
		}
		left = slices.DeleteFunc(left, func(pair int) bool { return pair == choice })
		if answer[1]%2 == 0 {
			slices.Reverse(left)
		}
	}
	return a.ratio(towards, counts) >= auditEpsilon
}

// frequencies are how often the event was seen where the unit is there, and where
// it is not, each in as many trials with keys of their own.
func (a attack) frequencies(t *testing.T, inputs [2]*Exact, trials, firstKey int,
	broken func(o *oracle)) (hits [2]int) {
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
	auditOthers = 3 // rows of other units
	auditTrials = 8000
)

func newAudited(t *testing.T, neighbours spec.Neighbours, method string) audited {
	t.Helper()
	p := personsOf(t, "UNIT", fmt.Sprintf("{id: id, max_rows: %d}", auditRows), "add-remove", string(neighbours), "RHO",
		"6", "METHOD", method)
	s := &p.Synthetic[0]
	if s.Method == plan.AIM { // two rounds that take the block whole, but for roundings
		s.Select.Parameter = big.NewRat(14, 5)
		noise := new(big.Rat).Sub(new(big.Rat).Quo(s.Block.Rho(), big.NewRat(rounds, 1)), s.Select.Rho())
		s.Noise.Parameter = noise.Quo(new(big.Rat).Mul(s.Noise.Parameter, s.Noise.Rho()), noise)
	}
	a := audited{attack: newAttack(neighbours, *s, auditRows)}
	a.claim, a.block = deltasOf(t, *s, rounds)
	a.forgotten, _ = deltasOf(t, *s, rounds-1)
	others := "id,a,b,c\n2,x,y,z\n3,y,x,z\n3,x,y,z\n"
	with, without := others+strings.Repeat("1,x,x,x\n", auditRows+2), others
	if neighbours == spec.Replace {
		without += strings.Repeat("4,y,y,y\n", auditRows+2)
	}
	turn := adaptive.RoundMechanisms{Select: s.Select, Noise: s.Noise}
	fresh := personsOf(t, "UNIT", fmt.Sprintf("{id: id, max_rows: %d}", auditRows), "add-remove", string(neighbours),
		"RHO", "6", "METHOD", method)
	a.inputs = [2]*Exact{exactOf(t, fresh, folder(t, "a.csv", with), 1),
		exactOf(t, fresh, folder(t, "a.csv", without), 1)}
	for _, e := range a.inputs { // what the attacker asks with
		e.inner.plan.Synthetic[0].Select, e.inner.plan.Synthetic[0].Noise = turn.Select, turn.Noise
	}
	return a
}

// auditedMethods are the methods whose rounds are attacked: those of AIM in the long run only, as the chances of their
// choices are enumerated in every run (score_test.go).
func auditedMethods() []string {
	if os.Getenv("DPRELEASE_LONG") == "" {
		return []string{"method: mst"}
	}
	return []string{"method: mst", aim}
}

// auditedNeighbours are the relations under which rounds are attacked: units that are replaced in the long run only.
// The same mechanisms draw, by a sensitivity that TestScoresMoveByTheirSensitivity enumerates in every run.
func auditedNeighbours() []spec.Neighbours {
	if os.Getenv("DPRELEASE_LONG") == "" {
		return []spec.Neighbours{spec.AddRemove}
	}
	return []spec.Neighbours{spec.AddRemove, spec.Replace}
}

// TestAuditOfABlock attacks rounds as they should be: their bound must come near
// the claim, not exceed it, and exceed a claim that leaves a round out. Weights keep the attack on AIM further from
// its claim, which its bound must not exceed.
func TestAuditOfABlock(t *testing.T) {
	testkit.SkipPassed(t)
	testkit.SkipUnderRace(t)
	for _, method := range auditedMethods() {
		for _, neighbours := range auditedNeighbours() {
			a := newAudited(t, neighbours, method)
			if a.claim > a.block {
				t.Errorf("%s: the steps lose %g and the block %g", neighbours, a.claim, a.block)
			}
			if least := a.leastBound(a.epsilon, a.sigma2, auditTrials); method != aim &&
				(least < auditAlive*a.claim || least <= a.forgotten) {
				t.Errorf("%s: by its laws the bound may be as low as %g", neighbours, least)
			}
			hits := a.frequencies(t, a.inputs, auditTrials, 0, nil)
			bound := lowerBound(hits[0], hits[1], auditTrials)
			t.Logf("%s, %s: δ(½) of the block %.4f, of its steps %.4f, but for a round %.4f; lower bound %.4f", method,
				neighbours, a.block, a.claim, a.forgotten, bound)
			if !(bound <= a.claim) || method != aim && !(bound >= auditAlive*a.claim) {
				t.Errorf("%s, %s: the bound is %g and the claim %g", method, neighbours, bound, a.claim)
			}
			if method != aim && !(bound > a.forgotten) {
				t.Errorf("%s, %s: a round uncounted is not noticed: the bound is %g and the claim %g", method,
					neighbours, bound,
					a.forgotten)
			}
		}
	}
}

// TestAuditCatchesBrokenBlocks attacks broken rounds in the same way: the bound must
// exceed the claim.
func TestAuditCatchesBrokenBlocks(t *testing.T) {
	testkit.SkipUnderRace(t)
	testkit.SkipPassed(t)
	unlimited := func(o *oracle) { o.method.Block.Parameter = big.NewRat(1<<40, 1) }
	for _, method := range auditedMethods() {
		for _, neighbours := range auditedNeighbours() {
			a := newAudited(t, neighbours, method)
			type broken struct {
				what            string
				epsilon, sigma2 float64 // what choices and noise are like
				trials          int
				broken          func(o *oracle)
			}
			all := []broken{
				{"double the ε, and no filter", 2 * a.epsilon, a.sigma2, auditTrials / 2, func(o *oracle) {
					unlimited(o)
					o.method.Select.Parameter = new(big.Rat).Mul(big.NewRat(2, 1), o.method.Select.Parameter)
				}},
				{"k forgotten in scores", auditRows * a.epsilon, a.sigma2, auditTrials / 4, func(o *oracle) {
					for i := range o.sensitivities {
						o.sensitivities[i] /= auditRows
					}
				}},
			}
			if method == aim {
				all = append(all, broken{"weights forgotten in the sensitivity", 3 * a.epsilon, a.sigma2,
					auditTrials / 2,
					func(o *oracle) {
						for i := range o.sensitivities {
							o.sensitivities[i] /= o.weights[i]
						}
					}})
			} else {
				all = append(all, broken{"next to no noise, and no filter", a.epsilon, 1e-3, auditTrials / 2,
					func(o *oracle) {
						unlimited(o)
						o.method.Noise.Parameter = big.NewRat(1, 1000)
					}})
			}
			for i, b := range all {
				if method == aim {
					b.trials = auditTrials
				}
				if least := a.leastBound(b.epsilon, b.sigma2, b.trials); least <= a.claim {
					t.Errorf("%s, %s: by its laws %s may show a bound of %g, of a claim of %g", method, neighbours,
						b.what, least,
						a.claim)
				}
				hits := a.frequencies(t, a.inputs, b.trials, (i+1)<<20, b.broken)
				bound := lowerBound(hits[0], hits[1], b.trials)
				t.Logf("%s, %s, %s: claim %.4f, lower bound %.4f", method, neighbours, b.what, a.claim, bound)
				if !(bound > a.claim) {
					t.Errorf("%s, %s: %s is not noticed: the bound %g is not above the claim %g", method, neighbours,
						b.what, bound,
						a.claim)
				}
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
	near("the bound of 1000 hits and none", lowerBound(1000, 0, 1000),
		math.Pow(1e-10, 1e-3)*(1+math.Exp(0.5))-math.Exp(0.5), 1e-6)
	p := 1 / (1 + math.Exp(-0.5)) // that a choice falls towards the unit, for ε = 1
	// Counts that say next to nothing, as the attacker weighs them, leave the choices: both towards the unit.
	for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		a := attack{neighbours: n, rows: 2, epsilon: 1, sigma2: 1e9, raised: 1, lowered: 1}
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
