package boosted_test

// This file measures how well additive models predict rows that they were not fitted to. Run it with
//
//	go test ./histogram/internal/boosted -run none -bench Additive -benchtime 1x

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/synth/model"
)

// dataset is rows of codes, the target last.
type dataset struct {
	columns []boosting.Column
	pairs   [][2]int
	rows    [][]int
}

// readRecords returns the records of a data file, by name of the column.
func readRecords(t testing.TB, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(testkit.Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, line := range lines[1:] {
		record := map[string]string{}
		for i, field := range line {
			record[lines[0][i]] = field
		}
		all = append(all, record)
	}
	return all
}

// labelled returns a column of labels, and the code of each.
func labelled(records []map[string]string, name string) (boosting.Column, func(string) int) {
	var labels []string
	seen := map[string]bool{}
	for _, r := range records {
		if !seen[r[name]] {
			seen[r[name]] = true
			labels = append(labels, r[name])
		}
	}
	slices.Sort(labels)
	return boosting.Column{Categories: len(labels)}, func(s string) int { return slices.Index(labels, s) }
}

// binned returns a column of numbers in bins: bin i is of numbers below edges[i], and not below the edge before.
func binned(t testing.TB, edges []int) (boosting.Column, func(string) int) {
	return boosting.Column{Categories: len(edges) + 1, Ordered: true}, func(s string) int {
		x, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		i, _ := slices.BinarySearch(edges, x+1)
		return i
	}
}

// steps returns edges from, from + by, … below to.
func steps(from, to, by int) (all []int) {
	for x := from; x < to; x += by {
		all = append(all, x)
	}
	return all
}

// growing returns the edges 1, from, then each 15 % above the one before, up to a number.
func growing(from, to int) []int {
	all := []int{1}
	for x := float64(from); x < float64(to); x *= 1.15 {
		all = append(all, int(x))
	}
	return all
}

// adult returns UCI Adult with bins that follow from the declared ranges.
func adult(t testing.TB) dataset {
	records := readRecords(t, "adult.csv")
	d := dataset{rows: make([][]int, len(records))}
	add := func(name string, c boosting.Column, code func(string) int) {
		d.columns = append(d.columns, c)
		for i, r := range records {
			d.rows[i] = append(d.rows[i], code(r[name]))
		}
	}
	for _, c := range []struct {
		name  string
		edges []int
	}{{"age", steps(20, 90, 2)}, {"workclass", nil}, {"education_num", steps(2, 17, 1)}, {"marital_status", nil},
		{"occupation", nil}, {"relationship", nil}, {"race", nil}, {"sex", nil},
		{"capital_gain", growing(1000, 100_000)}, {"capital_loss", growing(200, 4400)},
		{"hours_per_week", steps(4, 100, 3)}, {"native_country", nil},
		{"income", nil}} {
		if c.edges == nil {
			column, code := labelled(records, c.name)
			add(c.name, column, code)
			continue
		}
		column, code := binned(t, c.edges)
		add(c.name, column, code)
	}
	d.columns = d.columns[:len(d.columns)-1]
	return d
}

// taxi returns whether Chicago taxi trips were paid by card.
func taxi(t testing.TB) dataset {
	records := readRecords(t, "taxi.csv")
	d := dataset{rows: make([][]int, len(records))}
	for _, c := range []struct {
		name    string
		size    int
		ordered bool
	}{{"shift", 21, true}, {"company_id", 101, false}, {"pickup_community_area", 78, false},
		{"dropoff_community_area", 78, false}, {"fare", 11, true}, {"trip_seconds", 11, true},
		{"trip_miles", 11, true}} {
		d.columns = append(d.columns, boosting.Column{Categories: c.size, Ordered: c.ordered})
		for i, r := range records {
			code, err := strconv.Atoi(r[c.name])
			if err != nil || code >= c.size {
				t.Fatalf("row %d: %q", i, r[c.name])
			}
			d.rows[i] = append(d.rows[i], code)
		}
	}
	for i, r := range records {
		card := 0
		if r["payment_type"] == "1" {
			card = 1
		}
		d.rows[i] = append(d.rows[i], card)
	}
	return d
}

// histogramOf returns the joint histogram of rows of codes.
func histogramOf(sizes []int, rows [][]int) (cells []uint64, counts []int64) {
	all := make([]uint64, len(rows))
	for i, row := range rows {
		for c, code := range row {
			all[i] = all[i]*uint64(sizes[c]) + uint64(code)
		}
	}
	slices.Sort(all)
	for i, cell := range all {
		if i == 0 || cell != all[i-1] {
			cells, counts = append(cells, cell), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return cells, counts
}

// gaussianMu returns the μ of Gaussian differential privacy that is (ε, δ)-DP (Dong, Roth & Su 2022, corollary 1).
func gaussianMu(epsilon, delta float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	if math.IsInf(epsilon, 1) {
		return epsilon
	}
	low, high := 0.0, 100.0
	for range 100 {
		mu := (low + high) / 2
		if normal(-epsilon/mu+mu/2)-math.Exp(epsilon)*normal(-epsilon/mu-mu/2) > delta {
			high = mu
		} else {
			low = mu
		}
	}
	return low
}

// shapeOf returns the shape of a model of a class for a budget μ.
func shapeOf(d dataset, mu float64, rows int, seed byte) *boosting.Shape {
	s := &boosting.Shape{Columns: d.columns, Pairs: d.pairs, Link: boosting.Logit, Outcomes: []int64{0, 1}}
	s.Schedule = boosting.NewSchedule(mu, int64(rows), s.Tables())
	s.Seed[0] = seed
	if math.IsInf(mu, 1) {
		return s
	}
	counting := mu * mu * boosting.CountPercent / 100
	s.CountVariance = math.Ceil(float64(s.CountRounds()) / counting)
	sums := float64(s.Rounds() - s.CountRounds())
	s.SumVariance = math.Ceil(boosting.Bound * boosting.Bound * sums / (mu*mu - counting))
	return s
}

// aucOf returns the area under the ROC curve of scores: the chance that a row of class 1 scores more than one of class
// 0, ties counted half.
func aucOf(scores []int32, classes []int) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(scores[i]) - int(scores[j]) })
	var ones, zeros, ordered float64
	for i := 0; i < len(order); {
		var one, zero float64
		j := i
		for ; j < len(order) && scores[order[j]] == scores[order[i]]; j++ {
			if classes[order[j]] == 1 {
				one++
			} else {
				zero++
			}
		}
		ordered += one * (zeros + zero/2)
		ones, zeros, i = ones+one, zeros+zero, j
	}
	return ordered / ones / zeros
}

