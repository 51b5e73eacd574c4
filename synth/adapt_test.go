package synth

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// asking is one question to an oracle.
type asking struct {
	round, choice int // choice is −1 for a selection
	how           string
	question
}

// recorder keeps the questions to an oracle, and its answers as a journal does.
type recorder struct {
	Oracle
	asked   []asking
	classes [][]int
	choices []int
	answers []measured.Measured
}

func (r *recorder) Merge(classes [][]int) error {
	r.classes = classes
	return r.Oracle.Merge(classes)
}

func (r *recorder) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	r.asked = append(r.asked, asking{round, -1, how.Parameter.RatString(),
		question{slices.Clone(candidates), models, penalties}})
	choice, err := r.Oracle.Select(ctx, round, how, candidates, models, penalties)
	r.choices = append(r.choices, choice)
	return choice, err
}

func (r *recorder) Measure(ctx context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	r.asked = append(r.asked, asking{round: round, choice: choice, how: how.Parameter.RatString()})
	m, err := r.Oracle.Measure(ctx, round, choice, how)
	r.answers = append(r.answers, m)
	return m, err
}

// journal answers with what was recorded.
type journal struct {
	choices []int
	answers []measured.Measured
}

func (j journal) Merge([][]int) error { return nil }

func (j journal) Select(_ context.Context, round int, _ budget.Mechanism, _ []int, _ [][]int64, _ []int64) (int,
	error) {
	return j.choices[round], nil
}

func (j journal) Measure(_ context.Context, round, _ int, _ budget.Mechanism) (measured.Measured, error) {
	return j.answers[round], nil
}

// correlatedRows returns 500 rows of five columns: the second and fourth column follow the first, the last the third.
func correlatedRows() (sizes []int, codes [][]uint32) {
	sizes = []int{4, 4, 3, 2, 3}
	codes = make([][]uint32, len(sizes))
	r := seededStream([32]byte{20})
	for range 500 {
		a, c := uint32(r.below(4)), uint32(r.below(3))
		for i, code := range []uint32{a, (a + 1) % 4, c, a / 2, 2 - c} {
			codes[i] = append(codes[i], code)
		}
	}
	return sizes, codes
}

func adaptCorrelated(t *testing.T, key byte) (setting, []measured.Measured, *recorder, []measured.Round) {
	t.Helper()
	sizes, codes := correlatedRows()
	s := plannedSetting(t, sizes, 0, big.NewRat(9, 1), big.NewRat(9, 1), big.NewRat(2, 1))
	o := newExact(s, codes, noise.Key{key})
	columns := o.measureColumns(t)
	r := &recorder{Oracle: o}
	rounds, err := Adapt(context.Background(), s.plan, s.synthetic, columns, r)
	if err != nil {
		t.Fatal(err)
	}
	return s, columns, r, rounds.All
}

// TestAdaptReplays: answered from a journal, the method asks the same questions and ends with the same rounds.
func TestAdaptReplays(t *testing.T) {
	s, columns, first, rounds := adaptCorrelated(t, 1)
	second := &recorder{Oracle: journal{first.choices, first.answers}}
	again, err := Adapt(context.Background(), s.plan, s.synthetic, columns, second)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.asked, second.asked) {
		t.Error("the method asks something else when it is answered from a journal")
	}
	if !reflect.DeepEqual(rounds, again.All) {
		t.Error("the rounds differ")
	}
}

// TestAdaptAsks: every round selects and then measures its choice; candidates are all pairs that close no cycle with
// those before, in order; and each comes with as many counts as it has cells, within bounds.
func TestAdaptAsks(t *testing.T) {
	s, _, r, rounds := adaptCorrelated(t, 2)
	pairs := adaptive.Candidates(s.synthetic)
	if len(rounds) != 4 || len(r.asked) != 8 {
		t.Fatalf("%d rounds of %d questions, expected 4 of 8", len(rounds), len(r.asked))
	}
	for round, done := range rounds {
		selection, measurement := r.asked[2*round], r.asked[2*round+1]
		if selection.round != round || measurement.round != round || measurement.choice != done.Choice ||
			r.choices[round] != done.Choice {
			t.Errorf("round %d measures %d, having chosen %d", round, measurement.choice, r.choices[round])
		}
		var want []int
		for i, pair := range pairs {
			if !areLinked(pairs, rounds[:round], pair[0], pair[1]) {
				want = append(want, i)
			}
		}
		if !slices.Equal(selection.candidates, want) {
			t.Errorf("round %d: candidates %v, expected %v", round, selection.candidates, want)
		}
		for i, model := range selection.models {
			pair := pairs[selection.candidates[i]]
			if len(model) != s.sizes[pair[0]]*s.sizes[pair[1]] || slices.Min(model) < 0 || slices.Max(model) > 1<<50 {
				t.Errorf("round %d: the model of pair %v is %v", round, pair, model)
			}
		}
	}
}

