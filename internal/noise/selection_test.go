package noise

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// The first tests of this file walk through every decision of a selection and so
// find its law without drawing: they cannot raise a false alarm. Those at the end
// draw under a fresh key, and say how often they are wrong.

// precision is that of all sums and products of probabilities below. Masses are
// rounded towards zero, so that what is found of an outcome is a lower bound.
const precision = 192

func newMass() *big.Float {
	return new(big.Float).SetPrec(precision).SetMode(big.ToZero)
}

func massOf(numerator, denominator *big.Int) *big.Float {
	return newMass().Quo(newMass().SetInt(numerator), newMass().SetInt(denominator))
}

// pathWalk is a [coins] that takes one path through all decisions, by a script
// and then always the first choice, and leaves the other choices pending. A path
// of too little mass is given up, as its first choices may never end.
type pathWalk struct {
	script, path []int
	weight       *big.Float
	least        *big.Float // no path of less mass is followed
	pending      *[]pathStart
}

type pathStart struct {
	script []int
	weight *big.Float
}

func (w *pathWalk) choose(n int, probability func(choice int) *big.Float) int {
	if depth := len(w.path); depth < len(w.script) {
		w.path = append(w.path, w.script[depth])
		return w.script[depth]
	}
	for choice := 1; choice < n; choice++ {
		weight := newMass().Mul(w.weight, probability(choice))
		if weight.Cmp(w.least) >= 0 {
			*w.pending = append(*w.pending, pathStart{append(slices.Clone(w.path), choice), weight})
		}
	}
	w.weight = newMass().Mul(w.weight, probability(0))
	if w.weight.Cmp(w.least) < 0 {
		panic(givenUp{})
	}
	w.path = append(w.path, 0)
	return 0
}

type givenUp struct{}

// follow adds the mass of the path to its outcome in f, unless it is given up.
func (w *pathWalk) follow(run func(coins) int, f found) {
	defer func() {
		if reason := recover(); reason != nil && reason != (givenUp{}) {
			panic(reason)
		}
	}()
	outcome := f.mass[run(w)]
	outcome.Add(outcome, w.weight)
}

func (w *pathWalk) Bool() bool {
	return w.choose(2, func(int) *big.Float { return newMass().SetFloat64(0.5) }) == 1
}

func (w *pathWalk) BelowBig(n *big.Int) *big.Int {
	return big.NewInt(int64(w.choose(int(n.Int64()), func(int) *big.Float { return massOf(bigOne, n) })))
}

func (w *pathWalk) BernoulliBig(numerator, denominator *big.Int) bool {
	if numerator.Sign() <= 0 || numerator.Cmp(denominator) >= 0 {
		return numerator.Sign() > 0
	}
	return w.choose(2, func(choice int) *big.Float {
		if choice == 1 {
			return massOf(numerator, denominator)
		}
		return massOf(new(big.Int).Sub(denominator, numerator), denominator)
	}) == 1
}

// found is what a walk has found out: every outcome has at least its mass, and
// at most left more.
type found struct {
	mass []*big.Float
	left *big.Float
}

// walkAll returns the masses of the outcomes 0 … outcomes−1 of run.
func walkAll(outcomes int, least float64, run func(coins) int) found {
	f := found{left: newMass().SetInt64(1)}
	for range outcomes {
		f.mass = append(f.mass, newMass())
	}
	pending := []pathStart{{nil, newMass().SetInt64(1)}}
	for len(pending) > 0 {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		w := &pathWalk{script: next.script, weight: next.weight, least: big.NewFloat(least), pending: &pending}
		w.follow(run, f)
	}
	sum := newMass()
	for _, mass := range f.mass {
		sum.Add(sum, mass)
	}
	f.left.SetMode(big.AwayFromZero).Sub(f.left, sum)
	return f
}

// bounds returns in what interval the probability of an outcome lies.
func (f found) bounds(outcome int) (low, high *big.Float) {
	return f.mass[outcome], newMass().Add(f.mass[outcome], f.left)
}

