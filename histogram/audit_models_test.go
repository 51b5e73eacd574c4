package histogram

import (
	"context"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth/model"
	"gonum.org/v1/gonum/stat/distuv"
)

// The tests of this file let an attacker train a model on neighbouring inputs, with the noise of the trainer, and bound
// what he learns from below.
//
// He knows everything but whether the unit is there (or, under replace, which of two units is), the split too. So given
// the questions he knows by how much the unit moves every answer, and adds up the log-likelihood ratio of all answers
// as of Gaussian noise. His event is that it is positive. The figure is μ = Φ⁻¹(p₁) − Φ⁻¹(p₀), p₁ and p₀ its
// probabilities on both inputs: of μ-GDP it is at most μ (Dong, Roth & Su 2022, equation 6). Each of the bounds of
// Clopper and Pearson for p₁ and p₀ is wrong with probability 1e-10 at most. So a test of four honest trainings fails
// wrongly with probability below 1e-9. The accountant's claim at the false-positive rate p₀ is μ = √(2ρ), exact to 1e-6
// for noise as wide as here.
//
// A mistake is missed with probability below mostWrong, as leastMu works out from the laws. (Keys are fixed: a result
// does not change from run to run.) All but the training as the release asks, and the mistake by which held-out rows
// are in training as well, wait for DPRELEASE_LONG.

const (
	modelTrials = 8_000           // on each input
	roundTrials = 5 * modelTrials // to notice one round of five
	modelAlive  = .8              // of its claim, which an audit must reach
)

// modelAudit is a model whose training is attacked.
type modelAudit struct {
	inputs    [2]*exact // with the unit, or the first one; and without, or with the other
	claim     float64   // μ
	uncounted float64   // μ but for one round of residuals
	loss      budget.Loss
}

const auditedModel = `version: 1
release: persons
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: {rho: 9/2}
tables: {persons: {source: {csv: a.csv}, unit: row, expect: {rows: [1, 99]}, columns: {a: {values: [x, y]}, b: {values: [x, y]}, t: {values: [n, y]}}}}
models: {m: {predict: {t: "y"}, by: BY}}
`

// newModelAudit plans a model by some columns, with a share of rows held out, and counts two inputs. The unit is the
// one row of its cell.
func newModelAudit(t *testing.T, neighbours spec.Neighbours, by, unit, other string) modelAudit {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml",
		Text: strings.NewReplacer("NEIGHBOURS", string(neighbours), "BY", by).Replace(auditedModel)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	a := modelAudit{}
	rows := "a,b,t\n" + strings.Repeat("x,x,n\n", 25) + strings.Repeat("y,x,n\n", 25)
	for side, more := range []string{unit, other} {
		a.inputs[side] = exactOf(t, p.Plan(), folder(t, "a.csv", rows+more), 1).inner
	}
	steps := p.Mechanisms()
	rho := func(of []budget.Mechanism) float64 {
		sum := new(big.Rat)
		for _, m := range of {
			sum.Add(sum, m.Rho())
		}
		f, _ := sum.Float64()
		return f
	}
	a.claim, a.uncounted = math.Sqrt(2*rho(steps)), math.Sqrt(2*rho(steps[:len(steps)-1]))
	if a.loss, err = budget.Compose(steps...); err != nil {
		t.Fatal(err)
	}
	return a
}

// brokenTraining is a mistake that is planted into both inputs' trainers.
type brokenTraining struct {
	what      string
	held      bool // only where the unit is held out
	unclipped bool // the unit's residuals are twice as large
	plant     func(x *trainer, rows answer.Answer) error
}

// attackedTraining answers the rounds of one training, and adds up what the attacker learns.
type attackedTraining struct {
	from    *Trainer    // whose answers are given
	both    [2]*trainer // with the unit and without
	present bool
	broken  brokenTraining
	ratio   float64 // of log-likelihoods
	squares float64 // Σ d²/σ²: the ratio has this variance, and half of it, or minus that, for its mean
}

// learn adds the log-likelihood ratio of an answer.
func (x *attackedTraining) learn(noisy, with, without []int64, variance float64) {
	for i := range noisy {
		d := float64(with[i] - without[i])
		x.ratio += (d*float64(noisy[i]-without[i]) - d*d/2) / variance
		x.squares += d * d / variance
	}
}

