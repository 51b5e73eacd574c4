package release

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// The tests of this file measure secret samples of known populations, from the text of a spec over drawing, bounding,
// debit and noise to the published tables. Cells hold different units, and each run has a fresh key, so that cells are
// independent.
//
// Failures by chance. Fewer than 94 % of the intervals are found to hold where the tail of the binomial law of 94 % is
// below 1e-12, and more than 96 % likewise; an integer of the measurement is found to be drawn too often or too seldom
// where the binomial tail of its own law is below 1e-12 on either side. There are less than 300 such checks: a run
// fails by chance with probability below 1e-9. Power: the same checks must find intervals that forget the sample, and
// counts of all units; from the laws they miss them with probability below 1e-12.

const (
	sampleCopies = 4000
	sampleTail   = 1e-12
)

// sampleRuns is how often a setting is measured: twice, and in the long run, with DPRELEASE_LONG, so often that there
// are 20 000 intervals of each kind. Of twice, 8000 of each, what is planted is still missed with probability below
// 1e-100: less than half of the intervals that forget the sample hold, and of a law that one in ten or one in three
// units is in hardly one count is that of all units.
func sampleRuns() int {
	if os.Getenv("DPRELEASE_LONG") != "" {
		return 5
	}
	return 2
}

// sampleSizes are the units in a cell of each kind.
var sampleSizes = []int{0, 1, 4, 30, 150}

type sampleSetting struct {
	name, budget, unit, share string
	// noise spreads over three steps and more, and a unit has one row: at most 96 % hold where there are some
	most    bool
	rows    int // of each unit
	perUnit int // of them counted
	each    float64
}

var sampleSettings = []sampleSetting{
	{name: "rows, little noise", budget: "{epsilon: 1}", unit: "row", share: "10%", rows: 1, perUnit: 1, each: 10},
	{name: "rows, more noise", budget: "{epsilon: 0.05}", unit: "row", share: "10%", rows: 1, perUnit: 1, each: 10,
		most: true},
	{name: "ids, ε and δ", budget: "{epsilon: 0.5, delta: 1e-9}", unit: "{id: id, max_rows: 2}", share: "1/3", rows: 3,
		perUnit: 2, each: 3},
}

func (s sampleSetting) plan(t testing.TB) *compiled.Compiled {
	t.Helper()
	text := "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: " + s.budget +
		"\ntables: {t: {source: {csv: t.csv}, unit: " + s.unit + ", sample: {poisson: " + s.share +
		"}, columns: {kind: {type: integer, range: [0, 4]}, copy: {type: integer, range: [0, " +
		fmt.Sprint(sampleCopies-1) +
		"]}}}}\nmarginals: {m: {by: [kind, copy]}}\n"
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Of(p.Plan())
}

