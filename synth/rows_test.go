package synth

import (
	"fmt"
	"math"
	"testing"
)

// chainedModel returns a model of columns of 2, 3, 2 and 3 categories in the tree 0–1, 1–2, 1–3. Its tables are counted
// from some law of all four columns together, so that they agree; that law itself is not a law of the tree.
func chainedModel(total float64) model {
	sizes := []int{2, 3, 2, 3}
	m := model{total: total}
	for _, n := range sizes {
		m.columns = append(m.columns, make([]float64, n))
	}
	for _, pair := range [][]int{{0, 1}, {1, 2}, {1, 3}} {
		m.pairs = append(m.pairs, pairTable{pair, sizes[pair[1]], make([]float64, sizes[pair[0]]*sizes[pair[1]])})
	}
	weights, sum := make([]float64, 36), 0.0
	for i := range weights {
		weights[i] = float64(1 + (7*i+i*i)%11)
		sum += weights[i]
	}
	visitCells(sizes, func(cell int, codes []int) {
		count := weights[cell] / sum * total
		for column, code := range codes {
			m.columns[column][code] += count
		}
		for _, t := range m.pairs {
			t.counts[codes[t.pair[0]]*t.cols+codes[t.pair[1]]] += count
		}
	})
	return m
}

// visitCells visits the cells of a table of all columns.
func visitCells(sizes []int, visit func(cell int, codes []int)) {
	cells := 1
	for _, n := range sizes {
		cells *= n
	}
	codes := make([]int, len(sizes))
	for cell := range cells {
		rest := cell
		for i := len(sizes) - 1; i >= 0; i-- {
			codes[i], rest = rest%sizes[i], rest/sizes[i]
		}
		visit(cell, codes)
	}
}

// jointLaw enumerates the law of a model from the definition of a Markov forest, without the code that draws rows: the
// product of the shares of all columns times, for every pair, how much likelier its two categories are together than if
// they were independent.
func (m model) jointLaw() []float64 {
	var sizes []int
	cells := 1
	for _, c := range m.columns {
		sizes = append(sizes, len(c))
		cells *= len(c)
	}
	out := make([]float64, cells)
	visitCells(sizes, func(cell int, codes []int) {
		p := m.total
		for column, code := range codes {
			p *= m.columns[column][code] / m.total
		}
		for _, t := range m.pairs {
			a, b := codes[t.pair[0]], codes[t.pair[1]]
			if p > 0 {
				p *= t.counts[a*t.cols+b] / m.total / (m.columns[t.pair[0]][a] / m.total * m.columns[t.pair[1]][b] / m.total)
			}
		}
		out[cell] = p
	})
	return out
}

// checkJoint sums the enumerated law over columns and pairs, and compares with the model to 1e-9 of the total.
func (m model) checkJoint(t *testing.T) {
	t.Helper()
	var sizes []int
	for _, c := range m.columns {
		sizes = append(sizes, len(c))
	}
	joint := m.jointLaw()
	close := func(what string, got, want []float64) {
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-9*m.total) {
				t.Errorf("%s, cell %d: the law of the tree has %v, the model %v", what, i, got[i], want[i])
			}
		}
	}
	for column, want := range m.columns {
		got := make([]float64, len(want))
		visitCells(sizes, func(cell int, codes []int) { got[codes[column]] += joint[cell] })
		close(fmt.Sprintf("column %d", column), got, want)
	}
	for _, pair := range m.pairs {
		got := make([]float64, len(pair.counts))
		visitCells(sizes, func(cell int, codes []int) {
			got[codes[pair.pair[0]]*pair.cols+codes[pair.pair[1]]] += joint[cell]
		})
		close(fmt.Sprintf("pair %v", pair.pair), got, pair.counts)
	}
}

func TestLawOfATree(t *testing.T) { chainedModel(1000).checkJoint(t) }

