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
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/planner"
)

// This file compares the errors of published counts of several holders, and their intervals, with the law that they
// should have, which is worked out by convolving the laws of shares.
//
// Failures by chance. Every setting is one release of independent noise. How many errors are of k or more in absolute
// value is a binomial number, for every k, and so is how many intervals hold the true count. An alarm is raised where
// as many, or as few, have a probability below lawTail, or where χ² over the values has. These are 203 checks of a
// release at most. They are made of 13 releases in this file, holders_skellam_test.go and holders_withdrawal_test.go,
// and of 98 in holders_every_test.go, of which 49 wait for DPRELEASE_LONG: together they fail with probability below
// 111 · 203 · 4e-14 < 9.1e-10.
//
// Power. In each setting as many errors are drawn with a mistake. The probability that no alarm is raised is that of
// the k which shows the mistake best, and a mistake that could be missed with probability above lawMissed is not
// asked for: among 50 holders one without noise lowers the variance by a fiftieth.
const (
	lawCells  = 100_000
	lawTail   = 4e-14
	lawMissed = 1e-9
	lawMostK  = 100 // the largest k
)

// dividedNoise is noise of a law that holders draw in shares.
type dividedNoise struct {
	kind      budget.Kind
	parameter *big.Rat
}

// noiseIn returns the noise of a plan of one measurement.
func (f federation) noiseIn() dividedNoise {
	m := f.plan.Measurements[0].Mechanism
	return dividedNoise{m.Kind, m.Parameter}
}

// laplaceNoise is the noise of lawSpec.
var laplaceNoise = dividedNoise{budget.DiscreteLaplace, big.NewRat(lawScale, 1)}

// law returns the law of the sum of so many shares, of which needed together are a draw of the noise.
func (n dividedNoise) law(shares, needed int) releasetest.Law {
	parameter, _ := n.parameter.Float64()
	if n.kind == budget.Skellam {
		return addedLaw(skellamLaw(parameter/float64(needed)), shares)
	}
	return addedLaw(shareLaw(parameter, needed), shares)
}

// draw draws so many sums of shares.
func (n dividedNoise) draw(t *testing.T, shares, needed, cells int) []int64 {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	add := noise.AddLaplaceShare
	if n.kind == budget.Skellam {
		add = noise.AddSkellamShare
	}
	streams, sums := noise.NewStreams(key, "mistakes"), make([]int64, cells)
	for i := range shares {
		if err := add(streams.Noise([]byte("m"), nil, i), n.parameter, needed, sums); err != nil {
			t.Fatal(err)
		}
	}
	return sums
}

// lawMistake is noise that a release should not have: the sum of so many shares, of which needed are a draw.
type lawMistake struct {
	what           string
	shares, needed int
}

// lawMistakes are those of a release in which so many holders take part.
func lawMistakes(holders, trusted int) []lawMistake {
	return []lawMistake{{"one holder without noise", holders - 1, trusted},
		{"shares of which all are needed", holders, holders}}
}

// notices wants errors with mistakes to be noticed where those of so many holders are expected. It returns how many
// mistakes it has asked for.
func (n dividedNoise) notices(t *testing.T, holders, trusted, cells int, mistakes []lawMistake) (asked int) {
	t.Helper()
	law := n.law(holders, trusted)
	for _, m := range mistakes {
		missed := 1.0
		if m.shares != holders || m.needed != trusted {
			missed = lawMiss(law, n.law(m.shares, m.needed), cells)
		}
		if missed > lawMissed {
			t.Logf("%s: not asked for, missed with probability %.1g", m.what, missed)
			continue
		}
		asked++
		alarm := lawAlarm(n.draw(t, m.shares, m.needed, cells), law)
		t.Logf("%s: missed with probability below %.0e; found at %.0e", m.what, missed, alarm)
		if alarm >= lawTail {
			t.Errorf("%s: not noticed", m.what)
		}
	}
	return asked
}

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

