package planner_test

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// Candidates of AIM are all sets of one to so many columns, of MST the pairs, each once; and the weight of one of AIM
// is how many of its columns are in each of the sets that rows are judged by, added up, over what all have in common.
// Sets of given columns alone, which are the last, are none.
func TestCandidatesAndTheirWeights(t *testing.T) {
	for columns := 2; columns <= 6; columns++ {
		for ways := 2; ways <= min(3, columns); ways++ {
			s := plan.Synthetic{Method: plan.AIM, By: make([]plan.Factor, columns), Ways: ways}
			var want [][]int
			for size := 1; size <= ways; size++ {
				for set := range 1 << columns {
					if c := members(set); len(c) == size {
						want = append(want, c)
					}
				}
			}
			slices.SortFunc(want, func(a, b []int) int {
				if len(a) != len(b) {
					return len(a) - len(b)
				}
				return slices.Compare(a, b)
			})
			got := adaptive.Candidates(s)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%d columns, %d ways: %v", columns, ways, got)
			}
			d := s
			if adaptive.CandidateCount(d) != int64(len(want)) {
				t.Errorf("%d columns, %d ways: said to be %d", columns, ways, adaptive.CandidateCount(d))
			}
			for given := 1; given <= columns-2; given++ {
				child, own := s, slices.DeleteFunc(slices.Clone(want),
					func(c []int) bool { return c[0] >= columns-given })
				child.Given, d.Given = given, given
				if got := adaptive.Candidates(child); !slices.EqualFunc(got, own, slices.Equal) ||
					adaptive.CandidateCount(d) != int64(len(own)) {
					t.Errorf("%d columns, %d of them given, %d ways: %v, said to be %d", columns, given, ways, got,
						adaptive.CandidateCount(d))
				}
			}
			var common, most int64
			sums := make([]int64, len(got))
			for i, c := range got {
				for set := range 1 << columns {
					if workload := members(set); len(workload) == ways {
						for _, a := range c {
							if slices.Contains(workload, a) {
								sums[i]++
							}
						}
					}
				}
				common = new(big.Int).GCD(nil, nil, big.NewInt(common), big.NewInt(sums[i])).Int64()
			}
			for i, c := range got {
				most = max(most, sums[i]/common)
				if adaptive.Weight(s, c) != sums[i]/common {
					t.Errorf("%d columns, %d ways: %v weighs %d, not %d/%d", columns, ways, c, adaptive.Weight(s, c),
						sums[i], common)
				}
			}
			if most != int64(ways) {
				t.Errorf("%d columns, %d ways: the largest weight is %d", columns, ways, most)
			}
		}
		s := plan.Synthetic{Method: plan.MST, By: make([]plan.Factor, columns), Ways: 2}
		for _, c := range adaptive.Candidates(s) {
			if len(c) != 2 || adaptive.Weight(s, c) != 1 {
				t.Errorf("a candidate of mst is %v, of weight %d", c, adaptive.Weight(s, c))
			}
		}
		if d := s; len(adaptive.Candidates(s)) != columns*(columns-1)/2 ||
			adaptive.CandidateCount(d) != int64(len(adaptive.Candidates(s))) {
			t.Errorf("%d columns have %d pairs", columns, len(adaptive.Candidates(s)))
		}
	}
}

// members are the places of the bits of a number.
func members(set int) []int {
	var out []int
	for i := 0; set>>i != 0; i++ {
		if set>>i&1 == 1 {
			out = append(out, i)
		}
	}
	return out
}

const aimBudget = "{rho: 1, split: {tables: 1/2, microdata: 1/2}}"