// TestRowsFollowTheTree counts the rows of many draws in every cell of all columns together. The mean is exactly the
// enumerated law, although each draw has rounded counts. 4,000 draws of 60 rows give the least likely cell 500 rows, so
// the mean is close to normal; seven of its standard deviations make 36 false alarms together of less than 1e-10, and
// the seeds are fixed.
func TestRowsFollowTheTree(t *testing.T) {
	const draws, rows = 4000, 60
	m := chainedModel(1000)
	joint := m.jointLaw()
	sums, squares := make([]float64, len(joint)), make([]float64, len(joint))
	for draw := range draws {
		codes := m.drawRows(t.Context(), rows, seededStream([32]byte{5, byte(draw), byte(draw >> 8)}))
		counts := make([]float64, len(joint))
		for row := range rows {
			counts[((int(codes[0][row])*3+int(codes[1][row]))*2+int(codes[2][row]))*3+int(codes[3][row])]++
		}
		for cell, c := range counts {
			sums[cell] += c
			squares[cell] += c * c
		}
	}
	for cell, p := range joint {
		mean, want := sums[cell]/draws, p/m.total*rows
		if want*draws < 500 {
			t.Fatalf("cell %d is expected %v times only", cell, want*draws)
		}
		deviation := math.Sqrt((squares[cell]/draws - mean*mean) / draws)
		if math.Abs(mean-want) > 7*deviation {
			t.Errorf("cell %d has %v rows in the mean, expected %v ± %v", cell, mean, want, deviation)
		}
	}
}

// TestRowsRound: counts of the first column are within one of those expected, and so are those of each next column
// among the rows with one category of the column before it, down the tree 0–1, 1–2, 1–3 from its first column.
func TestRowsRound(t *testing.T) {
	m := chainedModel(777)
	for seed := range 50 {
		const rows = 5000
		codes := m.drawRows(t.Context(), rows, seededStream([32]byte{6, byte(seed)}))
		first := make([]float64, 2)
		for _, c := range codes[0] {
			first[c]++
		}
		for c, got := range first {
			checkRounded(t, got, m.columns[0][c]/m.total*rows)
		}
		for _, pair := range m.pairs {
			counts, groups := make([]float64, len(pair.counts)), make([]float64, len(pair.counts)/pair.cols)
			for row := range rows {
				counts[int(codes[pair.pair[0]][row])*pair.cols+int(codes[pair.pair[1]][row])]++
				groups[codes[pair.pair[0]][row]]++
			}
			for cell, got := range counts {
				given := cell / pair.cols
				checkRounded(t, got, groups[given]*pair.counts[cell]/m.columns[pair.pair[0]][given])
			}
		}
	}
}

// checkRounded checks that a whole number is an expected one rounded up or down.
func checkRounded(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) >= 1+1e-9 {
		t.Errorf("%v rows where %v are expected", got, want)
	}
}

// TestOrderOfRowsCarriesNothing: the position of a row reveals nothing about it, nor does the row before. Half of 40
// rows have category 1 in either column, and the columns always agree. Over 4,000 draws the first row has it 2,000
// times, give or take √1000 = 32, and the first two are equal with probability 19/39, 1,949 ± 32. Bounds are 6.5 of
// that.
func TestOrderOfRowsCarriesNothing(t *testing.T) {
	m := model{total: 40, columns: [][]float64{{20, 20}, {20, 20}},
		pairs: []pairTable{{[]int{0, 1}, 2, []float64{20, 0, 0, 20}}}}
	ones, alike := 0, 0
	for draw := range 4000 {
		codes := m.drawRows(t.Context(), 40, seededStream([32]byte{7, byte(draw), byte(draw >> 8)}))
		ones += int(codes[1][0])
		if codes[1][0] == codes[1][1] {
			alike++
		}
		for row := range codes[0] {
			if codes[0][row] != codes[1][row] {
				t.Fatal("columns that always agree do not")
			}
		}
	}
	if ones < 2000-206 || ones > 2000+206 {
		t.Errorf("the first row has category 1 in %d of 4000 draws", ones)
	}
	if alike < 1949-206 || alike > 1949+206 {
		t.Errorf("the first two rows are alike in %d of 4000 draws", alike)
	}
}

