package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
)

// TestPurifiedModelsPredictAlike draws tables and noisy counts, negative ones too, and compares the score of every row
// before and after: it stays, and the rows and columns of the tables of pairs, and the tables of columns, have mean 0.
func TestPurifiedModelsPredictAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for range 20 {
		s := withPairs(smallShape(boosting.Logit))
		trainer := newTrainer(s)
		for _, size := range s.Sizes() {
			counts := make([]int64, size)
			for k := range counts {
				counts[k] = random.Int64N(120) - 20
			}
			trainer.counts = append(trainer.counts, counts)
		}
		for _, table := range trainer.tables {
			for k := range table {
				table[k] = random.NormFloat64()
			}
		}
		score := func(codes []int) float64 {
			sum := trainer.intercept
			for c, table := range trainer.tables {
				sum += table[s.Category(c, codes)]
			}
			return sum
		}
		before := map[[2]int]float64{}
		for a := range 12 {
			for b := range 3 {
				before[[2]int{a, b}] = score([]int{a, b, 0})
			}
		}
		m := trainer.model()
		for codes, want := range before {
			row := []int{codes[0], codes[1], 0}
			if got := score(row); math.Abs(got-want) > 1e-9 {
				t.Fatalf("score %v, want %v", got, want)
			}
			// The published entries are rounded, each by half a unit at most.
			if got := float64(m.Scores.Of(s, row)) / boosting.ScoreUnit; math.Abs(got-want) > 3.01/boosting.ScoreUnit {
				t.Fatalf("rounded score %v, want %v", got, want)
			}
		}
		for c, table := range trainer.tables {
			of := func(k int) float64 { return table[k] }
			if mean := meanOver(trainer.rowsPerCategory(c), of); math.Abs(mean) > 1e-9 {
				t.Errorf("table %d has mean %v", c, mean)
			}
		}
		for b := range 3 { // the first pair has a row for each category of column 1
			mean := meanOver(trainer.rowsPerCategory(0), func(a int) float64 { return trainer.tables[3][12*b+a] })
			if math.Abs(mean) > 1e-9 {
				t.Errorf("row %d of a pair has mean %v", b, mean)
			}
		}
		for a := range 12 {
			mean := meanOver(trainer.rowsPerCategory(1), func(b int) float64 { return trainer.tables[3][12*b+a] })
			if math.Abs(mean) > 1e-9 {
				t.Errorf("column %d of a pair has mean %v", a, mean)
			}
		}
	}
}

// TestPairsShowWhatColumnsDoNot: of an outcome with effects of two columns and one of both together, each is in its own
// table.
func TestPairsShowWhatColumnsDoNot(t *testing.T) {
	s := smallShape(boosting.Identity)
	s.Columns, s.Pairs = []boosting.Column{{Categories: 4, Ordered: true}, {Categories: 2}}, [][2]int{{0, 1}}
	s.Epochs = 60
	var rows [][]int
	random := rand.New(rand.NewPCG(2, 4))
	together := func(a, b int) float64 { // its rows and columns have mean 0
		return float64((2*b - 1) * []int{1, -1, -1, 1}[a])
	}
	for range 40_000 {
		a, b := random.IntN(4), random.IntN(2)
		mean := 6 + float64(a) - 1.5 + 2*float64(b) - 1 + together(a, b)
		target := int(mean)
		if random.Float64() < mean-float64(target) {
			target++
		}
		rows = append(rows, []int{a, b, target})
	}
	m, err := Train(t.Context(), s, &oracle{shape: s, cells: cellsOf(rows)})
	if err != nil {
		t.Fatal(err)
	}
	unit := boosting.ScoreUnit / 12. // of the range of outcomes, 0 to 12
	for a := range 4 {
		if got := float64(m.Scores.Tables[0][a]) / unit; math.Abs(got-(float64(a)-1.5)) > .1 {
			t.Errorf("the first column adds %.2f for category %d", got, a)
		}
		for b := range 2 {
			if got := float64(m.Scores.Tables[2][2*a+b]) / unit; math.Abs(got-together(a, b)) > .1 {
				t.Errorf("the pair adds %.2f for categories %d and %d", got, a, b)
			}
		}
	}
	for b := range 2 {
		if got := float64(m.Scores.Tables[1][b]) / unit; math.Abs(got-float64(2*b-1)) > .1 {
			t.Errorf("the second column adds %.2f for category %d", got, b)
		}
	}
}