// withPairs returns the same rows, for a model with pairs of columns.
func (d dataset) withPairs(pairs ...[2]int) dataset {
	d.pairs = pairs
	return d
}

// adultPairs are UCI Adult with pairs that stand to reason: what a school and a trade are worth together, what age is
// worth to whom, and how long who works.
func adultPairs(t testing.TB) dataset {
	return adult(t).withPairs([2]int{2, 4}, [2]int{0, 2}, [2]int{0, 3}, [2]int{3, 10})
}

// taxiPairs are the trips with the pairs of fare, time and distance, and of company and shift.
func taxiPairs(t testing.TB) dataset {
	return taxi(t).withPairs([2]int{4, 5}, [2]int{4, 6}, [2]int{5, 6}, [2]int{1, 0})
}

// BenchmarkAdditive prints the mean test AUC of models of random splits of the rows, two thirds of which they are
// fitted to, and its standard deviation over splits and noise. δ is 1e-5, and the rounds are composed as Gaussian
// differential privacy. An infinite ε is no noise. The AUC on the same rows that a model was fitted to is larger.
func BenchmarkAdditive(b *testing.B) {
	splits := 20
	if n, err := strconv.Atoi(os.Getenv("DPRELEASE_SPLITS")); err == nil {
		splits = n
	}
	for _, data := range []struct {
		name string
		read func(testing.TB) dataset
	}{{"adult", adult}, {"adult-pairs", adultPairs}, {"taxi", taxi}, {"taxi-pairs", taxiPairs}} {
		d := data.read(b)
		for _, epsilon := range []float64{.1, .5, 1, 2, 4, 8, math.Inf(1)} {
			b.Run(fmt.Sprintf("%s/epsilon=%v", data.name, epsilon), func(b *testing.B) {
				mu := gaussianMu(epsilon, 1e-5)
				var sum, squares, same float64
				for b.Loop() {
					sum, squares, same = 0, 0, 0
					for split := range splits {
						auc, fitted, _ := fitOnce(b, d, mu, split, boosted.Split{})
						sum, squares, same = sum+auc, squares+auc*auc, same+fitted
					}
				}
				mean := sum / float64(splits)
				b.ReportMetric(mean, "AUC")
				b.ReportMetric(same/float64(splits), "AUC-same-rows")
				b.ReportMetric(math.Sqrt(max(squares/float64(splits)-mean*mean, 0)), "sd")
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*splits), "s/fit")
			})
		}
	}
}

