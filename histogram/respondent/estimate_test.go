package respondent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
	"gonum.org/v1/gonum/stat/distuv"
)

// This file simulates collections, estimates, and compares errors and intervals with the truth. Of each question one
// category is looked at, so that the errors of different collections are independent. An alarm is raised where what is
// seen has a probability below 10^−11; there are fewer than 30 statistics, so that a run fails by chance with a
// probability below 10^−9. The generator is seeded by the system.
const rare = 1e-11

// estimator returns the estimated number of respondents with a category: n of all answered, and s reports hold it.
type estimator func(q simulated, s, n, all float64) float64

// estimators have a fault each, and compute what a mistaken formula does.
var estimators = map[string]estimator{
	// The number of reports is taken to be what is expected of it. The sum of squares of the errors is then too large.
	"expected number": func(q simulated, s, _, all float64) float64 {
		return (s/q.share - all*q.q) / (q.p - q.q)
	},
	// A category that is not the respondent's is taken to be in w of k reports, as if the answer did not matter.
	"other q": func(q simulated, s, n, all float64) float64 {
		wrong := q.w / q.k
		return all * (s/n - wrong) / (q.p - wrong)
	},
	// All who respond are taken to have answered.
	"all respond": func(q simulated, s, _, all float64) float64 { return (s - all*q.q) / (q.p - q.q) },
}

// simulated is a question with its probabilities, and the category that is looked at.
type simulated struct{ k, w, p, q, share, holders float64 }

func simulatedOf(m plan.Measurement, holders int) simulated {
	r, _ := m.Reports()
	s := simulated{k: float64(r.Categories), w: float64(r.Support), p: float64(r.Keep) / (1 << 48), share: 1,
		holders: float64(holders)}
	s.q = (s.p*(s.w-1) + (1-s.p)*s.w) / (s.k - 1)
	if r.Chance > 0 {
		s.share = float64(r.Chance) / (1 << 48)
	}
	return s
}

// deviation is the standard deviation of the estimate if n of all answered, a uniformly random set of them.
func (q simulated) deviation(n, all float64) float64 {
	f := q.holders / all
	own := f*q.p*(1-q.p) + (1-f)*q.q*(1-q.q)
	drawn := f * (1 - f) * (all - n) / (all - 1)
	return all / (q.p - q.q) * math.Sqrt((own+(q.p-q.q)*(q.p-q.q)*drawn)/n)
}

// errorSums are sums over collections of standardised errors and of their squares.
type errorSums struct{ n, sum, squares float64 }

func (e *errorSums) add(z float64) { e.n, e.sum, e.squares = e.n+1, e.sum+z, e.squares+z*z }

// isAlarm reports whether the sums are none of errors with mean 0 and variance 1. Such a sum is nearly normal. The sum
// of squares has a variance of 2n for normal errors; more than 2 reports hold each category on average and more than 2
// do not, so that it is less than 2.5n, and it is compared with the law of n/d times a χ² of d = n/1.25 degrees.
func (e errorSums) isAlarm() bool {
	freedom := e.n / 1.25
	law, x := distuv.ChiSquared{K: freedom}, e.squares*freedom/e.n
	return math.Erfc(e.bias()/math.Sqrt2) < rare || law.Survival(x) < rare || law.CDF(x) < rare
}

// bias and spread are how far the sums are off, in standard deviations.
func (e errorSums) bias() float64   { return math.Abs(e.sum) / math.Sqrt(e.n) }
func (e errorSums) spread() float64 { return (e.squares - e.n) / math.Sqrt(2.5*e.n) }

// study is what came of many collections, by question.
type study struct {
	questions []simulated
	right     []errorSums
	covered   []coverage
	faulty    map[string][]errorSums
}

func newStudy(questions []simulated) *study {
	s := &study{questions: questions, right: make([]errorSums, len(questions)),
		covered: make([]coverage, len(questions)),
		faulty:  map[string][]errorSums{}}
	for name := range estimators {
		s.faulty[name] = make([]errorSums, len(questions))
	}
	return s
}

// add adds a collection that was counted.
func (s *study) add(t *testing.T, c *compiled.Compiled, counted []measured.Measured) {
	t.Helper()
	tables, err := synth.Estimate(&measured.Sealed{Plan: c, Measured: counted})
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range s.questions {
		st, all, n := tables[i].Statistics[0], float64(tables[i].Respondents), float64(counted[i].Reports.Kept)
		deviation := q.deviation(n, all)
		s.right[i].add((st.Unbiased.Value(0) - q.holders) / deviation)
		s.covered[i].all++
		if st.Low.Value(0) <= q.holders && q.holders <= st.High.Value(0) {
			s.covered[i].covering++
		}
		for name, faulty := range estimators {
			estimate := faulty(q, float64(counted[i].Values.Value(0)), n, all)
			s.faulty[name][i].add((estimate - q.holders) / deviation)
		}
	}
}

