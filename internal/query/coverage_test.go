package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// The tests of this file draw the whole noise of small releases many thousand times and count how often the intervals
// contain the exact figure: those of published cells, and those of margins, totals and random sums of cells as a query
// answers them. The four classes are counted separately. In each class a draw gives one interval, so that the intervals
// of a class are independent.
//
// The expectation is computed only here ([explicit], [sumOfNoise]): the noise by its definition, with the plan's
// parameters; the weights by dense least squares over the measurements from which the table is read; the law by
// convolution.
//
// False alarms. The number of intervals of a class that hold is a sum of independent indicators of known probabilities;
// its tails are below those of the binomial law with their mean (Hoeffding 1956). A class fails if one of the two tails
// is below 5e-12: 1e-11 a check, and 4 checks for each of at most 20 settings, below 8e-10 a run.
//
// Power. In every setting that is run, the same check must find planted mistakes; the chance that it does not is
// computed from their laws and must be below 1e-9. If the law is smooth, the mistakes are, in every class, half-widths
// that are 10 % too short, as with a standard error that is too small, and one measurement that is weighted twice. If
// noise is so small that its lattice shows, the mistakes are intervals of 1.96 standard errors that claim to hold 95 %,
// in the classes where they hold so much more or less that this must be noticed; there is at least one such class.
//
// The long run, with DPRELEASE_LONG, draws three times as often, or twice if the lattice shows, at least 20 000
// intervals of each class, and finds half-widths that are 5 % too short. Four settings run only there: two variants of
// direct measurement, levels, whose laws take long to compute, and cumulative tables (prefix sums).
const (
	coverageTail = 5e-12
	coverageMiss = 1e-9
	plantedDraws = 3 // one draw in this many is repeated with a measurement weighted twice
)

// inLongRun reports whether everything is drawn often enough to find small mistakes.
var inLongRun = os.Getenv("DPRELEASE_LONG") != ""

// effort returns how often a setting is drawn, the least number of intervals, and by which share half-widths are
// shortened.
func (s coverageSetting) effort() (times, leastIntervals int, short float64) {
	switch {
	case inLongRun:
		return s.draws, 20_000, 0.95
	case s.rough:
		return s.draws / 2, 6_000, 0.9
	}
	return s.draws / 3, 6_000, 0.9
}

// coverageSetting is a release that is drawn many times.
type coverageSetting struct {
	name  string
	kind  strategy.Kind // of its first strategy
	text  string
	draws int // in the long run
	// What is planted: smooth for half-widths, rough for normal intervals.
	smooth, rough bool
	long          bool // left out unless DPRELEASE_LONG is set
}

const small = `tables: {t: {source: {csv: t.csv}, unit: row, columns: {x: {values: [a, b, c]}, y: {values: [a, b]}, z: {values: [a, b]}}}}
`

const along = `tables: {t: {source: {csv: t.csv}, unit: row, columns: {age: {type: integer, range: [0, 5]}, y: {values: [a, b]}}}}
`

