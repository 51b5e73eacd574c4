package histogram

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/selection"
	"gonum.org/v1/gonum/stat/distuv"
)

// openedSparse is the exact answer to a sparse measurement, opened with a key.
func openedSparse(p *compiled.Compiled, key noise.Key, counts answer.Answer) (*opened, exactAnswer) {
	s := noise.NewStreams(key, p.Hash())
	e := exactOfCounts(p, counts, s)
	return &opened{exact: e.inner, streams: s, given: make([]bool, 1)}, e.inner.answers[0]
}

// someFilled has one cell in nine with rows, of 1 to 6.
func someFilled(cells uint64) answer.Answer {
	var out answer.Answer
	for i := uint64(4); i < cells; i += 9 {
		out.Cells, out.Counts = append(out.Cells, i), append(out.Counts, 1+int64(i/9)%6)
	}
	return out
}

// sparseSample is how often each cell of a sparse table was published, and with which values cells of each number of
// rows.
type sparseSample struct {
	p      *plan.Plan
	filled answer.Answer
	runs   int
	often  []float64
	values map[int64]map[int64]float64 // by rows and value
}

func newSparseSample(p *plan.Plan, filled answer.Answer) *sparseSample {
	return &sparseSample{p: p, filled: filled, often: make([]float64, p.Measurements[0].Cells),
		values: map[int64]map[int64]float64{}}
}

func (s *sparseSample) rows(cell uint64) int64 {
	if at, ok := slices.BinarySearch(s.filled.Cells, cell); ok {
		return s.filled.Counts[at]
	}
	return 0
}

func (s *sparseSample) include(m measured.Measured) {
	s.runs++
	for i, cell := range m.Cells {
		s.often[cell]++
		rows := s.rows(cell)
		if s.values[rows] == nil {
			s.values[rows] = map[int64]float64{}
		}
		s.values[rows][m.Values.Value(i)]++
	}
}

// judge is the least probability, over cells and over numbers of rows, that a sample of cells which each have the noise
// of the mechanism deviates as much.
func (s *sparseSample) judge() float64 {
	m := s.p.Measurements[0]
	chance := func(rows, value int64) float64 { // P(rows + X = value)
		return m.Mechanism.Above(value-rows-1) - m.Mechanism.Above(value-rows)
	}
	statistic, n := 0.0, float64(s.runs)
	for cell, often := range s.often {
		q := m.Mechanism.Above(selection.Threshold(m.Selection) - s.rows(uint64(cell)))
		statistic += (often - n*q) * (often - n*q) / (n * q * (1 - q))
	}
	least := distuv.ChiSquared{K: float64(len(s.often))}.Survival(statistic)
	for rows := range int64(7) {
		cells := float64(len(s.often) - len(s.filled.Cells))
		if rows > 0 {
			cells = 0
			for _, c := range s.filled.Counts {
				if c == rows {
					cells++
				}
			}
		}
		statistic, freedom, have, want := 0.0, 0.0, 0.0, 0.0
		for value := selection.Threshold(m.Selection) + 1; value < selection.Threshold(m.Selection)+200; value++ {
			have, want = have+s.values[rows][value], want+cells*n*chance(rows, value)
			if want >= 50 || value == selection.Threshold(m.Selection)+199 && want > 0 {
				statistic, freedom = statistic+(have-want)*(have-want)/want, freedom+1
				have, want = 0, 0
			}
		}
		least = min(least, distuv.ChiSquared{K: freedom}.Survival(statistic))
	}
	return least
}

func keyNumbered(n int) (key noise.Key) {
	binary.BigEndian.PutUint64(key[:], uint64(n))
	key[31] = 1
	return key
}

// sparseRuns is how many tables of 900 cells are judged.
const sparseRuns = 1000

