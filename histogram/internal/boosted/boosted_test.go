package boosted_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/boosted"
	"github.com/dprelease/dprelease/plan/boosting"
)

// shapes are shapes with narrow and wide columns and targets, of each link.
func shapes() (all []*boosting.Shape) {
	columns := [][]boosting.Column{
		{{Categories: 3}, {Categories: 300, Ordered: true}, {Categories: 1}, {Categories: 12, Ordered: true}},
		{{Categories: 2}},
	}
	many := make([]int64, 300)
	for i := range many {
		many[i] = int64(i)
	}
	for _, c := range columns {
		var pairs [][2]int
		if len(c) > 1 {
			pairs = [][2]int{{1, 3}, {3, 0}, {2, 1}}
		}
		for link, outcomes := range map[boosting.Link][][]int64{boosting.Logit: {{0, 1}, {1, 0, 0}},
			boosting.Identity: {{-5, 5, 90}, many}, boosting.Log: {{0, 1, 7}, many}} {
			for _, o := range outcomes {
				all = append(all, &boosting.Shape{Columns: c, Pairs: pairs, Link: link, Outcomes: o,
					Schedule: boosting.Schedule{Epochs: 4, Groups: 4, Rate: .5}})
			}
		}
	}
	return all
}

// drawRows returns rows of uniform codes.
func drawRows(random *rand.Rand, sizes []int, n int) (rows [][]int) {
	for range n {
		var row []int
		for _, size := range sizes {
			row = append(row, random.IntN(size))
		}
		rows = append(rows, row)
	}
	return rows
}

// drawQuestion returns a question of a round, with random tables and groups.
func drawQuestion(random *rand.Rand, s *boosting.Shape, round int) boosting.Question {
	q := boosting.Question{Column: s.Column(round)}
	if round < s.CountRounds() {
		return q
	}
	q.Scores = drawScores(random, s)
	var counts [][]int64
	for _, size := range s.Sizes() {
		of := make([]int64, size)
		for k := range of {
			of[k] = random.Int64N(100)
		}
		counts = append(counts, of)
	}
	q.Groups = s.Partition(round, counts)
	return q
}

// drawScores returns random tables, some of them large.
func drawScores(random *rand.Rand, s *boosting.Shape) *boosting.Scores {
	most := int32(boosting.ScoreUnit)
	if random.IntN(4) == 0 {
		most = 1 << 24
	}
	of := &boosting.Scores{Intercept: random.Int32N(2*most) - most}
	for column := range s.Tables() {
		table := make([]int32, s.Categories(column))
		for k := range table {
			table[k] = random.Int32N(2*most) - most
		}
		of.Tables = append(of.Tables, table)
	}
	return of
}

// naive answers a question row by row.
func naive(s *boosting.Shape, rows [][]int, q boosting.Question) []int64 {
	r := s.Residuals()
	answer := make([]int64, q.Len(s))
	for _, row := range rows {
		target := row[len(row)-1]
		switch {
		case q.Column == s.Target():
			answer[target]++
		case q.Scores == nil:
			answer[row[q.Column]]++
		default:
			answer[q.Groups[s.Category(q.Column, row)]] += int64(r.Of(target, q.Scores.Of(s, row)))
		}
	}
	return answer
}

// newRows returns all rows, none held out.
func newRows(t testing.TB, s *boosting.Shape, rows [][]int) *boosted.Rows {
	t.Helper()
	cells, counts := histogramOf(s.Sizes(), rows)
	of, _, err := boosted.New(t.Context(), s, cells, counts, boosted.Split{})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// TestAnswersAreExact compares all rounds with answers row by row, with questions that share tables and that do not.
func TestAnswersAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes() {
		for _, n := range []int{0, 1, 500, 40_000} {
			if n == 40_000 && len(s.Columns) == 1 {
				continue
			}
			rows := drawRows(random, s.Sizes(), n)
			of := newRows(t, s, rows)
			var last *boosting.Scores
			for round := range s.Rounds() {
				q := drawQuestion(random, s, round)
				if last != nil && random.IntN(2) == 0 { // as in a fit: one table changed
					tables := slices.Clone(last.Tables)
					tables[0] = q.Scores.Tables[0]
					q.Scores = &boosting.Scores{Intercept: last.Intercept, Tables: tables}
				}
				last = q.Scores
				got, err := of.Answer(t.Context(), round, q)
				if err != nil {
					t.Fatal(err)
				}
				if want := naive(s, rows, q); !slices.Equal(got, want) {
					t.Fatalf("%s, %d rows, round %d: got %v, want %v", s.Link, n, round, got, want)
				}
			}
		}
	}
}

