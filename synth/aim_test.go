package synth

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth/graphical"
)

// aimSetting returns a plan of method aim with this ρ for the microdata.
func aimSetting(t testing.TB, sizes []int, rho *big.Rat) setting {
	t.Helper()
	return halfForMicrodata(t, sizes, rho, plan.AIM)
}

// aimRelease seals a release of correlated rows, and returns it with all questions of the method.
func aimRelease(t testing.TB, key byte) (setting, *measured.Sealed, *recorder) {
	t.Helper()
	sizes, codes := correlatedRows()
	s := aimSetting(t, sizes, big.NewRat(2, 1))
	o := newExact(s, codes, noise.Key{key})
	r := &recorder{Oracle: o}
	out := &measured.Sealed{Plan: compiled.Of(s.plan), Measured: o.measureColumns(t)}
	rounds, err := Adapt(context.Background(), s.plan, s.synthetic, out.Measured, r)
	if err != nil {
		t.Fatal(err)
	}
	out.Rounds = []measured.Rounds{rounds}
	return s, out, r
}

// TestAIMReplays: answered from a journal, the method asks the same questions and ends with the same rounds; the plan
// allows all questions.
func TestAIMReplays(t *testing.T) {
	s, out, first := aimRelease(t, 1)
	second := &recorder{Oracle: journal{first.choices, first.answers}}
	again, err := Adapt(context.Background(), s.plan, s.synthetic, out.Measured, second)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.asked, second.asked) || !reflect.DeepEqual(first.classes, second.classes) {
		t.Error("the method asks something else when it is answered from a journal")
	}
	if !reflect.DeepEqual(out.Rounds[0], again) {
		t.Error("the rounds differ")
	}
	if err := measured.Allowed(s.plan, s.synthetic, again); err != nil {
		t.Error(err)
	}
}

// TestAIMFindsWhatDepends: with little noise the first rounds ask for columns that depend on each other. Such a set is
// hundreds of rows in L1 from independence, and no other set a hundred: the chance of another choice is below e⁻²⁰.
func TestAIMFindsWhatDepends(t *testing.T) {
	s, out, _ := aimRelease(t, 2)
	first := adaptive.Candidates(s.synthetic)[out.Rounds[0].All[0].Choice]
	kind := []int{0, 0, 1, 0, 1}
	joined := false
	for i := range first {
		for j := range i {
			joined = joined || kind[first[i]] == kind[first[j]]
		}
	}
	if !joined {
		t.Errorf("the first round asks for columns %v, which do not depend on each other", first)
	}
	m, err := Draw(t.Context(), out, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkMicrodata(t, s, m)
	// The fourth column is half the first, exactly. Only noise makes rows that violate that; its deviation in a cell
	// of a pair is below 3 here: 8 cells and 8 deviations.
	broken := 0
	for row, a := range m.Codes[0] {
		if m.Codes[3][row] != a/2 {
			broken++
		}
	}
	if broken > 100 {
		t.Errorf("%d of %d rows do not keep to what one column decides of another", broken, m.Rows)
	}
}

// TestAIMOnOneAndTwoCores: questions and rows are the same, to the bit.
func TestAIMOnOneAndTwoCores(t *testing.T) {
	run := func(cores int) ([]asking, [][]uint32) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		_, out, r := aimRelease(t, 3)
		m, err := Draw(t.Context(), out, 0)
		if err != nil {
			t.Fatal(err)
		}
		return r.asked, m.Codes
	}
	asked, codes := run(1)
	again, same := run(2)
	if !reflect.DeepEqual(asked, again) {
		t.Error("one core and two ask something else")
	}
	if !reflect.DeepEqual(codes, same) {
		t.Error("one core and two draw other rows")
	}
}

