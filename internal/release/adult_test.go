package release

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/strategy"
)

// adultCodes are the columns whose codes stand for numbers: the column of the file, the number that code 0 stands for
// or begins with, how many numbers a code has, and the last number, which the last code has alone where it has any.
var adultCodes = map[string]struct {
	column            string
	first, each, last int
}{
	"age": {"age", 16, 1, 100}, "hours_per_week": {"hours-per-week", 1, 1, 99},
	"fnlwgt":       {"fnlwgt", 10001, 14900, 1485101},
	"capital_gain": {"capital-gain", 0, 1000, 99000}, "capital_loss": {"capital-loss", 1, 50, 4951},
}

// adultTruth counts the rows of adult14.csv for every set of one or two columns.
func adultTruth(t *testing.T, p *compiled.Compiled, path string) func(by []string) map[string]int64 {
	t.Helper()
	from := map[string]string{}
	for _, c := range p.Release().Tables[0].Columns {
		from[c.Name] = c.From
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	value := func(row []string, name string) string {
		code, coded := adultCodes[name]
		if !coded {
			return row[at[from[name]]]
		}
		n, err := strconv.Atoi(row[at[code.column]])
		if err != nil {
			t.Fatal(err)
		}
		begins := n*code.each + code.first
		if code.each == 1 || begins == code.last {
			return strconv.Itoa(begins)
		}
		return fmt.Sprintf("%d–%d", begins, begins+code.each-1)
	}
	columns := map[string]*codedColumn{}
	return func(by []string) map[string]int64 {
		keys, sizes := make([]int, len(rows)-1), 1 // of each row: the place of its cell
		var names []string
		for _, b := range by {
			if columns[b] == nil {
				columns[b] = newCodedColumn(rows[1:], func(row []string) string { return value(row, b) })
			}
			for i, code := range columns[b].codes {
				keys[i] = keys[i]*len(columns[b].names) + code
			}
			sizes *= len(columns[b].names)
		}
		counts := make([]int64, sizes)
		for _, key := range keys {
			counts[key]++
		}
		out := map[string]int64{}
		for key, n := range counts {
			names = names[:0]
			for _, b := range slices.Backward(by) {
				of := columns[b].names
				names, key = append(names, of[key%len(of)]), key/len(of)
			}
			slices.Reverse(names)
			out[strings.Join(names, "|")] = n
		}
		return out
	}
}

// codedColumn is a column of a file: its values, and the place of each row's among them.
type codedColumn struct {
	names []string
	codes []int
}

func newCodedColumn(rows [][]string, value func(row []string) string) *codedColumn {
	c := &codedColumn{codes: make([]int, len(rows))}
	at := map[string]int{}
	for i, row := range rows {
		v := value(row)
		code, known := at[v]
		if !known {
			code = len(c.names)
			at[v], c.names = code, append(c.names, v)
		}
		c.codes[i] = code
	}
	return c
}

// class gathers the errors of one kind of cell.
type class struct {
	cells, covered     int
	attained           float64 // sum of the laws' attained levels
	squares, predicted float64
}

func (c *class) add(s plan.Statistic, p releasetest.Cell, truth int64) {
	e := p.Unbiased - float64(truth)
	c.cells++
	c.attained += s.Attained
	if p.Low <= float64(truth) && float64(truth) <= p.High {
		c.covered++
	}
	c.squares += e * e
	c.predicted += s.StandardError * s.StandardError
}

// residualNoise is what the measurements of a release leave on the cells of its
// tables, by the theory of residuals alone (ResidualPlanner, Xiao, He, Zhang & Kifer
// 2023): noise of variance V on the integers of the residual of columns with n₁, n₂, …
// categories, centred and divided by Πn, has Π(n−1) coordinates of variance V/(Πn)²,
// each spread evenly over the cells of a table that has these columns and more. In every
// table those of different residuals are at right angles, so that a sum of squares
// over cells, be they weighted by table, is Σ a·χ² with as many degrees of freedom as
// the residual has coordinates.
type residualNoise struct {
	freedom []float64 // of each residual, in all runs
	a       []float64
}

// noiseOn is the sum of the squares of the errors of tables, each divided by what
// weight gives for it, 0 for a table that does not count.
func noiseOn(p *compiled.Compiled, runs float64, weight func(plan.Table) float64) residualNoise {
	var out residualNoise
	size := func(f plan.Factor) float64 {
		level, _ := p.Release().Table("persons").Column(f.Attribute).Domain.Level(f.Level)
		return float64(level.Size())
	}
	for _, m := range p.Measurements {
		a, freedom := m.Mechanism.Variance(), runs
		for _, f := range m.Query.Factors {
			a /= size(f) * size(f)
			freedom *= size(f) - 1
		}
		of := 0.0
		for _, t := range p.Tables {
			part, has := 1.0, 0
			for _, f := range p.Query(t).Factors {
				if slices.ContainsFunc(m.Query.Factors,
					func(g plan.Factor) bool { return g.Attribute == f.Attribute }) {
					has++
				} else {
					part /= size(f)
				}
			}
			if has == len(m.Query.Factors) {
				of += weight(t) * part
			}
		}
		out.a, out.freedom = append(out.a, a*of), append(out.freedom, freedom)
	}
	return out
}

func (n residualNoise) expected() (sum float64) {
	for i, a := range n.a {
		sum += a * n.freedom[i]
	}
	return sum
}

func (n residualNoise) squares() (sum float64) {
	for i, a := range n.a {
		sum += a * a * n.freedom[i]
	}
	return sum
}

// exponent of the chance that a sum of squares is beyond its bar on one side: e^−28 is
// 7e-13.
const exponent = 28

// bar is how far a sum of squares is from what is expected with a chance of at most
// e^−exponent on either side (Laurent & Massart 2000, lemma 1, by the moments of e^squares,
// in which discrete Gaussian noise of a standard deviation of 200 and more is Gaussian but
// for a factor of less than 1 + 1e-1000). It is that of any part of the cells as well: as a quadratic form,
// the part is below the whole, and so are the squares and the largest of its eigenvalues.
func (n residualNoise) bar(exponent float64) float64 {
	return 2*math.Sqrt(exponent*n.squares()) + 2*exponent*slices.Max(n.a)
}

// z is the bar of what is compared with a normal law: 1e-13 on both sides together.
const z = 7.5

// TestAdultAccuracy releases every 1- and 2-way table of Adult twice (297 450 cells)
// and holds errors and intervals, read from the published Parquet, against what the
// plan predicts. The tables are put together from residuals, so the errors of cells
// hang together.
//
// Failures by chance. Mean squared errors have five classes at two bars of e^−28 each:
// 7e-12. The noise of the measurements themselves, of which all draws are independent, is
// held at z = 7.5 in mean square, before and after centring, and in coverage, over 297 452
// integers: each below 1e-13 by the normal approximation. Coverage of cells is held at z =
// 7.5 of a variance that is no less than its own: the indicators of symmetric intervals
// of two normal errors of correlation r have a covariance of at most r² times their
// variance (in Hermite polynomials, which correlate as the powers of r, and of which they
// have the even ones alone). There the law is taken as normal beyond any theorem used here:
// the errors hang together weakly, 297 450 cells having the variance of 270 000 independent
// ones or so. All together are below 1e-11 a run.
//
// Power. A variance of the noise 5 % off is at z = 19, missed with probability under 1e-9;
// a prediction of the plan 15 % off in variance is two bars away, and found whatever is
// drawn.
func TestAdultAccuracy(t *testing.T) {
	data := testkit.Data(t, "adult14.csv")
	specPath := filepath.Join(testkit.Root(t), "examples", "adult", "release.yaml")
	classes := map[string]*class{"1-way": {}, "2-way": {}, "empty": {}, "occupied": {}, "all": {}}
	var raw drawnNoise
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: specPath})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Strategies) != 1 || p.Strategies[0].Kind != strategy.Residuals {
		t.Fatalf("the strategies are %+v: this test knows the law of residuals", p.Strategies)
	}
	const runs = 2
	truth := adultTruth(t, p, data)
	for i := range runs {
		out := t.TempDir()
		if _, err := Run(context.Background(), p, Options{Out: out, Data: filepath.Dir(data)}); err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		cells := map[string][]int64{} // the truth of a table, in its own order
		for _, table := range p.Tables {
			exact := truth(table.By)
			rows := releasetest.ReadTable(t, filepath.Join(out, "adult", filepath.FromSlash(table.File())), table.By)
			if int64(len(rows)) != table.Cells {
				t.Fatalf("%s has %d rows, expected %d", table.Path, len(rows), table.Cells)
			}
			s := table.Statistics[0]
			for _, r := range rows {
				n := exact[strings.Join(r.Keys, "|")]
				cells[strings.Join(table.By, "|")] = append(cells[strings.Join(table.By, "|")], n)
				kind := "occupied"
				if n == 0 {
					kind = "empty"
				}
				for _, name := range []string{"all", kind, fmt.Sprintf("%d-way", len(table.By))} {
					classes[name].add(s, r, n)
				}
				// The plan's errors and margins have seven digits, rounded up.
				if r.Count != int64(math.Round(max(r.Unbiased, 0))) ||
					!closeTo(r.StandardError, s.StandardError, 2e-6) ||
					!closeTo((r.High-r.Low)/2, s.Margin, 2e-6) || !closeTo((r.High+r.Low)/2, r.Unbiased, 1e-9) {
					t.Fatalf("%s: published figures do not belong together: %+v", table.Path, r)
				}
			}
		}
		raw.read(t, p, filepath.Join(out, "adult"), cells)
	}
	raw.hold(t)
	holdErrors(t, p, runs, classes)
	holdCoverage(t, p, runs, classes["all"])
}