// TestSensitivity: k rows more change at most k integers of an answer, by at most k·Bound in all, or k if it counts.
func TestSensitivity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, s := range shapes() {
		for range 20 {
			rows := drawRows(random, s.Sizes(), random.IntN(30))
			k := 1 + random.IntN(3)
			more := append(slices.Clone(rows), drawRows(random, s.Sizes(), k)...)
			fewer, all := newRows(t, s, rows), newRows(t, s, more)
			for round := range s.Rounds() {
				q := drawQuestion(random, s, round)
				a, err := fewer.Answer(t.Context(), round, q)
				if err != nil {
					t.Fatal(err)
				}
				b, err := all.Answer(t.Context(), round, q)
				if err != nil {
					t.Fatal(err)
				}
				if err := withinSensitivity(q, a, b, k); err != nil {
					t.Fatalf("%s, round %d: %v", s.Link, round, err)
				}
			}
		}
	}
}

// withinSensitivity returns an error unless two answers to a question are as close as k rows more allow.
func withinSensitivity(q boosting.Question, a, b []int64, k int) error {
	bound := int64(1)
	if q.Scores != nil {
		bound = boosting.Bound
	}
	sum, changed := int64(0), 0
	for i := range a {
		if d := b[i] - a[i]; d != 0 {
			sum, changed = sum+max(d, -d), changed+1
		}
	}
	if sum > int64(k)*bound || changed > k {
		return fmt.Errorf("%d rows more change %d integers by %d in all", k, changed, sum)
	}
	return nil
}

