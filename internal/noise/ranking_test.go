package noise

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// The laws of rankings are those of selections among all candidates one by one: both are worked out from the same
// definition.

// ranking returns the classes of a question's scores, descending, with shallow weights so that all decisions are
// frequent, and the place of each candidate: a class, and which of it.
func (q question) ranking(t testing.TB, by rule, depth int) (*Ranking, map[[2]int]int) {
	t.Helper()
	scores := slices.Sorted(slices.Values(q.scores))
	slices.Reverse(scores)
	var classes []Class
	for _, score := range scores {
		if n := len(classes); n > 0 && classes[n-1].Score == score {
			classes[n-1].Candidates++
		} else {
			classes = append(classes, Class{score, 1})
		}
	}
	r, err := newRanking(classes, q.epsilon, big.NewInt(q.sensitivity), q.monotone, by)
	if err != nil {
		t.Fatal(err)
	}
	r.limits = halvingDistances(r.lambda, depth)
	candidates, seen := map[[2]int]int{}, map[int]int{}
	for i, score := range q.scores {
		class := slices.IndexFunc(classes, func(c Class) bool { return c.Score == score })
		candidates[[2]int{class, seen[class]}] = i
		seen[class]++
	}
	return r, candidates
}

func rankingQuestions() []question {
	return []question{
		{[]int64{5}, big.NewRat(1, 1), 1, false},
		{[]int64{0, 0}, big.NewRat(1, 1), 1, false},
		{[]int64{3, 7}, big.NewRat(1, 1), 1, false},
		{[]int64{3, 5}, big.NewRat(1, 1), 1, true},
		{[]int64{9, 9, 4}, big.NewRat(1, 2), 2, false},
		{[]int64{0, 1, 0, 2}, big.NewRat(3, 2), 1, true},
		{[]int64{-2, 1, 0}, big.NewRat(3, 7), 1, true},
	}
}

// drawOnce is one choice of a fresh copy of a ranking.
func drawOnce(r *Ranking, candidates map[[2]int]int, c coins) int {
	fresh := *r
	fresh.classes = slices.Clone(r.classes)
	class, place := fresh.takeCandidate(c, 2)
	return candidates[[2]int{class, int(place)}]
}

// TestRankingChoosesByTheLawOfTheExponentialMechanism walks through every decision, with weights of three bits.
func TestRankingChoosesByTheLawOfTheExponentialMechanism(t *testing.T) {
	for _, q := range rankingQuestions() {
		r, candidates := q.ranking(t, (*Ranking).drawExponential, 3)
		whole := walkAll(len(q.scores), 1e-6, func(c coins) int { return drawOnce(r, candidates, c) })
		for i, p := range q.exponentialLaw() {
			assertEnclosed(t, fmt.Sprintf("choice %d of %v", i, q), whole, i, p, 0.05)
		}
	}
}

// TestRankingChoosesByTheLawOfPermuteAndFlip decides on all at once, on some one by one before, and on all one by one.
func TestRankingChoosesByTheLawOfPermuteAndFlip(t *testing.T) {
	for _, q := range rankingQuestions() {
		for trials := range len(q.scores) {
			r, candidates := q.ranking(t, func(r *Ranking, c coins, word uint) (int, uint64) {
				return r.permuteAndFlipAfter(c, word, trials)
			}, 3)
			whole := walkAll(len(q.scores), 1e-7, func(c coins) int { return drawOnce(r, candidates, c) })
			for i, p := range q.permuteAndFlipLaw() {
				assertEnclosed(t, fmt.Sprintf("choice %d of %v after %d trials", i, q, trials), whole, i, p, 0.02)
			}
		}
	}
}

// TestRankingTakesOut chooses all of them, one after the other: each once, and then none.
func TestRankingTakesOut(t *testing.T) {
	b := newBits(freshKey(t))
	for _, make := range []func([]Class, *big.Rat, *big.Int, bool) (*Ranking, error){NewExponential,
		NewPermuteAndFlip} {
		r, err := make([]Class{{9, 2}, {4, 1}, {0, 3}}, big.NewRat(1, 1), big.NewInt(1), true)
		if err != nil {
			t.Fatal(err)
		}
		left := []uint64{2, 1, 3}
		for range 6 {
			class, place := r.Take(b)
			if class < 0 || place >= left[class] {
				t.Fatalf("chose number %d of class %d, of which %v are left", place, class, left)
			}
			left[class]--
		}
		if class, _ := r.Take(b); class != -1 {
			t.Errorf("chose of class %d where none is left", class)
		}
	}
}

// From here on the tests draw: each rejects an exact law with probability at most 1e-13.

