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
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
)

// The tests of this file audit tables that are put together from residuals, as those of blocks are audited:
// neighbouring inputs are counted, every measurement of the plan is drawn many times, and the loss δ(½) is bounded from
// below. The event is {log-likelihood ratio ≥ ½} of all integers together,
//
//	Σ over measurements of Σ_j s_j·(y_j − middle_j)/σ²,
//
// with s what the unit moves. Its probabilities are those of a sum of weighted discrete Gaussian noise, convolved here
// by definition; where measurements are added up, every one is rounded to a step, and the event is taken at either end
// of what that may do. Failures by chance are bounded as there.

const auditedTables = `version: 1
release: audit
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: {rho: 2, minimise: MINIMISE}
tables:
  t: {source: {csv: t.csv}, unit: {id: id, max_rows: 3}, columns: {a: {values: [u, v, w, x, y, z], levels: {half: {first: [u, v, w], second: [x, y, z]}}}, b: {values: [v, w, x, y, z]}}}
marginals: MARGINALS
`

const (
	residualTrials = 20_000 // on either side
	twiceTrials    = 20_000 // where a measurement is drawn twice
	brokenTrials   = 5_000  // where noise is far too small
)

// residualAudit is a plan of residuals with two neighbouring inputs: the unit is there, or it is not, or another one
// is.
type residualAudit struct {
	plan   *plan.Plan
	hash   string // of the plan
	inputs [2]*Exact
	moved  [][]int64 // of each measurement, what the unit moves
	claim  float64
	least  float64 // of its claim, what an audit must reach
}

// newResidualAudit takes, of units that have all their rows in one cell, the pair that the accountant should fear most.
func newResidualAudit(t *testing.T, neighbours spec.Neighbours, minimise, marginals string,
	least float64) residualAudit {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: strings.NewReplacer("NEIGHBOURS", string(neighbours),
		"MINIMISE", minimise, "MARGINALS", marginals).Replace(auditedTables)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Strategies) != 1 || p.Strategies[0].Kind != strategy.Residuals {
		t.Fatalf("the strategies are %+v", p.Strategies)
	}
	a := residualAudit{plan: p.Plan(), hash: p.Hash(), least: least}
	others := "id,a,b\n2,x,y\n3,y,x\n3,z,y\n"
	count := func(rows string) *Exact { return exactOf(t, p.Plan(), folder(t, "t.csv", others+rows), 1) }
	without := []string{""}
	if neighbours == spec.Replace {
		// the other row may be in one cell of either axis, or of both
		cells := []string{"x,y", "y,x", "y,y", "u,x", "u,y"}
		without = nil
		for _, cell := range cells {
			without = append(without, strings.Repeat("4,"+cell+"\n", 5)) // of which three are counted
		}
	}
	most := 0.0
	for _, rows := range without {
		inputs := [2]*Exact{count(strings.Repeat("1,x,x\n", 5)), count(rows)}
		moved := make([][]int64, len(p.Measurements))
		for i := range moved {
			for j, v := range inputs[0].inner.answers[i].Counts {
				moved[i] = append(moved[i], v-inputs[1].inner.answers[i].Counts[j])
			}
		}
		if s := a.squared(moved, -1); s > most {
			most, a.inputs, a.moved = s, inputs, moved
		}
	}
	var steps []budget.Mechanism
	for _, m := range p.Measurements {
		steps = append(steps, m.Mechanism)
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	a.claim = claimedDelta(t, loss)
	return a
}

// sigma2 is a measurement's σ², as the plan has it.
func (a residualAudit) sigma2(i int) float64 {
	s, _ := a.plan.Measurements[i].Mechanism.Parameter.Float64()
	return s
}

// squared is Σ s²/σ², where one measurement may be taken twice.
func (a residualAudit) squared(moved [][]int64, twice int) (sum float64) {
	for i := range moved {
		own := 0.0
		for _, s := range moved[i] {
			own += float64(s*s) / a.sigma2(i)
		}
		if sum += own; i == twice {
			sum += own
		}
	}
	return sum
}

// broken is what is wrong with a release: a measurement that is drawn twice and charged once (−1 for none), or noise
// that forgets that an axis is moved by more than 1: σ² is divided by the axis's squares.
type broken struct {
	what  string
	twice int
	axis  string
}