// fitOnce fits a model to two thirds of the rows, less those that a split of them holds out, and returns its AUC on the
// others, and on the two thirds. It also returns the performance that is estimated from the rows that are held out.
func fitOnce(t testing.TB, d dataset, mu float64, seed int, split boosted.Split) (auc, same float64,
	judged *model.Performance) {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	rows := slices.Clone(d.rows)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	n := len(rows) * 2 / 3
	shape := shapeOf(d, mu, n, byte(seed))
	cells, counts := histogramOf(shape.Sizes(), rows[:n])
	fitted, heldOut, err := boosted.New(t.Context(), shape, cells, counts, split)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Train(t.Context(), shape, &noisyOracle{rows: fitted, shape: shape, seed: byte(seed)})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := heldOut.Histogram(t.Context(), &m.Scores)
	if err != nil {
		t.Fatal(err)
	}
	// As many histograms as sums of residuals, with the same noise: their mean.
	variance := shape.SumVariance / boosting.Bound / boosting.Bound / float64(shape.Rounds()-shape.CountRounds())
	noisy := make([]float64, len(exact))
	for i, n := range exact {
		noisy[i] = float64(n) + math.Sqrt(variance)*random.NormFloat64()
	}
	if judged, err = model.Judge(m.Scores.Intercept, noisy, variance); err != nil {
		t.Fatal(err)
	}
	return aucOn(m, rows[n:]), aucOn(m, rows[:n]), judged
}

// TestAdult fits models of income at several budgets. Logistic regression without privacy has an AUC of .903.
func TestAdult(t *testing.T) {
	d := adult(t)
	for _, c := range []struct{ epsilon, auc float64 }{{.1, .85}, {.5, .895}, {1, .9}, {4, .904}} {
		auc, _, judged := fitOnce(t, d, gaussianMu(c.epsilon, 1e-5), 1, boosted.Split{Numerator: 1, Denominator: 10})
		if auc < c.auc {
			t.Errorf("ε = %v: AUC %.4f, want %v", c.epsilon, auc, c.auc)
		}
		if judged.AUC == nil {
			if c.epsilon > .1 {
				t.Errorf("ε = %v: no estimate of the AUC", c.epsilon)
			}
			continue
		}
		t.Logf("ε = %v: AUC %.4f, estimated %.4f (%.4f to %.4f)", c.epsilon, auc, judged.AUC.Estimate, judged.AUC.Low,
			judged.AUC.High)
		if auc < judged.AUC.Low || auc > judged.AUC.High {
			t.Errorf("ε = %v: AUC %.4f is outside of %+v", c.epsilon, auc, *judged.AUC)
		}
	}
}

// TestPairsLearnWhatSumsCannot: whether exactly one of two columns is large is no sum of scores, and the table of the
// pair has it at ε = 1. Nineteen in twenty rows follow the rule, so the best AUC is .95.
func TestPairsLearnWhatSumsCannot(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 20))
	d := dataset{columns: []boosting.Column{{Categories: 10, Ordered: true}, {Categories: 6}, {Categories: 3}}}
	for range 12_000 {
		row := []int{random.IntN(10), random.IntN(6), random.IntN(3), 0}
		if (row[0] >= 5) != (row[1]%2 == 0) != (random.IntN(20) == 0) {
			row[3] = 1
		}
		d.rows = append(d.rows, row)
	}
	mu := gaussianMu(1, 1e-5)
	without, _, _ := fitOnce(t, d, mu, 1, boosted.Split{})
	with, _, _ := fitOnce(t, d.withPairs([2]int{1, 0}), mu, 1, boosted.Split{})
	if math.Abs(without-.5) > .05 || with < .9 {
		t.Errorf("AUC %.3f without the pair, %.3f with it", without, with)
	}
}

