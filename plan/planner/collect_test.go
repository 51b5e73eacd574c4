package planner_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/strategy"
)

// TestRandomisersOfAPlan compares probabilities, chances and standard errors with their formulas.
func TestRandomisersOfAPlan(t *testing.T) {
	for _, epsilon := range []string{"1/10", "1", "2", "5", "10"} {
		for _, sizes := range [][]int{{2}, {600}, {2, 3, 17}, {2, 100, 512, 513, 5000}} {
			p := collectionOf(t, "epsilon: "+epsilon+", expect: 30000", sizes, nil)
			drawn, sum, spent := p.Measurements[0].IsDrawn(), int64(0), new(big.Rat)
			for i, a := range askedOf(p) {
				m := p.Measurements[i]
				r, _ := m.Reports()
				sum += r.Chance
				spent.Add(spent, m.Mechanism.Parameter)
				e, _ := m.Mechanism.Parameter.Float64()
				what := fmt.Sprintf("ε = %s, %v, %s", epsilon, sizes, m.ID)
				if m.IsDrawn() != drawn {
					t.Errorf("%s: some questions are drawn", what)
				}
				wantP := a.w * math.Exp(e) / (a.w*math.Exp(e) + a.k - a.w)
				if math.Abs(a.p-wantP) > 1e-13 || a.p > wantP+1e-15 || int(m.Cells) != sizes[i] ||
					(r.Form == counted.Set) != (m.Cells <= 512) || r.Form == counted.Set && r.Categories != m.Cells {
					t.Errorf("%s: p = %.16g, want %.16g; %+v", what, a.p, wantP, r)
				}
				checkSupport(t, what, a, math.Exp(e))
				s := p.Tables[i].Statistics[0]
				even, worst := math.Sqrt(a.sampledVariance(1/float64(m.Cells), 30_000)),
					math.Sqrt(a.worstVariance(30_000))
				if !isRoundedUp(s.StandardError, even) || !isRoundedUp(s.Margin, normal95*worst) {
					t.Errorf("%s: standard error %g, margin %g, want %g, %g", what, s.StandardError, s.Margin, even,
						normal95*worst)
				}
			}
			total, _ := new(big.Rat).SetString(epsilon)
			if drawn && sum != certainty || !drawn && (sum != 0 || spent.Cmp(total) != 0) {
				t.Errorf("ε = %s, %v: chances add up to %d, ε to %s", epsilon, sizes, sum, spent)
			}
		}
	}
}

// TestSharesFollowWeights compares the shares with the weights of the marginals. They are equal without weights.
func TestSharesFollowWeights(t *testing.T) {
	sizes := []int{2, 5, 40, 600}
	for _, c := range []struct {
		with   map[int]string
		shares []float64
	}{
		{nil, []float64{1. / 4, 1. / 4, 1. / 4, 1. / 4}},
		{map[int]string{5: ", weight: 3", 600: ", weight: 0.25"}, []float64{4. / 21, 12. / 21, 4. / 21, 1. / 21}},
		{map[int]string{2: ", weight: 1e-3", 5: ", weight: 1e-3", 40: ", weight: 1e-3"},
			[]float64{1e-3 / 1.003, 1e-3 / 1.003, 1e-3 / 1.003, 1 / 1.003}},
	} {
		p := collectionOf(t, "epsilon: 1, expect: 30000", sizes, c.with)
		for i, a := range askedOf(p) {
			if !p.Measurements[i].IsDrawn() || math.Abs(a.share-c.shares[i]) > 1e-13 {
				t.Errorf("%v: question %d has the share %g, want %g", c.with, i, a.share, c.shares[i])
			}
		}
		if p.Strategies[0].Kind != strategy.DrawnQuestions {
			t.Errorf("%v: %s", c.with, p.Strategies[0].Kind)
		}
	}
}