func (x *attackedTraining) Answer(ctx context.Context, round int, q boosting.Question) ([]int64, error) {
	with, err := x.both[0].fitted.Answer(ctx, round, q)
	if err != nil {
		return nil, err
	}
	without, err := x.both[1].fitted.Answer(ctx, round, q)
	if err != nil {
		return nil, err
	}
	r, _ := x.both[0].model.Round(round)
	var noisy []int64
	if x.broken.unclipped && q.Scores != nil {
		for i := range with {
			with[i] += with[i] - without[i]
		}
		exact := without
		if x.present {
			exact = with
		}
		in := x.from.inner
		noisy, err = in.addNoise(exact, r, 1, modelQuestion{Model: in.model, Round: round, Asked: &q}, nil)
		in.next++
	} else {
		noisy, err = x.from.Answer(ctx, round, q)
	}
	if err == nil {
		x.learn(noisy, with, without, r.Noise.Variance())
	}
	return noisy, err
}

// test counts the held-out rows.
func (x *attackedTraining) test(ctx context.Context, scores *boosting.Scores) error {
	var exact [2][]int64
	for side, of := range x.both {
		counts, err := of.heldOut.Histogram(ctx, scores)
		if err != nil {
			return err
		}
		r, _ := of.model.Round(of.model.RoundCount() - 1)
		shape, err := of.opened.exact.plan.Plan().Shape(of.model)
		if err != nil {
			return err
		}
		for _, n := range counts {
			exact[side] = append(exact[side], n*shape.RowUnit()*int64(r.Times))
		}
	}
	noisy, err := x.from.HeldOut(ctx, scores)
	if err != nil {
		return err
	}
	r, _ := x.both[0].model.Round(x.both[0].model.RoundCount() - 1)
	x.learn(noisy, exact[0], exact[1], float64(r.Times)*r.Noise.Variance())
	return nil
}

// asker asks the rounds of a model, and returns the scores by which held-out rows are counted.
type asker func(ctx context.Context, s *boosting.Shape, o model.Oracle) (*boosting.Scores, error)

// trained asks as the release does.
func trained(ctx context.Context, s *boosting.Shape, o model.Oracle) (*boosting.Scores, error) {
	if s.Design != nil {
		m, err := model.Descend(ctx, s, o)
		if err != nil {
			return nil, err
		}
		return &m.Scores, nil
	}
	m, err := model.Train(ctx, s, o)
	if err != nil {
		return nil, err
	}
	return &m.Scores, nil
}