// divisor is by how much a measurement's σ² is divided. One row moves the residual of n categories by n(n−1), squared;
// that of three in each of two halves as if there were three.
func (b broken) divisor(m plan.Measurement) int64 {
	for _, f := range m.Query.Factors {
		switch {
		case f.Attribute != b.axis:
		case f.Attribute == "b":
			return 5 * 4
		case f.Level == "half":
			return 2 * 1
		case f.Within == "half":
			return 3 * 2
		default:
			return 6 * 5
		}
	}
	return 1
}

// happens draws all measurements and tells whether the event is seen.
func (a residualAudit) happens(input *Exact, key int, b broken) (bool, error) {
	ratio := 0.0
	for i, m := range a.plan.Measurements {
		answer := input.inner.answers[i]
		if d := b.divisor(m); d > 1 {
			answer.measurement.Mechanism.Parameter = new(big.Rat).Quo(answer.measurement.Mechanism.Parameter,
				new(big.Rat).SetInt64(d))
		}
		draws := 1
		if i == b.twice {
			draws = 2
		}
		for draw := range draws {
			o := &opened{exact: input.inner, streams: noise.NewStreams(keyOf(2*key+draw), a.hash)}
			noisy, err := o.noisyAnswer(context.Background(), answer)
			if err != nil {
				return false, err
			}
			for j, y := range noisy.Values.Int64Values() {
				middle := float64(a.inputs[0].inner.answers[i].Counts[j]+a.inputs[1].inner.answers[i].Counts[j]) / 2
				ratio += float64(a.moved[i][j]) * (float64(y) - middle) / a.sigma2(i)
			}
		}
	}
	return ratio >= auditEpsilon, nil
}