var coverageSettings = []coverageSetting{
	{"residuals", strategy.Residuals, "budget: {rho: 1/100}\n" + small +
		"marginals: {m: {every: [0, 1, 2, 3], by: [x, y, z]}}\n", 80_000, true, false, false},
	{"residuals, next to no noise", strategy.Residuals, "budget: {rho: 40, minimise: sum}\n" + small +
		"marginals: {m: {every: [1, 2], by: [x, y, z]}}\n", 30_000, false, true, false},
	{"residuals of levels", strategy.Residuals, `budget: {rho: 1/50, minimise: sum}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {age: {type: integer, range: [0, 5], levels: {band: {edges: [0, 1, 3]}}}, y: {values: [a, b]}}}}
marginals: {m: {by: [age, y]}, n: {by: [age.band, y]}, o: {by: [age.band]}}
`, 60_000, true, false, true},
	{"direct", strategy.Direct, "budget: {rho: 1/400}\n" + small + "marginals: {m: {by: [x, y]}}\n", 60_000, true,
		false,
		false},
	{"direct, next to no noise", strategy.Direct, "budget: {rho: 3}\n" + small + "marginals: {m: {by: [x, y]}}\n",
		30_000,
		false, true, true},
	{"direct, of two leaves", strategy.Direct, "budget: {rho: 1/100, split: {a: 1/3, b: 2/3}}\n" + small +
		"marginals: {m: {by: [x, y], budget: a}, n: {by: [y, z], budget: b}}\n", 60_000, true, false, true},
	{"direct, pure", strategy.Direct, "budget: {epsilon: 1/10}\n" + small +
		"marginals: {m: {by: [x]}, n: {by: [y, z]}}\n",
		150_000, true, false, false},
	{"largest", strategy.Largest, "budget: {epsilon: 1/10, minimise: sum}\n" + small +
		"marginals: {m: {every: [1, 2], by: [x, y]}}\n", 72_000, true, false, false},
	{"largest, next to no noise", strategy.Largest, "budget: {epsilon: 2, minimise: sum}\n" + small +
		"marginals: {m: {every: [1, 2], by: [x, y]}}\n", 30_000, false, true, false},
	{"prefix sums", strategy.Residuals, "budget: {rho: 1/50, minimise: sum}\n" + along +
		"marginals: {m: {by: [age, y], cumulative: [age]}, n: {by: [y]}}\n", 60_000, true, false, true},
	{"ranges", strategy.Residuals, "budget: {rho: 1/50, minimise: sum}\n" + along +
		"marginals: {m: {by: [age, y], ranges: [age]}, n: {by: [age]}}\n", 60_000, true, false, false},
}

func (s coverageSetting) compilePlan(t testing.TB) *compiled.Compiled {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml",
		Text: "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n" + s.text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if p.Strategies[0].Kind != s.kind {
		t.Fatalf("the strategy is %s, not %s", p.Strategies[0].Kind, s.kind)
	}
	return compiled.Of(p.Plan())
}

// Classes of figures.
var coverageClasses = []string{"cells", "margins", "totals", "random sums"}

// figureAsked is one figure whose interval is compared with its law.
type figureAsked struct {
	table     int
	class     int
	row, cell int // of the answer; of the table, for a cell
	groupings []synth.Grouping
	truth     float64
	margin    float64
	weights   []float64
	law       sumOfNoise
	deviation float64
	named     interval.Law
	planted   plantedLaw
}

// coverage is a setting being simulated.
type coverage struct {
	coverageSetting
	p       *compiled.Compiled
	reader  *synth.Reader
	x       *explicit
	exact   [][]int64         // of each measurement
	fits    []*leastSquares   // of each table
	figures [][][]figureAsked // by class and table, without empty ones
	laws    map[string]sumOfNoise
	times   int // number of draws
	least   int // least number of intervals of a class
	short   float64
}

// TestCoverage simulates every setting; the long ones only if DPRELEASE_LONG is set.
func TestCoverage(t *testing.T) {
	testkit.SkipPassed(t)
	for _, s := range coverageSettings {
		t.Run(s.name, func(t *testing.T) {
			releasetest.SkipLong(t, s.long)
			newCoverage(t, s).checkCoverage(t)
		})
	}
}

// Every run plants a mistake in each of its settings, and has for every strategy a setting whose law is smooth and,
// except for direct measurement, one whose lattice shows.
func TestCoverageHasPowerInEveryRun(t *testing.T) {
	smooth, rough := map[strategy.Kind]bool{}, map[strategy.Kind]bool{}
	for _, s := range coverageSettings {
		if s.smooth == s.rough {
			t.Errorf("%s: one kind of mistake is to be planted, smooth %t, rough %t", s.name, s.smooth, s.rough)
		}
		if !s.long {
			smooth[s.kind], rough[s.kind] = smooth[s.kind] || s.smooth, rough[s.kind] || s.rough
		}
	}
	for _, kind := range []strategy.Kind{strategy.Residuals, strategy.Direct, strategy.Largest} {
		if !smooth[kind] || !rough[kind] && kind != strategy.Direct {
			t.Errorf("%s: in every run are settings smooth %t, rough %t", kind, smooth[kind], rough[kind])
		}
	}
}