// TestAIMRefusesRounds: no rows are drawn from rounds that the method does not make.
func TestAIMRefusesRounds(t *testing.T) {
	_, out, _ := aimRelease(t, 4)
	made := out.Rounds[0]
	for name, c := range map[string]struct {
		change func(r *measured.Rounds)
		want   string
	}{
		"other classes": {func(r *measured.Rounds) { r.Classes[0] = make([]int, len(r.Classes[0])) },
			"classes"},
		"no classes":            {func(r *measured.Rounds) { r.Classes = nil }, "classes"},
		"no rounds":             {func(r *measured.Rounds) { r.All = nil }, "no rounds"},
		"a round less":          {func(r *measured.Rounds) { r.All = r.All[:len(r.All)-1] }, "last"},
		"a round more":          {func(r *measured.Rounds) { r.All = append(r.All, r.All[0]) }, "last"},
		"no such choice":        {func(r *measured.Rounds) { r.All[1].Choice = 1 << 20 }, "was not to be chosen"},
		"a negative choice":     {func(r *measured.Rounds) { r.All[1].Choice = -1 }, "was not to be chosen"},
		"another choice":        {func(r *measured.Rounds) { r.All[1].Choice ^= 1 }, ""},
		"the answer of a round": {func(r *measured.Rounds) { r.All[1].Measured = r.All[0].Measured }, "is expected"},
		"a mechanism of its own": {func(r *measured.Rounds) { r.All[1].Mechanisms.Select.Parameter = big.NewRat(7, 1) },
			"do not follow"},
	} {
		r := measured.Rounds{All: slices.Clone(made.All)}
		for _, of := range made.Classes {
			r.Classes = append(r.Classes, slices.Clone(of))
		}
		c.change(&r)
		forged := *out
		forged.Rounds = []measured.Rounds{r}
		if _, err := Draw(t.Context(), &forged, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", name, err, c.want)
		}
	}
}

// stubborn answers every question with one number, and chooses the last candidate.
type stubborn struct {
	setting
	value   int64
	classes [][]int
}

func (o *stubborn) Merge(classes [][]int) error {
	o.classes = classes
	return nil
}

func (o *stubborn) Select(_ context.Context, _ int, _ budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	for i, model := range models {
		if slices.Min(model) < 0 || slices.Max(model) > 1<<50 || penalties[i] < 0 || penalties[i] > 1<<60 {
			return 0, fmt.Errorf("the model of %d is %v, the penalty %d", candidates[i], model, penalties[i])
		}
	}
	return candidates[len(candidates)-1], nil
}

func (o *stubborn) Measure(_ context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	m, err := adaptive.Answer(o.plan, o.synthetic, round, choice, o.classes, how)
	if err != nil {
		return measured.Measured{}, err
	}
	return withAnswers(m, slices.Repeat([]int64{o.value}, int(m.Cells))), nil
}

// TestAIMAlwaysDraws: whatever the answers, there are rows and finite figures: for all-zero, negative and huge counts,
// for columns with one category and with 500.
func TestAIMAlwaysDraws(t *testing.T) {
	for _, sizes := range [][]int{{1, 1, 1}, {2, 500, 2}} {
		for _, column := range []int64{0, -1e6, 1 << 50} {
			for _, value := range []int64{0, -1e6, 1 << 55} {
				s := aimSetting(t, sizes, big.NewRat(1, 2))
				o := &stubborn{setting: s, value: value}
				out := &measured.Sealed{Plan: compiled.Of(s.plan)}
				for i, n := range sizes {
					answers := slices.Repeat([]int64{0}, n)
					answers[n/2] = column
					out.Measured = append(out.Measured, withAnswers(s.column[i], answers))
				}
				rounds, err := Adapt(context.Background(), s.plan, s.synthetic, out.Measured, o)
				if err != nil {
					t.Fatalf("%v, columns %d, answers %d: %v", sizes, column, value, err)
				}
				out.Rounds = []measured.Rounds{rounds}
				if total, _ := totalOf(out.Measured); total > 1e6 {
					continue
				}
				m, err := Draw(t.Context(), out, 0)
				if err != nil {
					t.Fatalf("%v, columns %d, answers %d: %v", sizes, column, value, err)
				}
				checkMicrodata(t, s, m)
				if want := max(0, int(math.Floor(m.Total+0.5))); m.Rows != want {
					t.Errorf("%d rows, expected %d", m.Rows, want)
				}
			}
		}
	}
}

