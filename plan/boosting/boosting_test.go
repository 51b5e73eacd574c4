package boosting

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
)

// links are shapes of each link.
var links = []*Shape{
	{Link: Logit, Outcomes: []int64{0, 1}},
	{Link: Logit, Outcomes: []int64{1, 0, 0, 1}},
	{Link: Identity, Outcomes: []int64{-40, 7, 1_000_000}},
	{Link: Identity, Outcomes: []int64{-mostOutcome, mostOutcome}},
	{Link: Log, Outcomes: []int64{0, 1, 2, 3, 12}},
	{Link: Log, Outcomes: []int64{3, mostOutcome}},
}

func init() {
	for _, s := range links {
		s.Columns = []Column{{Categories: 20, Ordered: true}, {Categories: 20}, {Categories: 1}, {Categories: 8}}
		s.Pairs = [][2]int{{0, 1}, {3, 2}, {3, 0}}
		s.Schedule = Schedule{Epochs: 3, Groups: 5, Rate: .5}
	}
}

// TestResidualsAreBounded: for every category of the target and every score, and beyond the range of scores.
func TestResidualsAreBounded(t *testing.T) {
	for _, s := range links {
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		r := s.Residuals()
		if slices.Min(r.Outcomes) < 0 || slices.Max(r.Outcomes) != Bound {
			t.Errorf("%s: outcomes %v", s.Link, r.Outcomes)
		}
		last := int32(0)
		try := func(score int32) {
			for target := range s.Outcomes {
				if x := r.Of(target, score); x < -Bound || x > Bound {
					t.Fatalf("%s: residual %d of category %d at score %d", s.Link, x, target, score)
				}
			}
			if mean := r.Mean(score); mean < last {
				t.Fatalf("%s: the mean decreases at score %d", s.Link, score)
			} else {
				last = mean
			}
		}
		try(math.MinInt32)
		for score := r.Low - 100; score <= r.High+100; score++ {
			try(score)
		}
		try(math.MaxInt32)
	}
}

// TestMeans compares means with those of the link.
func TestMeans(t *testing.T) {
	for _, s := range links {
		r := s.Residuals()
		for score := r.Low; score <= r.High; score += 7 {
			x := float64(score) / ScoreUnit
			want := map[Link]float64{Logit: 1 / (1 + math.Exp(-x)), Identity: x, Log: math.Exp(x)}[s.Link]
			// half a unit of residuals, and 8 units of scores at a slope of at most 1
			if got := float64(r.Mean(score)) / Bound; math.Abs(got-want) > .51/Bound+8./ScoreUnit {
				t.Fatalf("%s: mean %v at score %v, want %v", s.Link, got, x, want)
			}
		}
	}
}

func TestBinsCoverAllScores(t *testing.T) {
	for intercept, half := range map[int32]int{0: 12, -20_000: 18, 20_000: 6, 3: 12, mostEntry: 1, -mostEntry: 23} {
		b := NewBins(intercept)
		if !slices.IsSorted(b.Edges[:]) || b.Half != half || b.Edges[half-1] != 0 {
			t.Errorf("intercept %d: %+v", intercept, b)
		}
		for score, want := range map[int32]int{math.MinInt32: 0, -1: half - 1, 0: half, math.MaxInt32: ScoreBins - 1} {
			if got := b.Of(score); got != want {
				t.Errorf("intercept %d: score %d is in bin %d, want %d", intercept, score, got, want)
			}
		}
	}
}