func newCoverage(t *testing.T, s coverageSetting) *coverage {
	t.Helper()
	c := &coverage{coverageSetting: s, p: s.compilePlan(t)}
	c.times, c.least, c.short = s.effort()
	c.x = newExplicit(c.p.Release())
	var err error
	if c.reader, err = synth.NewReader(c.p); err != nil {
		t.Fatal(err)
	}
	for _, m := range c.p.Measurements {
		var exact []int64
		for _, row := range c.x.measurementMatrix(t, m) {
			exact = append(exact, int64(c.x.countOf(row)))
		}
		c.exact = append(c.exact, exact)
	}
	random := rand.New(rand.NewPCG(11, 12))
	c.figures, c.laws = make([][][]figureAsked, len(coverageClasses)), map[string]sumOfNoise{}
	for table, pt := range c.p.Tables {
		c.fits = append(c.fits, c.x.leastSquares(t, c.reader.Needed(table)))
		for class, questions := range questionsOf(c.p, pt, random) {
			var of []figureAsked
			for _, q := range questions {
				of = append(of, c.askFigures(t, table, class, q)...)
			}
			if of != nil {
				c.plantMistakes(of)
				c.figures[class] = append(c.figures[class], of)
			}
		}
	}
	return c
}

// questionsOf returns, by class, the questions to a table: all cells, all margins of one key, the total, and up to
// eight other random sums.
func questionsOf(p *compiled.Compiled, pt plan.Table, random *rand.Rand) [][]Question {
	out := [][]Question{{{By: pt.By}}, nil, {{}}, nil}
	levels, _ := p.Query(pt).Levels(p.Release())
	for _, by := range pt.By {
		if len(pt.By) > 1 {
			out[1] = append(out[1], Question{By: []string{by}})
		}
	}
	for range 40 {
		var q Question
		n, whole := 1, 0
		for key, l := range levels {
			var codes []string
			for _, c := range l.Categories {
				if random.IntN(2) == 0 {
					codes = append(codes, c.Code)
				}
			}
			q.Where = append(q.Where, pt.By[key]+"="+strings.Join(codes, ","))
			if n *= len(codes); len(codes) == l.Size() {
				whole++
			}
		}
		if n > 1 && whole < len(levels) && len(out[3]) < 8 {
			out[3] = append(out[3], q)
		}
	}
	return out
}

