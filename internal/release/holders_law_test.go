package release

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verify"
	"gonum.org/v1/gonum/stat/distuv"
)

// This file compares the errors of published counts of several holders, and their intervals, with the law that they
// should have, which is worked out by convolving negative binomial laws.
//
// Failures by chance. Every setting is one release of lawCells counts with independent noise. How many errors are of
// k or more in absolute value is a binomial number, for every k, and so is how many intervals hold the true count. An
// alarm is raised where as many, or as few, have a probability below lawTail. There are fewer than 100 values of k
// for each of 7 releases: together they fail with probability below 7 · 204 · 5e-13 < 1e-9, of which χ² over the
// values has a part. Its law is approximate: classes have 100 expected counts or more.
//
// Power. In each setting as many errors are drawn with a mistake. The probability that no alarm is raised is that of
// the k which shows the mistake best, and a mistake that could be missed with probability above lawMissed is not
// asked for: among 50 holders one without noise lowers the variance by a fiftieth.
const (
	lawCells  = 100_000
	lawTail   = 5e-13
	lawMissed = 1e-9
)

// shareLaw is the law of one share of Laplace noise of a scale, of which needed add up to it: the difference of two
// independent negative binomial numbers of order 1/needed.
func shareLaw(scale float64, needed int) releasetest.Law {
	order, a := 1/float64(needed), math.Exp(-1/scale)
	law := releasetest.Law{}
	for n := 0; n < int(40*scale)+2; n++ {
		up, _ := math.Lgamma(float64(n) + order)
		down, _ := math.Lgamma(float64(n) + 1)
		whole, _ := math.Lgamma(order)
		law.P = append(law.P, math.Exp(up-down-whole+order*math.Log1p(-a)+float64(n)*math.Log(a)))
	}
	return law.Plus(law.Negated())
}

// addedLaw is the law of the sum of so many independent values.
func addedLaw(one releasetest.Law, values int) releasetest.Law {
	sum := releasetest.Law{P: []float64{1}}
	for range values {
		sum = sum.Plus(one).Trimmed()
	}
	return sum
}

// beyond is the probability that a value of the law is k or more in absolute value.
func beyond(l releasetest.Law, k int) float64 { return l.AtLeast(k) + l.Negated().AtLeast(k) }

// binomialTail is the probability of as many hits or as few, whichever is less.
func binomialTail(hits, trials int, p float64) float64 {
	return min(releasetest.AtLeast(hits, trials, p), releasetest.AtLeast(trials-hits, trials, 1-p))
}

// lawAlarm returns the least probability of the counts of errors that are k or more in absolute value.
func lawAlarm(errors []int64, law releasetest.Law) float64 {
	least := 1.0
	for k := 1; beyond(law, k)*float64(len(errors)) > 1; k++ {
		hits := 0
		for _, x := range errors {
			if max(x, -x) >= int64(k) {
				hits++
			}
		}
		least = min(least, binomialTail(hits, len(errors), beyond(law, k)))
	}
	return least
}

// lawChi returns the probability of a χ² as large as that of the errors' values, in classes of 100 expected ones.
func lawChi(errors []int64, law releasetest.Law) float64 {
	seen := map[int]int{}
	for _, x := range errors {
		seen[int(x)]++
	}
	n, sum, classes := float64(len(errors)), 0.0, 0
	add := func(observed int, expected float64) {
		sum += (float64(observed) - expected) * (float64(observed) - expected) / expected
		classes++
	}
	observed, expected, leftObserved, left := 0, 0.0, len(errors), 1.0
	for x := law.From; x < law.From+len(law.P); x++ {
		observed, expected = observed+seen[x], expected+n*law.At(x)
		if rest := left*n - expected; expected >= 100 && rest >= 100 {
			add(observed, expected)
			leftObserved, left = leftObserved-observed, left-expected/n
			observed, expected = 0, 0
		}
	}
	add(leftObserved, left*n)
	return distuv.ChiSquared{K: float64(classes - 1)}.Survival(sum)
}

// lawMiss bounds the probability that lawAlarm raises no alarm at errors of another law.
func lawMiss(law, other releasetest.Law, trials int) float64 {
	least := 1.0
	for k := 1; beyond(law, k)*float64(trials) > 1; k++ {
		least = min(least, binomialMiss(beyond(law, k), beyond(other, k), trials))
	}
	return least
}

// binomialMiss is the probability that binomial hits of probability q raise no alarm where p is expected.
func binomialMiss(p, q float64, trials int) float64 {
	if q > p {
		p, q = 1-p, 1-q // of misses, which are too few
	}
	low := sort.Search(trials+1, func(hits int) bool { return releasetest.AtLeast(trials-hits, trials, 1-p) >= lawTail })
	return releasetest.AtLeast(low, trials, q)
}

