package histogram

import (
	"context"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// mostWrong bounds how often a verdict of the tests of a law may be wrong, over
// all keys: they draw from fixed ones, so that each verdict is what it is for good.
const mostWrong = 1e-10

// TestChoicesHaveTheLawOfThePlan holds the frequencies of choices against
// exp(ε·score/2Δ)/Σ, with scores and Δ worked out here, and wants the same test to
// refuse an oracle with half the sensitivity, one that forgets how many rows a
// unit may have, and one that forgets that a replaced unit has as many again. The
// law, as it should be, is refused with probability below mostWrong: 6 frequencies,
// each on two sides with a twelfth of it. Each broken one passes with probability
// below mostWrong too, which is computed from its law.
func TestChoicesHaveTheLawOfThePlan(t *testing.T) {
	testkit.SkipPassed(t)
	testkit.SkipUnderRace(t)
	const trials, k = 2500, 3
	for _, c := range []struct {
		neighbours spec.Neighbours
		broken     map[string]int64 // by what the sensitivity is divided
	}{
		{spec.AddRemove, map[string]int64{"half the sensitivity": 2, "k is forgotten": k}},
		{spec.Replace, map[string]int64{"half the sensitivity, or replacing forgotten": 2, "k is forgotten": k}},
	} {
		p := personsOf(t, "UNIT", "{id: id, max_rows: 3}", "add-remove", string(c.neighbours))
		e := exactOf(t, p, folder(t, "a.csv", "id,a,b,c\n"+strings.Repeat("1,x,y,z\n", 9)+"2,x,x,x\n2,y,y,x\n"), 1)
		delta := int64(1024 * k)
		if c.neighbours == spec.Replace {
			delta *= 2
		}
		// One model is right; others expect more than there is, or less.
		counts := map[int][]int64{ab: {1, 3, 0, 1}, ac: {1, 0, 3, 1, 0, 0}, bc: {1, 0, 0, 1, 0, 3}}
		candidates := []int{bc, ab, ac}
		models := make([][]int64, len(candidates))
		for i, pair := range candidates {
			for _, n := range counts[pair] {
				models[i] = append(models[i], 1024*n)
			}
		}
		models[0][1] += 3 * delta
		models[1][1], models[1][0] = 0, models[1][0]+delta // 3·1024 fewer
		law := func(divided int64) []float64 {
			epsilon, _ := p.Synthetic[0].Select.Parameter.Float64()
			weights, sum := make([]float64, len(candidates)), 0.0
			for i, pair := range candidates {
				score, _ := new(big.Float).SetInt(bigScore(counts[pair], models[i], 0, 1)).Float64()
				weights[i] = math.Exp(epsilon * score / (2 * float64(delta/divided)))
				sum += weights[i]
			}
			for i := range weights {
				weights[i] /= sum
			}
			return weights
		}
		lows, highs := make([]int, len(candidates)), make([]int, len(candidates))
		for i, share := range law(1) {
			lows[i], highs[i] = span(trials, share, mostWrong/12)
		}
		fits := func(divided int64) bool {
			seen := make([]int, len(candidates))
			for n := range trials {
				o := oracles(t, e)(n)
				for i := range o.inner.sensitivities {
					o.inner.sensitivities[i] /= divided
				}
				choice, err := chosen(o, 0, candidates, models)
				if err != nil {
					t.Fatal(err)
				}
				seen[slices.Index(candidates, choice)]++
			}
			for i, n := range seen {
				if n < lows[i] || n > highs[i] {
					return false
				}
			}
			return true
		}
		if !fits(1) {
			t.Errorf("%s: the choices have another law than the plan says: %.3f", c.neighbours, law(1))
		}
		for what, divided := range c.broken {
			missed := 1.0
			for i, share := range law(divided) {
				missed = min(missed, atMost(highs[i], trials, share), atLeast(lows[i], trials, share))
			}
			if missed > mostWrong {
				t.Errorf("%s: %s would pass with probability %.0e", c.neighbours, what, missed)
			}
			if fits(divided) {
				t.Errorf("%s: %s is not noticed", c.neighbours, what)
			}
		}
	}
}

// TestOtherQuestionsMeetOtherBits asks for choices between two pairs of equal
// scores, which show one bit of each stream. The same question has the same answer;
// under another round, model, penalty, mechanism, order, count or key it is another stream's, and
// agrees in half of the cases. The 9 comparisons alarm by chance with probability
// below mostWrong: each on two sides with an eighteenth of it.
func TestOtherQuestionsMeetOtherBits(t *testing.T) {
	testkit.SkipUnderRace(t)
	const trials = 600
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,x,x\n"), 1)
	more := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,x,x\ny,y,y\n"), 1)
	equal := func(offset int64, candidates ...int) [][]int64 {
		models := zeros(e, candidates...)
		models[0][2], models[1][2] = offset, offset // where there are no rows
		return models
	}
	// The scores are equal under e and under more.
	asked := func(e *Exact, key, round int, candidates []int, models [][]int64) bool {
		o := oracles(t, e)(key)
		for before := range round {
			passed(t, o, before, bc)
		}
		choice, err := chosen(o, round, candidates, models)
		if err != nil {
			t.Fatal(err)
		}
		return choice == ac
	}
	moved := zeros(e, ab, ac)
	moved[0][3], moved[1][3] = 7, 7
	low, high := span(trials, 0.5, mostWrong/18)
	for name, ask := range map[string]func(key int) bool{
		"key":             func(key int) bool { return asked(e, key+trials, 0, []int{ab, ac}, equal(7, ab, ac)) },
		"round":           func(key int) bool { return asked(e, key, 1, []int{ab, ac}, equal(7, ab, ac)) },
		"models":          func(key int) bool { return asked(e, key, 0, []int{ab, ac}, equal(8, ab, ac)) },
		"place in models": func(key int) bool { return asked(e, key, 0, []int{ab, ac}, moved) }, // of equal scores
		"order":           func(key int) bool { return asked(e, key, 0, []int{ac, ab}, equal(7, ac, ab)) },
		"pair":            func(key int) bool { return asked(e, key, 0, []int{bc, ac}, equal(7, bc, ac)) },
		"penalties": func(key int) bool {
			o := oracles(t, e)(key)
			choice, err := o.Select(context.Background(), 0, o.inner.method.Select, []int{ab, ac}, equal(7, ab, ac),
				[]int64{5, 5})
			return err == nil && choice == ac
		},
		"mechanism": func(key int) bool {
			o := oracles(t, e)(key)
			how := o.inner.method.Select
			how.Parameter = new(big.Rat).Quo(how.Parameter, big.NewRat(2, 1))
			choice, err := o.Select(context.Background(), 0, how, []int{ab, ac}, equal(7, ab, ac), nil)
			return err == nil && choice == ac
		},
		"counts": func(key int) bool { return asked(more, key, 0, []int{ab, ac}, equal(7, ab, ac)) },
	} {
		agreed := 0
		for key := range trials {
			first := asked(e, key, 0, []int{ab, ac}, equal(7, ab, ac))
			if first != asked(e, key, 0, []int{ab, ac}, equal(7, ab, ac)) {
				t.Fatal("the same question has two answers")
			}
			if first == ask(key) {
				agreed++
			}
		}
		if agreed < low || agreed > high {
			t.Errorf("another %s agrees %d times of %d: it meets the same bits", name, agreed, trials)
		}
	}
}

// A choice is that of its method and its candidates, whichever is chosen.
func TestDefinitionsOfChoices(t *testing.T) {
	p := personsOf(t)
	o := oracles(t, exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,x,x\n"), 1))(1).inner
	how := o.method.Select
	define := func(o *oracle, candidates ...int) string { return string(o.definition(how, candidates)) }
	first := define(o, ab, ac)
	if first != define(o, ab, ac) || first == define(o, ab, bc) || first == define(o, ab) {
		t.Error("candidates do not define a choice")
	}
	sharper := how
	sharper.Parameter = new(big.Rat).Mul(how.Parameter, big.NewRat(2, 1))
	if first == string(o.definition(sharper, []int{ab, ac})) {
		t.Error("the mechanism does not define a choice")
	}
	if classes := [][]int{{0, 0}, nil, nil}; first == define(&oracle{method: o.method, classes: classes}, ab, ac) {
		t.Error("classes do not define a choice")
	}
	for name, change := range map[string]func(s *plan.Synthetic){
		"table": func(s *plan.Synthetic) { s.Table = "others" },
		"ε":     func(s *plan.Synthetic) { s.Select.Parameter = big.NewRat(1, 3) },
		"by":    func(s *plan.Synthetic) { s.By = s.By[:2] },
	} {
		other := oracle{method: o.method}
		change(&other.method)
		if first == define(&other, ab, ac) {
			t.Errorf("another %s has the definition of the first", name)
		}
	}
}

func BenchmarkRound(b *testing.B) {
	p := personsOf(b)
	e := exactOf(b, p, folder(b, "a.csv", "a,b,c\nx,x,x\n"), 1)
	oracle := func(n int) *Oracle {
		o, err := newOracle(&opened{exact: e.inner, streams: noise.NewStreams(keyOf(n), "plan")}, 0)
		if err != nil {
			b.Fatal(err)
		}
		return &Oracle{inner: o}
	}
	b.Run("choice", func(b *testing.B) {
		for n := range b.N {
			if _, err := chosen(oracle(n), 0, []int{ab, ac}, zeros(e, ab, ac)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("answer", func(b *testing.B) {
		for n := range b.N {
			o := oracle(n)
			if err := o.ReplayChoice(0, o.inner.method.Select, ab); err != nil {
				b.Fatal(err)
			}
			if _, err := answerTo(o, 0, ab); err != nil {
				b.Fatal(err)
			}
		}
	})
}
