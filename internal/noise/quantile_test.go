package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// rankQuestion is what a quantile is asked.
type rankQuestion struct {
	places, counts  []int64
	first, last     int64
	num, den, shift int64
	epsilon         *big.Rat
}

func (q rankQuestion) String() string {
	return fmt.Sprintf("%v×%v in [%d, %d] at %d/%d%+d, ε=%v", q.places, q.counts, q.first, q.last, q.num, q.den,
		q.shift,
		q.epsilon.RatString())
}

// score is u(y), from the definition.
func (q rankQuestion) score(y int64) *big.Int {
	less, upTo, n := new(big.Int), new(big.Int), new(big.Int)
	for i, place := range q.places {
		count := big.NewInt(q.counts[i])
		n.Add(n, count)
		if place < y {
			less.Add(less, count)
		}
		if place <= y {
			upTo.Add(upTo, count)
		}
	}
	den := big.NewInt(q.den)
	rank := n.Mul(n, big.NewInt(q.num))
	rank.Add(rank, big.NewInt(q.shift))
	above, below := less.Mul(less, den), upTo.Mul(upTo, den)
	above.Sub(above, rank)
	below.Sub(rank, below)
	if above.Sign() > 0 {
		return above
	}
	if below.Sign() > 0 {
		return below
	}
	return new(big.Int)
}

// weights are exp(−ε(u−min u)/2Δ) for all candidates of a small range, from the definition.
func (q rankQuestion) weights() (all []*big.Float, sum *big.Float) {
	least := q.score(q.first)
	for y := q.first; y <= q.last; y++ {
		if u := q.score(y); u.Cmp(least) < 0 {
			least = u
		}
	}
	lambda := new(big.Rat).Quo(q.epsilon, big.NewRat(2*max(q.num, q.den-q.num), 1))
	sum = newMass()
	for y := q.first; y <= q.last; y++ {
		x := new(big.Rat).SetInt(new(big.Int).Sub(q.score(y), least))
		all = append(all, expMinus(x.Mul(x, lambda)))
		sum.Add(sum, all[len(all)-1])
	}
	return all, sum
}

func (q rankQuestion) law() []*big.Float {
	law, sum := q.weights()
	for i := range law {
		law[i].Quo(law[i], sum)
	}
	return law
}

func (q rankQuestion) ranked(t testing.TB, depth int) *rankedRuns {
	t.Helper()
	r, err := newRankedRuns(q.places, q.counts, q.first, q.last, q.num, q.den, q.shift, q.epsilon)
	if err != nil {
		t.Fatalf("%v: %v", q, err)
	}
	r.setWeights(depth)
	return r
}

func rankQuestions() []rankQuestion {
	one := big.NewRat(1, 1)
	return []rankQuestion{
		{nil, nil, -2, 3, 1, 2, 0, one},
		{[]int64{0}, []int64{1}, 0, 0, 1, 2, 0, one},
		{[]int64{0}, []int64{3}, -2, 4, 1, 2, 0, one},
		{[]int64{1, 2, 6}, []int64{1, 1, 1}, 0, 8, 1, 2, 0, one},
		{[]int64{1, 2, 6}, []int64{2, 1, 1}, 0, 8, 1, 2, 0, big.NewRat(5, 3)},
		{[]int64{1, 6}, []int64{2, 2}, 0, 7, 1, 2, 0, big.NewRat(2, 1)},
		{[]int64{0, 3, 7}, []int64{1, 4, 2}, 0, 7, 1, 4, 0, big.NewRat(3, 2)},
		{[]int64{0, 3, 7}, []int64{1, 0, 2}, -1, 7, 9, 10, 0, big.NewRat(1, 3)},
		{[]int64{0, 3, 7}, []int64{1, 2, 2}, -1, 7, 0, 1, 0, one},
		{[]int64{0, 3, 7}, []int64{1, 2, 2}, -1, 7, 1, 1, 0, one},
		{[]int64{1, 2, 6}, []int64{2, 1, 1}, 0, 8, 1, 2, 3, one},
		{[]int64{1, 2, 6}, []int64{2, 1, 1}, 0, 8, 1, 2, -3, one},
		{[]int64{1, 2, 6}, []int64{2, 1, 1}, 0, 8, 1, 3, -7, one},
		{[]int64{1, 2, 6}, []int64{2, 1, 1}, 0, 8, 1, 3, 50, big.NewRat(7, 2)},
		{[]int64{1, 2, 6}, []int64{200, 1, 170}, 0, 8, 1, 2, 0, big.NewRat(1, 40)},
		{[]int64{-4, -1}, []int64{5, 9}, -6, 1, 2, 3, -1, big.NewRat(1, 3)},
	}
}