// TestSparseAnswersHaveTheLawOfDenseOnes draws a table again and again: every cell, with rows and without, is published
// as often, and with the values, as if each had noise of its own. An exact sampler fails with probability 1e-9 per
// check, 24 in all. Dense answers that are cut at the threshold pass the same checks.
func TestSparseAnswersHaveTheLawOfDenseOnes(t *testing.T) {
	testkit.SkipPassed(t)
	for _, money := range []string{"rho: 1/8", "epsilon: 1/2", "epsilon: 1, delta: 1e-9"} {
		p := tripsPlan(t, "BUDGET", money)
		whole := compiled.Of(p)
		filled := someFilled(900)
		sparse, dense := newSparseSample(p, filled), newSparseSample(p, filled)
		full := answer.Answer{Counts: make([]int64, 900)}
		for i, cell := range filled.Cells {
			full.Counts[cell] = filled.Counts[i]
		}
		for run := range sparseRuns {
			x, a := openedSparse(whole, keyNumbered(run), filled)
			m, err := x.sparseAnswer(context.Background(), a)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(m.Cells) || len(slices.Compact(slices.Clone(m.Cells))) != len(m.Cells) {
				t.Fatalf("%s: cells are not ascending: %v", money, m.Cells)
			}
			sparse.include(m)
			x, a = openedSparse(whole, keyNumbered(run), full)
			if m, err = x.noisyAnswer(context.Background(), a); err != nil {
				t.Fatal(err)
			}
			dense.include(cut(m))
		}
		if p := sparse.judge(); p < 1e-9 {
			t.Errorf("%s: sparse answers have another law (%g)", money, p)
		}
		if p := dense.judge(); p < 1e-9 {
			t.Errorf("%s: dense answers have another law (%g)", money, p)
		}
	}
}

// cut is a dense answer without what is not above the threshold.
func cut(m measured.Measured) measured.Measured {
	var cells []uint64
	var values []int64
	for i, v := range m.Values.Int64Values() {
		if v > selection.Threshold(m.Measurement.Selection) {
			cells, values = append(cells, uint64(i)), append(values, v)
		}
	}
	return measured.Measured{Measurement: m.Measurement, Cells: cells, Values: int64s(values)}
}

// TestWrongSparseAnswersAreNoticed makes one mistake each.
func TestWrongSparseAnswersAreNoticed(t *testing.T) {
	testkit.SkipPassed(t)
	p := tripsPlan(t)
	whole := compiled.Of(p)
	filled := someFilled(900)
	for name, wrong := range map[string]func(x *opened, a exactAnswer, m measured.Measured) measured.Measured{
		"cells with rows have no noise": func(_ *opened, a exactAnswer, m measured.Measured) measured.Measured {
			return merged(m, func(cell uint64, noisy int64) (int64, bool) {
				at, ok := slices.BinarySearch(a.Cells, cell)
				if !ok {
					return noisy, true
				}
				return a.Counts[at], a.Counts[at] > selection.Threshold(a.measurement.Selection)
			}, a.Cells)
		},
		"cells with rows are drawn as empty ones too": func(x *opened, a exactAnswer,
			m measured.Measured) measured.Measured {
			twin := a
			twin.Cells, twin.Counts = nil, nil
			mask, _ := impossible.Of(a.measurement.Query, x.exact.plan.Release())
			all, err := x.emptyAbove(context.Background(), twin, mask)
			if err != nil {
				t.Fatal(err)
			}
			of := map[uint64]int64{}
			for _, one := range all {
				of[one.cell] = one.noisy
			}
			return merged(m, func(cell uint64, noisy int64) (int64, bool) {
				if noisy == 0 {
					noisy = of[cell]
				}
				return noisy, noisy > selection.Threshold(a.measurement.Selection)
			}, a.Cells)
		},
		"only cells with rows are published": func(_ *opened, a exactAnswer, m measured.Measured) measured.Measured {
			return merged(m, func(cell uint64, noisy int64) (int64, bool) {
				_, ok := slices.BinarySearch(a.Cells, cell)
				return noisy, ok && noisy > 0
			}, nil)
		},
		"the threshold itself is published": func(_ *opened, a exactAnswer, m measured.Measured) measured.Measured {
			return merged(m, func(_ uint64, noisy int64) (int64, bool) { return noisy - 1, true }, nil)
		},
	} {
		sample := newSparseSample(p, filled)
		for run := range sparseRuns / 2 {
			x, a := openedSparse(whole, keyNumbered(run), filled)
			m, err := x.sparseAnswer(context.Background(), a)
			if err != nil {
				t.Fatal(err)
			}
			sample.include(wrong(x, a, m))
		}
		if p := sample.judge(); p > 1e-12 {
			t.Errorf("%s: is not noticed (%g)", name, p)
		}
	}
}