// TestPartitions: groups are numbered without gaps, adjacent where the column is ordered, and no category is left out.
func TestPartitions(t *testing.T) {
	s := links[0]
	for name, counts := range map[string]func(k int) int64{
		"none":     func(int) int64 { return 0 },
		"equal":    func(int) int64 { return 50 },
		"one":      func(k int) int64 { return map[int]int64{3: 1 << 40}[k] },
		"negative": func(k int) int64 { return int64(-k) },
		"largest":  func(int) int64 { return math.MaxInt64 },
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			for round := s.CountRounds(); round < s.Rounds(); round++ {
				noisy := make([][]int64, len(s.Columns))
				for c, column := range s.Columns {
					for k := range column.Categories {
						noisy[c] = append(noisy[c], counts(k))
					}
				}
				groups := s.Partition(round, noisy)
				q := Question{Column: s.Column(round), Groups: groups, Scores: zeroScores(s)}
				if err := s.CheckQuestion(round, q); err != nil {
					t.Fatalf("round %d: %v: %v", round, groups, err)
				}
				pair, ok := s.Pair(q.Column)
				if ok {
					checkGrid(t, s, pair, groups)
				} else if s.Columns[q.Column].Ordered && !slices.IsSorted(groups) {
					t.Errorf("groups %v of an ordered column", groups)
				}
				if !slices.Equal(groups, s.Partition(round, noisy)) {
					t.Error("groups changed")
				}
				if len(groups) == 20 || ok && pair[1] != 2 {
					all = append(all, fmt.Sprint(groups))
				}
			}
			if name == "equal" && len(slices.Compact(slices.Sorted(slices.Values(all)))) < len(all) {
				t.Error("two rounds have the same groups")
			}
		})
	}
}

// checkGrid reports groups of a pair that are not the cells of a grid: a rectangle of adjacent categories where both
// columns are ordered, with more than one group of each column that has more than one category.
func checkGrid(t *testing.T, s *Shape, pair [2]int, groups []int) {
	t.Helper()
	width := s.Columns[pair[1]].Categories
	most := slices.Max(groups)
	for k, group := range groups {
		row, column := k/width, k%width
		for other := range groups {
			corner := row*width + other%width
			// Two cells of one group span a rectangle of that group.
			if groups[other] == group && (groups[corner] != group || groups[other/width*width+column] != group) {
				t.Fatalf("the groups of pair %v are no grid: %v", pair, groups)
			}
		}
	}
	if rows := s.Columns[pair[0]].Categories; most == 0 && rows > 1 && width > 1 {
		t.Errorf("pair %v has one group", pair)
	}
}

// TestDefinitionsStay compares groups, means and bins with those of the first version, on any machine: published models
// are verified by asking the same questions again.
func TestDefinitionsStay(t *testing.T) {
	h := sha256.New()
	for _, s := range links {
		r := s.Residuals()
		fmt.Fprintln(h, s.Link, r.Low, r.High, r.Outcomes, r.means)
	}
	s := *links[0]
	s.Seed = [32]byte{1, 2, 3}
	var counts [][]int64
	for _, c := range s.Columns {
		of := make([]int64, c.Categories)
		for k := range of {
			of[k] = int64(k*k%17) - 3
		}
		counts = append(counts, of)
	}
	pairs := sha256.New()
	for round := s.CountRounds(); round < s.Rounds(); round++ {
		if _, ok := s.Pair(s.Column(round)); ok {
			fmt.Fprintln(pairs, s.Partition(round, counts))
		} else {
			fmt.Fprintln(h, s.Partition(round, counts))
		}
	}
	for _, intercept := range []int32{-70_000, -11_000, 0, 25_000} {
		fmt.Fprintln(h, NewBins(intercept))
	}
	const want = "4b1ce3e5a23163da6801c663b0b60480df9bc73c977592d91e11bcfe69ec27e6"
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("got %s", got)
	}
	const wantPairs = "f64d44755297e5fc625ff14fa8a207552895cf00cdbd1eaa7671c635e15d8922"
	if got := fmt.Sprintf("%x", pairs.Sum(nil)); got != wantPairs {
		t.Errorf("pairs: got %s", got)
	}
}

// zeroScores returns tables of zeros.
func zeroScores(s *Shape) *Scores {
	of := &Scores{}
	for column := range s.Tables() {
		of.Tables = append(of.Tables, make([]int32, s.Categories(column)))
	}
	return of
}

func TestShapesAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Shape){
		"no columns":          func(s *Shape) { s.Columns = nil },
		"too many columns":    func(s *Shape) { s.Columns = make([]Column, MostColumns+1) },
		"column without":      func(s *Shape) { s.Columns = []Column{{}} },
		"too many categories": func(s *Shape) { s.Columns = []Column{{Categories: MostCategories + 1}} },
		"pair of one column":  func(s *Shape) { s.Pairs = [][2]int{{1, 1}} },
		"pair with no column": func(s *Shape) { s.Pairs = [][2]int{{0, 4}} },
		"negative column":     func(s *Shape) { s.Pairs = [][2]int{{-1, 0}} },
		"a pair twice":        func(s *Shape) { s.Pairs = [][2]int{{0, 1}, {1, 0}} },
		"too large a pair": func(s *Shape) {
			s.Columns = []Column{{Categories: 64}, {Categories: 65}, {Categories: 1}, {Categories: 2}}
		},
		"too many pairs":       func(s *Shape) { s.Columns, s.Pairs = manyPairs(MostPairs + 1) },
		"one outcome":          func(s *Shape) { s.Outcomes = []int64{1} },
		"constant outcome":     func(s *Shape) { s.Outcomes = []int64{1, 1} },
		"other classes":        func(s *Shape) { s.Outcomes = []int64{0, 2} },
		"negative count":       func(s *Shape) { s.Link, s.Outcomes = Log, []int64{-1, 2} },
		"large outcome":        func(s *Shape) { s.Link, s.Outcomes = Identity, []int64{0, math.MaxInt64} },
		"no link":              func(s *Shape) { s.Link = "probit" },
		"no epochs":            func(s *Shape) { s.Epochs = 0 },
		"one group":            func(s *Shape) { s.Groups = 1 },
		"too many groups":      func(s *Shape) { s.Groups = MostGroups + 1 },
		"no rate":              func(s *Shape) { s.Rate = math.NaN() },
		"rate above 1":         func(s *Shape) { s.Rate = 1.5 },
		"unknown noise":        func(s *Shape) { s.SumVariance = math.NaN() },
		"infinite count noise": func(s *Shape) { s.CountVariance = math.Inf(1) },
	} {
		s := *links[0]
		if change(&s); s.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// manyPairs returns columns with so many pairs.
func manyPairs(n int) (columns []Column, pairs [][2]int) {
	columns = []Column{{Categories: 2}}
	for i := range n {
		columns, pairs = append(columns, Column{Categories: 2}), append(pairs, [2]int{0, i + 1})
	}
	return columns, pairs
}

// TestSumsStayWithinTheirBits: the largest entries of the most tables add up to less than 2³¹.
func TestSumsStayWithinTheirBits(t *testing.T) {
	if sum := int64(1+MostColumns+MostPairs) * mostEntry; sum > math.MaxInt32 {
		t.Errorf("scores reach %d", sum)
	}
}

// TestRoundsAskAboutEveryTable: each column and the target are counted once, and each column and pair has as many
// rounds of residuals as there are epochs.
func TestRoundsAskAboutEveryTable(t *testing.T) {
	s := links[0]
	counted, summed := make([]int, s.Tables()+1), make([]int, s.Tables()+1)
	for round := range s.Rounds() {
		if round < s.CountRounds() {
			counted[s.Column(round)]++
		} else {
			summed[s.Column(round)]++
		}
	}
	if want := []int{1, 1, 1, 1, 0, 0, 0, 1}; !slices.Equal(counted, want) {
		t.Errorf("counted %v times, want %v", counted, want)
	}
	if want := []int{3, 3, 3, 3, 3, 3, 3, 0}; !slices.Equal(summed, want) {
		t.Errorf("summed up %v times, want %v", summed, want)
	}
}

func TestQuestionsAreRefused(t *testing.T) {
	s := links[0]
	first := s.CountRounds()
	fresh := func() Question {
		return Question{Column: 0, Groups: s.Partition(first, [][]int64{make([]int64, 20)}), Scores: zeroScores(s)}
	}
	if err := s.CheckQuestion(first, fresh()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Question){
		"other column":    func(q *Question) { q.Column = 1 },
		"no groups":       func(q *Question) { q.Groups = nil },
		"no scores":       func(q *Question) { q.Scores = nil },
		"counts":          func(q *Question) { q.Groups, q.Scores = nil, nil },
		"group too large": func(q *Question) { q.Groups[19] = s.Groups },
		"negative group":  func(q *Question) { q.Groups[0] = -1 },
		"gap":             func(q *Question) { q.Groups = slices.Repeat([]int{0, 2}, 10) },
		"short table":     func(q *Question) { q.Scores.Tables[1] = q.Scores.Tables[1][1:] },
		"missing table":   func(q *Question) { q.Scores.Tables = q.Scores.Tables[1:] },
		"large entry":     func(q *Question) { q.Scores.Tables[3][7] = mostEntry + 1 },
		"large intercept": func(q *Question) { q.Scores.Intercept = math.MinInt32 },
	} {
		q := fresh()
		if change(&q); s.CheckQuestion(first, q) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, round := range []int{-1, s.Rounds(), first - 1, first + 1} {
		if s.CheckQuestion(round, fresh()) == nil {
			t.Errorf("round %d accepts the question of another", round)
		}
	}
	if err := s.CheckQuestion(0, Question{}); err != nil {
		t.Error(err)
	}
}

// TestSchedules: more signal, more epochs, within the limits whatever is asked.
func TestSchedules(t *testing.T) {
	last := 0
	for _, mu := range []float64{0, 1e-300, .001, .03, .1, .2681, .5, 1, 2, 1e300} {
		for _, columns := range []int{1, 12, MostColumns} {
			for _, rows := range []int64{0, 1, 1000, 32_561, 10_000_000, math.MaxInt64} {
				s := NewSchedule(mu, rows, columns)
				if err := s.Check(); err != nil {
					t.Errorf("μ %v, %d rows, %d columns: %v", mu, rows, columns, err)
				}
				if rows == 32_561 && columns == 12 {
					if s.Epochs < last {
						t.Errorf("μ %v has fewer epochs", mu)
					}
					last = s.Epochs
				}
			}
		}
	}
	if s := NewSchedule(.2681, 32_561, 12); s.Epochs != 30 || s.Rate != .2 {
		t.Errorf("ε = 1 on 32 561 rows: %+v", s)
	}
}

// TestDescents: the descent of every budget is within the limits, and what is beyond them is refused.
func TestDescents(t *testing.T) {
	for _, mu := range []float64{0, 1e-9, 1, 1e9} {
		for _, rows := range []int64{0, 1 << 15, 1 << 60} {
			for _, steps := range []int{1, 50} {
				if d := NewDescent(mu, rows, MostColumns, steps); d.Steps != steps || d.Check() != nil {
					t.Errorf("μ = %v, %d rows: %+v, %v", mu, rows, d, d.Check())
				}
			}
		}
	}
	for name, d := range map[string]Descent{
		"no round":          {Rounds: 0, Steps: 1, Rate: .5},
		"no step":           {Rounds: 1, Steps: 0, Rate: .5},
		"many rounds":       {Rounds: 1025, Steps: 1, Rate: .5},
		"many steps":        {Rounds: 2, Steps: 513, Rate: .5},
		"steps that wrap":   {Rounds: 4, Steps: math.MaxInt/2 + 2, Rate: .5},
		"no rate":           {Rounds: 1, Steps: 1},
		"a rate beyond 1":   {Rounds: 1, Steps: 1, Rate: 1.5},
		"a rate of nothing": {Rounds: 1, Steps: 1, Rate: math.NaN()},
	} {
		if d.Check() == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