// askFigures answers a question once, for the half-widths, which are the same in every draw, and computes the laws.
func (c *coverage) askFigures(t *testing.T, table, class int, q Question) []figureAsked {
	t.Helper()
	question, err := resolveQuestion(c.p, q)
	if err != nil {
		t.Fatal(err)
	}
	matching, lacks, err := question.match(table)
	if err != nil || lacks != nil {
		t.Fatal(lacks, err)
	}
	var a Answer
	answers := c.answersWith(c.exact)
	if err := a.fill(t.Context(), c.p, c.reader, question, matching, answers); err != nil {
		t.Fatal(err)
	}
	figures, err := c.reader.Statistic(table, answers)
	if err != nil {
		t.Fatal(err)
	}
	if class == 0 && !c.reader.ShowsCells(table) {
		return c.askShown(t, table, figures)
	}
	var out []figureAsked
	least := 1.0
	for i, at := range matching.questionRows(question) {
		row, selected := a.Rows[i], matching.selectedCategories(at.at)
		f := figureAsked{table: table, class: class, row: at.at, cell: matching.cellIndex(selected),
			groupings: matching.groupings, margin: (row.High - row.Low) / 2, deviation: row.StandardError,
			named: row.Law}
		sum := c.x.cellSum(c.p.Query(c.p.Tables[table]), selected)
		f.truth, f.weights = c.x.countOf(sum), c.fits[table].weights(t, sum)
		f.law = c.lawOf(table, f.weights, -1)
		if math.Abs(row.Unbiased-f.truth) > 1e-8 || math.Abs(f.deviation/f.law.deviation-1) > 1e-9 {
			t.Errorf("table %s, %v: %v ± %v without noise; counted %v, least squares have ± %v", a.Table, q,
				row.Unbiased,
				f.deviation, f.truth, f.law.deviation)
		}
		_, high := f.law.probabilityWithin(f.margin)
		least = min(least, high)
		// The probability is a lower bound: less than 1e-3 below that of an interval shorter by 1/500 of the deviation.
		low, _ := f.law.probabilityWithin(f.margin - 0.002*f.deviation)
		if row.Attained > high+1e-7 || row.Attained < low-1e-3 {
			t.Errorf("table %s, %v, row %d: said to attain %v, the law gives %v to %v", a.Table, q, i, row.Attained,
				low, high)
		}
		out = append(out, f)
	}
	if class == 0 && figures.Attained > least+1e-7 {
		t.Errorf("table %s: every cell is published to attain %v, the law gives %v to one", a.Table, figures.Attained,
			least)
	}
	return out
}

// askShown takes the published figures of a table that shows sums of cells: from the first category of a key to each.
func (c *coverage) askShown(t *testing.T, table int, figures synth.Statistic) []figureAsked {
	t.Helper()
	pt := c.p.Tables[table]
	q := c.p.Query(pt)
	levels, _ := q.Levels(c.p.Release())
	var summed []bool
	for _, f := range q.Factors {
		at := slices.IndexFunc(c.p.Release().Marginals, func(m spec.Marginal) bool { return m.Name == pt.Marginal })
		summed = append(summed, slices.Contains(c.p.Release().Marginals[at].Cumulative,
			spec.Attribute{Column: f.Attribute, Level: f.Level}))
	}
	var out []figureAsked
	least := 1.0
	for cell := range figures.Unbiased.Len() {
		selected, rest := make([][]int, len(levels)), cell
		for key := len(levels) - 1; key >= 0; key-- {
			j := rest % levels[key].Size()
			rest /= levels[key].Size()
			for i := range j + 1 {
				if summed[key] || i == j {
					selected[key] = append(selected[key], i)
				}
			}
		}
		sum := c.x.cellSum(q, selected)
		f := figureAsked{table: table, cell: cell, margin: (figures.High.Value(cell) - figures.Low.Value(cell)) / 2,
			deviation: figures.Error.Value(cell)}
		f.truth, f.weights = c.x.countOf(sum), c.fits[table].weights(t, sum)
		f.law = c.lawOf(table, f.weights, -1)
		if math.Abs(figures.Unbiased.Value(cell)-f.truth) > 1e-8 || math.Abs(f.deviation/f.law.deviation-1) > 1e-9 {
			t.Errorf("table %s, sum %d: %v ± %v without noise; counted %v, least squares have ± %v", pt.Path, cell,
				figures.Unbiased.Value(cell), f.deviation, f.truth, f.law.deviation)
		}
		_, high := f.law.probabilityWithin(f.margin)
		least = min(least, high)
		out = append(out, f)
	}
	if figures.Attained > least+1e-7 {
		t.Errorf("table %s: every sum is published to attain %v, the law gives %v to one", pt.Path, figures.Attained,
			least)
	}
	return out
}