// expMinus returns exp(−x) for 0 ≤ x to about 40 digits: the reciprocal of the
// series of exp(x/2ᵏ), squared k times.
func expMinus(x *big.Rat) *big.Float {
	y := newMass().SetRat(x)
	halvings := 0
	for ; y.Cmp(big.NewFloat(1)) > 0; halvings++ {
		y.Quo(y, big.NewFloat(2))
	}
	sum, term := newMass().SetInt64(1), newMass().SetInt64(1)
	for k := int64(1); k < 60; k++ {
		term.Mul(term, y).Quo(term, newMass().SetInt64(k))
		sum.Add(sum, term)
	}
	sum.Quo(newMass().SetInt64(1), sum)
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func TestExpMinusIsTheExponential(t *testing.T) {
	for _, c := range []struct {
		x      *big.Rat
		digits string
	}{
		{big.NewRat(1, 1), "0.3678794411714423215955237701614608674458"},
		{big.NewRat(1, 2), "0.6065306597126334236037995349911804534419"},
		{big.NewRat(10, 1), "0.00004539992976248485153559151556055061023792"},
	} {
		want, _ := newMass().SetString(c.digits)
		if difference := want.Sub(want, expMinus(c.x)); difference.Abs(difference).Cmp(big.NewFloat(1e-38)) > 0 {
			t.Errorf("exp(−%v) is wrong by %g", c.x, difference)
		}
	}
}

// assertEnclosed fails unless want lies where the walk says, and the walk says it
// to within known. 1e-30 covers the rounding of both routes, some 1e-50 each.
func assertEnclosed(t *testing.T, what string, f found, outcome int, want *big.Float, known float64) {
	t.Helper()
	const rounding = 1e-30
	low, high := f.bounds(outcome)
	below := newMass().Sub(low, want)
	above := newMass().Sub(want, high)
	if below.Cmp(big.NewFloat(rounding)) > 0 || above.Cmp(big.NewFloat(rounding)) > 0 {
		t.Errorf("%s: probability in [%.20g, %.20g], want %.20g", what, low, high, want)
	}
	if f.left.Cmp(big.NewFloat(known)) > 0 {
		t.Errorf("%s is known only to %.3g", what, f.left)
	}
}

func outcomeOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestBernoulliExpOfAnySizeIsExact(t *testing.T) {
	for _, text := range []string{"0", "1/3", "2/3", "1", "4/3", "2", "5/2", "22/7", "10", "121/3",
		"18446744073709551615/9223372036854775808",
		"340282366920938463463374607431768211457/340282366920938463463374607431768211456"} {
		x, _ := new(big.Rat).SetString(text)
		f := walkAll(2, 1e-10, func(c coins) int { return outcomeOf(bigBernoulliExpAny(c, x.Num(), x.Denom())) })
		assertEnclosed(t, "exp(−"+text+")", f, 1, expMinus(x), 1e-6)
	}
}

func TestBernoulliExpAtTheEnds(t *testing.T) {
	b := newBits(freshKey(t))
	huge := new(big.Int).Lsh(bigOne, 4000)
	for range 1000 {
		for _, p := range []int64{0, -1, -7} {
			if !bigBernoulliExpAny(b, big.NewInt(p), big.NewInt(3)) {
				t.Fatal("an exponent of 0 or below failed")
			}
		}
		if bigBernoulliExpAny(b, huge, bigOne) {
			t.Fatal("exp(−2⁴⁰⁰⁰) succeeded")
		}
	}
	if huge.BitLen() != 4001 {
		t.Error("the exponent was changed")
	}
}

// question is what a selection is asked.
type question struct {
	scores      []int64
	epsilon     *big.Rat
	sensitivity int64
	monotone    bool
}

func (q question) String() string {
	return fmt.Sprintf("scores %v, ε=%v, Δ=%d, monotone %v", q.scores, q.epsilon, q.sensitivity, q.monotone)
}

func (q question) with(scores ...int64) question {
	q.scores = scores
	return q
}

// selection returns what the mechanisms choose by.
func (q question) selection(t testing.TB) selection {
	t.Helper()
	s, err := newSelection(q.scores, q.epsilon, q.sensitivity, q.monotone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// acceptance returns exp(−λ(max−score_i)) for all i, from the definition.
func (q question) acceptance() []*big.Float {
	perScore := new(big.Rat).Quo(q.epsilon, new(big.Rat).SetInt64(q.sensitivity))
	if !q.monotone {
		perScore.Mul(perScore, big.NewRat(1, 2))
	}
	best := big.NewInt(slices.Max(q.scores))
	var p []*big.Float
	for _, score := range q.scores {
		gap := new(big.Rat).SetInt(new(big.Int).Sub(best, big.NewInt(score)))
		p = append(p, expMinus(gap.Mul(gap, perScore)))
	}
	return p
}

// exponentialLaw returns p_i/Σp_j.
func (q question) exponentialLaw() []*big.Float {
	p := q.acceptance()
	sum := newMass()
	for _, each := range p {
		sum.Add(sum, each)
	}
	for i := range p {
		p[i].Quo(p[i], sum)
	}
	return p
}

// permuteAndFlipLaw returns ∫₀¹ p_i·Π_{j≠i}(1−t·p_j) dt, by the coefficients of
// the polynomial: the law if every candidate comes at an independent uniform time.
func (q question) permuteAndFlipLaw() []*big.Float {
	p := q.acceptance()
	var law []*big.Float
	for i := range p {
		polynomial := []*big.Float{p[i]}
		for j := range p {
			if j != i {
				polynomial = timesOneMinus(polynomial, p[j])
			}
		}
		integral := newMass()
		for power, coefficient := range polynomial {
			integral.Add(integral, newMass().Quo(coefficient, newMass().SetInt64(int64(power+1))))
		}
		law = append(law, integral)
	}
	return law
}

// timesOneMinus returns a polynomial in t times (1 − p·t).
func timesOneMinus(polynomial []*big.Float, p *big.Float) []*big.Float {
	product := make([]*big.Float, len(polynomial)+1)
	for power := range product {
		product[power] = newMass()
		if power < len(polynomial) {
			product[power].Add(product[power], polynomial[power])
		}
		if power > 0 {
			product[power].Sub(product[power], newMass().Mul(p, polynomial[power-1]))
		}
	}
	return product
}

func questions() []question {
	return []question{
		{[]int64{5}, big.NewRat(1, 1), 1, false},
		{[]int64{0, 0}, big.NewRat(1, 1), 1, false},
		{[]int64{3, 7}, big.NewRat(1, 1), 1, false},
		{[]int64{3, 7}, big.NewRat(1, 1), 1, true},
		{[]int64{3, 7}, big.NewRat(5, 3), 3, false},
		{[]int64{-2, 1, 0}, big.NewRat(3, 7), 1, true},
		{[]int64{9, 9, 4}, big.NewRat(1, 2), 2, false},
		{[]int64{0, 0, 5}, big.NewRat(1, 1), 1, true},
		{[]int64{math.MinInt64, math.MaxInt64, 0}, big.NewRat(1, 1<<62), 1, false},
		{[]int64{math.MinInt64, math.MaxInt64}, big.NewRat(3, 1), math.MaxInt64, false},
		{[]int64{math.MinInt64, math.MinInt64 + 1}, big.NewRat(1, 1), 1, false},
	}
}

func TestExponentialMechanismHasTheExactLaw(t *testing.T) {
	for _, q := range questions() {
		s, n := q.selection(t), len(q.scores)
		trial := walkTrial(s)
		for i, p := range q.acceptance() {
			p.Quo(p, newMass().SetInt64(int64(n)))
			assertEnclosed(t, fmt.Sprintf("trial %d of %v", i, q), trial, i, p, 1e-6)
		}
		// The rest is the loop, of which a walk sees less: many trials may be refused.
		whole := walkAll(n, 1e-6, func(c coins) int { return s.chooseExponential(c) })
		for i, p := range q.exponentialLaw() {
			assertEnclosed(t, fmt.Sprintf("choice %d of %v", i, q), whole, i, p, 0.15)
		}
	}
}

// walkTrial returns the masses of accepting each candidate in one trial of the
// exponential mechanism; the last outcome is to accept none.
func walkTrial(s selection) found {
	n := len(s.scores)
	return walkAll(n+1, 1e-10, func(c coins) int {
		if i, accepted := s.tryCandidate(c); accepted {
			return i
		}
		return n
	})
}

// walkPermuteAndFlip returns the masses of a ranking's choices, of which all are decided on at once.
func walkPermuteAndFlip(t *testing.T, q question) found {
	r, candidates := q.ranking(t, func(r *Ranking, c coins, word uint) (int, uint64) {
		return r.permuteAndFlipAfter(c, word, 0)
	}, 3)
	return walkAll(len(q.scores), 1e-7, func(c coins) int { return drawOnce(r, candidates, c) })
}

// TestWalksSeeAWrongSelection holds what was found against laws of mistakes.
func TestWalksSeeAWrongSelection(t *testing.T) {
	q := question{[]int64{0, 1, 3}, big.NewRat(1, 1), 1, false}
	halved, monotone := q, q
	halved.epsilon = big.NewRat(1, 2)
	monotone.monotone = true
	f := walkPermuteAndFlip(t, q)
	for name, law := range map[string][]*big.Float{
		"halved ε":             halved.permuteAndFlipLaw(),
		"forgotten factor 2":   monotone.permuteAndFlipLaw(),
		"tried again once out": q.exponentialLaw(),
	} {
		low, high := f.bounds(0)
		if low.Cmp(law[0]) <= 0 && law[0].Cmp(high) <= 0 {
			t.Errorf("%s: its law is within what the walk allows", name)
		}
	}
}

func TestSelectionDependsOnScoreDifferencesAlone(t *testing.T) {
	const rounding = 1e-40
	q := question{[]int64{4, 1, 2}, big.NewRat(3, 2), 1, false}
	want := walkTrial(q.selection(t))
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, shift := range []int64{0, math.MaxInt64 - 4, math.MinInt64} {
			got := walkTrial(q.with(q.scores[order[0]]+shift, q.scores[order[1]]+shift,
				q.scores[order[2]]+shift).selection(t))
			for at, i := range order {
				difference := newMass().Sub(got.mass[at], want.mass[i])
				if difference.Abs(difference).Cmp(big.NewFloat(rounding)) > 0 {
					t.Errorf("in order %v with %+d, score %d has %g, not %g", order, shift, q.scores[i], got.mass[at],
						want.mass[i])
				}
			}
		}
	}
}

// interval is what a walk says of one probability.
type interval struct{ low, high float64 }

// exponentialIntervals returns the law of the exponential mechanism from one
// trial: what is accepted, given that something is.
func exponentialIntervals(s selection) []interval {
	trial := walkTrial(s)
	accepted := 0.0
	for i := range s.scores {
		accepted += float64Of(trial.mass[i])
	}
	left := float64Of(trial.left)
	law := make([]interval, len(s.scores))
	for i := range law {
		mass := float64Of(trial.mass[i])
		law[i] = interval{mass / (accepted + left), (mass + left) / (accepted + left)}
	}
	return law
}

// permuteAndFlipIntervals are the law that the choices of rankings are held to.
func permuteAndFlipIntervals(q question) []interval {
	var law []interval
	for _, p := range q.permuteAndFlipLaw() {
		law = append(law, interval{float64Of(p), float64Of(p)})
	}
	return law
}

func float64Of(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// loss is the worst that two laws are known to lose: at least these.
type loss struct {
	ratio      float64 // max_i ln P(i)/Q(i)
	spread     float64 // max_{i,j} ln P(i)/Q(i) − ln P(j)/Q(j), the range
	overtaking float64 // max over events R of T(P(R)) − Q(R), T of Laplace noise
}

func (l *loss) include(p, q []interval, epsilon float64) {
	for i := range p {
		l.ratio = max(l.ratio, math.Log(p[i].low/q[i].high))
		for j := range p {
			l.spread = max(l.spread, math.Log(p[i].low/q[i].high)-math.Log(p[j].high/q[j].low))
		}
	}
	for event := range 1 << len(p) {
		var inP, inQ float64
		for i := range p {
			if event>>i&1 == 1 {
				inP += p[i].low
				inQ += q[i].high
			}
		}
		l.overtaking = max(l.overtaking, laplaceTradeOff(inP, epsilon)-inQ)
	}
}

// laplaceTradeOff returns the least probability that an event can have under
// Laplace noise of scale 1, if it has probability p after a shift by epsilon:
// with S the survival function, S(S⁻¹(p) + ε).
func laplaceTradeOff(p, epsilon float64) float64 {
	if p <= 0 {
		return 0
	}
	quantile := math.Log(2 * (1 - min(p, 1)))
	if p < 0.5 {
		quantile = -math.Log(2 * p)
	}
	if quantile+epsilon >= 0 {
		return math.Exp(-quantile-epsilon) / 2
	}
	return 1 - math.Exp(quantile+epsilon)/2
}

// worstLoss returns the worst loss over all vectors of three scores in 0 … 2 and
// all neighbours of them: steps are what a score can change by.
func worstLoss(law func(question) []interval, q question, steps []int64) (worst loss) {
	known := map[[3]int64][]interval{}
	lawOf := func(scores [3]int64) []interval {
		if known[scores] == nil {
			known[scores] = law(q.with(scores[:]...))
		}
		return known[scores]
	}
	epsilon, _ := q.epsilon.Float64()
	for scores := range triples(0, 1, 2) {
		for by := range triples(steps...) {
			neighbour := [3]int64{scores[0] + by[0], scores[1] + by[1], scores[2] + by[2]}
			worst.include(lawOf(scores), lawOf(neighbour), epsilon)
			worst.include(lawOf(neighbour), lawOf(scores), epsilon)
		}
	}
	return worst
}

func triples(values ...int64) iter.Seq[[3]int64] {
	return func(yield func([3]int64) bool) {
		for _, a := range values {
			for _, b := range values {
				for _, c := range values {
					if !yield([3]int64{a, b, c}) {
						return
					}
				}
			}
		}
	}
}

func TestSelectionLosesWhatItPromises(t *testing.T) {
	const rounding = 1e-12
	walked := func(q question) []interval { return exponentialIntervals(q.selection(t)) }
	for _, c := range []struct {
		q     question
		steps []int64
	}{
		{question{epsilon: big.NewRat(1, 1), sensitivity: 1}, []int64{-1, 0, 1}},
		{question{epsilon: big.NewRat(3, 2), sensitivity: 2}, []int64{-2, 0, 1, 2}},
		{question{epsilon: big.NewRat(3, 4), sensitivity: 1, monotone: true}, []int64{0, 1}},
		{question{epsilon: big.NewRat(1, 1), sensitivity: 2, monotone: true}, []int64{0, 1, 2}},
	} {
		epsilon, _ := c.q.epsilon.Float64()
		exponential := worstLoss(walked, c.q, c.steps)
		flip := worstLoss(permuteAndFlipIntervals, c.q, c.steps)
		t.Logf("ε=%g: exponential mechanism %.4g, permute-and-flip %.4g", epsilon, exponential, flip)
		if exponential.ratio > epsilon+rounding || exponential.spread > epsilon+rounding {
			t.Errorf("exponential mechanism, ε=%v: loses %.6g, with range %.6g", c.q.epsilon, exponential.ratio,
				exponential.spread)
		}
		if flip.ratio > epsilon+rounding || flip.overtaking > rounding {
			t.Errorf("permute-and-flip, ε=%v: loses %.6g, %.3g more than Laplace noise", c.q.epsilon, flip.ratio,
				flip.overtaking)
		}
		// The worst cases are among those walked: the bounds are sharp.
		if exponential.spread < 0.99*epsilon || flip.ratio < 0.99*epsilon {
			t.Errorf("ε=%v is not reached: range %.6g, ratio %.6g", c.q.epsilon, exponential.spread, flip.ratio)
		}
		if flip.spread < 1.2*epsilon {
			t.Errorf("permute-and-flip, ε=%v: its range is only %.6g", c.q.epsilon, flip.spread)
		}
	}
}

// TestLossesSeeAForgottenFactor takes scores that move both ways for monotone.
func TestLossesSeeAForgottenFactor(t *testing.T) {
	walked := func(q question) []interval { return exponentialIntervals(q.selection(t)) }
	mutant := question{epsilon: big.NewRat(1, 1), sensitivity: 1, monotone: true}
	exponential := worstLoss(walked, mutant, []int64{-1, 0, 1})
	flip := worstLoss(permuteAndFlipIntervals, mutant, []int64{-1, 0, 1})
	if exponential.ratio < 1.5 || exponential.spread < 1.9 || flip.ratio < 1.9 || flip.overtaking < 0.1 {
		t.Errorf("the mutants lose only %.4g and %.4g", exponential, flip)
	}
}

// TestPermuteAndFlipScoresHigher compares, for every threshold, how likely a
// selection falls short of it, and by how much on average.
func TestPermuteAndFlipScoresHigher(t *testing.T) {
	for _, scores := range [][]int64{{0, 1}, {0, 4}, {0, 0, 2}, {0, 3, 3}, {0, 1, 2}, {0, 2, 3, 5}, {5, 5, 5}} {
		q := question{scores, big.NewRat(1, 1), 1, false}
		exponential, flip := exponentialIntervals(q.selection(t)), permuteAndFlipIntervals(q)
		best := slices.Max(scores)
		var shortExponential, shortFlip interval // expected distance from the best
		for threshold := range best {
			var below, belowFlip interval
			for i, score := range scores {
				if score <= threshold {
					below = interval{below.low + exponential[i].low, below.high + exponential[i].high}
					belowFlip = interval{belowFlip.low + flip[i].low, belowFlip.high + flip[i].high}
				}
			}
			if belowFlip.low > below.high {
				t.Errorf("%v: a score up to %d has probability %.6g, but %.6g by the exponential mechanism",
					q, threshold,
					belowFlip.low, below.high)
			}
			shortExponential = interval{shortExponential.low + below.low, shortExponential.high + below.high}
			shortFlip = interval{shortFlip.low + belowFlip.low, shortFlip.high + belowFlip.high}
		}
		if best > slices.Min(scores) && shortFlip.high >= shortExponential.low {
			t.Errorf("%v: falls short by %.6g on average, the exponential mechanism by %.6g", q, shortFlip.high,
				shortExponential.low)
		}
	}
}

func TestSelectionRefusesWhatItCannotAnswer(t *testing.T) {
	b := newBits(freshKey(t))
	one := big.NewRat(1, 1)
	for name, q := range map[string]question{
		"no scores":            {nil, one, 1, false},
		"no epsilon":           {[]int64{1, 2}, nil, 1, false},
		"epsilon 0":            {[]int64{1, 2}, new(big.Rat), 1, false},
		"negative epsilon":     {[]int64{1, 2}, big.NewRat(-1, 2), 1, true},
		"sensitivity 0":        {[]int64{1, 2}, one, 0, false},
		"negative sensitivity": {[]int64{1, 2}, one, math.MinInt64, true},
	} {
		if i, err := ExponentialMechanism(b, q.scores, q.epsilon, q.sensitivity, q.monotone); i != -1 || err == nil {
			t.Errorf("%s: selected %d, error %v", name, i, err)
		}
	}
}

// trialCount is [Bits] that counts the draws of a candidate.
type trialCount struct {
	*Bits
	trials int
}

func (c *trialCount) BelowBig(n *big.Int) *big.Int {
	c.trials++
	return c.Bits.BelowBig(n)
}

// TestTrialsAreAtMostTheCandidates takes one candidate among hopeless ones. The
// trials of the exponential mechanism are then geometric with mean n: that 2000
// of them are a quarter more than expected has probability below
// exp(−2000·(1.25−1−ln 1.25)) < 1e-23 (Janson 2018, theorem 2.1).
func TestTrialsAreAtMostTheCandidates(t *testing.T) {
	const n, selections = 20, 2000
	scores := make([]int64, n)
	scores[7] = 1 << 40
	s := question{scores, big.NewRat(1, 1), 1, false}.selection(t)
	c := &trialCount{Bits: newBits(freshKey(t))}
	for range selections {
		if s.chooseExponential(c) != 7 {
			t.Fatal("a hopeless candidate was selected")
		}
	}
	if c.trials > selections*n*5/4 {
		t.Errorf("%d trials for %d selections among %d", c.trials, selections, n)
	}
}

// From here on the tests draw. Every check compares a number of successes with
// its law by Chernoff's bound, which is no approximation, and rejects an exact
// selection with probability at most drawnAlarm. There are 32 checks of laws, 4 of
// exp(−x) and 8 in the audit: a run fails wrongly with probability below 1e-11.
// (Mutants assert rejections, which raise no alarm on an exact selection.)
//
// Misses: missBound works out, from the two laws, with what probability at most a
// mutant would not be noticed; the test requires that to be below 1e-9.
const (
	drawnAlarm        = 1e-13
	drawsPerSelection = 200_000
)

// mechanism is a way to choose one candidate of a question, each time from all.
type mechanism func(t testing.TB, q question) func(b *Bits) int

func exponentialMechanism(t testing.TB, q question) func(b *Bits) int {
	return func(b *Bits) int {
		i, err := ExponentialMechanism(b, q.scores, q.epsilon, q.sensitivity, q.monotone)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
}

// permuteAndFlip chooses the first of a ranking.
func permuteAndFlip(t testing.TB, q question) func(b *Bits) int {
	r, candidates := q.ranking(t, (*Ranking).permuteAndFlip, depthOfWeights)
	return func(b *Bits) int { return drawOnce(r, candidates, b) }
}

func (q question) draw(t *testing.T, choose mechanism, draws int) []int {
	t.Helper()
	b, one := newBits(freshKey(t)), choose(t, q)
	counts := make([]int, len(q.scores))
	for range draws {
		counts[one(b)]++
	}
	return counts
}

// divergence returns the Kullback-Leibler divergence of Bernoulli(q) from
// Bernoulli(p): n trials of p have a share of q or beyond, on the same side,
// with probability at most exp(−n·divergence).
func divergence(q, p float64) float64 {
	sum := 0.0
	if q > 0 {
		sum += q * math.Log(q/p)
	}
	if q < 1 {
		sum += (1 - q) * math.Log((1-q)/(1-p))
	}
	return sum
}

// isRejected reports whether the share of successes in n draws is further from p
// than drawnAlarm allows, two-sided.
func isRejected(successes, n int, p float64) bool {
	return 2*math.Exp(-float64(n)*divergence(float64(successes)/float64(n), p)) < drawnAlarm
}

func rejected(counts []int, law []*big.Float) bool {
	draws := 0
	for _, count := range counts {
		draws += count
	}
	for i, count := range counts {
		if isRejected(count, draws, float64Of(law[i])) {
			return true
		}
	}
	return false
}

// missBound bounds the probability that n draws of a mutant law are not rejected
// as draws of the law: by that of the one outcome that tells most.
func missBound(n int, law, mutant []*big.Float) float64 {
	least := 1.0
	for i := range law {
		p, q := float64Of(law[i]), float64Of(mutant[i])
		accepted, refused := p, q // isRejected changes between these
		if 2*math.Exp(-float64(n)*divergence(q, p)) >= drawnAlarm {
			continue
		}
		for range 100 {
			middle := (accepted + refused) / 2
			if 2*math.Exp(-float64(n)*divergence(middle, p)) < drawnAlarm {
				refused = middle
			} else {
				accepted = middle
			}
		}
		least = min(least, math.Exp(-float64(n)*divergence(refused, q)))
	}
	return least
}

func TestDrawnSelectionsHaveTheExactLaw(t *testing.T) {
	testkit.SkipPassed(t)
	fine := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(3), 100), new(big.Int).Add(new(big.Int).Lsh(bigOne, 100),
		bigOne))
	for _, q := range []question{
		{[]int64{0, 1, 2, 4, 4}, big.NewRat(1, 1), 1, false},
		{[]int64{0, 1, 2, 4, 4}, big.NewRat(1, 1), 2, true},
		{[]int64{-3, 0, -3}, fine, 5, false},
		{[]int64{math.MinInt64, math.MaxInt64, 0}, big.NewRat(1, 1<<62), 1, false},
	} {
		if counts := q.draw(t, exponentialMechanism, drawsPerSelection); rejected(counts, q.exponentialLaw()) {
			t.Errorf("%v: the exponential mechanism drew %v", q, counts)
		}
		if counts := q.draw(t, permuteAndFlip, drawsPerSelection); rejected(counts, q.permuteAndFlipLaw()) {
			t.Errorf("%v: permute-and-flip drew %v", q, counts)
		}
	}
}

func TestDrawnBernoulliExpHasTheExactLaw(t *testing.T) {
	b := newBits(freshKey(t))
	for _, x := range []*big.Rat{big.NewRat(1, 3), big.NewRat(1, 1), big.NewRat(5, 2),
		big.NewRat(math.MaxInt64, math.MaxInt64-1)} {
		successes := 0
		for range drawsPerSelection {
			successes += outcomeOf(bigBernoulliExpAny(b, x.Num(), x.Denom()))
		}
		if isRejected(successes, drawsPerSelection, float64Of(expMinus(x))) {
			t.Errorf("exp(−%v): %d of %d", x, successes, drawsPerSelection)
		}
	}
}

// inOrder is permute-and-flip that forgets to permute.
func inOrder(t testing.TB, q question) func(b *Bits) int {
	s := q.selection(t)
	return func(b *Bits) int {
		i := 0
		for !s.acceptsCandidate(b, i) {
			i++
		}
		return i
	}
}

func (q question) inOrderLaw() []*big.Float {
	p := q.acceptance()
	refused := newMass().SetInt64(1)
	for i := range p {
		refuses := newMass().Sub(newMass().SetInt64(1), p[i])
		p[i].Mul(p[i], refused)
		refused.Mul(refused, refuses)
	}
	return p
}

func TestDrawnMutantsAreNoticed(t *testing.T) {
	testkit.SkipPassed(t)
	q := question{[]int64{0, 1, 2, 4, 4}, big.NewRat(1, 1), 1, false}
	halved, monotone := q, q
	halved.epsilon = big.NewRat(1, 2)
	monotone.monotone = true
	exponential, flip := q.exponentialLaw(), q.permuteAndFlipLaw()
	for _, m := range []struct {
		name        string
		choose      mechanism
		asked       question
		law, mutant []*big.Float
	}{
		{"exponential, ε halved", exponentialMechanism, halved, exponential, halved.exponentialLaw()},
		{"exponential, factor 2 forgotten", exponentialMechanism, monotone, exponential, monotone.exponentialLaw()},
		{"exponential, without replacement", permuteAndFlip, q, exponential, flip},
		{"permute-and-flip, ε halved", permuteAndFlip, halved, flip, halved.permuteAndFlipLaw()},
		{"permute-and-flip, factor 2 forgotten", permuteAndFlip, monotone, flip, monotone.permuteAndFlipLaw()},
		{"permute-and-flip, with replacement", exponentialMechanism, q, flip, exponential},
		{"permute-and-flip, without permuting", inOrder, q, flip, q.inOrderLaw()},
	} {
		miss := missBound(drawsPerSelection, m.law, m.mutant)
		t.Logf("%s: missed with probability below %.2g", m.name, miss)
		if miss > 1e-9 {
			t.Errorf("%s: may be missed with probability %.2g", m.name, miss)
		}
		if counts := m.asked.draw(t, m.choose, drawsPerSelection); !rejected(counts, m.law) {
			t.Errorf("%s: not noticed in %v", m.name, counts)
		}
	}
}

// audited returns a lower bound on ln P(0)/Q(0) from draws on two neighbours,
// each side of it wrong with probability at most drawnAlarm.
func audited(t *testing.T, choose mechanism, q question, p, neighbour []int64) float64 {
	t.Helper()
	first := q.with(p...).draw(t, choose, drawsPerSelection)[0]
	second := q.with(neighbour...).draw(t, choose, drawsPerSelection)[0]
	return math.Log(shareBound(first, 0) / shareBound(second, 1))
}

// shareBound returns the probability towards end (0 or 1) from the observed share
// that is the furthest not rejected.
func shareBound(successes int, end float64) float64 {
	share := float64(successes) / drawsPerSelection
	plausible, refused := share, end
	for range 100 {
		middle := (plausible + refused) / 2
		if isRejected(successes, drawsPerSelection, middle) {
			refused = middle
		} else {
			plausible = middle
		}
	}
	return refused
}

// TestDrawnSelectionsAreAuditedOnNeighbours draws on the worst neighbours: one
// candidate falls behind by 2Δ. The true ratios are exp(0.934) among ten for the
// exponential mechanism, and exp(1) between two for permute-and-flip. The audit
// must stay below ε = 1, and above 0.6, or it would see nothing: the lower bounds
// lie 0.14 and 0.06 below the ratio, give or take less than that again except with
// probability 1e-13 on each side.
func TestDrawnSelectionsAreAuditedOnNeighbours(t *testing.T) {
	testkit.SkipPassed(t)
	q := question{epsilon: big.NewRat(1, 1), sensitivity: 1}
	behind := []int64{-1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	exponential := audited(t, exponentialMechanism, q, make([]int64, 10), behind)
	flip := audited(t, permuteAndFlip, q, []int64{0, 0}, []int64{-1, 1})
	t.Logf("ε is at least %.4g and %.4g", exponential, flip)
	if exponential > 1 || flip > 1 {
		t.Errorf("ε = 1 is exceeded: %.4g, %.4g", exponential, flip)
	}
	if exponential < 0.6 || flip < 0.6 {
		t.Errorf("the audit sees only %.4g, %.4g", exponential, flip)
	}
	q.monotone = true
	if audited(t, exponentialMechanism, q, make([]int64, 10), behind) < 1 ||
		audited(t, permuteAndFlip, q, []int64{0, 0}, []int64{-1, 1}) < 1 {
		t.Error("the mutants that forget the factor 2 pass the audit")
	}
}

func BenchmarkSelection(b *testing.B) {
	scores := make([]int64, 1000)
	scores[1] = 1_000_000 // all others hopeless: the most trials
	choose, stream := exponentialMechanism(b, question{scores, big.NewRat(1, 3), 7, false}), newBits(freshKey(b))
	for b.Loop() {
		choose(stream)
	}
}