// What a round measures has a name of its own by AIM, also where a choice is made again, and so noise of its own; and
// the cells of its classes.
func TestAnswersOfRounds(t *testing.T) {
	p := plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim}")
	s := p.Synthetic[0]
	all, seen := adaptive.Candidates(s), map[string]bool{}
	age := []int{0, 1, 1, 2, 1, 1, 1, 1, 1, 1}
	for round := range 3 {
		for choice, c := range all {
			cells := []int64{2, 3, 1}
			want := int64(1)
			for _, column := range c {
				want *= cells[column]
			}
			m, err := adaptive.Answer(p, s, round, choice, [][]int{nil, age, nil}, s.Noise)
			if err != nil || m.Cells != want || len(m.Query.Factors) != len(c) || m.Leaf != s.Leaf ||
				m.Query.Table != "t" {
				t.Fatalf("round %d, %v: %+v, %v", round, c, m, err)
			}
			if seen[m.ID] || seen[string(m.Canonical())] {
				t.Errorf("round %d, %v: %s is there twice", round, c, m.ID)
			}
			seen[m.ID], seen[string(m.Canonical())] = true, true
			if _, ok := p.Measurement(m.ID); ok {
				t.Errorf("%s is the name of a column's measurement", m.ID)
			}
			if _, _, _, err := m.Query.Residual(p.Release()); slices.Contains(c, 1) != (err != nil) {
				t.Errorf("%v: as a query of residuals: %v", c, err)
			}
			if sparse, err := adaptive.Answer(p, s, round, choice, nil, s.Noise); err != nil ||
				slices.Contains(c, 1) == (string(sparse.Canonical()) == string(m.Canonical())) {
				t.Errorf("%v: with and without classes: %v", c, err)
			}
		}
	}
	wider := s.Noise
	wider.Parameter = big.NewRat(9, 1)
	if m, err := adaptive.Answer(p, s, 5, 4, nil, wider); err != nil || m.ID != "microdata/t/round6/sex_x_one" ||
		m.Mechanism.Parameter.Cmp(wider.Parameter) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	other := s.Noise
	other.L2Squared, other.L1 = big.NewInt(4), big.NewInt(2)
	for name, c := range map[string]struct {
		round, choice int
		classes       [][]int
		noise         budget.Mechanism
	}{
		"choice":           {0, len(all), nil, s.Noise},
		"choice below 0":   {0, -1, nil, s.Noise},
		"round":            {s.Rounds, 0, nil, s.Noise},
		"round below 0":    {-1, 0, nil, s.Noise},
		"columns":          {0, 0, [][]int{nil, nil}, s.Noise},
		"categories":       {0, 0, [][]int{nil, age[1:], nil}, s.Noise},
		"a class left out": {0, 0, [][]int{{0, 2}, nil, nil}, s.Noise},
		"a class below 0":  {0, 0, [][]int{{0, -1}, nil, nil}, s.Noise},
		"no class 0":       {0, 0, [][]int{{1, 1}, nil, nil}, s.Noise},
		"sensitivity":      {0, 0, nil, other},
		"kind":             {0, 0, nil, s.Select},
		"nothing":          {0, 0, nil, budget.Mechanism{}},
	} {
		if m, err := adaptive.Answer(p, s, c.round, c.choice, c.classes, c.noise); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	mst := plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: mst}")
	if m, err := adaptive.Answer(mst, mst.Synthetic[0], 0, 0, [][]int{nil, age, nil},
		mst.Synthetic[0].Noise); err == nil {
		t.Errorf("classes by mst: %+v", m)
	}
	if m, err := adaptive.Answer(mst, mst.Synthetic[0], 1, 0, nil, mst.Synthetic[0].Noise); err != nil ||
		m.ID != "microdata/t/sex_x_age" {
		t.Errorf("%+v, %v", m, err)
	}
}

// A factor of classes stands in nothing that a plan holds: not in its measurements, and not in the columns of its
// microdata.
func TestMergedFactorsAreRefusedInAPlan(t *testing.T) {
	plain := regexp.MustCompile(`"attribute": "age",(\s+)"basis": "identity"`)
	text := string(plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim}").Bytes())
	if len(plain.FindAllString(text, -1)) < 2 {
		t.Fatal("the plan has no column of ages")
	}
	for _, basis := range []string{"merged", "identity"} {
		forged := plain.ReplaceAllString(text, `"attribute": "age",$1"basis": "`+basis+
			`",$1"classes": "0 0 0 0 0 0 0 0 0 1"`)
		if _, err := compiled.Read([]byte(forged)); err == nil ||
			!strings.Contains(err.Error(), "has not as many answers as its question") {
			t.Errorf("%s: %v", basis, err)
		}
	}
}