// lawOf returns the law of a sum's noise, where one measurement may be weighted twice. Laws are cached.
func (c *coverage) lawOf(table int, weights []float64, twice int) sumOfNoise {
	fit := c.fits[table]
	factor := func(m int) float64 {
		if m == twice {
			return 2
		}
		return 1
	}
	var parts []string
	for i, w := range weights {
		if math.Abs(w) > 1e-10 {
			parts = append(parts, fmt.Sprintf("%s %.9g", fit.measured[fit.of[i]].ID, math.Abs(w)*factor(fit.of[i])))
		}
	}
	slices.Sort(parts)
	key := strings.Join(parts, ",")
	if _, ok := c.laws[key]; !ok {
		c.laws[key] = fit.newSumOfNoise(weights, factor)
	}
	return c.laws[key]
}

// answersWith returns the measurements with these integers.
func (c *coverage) answersWith(integers [][]int64) []measured.Measured {
	out := make([]measured.Measured, len(integers))
	for i, m := range c.p.Measurements {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(integers[i], nil)
		out[i] = measured.Measured{Measurement: m, Values: b.NewInt64Array()}
	}
	return out
}

// coverageTally counts the intervals of a class that hold, with bounds of the expectation.
type coverageTally struct {
	n, hits   int
	low, high float64 // Σ probability
}

func (c *coverageTally) add(hit bool, p [2]float64) {
	c.n++
	if hit {
		c.hits++
	}
	c.low, c.high = c.low+p[0], c.high+p[1]
}

func (c *coverageTally) merge(o coverageTally) {
	c.n, c.hits, c.low, c.high = c.n+o.n, c.hits+o.hits, c.low+o.low, c.high+o.high
}

// tails returns the probabilities of at most, and at least, this many hits.
func (c coverageTally) tails(hits int) (few, many float64) {
	n := float64(c.n)
	return releasetest.AtLeast(c.n-hits, c.n, 1-c.low/n), releasetest.AtLeast(hits, c.n, c.high/n)
}

// isAlarming reports whether this many hits contradict the expectation.
func (c coverageTally) isAlarming(hits int) bool {
	few, many := c.tails(hits)
	return few < coverageTail || many < coverageTail
}

// missedAlarm bounds the probability of no alarm if an interval holds with another mean probability.
func (c coverageTally) missedAlarm(p float64) float64 {
	least, most := 0, c.n // hits without an alarm
	for high := int(c.low); high-least > 1; {
		if middle := (least + high) / 2; c.isAlarming(middle) {
			least = middle
		} else {
			high = middle
		}
	}
	for low := int(c.high) + 1; most-low > 1; {
		if middle := (low + most) / 2; c.isAlarming(middle) {
			most = middle
		} else {
			low = middle
		}
	}
	return min(releasetest.AtLeast(least, c.n, p), releasetest.AtLeast(c.n-most, c.n, 1-p))
}

// coverageSeen is what the draws of a class show: honest intervals and planted ones; some honest ones are those of the
// draws that were repeated.
type coverageSeen struct{ honest, short, normal, some, doubled coverageTally }

// checkCoverage draws all noise and checks the tallies.
func (c *coverage) checkCoverage(t *testing.T) {
	t.Helper()
	rough := 0
	for class, s := range c.simulate(t) {
		name := coverageClasses[class]
		if s.honest.n == 0 && name == "margins" { // margins of tables with one key are cells
			continue
		}
		n := float64(s.honest.n)
		few, many := s.honest.tails(s.honest.hits)
		t.Logf("%-11s %d intervals, %.4f hold, by the law %.4f to %.4f; tails %.1e and %.1e", name, s.honest.n,
			float64(s.honest.hits)/n, s.honest.low/n, s.honest.high/n, few, many)
		if s.honest.n < c.least {
			t.Errorf("%s: only %d intervals", name, s.honest.n)
		}
		if s.honest.isAlarming(s.honest.hits) {
			t.Errorf("%s: %.4f of %d intervals hold, by the law %.4f to %.4f", name, float64(s.honest.hits)/n,
				s.honest.n,
				s.honest.low/n, s.honest.high/n)
		}
		if c.smooth {
			s.honest.checkFound(t, fmt.Sprintf("%s, half-widths %.0f %% short", name, 100*(1-c.short)), s.short)
			s.some.checkFound(t, name+", a measurement weighted twice", s.doubled)
		}
		said := coverageTally{n: s.honest.n, low: 0.95 * n, high: 0.95 * n}
		if c.rough && said.missedAlarm(s.normal.low/n) < coverageMiss {
			rough++
			said.checkFound(t, name+", 1.96 standard errors for 95 %", s.normal)
		}
	}
	if c.rough && rough == 0 {
		t.Error("in no class is the normal law far from that of the noise")
	}
}