// TestTargetsOfQuestionsAreMet gives a question the share that its target takes, and no more, and the others what is
// left in the old proportions.
func TestTargetsOfQuestionsAreMet(t *testing.T) {
	sizes := []int{2, 6, 40}
	free := askedOf(collectionOf(t, "epsilon: 2, expect: 100000", sizes, nil))
	for _, margin := range []float64{1000, 600, 400, 300} {
		p := collectionOf(t, "epsilon: 2, expect: 100000", sizes,
			map[int]string{2: fmt.Sprintf(", target: {margin: %g}", margin)})
		all, target := askedOf(p), p.Tables[0].Target
		reached := normal95 * math.Sqrt(all[0].worstVariance(100_000))
		if target == nil || !isNearly(target.Reached, reached) || reached > margin && !isNearly(reached, margin) {
			t.Errorf("target ±%g: reached %g, the plan says %+v", margin, reached, target)
		}
		if enough := normal95 * math.Sqrt(free[0].worstVariance(100_000)); enough > margin &&
			!isNearly(reached, margin) ||
			enough < margin && all[0].share != free[0].share {
			t.Errorf("target ±%g: share %g reaches %g; without it %g reaches %g", margin, all[0].share, reached,
				free[0].share,
				enough)
		}
		if math.Abs(all[1].share/all[2].share/(free[1].share/free[2].share)-1) > 1e-9 {
			t.Errorf("target ±%g: the others have %g and %g", margin, all[1].share, all[2].share)
		}
	}
}

// TestMissedTargetsOfQuestionsAreRefused asks for more than the respondents give: of one question, of two that each
// alone would have enough, and of one that leaves nothing to the others.
func TestMissedTargetsOfQuestionsAreRefused(t *testing.T) {
	// all 100 000 reach ±263.7 with two categories at ε = 2, and ±378.5 with three
	for _, c := range []struct {
		sizes   []int
		margins map[int]string
		says    string // "" if it is planned
	}{
		{[]int{2}, map[int]string{2: "263"}, "000 respondents reach ±263.7 in q2"},
		{[]int{2}, map[int]string{2: "264"}, ""},
		{[]int{2, 6, 40}, map[int]string{2: "200"}, "marginals.q2.target: at ε = 2, "},
		{[]int{2, 6, 40}, map[int]string{2: "263"}, "marginals.q2.target"},
		{[]int{2, 6, 40}, map[int]string{2: "264"}, ""},
		{[]int{2, 3}, map[int]string{2: "330", 3: "500"}, "marginals.q"},
		{[]int{2, 3}, map[int]string{2: "600", 3: "900"}, ""},
	} {
		with := map[int]string{}
		for k, margin := range c.margins {
			with[k] = ", target: {margin: " + margin + "}"
		}
		_, err := plantest.PlanOfText(t, collectionText("epsilon: 2, expect: 100000", c.sizes, with))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want: %s", c.margins, err, c.says)
		}
	}
}

// TestAllQuestionsAreAskedWhereNoneIsWorse plans at many ε, and compares the variances of both ways, of a category of
// average size and of the worst one, by formulas of its own: all questions are asked if that makes none larger.
func TestAllQuestionsAreAskedWhereNoneIsWorse(t *testing.T) {
	drawn, full := 0, 0
	for _, sizes := range [][]int{{2, 3}, {3, 4, 5}, {2, 3, 17}, {5, 40, 100}, {2, 600}} {
		for _, epsilon := range []string{"1/2", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
			p := collectionOf(t, "epsilon: "+epsilon+", expect: 30000", sizes, nil)
			total, _ := new(big.Rat).SetString(epsilon)
			e, _ := total.Float64()
			want := true // all are asked
			for _, k := range sizes {
				n := float64(len(sizes))
				one, all := best(k, e), best(k, e/n)
				one.share = 1 / n
				f := 1 / float64(k)
				want = want && all.sampledVariance(f, 1) <= one.sampledVariance(f, 1) &&
					all.worstVariance(1) <= one.worstVariance(1)
			}
			if p.Measurements[0].IsDrawn() == want || want != (p.Strategies[0].Kind == strategy.AllQuestions) {
				t.Errorf("%v, ε = %s: all are asked %t, strategy %s", sizes, epsilon, want, p.Strategies[0].Kind)
			}
			if want {
				full++
			} else {
				drawn++
			}
		}
	}
	if drawn < 10 || full < 10 {
		t.Errorf("%d plans draw questions, %d ask all", drawn, full)
	}
}