// lawSpec has a scale of 2 on every count.
const lawSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999]}}}}
marginals: {xs: {by: [x]}}
`

const lawScale = 2

// lawSettings are the numbers of holders and of trusted ones.
var lawSettings = [][2]int{{2, 1}, {2, 2}, {3, 2}, {5, 5}, {10, 3}, {50, 25}}

// heldCounts are the published counts of a release of holders, and what they are off the true counts.
type heldCounts struct {
	cells  []releasetest.Cell
	truth  []int64
	errors []int64
}

// releaseCounts releases the counts of some holders' random rows.
func releaseCounts(t *testing.T, holders, trusted int) heldCounts {
	t.Helper()
	f := newFederation(t, trustText{holders, trusted, "disjoint"}, lawSpec)
	source, out := rand.New(rand.NewPCG(uint64(holders), uint64(trusted))), heldCounts{truth: make([]int64, lawCells)}
	for i := range f.holders {
		rows := strings.Builder{}
		rows.WriteString("who,x\n")
		for who := range 20_000 / holders {
			x := source.IntN(lawCells / 10) // where a cell has rows of several holders
			fmt.Fprintf(&rows, "%d,%d\n", who, x)
			out.truth[x]++
		}
		f.give(t, i, rows.String())
	}
	out.cells = releasetest.ReadTable(t, filepath.Join(f.release(t), "tables", "xs.parquet"), []string{"x"})
	if len(out.cells) != lawCells {
		t.Fatalf("%d cells", len(out.cells))
	}
	for i, c := range out.cells {
		if c.Keys[0] != fmt.Sprint(i) {
			t.Fatalf("cell %d is of %v", i, c.Keys)
		}
		out.errors = append(out.errors, int64(c.Unbiased)-out.truth[i])
	}
	return out
}

// TestErrorsOfHoldersHaveTheirLaw releases counts of 2 to 50 holders and compares errors and intervals with their
// law.
func TestErrorsOfHoldersHaveTheirLaw(t *testing.T) {
	testkit.SkipPassed(t)
	for _, of := range lawSettings {
		t.Run(fmt.Sprintf("%d of %d", of[1], of[0]), func(t *testing.T) {
			holders, trusted := of[0], of[1]
			law := addedLaw(shareLaw(lawScale, trusted), holders)
			c := releaseCounts(t, holders, trusted)
			checkLaw(t, c.errors, law)
			checkIntervals(t, c, law)
			for _, m := range []struct {
				what           string
				shares, needed int
			}{{"one holder without noise", holders - 1, trusted}, {"shares of which all are needed", holders, holders}} {
				other := addedLaw(shareLaw(lawScale, m.needed), m.shares)
				missed := lawMiss(law, other, lawCells)
				if m.needed == trusted && m.shares == holders || missed > lawMissed {
					t.Logf("%s: not asked for, missed with probability %.1g", m.what, missed)
					continue
				}
				alarm := lawAlarm(drawShares(t, m.shares, m.needed), law)
				t.Logf("%s: missed with probability below %.0e; found at %.0e", m.what, missed, alarm)
				if alarm >= lawTail {
					t.Errorf("%s is not noticed", m.what)
				}
			}
		})
	}
}

// checkLaw compares errors with their law.
func checkLaw(t *testing.T, errors []int64, law releasetest.Law) {
	t.Helper()
	alarm, chi, squares := lawAlarm(errors, law), lawChi(errors, law), 0.0
	for _, x := range errors {
		squares += float64(x * x)
	}
	t.Logf("least probability of a number of errors %.2g, of χ² %.2g; the standard error is %.4f, by the law %.4f",
		alarm, chi, math.Sqrt(squares/float64(len(errors))), deviationOf(law))
	if alarm < lawTail || chi < lawTail {
		t.Error("the errors have another law")
	}
}

func deviationOf(l releasetest.Law) float64 {
	squares := 0.0
	for i, p := range l.P {
		squares += p * float64((l.From+i)*(l.From+i))
	}
	return math.Sqrt(squares)
}

// checkIntervals compares how many intervals hold the true count with their law, and the standard error that is
// published.
func checkIntervals(t *testing.T, c heldCounts, law releasetest.Law) {
	t.Helper()
	margin, held := 0, 0
	for i, cell := range c.cells {
		own := int(cell.High - cell.Unbiased)
		if margin = max(margin, own); own != margin && i > 0 && cell.High > 0 {
			t.Fatalf("margins of %d and %d", own, margin)
		}
		if truth := float64(c.truth[i]); cell.Low <= truth && truth <= cell.High {
			held++
		}
		if math.Abs(cell.StandardError-deviationOf(law)) > 1e-3 {
			t.Fatalf("the published standard error is %g, and by the law %g", cell.StandardError, deviationOf(law))
		}
	}
	attained := 1 - beyond(law, margin+1)
	chance := binomialTail(held, len(c.cells), attained)
	t.Logf("margin %d: %d of %d intervals hold, %.5f; by the law %.5f; probability %.2g", margin, held, len(c.cells),
		float64(held)/float64(len(c.cells)), attained, chance)
	if attained < 0.95 || 1-beyond(law, margin) >= 0.95 {
		t.Errorf("a margin of %d attains %g, and one of %d less %g", margin, attained, margin-1, 1-beyond(law, margin))
	}
	if chance < lawTail {
		t.Error("the intervals do not hold as often as they should")
	}
	once := releasetest.NoiseLaw(budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(lawScale, 1)})
	pooled := 0 // the margin of noise that is drawn at once
	for beyond(once, pooled+1) > 0.05 {
		pooled++
	}
	if missed := binomialMiss(attained, 1-beyond(law, pooled+1), len(c.cells)); pooled == margin {
		return
	} else if missed > lawMissed {
		t.Errorf("margins of noise that is drawn at once would be missed with probability %g", missed)
	}
	narrow := 0
	for _, x := range c.errors {
		if max(x, -x) <= int64(pooled) {
			narrow++
		}
	}
	if binomialTail(narrow, len(c.cells), attained) >= lawTail {
		t.Error("margins of noise that is drawn at once are not noticed")
	}
}

// drawShares draws lawCells sums of so many shares.
func drawShares(t *testing.T, shares, needed int) []int64 {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	streams, sums := noise.NewStreams(key, "mistakes"), make([]int64, lawCells)
	for i := range shares {
		bits := streams.Noise([]byte("m"), nil, i)
		if err := noise.AddLaplaceShare(bits, big.NewRat(lawScale, 1), needed, sums); err != nil {
			t.Fatal(err)
		}
	}
	return sums
}

// TestRehearsedHoldersHaveTheNoiseOfAll: a rehearsal of no rows publishes noise alone, that of all holders.
func TestRehearsedHoldersHaveTheNoiseOfAll(t *testing.T) {
	testkit.SkipPassed(t)
	f := newFederation(t, trustText{3, 2, "disjoint"}, lawSpec)
	place, err := Rehearse(t.Context(), f.plan, 0, Options{Out: filepath.Join(f.dir, "tried")})
	if err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, place, verify.Options{})
	var errors []int64
	for _, c := range releasetest.ReadTable(t, filepath.Join(place, "tables", "xs.parquet"), nil) {
		errors = append(errors, int64(c.Unbiased))
	}
	checkLaw(t, errors, addedLaw(shareLaw(lawScale, 2), 3))
}

// TestLawsOfSharesAddUp: as many shares as are needed have the law of noise that is drawn at once.
func TestLawsOfSharesAddUp(t *testing.T) {
	once := releasetest.NoiseLaw(budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(lawScale, 1)})
	for _, needed := range []int{1, 2, 3, 5, 25} {
		law := addedLaw(shareLaw(lawScale, needed), needed)
		for x := -60; x <= 60; x++ {
			if math.Abs(law.At(x)-once.At(x)) > 1e-12 {
				t.Errorf("%d shares: %g at %d, expected %g", needed, law.At(x), x, once.At(x))
			}
		}
	}
}

// TestTrustInAllCostsNothing: where all holders are trusted, a plan forecasts the errors of one place with the same
// law of noise, and where half are, those of twice the variance.
func TestTrustInAllCostsNothing(t *testing.T) {
	for _, money := range []string{"{epsilon: 1}", "{epsilon: 1, delta: 1e-7, noise: laplace}"} {
		text := strings.Replace(lawSpec, "{epsilon: 1}", money, 1)
		for _, trust := range []trustText{{4, 4, "disjoint"}, {4, 2, "disjoint"}} {
			f := newFederation(t, trust, text)
			f.put(t, "shared/pooled.yaml", text)
			pooled, err := planfile.Load(t.Context(), planfile.Spec{Path: filepath.Join(f.shared(), "pooled.yaml")})
			if err != nil {
				t.Fatal(err)
			}
			factor := math.Sqrt(float64(trust.holders) / float64(trust.trusted))
			one, all := pooled.Tables[0].Statistics[0], f.plan.Tables[0].Statistics[0]
			if ratio := all.StandardError / one.StandardError / factor; math.Abs(ratio-1) > 1e-6 {
				t.Errorf("%s, %d of %d: the standard error is %g, and in one place %g", money, trust.trusted, trust.holders,
					all.StandardError, one.StandardError)
			}
			if trust.holders == trust.trusted && (all.Margin != one.Margin || math.Abs(all.Attained-one.Attained) > 1e-9) {
				t.Errorf("%s: a margin of %g, attained %g; in one place %g, %g", money, all.Margin, all.Attained, one.Margin,
					one.Attained)
			}
			t.Logf("%s, %d of %d: standard error %.4f, in one place %.4f; margin %g, in one place %g", money, trust.trusted,
				trust.holders, all.StandardError, one.StandardError, all.Margin, one.Margin)
		}
	}
}