// checkFound requires a planted mistake to raise an alarm, now and in all runs except a share of coverageMiss.
func (c coverageTally) checkFound(t *testing.T, what string, planted coverageTally) {
	t.Helper()
	n := float64(planted.n)
	missed := max(c.missedAlarm(planted.low/n), c.missedAlarm(planted.high/n))
	t.Logf("%s: %.4f hold, missed with probability below %.0e", what, float64(planted.hits)/n, missed)
	if planted.n != c.n || missed > coverageMiss {
		t.Errorf("%s: missed with probability %.0e by %d of %d intervals", what, missed, planted.n, c.n)
	}
	if !c.isAlarming(planted.hits) {
		t.Errorf("%s is not noticed", what)
	}
}

// simulate draws the noise of all measurements c.times times.
func (c *coverage) simulate(t *testing.T) []coverageSeen {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	streams := noise.NewStreams(key, c.p.Hash())
	workers := runtime.GOMAXPROCS(0)
	parts := make([][]coverageSeen, workers)
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() { parts[w], errs[w] = c.simulatePart(streams, w, workers) })
	}
	group.Wait()
	out := make([]coverageSeen, len(coverageClasses))
	for w := range parts {
		if errs[w] != nil {
			t.Fatal(errs[w])
		}
		for class, s := range parts[w] {
			out[class].honest.merge(s.honest)
			out[class].short.merge(s.short)
			out[class].normal.merge(s.normal)
			out[class].some.merge(s.some)
			out[class].doubled.merge(s.doubled)
		}
	}
	return out
}

// simulatePart makes every workers-th draw, starting with one. The noise of a measurement is drawn at once for all of
// them.
func (c *coverage) simulatePart(streams *noise.Streams, from, workers int) ([]coverageSeen, error) {
	own := (c.times - from + workers - 1) / workers
	drawn := make([][]int64, len(c.p.Measurements))
	for i, m := range c.p.Measurements {
		drawn[i] = make([]int64, own*len(c.exact[i]))
		add := noise.AddDiscreteGaussian
		if m.Mechanism.Kind == budget.DiscreteLaplace {
			add = noise.AddDiscreteLaplace
		}
		if err := add(streams.Noise(m.Canonical(), nil, from), m.Mechanism.Parameter, drawn[i]); err != nil {
			return nil, err
		}
	}
	seen := make([]coverageSeen, len(coverageClasses))
	for k := range own {
		draw := k*workers + from
		known := map[int]drawnTable{} // for this draw
		for class, tables := range c.figures {
			if tables == nil {
				continue
			}
			figures := tables[draw%len(tables)]
			f := figures[draw/len(tables)%len(figures)]
			honest, ok := known[f.table]
			if !ok {
				var err error
				if honest, err = c.drawnTable(f.table, c.drawnAnswers(drawn, k, -1)); err != nil {
					return nil, err
				}
				known[f.table] = honest
			}
			hit := seen[class].add(f, honest)
			if !c.smooth || draw%plantedDraws > 0 {
				continue
			}
			doubled, err := c.drawnTable(f.table, c.drawnAnswers(drawn, k, f.planted.measurement))
			if err != nil {
				return nil, err
			}
			seen[class].some.add(hit, f.planted.honest)
			seen[class].doubled.add(f.errorIn(doubled) <= f.margin+f.planted.slack, f.planted.doubled)
		}
	}
	return seen, nil
}