// check raises the alarms: none for [synth.Estimate], whose intervals cover at least as often as they say, and at most
// and at least as often as the given levels if there are any.
func (s *study) check(t *testing.T, levels []float64, faults ...string) {
	t.Helper()
	for i, q := range s.questions {
		low, high := 0.95, 1.0
		if levels != nil {
			low, high = levels[i], levels[i]
		}
		right, covered := s.right[i], s.covered[i]
		says := fmt.Sprintf("%g categories, %g holders: bias %.1f, spread %+.1f, coverage %.4f, exact %.4f to %.4f",
			q.k,
			q.holders, right.bias(), right.spread(), covered.covering/covered.all, low, high)
		if right.isAlarm() || low < 0.95 || covered.isUnlikely(low, high) {
			t.Error(says)
		}
		t.Log(says)
	}
	for _, fault := range faults {
		detected := false
		for _, sums := range s.faulty[fault] {
			detected = detected || sums.isAlarm()
			t.Logf("%s: bias %.1f, spread %+.1f", fault, sums.bias(), sums.spread())
		}
		if !detected {
			t.Errorf("an estimate with the fault %q raises no alarm", fault)
		}
	}
}

// collections is how many collections are simulated of the smaller kind: ten times as many with DPRELEASE_LONG.
func collections(n int) int {
	if os.Getenv("DPRELEASE_LONG") != "" {
		return 10 * n
	}
	return n
}

// ways are collections in which each device draws a question, and in which it answers all.
var ways = map[string]struct {
	collect string
	sizes   []int
	holders []int // of 60
	faults  []string
}{
	"drawn": {"epsilon: 1, expect: 1000", []int{2, 5, 9}, []int{24, 0, 60}, []string{"other q", "all respond"}},
	"all":   {"epsilon: 5, expect: 1000", []int{2, 3}, []int{24, 60}, []string{"other q"}},
}

// TestCollectionsOfDevicesAreEstimated has 600 devices respond, writes their reports to a file, counts and estimates.
//
// A fault moves a sum of errors by more than 50 deviations, so that it is missed with a probability below 10^−100.
func TestCollectionsOfDevicesAreEstimated(t *testing.T) {
	const respondents = 600
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compiledOf(t, specOf(way.collect, way.sizes...))
			if c.Measurements[0].IsDrawn() != (name == "drawn") {
				t.Fatal("devices answer otherwise")
			}
			asked := collectorOf(t, c.Plan())
			answers := make([]map[string]string, respondents)
			var questions []simulated
			for i, k := range way.sizes {
				holders := way.holders[i] * respondents / 60
				questions = append(questions, simulatedOf(c.Measurements[i], holders))
				for r := range answers {
					if answers[r] == nil {
						answers[r] = map[string]string{}
					}
					value := 1
					if r >= holders {
						value = 2 + r%(k-1)
					}
					answers[r][fmt.Sprintf("c%d", k)] = strconv.Itoa(value)
				}
			}
			s, dir := newStudy(questions), t.TempDir()
			for range collections(60) {
				var sent []client.Report
				for _, r := range rand.Perm(respondents) {
					reports, err := asked.Respond(answers[r], &client.Memo{}, nil)
					if err != nil {
						t.Fatal(err)
					}
					sent = append(sent, reports...)
				}
				writeReports(t, filepath.Join(dir, "reports.parquet"), sent, false)
				counted, err := Count(t.Context(), c.Plan(), dir, 0)
				if err != nil {
					t.Fatal(err)
				}
				s.add(t, c, counted)
			}
			s.check(t, nil, way.faults...)
		})
	}
}

// TestIntervalsAttainTheirExactLevel draws what is counted of 60 respondents from its law, many times, and compares how
// often intervals cover the truth with the level that they exactly attain, summed over all counts; it is at least 95 %.
//
// The number of reports that is expected, in place of theirs, moves the sum of squares by 18 of its deviations, and 7
// raise an alarm: it is missed with a probability below 10^−9. Other faults are missed with one below 10^−100.
func TestIntervalsAttainTheirExactLevel(t *testing.T) {
	const respondents = 60
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compiledOf(t, specOf(way.collect, way.sizes...))
			var questions []simulated
			var levels []float64
			for i := range way.sizes {
				q := simulatedOf(c.Measurements[i], way.holders[i])
				questions = append(questions, q)
				levels = append(levels, q.level(t, c.Plan(), i, respondents))
			}
			s := newStudy(questions)
			for range collections(2500) {
				counted := drawCounts(c.Plan(), questions, respondents)
				if counted == nil {
					continue // a question without a report, 10^−10
				}
				s.add(t, c, counted)
			}
			faults := way.faults
			if name == "drawn" {
				faults = append([]string{"expected number"}, faults...)
			}
			s.check(t, levels, faults...)
		})
	}
}