// write writes the population.
func (s sampleSetting) write(t testing.TB, dir string) {
	t.Helper()
	b := &strings.Builder{}
	b.WriteString("id,kind,copy\n")
	id := 0
	for kind, units := range sampleSizes {
		for place := range sampleCopies {
			for range units {
				for range s.rows {
					fmt.Fprintf(b, "%d,%d,%d\n", id, kind, place)
				}
				id++
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lawOf is the law of a noisy count of the sample: a binomial number of units, so many rows of each, and noise.
func (s sampleSetting) lawOf(m budget.Mechanism, units int, share float64) releasetest.Law {
	noise := releasetest.NoiseLaw(m)
	binomial := releasetest.Law{P: make([]float64, units*s.perUnit+1)}
	for k := range units + 1 {
		choose, _ := math.Lgamma(float64(units + 1))
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(units - k + 1))
		p := 1.0
		if units > 0 {
			p = math.Exp(choose - a - b + float64(k)*math.Log(share) + float64(units-k)*math.Log1p(-share))
		}
		binomial.P[k*s.perUnit] += p
	}
	return noise.Plus(binomial)
}

func TestSamplesAreDrawnAndTheirErrorIsTold(t *testing.T) {
	for _, s := range sampleSettings {
		t.Run(s.name, func(t *testing.T) { s.hold(t) })
	}
}

func (s sampleSetting) hold(t *testing.T) {
	p := s.plan(t)
	runs := sampleRuns()
	d := newDrawer(t, p, runs)
	s.write(t, d.dir)
	kinds := len(sampleSizes)
	hits, forgetful := make([]int, kinds), make([]int, kinds)
	sums, squares := make([]float64, kinds), make([]float64, kinds)
	seen := make([]map[int]int, kinds)
	for kind := range seen {
		seen[kind] = map[int]int{}
	}
	for range runs {
		sealed := d.sealed(t)
		tables, err := synth.Estimate(sealed)
		if err != nil {
			t.Fatal(err)
		}
		st := tables[0].Statistics[0]
		drawn, noise := sealed.Measured[0].Values, sealed.Plan.Tables[0].Statistics[0].Margin
		for kind, units := range sampleSizes {
			truth := float64(units * s.perUnit)
			for place := range sampleCopies {
				cell := kind*sampleCopies + place
				figure, integer := st.Unbiased.Value(cell), drawn.Value(cell)
				if figure != s.each*float64(integer) {
					t.Fatalf("%v is published of %d in a sample of %s", figure, integer, s.share)
				}
				if st.Low.Value(cell) <= truth && truth <= st.High.Value(cell) {
					hits[kind]++
				}
				if math.Abs(figure-truth) <= noise {
					forgetful[kind]++
				}
				sums[kind] += figure - truth
				squares[kind] += (figure - truth) * (figure - truth)
				seen[kind][int(integer)]++
			}
		}
	}
	n, share, mechanism := sampleCopies*runs, 1/s.each, p.Measurements[0].Mechanism
	for kind, units := range sampleSizes {
		t.Logf("%3d units: %d intervals, %.4f hold, %.4f of noise alone; mean error %+.3f, root mean square %.3f",
			units, n,
			float64(hits[kind])/float64(n), float64(forgetful[kind])/float64(n), sums[kind]/float64(n),
			math.Sqrt(squares[kind]/float64(n)))
		if releasetest.AtLeast(n-hits[kind], n, 0.06) < sampleTail {
			t.Errorf("%d units: %d of %d intervals hold", units, hits[kind], n)
		}
		if s.most && units > 0 && releasetest.AtLeast(hits[kind], n, 0.96) < sampleTail {
			t.Errorf("%d units: %d of %d intervals hold, which is too many", units, hits[kind], n)
		}
		s.judge(t, units, seen[kind], n, s.lawOf(mechanism, units, share), true)
	}
	// Planted: intervals that forget the sample, and counts of all units divided by nothing.
	last := kinds - 1
	if releasetest.AtLeast(n-forgetful[last], n, 0.06) >= sampleTail {
		t.Errorf("intervals that forget the sample are not found: %d of %d hold", forgetful[last], n)
	}
	s.judge(t, 1, seen[1], n, releasetest.NoiseLaw(mechanism).Shifted(s.perUnit), false)
}

// judge holds how often each integer was drawn against its law: within it, or not where it is planted.
func (s sampleSetting) judge(t *testing.T, units int, seen map[int]int, n int, of releasetest.Law, within bool) {
	t.Helper()
	found := ""
	for i, p := range of.P {
		if p*float64(n) < 25 {
			continue
		}
		x := of.From + i
		if releasetest.AtLeast(seen[x], n, p) < sampleTail || releasetest.AtLeast(n-seen[x], n, 1-p) < sampleTail {
			found += fmt.Sprintf("; %d was drawn %d times of %d, its law says %.1f", x, seen[x], n, p*float64(n))
		}
	}
	if within && found != "" {
		t.Errorf("%d units%s", units, found)
	} else if !within && found == "" {
		t.Errorf("%d units: a release of all of them is taken for one of a sample", units)
	}
}

// TestSamplesOfTwoReleasesAreIndependent wants a unit to be in the samples of two releases as often as two draws say. A
// sample that is used again has it in both or in none. False alarms: binomial tails below 1e-12.
func TestSamplesOfTwoReleasesAreIndependent(t *testing.T) {
	s := sampleSetting{budget: "{epsilon: 20}", unit: "{id: id, max_rows: 1}", share: "10%", rows: 1, perUnit: 1,
		each: 10}
	p := s.plan(t)
	d := newDrawer(t, p, 2)
	s.write(t, d.dir)
	first, second := d.draw(t)[0], d.draw(t)[0]
	both, one := 0, 0
	for cell := sampleCopies; cell < 2*sampleCopies; cell++ { // of one unit each, and next to no noise
		if first[cell] > 0 {
			one++
			if second[cell] > 0 {
				both++
			}
		}
	}
	if one < sampleCopies/20 || releasetest.AtLeast(both, one, 0.1) < sampleTail ||
		releasetest.AtLeast(one-both, one, 0.9) < sampleTail {
		t.Errorf("of %d units in the first sample %d are in the second", one, both)
	}
	if releasetest.AtLeast(one, one, 0.1) >= sampleTail {
		t.Error("a sample that is used again would not be found")
	}
}

// TestSampledReleasesKeepTheirGuarantee wants what a plan promises to be what its mechanisms lose through the sample,
// and its charge to be that of the account.
func TestSampledReleasesKeepTheirGuarantee(t *testing.T) {
	for _, s := range sampleSettings {
		p := s.plan(t)
		loss, err := budget.Compose(p.Mechanisms()...)
		if err != nil {
			t.Fatal(err)
		}
		asked := p.Release().Budget
		e, _ := asked.Epsilon.Float64()
		q, _ := p.Release().Sample().Rate().Float64()
		if asked.Delta == nil {
			inner, _ := loss.Epsilon().Float64()
			// scales are multiples of 2⁻¹²
			if got := math.Log1p(q * math.Expm1(inner)); got > e*(1+1e-12) || got < e*(1-1.0/512) {
				t.Errorf("%s: ε = %v, asked %v", s.name, got, e)
			}
			if p.Cost.Epsilon.Cmp(asked.Epsilon) != 0 || p.Cost.Rho != nil {
				t.Errorf("%s: charged %v", s.name, p.Cost)
			}
			continue
		}
		bound, err := loss.EpsilonAt(new(big.Rat).Quo(asked.Delta, p.Release().Sample().Rate()))
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Log1p(q * math.Expm1(bound.Value)); got > e*(1+1e-9) || got < e*(1-1.0/512) {
			t.Errorf("%s: ε = %v at its δ, asked %v", s.name, got, e)
		}
		if p.Cost.Rho.Cmp(loss.Rho()) < 0 || p.Cost.Epsilon != nil {
			t.Errorf("%s: charged %v for ρ = %v", s.name, p.Cost, loss.Rho())
		}
	}
}