// drawnTable is a table of one draw: the published figures, and its cells, of which these may be sums.
type drawnTable struct {
	synth.Statistic
	cells *array.Float64
}

func (c *coverage) drawnTable(table int, answers []measured.Measured) (out drawnTable, err error) {
	if out.Statistic, err = c.reader.Statistic(table, answers); err != nil {
		return out, err
	}
	if out.cells = out.Unbiased; !c.reader.ShowsCells(table) {
		out.cells, err = c.reader.Cells(table, answers)
	}
	return out, err
}

// estimateOf returns the estimate of a figure.
func (d drawnTable) estimateOf(f figureAsked) float64 {
	if f.class == 0 {
		return d.Unbiased.Value(f.cell)
	}
	return f.named.Figure(synth.Sums(d.cells, f.groupings)[f.row])
}

// errorIn returns the absolute error of an estimate of the figure.
func (f figureAsked) errorIn(d drawnTable) float64 { return math.Abs(d.estimateOf(f) - f.truth) }

// add takes the interval of a figure from its table.
func (s *coverageSeen) add(f figureAsked, figures drawnTable) (hit bool) {
	unbiased := figures.estimateOf(f)
	low, high := unbiased-f.margin, unbiased+f.margin
	if f.class == 0 {
		low, high = figures.Low.Value(f.cell), figures.High.Value(f.cell)
	}
	hit = low <= f.truth && f.truth <= high
	s.honest.add(hit, f.planted.honest)
	s.short.add(f.errorIn(figures) <= f.planted.shorter, f.planted.short)
	s.normal.add(f.errorIn(figures) <= f.planted.wide, f.planted.normal)
	return hit
}

// drawnAnswers returns the answers of a draw; the noise of one measurement may be doubled, which has the effect of a
// doubled weight.
func (c *coverage) drawnAnswers(drawn [][]int64, k, twice int) []measured.Measured {
	out := make([]measured.Measured, len(drawn))
	for i, m := range c.p.Measurements {
		integers := slices.Clone(c.exact[i])
		for j, v := range drawn[i][k*len(integers) : (k+1)*len(integers)] {
			if integers[j] += v; i == twice {
				integers[j] += v
			}
		}
		values := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(integers))
		out[i] = measured.Measured{Measurement: m,
			Values: array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, len(integers),
				[]*memory.Buffer{nil, values},
				nil, 0, 0))}
	}
	return out
}

// plantedLaw holds the probabilities, from below and above, of a figure's interval, honest and with mistakes.
type plantedLaw struct {
	honest, short, normal, doubled [2]float64
	shorter, wide, slack           float64 // half-widths of the mistakes, and the allowance for rounding
	measurement                    int     // weighted twice: the one with the most variance
}

// plantMistakes computes the laws of the figures of one class and table.
func (c *coverage) plantMistakes(figures []figureAsked) {
	for i := range figures {
		f := &figures[i]
		fit, p := c.fits[f.table], &f.planted
		p.slack = 1e-6 * f.law.step
		p.shorter, p.wide = c.short*f.margin, 1.959963984540054*f.deviation
		p.honest[0], p.honest[1] = f.law.probabilityWithin(f.margin)
		p.short[0], p.short[1] = f.law.probabilityWithin(p.shorter)
		p.normal[0], p.normal[1] = f.law.probabilityWithin(p.wide)
		p.shorter, p.wide = p.shorter+p.slack, p.wide+p.slack
		if !c.smooth {
			continue
		}
		share := make([]float64, len(fit.measured))
		for i, w := range f.weights {
			share[fit.of[i]] += w * w / fit.precision[i]
		}
		most := slices.Index(share, slices.Max(share))
		p.measurement = slices.IndexFunc(c.p.Measurements,
			func(m plan.Measurement) bool { return m.ID == fit.measured[most].ID })
		p.doubled[0], p.doubled[1] = c.lawOf(f.table, f.weights, most).probabilityWithin(f.margin)
	}
}