// frequencies are how often the event is seen on either input.
func (a residualAudit) frequencies(t *testing.T, trials, firstKey int, b broken) (hits [2]int) {
	t.Helper()
	seen := make([]bool, 2*trials)
	err := parallel.Do(t.Context(), 2, len(seen), func(i int) (err error) {
		seen[i], err = a.happens(a.inputs[i%2], firstKey+i, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range seen {
		if s {
			hits[i%2]++
		}
	}
	return hits
}

// probabilities bound those of the event on the two inputs, from below and above.
func (a residualAudit) probabilities(b broken) (p1, p0 [2]float64) {
	half := a.squared(a.moved, b.twice) / 2
	step, slack, law, middle := math.Sqrt(2*half)/3000, 0.0, []float64{1}, 0
	for i, m := range a.plan.Measurements {
		draws := 1
		if i == b.twice {
			draws = 2
		}
		one, centre := weightedGaussian(a.sigma2(i)/float64(b.divisor(m)), a.moved[i])
		for range draws {
			law, middle = plusRounded(law, middle, one, centre, 1/(a.sigma2(i)*step))
			slack += step / 2
		}
	}
	beyond := func(x float64) (sum float64) {
		for i, p := range law {
			if float64(i-middle)*step >= x {
				sum += p
			}
		}
		return min(sum, 1)
	}
	bounds := func(x float64) [2]float64 { return [2]float64{beyond(x + slack), beyond(x - slack)} }
	return bounds(auditEpsilon - half), bounds(auditEpsilon + half)
}

// weightedGaussian is the law of Σ s_j·x_j on whole numbers around the middle, each x with P(x) ∝ exp(−x²/2σ²).
func weightedGaussian(sigma2 float64, weights []int64) (law []float64, middle int) {
	one := gaussianSum(sigma2, 1)
	law = []float64{1}
	for _, s := range weights {
		if s == 0 {
			continue
		}
		stride := int(max(s, -s))
		next := make([]float64, len(law)+stride*(len(one)-1))
		for j, q := range one {
			for i, p := range law {
				next[i+stride*j] += p * q
			}
		}
		law, _ = withoutRare(next)
	}
	return law, len(law) / 2
}

// withoutRare leaves out what is so rare on either side, as many on the one as on the other: of a million, 1e-12 in
// all.
func withoutRare(law []float64) (rest []float64, cut int) {
	for len(law) > 2 && law[0] < 1e-18 && law[len(law)-1] < 1e-18 {
		law, cut = law[1:len(law)-1], cut+1
	}
	return law, cut
}

// plusRounded is the law of a sum with so many steps for each unit of another, rounded.
func plusRounded(law []float64, middle int, other []float64, centre int, steps float64) ([]float64, int) {
	reach := int(math.Round(steps*float64(centre))) + 1
	out := make([]float64, len(law)+2*reach)
	law, cut := withoutRare(law)
	for j, q := range other {
		if q < 1e-18 {
			continue
		}
		at := out[cut+reach+int(math.Round(steps*float64(j-centre))):]
		for i, p := range law {
			at[i] += p * q
		}
	}
	return out, middle + reach
}

// bounds are what the laws let the lower bound be, but with probability below mostWrong on either side.
func (a residualAudit) bounds(b broken, trials int) (least, most float64) {
	p1, p0 := a.probabilities(b)
	low1, _ := span(trials, p1[0], mostWrong/4)
	_, high1 := span(trials, p1[1], mostWrong/4)
	low0, _ := span(trials, p0[0], mostWrong/4)
	_, high0 := span(trials, p0[1], mostWrong/4)
	return lowerBound(low1, high0, trials), lowerBound(high1, low0, trials)
}

// TestAuditOfResiduals audits releases as they should be, whose bound must come near the claim and not exceed it, and
// broken ones, whose bound must exceed it. That of units that are replaced waits for DPRELEASE_LONG: it is the same
// audit of another pair, and so wide of its claim that it shows less. How far a unit that is replaced moves the
// integers is held in every run by TestSensitivityOfResiduals and TestSensitivityOfRanges of package plan, which
// enumerate all pairs.
func TestAuditOfResiduals(t *testing.T) {
	testkit.SkipPassed(t)
	testkit.SkipUnderRace(t)
	honest := broken{"", -1, ""}
	for _, c := range []struct {
		neighbours spec.Neighbours
		minimise   string
		marginals  string
		least      float64
		long       bool // left out unless DPRELEASE_LONG is set
	}{
		{spec.AddRemove, "guarded", "{m: {every: [0, 1, 2], by: [a, b]}}", 0.85, false},
		// the accountant fears another pair for every residual; under the guard these tables would have none
		{spec.Replace, "sum", "{m: {by: [a, b]}, n: {by: [a.half]}}", 0.6, true},
	} {
		t.Run(string(c.neighbours), func(t *testing.T) {
			if c.long && os.Getenv("DPRELEASE_LONG") == "" {
				t.Skip("set DPRELEASE_LONG to run it")
			}
			a := newResidualAudit(t, c.neighbours, c.minimise, c.marginals, c.least)
			least, most := a.bounds(honest, residualTrials)
			if least < a.least*a.claim {
				t.Errorf("%s: by its laws the bound may be as low as %g, of a claim of %g", c.neighbours, least,
					a.claim)
			}
			hits := a.frequencies(t, residualTrials, 0, honest)
			bound := lowerBound(hits[0], hits[1], residualTrials)
			t.Logf("%s: δ(½) claimed %.4f, lower bound %.4f (%.3f of it), by the laws between %.4f and %.4f",
				c.neighbours,
				a.claim, bound, bound/a.claim, least, most)
			if !(bound <= a.claim) || !(bound >= a.least*a.claim) {
				t.Errorf("%s: the bound is %g and the claim %g", c.neighbours, bound, a.claim)
			}
			t.Run("mistakes", func(t *testing.T) {
				testkit.SkipPassed(t)
				for i, b := range a.mistakes(c.neighbours) {
					trials := brokenTrials
					if b.twice >= 0 {
						trials = twiceTrials
					}
					least, _ := a.bounds(b, trials)
					if least <= a.claim {
						t.Errorf("%s: by its laws %s may show a bound of %g, of a claim of %g", c.neighbours, b.what,
							least, a.claim)
					}
					hits := a.frequencies(t, trials, (i+1)<<20, b)
					bound := lowerBound(hits[0], hits[1], trials)
					t.Logf("%s, %s: claim %.4f, lower bound %.4f, by the laws %.4f or more", c.neighbours, b.what,
						a.claim, bound,
						least)
					if !(bound > a.claim) {
						t.Errorf("%s: %s is not noticed: the bound %g is not above the claim %g", c.neighbours, b.what,
							bound, a.claim)
					}
				}
			})
		})
	}
}

// mistakes are planted: an axis is forgotten in all residuals that have it, and the residual that loses most is drawn
// twice. Under replace the claim leaves so much room that only the first shows.
func (a residualAudit) mistakes(neighbours spec.Neighbours) []broken {
	all := []broken{{"the sensitivity along b forgotten", -1, "b"}}
	if neighbours == spec.Replace {
		return all
	}
	share := make([]float64, len(a.moved))
	for i := range a.moved {
		share[i] = a.squared(a.moved, i) - a.squared(a.moved, -1)
	}
	most := slices.Index(share, slices.Max(share))
	return append(all, broken{fmt.Sprintf("%s measured twice and charged once", a.plan.Measurements[most].ID), most,
		""})
}
