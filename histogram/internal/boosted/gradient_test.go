package boosted_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/plan/boosting"
	"github.com/dprelease/dprelease/plan/design"
)

// descents are shapes of gradient descent with numbers, contrasts and categories, narrow and wide.
func descents(t *testing.T) (all []*boosting.Shape) {
	t.Helper()
	numbers := func(n int) (values []int64) {
		for i := range n {
			values = append(values, int64(3*i-7))
		}
		return values
	}
	names := func(n int) (categories []string) {
		for i := range n {
			categories = append(categories, strconv.Itoa(i))
		}
		return categories
	}
	for _, columns := range [][]design.Column{
		{{Name: "a", Values: numbers(300)}, {Name: "b", Categories: names(2)}, {Name: "c", Categories: names(5)},
			{Name: "d", Values: numbers(4)}, {Name: "t", Categories: names(3)}},
		{{Name: "a", Categories: names(400)}, {Name: "t", Categories: names(2)}},
	} {
		of, err := design.New(columns, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := &boosting.Shape{Link: boosting.Logit, Design: of, Descent: boosting.Descent{Rounds: 3, Steps: 2, Rate: .5}}
		for _, c := range columns[:len(columns)-1] {
			s.Columns = append(s.Columns, boosting.Column{Categories: c.Size(), Ordered: c.IsNumber()})
		}
		s.Outcomes = make([]int64, columns[len(columns)-1].Size())
		s.Outcomes[1] = 1
		all = append(all, s)
	}
	return all
}

// drawGradient returns the question of a round of gradient descent.
func drawGradient(random *rand.Rand, s *boosting.Shape, round int) boosting.Question {
	if round < s.CountRounds() {
		return boosting.Question{Column: s.Column(round)}
	}
	return boosting.Question{Scores: drawScores(random, s)}
}

// addGradient adds a row's features times its residual, as real numbers rounded to integers: their definition.
func addGradient(s *boosting.Shape, row []int, q boosting.Question, answer []int64) {
	last := len(row) - 1
	mean := 1 / (1 + math.Exp(-float64(q.Scores.Of(s, row[:last]))/boosting.ScoreUnit))
	residual := s.Residuals().Of(row[last], q.Scores.Of(s, row[:last]))
	if outcome := float64(s.Outcomes[row[last]]); math.Abs(float64(residual)/boosting.Bound-(outcome-mean)) > 1e-3 {
		panic("a residual is far from outcome − mean")
	}
	add := func(feature int, value float64) { answer[feature] += int64(math.Round(value)) * int64(residual) }
	add(0, design.Scale)
	at := 1
	for i, c := range s.Design.Columns()[:last] {
		switch {
		case c.IsNumber():
			low, high := c.Range()
			unit := s.Design.Encodings()[i+1].Unit
			add(at, float64(unit)*float64(2*c.Values[row[i]]-low-high)/float64(high-low))
			at++
		case c.Size() == 2:
			add(at, float64(2*row[i]-1)*design.Scale)
			at++
		default:
			add(at+row[i], design.Scale)
			at += c.Size()
		}
	}
}

// TestGradientsAreExact compares all rounds of gradient descent with answers row by row.
func TestGradientsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	for _, s := range descents(t) {
		for _, n := range []int{0, 1, 20_000} {
			rows := drawRows(random, s.Sizes(), n)
			of := newRows(t, s, rows)
			for round := range s.Rounds() {
				q := drawGradient(random, s, round)
				got, err := of.Answer(t.Context(), round, q)
				if err != nil {
					t.Fatal(err)
				}
				want := make([]int64, q.Len(s))
				for _, row := range rows {
					if q.Scores == nil {
						want[row[q.Column]]++
					} else {
						addGradient(s, row, q, want)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%d rows, round %d: got %v, want %v", n, round, got, want)
				}
			}
		}
	}
}

// TestSensitivityOfGradients: under add-remove and replace, with up to three rows a unit, answers are as close as the
// sensitivity says, and rows that are as far apart as can be are nearly that far apart.
func TestSensitivityOfGradients(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	for _, s := range descents(t) {
		nearest := 0.0
		for range 300 {
			common := drawRows(random, s.Sizes(), random.IntN(10))
			change := design.Change{Added: 1 + random.Int64N(3), Removed: random.Int64N(2) * 3}
			sides := [2][][]int{extremes(s, 1, int(change.Added)), extremes(s, 0, int(change.Removed))}
			if random.IntN(2) == 0 {
				sides[0] = drawRows(random, s.Sizes(), int(change.Added))
				sides[1] = drawRows(random, s.Sizes(), int(change.Removed))
			}
			q := boosting.Question{Scores: drawScores(random, s)}
			if random.IntN(2) == 0 {
				q.Scores.Intercept = -80_000
				for _, table := range q.Scores.Tables {
					clear(table)
				}
			}
			var of [2][]int64
			for side, rows := range sides {
				all := newRows(t, s, append(slices.Clone(common), rows...))
				var err error
				if of[side], err = all.Answer(t.Context(), 1, q); err != nil {
					t.Fatal(err)
				}
			}
			l1, squares := new(big.Int), new(big.Int)
			for i, x := range of[0] {
				d := new(big.Int).Abs(big.NewInt(x - of[1][i]))
				l1.Add(l1, d)
				squares.Add(squares, d.Mul(d, d))
			}
			bound := s.Design.Gradient(boosting.Bound, change)
			if l1.Cmp(bound.L1) > 0 || squares.Cmp(bound.L2Squared) > 0 {
				t.Fatalf("%+v: L1 %v of %v, L2² %v of %v", change, l1, bound.L1, squares, bound.L2Squared)
			}
			ratio, _ := new(big.Rat).SetFrac(squares, bound.L2Squared).Float64()
			nearest = max(nearest, ratio)
		}
		if nearest < .99 {
			t.Errorf("answers are at most %v of the bound apart", nearest)
		}
		one := s.Design.Gradient(boosting.Bound, design.Change{Added: 1})
		if unit := s.RowUnit(); unit*unit > one.L2Squared.Int64() {
			t.Errorf("a held-out row counts %d, more than a row in training", unit)
		}
	}
}

// extremes returns rows of an outcome whose features are all as large as can be.
func extremes(s *boosting.Shape, outcome, n int) (rows [][]int) {
	for range n {
		row := make([]int, len(s.Columns)+1)
		row[len(s.Columns)] = outcome
		rows = append(rows, row)
	}
	return rows
}

// TestOtherQuestionsOfGradientsAreRefused asks what gradient descent does not.
func TestOtherQuestionsOfGradientsAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	s := descents(t)[0]
	of := newRows(t, s, drawRows(random, s.Sizes(), 10))
	short, large := drawScores(random, s), drawScores(random, s)
	short.Tables[0] = short.Tables[0][1:]
	large.Tables[0][0] = 1 << 25
	for name, q := range map[string]boosting.Question{
		"nothing":       {},
		"groups":        {Scores: drawScores(random, s), Groups: make([]int, 300)},
		"another table": {Scores: short},
		"a large entry": {Scores: large},
		"a column":      {Scores: drawScores(random, s), Column: 1},
	} {
		if _, err := of.Answer(t.Context(), 1, q); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := of.Answer(t.Context(), s.Rounds(), boosting.Question{Scores: drawScores(random, s)}); err == nil {
		t.Error("a round too many is answered")
	}
	for n, fits := range map[int64]bool{1 << 36: true, 1 << 38: false} { // of which held-out rows would count 2⁶¹
		if _, _, err := boosted.New(t.Context(), s, []uint64{0}, []int64{n}, boosted.Split{}); (err == nil) != fits {
			t.Errorf("%d rows are taken: %t", n, err == nil)
		}
	}
}

// TestGradientsAndHeldOutRowsMoveTogether: a unit's rows move a gradient, and the counts of held-out rows in units of
// 1/RowUnit, together no further than they may move a gradient by themselves, in either norm, however they fall into
// the two parts. With held-out rows in the gradient as well it would be more.
func TestGradientsAndHeldOutRowsMoveTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	for _, s := range descents(t) {
		both, nearest := 0, 0.0
		for trial := range 300 {
			common := drawRows(random, s.Sizes(), random.IntN(10))
			change := design.Change{Added: 1 + random.Int64N(3), Removed: random.Int64N(2) * 3}
			sides := [2][][]int{extremes(s, 1, int(change.Added)), extremes(s, 0, int(change.Removed))}
			scores := &boosting.Scores{Intercept: -80_000}
			for _, c := range s.Columns {
				scores.Tables = append(scores.Tables, make([]int32, c.Categories))
			}
			if random.IntN(2) == 0 {
				scores = drawScores(random, s)
			}
			last := drawScores(random, s)
			var gradients, held [2][]int64
			for side, rows := range sides {
				cells, counts := histogramOf(s.Sizes(), append(slices.Clone(common), rows...))
				fitted, heldOut, err := boosted.New(t.Context(), s, cells, counts,
					boosted.Split{Key: [32]byte{byte(trial), byte(trial >> 8)}, Numerator: 1, Denominator: 2})
				if err == nil {
					gradients[side], err = fitted.Answer(t.Context(), 1, boosting.Question{Scores: scores})
				}
				if err == nil {
					held[side], err = heldOut.Histogram(t.Context(), last)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			l1, squares := new(big.Int), new(big.Int)
			add := func(x, y, unit int64) {
				d := new(big.Int).Abs(big.NewInt((x - y) * unit))
				l1.Add(l1, d)
				squares.Add(squares, d.Mul(d, d))
			}
			for i, x := range gradients[0] {
				add(x, gradients[1][i], 1)
			}
			alone := new(big.Int).Set(squares)
			for i, x := range held[0] {
				add(x, held[1][i], s.RowUnit())
			}
			bound := s.Design.Gradient(boosting.Bound, change)
			if l1.Cmp(bound.L1) > 0 || squares.Cmp(bound.L2Squared) > 0 {
				t.Fatalf("%+v: L1 %v of %v, L2² %v of %v", change, l1, bound.L1, squares, bound.L2Squared)
			}
			if alone.Sign() > 0 && squares.Cmp(alone) > 0 {
				both++
			}
			ratio, _ := new(big.Rat).SetFrac(squares, bound.L2Squared).Float64()
			nearest = max(nearest, ratio)
		}
		if both < 50 || nearest < .99 {
			t.Errorf("units have rows in both parts %d times, and move answers by at most %v of the bound", both,
				nearest)
		}
	}
}