// TestAIMOfOneRow: a table of one row makes microdata of about one row.
func TestAIMOfOneRow(t *testing.T) {
	sizes := []int{2, 3, 4}
	s := aimSetting(t, sizes, big.NewRat(2, 1))
	out, _ := s.sealRelease(t, [][]uint32{{1}, {2}, {3}}, noise.Key{5})
	m, err := Draw(t.Context(), out, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkMicrodata(t, s, m)
}

// TestAIMKeepsToItsCap: no set is asked for with which the model would exceed its limit; if none fits, sets are asked
// for that the model contains anyway.
func TestAIMKeepsToItsCap(t *testing.T) {
	sizes := []int{4, 4, 4, 4}
	for _, c := range []struct {
		most plan.ModelSize
		ways int // the most columns in a question
	}{
		{plan.ModelSize{Cells: 1, Largest: 1}, 1},
		{plan.ModelSize{Cells: 1 << 20, Largest: 16}, 2},
		{plan.ModelSize{Cells: 1 << 20, Largest: 64}, 3},
	} {
		s := aimSetting(t, sizes, big.NewRat(2, 1))
		s.synthetic.LargestModel = &c.most
		s.plan.Synthetic[0].LargestModel = &c.most
		o := &stubborn{setting: s, value: 10}
		out := &measured.Sealed{Plan: compiled.Of(s.plan)}
		for i, n := range sizes {
			out.Measured = append(out.Measured, withAnswers(s.column[i], slices.Repeat([]int64{40}, n)))
		}
		rounds, err := Adapt(context.Background(), s.plan, s.synthetic, out.Measured, o)
		if err != nil {
			t.Fatal(err)
		}
		ways := 0
		for _, r := range rounds.All {
			ways = max(ways, len(adaptive.Candidates(s.synthetic)[r.Choice]))
		}
		if ways != c.ways {
			t.Errorf("with %+v sets of %d columns are asked for, expected %d", c.most, ways, c.ways)
		}
		columns, err := newAIM(t.Context(), s.synthetic, out.Measured)
		if err == nil {
			err = columns.replay(t.Context(), s.plan, s.synthetic, rounds)
		}
		if err != nil {
			t.Fatal(err)
		}
		most := graphical.Size{Total: float64(c.most.Cells), Largest: float64(c.most.Largest)}
		if size := columns.model.Size(); c.most.Cells > 1 && !size.FitsIn(most) {
			t.Errorf("the model has %v, which is more than %v", size, most)
		}
	}
}

// TestAIMCountsGivenColumnsTogether: if the model has a pair of a column and a given one, a pair with another given
// column makes a table of all three. It is not a candidate if there is no room for that table, and no rows are drawn
// from a journal in which it was chosen.
func TestAIMCountsGivenColumnsTogether(t *testing.T) {
	for given, want := range []bool{true, true, false} {
		s := aimSetting(t, []int{4, 4, 4, 4}, big.NewRat(2, 1))
		s.synthetic.Given, s.synthetic.LargestModel = given, &plan.ModelSize{Cells: 1 << 20, Largest: 16}
		var columns []measured.Measured
		for i := range s.sizes {
			columns = append(columns, withAnswers(s.column[i], slices.Repeat([]int64{4000}, 4)))
		}
		a, err := newAIM(t.Context(), s.synthetic, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range []graphical.Clique{{0, 2}, {1, 2}} {
			a.model.Measure(pair, slices.Repeat([]float64{1000}, 16), slices.Repeat([]float64{1}, 16))
		}
		pair := slices.IndexFunc(a.candidates,
			func(c graphical.Clique) bool { return slices.Equal(c, graphical.Clique{0, 3}) })
		turn, _ := a.schedule.Next()
		if q := a.questionFor(t.Context(), turn); slices.Contains(q.candidates, pair) != want || len(q.candidates) < 3 {
			t.Errorf("%d given: %d candidates, the pair among them: %t", given, len(q.candidates), !want)
		}
		choice := []measured.Round{{Choice: pair, Mechanisms: turn}}
		err = a.replay(t.Context(), s.plan, s.synthetic, measured.Rounds{Classes: a.categoryClasses(), All: choice})
		if err == nil || strings.Contains(err.Error(), "was not to be chosen") == want {
			t.Errorf("%d given: %v", given, err)
		}
	}
}

// TestModelRowsAreTheModel: if as many rows are drawn as a model has, the counts of every clique of its tree are those
// that the model expects to within a row for each column of the clique.
func TestModelRowsAreTheModel(t *testing.T) {
	r := seededStream([32]byte{40})
	for range 20 {
		var d graphical.Domain
		for range 5 {
			d = append(d, 1+int(r.below(4)))
		}
		m := graphical.New(d, nil, 200)
		for range 5 {
			a, b := int(r.below(4)), 0
			b = a + 1 + int(r.below(uint64(4-a)))
			c := graphical.Clique{a, b}
			noisy, variance := make([]float64, d[a]*d[b]), make([]float64, d[a]*d[b])
			for i := range noisy {
				noisy[i], variance[i] = 400*r.unit()/float64(len(noisy)), 1
			}
			m.Measure(c, noisy, variance)
		}
		m.Fit(t.Context(), 20)
		codes := make([][]uint32, len(d))
		drawModel(t.Context(), m, d, codes, 200, r)
		for _, c := range m.Tree().Cliques {
			rows := countCodes(d, codes, c)
			for cell, want := range m.Marginal(c) {
				if math.Abs(float64(rows[cell])-want) > float64(len(c))+1e-6 {
					t.Fatalf("%v of %v: %d rows in cell %d, where %v are expected", c, d, rows[cell], cell, want)
				}
			}
		}
	}
}