// TestMoreSensitiveAnswersAreNoticed plants answers to which a row adds more than it may.
func TestMoreSensitiveAnswersAreNoticed(t *testing.T) {
	for name, broken := range map[string]func(s *boosting.Shape, row []int, q boosting.Question, answer []int64){
		"scores are not clamped": func(s *boosting.Shape, row []int, q boosting.Question, answer []int64) {
			last := len(row) - 1
			mean := int64(q.Scores.Of(s, row)) * boosting.Bound / boosting.ScoreUnit
			answer[q.Groups[s.Category(q.Column, row)]] += int64(s.Residuals().Outcomes[row[last]]) - mean
		},
		"a row is in all groups": func(s *boosting.Shape, row []int, q boosting.Question, answer []int64) {
			for i := range answer {
				answer[i] += int64(s.Residuals().Of(row[len(row)-1], q.Scores.Of(s, row)))
			}
		},
		"outcomes are of both signs": func(s *boosting.Shape, row []int, q boosting.Question, answer []int64) {
			outcome := 2*s.Residuals().Outcomes[row[len(row)-1]] - boosting.Bound
			answer[q.Groups[s.Category(q.Column, row)]] += int64(outcome - s.Residuals().Mean(q.Scores.Of(s, row)))
		},
		"a row is in a pair once for each column": func(s *boosting.Shape, row []int, q boosting.Question,
			answer []int64) {
			residual := int64(s.Residuals().Of(row[len(row)-1], q.Scores.Of(s, row)))
			answer[q.Groups[s.Category(q.Column, row)]] += residual
			if pair, ok := s.Pair(q.Column); ok {
				answer[q.Groups[row[pair[1]]]] += residual
			}
		},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		noticed := false
		for _, s := range shapes() {
			if s.Link != boosting.Identity {
				continue
			}
			for range 100 {
				q := drawQuestion(random, s, s.CountRounds()+random.IntN(s.Rounds()-s.CountRounds()))
				none, one := make([]int64, q.Len(s)), make([]int64, q.Len(s))
				broken(s, drawRows(random, s.Sizes(), 1)[0], q, one)
				noticed = noticed || withinSensitivity(q, none, one, 1) != nil
			}
		}
		if !noticed {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// TestOneRowMoreIsInOnePart: one row more adds one row to one part, and leaves the other as it is.
func TestOneRowMoreIsInOnePart(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	s := &boosting.Shape{Columns: []boosting.Column{{Categories: 4}}, Link: boosting.Logit, Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 1, Groups: 2, Rate: .5}}
	var held int64
	for trial := range 400 {
		split := boosted.Split{Key: [32]byte{byte(trial), byte(trial >> 8)}, Numerator: 1, Denominator: 3}
		rows := drawRows(random, s.Sizes(), random.IntN(60))
		before := partsOf(t, s, rows, split)
		after := partsOf(t, s, append(rows, drawRows(random, s.Sizes(), 1)...), split)
		total := int64(0)
		for i := range before {
			d := after[i] - before[i]
			if d < 0 {
				t.Fatalf("a row left a part: %v, %v", before, after)
			}
			total += d
			if i >= len(before)/2 {
				held += d
			}
		}
		if total != 1 {
			t.Fatalf("%d rows more: %v, %v", total, before, after)
		}
	}
	// Of 400 draws of 1/3 the number is within 6 standard deviations of 133, but for 2e-9.
	if math.Abs(float64(held)-400./3) > 6*math.Sqrt(400*2./9) {
		t.Errorf("%d of 400 rows were held out, want about 133", held)
	}
}

// TestRowsAreDividedAsTheyAreHeldOut: dividing counts gives the same two parts as fitting and holding out rows.
func TestRowsAreDividedAsTheyAreHeldOut(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	s := &boosting.Shape{Columns: []boosting.Column{{Categories: 4}}, Link: boosting.Logit, Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 1, Groups: 2, Rate: .5}}
	for trial := range 50 {
		split := boosted.Split{Key: [32]byte{byte(trial)}, Numerator: uint64(trial % 3), Denominator: 3}
		rows := drawRows(random, s.Sizes(), random.IntN(60))
		cells, counts := histogramOf(s.Sizes(), rows)
		fitted, heldOut, err := split.Divide(cells, counts)
		if err != nil {
			t.Fatal(err)
		}
		first, _, err := boosted.New(t.Context(), s, cells, fitted, boosted.Split{})
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := boosted.New(t.Context(), s, cells, heldOut, boosted.Split{})
		if err != nil {
			t.Fatal(err)
		}
		got, want := slices.Concat(cellsOf(t, first), cellsOf(t, second)), partsOf(t, s, rows, split)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if _, _, err := (boosted.Split{Numerator: 1, Denominator: 1}).Divide(nil, nil); err == nil {
		t.Error("all rows are held out")
	}
}

// partsOf returns the counts by cell of the rows of both parts.
func partsOf(t *testing.T, s *boosting.Shape, rows [][]int, split boosted.Split) []int64 {
	t.Helper()
	cells, counts := histogramOf(s.Sizes(), rows)
	fitted, heldOut, err := boosted.New(t.Context(), s, cells, counts, split)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(cellsOf(t, fitted), cellsOf(t, heldOut))
}

// cellsOf returns the counts by cell of rows of a column with four categories, each of which has a bin of its own.
func cellsOf(t *testing.T, rows *boosted.Rows) []int64 {
	t.Helper()
	of, err := rows.Histogram(t.Context(), &boosting.Scores{Tables: [][]int32{{-20_000, -10_000, 0, 10_000}}})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// TestHistogramsAreExact compares with bins row by row, before and after a round.
func TestHistogramsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, s := range shapes() {
		if s.Link != boosting.Logit {
			continue
		}
		rows := drawRows(random, s.Sizes(), 20_000)
		of := newRows(t, s, rows)
		for range 3 {
			scores := drawScores(random, s)
			got, err := of.Histogram(t.Context(), scores)
			if err != nil {
				t.Fatal(err)
			}
			want, bins := make([]int64, 2*boosting.ScoreBins), boosting.NewBins(scores.Intercept)
			for _, row := range rows {
				last := len(row) - 1
				want[2*bins.Of(scores.Of(s, row))+int(s.Outcomes[row[last]])]++
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
			q := drawQuestion(random, s, s.CountRounds())
			if _, err := of.Answer(t.Context(), s.CountRounds(), q); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestManyRowsInACell: counts beyond 2³², up to the most rows there may be, with the largest residuals.
func TestManyRowsInACell(t *testing.T) {
	s := &boosting.Shape{Columns: []boosting.Column{{Categories: 2}}, Link: boosting.Logit, Outcomes: []int64{0, 1},
		Schedule: boosting.Schedule{Epochs: 1, Groups: 2, Rate: .5}}
	const most = 1 << 48
	for _, n := range []int64{math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 40, most - 1} {
		of, _, err := boosted.New(t.Context(), s, []uint64{1, 2}, []int64{n, 1}, boosted.Split{})
		if err != nil {
			t.Fatal(err)
		}
		q := boosting.Question{Groups: []int{0, 1},
			Scores: &boosting.Scores{Intercept: -1 << 24, Tables: [][]int32{{0, 0}}}}
		got, err := of.Answer(t.Context(), s.CountRounds(), q)
		first := int64(s.Residuals().Of(1, -1<<24))
		if want := []int64{first * n, int64(s.Residuals().Of(0, -1<<24))}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows: got %v, %v, want %v", n, got, err, want)
		}
		if got, err := of.Answer(t.Context(), 0, boosting.Question{}); err != nil || !slices.Equal(got, []int64{n, 1}) {
			t.Errorf("%d rows: counted %v, %v", n, got, err)
		}
	}
	if _, _, err := boosted.New(t.Context(), s, []uint64{1, 2}, []int64{most, 1}, boosted.Split{}); err == nil {
		t.Error("more than 2^48 rows are accepted")
	}
}

func TestHistogramsAreRefused(t *testing.T) {
	s := shapes()[0]
	s.Columns, s.Pairs = []boosting.Column{{Categories: 2}}, nil
	for name, c := range map[string]struct {
		cells  []uint64
		counts []int64
		split  boosted.Split
	}{
		"lengths":       {[]uint64{1}, nil, boosted.Split{}},
		"not ascending": {[]uint64{1, 1}, []int64{1, 1}, boosted.Split{}},
		"no such cell":  {[]uint64{1 << 40}, []int64{1}, boosted.Split{}},
		"negative":      {[]uint64{1}, []int64{-1}, boosted.Split{}},
		"all held out":  {[]uint64{1}, []int64{1}, boosted.Split{Numerator: 1, Denominator: 1}},
		"no share":      {[]uint64{1}, []int64{1}, boosted.Split{Numerator: 1}},
	} {
		if _, _, err := boosted.New(t.Context(), s, c.cells, c.counts, c.split); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	large := *s
	large.Columns = slices.Repeat([]boosting.Column{{Categories: boosting.MostCategories}}, 6)
	if _, _, err := boosted.New(t.Context(), &large, nil, nil, boosted.Split{}); err == nil {
		t.Error("more than 2^64 cells are accepted")
	}
}

// TestACutOffRoundIsAskedAgain: an answer after one that the context cut off is exact.
func TestACutOffRoundIsAskedAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	s := shapes()[0]
	rows := drawRows(random, s.Sizes(), 60_000)
	of := newRows(t, s, rows)
	ended, end := context.WithCancel(t.Context())
	end()
	for round := s.CountRounds(); round < s.Rounds(); round++ {
		q := drawQuestion(random, s, round)
		if _, err := of.Answer(ended, round, q); err == nil {
			t.Error("no error")
		}
		if got, err := of.Answer(t.Context(), round, q); err != nil || !slices.Equal(got, naive(s, rows, q)) {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

func TestRowsAreNotPrinted(t *testing.T) {
	of := newRows(t, shapes()[0], nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		if got := fmt.Sprintf(verb, of); got != "confidential" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// TestPartsMoveTogetherWithinTheBound: a unit's rows move the sums of residuals of a round, and the counts of held-out
// rows in units of 1/Bound, together by at most k·Bound in L1, and 2k·Bound where it is replaced, however its rows fall
// into the two parts and whatever is asked of them. So a sum and a histogram together move no further than the sum may
// by itself. Counts of a round move by k. With held-out rows in training as well it would be more.
func TestPartsMoveTogetherWithinTheBound(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	all := shapes() // only rows of a class are held out
	s := all[slices.IndexFunc(all, func(s *boosting.Shape) bool { return s.Link == boosting.Logit })]
	both := 0
	for trial := range 600 {
		split := boosted.Split{Key: [32]byte{byte(trial), byte(trial >> 8)}, Numerator: 1, Denominator: 2}
		k := 1 + random.IntN(4)
		rows := drawRows(random, s.Sizes(), random.IntN(20))
		bound := int64(k)
		inputs := [2][][]int{slices.Concat(rows, drawRows(random, s.Sizes(), k)), rows}
		if trial%2 == 1 {
			inputs[1] = slices.Concat(rows, drawRows(random, s.Sizes(), k))
			bound *= 2
		}
		var parts [2][2]*boosted.Rows
		for side, of := range inputs {
			cells, counts := histogramOf(s.Sizes(), of)
			var err error
			if parts[side][0], parts[side][1], err = boosted.New(t.Context(), s, cells, counts, split); err != nil {
				t.Fatal(err)
			}
		}
		scores := drawScores(random, s)
		held := moved(t, func(side int) ([]int64, error) { return parts[side][1].Histogram(t.Context(), scores) })
		for round := range s.Rounds() {
			q := drawQuestion(random, s, round)
			sum := moved(t, func(side int) ([]int64, error) { return parts[side][0].Answer(t.Context(), round, q) })
			if q.Scores == nil && sum > bound {
				t.Fatalf("round %d: counts move by %d", round, sum)
			}
			if q.Scores != nil && sum+held*boosting.Bound > bound*boosting.Bound {
				t.Fatalf("round %d: sums move by %d, and held-out rows by %d", round, sum, held)
			}
			if sum > 0 && held > 0 {
				both++
			}
		}
	}
	if both < 100 {
		t.Errorf("units have rows in both parts %d times", both)
	}
}

// moved returns the L1 norm of the difference of two answers.
func moved(t *testing.T, answer func(side int) ([]int64, error)) (sum int64) {
	t.Helper()
	var of [2][]int64
	for side := range of {
		var err error
		if of[side], err = answer(side); err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range of[0] {
		sum += max(x-of[1][i], of[1][i]-x)
	}
	return sum
}