// TestApportion: parts are rounded up or down, with the parts as means. A part's fraction f is rounded up with
// probability f, so over 20,000 draws the mean is within 6.5·√(f(1−f)/20000) ≤ 0.023.
func TestApportion(t *testing.T) {
	weights := []float64{0, 0.5, 2.25, 4, 0, 0.25, 3}
	const n = 7
	r := seededStream([32]byte{8})
	sums := make([]float64, len(weights))
	for range 20000 {
		total := 0
		for i, count := range apportion(weights, n, r) {
			checkRounded(t, float64(count), weights[i]/10*n)
			sums[i] += float64(count)
			total += count
		}
		if total != n {
			t.Fatalf("%d divided into parts of %d", n, total)
		}
	}
	for i, w := range weights {
		if math.Abs(sums[i]/20000-w/10*n) > 0.023 {
			t.Errorf("weight %v got %v in the mean, expected %v", w, sums[i]/20000, w/10*n)
		}
	}
	// Of four equal parts of a half, any two can be rounded up together: each of 6 pairs has 1/6 of 6,000 draws, and
	// none has fewer than 500 except with a probability of 10⁻⁷⁰.
	together := map[[2]int]int{}
	for range 6000 {
		together[[2]int(positiveIndexes(toFloats(apportion([]float64{1, 1, 1, 1}, 2, r))))]++
	}
	for pair, times := range together {
		if times < 500 {
			t.Errorf("%v were rounded up together %d times of 6000", pair, times)
		}
	}
	if len(together) != 6 {
		t.Errorf("%d pairs were rounded up together, expected 6", len(together))
	}
	for _, n := range []int{0, 1, 1 << 31} {
		counts := apportion([]float64{0, 1e-300, 1e300, 0}, n, r)
		if counts[0] != 0 || counts[3] != 0 || counts[1]+counts[2] != n || counts[1] > 1 {
			t.Errorf("%d apportioned as %v", n, counts)
		}
	}
}

// TestBackedOff: rows with a category that the pair has no counts for follow the other column's marginal.
func TestBackedOff(t *testing.T) {
	m := model{total: 8, columns: [][]float64{{4, 4}, {2, 6}}, pairs: []pairTable{{[]int{0, 1}, 2, []float64{0, 0, 2, 6}}}}
	counts := make([]int, 4)
	codes := m.drawRows(t.Context(), 8, seededStream([32]byte{9}))
	for row := range codes[0] {
		counts[codes[0][row]*2+codes[1][row]]++
	}
	if want := [4]int{1, 3, 1, 3}; [4]int(counts) != want {
		t.Errorf("counts %v, expected %v", counts, want)
	}
}

// TestBelow: all results of 3 are equally likely: of 30,000 draws each has 10,000 ± 82; bounds are 6.5 of that. And
// words are rejected if they must be: of four consecutive ones, three would give a result below 3·2⁶² of their own and
// the fourth would repeat the first, so that half of all results were multiples of 3, and not 3,333 ± 47 of 10,000.
func TestBelow(t *testing.T) {
	r := seededStream([32]byte{10})
	counts := make([]int, 3)
	for range 30000 {
		counts[r.below(3)]++
	}
	for i, c := range counts {
		if c < 10000-531 || c > 10000+531 {
			t.Errorf("%d came %d times", i, c)
		}
	}
	multiples := 0
	for range 10000 {
		if r.below(3<<62)%3 == 0 {
			multiples++
		}
	}
	if multiples < 3333-306 || multiples > 3333+306 {
		t.Errorf("%d of 10000 are multiples of 3", multiples)
	}
}

// TestShuffle: all orders of 3 are equally likely: of 30,000 each has 5,000 ± 65; bounds are 6.5 of that.
func TestShuffle(t *testing.T) {
	r := seededStream([32]byte{11})
	counts := map[[3]int]int{}
	for range 30000 {
		entries := [3]int{0, 1, 2}
		shuffle(r, entries[:])
		counts[entries]++
	}
	if len(counts) != 6 {
		t.Fatalf("%d orders", len(counts))
	}
	for order, c := range counts {
		if c < 5000-420 || c > 5000+420 {
			t.Errorf("order %v came %d times", order, c)
		}
	}
}