// BenchmarkRounds answers the rounds of a model by 12 columns, without pairs and with four, 30 epochs, on as many
// distinct cells as DPRELEASE_ROWS says (1 000 000 if it says nothing), and prints the time of a round and the memory
// that rows and their joint histogram take.
func BenchmarkRounds(b *testing.B) {
	for _, pairs := range [][][2]int{nil, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}} {
		b.Run(fmt.Sprintf("pairs=%d", len(pairs)), func(b *testing.B) { benchmarkRounds(b, pairs) })
	}
}

func benchmarkRounds(b *testing.B, pairs [][2]int) {
	n := 1_000_000
	if rows, err := strconv.Atoi(os.Getenv("DPRELEASE_ROWS")); err == nil {
		n = rows
	}
	shape := &boosting.Shape{Pairs: pairs, Link: boosting.Logit, Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 30, Groups: boosting.MostGroups, Rate: .2}}
	cells := uint64(2)
	for range 12 {
		shape.Columns = append(shape.Columns, boosting.Column{Categories: 32, Ordered: true})
		cells *= 32
	}
	random := rand.New(rand.NewPCG(1, 1))
	at, counts := make([]uint64, n), make([]int64, n)
	for i := range at {
		at[i] = cells/uint64(n)*uint64(i) + random.Uint64N(cells/uint64(n))
		counts[i] = 1
	}
	for b.Loop() {
		fitted, _, err := boosted.New(b.Context(), shape, at, counts, boosted.Split{Numerator: 1, Denominator: 10})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := model.Train(b.Context(), shape, &noisyOracle{rows: fitted, shape: shape}); err != nil {
			b.Fatal(err)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	rounds := float64(shape.Rounds() - shape.CountRounds())
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)/rounds*1e9, "ns/row/round")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
}

// BenchmarkSchedules prints the mean AUC on other rows of models that are fitted without noise to few or many rows, by
// the schedule of a budget μ.
func BenchmarkSchedules(b *testing.B) {
	for _, data := range []struct {
		name string
		read func(testing.TB) dataset
	}{{"adult", adult}, {"taxi", taxi}} {
		d := data.read(b)
		for _, n := range []int{300, 1000, 3000, 10_000, 24_000} {
			for _, mu := range []float64{.5, 1, 2, 4, 16, math.Inf(1)} {
				b.Run(fmt.Sprintf("%s/rows=%d/mu=%v", data.name, n, mu), func(b *testing.B) {
					sum := 0.0
					for i := range b.N {
						sum += fitExactly(b, d, n, mu, i)
					}
					b.ReportMetric(sum/float64(b.N), "AUC")
				})
			}
		}
	}
}

// fitExactly fits a model without noise to n rows by the schedule of a budget μ, and returns its AUC on 16 000 others.
func fitExactly(t testing.TB, d dataset, n int, mu float64, seed int) float64 {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	rows := slices.Clone(d.rows)
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	shape := shapeOf(d, math.Inf(1), n, byte(seed))
	shape.Schedule = boosting.NewSchedule(mu, int64(n), len(d.columns))
	cells, counts := histogramOf(shape.Sizes(), rows[:n])
	exact, _, err := boosted.New(t.Context(), shape, cells, counts, boosted.Split{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Train(t.Context(), shape, exact)
	if err != nil {
		t.Fatal(err)
	}
	return aucOn(m, rows[len(rows)-16_000:])
}

// aucOn returns the AUC of a model on rows.
func aucOn(m *model.Additive, rows [][]int) float64 {
	var scores []int32
	var classes []int
	for _, row := range rows {
		last := len(row) - 1
		scores, classes = append(scores, m.Scores.Of(m.Shape, row)), append(classes, row[last])
	}
	return aucOf(scores, classes)
}