// areLinked reports whether rounds link one column to another.
func areLinked(pairs [][]int, rounds []measured.Round, from, to int) bool {
	reached := []int{from}
	for i := 0; i < len(reached); i++ {
		for _, r := range rounds {
			for side, column := range pairs[r.Choice] {
				if other := pairs[r.Choice][1-side]; column == reached[i] && !slices.Contains(reached, other) {
					reached = append(reached, other)
				}
			}
		}
	}
	return slices.Contains(reached, to)
}

// TestAdaptFindsTheTree: with little noise the tree has pairs that depend on each other, as long as there are any. Of
// 500 rows such a pair is at least 500 in L1 from independence, and any other at most some 80, so that at an ε of 2 one
// of the others is chosen with a probability of about e⁻⁴⁰⁰.
func TestAdaptFindsTheTree(t *testing.T) {
	s, _, _, rounds := adaptCorrelated(t, 3)
	for i, r := range rounds[:3] {
		pair := adaptive.Candidates(s.synthetic)[r.Choice]
		if first := []int{0, 0, 1, 0, 1}; first[pair[0]] != first[pair[1]] {
			t.Errorf("round %d chose columns %v, which do not depend on each other", i, pair)
		}
	}
}

// TestAdaptModels compares with models computed by hand. Noise has a variance of 1. The columns sum to 40, 40 and 80,
// with variances 2, 3 and 2: the total is (40/2 + 40/3 + 80/2)/(1/2 + 1/3 + 1/2) = 55. Each column is moved to it by
// the same number in all its categories: 37.5 and 17.5; 25, 25 and 5; 47.5 and 7.5. All are above 3.
func TestAdaptModels(t *testing.T) {
	s := plannedSetting(t, []int{2, 3, 2}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	columns := s.sealedAnswers(t, [][]int64{{30, 10}, {20, 20, 0}, {60, 20}}, nil).Measured
	r := &recorder{Oracle: journal{choices: []int{7}}}
	if _, err := Adapt(context.Background(), s.plan, s.synthetic, columns, r); err == nil {
		t.Fatal("a choice that was no candidate is taken")
	}
	fitted := [][]float64{{37.5, 17.5}, {25, 25, 5}, {47.5, 7.5}}
	for i, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		var want []int64
		for _, a := range fitted[pair[0]] {
			for _, b := range fitted[pair[1]] {
				want = append(want, int64(a*b/55*adaptive.ModelScale+0.5))
			}
		}
		if !slices.Equal(r.asked[0].models[i], want) {
			t.Errorf("pair %v: model %v, expected %v", pair, r.asked[0].models[i], want)
		}
	}
}