// worst asks for sums over all rows, with scores at which a row of class y in x of the last column has the largest
// residual, and one of class n in y the least.
func worst(ctx context.Context, s *boosting.Shape, o model.Oracle) (*boosting.Scores, error) {
	scores := &boosting.Scores{}
	for _, c := range s.Columns {
		scores.Tables = append(scores.Tables, make([]int32, c.Categories))
	}
	scores.Tables[len(s.Columns)-1] = []int32{-100_000, 100_000}
	for round := range s.Rounds() {
		q := boosting.Question{Column: s.Column(round)}
		if round >= s.CountRounds() {
			q.Scores = scores
			if s.Design == nil {
				q.Groups = make([]int, s.Categories(q.Column))
			}
		}
		if _, err := o.Answer(ctx, round, q); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// train attacks one training under a key, on the input with the unit or without. It reports false for a key that the
// mistake does not need.
func (a modelAudit) train(t *testing.T, ask asker, key int, present bool, b brokenTraining) (*attackedTraining, bool) {
	t.Helper()
	ctx := context.Background()
	x := &attackedTraining{present: present, broken: b}
	for side, e := range a.inputs {
		o := &Opened{inner: &opened{exact: &exact{plan: e.plan, models: slices.Clone(e.models)},
			streams: noise.NewStreams(keyOf(key), e.plan.Hash())}}
		one, err := o.Trainer(ctx, 0, nil)
		if err == nil && b.plant != nil {
			err = b.plant(one.inner, e.models[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		x.both[side] = one.inner
		if present == (side == 0) {
			x.from = one
		}
	}
	shape, err := a.inputs[0].plan.Plan().Shape(x.from.inner.model)
	if err != nil {
		t.Fatal(err)
	}
	if b.held && !a.isHeldOut(t, x, shape) {
		return nil, false
	}
	scores, err := ask(ctx, shape, x)
	if err == nil && x.from.inner.model.Test != "" {
		err = x.test(ctx, scores)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x, true
}

// isHeldOut reports whether the unit is.
func (a modelAudit) isHeldOut(t *testing.T, x *attackedTraining, s *boosting.Shape) bool {
	t.Helper()
	rows := [2]int64{}
	for side, of := range x.both {
		scores := &boosting.Scores{}
		for _, c := range s.Columns {
			scores.Tables = append(scores.Tables, make([]int32, c.Categories))
		}
		counts, err := of.heldOut.Histogram(context.Background(), scores)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range counts {
			rows[side] += n
		}
	}
	return rows[0] != rows[1]
}

// bound returns the lower bound of μ, the bounds of both probabilities, and the mean of the attacker's μ².
func (a modelAudit) bound(t *testing.T, ask asker, trials, firstKey int, b brokenTraining) (mu, low1, high0,
	squares float64) {
	t.Helper()
	var hits [2]int
	for side := range 2 {
		for n, key := 0, firstKey+side; n < trials; key += 2 {
			x, counts := a.train(t, ask, key, side == 0, b)
			if !counts {
				continue
			}
			n++
			if x.ratio > 0 {
				hits[side]++
			}
			squares += x.squares / float64(2*trials)
		}
	}
	low1, high0 = 1-mostLikely(trials-hits[0], trials), mostLikely(hits[1], trials)
	return quantile(low1) - quantile(high0), low1, high0, squares
}

// quantile is Φ⁻¹.
func quantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// leastMu is what the laws let the bound be where the attacker has this μ, but with probability below mostWrong.
func leastMu(mu float64, trials int) float64 {
	low1, _ := span(trials, distuv.UnitNormal.CDF(mu/2), mostWrong/4)
	_, high0 := span(trials, distuv.UnitNormal.CDF(-mu/2), mostWrong/4)
	return quantile(1-mostLikely(trials-low1, trials)) - quantile(mostLikely(high0, trials))
}

// TestAuditOfModels attacks trainings as they should be, whose bound must come near the claim and not exceed it, and
// broken ones, whose bound must exceed it.
func TestAuditOfModels(t *testing.T) {
	testkit.SkipPassed(t)
	testkit.SkipUnderRace(t)
	long := os.Getenv("DPRELEASE_LONG") != ""
	one := newModelAudit(t, spec.AddRemove, "[a]", "x,x,y\n", "")
	tested := newModelAudit(t, spec.AddRemove, "[a], test: 50%", "x,x,y\n", "")
	replaced := newModelAudit(t, spec.Replace, "[a, b]", "y,x,y\n", "y,y,n\n")
	parted := newModelAudit(t, spec.Replace, "[a, b], test: 50%", "y,x,y\n", "y,y,n\n")
	descended := newModelAudit(t, spec.AddRemove, "[a], method: gradient, test: 50%", "x,x,y\n", "")
	descent := newModelAudit(t, spec.AddRemove, "[a], method: gradient", "x,x,y\n", "")
	exchanged := newModelAudit(t, spec.Replace, "[a, b], method: gradient", "y,x,y\n", "y,y,n\n")
	for i, c := range []struct {
		what   string
		audit  modelAudit
		ask    asker
		trials int
		least  float64 // of the claim
		round  bool    // a round uncounted is to be noticed
	}{
		{"as the release asks, half held out", tested, trained, modelTrials, modelAlive, false},
		{"the worst questions", one, worst, roundTrials, modelAlive, true},
		{"the worst questions, units replaced", replaced, worst, modelTrials, modelAlive, false},
		// often one of the units is in either part, and the claim is for both in one cell
		{"the worst questions, units replaced, half held out", parted, worst, modelTrials, .5, false},
		{"gradients as the release asks, half held out", descended, trained, modelTrials, modelAlive, false},
		{"the worst gradients", descent, worst, modelTrials, modelAlive, false},
		// the feature by which the two rows differ cancels
		{"the worst gradients, units replaced", exchanged, worst, modelTrials, .6, false},
	} {
		if i > 0 && !long {
			continue
		}
		mu, low1, high0, squares := c.audit.bound(t, c.ask, c.trials, i<<20, brokenTraining{})
		t.Logf("%s: μ claimed %.3f, attacked %.3f, lower bound %.3f (%.3f of the claim)", c.what, c.audit.claim,
			math.Sqrt(squares), mu, mu/c.audit.claim)
		if !(mu >= c.least*c.audit.claim) || !(mu <= c.audit.claim) || !(low1 <= c.audit.loss.TruePositiveRate(high0)) {
			t.Errorf("%s: the bound is %g, of a claim of %g", c.what, mu, c.audit.claim)
		}
		if c.round && !(mu > c.audit.uncounted) {
			t.Errorf("a round uncounted is not noticed: the bound is %g, and the claim would be %g", mu,
				c.audit.uncounted)
		}
	}
	largest := residualShare * (boosting.Bound - 1) / boosting.Bound // of μ², by all sums
	for i, b := range []struct {
		brokenTraining
		audit modelAudit
		mu    float64 // of the attacker, as a multiple of the claim
	}{
		{brokenTraining{what: "rows held out are in training too", held: true, plant: fitAll}, tested,
			math.Sqrt(1 + largest)},
		{brokenTraining{what: "residuals are not clipped", unclipped: true}, one,
			math.Sqrt(1 - residualShare + 4*largest)},
		{brokenTraining{what: "half the noise", plant: halfNoise}, one, math.Sqrt(1 - residualShare + 4*largest)},
		{brokenTraining{what: "gradients are not clipped", unclipped: true}, descent,
			math.Sqrt(1 - gradientShare + 4*gradientShare*(boosting.Bound-2)/boosting.Bound)},
		{brokenTraining{what: "rows held out are in the gradients too", held: true, plant: fitAll}, descended,
			math.Sqrt(1 + gradientShare*(boosting.Bound-2)/boosting.Bound)},
	} {
		if least := leastMu(.999*b.mu*b.audit.claim, modelTrials); !(least > b.audit.claim) {
			t.Errorf("%s: by the laws the bound may be as low as %g, of a claim of %g", b.what, least, b.audit.claim)
		}
		if i > 0 && !long {
			continue
		}
		mu, _, _, squares := b.audit.bound(t, worst, modelTrials, (i+8)<<20, b.brokenTraining)
		t.Logf("%s: μ claimed %.3f, attacked %.3f, lower bound %.3f", b.what, b.audit.claim, math.Sqrt(squares), mu)
		if !(mu > b.audit.claim) {
			t.Errorf("%s is not noticed: the bound is %g, of a claim of %g", b.what, mu, b.audit.claim)
		}
	}
	if least := leastMu(.999*one.claim, roundTrials); !(least > one.uncounted) {
		t.Errorf("by the laws the bound may be as low as %g, and a round uncounted would claim %g", least,
			one.uncounted)
	}
}

// residualShare is the share of μ² that sums of residuals have, and gradientShare that of gradients.
const (
	residualShare = 1 - boosting.CountPercent/100.
	gradientShare = 1 - boosting.DescentCountPercent/100.
)

// halfNoise halves the standard deviation of the noise in sums of residuals.
func halfNoise(x *trainer, _ answer.Answer) error {
	x.model.Rounds = slices.Clone(x.model.Rounds)
	noise := &x.model.Rounds[1].Noise
	noise.Parameter = new(big.Rat).Quo(noise.Parameter, big.NewRat(4, 1))
	return nil
}

// fitAll fits all rows, those that are held out among them.
func fitAll(x *trainer, rows answer.Answer) error {
	shape, err := x.opened.exact.plan.Plan().Shape(x.model)
	if err == nil {
		x.fitted, _, err = boosted.New(context.Background(), shape, rows.Cells, rows.Counts, boosted.Split{})
	}
	return err
}