// TestQuantileHasTheExactLaw walks through every decision of a trial, with weights of four bits and uniform numbers
// drawn two bits at a time, so that far candidates, refusals and close comparisons are all frequent.
func TestQuantileHasTheExactLaw(t *testing.T) {
	const depth, word = 4, 2
	for _, q := range rankQuestions() {
		r := q.ranked(t, depth)
		n := int(q.last - q.first + 1)
		trial := walkAll(n+1, 1e-9, func(c coins) int {
			if offset, kept := r.tryCandidate(c, word); kept {
				return int(offset)
			}
			return n
		})
		all, sum := q.weights()
		kept := newMass()
		for y, weight := range all {
			// Every candidate is kept with probability 2⁴·exp(−λd) over the same integer: nothing else is asked of
			// that.
			p := newMass().Quo(newMass().Mul(weight, big.NewFloat(1<<depth)), newMass().SetInt(r.total.big()))
			assertEnclosed(t, fmt.Sprintf("candidate %d of %v", y, q), trial, y, p, 1e-6)
			kept.Add(kept, trial.mass[y])
		}
		if share := kept.Quo(kept, newMass().SetInt64(1)); share.Cmp(big.NewFloat(0.1)) < 0 || sum.Sign() <= 0 {
			t.Errorf("%v: a trial succeeds with probability %g alone", q, share)
		}
	}
}

// TestQuantileWeighsAllCandidates goes through the integer weights that draws are made by: runs follow each other over
// the whole range, distances are those of the definition, weights at least what they stand for, and below twice that
// where they can be.
func TestQuantileWeighsAllCandidates(t *testing.T) {
	questions := rankQuestions()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := rankQuestion{first: random.Int64N(20) - 10, den: 1 + random.Int64N(12),
			epsilon: big.NewRat(1+random.Int64N(50), 1+random.Int64N(50))}
		q.last, q.num, q.shift = q.first+random.Int64N(60), random.Int64N(q.den+1), random.Int64N(40)-20
		for y := q.first; y <= q.last; y++ {
			if random.IntN(3) == 0 {
				q.places, q.counts = append(q.places, y), append(q.counts, random.Int64N(1+random.Int64N(30)))
			}
		}
		questions = append(questions, q)
	}
	for _, q := range questions {
		r := q.ranked(t, depthOfWeights)
		all, _ := q.weights()
		next := 0
		for at := (wide{}); at.below(r.total); {
			run, before := r.findRun(at)
			weight := run.weight(depthOfWeights)
			end := before.plus(weight)
			if again, same := r.findRun(end.minus(wide{0, 1})); before != at || int(run.offset) != next ||
				again != run ||
				same != before {
				t.Fatalf("%v: at offset %d the run %v", q, next, run)
			}
			for range run.length {
				exact := newMass().Mul(all[next], newMass().SetMantExp(big.NewFloat(1), run.halvings))
				if exact.Cmp(big.NewFloat(1)) > 0 {
					t.Errorf("%v: offset %d would be kept with probability %g", q, next, exact)
				}
				if exact.Cmp(big.NewFloat(0.5-1e-9)) < 0 && run.halvings < depthOfWeights {
					t.Errorf("%v: offset %d is kept with probability %g alone", q, next, exact)
				}
				next++
			}
			at = end
		}
		if next != len(all) {
			t.Errorf("%v: %d of %d candidates", q, next, len(all))
		}
	}
}