// TestAdaptModelsAreBounded: counts that no table can have still give models within bounds.
func TestAdaptModelsAreBounded(t *testing.T) {
	s := plannedSetting(t, []int{2, 2}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	for _, c := range []struct {
		columns [][]int64
		want    []int64
	}{
		{[][]int64{{0, 0}, {0, 0}}, []int64{256, 256, 256, 256}}, // a total of at least 1
		{[][]int64{{-5e6, -5e6}, {-7e6, -7e6}}, []int64{256, 256, 256, 256}},
		{[][]int64{{1 << 61, 0}, {1 << 61, 0}}, []int64{1 << 50, 0, 0, 0}},
	} {
		r := &recorder{Oracle: journal{choices: []int{7}}}
		_, err := Adapt(context.Background(), s.plan, s.synthetic, s.sealedAnswers(t, c.columns, nil).Measured, r)
		if err == nil || !slices.Equal(r.asked[0].models[0], c.want) {
			t.Errorf("%v: models %v, expected %v", c.columns, r.asked[0].models[0], c.want)
		}
	}
}

func TestAdaptRefuses(t *testing.T) {
	s := plannedSetting(t, []int{2, 3}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	sealed := s.sealedAnswers(t, [][]int64{{3, 4}, {1, 2, 3}},
		map[[2]int][]int64{{0, 1}: {0, 1, 2, 1, 1, 1}}, [2]int{0, 1})
	columns, answer := sealed.Measured, sealed.Rounds[0].All[0].Measured
	good := journal{[]int{0}, []measured.Measured{answer}}
	if _, err := Adapt(context.Background(), s.plan, s.synthetic, columns, good); err != nil {
		t.Fatal(err)
	}
	short := withAnswers(answer.Measurement, []int64{1, 2, 3})
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		columns []measured.Measured
		oracle  Oracle
		want    string
	}{
		"a column too few":     {columns[:1], good, "1 are measured"},
		"columns out of order": {[]measured.Measured{columns[1], columns[0]}, good, "is expected"},
		"a column cut short": {[]measured.Measured{columns[0], withAnswers(columns[1].Measurement, []int64{1, 2})},
			good,
			"3 answers"},
		"no such candidate":   {columns, journal{[]int{1}, nil}, "not among the candidates"},
		"another answer":      {columns, journal{[]int{0}, columns[:1]}, "is expected"},
		"an answer cut short": {columns, journal{[]int{0}, []measured.Measured{short}}, "6 answers"},
		"no selection":        {columns, failing{gone, nil}, "gone"},
		"no measurement":      {columns, failing{nil, gone}, "gone"},
	} {
		rounds, err := Adapt(context.Background(), s.plan, s.synthetic, c.columns, c.oracle)
		if err == nil || !strings.Contains(err.Error(), c.want) || rounds.All != nil {
			t.Errorf("%s: error %v, expected one with %q", name, err, c.want)
		}
		if _, ok := c.oracle.(failing); ok && !errors.Is(err, gone) {
			t.Errorf("%s: the oracle's error is lost in %v", name, err)
		}
	}
}

// failing is an oracle that fails.
type failing struct{ selecting, measuring error }

func (f failing) Merge([][]int) error { return nil }

func (f failing) Select(_ context.Context, _ int, _ budget.Mechanism, candidates []int, _ [][]int64, _ []int64) (int,
	error) {
	return candidates[0], f.selecting
}

func (f failing) Measure(context.Context, int, int, budget.Mechanism) (measured.Measured, error) {
	return measured.Measured{}, f.measuring
}

// TestAdaptKeepsToItsRounds: a plan with fewer rounds than a tree has pairs asks for no more.
func TestAdaptKeepsToItsRounds(t *testing.T) {
	s := plannedSetting(t, []int{2, 2, 2}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	s.synthetic.Rounds = 1
	sealed := s.sealedAnswers(t, [][]int64{{3, 4}, {1, 2}, {5, 6}}, map[[2]int][]int64{{0, 2}: {0, 1, 2, 1}},
		[2]int{0, 2})
	r := &recorder{Oracle: journal{[]int{1}, []measured.Measured{sealed.Rounds[0].All[0].Measured}}}
	rounds, err := Adapt(context.Background(), s.plan, s.synthetic, sealed.Measured, r)
	if err != nil || len(rounds.All) != 1 || len(r.asked) != 2 {
		t.Errorf("%d rounds of %d questions, error %v", len(rounds.All), len(r.asked), err)
	}
}

// TestAdaptAlone: one column has no pair to ask for.
func TestAdaptAlone(t *testing.T) {
	s := plannedSetting(t, []int{3}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	columns := s.sealedAnswers(t, [][]int64{{3, 4, 5}}, nil).Measured
	rounds, err := Adapt(context.Background(), s.plan, s.synthetic, columns, journal{})
	if err != nil || len(rounds.All) != 0 {
		t.Errorf("%d rounds, error %v", len(rounds.All), err)
	}
}
