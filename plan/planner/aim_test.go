package planner_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/spec"
)

// A fifth of the leaf goes to the columns, the rest to at most eight rounds for each, of which the first has what it
// would if all were alike, and of that a tenth for its choice; the whole is what the steps cost one by one, in exact
// rationals, whatever the answers were.
func TestAIMSpendsItsLeaf(t *testing.T) {
	for n, b := range map[string]string{"replace": "{rho: 1/10, split: {tables: 2/7, microdata: 5/7}}",
		"add-remove": "{epsilon: 2, delta: 1e-9, split: {tables: 2/7, microdata: 5/7}}"} {
		p := plantest.MicrodataOf(t, n, b, "{id: who, max_rows: 3}", "{budget: microdata, method: aim}")
		s, leaf := p.Synthetic[0], new(big.Rat).Mul(p.Cost.Rho, big.NewRat(5, 7))
		if s.Rounds != 24 || s.Method != plan.AIM || s.Ways != 3 || s.Why != nil ||
			*s.LargestModel != (plan.ModelSize{Cells: 1 << 19, Largest: 1 << 18}) || len(p.ColumnsOf(0)) != 3 {
			t.Fatalf("%s %s: %+v", b, n, s)
		}
		columns := new(big.Rat)
		for i, m := range p.Measurements[len(p.Measurements)-3:] {
			l2 := squareNorm(n, 3)
			if m.Cells == 1 {
				l2 = 9
			}
			rho := new(big.Rat).Quo(big.NewRat(l2, 2), m.Mechanism.Parameter)
			plantest.Within(t, m.ID, rho, plantest.Scaled(leaf, 1, 15))
			if m.ID != s.Column(i) || m.Query.Factors[0] != s.By[i] || m.Leaf != "microdata" ||
				m.Mechanism.Kind != budget.DiscreteGaussian || m.Mechanism.L2Squared.Int64() != l2 {
				t.Errorf("%s %s: column %d is %+v", b, n, i, m)
			}
			columns.Add(columns, rho)
		}
		choice := new(big.Rat).Mul(s.Select.Parameter, s.Select.Parameter)
		plantest.Within(t, "the first choice", choice.Quo(choice, big.NewRat(8, 1)), plantest.Scaled(leaf, 4, 5*24*10))
		plantest.Within(t, "the first answer", new(big.Rat).Quo(big.NewRat(squareNorm(n, 3), 2), s.Noise.Parameter),
			plantest.Scaled(leaf, 4*9, 5*24*10))
		if s.Block.Kind != budget.AdaptiveBlock || s.Block.Parameter.Cmp(plantest.Scaled(leaf, 4, 5)) != 0 ||
			s.Select.Kind != budget.ExponentialMechanism || s.Noise.Kind != budget.DiscreteGaussian ||
			s.Noise.L2Squared.Int64() != squareNorm(n, 3) {
			t.Errorf("%s %s: the block is %v", b, n, s.Block)
		}
		for _, quieter := range []func(int) bool{func(int) bool { return false }, func(int) bool { return true },
			func(i int) bool { return i%5 == 4 }} {
			turns, _ := plantest.Made(s, quieter)
			all := plantest.Costs(turns)
			plantest.Within(t, "all rounds", all, s.Block.Parameter)
			plantest.Within(t, "all", all.Add(all, columns), leaf)
		}
		loss, err := budget.Compose(p.Mechanisms()...)
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Rat).Add(columns, s.Block.Parameter)
		for _, m := range p.Measurements[:len(p.Measurements)-3] {
			sum.Add(sum, m.Mechanism.Rho())
		}
		if loss.Rho().Cmp(sum) != 0 || sum.Cmp(p.Cost.Rho) > 0 {
			t.Errorf("%s %s: composed ρ %v, the steps cost %v of %v", b, n, loss.Rho(), sum, p.Cost.Rho)
		}
	}
}

// All sets of columns are counted, and the memory says so.
func TestSizeOfAIM(t *testing.T) {
	for ways, candidates := range map[string]int64{"": 24*(13+(20+2+10)+20) + 7*1024, ", ways: 2": 24*(13+(20+2+10)) +
		6*1024} {
		p := plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim"+ways+"}")
		// of 24 rounds, each of 20 cells at most
		const counts, model, answers = 16 * ((1 + 2 + 10 + 20) + 13), 32 * (1 << 19), 72 * 24 * 20
		if p.Size != (plan.Size{Cells: 22, Bytes: counts + candidates + model + answers}) {
			t.Errorf("%s: size %+v", ways, p.Size)
		}
	}
}