// closeTo reports whether two numbers agree to a relative tolerance, or are both nearly zero.
func closeTo(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b), 1)
}

// holdErrors holds the mean squared errors of classes of cells.
func holdErrors(t *testing.T, p *compiled.Compiled, runs float64, classes map[string]*class) {
	t.Helper()
	ways := map[string]func(plan.Table) float64{"all": func(plan.Table) float64 { return 1 }}
	for k, name := range []string{"1-way", "2-way"} {
		ways[name] = func(table plan.Table) float64 {
			if len(table.By) == k+1 {
				return 1
			}
			return 0
		}
	}
	all := noiseOn(p, runs, ways["all"])
	for name, c := range classes {
		law, known := all, false
		if weight, ok := ways[name]; ok {
			law, known = noiseOn(p, runs, weight), true
		}
		if expected := law.expected(); known && !closeTo(c.predicted, expected, 1e-5) {
			t.Errorf("%s: the plan predicts squares of %g, the theory of residuals %g", name, c.predicted, expected)
		}
		t.Logf("%-8s %6d cells: root mean squared error %.3f, predicted %.3f; %.4f of it in squares, the bar is ±%.4f",
			name, c.cells, math.Sqrt(c.squares/float64(c.cells)), math.Sqrt(c.predicted/float64(c.cells)),
			c.squares/c.predicted,
			law.bar(exponent)/c.predicted)
		if math.Abs(c.squares-c.predicted) > law.bar(exponent) {
			t.Errorf("%s: the mean squared error is %.4f of predicted, beyond ±%.4f", name, c.squares/c.predicted,
				law.bar(exponent)/c.predicted)
		}
	}
	// The draw is within one bar of the truth, and a prediction 15 % off is two away. The few
	// 1-way cells have no such power: what they should have is held against the theory above.
	for _, name := range []string{"all", "2-way"} {
		if bar := noiseOn(p, runs, ways[name]).bar(exponent) / classes[name].predicted; bar > 0.06 {
			t.Errorf("%s: the bar is ±%.4f: the test has no power", name, bar)
		}
	}
}

