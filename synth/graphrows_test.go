package synth

import (
	"math"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/synth/graphical"
)

// This file holds tests of rows that are drawn from a graphical model given some of their columns.

// chainGiven returns the model of a chain of columns 2–0–1–3 of two categories each, of which 2 and 3 are given unless
// free; and its law of the first two given the last two: by the definition of a Markov chain, p(a|c)·p(b|a)·p(d|b) over
// its sum.
func chainGiven(t *testing.T, free bool) (m *graphical.Model, d graphical.Domain, law [4][4]float64) {
	const total = 1e6
	first, zero, one, three := [2]float64{0.4, 0.6}, [2][2]float64{{0.7, 0.3}, {0.2, 0.8}},
		[2][2]float64{{0.8, 0.2}, {0.25, 0.75}}, [2][2]float64{{0.8, 0.2}, {0.3, 0.7}}
	d = graphical.Domain{2, 2, 2, 2}
	pairs := map[[2]int][]float64{{0, 2}: make([]float64, 4), {0, 1}: make([]float64, 4), {1, 3}: make([]float64, 4)}
	for cell := range 16 {
		codes := [4]int{cell >> 3, cell >> 2 & 1, cell >> 1 & 1, cell & 1}
		p := first[codes[2]] * zero[codes[2]][codes[0]] * one[codes[0]][codes[1]] * three[codes[1]][codes[3]]
		for pair, counts := range pairs {
			counts[2*codes[pair[0]]+codes[pair[1]]] += p * total
		}
		law[cell&3][cell>>2] = p
	}
	for given := range law {
		all := sum(law[given][:])
		for own := range law[given] {
			law[given][own] /= all
		}
	}
	known := graphical.Clique{2, 3}
	if free {
		known = nil
	}
	m = graphical.New(d, known, total)
	for _, pair := range [][2]int{{0, 2}, {0, 1}, {1, 3}} {
		m.Measure(pair[:], pairs[pair], slices.Repeat([]float64{1}, 4))
	}
	m.Fit(t.Context(), 200)
	return m, d, law
}

// worstDeviation draws rows given two columns, ten with each of four cells, again and again, and compares the mean
// count of each cell of all columns with a law. It returns the largest difference in standard errors. The mean is
// exactly that of the law, although each draw has rounded counts.
func worstDeviation(t *testing.T, law [4][4]float64, draw func(codes [][]uint32, n int, r *stream)) float64 {
	t.Helper()
	const draws, each = 1500, 10
	var sums, squares [4][4]float64
	for k := range draws {
		codes := make([][]uint32, 4)
		for row := range 4 * each {
			codes[2], codes[3] = append(codes[2], uint32(row>>1&1)), append(codes[3], uint32(row&1))
		}
		draw(codes, 4*each, seededStream([32]byte{41, byte(k), byte(k >> 8)}))
		var counts [4][4]float64
		for row := range 4 * each {
			if codes[2][row] != uint32(row>>1&1) || codes[3][row] != uint32(row&1) {
				t.Fatal("a given column has changed")
			}
			counts[row&3][2*codes[0][row]+codes[1][row]]++
		}
		for given := range counts {
			for own, c := range counts[given] {
				sums[given][own] += c
				squares[given][own] += c * c
			}
		}
	}
	most := 0.0
	for given := range law {
		for own, p := range law[given] {
			if p*each*draws < 300 {
				t.Fatalf("cell %d given %d is expected %v times only", own, given, p*each*draws)
			}
			mean := sums[given][own] / draws
			deviation := math.Sqrt((squares[given][own]/draws - mean*mean) / draws)
			most = max(most, math.Abs(mean-p*each)/deviation)
		}
	}
	return most
}

// TestRowsGivenOthersFollowTheModel counts rows of many draws in every cell given what they have. Means are close to
// normal, so that one of 16 of them is more than seven of their deviations off with a probability below 1e-10, and the
// seeds are fixed. Negative controls: the same bound detects rows that are drawn along the tree of a model without
// given columns, and rows that ignore the given columns.
func TestRowsGivenOthersFollowTheModel(t *testing.T) {
	m, d, law := chainGiven(t, false)
	off := worstDeviation(t, law, func(codes [][]uint32, n int, r *stream) {
		drawModel(t.Context(), m, d, codes, n, r)
	})
	if off > 7 {
		t.Errorf("a cell is off by %v of its standard errors", off)
	}
	free, _, _ := chainGiven(t, true)
	tree := free.Tree()
	if off := worstDeviation(t, law, func(codes [][]uint32, n int, r *stream) {
		for _, clique := range tree.Cliques {
			var given graphical.Clique
			for _, a := range clique {
				if codes[a] != nil {
					given = append(given, a)
				}
			}
			for _, a := range clique {
				if codes[a] == nil {
					codes[a] = make([]uint32, n)
					dealGiven(codes, d, given, a, free.Marginal(withAttribute(given, a)), r)
					given = withAttribute(given, a)
				}
			}
		}
	}); off < 7 {
		t.Errorf("along another tree cells are off by %v of their standard errors", off)
	}
	if off := worstDeviation(t, law, func(codes [][]uint32, n int, r *stream) {
		own := make([][]uint32, 4)
		drawModel(t.Context(), free, d, own, n, r)
		copy(codes, own[:2])
	}); off < 7 {
		t.Errorf("given nothing cells are off by %v of their standard errors", off)
	}
}

// Rows keep their given categories, even those that the noise hides, which the model merges into one class; their own
// categories are drawn given the class.
func TestRowsGivenHiddenCategories(t *testing.T) {
	m := graphical.New(graphical.Domain{2, 2}, graphical.Clique{1}, 100)
	m.Measure(graphical.Clique{0, 1}, []float64{50, 0, 0, 50}, slices.Repeat([]float64{0x1p-10}, 4))
	m.Fit(t.Context(), 200)
	a := &aim{model: m, domain: graphical.Domain{2, 2}, columns: []classes{
		{of: []int{0, 1}, size: []float64{1, 1}, share: []float64{1, 1}},
		{of: []int{1, 0, 1, 1}, size: []float64{1, 3}, share: []float64{0.2, 1, 0.5, 0.3}},
	}}
	given := []uint32{0, 1, 2, 3, 1, 1, 0, 2}
	codes := a.drawGiven(t.Context(), [][]uint32{nil, slices.Clone(given)}, len(given), seededStream([32]byte{42}))
	if !slices.Equal(codes[1], given) || !slices.Equal(codes[0], []uint32{1, 0, 1, 1, 0, 0, 1, 1}) {
		t.Errorf("rows are %v", codes)
	}
}