// skellamLaw is the law of Skellam noise, and of a share of it, of a variance: the difference of two independent
// Poisson numbers of half that mean each.
func skellamLaw(variance float64) releasetest.Law {
	mean, law := variance/2, releasetest.Law{}
	for n, p := 0, math.Exp(-mean); float64(n) < mean+12*math.Sqrt(mean)+40; n++ {
		law.P = append(law.P, p)
		p *= mean / float64(n+1)
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
	for k := 1; k <= lawMostK && beyond(law, k)*float64(len(errors)) > 1; k++ {
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

// lawChi returns the likelihood-ratio χ² of the errors' values, 2·Σ O·ln(O/E) over classes of 100 expected ones or
// more, and how many degrees of freedom it has.
func lawChi(errors []int64, law releasetest.Law) (chi float64, degrees int) {
	seen := map[int]int{}
	for _, x := range errors {
		seen[int(x)]++
	}
	n := float64(len(errors))
	add := func(observed int, expected float64) {
		if observed > 0 {
			chi += 2 * float64(observed) * math.Log(float64(observed)/expected)
		}
		degrees++
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
	return chi, degrees - 1
}

// chiTail bounds the probability that lawChi is as large, for any number of errors of any law: its moment generating
// function is at most that of twice a gamma variable of so many degrees of freedom (Agrawal 2020, Finite-sample
// concentration of the multinomial in relative entropy).
func chiTail(chi float64, degrees int) float64 {
	if x, d := chi/2, float64(degrees); x > d && degrees > 0 {
		return math.Exp(d - x + d*math.Log(x/d))
	}
	return 1
}

// TestChiTailIsABound compares chiTail with sums of the probabilities of all outcomes of 30 draws from three classes.
func TestChiTailIsABound(t *testing.T) {
	type outcome struct{ chi, p float64 }
	for _, law := range []releasetest.Law{{P: []float64{0.5, 0.3, 0.2}}, {P: []float64{0.9, 0.09, 0.01}}} {
		const draws = 30
		var all []outcome
		for a := range draws + 1 {
			for b := range draws - a + 1 {
				o := outcome{p: math.Exp(releasetest.LogChoose(draws, a) + releasetest.LogChoose(draws-a, b))}
				for i, seen := range []int{a, b, draws - a - b} {
					o.p *= math.Pow(law.P[i], float64(seen))
					if seen > 0 {
						o.chi += 2 * float64(seen) * math.Log(float64(seen)/(draws*law.P[i]))
					}
				}
				all = append(all, o)
			}
		}
		for _, at := range all {
			tail := 0.0
			for _, o := range all {
				if o.chi >= at.chi {
					tail += o.p
				}
			}
			if tail > chiTail(at.chi, 2)*(1+1e-9) {
				t.Errorf("%v: χ² of %g has probability %g, and the bound is %g", law.P, at.chi, tail,
					chiTail(at.chi, 2))
			}
		}
	}
}

// lawMiss bounds the probability that lawAlarm raises no alarm at errors of another law.
func lawMiss(law, other releasetest.Law, trials int) float64 {
	least := 1.0
	for k := 1; k <= lawMostK && beyond(law, k)*float64(trials) > 1; k++ {
		least = min(least, binomialMiss(beyond(law, k), beyond(other, k), trials))
	}
	return least
}

// binomialMiss is the probability that binomial hits of probability q raise no alarm where p is expected.
func binomialMiss(p, q float64, trials int) float64 {
	if q > p {
		p, q = 1-p, 1-q // of misses, which are too few
	}
	low := sort.Search(trials+1, func(hits int) bool {
		return releasetest.AtLeast(trials-hits, trials,
			1-p) >= lawTail
	})
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

// giveRandomRows gives every holder random rows of lawSpec, and returns the true counts of the first few.
func (f federation) giveRandomRows(t *testing.T, counted int) []int64 {
	t.Helper()
	source, truth := rand.New(rand.NewPCG(uint64(len(f.holders)), uint64(counted))), make([]int64, lawCells)
	for i := range f.holders {
		rows := strings.Builder{}
		rows.WriteString("who,x\n")
		for who := range 20_000 / len(f.holders) {
			x := source.IntN(lawCells / 10) // where a cell has rows of several holders
			fmt.Fprintf(&rows, "%d,%d\n", who, x)
			if i < counted {
				truth[x]++
			}
		}
		f.give(t, i, rows.String())
	}
	return truth
}

// summed returns the answers in the folder of the sum of all shares.
func (f federation) summed(t *testing.T) []int64 {
	t.Helper()
	s, err := measured.Open(MeasuredFolder(f.office().Out, f.plan.Name), planner.Read)
	if err != nil {
		t.Fatal(err)
	}
	return s.Measured[0].Values.Int64Values()
}

// readCounts reads the counts that were published in a folder, and compares them with the sum of all shares. Errors are
// those of the sum.
func (f federation) readCounts(t *testing.T, place string, truth []int64) heldCounts {
	t.Helper()
	out := heldCounts{truth: truth, errors: f.summed(t)}
	out.cells = releasetest.ReadTable(t, filepath.Join(place, "tables", "xs.parquet"), []string{"x"})
	if len(out.cells) != len(truth) || len(out.errors) != len(truth) {
		t.Fatalf("%d cells, and %d in the sum", len(out.cells), len(out.errors))
	}
	for i, c := range out.cells {
		if c.Keys[0] != fmt.Sprint(i) || c.Unbiased != float64(out.errors[i]) {
			t.Fatalf("cell %d is of %v: %g, and %d in the sum", i, c.Keys, c.Unbiased, out.errors[i])
		}
		out.errors[i] -= truth[i]
	}
	return out
}

// checkRelease releases counts of random rows, and compares errors and intervals with their law. It wants mistakes to
// be noticed, and returns how many.
func (f federation) checkRelease(t *testing.T, n dividedNoise, trusted int) (asked int) {
	t.Helper()
	holders := len(f.holders)
	truth, law := f.giveRandomRows(t, holders), n.law(holders, trusted)
	c := f.readCounts(t, f.release(t), truth)
	checkLaw(t, c.errors, law)
	checkIntervals(t, c, law, n.law(trusted, trusted))
	return n.notices(t, holders, trusted, lawCells, lawMistakes(holders, trusted))
}

// TestErrorsOfHoldersHaveTheirLaw releases counts of 2 to 50 holders and compares errors and intervals with their
// law.
func TestErrorsOfHoldersHaveTheirLaw(t *testing.T) {
	testkit.SkipPassed(t)
	for _, of := range lawSettings {
		t.Run(fmt.Sprintf("%d of %d", of[1], of[0]), func(t *testing.T) {
			f := newFederation(t, trustText{of[0], of[1], "disjoint"}, lawSpec)
			f.checkRelease(t, laplaceNoise, of[1])
		})
	}
}

// checkLaw compares errors with their law.
func checkLaw(t *testing.T, errors []int64, law releasetest.Law) {
	t.Helper()
	alarm, squares := lawAlarm(errors, law), 0.0
	chi, degrees := lawChi(errors, law)
	for _, x := range errors {
		squares += float64(x * x)
	}
	t.Logf("least probability of a number of errors %.2g; χ² is %.1f with %d degrees of freedom; the standard error is "+
		"%.4f, by the law %.4f", alarm, chi, degrees, math.Sqrt(squares/float64(len(errors))), deviationOf(law))
	if alarm < lawTail || chiTail(chi, degrees) < lawTail {
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
// published. It wants margins by other laws to be noticed.
func checkIntervals(t *testing.T, c heldCounts, law releasetest.Law, others ...releasetest.Law) {
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
	for _, other := range others {
		mistaken := 0
		for beyond(other, mistaken+1) > 0.05 {
			mistaken++
		}
		if mistaken == margin {
			continue
		}
		missed := binomialMiss(attained, 1-beyond(law, mistaken+1), len(c.cells))
		if missed > lawMissed {
			t.Errorf("margins of %d would be missed with probability %g", mistaken, missed)
		}
		within := 0
		for _, x := range c.errors {
			if max(x, -x) <= int64(mistaken) {
				within++
			}
		}
		alarm := binomialTail(within, len(c.cells), attained)
		t.Logf("a margin of %d: missed with probability below %.0e; found at %.0e", mistaken, missed, alarm)
		if alarm >= lawTail {
			t.Errorf("margins of %d are not noticed", mistaken)
		}
	}
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
	checkLaw(t, errors, laplaceNoise.law(3, 2))
}

// TestLawsOfSharesAddUp: as many shares as are needed have the law of noise that is drawn at once.
func TestLawsOfSharesAddUp(t *testing.T) {
	once := releasetest.NoiseLaw(budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(lawScale, 1)})
	for _, needed := range []int{1, 2, 3, 5, 25} {
		law := laplaceNoise.law(needed, needed)
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
				t.Errorf("%s, %d of %d: the standard error is %g, and in one place %g", money, trust.trusted,
					trust.holders,
					all.StandardError, one.StandardError)
			}
			if trust.holders == trust.trusted &&
				(all.Margin != one.Margin || math.Abs(all.Attained-one.Attained) > 1e-9) {
				t.Errorf("%s: a margin of %g, attained %g; in one place %g, %g", money, all.Margin, all.Attained,
					one.Margin,
					one.Attained)
			}
			t.Logf("%s, %d of %d: standard error %.4f, in one place %.4f; margin %g, in one place %g", money,
				trust.trusted,
				trust.holders, all.StandardError, one.StandardError, all.Margin, one.Margin)
		}
	}
}