// holdCoverage holds how many of the intervals hold the truth.
func holdCoverage(t *testing.T, p *compiled.Compiled, runs float64, c *class) {
	t.Helper()
	correlated := noiseOn(p, runs, func(table plan.Table) float64 {
		return 1 / (table.Statistics[0].StandardError * table.Statistics[0].StandardError)
	})
	level := c.attained / float64(c.cells)
	deviation := math.Sqrt(level*(1-level)*correlated.squares()) / float64(c.cells)
	off := float64(c.covered)/float64(c.cells) - level
	t.Logf("coverage %.4f where the laws attain %.4f, z = %+.2f of a deviation of %.5f", level+off, level,
		off/deviation,
		deviation)
	if math.Abs(off) > z*deviation {
		t.Errorf("coverage is off by %.4f", off)
	}
	if deviation > 0.0006 { // coverage a point off is two bars away
		t.Errorf("a coverage one point off may be missed: a deviation is %.5f", deviation)
	}
}

// drawnNoise is the noise of measurements, in their own standard deviations.
type drawnNoise struct {
	draws, covered    int
	attained, squares float64
	centred, freedom  float64 // squares after centring, with their degrees of freedom
}

// read takes the noise of every measurement from the published files.
func (d *drawnNoise) read(t *testing.T, p *compiled.Compiled, place string, cells map[string][]int64) {
	t.Helper()
	for _, m := range p.Measurements {
		b, err := os.ReadFile(filepath.Join(place, filepath.FromSlash(measured.Path(m.ID))))
		if err != nil {
			t.Fatal(err)
		}
		answer, _, err := measured.Decode(b, m, p.Hash())
		if err != nil {
			t.Fatal(err)
		}
		values := answer.Values
		var by []string
		freedom := 1.0
		for _, f := range m.Query.Factors {
			by = append(by, f.String())
		}
		columns, axes, plain, err := m.Query.Residual(p.Release())
		exact := slices.Clone(cells[strings.Join(by, "|")])
		if len(by) == 0 {
			exact = []int64{0}
			for _, n := range cells[p.Tables[0].By[0]] {
				exact[0] += n
			}
		} else if err == nil && slices.Contains(plain, false) {
			exact, err = residual.Exact(columns, axes, plain, exact)
		}
		if err != nil || len(exact) != values.Len() {
			t.Fatalf("%s: %d integers, expected %d (%v)", m.ID, values.Len(), len(exact), err)
		}
		margin, attained := m.Mechanism.Margin(0.95)
		noise, scale := make([]float64, len(exact)), math.Sqrt(m.Mechanism.Variance())
		for i, v := range values.Int64Values() {
			e := v - exact[i]
			d.draws++
			d.attained += attained
			if -margin <= e && e <= margin {
				d.covered++
			}
			noise[i] = float64(e) / scale
			d.squares += noise[i] * noise[i]
		}
		noise = residual.CountsOf(axes, 1).Figure(columns, axes, noise)
		for _, a := range axes {
			freedom *= float64(columns[a.Column].Size(a.Level) - 1)
		}
		for _, e := range noise {
			d.centred += e * e
		}
		d.freedom += freedom
	}
}

// hold compares with as many independent draws.
func (d *drawnNoise) hold(t *testing.T) {
	t.Helper()
	n := float64(d.draws)
	level := d.attained / n
	for name, score := range map[string]float64{
		"mean square":          (d.squares - n) / math.Sqrt(2*n),
		"mean square, centred": (d.centred - d.freedom) / math.Sqrt(2*d.freedom),
		"coverage":             (float64(d.covered) - d.attained) / math.Sqrt(n*level*(1-level)),
	} {
		t.Logf("%d draws of noise: %s z = %+.2f", d.draws, name, score)
		if math.Abs(score) > z {
			t.Errorf("%d draws of noise: %s z = %+.2f", d.draws, name, score)
		}
	}
	if power := 0.05 * math.Sqrt(n/2); d.draws < 200000 || power < 2*z {
		t.Errorf("%d draws: a variance 5%% off is at z = %.1f: the test has no power", d.draws, power)
	}
}