// TestEditedCollectionsAreRefused reads the bytes of a plan back, and changes the numbers that devices use.
func TestEditedCollectionsAreRefused(t *testing.T) {
	for _, epsilon := range []string{"2", "10"} {
		p := collectionOf(t, "epsilon: "+epsilon+", expect: 30000, shuffled: true, honest: 1000", []int{3, 600}, nil)
		read, err := compiled.Read(p.Bytes())
		if err != nil || read.Hash() != p.Hash() {
			t.Fatalf("%v", err)
		}
		if _, err := planner.Verify(read); err != nil {
			t.Error(err)
		}
		r, _ := p.Measurements[1].Reports()
		edits := map[string]string{
			fmt.Sprintf(`"keep": %d`, r.Keep):             fmt.Sprintf(`"keep": %d`, r.Keep+1),
			fmt.Sprintf(`"support": %d`, r.Support):       fmt.Sprintf(`"support": %d`, r.Support+1),
			fmt.Sprintf(`"categories": %d`, r.Categories): `"categories": 607`,
			`"form": "permuted"`:                          `"form": "set"`,
			`"kind": "subset-selection"`:                  `"kind": "discrete-laplace"`,
			`"honest": 1000`:                              `"honest": 999`,
			`"delta": "1/1000000000"`:                     `"delta": "1/1000"`,
			`"epsilon": "` + epsilon + `"`:                `"epsilon": "1"`,
			`"parameter": "`:                              `"parameter": "1`,
		}
		if r.Chance > 0 {
			edits[fmt.Sprintf(`"chance": %d`, r.Chance)] = fmt.Sprintf(`"chance": %d`, r.Chance+1)
		}
		for old, changed := range edits {
			edited := strings.Replace(string(p.Bytes()), old, changed, 1)
			if edited == string(p.Bytes()) {
				t.Errorf("ε = %s: the plan does not hold %s\n%s", epsilon, old, p.Bytes())
				continue
			}
			if _, err := planner.Read([]byte(edited)); err == nil {
				t.Errorf("%s for %s is read", changed, old)
			}
			if read, err := compiled.Read([]byte(edited)); err == nil {
				if _, err = planner.Verify(read); !errors.Is(err, plan.ErrEdited) {
					t.Errorf("%s for %s: %v", changed, old, err)
				}
			}
		}
	}
}

// TestReportsThatCostMoreAreNoPlan changes a plan in memory, where nothing is planned again: a randomiser that would
// cost more than its ε, or is of another question, is refused where plans are written.
func TestReportsThatCostMoreAreNoPlan(t *testing.T) {
	for what, change := range map[string]func(r *counted.Reports){
		"as it is":        func(*counted.Reports) {},
		"keeps more":      func(r *counted.Reports) { r.Keep += 1 << 20 },
		"other support":   func(r *counted.Reports) { r.Support++ },
		"categories":      func(r *counted.Reports) { r.Categories++ },
		"form":            func(r *counted.Reports) { r.Form = counted.Permuted },
		"tells the truth": func(r *counted.Reports) { r.Keep = certainty },
	} {
		p := collectionOf(t, "epsilon: 1, expect: 30000", []int{3}, nil)
		r, _ := p.Measurements[0].Reports()
		change(&r)
		p.Measurements[0].Query.Counted = r
		_, err := compiled.Of(p).Copy()
		if (err == nil) != (what == "as it is") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