func (q rankQuestion) draw(t *testing.T, draws int, categories int, category func(y int64) int) []int {
	t.Helper()
	b, counts := newBits(freshKey(t)), make([]int, categories)
	for range draws {
		y, err := Quantile(b, q.places, q.counts, q.first, q.last, q.num, q.den, q.shift, q.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if y < q.first || y > q.last {
			t.Fatalf("%v: drew %d", q, y)
		}
		counts[category(y)]++
	}
	return counts
}

// From here on the tests draw, by the checks of selections: each rejects an exact law with probability at most 1e-13,
// and there are fewer than 80.

const drawsPerQuantile = 50_000

func TestDrawnQuantilesHaveTheExactLaw(t *testing.T) {
	testkit.SkipPassed(t)
	for _, q := range rankQuestions()[3:] {
		law := q.law()
		counts := q.draw(t, drawsPerQuantile, len(law), func(y int64) int { return int(y - q.first) })
		if rejected(counts, law) {
			t.Errorf("%v: drew %v", q, counts)
		}
	}
}

// TestDrawnQuantilesOfWideRanges takes one place of many values in the middle of 2⁶³ candidates that are as far as to
// be about as likely together: those below, those above, those of the half next to it, and itself. Their law is worked
// out by the formula with lengths in place of candidates.
func TestDrawnQuantilesOfWideRanges(t *testing.T) {
	const count = 1 << 40
	for _, at := range []int64{0, 12345} {
		q := rankQuestion{[]int64{at}, []int64{count}, -1 << 62, 1<<62 - 1, 1, 2, 0, big.NewRat(86, count)}
		// Δ = 1 and u = 2⁴⁰ for all others: exp(−43) each.
		each := expMinus(big.NewRat(43, 1))
		below, half := at-q.first, (at-q.first)/2
		above := q.last - at
		law := []*big.Float{newMass().SetInt64(half), newMass().SetInt64(below - half), newMass().SetInt64(above)}
		for i := range law {
			law[i].Mul(law[i], each)
		}
		law = append(law, newMass().SetInt64(1))
		sum := newMass()
		for _, p := range law {
			sum.Add(sum, p)
		}
		for i := range law {
			law[i].Quo(law[i], sum)
		}
		counts := q.draw(t, drawsPerQuantile, 4, func(y int64) int {
			switch {
			case y == at:
				return 3
			case y > at:
				return 2
			case y < q.first+half:
				return 0
			}
			return 1
		})
		if rejected(counts, law) {
			t.Errorf("%v: drew %v", q, counts)
		}
	}
}

// TestQuantileMutantsAreNoticed draws what mistakes would draw, and says how likely that would be missed.
func TestQuantileMutantsAreNoticed(t *testing.T) {
	testkit.SkipPassed(t)
	q := rankQuestion{[]int64{1, 3, 6}, []int64{2, 1, 1}, 0, 8, 1, 2, 0, big.NewRat(1, 1)}
	law := q.law()
	doubled, ranked, once, longer := q, q, q, q
	doubled.epsilon = big.NewRat(2, 1)
	ranked.shift = q.den
	once.counts = []int64{1, 1, 1}
	longer.last++
	clamped := longer.law()
	clamped[8].Add(clamped[8], clamped[9])
	for _, m := range []struct {
		name   string
		asked  rankQuestion
		mutant []*big.Float
	}{
		{"factor 2 of ε", doubled, doubled.law()},
		{"rank off by one", ranked, ranked.law()},
		{"values counted once", once, once.law()},
		{"last gap longer by one", longer, clamped[:9]},
	} {
		miss := missBound(drawsPerQuantile, law, m.mutant)
		t.Logf("%s: missed with probability below %.2g", m.name, miss)
		if miss > 1e-9 {
			t.Errorf("%s: may be missed with probability %.2g", m.name, miss)
		}
		if counts := m.asked.draw(t, drawsPerQuantile, 9,
			func(y int64) int { return int(min(y, q.last)) }); !rejected(counts, law) {
			t.Errorf("%s: not noticed in %v", m.name, counts)
		}
	}
}

// TestQuantileTriesAreFew asks for what takes the most trials: nearly all candidates far away. The trials of 20 000
// draws are then below 4 on average; 5 % more than that has probability below exp(−20000·(1.05−1−ln 1.05)) < 1e-10.
func TestQuantileTriesAreFew(t *testing.T) {
	const draws = 20_000
	for _, epsilon := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(88, 1000), big.NewRat(1, 1),
		big.NewRat(1000, 1)} {
		q := rankQuestion{[]int64{5, 6}, []int64{500, 500}, math.MinInt64 / 2, math.MaxInt64 / 2, 1, 2, 1, epsilon}
		r := q.ranked(t, depthOfWeights)
		c := &trialCount{Bits: newBits(freshKey(t))}
		trials := 0
		for range draws {
			for kept := false; !kept; trials++ {
				_, kept = r.tryCandidate(c, bitsAtATime)
			}
		}
		t.Logf("ε=%v: %.3f trials a draw", epsilon, float64(trials)/draws)
		if trials > 4*draws*21/20 {
			t.Errorf("ε=%v: %d trials for %d draws", epsilon, trials, draws)
		}
	}
}