func TestAIMThatCannotBePlanned(t *testing.T) {
	var many []string
	for i := range 85 {
		many = append(many, fmt.Sprintf("c%d: {values: [a, b]}", i))
	}
	wide := func(n, categories int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("c%d: {type: integer, range: [1, %d]}", i, categories))
		}
		return strings.Join(all, ", ")
	}
	const half = "{rho: 1, split: {tables: 1/2, t: 1/2}}"
	for _, c := range []struct{ budget, columns, says, want string }{
		{half, strings.Join(many, ", "), "{method: aim}",
			"microdata of t: 85 columns have 102\u202f425 sets of one to three, more than 100\u202f000: ask for " +
				"ways: 2, or name fewer columns under `by`"},
		{half, wide(3, 10_000), "{method: aim}",
			"the set of c0, c1 and c2 would have more than 2^36 cells: ask for ways: 2, or use coarser levels under `by`"},
		{half, wide(5, 2000), "{method: aim}",
			"all sets of one to three columns are counted, and would have more than 2^36 cells together: ask for " +
				"ways: 2, or use coarser levels or fewer columns under `by`"},
		{half, wide(3, 174_763), "{method: aim, ways: 2}",
			"a model by method aim has room for columns of 262\u202f144 categories, and of 524\u202f288 together, " +
				"and these have more: use coarser levels or fewer columns under `by`, or method: mst"},
		{half, "a: {values: [p]}, b: {type: integer, range: [1, 262145]}", "{method: aim}",
			"has room for columns of 262\u202f144 categories"},
		{"{rho: 1e-13, split: {tables: 1/2, t: 1/2}}", wide(3, 3), "{method: aim}",
			"microdata of t: a choice among columns gets ρ 1.667e-16, too little"},
		{"{rho: 1000, split: {tables: 1/100, t: 99/100}}", wide(3, 3), "{method: aim}",
			"the budget is so large that what a round measures would have next to no noise"},
		{half, "a: {values: [p]}, b_x_c: {values: [p]}, a_x_b: {values: [p]}, c: {values: [p]}", "{method: aim}",
			"would have one name, microdata/t/round1/a_x_b_x_c"},
	} {
		text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: add-remove}\nbudget: %s\n"+
			"tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {tables: {by: []}}\n"+
			"synthetic: {t: %s}\n", c.budget, c.columns, c.says)
		_, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.60s: error %v, expected one with %s", c.budget, c.columns, err, c.want)
		}
	}
}

// Whatever is changed of AIM in a plan file is refused, before or when the plan is made again from its spec.
func TestEditedAIMIsRefused(t *testing.T) {
	p := plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: auto}")
	q := plantest.MicrodataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim}")
	if read, err := compiled.Read(q.Bytes()); err != nil || plantest.Verify(read.Plan()) != nil ||
		read.Hash() != q.Hash() {
		t.Fatalf("reading it again: %v", err)
	}
	for name, forge := range map[string]func(s *plan.Synthetic){
		"ways":        func(s *plan.Synthetic) { s.Ways = 2 },
		"more ways":   func(s *plan.Synthetic) { s.Ways = 50 },
		"no ways":     func(s *plan.Synthetic) { s.Ways = 0 },
		"model":       func(s *plan.Synthetic) { s.LargestModel.Cells *= 2 },
		"largest":     func(s *plan.Synthetic) { s.LargestModel.Largest++ },
		"no model":    func(s *plan.Synthetic) { s.LargestModel = nil },
		"rounds":      func(s *plan.Synthetic) { s.Rounds-- },
		"more rounds": func(s *plan.Synthetic) { s.Rounds++ },
		"no rounds":   func(s *plan.Synthetic) { s.Rounds = 0 },
		"method":      func(s *plan.Synthetic) { s.Method = plan.MST },
		"reason":      func(s *plan.Synthetic) { s.Why = []phrase.Phrase{phrase.New("best")} },
		"choice":      func(s *plan.Synthetic) { s.Select.Parameter = plantest.Scaled(s.Select.Parameter, 1, 2) },
		"sharper":     func(s *plan.Synthetic) { s.Select.Parameter = plantest.Scaled(s.Select.Parameter, 2, 1) },
		"noise":       func(s *plan.Synthetic) { s.Noise.Parameter = plantest.Scaled(s.Noise.Parameter, 2, 1) },
		"less noise":  func(s *plan.Synthetic) { s.Noise.Parameter = plantest.Scaled(s.Noise.Parameter, 1, 2) },
		"sensitivity": func(s *plan.Synthetic) {
			s.Noise.L2Squared, s.Noise.L1, s.Noise.Shifts = big.NewInt(4), big.NewInt(2), nil
		},
		"cap":           func(s *plan.Synthetic) { s.Block.Parameter = plantest.Scaled(s.Block.Parameter, 2, 1) },
		"smaller cap":   func(s *plan.Synthetic) { s.Block.Parameter = plantest.Scaled(s.Block.Parameter, 1, 2) },
		"another block": func(s *plan.Synthetic) { s.Block.Kind = budget.PermuteAndFlip },
	} {
		s := q.Synthetic[0]
		most := *s.LargestModel
		s.LargestModel = &most
		forge(&s)
		forged := *q
		forged.Synthetic = []plan.Synthetic{s}
		read, err := compiled.Read(forged.Bytes())
		if err == nil && read.Hash() != q.Hash() { // which its spec gives: Verify refuses it
			continue
		}
		if !errors.Is(err, plan.ErrEdited) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if bytesOf := string(p.Bytes()); p.Synthetic[0].Why != nil {
		read, err := compiled.Read([]byte(strings.Replace(bytesOf, string(p.Synthetic[0].Why[0].Code), "best", 1)))
		if err == nil {
			err = plantest.Verify(read.Plan())
		}
		if !errors.Is(err, plan.ErrEdited) {
			t.Errorf("another reason: %v", err)
		}
	}
}