// TestRankingOfVeryManyCandidates has classes whose laws are worked out from their numbers: of the exponential
// mechanism, and of permute-and-flip where all but the best are as good as refused or accepted together.
func TestRankingOfVeryManyCandidates(t *testing.T) {
	const draws = 4000
	epsilon, one := big.NewRat(1, 1), big.NewInt(1)
	for _, many := range []uint64{1 << 24, 1_000_000_007, 1 << 50} {
		// exp(−gap)·many is about 1 for the gap, so that best and many are about as likely.
		gap := int64(big.NewInt(int64(many)).BitLen()) * 693 / 1000
		all := newMass().Mul(newMass().SetUint64(many), expMinus(big.NewRat(gap, 1)))
		sum := newMass().Add(all, newMass().SetInt64(1))
		law := []*big.Float{newMass().Quo(newMass().SetInt64(1), sum), newMass().Quo(all, sum)}
		counts := make([]int, 2)
		b := newBits(freshKey(t))
		for range draws {
			r, err := NewExponential([]Class{{gap, 1}, {0, many}}, epsilon, one, true)
			if err != nil {
				t.Fatal(err)
			}
			class, _ := r.Take(b)
			counts[class]++
		}
		if rejected(counts, law) {
			t.Errorf("%d candidates, exponential: drew %v", many, counts)
		}
		if many > 1<<30 {
			continue // each draw works out laws of binomials
		}
		// The best comes first with probability (1−(1−p)^n+¹)/((n+1)p), which is (1−exp(−np))/np up to 1/n.
		none := expMinus(ratOf(all))
		none.Sub(newMass().SetInt64(1), none).Quo(none, all)
		law = []*big.Float{none, newMass().Sub(newMass().SetInt64(1), none)}
		counts = make([]int, 2)
		for range draws / 40 {
			r, err := NewPermuteAndFlip([]Class{{gap, 1}, {0, many}}, epsilon, one, true)
			if err != nil {
				t.Fatal(err)
			}
			class, _ := r.Take(b)
			counts[class]++
		}
		if rejected(counts, law) {
			t.Errorf("%d candidates, permute-and-flip: drew %v", many, counts)
		}
	}
}

func ratOf(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	return r
}

// TestRankingAcceptsByTheBinomialLaw holds how many of many candidates are accepted, by bits and in lots, against the
// normal limit: the mean of the draws within 8 standard errors of n·p.
func TestRankingAcceptsByTheBinomialLaw(t *testing.T) {
	testkit.SkipPassed(t)
	const draws = 50
	b := newBits(freshKey(t))
	for _, n := range []uint64{1000, mostThinned, 3*mostThinned + 12345, 1 << 33} {
		for _, gap := range []int64{1, 5, 14} {
			r, err := NewPermuteAndFlip([]Class{{gap, 1}, {0, n}}, big.NewRat(1, 1), big.NewInt(1), true)
			if err != nil {
				t.Fatal(err)
			}
			p := float64Of(expMinus(big.NewRat(gap, 1)))
			if float64(n)*p > 1e4 {
				continue
			}
			of := r.currentRuns()[1]
			sum := 0.0
			for range draws {
				sum += float64(r.countAccepted(b, of, n, bitsAtATime))
			}
			mean, variance := float64(n)*p, float64(n)*p*(1-p)/draws
			if off := sum/draws - mean; off*off > 64*variance {
				t.Errorf("of %d at %d: %g accepted on the mean, not %g", n, gap, sum/draws, mean)
			}
		}
	}
}

func TestRankingRefusesWhatItCannotAnswer(t *testing.T) {
	one, unit := big.NewRat(1, 1), big.NewInt(1)
	for name, try := range map[string]func() (*Ranking, error){
		"no candidates":  func() (*Ranking, error) { return NewExponential(nil, one, unit, true) },
		"empty classes":  func() (*Ranking, error) { return NewExponential([]Class{{1, 0}}, one, unit, true) },
		"no epsilon":     func() (*Ranking, error) { return NewExponential([]Class{{1, 1}}, nil, unit, true) },
		"epsilon 0":      func() (*Ranking, error) { return NewExponential([]Class{{1, 1}}, new(big.Rat), unit, true) },
		"no sensitivity": func() (*Ranking, error) { return NewExponential([]Class{{1, 1}}, one, new(big.Int), true) },
		"ascending":      func() (*Ranking, error) { return NewExponential([]Class{{1, 1}, {2, 1}}, one, unit, true) },
		"twice": func() (*Ranking, error) {
			return NewPermuteAndFlip([]Class{{1, 1}, {1, 1}}, one, unit,
				true)
		},
		"too many": func() (*Ranking, error) {
			return NewPermuteAndFlip([]Class{{1, 1 << 61}, {0, 1<<61 + 1}}, one, unit, true)
		},
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