// TestQuantileFindsPlacesBeyondMarks asks with so much ε that the law is one place, wherever that stands in a long
// list.
func TestQuantileFindsPlacesBeyondMarks(t *testing.T) {
	const n = 3*placesPerMark + 17
	places, counts := make([]int64, n), make([]int64, n)
	for i := range places {
		places[i], counts[i] = int64(3*i), 2
	}
	b := newBits(freshKey(t))
	for i := int64(0); i < n; i++ {
		// Of 2n values those at place i have the ranks from 2i to 2i+2. Others are a row or more away, at exp(−1000)
		// each.
		y, err := Quantile(b, places, counts, 0, 3*n, 2*i+1, 2*n, 0, big.NewRat(4000, 1))
		if err != nil || y != 3*i {
			t.Fatalf("at %d of %d: %d, %v", 2*i+1, 2*n, y, err)
		}
	}
}

func TestQuantileRefusesWhatItCannotAnswer(t *testing.T) {
	b, one := newBits(freshKey(t)), big.NewRat(1, 1)
	for name, q := range map[string]rankQuestion{
		"no epsilon":             {nil, nil, 0, 9, 1, 2, 0, nil},
		"epsilon 0":              {nil, nil, 0, 9, 1, 2, 0, new(big.Rat)},
		"share above 1":          {nil, nil, 0, 9, 3, 2, 0, one},
		"share below 0":          {nil, nil, 0, 9, -1, 2, 0, one},
		"no denominator":         {nil, nil, 0, 9, 0, 0, 0, one},
		"denominator of 33 bits": {nil, nil, 0, 9, 1, 1 << 32, 0, one},
		"no range":               {nil, nil, 1, 0, 1, 2, 0, one},
		"range of 2⁶⁴":           {nil, nil, math.MinInt64, math.MaxInt64, 1, 2, 0, one},
		"counts missing":         {[]int64{1}, nil, 0, 9, 1, 2, 0, one},
		"place before the first": {[]int64{-1}, []int64{1}, 0, 9, 1, 2, 0, one},
		"place after the last":   {[]int64{10}, []int64{1}, 0, 9, 1, 2, 0, one},
		"place twice":            {[]int64{1, 1}, []int64{1, 1}, 0, 9, 1, 2, 0, one},
		"negative count":         {[]int64{1}, []int64{-1}, 0, 9, 1, 2, 0, one},
		"counts of 2⁶³":          {[]int64{1, 2}, []int64{math.MaxInt64, 1}, 0, 9, 1, 2, 0, one},
	} {
		if y, err := Quantile(b, q.places, q.counts, q.first, q.last, q.num, q.den, q.shift, q.epsilon); y != 0 ||
			err == nil {
			t.Errorf("%s: drew %d, error %v", name, y, err)
		}
	}
}

// FuzzQuantile looks for a panic, and for a draw outside the range.
func FuzzQuantile(f *testing.F) {
	f.Add(int64(0), uint64(100), int64(5), int64(7), int64(3), int64(2), int64(1), uint32(2), int64(0), int64(1),
		int64(1))
	f.Add(int64(math.MinInt64/2), uint64(math.MaxInt64), int64(0), int64(1), int64(math.MaxInt64-1), int64(1), int64(1),
		uint32(1<<32-1), int64(math.MinInt64), int64(1), int64(math.MaxInt64))
	f.Add(int64(-5), uint64(3), int64(0), int64(1), int64(1<<61), int64(1<<61), int64(0), uint32(1),
		int64(math.MaxInt64),
		int64(math.MaxInt64), int64(1))
	var key [32]byte
	f.Fuzz(func(t *testing.T, first int64, length uint64, a, b, countA, countB, num int64, den uint32, shift,
		epsilonNum,
		epsilonDen int64) {
		if epsilonDen == 0 {
			return
		}
		places, counts := []int64{a, b}, []int64{countA, countB}
		last := int64(uint64(first) + length)
		y, err := Quantile(newBits(key), places, counts, first, last, num, int64(den), shift,
			big.NewRat(epsilonNum, epsilonDen))
		if err == nil && (y < first || y > last) {
			t.Errorf("drew %d outside [%d, %d]", y, first, last)
		}
	})
}