// merged passes every published cell, and those of more that are not (with a value of 0), through a function.
func merged(m measured.Measured, change func(cell uint64, noisy int64) (int64, bool), more []uint64) measured.Measured {
	var cells []uint64
	var values []int64
	for _, cell := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.Cells, more)))) {
		noisy := int64(0)
		if at, ok := slices.BinarySearch(m.Cells, cell); ok {
			noisy = m.Values.Value(at)
		}
		if v, ok := change(cell, noisy); ok {
			cells, values = append(cells, cell), append(values, v)
		}
	}
	return measured.Measured{Measurement: m.Measurement, Cells: cells, Values: int64s(values)}
}

// TestImpossibleCellsAreNeverInSparseAnswers rules out a part of a table in which false cells are sure to be.
func TestImpossibleCellsAreNeverInSparseAnswers(t *testing.T) {
	p := tripsPlan(t, "SIDE", "3000", "ABOVE", "5", "IMPOSSIBLE\n",
		"impossible:\n  - {where: {from: [7, 8, 2999]}, rows: drop}\n  - {where: {from: [1, 2], to: [3]}, rows: drop}\n")
	if p.Tables[0].Impossible != 9002 {
		t.Fatalf("%d cells are impossible", p.Tables[0].Impossible)
	}
	mask, err := impossible.Of(p.Measurements[0].Query, p.Release())
	if err != nil {
		t.Fatal(err)
	}
	for cell, impossible := range mask.Cells() {
		if mask.IsImpossible(uint64(cell)) != impossible {
			t.Fatalf("cell %d: Holds says %t, Cells %t", cell, !impossible, impossible)
		}
	}
	published := 0
	for key := range 20 {
		// a row that no table can have
		x, a := openedSparse(compiled.Of(p), keyNumbered(key),
			answer.Answer{Cells: []uint64{6 * 3000}, Counts: []int64{100}})
		m, err := x.sparseAnswer(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		published += len(m.Cells)
		for _, cell := range m.Cells {
			if mask.IsImpossible(cell) {
				t.Fatalf("cell %d is impossible, and published", cell)
			}
		}
	}
	if published < 100000 {
		t.Errorf("%d cells are published, too few to say anything", published)
	}
}

// TestSparseAnswersResume holds that key, counts and places decide the answer, and nothing else.
func TestSparseAnswersResume(t *testing.T) {
	p := tripsPlan(t, "SIDE", "30000", "ABOVE", "8")
	whole := compiled.Of(p)
	filled := someFilled(90000)
	draw := func(key int, filled answer.Answer) measured.Measured {
		x, a := openedSparse(whole, keyNumbered(key), filled)
		m, err := x.sparseAnswer(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	same := func(a, b measured.Measured) bool {
		return slices.Equal(a.Cells, b.Cells) && slices.Equal(a.Values.Int64Values(), b.Values.Int64Values())
	}
	first := draw(1, filled)
	if len(first.Cells) < 100 {
		t.Fatalf("%d cells say nothing", len(first.Cells))
	}
	was := runtime.GOMAXPROCS(1)
	alone := draw(1, filled)
	runtime.GOMAXPROCS(was)
	if !same(first, alone) {
		t.Error("the answer depends on the number of processors")
	}
	moved := answer.Answer{Cells: slices.Clone(filled.Cells), Counts: filled.Counts}
	moved.Cells[len(moved.Cells)-1]++
	more := answer.Answer{Cells: filled.Cells, Counts: slices.Clone(filled.Counts)}
	more.Counts[0]++
	for name, other := range map[string]measured.Measured{"another key": draw(2, filled), "a count more": draw(1, more),
		"a cell elsewhere": draw(1, moved)} {
		at := 0
		for _, cell := range other.Cells {
			if _, ok := slices.BinarySearch(first.Cells, cell); ok {
				at++
			}
		}
		if at > len(first.Cells)/5 {
			t.Errorf("%s: %d of %d cells are the same", name, at, len(first.Cells))
		}
	}
	if bytes.Equal((answer.Answer{Cells: []uint64{}}).Hash(), (answer.Answer{}).Hash()) {
		t.Error("nothing sparse has the hash of nothing")
	}
}

// TestMisplacedCountsAreNoAnswer has places twice, out of order, outside, and too few.
func TestMisplacedCountsAreNoAnswer(t *testing.T) {
	p := tripsPlan(t)
	whole := compiled.Of(p)
	for name, wrong := range map[string]answer.Answer{
		"twice":        {Cells: []uint64{3, 3}, Counts: []int64{1, 1}},
		"out of order": {Cells: []uint64{4, 3}, Counts: []int64{1, 1}},
		"outside":      {Cells: []uint64{3, 900}, Counts: []int64{1, 1}},
		"too few":      {Cells: []uint64{3}, Counts: []int64{1, 1}},
	} {
		x, a := openedSparse(whole, keyNumbered(1), wrong)
		if _, err := x.sparseAnswer(context.Background(), a); err == nil {
			t.Errorf("places that are %s are answered", name)
		}
	}
}

// TestSparseAnswersOfManyCells takes 10⁹ cells, and 2⁶² with no more rows.
func TestSparseAnswersOfManyCells(t *testing.T) {
	p := tripsPlan(t, "SIDE", "31622", "ABOVE", "12")
	whole := compiled.Of(p)
	m := p.Measurements[0]
	for _, cells := range []int64{m.Cells, 1 << 62} {
		huge := m
		huge.Cells = cells
		huge.Mechanism.Parameter = new(big.Rat).Set(m.Mechanism.Parameter)
		if cells > m.Cells {
			huge.Selection = selection.Above{Threshold: int64(9 * math.Sqrt(m.Mechanism.Variance()))}
		}
		x, a := openedSparse(whole, keyNumbered(5), answer.Answer{Cells: []uint64{3, uint64(cells) - 1},
			Counts: []int64{1000, 1000}})
		a.measurement = huge
		got, err := x.sparseAnswer(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cells[0] > 3 || got.Cells[len(got.Cells)-1] != uint64(cells)-1 {
			t.Errorf("%d cells: the two of 1000 rows are not there", cells)
		}
		mean := huge.Mechanism.Above(selection.Threshold(huge.Selection)) * float64(cells)
		if off := math.Abs(float64(len(got.Cells)-2) - mean); off > 7*math.Sqrt(mean)+3 { // below 1e-11
			t.Errorf("%d cells: %d are above %d, %g on the mean", cells, len(got.Cells)-2,
				selection.Threshold(huge.Selection), mean)
		}
	}
}

func int64s(values []int64) *array.Int64 {
	b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewInt64Array()
}

// publishedOf is how many cells of even places, and of odd ones, an answer has.
func publishedOf(m measured.Measured) (even, odd int) {
	for _, cell := range m.Cells {
		if cell%2 == 0 {
			even++
		}
	}
	return even, len(m.Cells) - even
}

// epsilonFromBelow bounds ε from how often an event was seen on two neighbouring inputs. With the bounds of Clopper and
// Pearson, each wrong with probability 1e-10, it exceeds the truth with probability at most 2e-10.
func epsilonFromBelow(more, less, trials int) float64 {
	return math.Log((1 - mostLikely(trials-more, trials)) / mostLikely(less, trials))
}

// TestAuditOfSparseAnswers bounds ε = 1 from below by what an answer shows of cells that hold one row, those of even
// places, and of cells that hold none, which removing a unit makes of them: the event is that a cell is published. The
// bound is near the claim, and no more than that. Where cells with rows have no noise, it is above.
func TestAuditOfSparseAnswers(t *testing.T) {
	p := tripsPlan(t, "BUDGET", "epsilon: 1", "SIDE", "2000", "ABOVE", "3")
	whole := compiled.Of(p)
	const trials = 2000 * 2000 / 2
	var half answer.Answer
	for cell := uint64(0); cell < 2*trials; cell += 2 {
		half.Cells, half.Counts = append(half.Cells, cell), append(half.Counts, 1)
	}
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	x, a := openedSparse(whole, key, half)
	m, err := x.sparseAnswer(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	// P(X > 3) is 0.0134 and P(X > 2) 0.0364: of 2 000 000 cells 26 800 and 72 800, so that the bound lies about 0.046
	// below 1, and 0.13 below with probability under 1e-20.
	even, odd := publishedOf(m)
	bound := epsilonFromBelow(even, odd, trials)
	t.Logf("ε ≥ %.4f, where 1 is claimed", bound)
	if bound > 1 || bound < 0.87 {
		t.Errorf("ε ≥ %v, where 1 is claimed", bound)
	}
	bare := merged(m, func(cell uint64, noisy int64) (int64, bool) { return noisy, cell%2 == 1 }, nil)
	even, odd = publishedOf(bare)
	if bound := epsilonFromBelow(odd, even, trials); bound < 2 {
		t.Errorf("cells with rows have no noise: ε ≥ %v", bound)
	}
}
