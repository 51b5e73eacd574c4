package plan

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// A fifth of the leaf goes to the columns, the rest to at most eight rounds for each, of which the first has what it
// would if all were alike, and of that a tenth for its choice; the whole is what the steps cost one by one, in exact rationals,
// whatever the answers were.
func TestAIMSpendsItsLeaf(t *testing.T) {
	for n, b := range map[string]string{"replace": "{rho: 1/10, split: {tables: 2/7, microdata: 5/7}}", "add-remove": "{epsilon: 2, delta: 1e-9, split: {tables: 2/7, microdata: 5/7}}"} {
		p := microdataOf(t, n, b, "{id: who, max_rows: 3}", "{budget: microdata, method: aim}")
		s, leaf := p.Synthetic[0], new(big.Rat).Mul(p.Cost.Rho, big.NewRat(5, 7))
		if s.Rounds != 24 || s.Method != AIM || s.Ways != 3 || s.Why != "" || *s.Most != (ModelSize{Cells: 1 << 19, Largest: 1 << 18}) || len(p.columnsOf(0)) != 3 {
			t.Fatalf("%s %s: %+v", b, n, s)
		}
		columns := new(big.Rat)
		for i, m := range p.Measurements[len(p.Measurements)-3:] {
			l2 := squareNorm(n, 3)
			if m.Cells == 1 {
				l2 = 9
			}
			rho := new(big.Rat).Quo(big.NewRat(l2, 2), m.Mechanism.Parameter)
			within(t, m.ID, rho, scaled(leaf, 1, 15))
			if m.ID != s.Column(i) || m.Query.Factors[0] != s.By[i] || m.Leaf != "microdata" || m.Mechanism.Kind != budget.DiscreteGaussian || m.Mechanism.L2Squared.Int64() != l2 {
				t.Errorf("%s %s: column %d is %+v", b, n, i, m)
			}
			columns.Add(columns, rho)
		}
		choice := new(big.Rat).Mul(s.Select.Parameter, s.Select.Parameter)
		within(t, "the first choice", choice.Quo(choice, big.NewRat(8, 1)), scaled(leaf, 4, 5*24*10))
		within(t, "the first answer", new(big.Rat).Quo(big.NewRat(squareNorm(n, 3), 2), s.Noise.Parameter), scaled(leaf, 4*9, 5*24*10))
		if s.Block.Kind != budget.AdaptiveBlock || s.Block.Parameter.Cmp(scaled(leaf, 4, 5)) != 0 || s.Select.Kind != budget.ExponentialMechanism || s.Noise.Kind != budget.DiscreteGaussian || s.Noise.L2Squared.Int64() != squareNorm(n, 3) {
			t.Errorf("%s %s: the block is %v", b, n, s.Block)
		}
		for _, quieter := range []func(int) bool{func(int) bool { return false }, func(int) bool { return true }, func(i int) bool { return i%5 == 4 }} {
			turns, _ := made(s, quieter)
			all := costs(turns)
			within(t, "all rounds", all, s.Block.Parameter)
			within(t, "all", all.Add(all, columns), leaf)
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
	for ways, candidates := range map[string]int64{"": 24*(13+(20+2+10)+20) + 7*1024, ", ways: 2": 24*(13+(20+2+10)) + 6*1024} {
		p := microdataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim"+ways+"}")
		const counts, model, answers = 16 * ((1 + 2 + 10 + 20) + 13), 32 * (1 << 19), 72 * 24 * 20 // of 24 rounds, each of 20 cells at most
		if p.Size != (Size{Cells: 22, Bytes: counts + candidates + model + answers}) {
			t.Errorf("%s: size %+v", ways, p.Size)
		}
	}
}

// auto goes by columns and cells alone, and says so; what the spec names it takes.
func TestAutoChoosesByPublicFacts(t *testing.T) {
	values := func(columns, categories int) string {
		var all []string
		for i := range columns {
			all = append(all, fmt.Sprintf("c%d: {type: integer, range: [1, %d]}", i, categories))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		columns, says string
		method        string
		ways          int
		why           string
	}{
		{values(2, 5), "{}", MST, 2, "either method measures the one pair"},
		{values(3, 5), "{}", AIM, 3, "the 7 sets of one to three columns have 215 cells to count, of at most 67\u202f108\u202f864"},
		{values(3, 5), "{method: auto, ways: 2}", AIM, 2, "the 6 sets of one or two columns have 90 cells to count"},
		{values(3, 5), "{method: mst}", MST, 2, ""},
		{values(2, 5), "{method: aim}", AIM, 2, ""},
		{values(38, 2), "{}", AIM, 3, "the 9177 sets of one to three columns have 70\u202f376 cells"},
		{values(40, 2), "{}", AIM, 2, "10\u202f700 sets of one to three columns are too many to look at in every round, more than 10\u202f000; the 820 sets of one or two columns have 3200 cells"},
		{values(60, 2), "{ways: 3}", MST, 2, "36\u202f050 sets of one to three columns are too many to look at in every round, more than 10\u202f000"},
		{values(61, 2), "{}", MST, 2, "with 61 columns, more than 60, the rounds of method aim take too long"},
		{values(4, 300), "{}", AIM, 2, "the sets of one to three columns have more than 67\u202f108\u202f864 cells to count; the 10 sets of one or two columns have 541\u202f200 cells to count"},
		{values(4, 300), "{ways: 3}", MST, 2, "the sets of one to three columns have more than 67\u202f108\u202f864 cells to count"},
		{values(4, 300), "{method: aim}", AIM, 3, ""},
		{values(3, 10_000), "{}", MST, 2, "more than 67\u202f108\u202f864 cells to count; the sets of one or two columns have more"},
		{values(2, 9) + ", wide: {type: integer, range: [1, 262145]}", "{}", MST, 2, "the columns have more categories than a model by method aim has room for"},
		{values(3, 5), "{method: auto, ways: 3, rows: 9}", AIM, 3, "the 7 sets"},
	} {
		text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: replace}\nbudget: {rho: 1, split: {tables: 1/2, t: 1/2}}\ntables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {tables: {by: []}}\nsynthetic: {t: %s}\n", c.columns, c.says)
		r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		drafts, err := expandSynthetic(r, nil)
		if err != nil {
			t.Errorf("%s %.40s: %v", c.says, c.columns, err)
			continue
		}
		s := drafts[0].named()
		if s.Method != c.method || s.Ways != c.ways || !strings.Contains(s.Why, c.why) || (s.Why == "") != (c.why == "") {
			t.Errorf("%s %.40s: %s of %d ways, because %s", c.says, c.columns, s.Method, s.Ways, s.Why)
		}
		says := map[bool]string{true: "such a tree, by method: mst, takes less", false: "for fewer columns under `by`, or coarser levels"}[s.Method == AIM]
		if other := s.otherMethod(); !strings.Contains(other, says) && len(s.By) > 2 || other != "" && len(s.By) == 2 && s.Method == MST {
			t.Errorf("%s %.40s: of the other method %q", c.says, c.columns, other)
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
		{half, strings.Join(many, ", "), "{method: aim}", "microdata of t (line 7): 85 columns have 102\u202f425 sets of one to three, more than 100\u202f000: ask for ways: 2, or name fewer columns under `by`"},
		{half, wide(3, 10_000), "{method: aim}", "the set of c0, c1 and c2 would have more than 2^36 cells: ask for ways: 2, or use coarser levels under `by`"},
		{half, wide(5, 2000), "{method: aim}", "all sets of one to three columns are counted, and would have more than 2^36 cells together: ask for ways: 2, or use coarser levels or fewer columns under `by`"},
		{half, wide(3, 174_763), "{method: aim, ways: 2}", "a model by method aim has room for columns of 262\u202f144 categories, and of 524\u202f288 together, and these have more: use coarser levels or fewer columns under `by`, or method: mst"},
		{half, "a: {values: [p]}, b: {type: integer, range: [1, 262145]}", "{method: aim}", "has room for columns of 262\u202f144 categories"},
		{"{rho: 1e-13, split: {tables: 1/2, t: 1/2}}", wide(3, 3), "{method: aim}", "microdata of t: a choice among columns gets ρ 1.667e-16, too little"},
		{"{rho: 1000, split: {tables: 1/100, t: 99/100}}", wide(3, 3), "{method: aim}", "the budget is so large that what a round measures would have next to no noise"},
		{half, "a: {values: [p]}, b_x_c: {values: [p]}, a_x_b: {values: [p]}, c: {values: [p]}", "{method: aim}", "would have one name, microdata/t/round1/a_x_b_x_c"},
	} {
		text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: add-remove}\nbudget: %s\ntables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\nmarginals: {tables: {by: []}}\nsynthetic: {t: %s}\n", c.budget, c.columns, c.says)
		_, err := planOfSource(spec.Source{Name: "release.yaml", Text: text})
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.60s: error %v, expected one with %s", c.budget, c.columns, err, c.want)
		}
	}
}

// Whatever is changed of AIM in a plan file is refused, before or when the plan is made again from its spec.
func TestEditedAIMIsRefused(t *testing.T) {
	p := microdataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: auto}")
	q := microdataOf(t, "add-remove", aimBudget, "row", "{budget: microdata, method: aim}")
	if read, err := Read(q.Bytes()); err != nil || read.Verify() != nil || read.Hash() != q.Hash() {
		t.Fatalf("reading it again: %v", err)
	}
	for name, forge := range map[string]func(s *Synthetic){
		"ways":          func(s *Synthetic) { s.Ways = 2 },
		"more ways":     func(s *Synthetic) { s.Ways = 50 },
		"no ways":       func(s *Synthetic) { s.Ways = 0 },
		"model":         func(s *Synthetic) { s.Most.Cells *= 2 },
		"largest":       func(s *Synthetic) { s.Most.Largest++ },
		"no model":      func(s *Synthetic) { s.Most = nil },
		"rounds":        func(s *Synthetic) { s.Rounds-- },
		"more rounds":   func(s *Synthetic) { s.Rounds++ },
		"no rounds":     func(s *Synthetic) { s.Rounds = 0 },
		"method":        func(s *Synthetic) { s.Method = MST },
		"reason":        func(s *Synthetic) { s.Why = "it is the best" },
		"choice":        func(s *Synthetic) { s.Select.Parameter = scaled(s.Select.Parameter, 1, 2) },
		"sharper":       func(s *Synthetic) { s.Select.Parameter = scaled(s.Select.Parameter, 2, 1) },
		"noise":         func(s *Synthetic) { s.Noise.Parameter = scaled(s.Noise.Parameter, 2, 1) },
		"less noise":    func(s *Synthetic) { s.Noise.Parameter = scaled(s.Noise.Parameter, 1, 2) },
		"sensitivity":   func(s *Synthetic) { s.Noise.L2Squared, s.Noise.L1, s.Noise.Shifts = big.NewInt(4), big.NewInt(2), nil },
		"cap":           func(s *Synthetic) { s.Block.Parameter = scaled(s.Block.Parameter, 2, 1) },
		"smaller cap":   func(s *Synthetic) { s.Block.Parameter = scaled(s.Block.Parameter, 1, 2) },
		"another block": func(s *Synthetic) { s.Block.Kind = budget.PermuteAndFlip },
	} {
		s := q.Synthetic[0]
		most := *s.Most
		s.Most = &most
		forge(&s)
		forged := *q
		forged.Synthetic = []Synthetic{s}
		read, err := Read(forged.Bytes())
		if err == nil && read.Hash() != q.Hash() { // which its spec gives: Verify refuses it
			continue
		}
		if !errors.Is(err, ErrEdited) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if bytesOf := string(p.Bytes()); p.Synthetic[0].Why != "" {
		read, err := Read([]byte(strings.Replace(bytesOf, p.Synthetic[0].Why, "it is the best", 1)))
		if err == nil {
			err = read.Verify()
		}
		if !errors.Is(err, ErrEdited) {
			t.Errorf("another reason: %v", err)
		}
	}
}

// What the spec says of AIM is told as a change where it differs, and its loss is that of its columns and its cap.
func TestAIMIsToldInWords(t *testing.T) {
	of := func(synthetic string) *Plan {
		return microdataOf(t, "add-remove", "{rho: 1, split: {tables: 1/4, microdata: 3/4}}", "row", synthetic)
	}
	mst, aim := of("{budget: microdata, method: mst}"), of("{budget: microdata, method: aim}")
	page := pageOfDiff(t, mst, aim)
	for _, line := range []string{"  t: method: mst → aim", "  t: rounds: 2 → at most 24", "  t: columns measured together, at most: new: 3", "  t: cells of the model, at most: new: 524\u202f288", "  t: cells of one of its tables, at most: new: 262\u202f144",
		"  t: choice of the first round: new: by the exponential mechanism with ε 0.1415, ρ 0.0025", "  t: noise of the first round: new: σ² = 22.22", "  t: choice of a round: gone"} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
	if page := pageOfDiff(t, aim, of("{budget: microdata, method: aim, ways: 2}")); !strings.Contains(page, "  t: columns measured together, at most: 3 → 2") {
		t.Errorf("ways are not told in\n%s", page)
	}
	l, err := aim.loss(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	losses := map[string]string{}
	for _, one := range slices.Concat(l.Tables, l.Attributes) {
		losses[one.Of] = one.Rho
	}
	// The columns have 1/20 each, the block 3/5; a change of a column's values moves two cells of its own, by √2, and what
	// the rounds say as a removal and an addition do, 4·3/5. No table has the third column, of one category.
	assertNear(t, "microdata/t", losses["microdata/t"], 0.75)
	assertNear(t, "one", losses["one"], 4*0.6)
}

// Where the spec says how many rows there are, microdata that will say little are warned of; the page says from
// how many rows on an average category is seen.
func TestMicrodataThatNoiseHides(t *testing.T) {
	for _, method := range []string{"mst", "aim"} {
		of := func(rho, rows string) *Plan {
			text := fmt.Sprintf(peopled, "add-remove", "{rho: "+rho+", split: {tables: 1/2, microdata: 1/2}}", "row", "{budget: microdata, method: "+method+"}")
			if rows != "" {
				text = strings.Replace(text, "unit: row,", "unit: row, expect: {rows: ["+rows+", "+rows+"]},", 1)
			}
			p, err := planOfSource(spec.Source{Name: "release.yaml", Text: text})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := of("1/1000", "")
		// Of 1/2000, a fifteenth or ninth for each column: σ² = 1/2ρ, and three σ of two categories.
		want := map[string]int64{"mst": 570, "aim": 735}[method]
		if from := p.visibleFrom(0); from != want {
			t.Errorf("%s: an average category is seen from %d rows on, not %d", method, from, want)
		}
		// A pair of 2 × 10 cells: by mst a sixth of 1/2000 for it, by aim 9/10 of four fifths, but for what the first round's choice takes.
		want = map[string]int64{"mst": 1550, "aim": 708}[method]
		if from := p.togetherFrom(0); from < want || from > want+38 {
			t.Errorf("%s: an average cell is seen from %d rows on, not %d", method, from, want)
		}
		if strings.Contains(strings.Join(p.Warnings, " "), "will say little") {
			t.Errorf("%s: warned without rows: %q", method, p.Warnings)
		}
		var page strings.Builder
		if err := p.Explain(&page); err != nil || !strings.Contains(page.String(), fmt.Sprintf("  With fewer than %d rows in t the noise hides an average category of every one of them.\n", p.visibleFrom(0))) {
			t.Errorf("%v\n%s", err, page.String())
		}
		for rows, says := range map[string]string{"500": "will say little, unless its rows are in few categories: if it has 500 rows", "100000": ""} {
			got := strings.Join(of("1/1000", rows).Warnings, " ")
			if says != "" && !strings.Contains(got, says) || says == "" && strings.Contains(got, "will say little") {
				t.Errorf("%s, %s rows: %q", method, rows, got)
			}
		}
		if got := strings.Join(of("1/1000", "1000").Warnings, " "); strings.Contains(got, "of how columns depend on each other") != (method == "mst") {
			t.Errorf("%s, 1000 rows: %q", method, got)
		}
	}
}

// Two tables have microdata of their own, each by its method, from its leaf, with rounds of its own.
func TestMicrodataOfTwoTables(t *testing.T) {
	const text = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {tables: 1/2, t: 1/8, u: 3/8}}
tables:
  t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {a: {values: [p, q]}, b: {values: [p, q]}, c: {values: [p, q]}}}
  u: {source: {csv: u.csv}, unit: {id: who, max_rows: 4}, columns: {a: {values: [p, q]}, b: {values: [p, q]}, c: {values: [p, q]}}}
marginals: {tables: {table: t, by: []}}
synthetic: {t: {method: mst}, u: {ways: 2}}
`
	p, err := planOfSource(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	mst, aim := p.Synthetic[0], p.Synthetic[1]
	if mst.Method != MST || aim.Method != AIM || aim.Ways != 2 || aim.Noise.L1.Int64() != 4 || mst.Noise.L1.Int64() != 1 {
		t.Errorf("%+v, %+v", mst, aim)
	}
	within(t, "u", p.rhoOf(1), big.NewRat(3, 8))
	within(t, "t", p.rhoOf(0), big.NewRat(1, 8))
	var page strings.Builder
	if err := p.Explain(&page); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"in 2 rounds (method mst)", "  Method aim, chosen by what is public: " + aim.Why + ".\n  It follows what no tree of pairs shows", "in at most 24 rounds (method aim)", "all pairs of columns of the microdata and all sets of one or two columns of the microdata included"} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("no %q in\n%s", line, page.String())
		}
	}
	if read, err := Read(p.Bytes()); err != nil || read.Verify() != nil {
		t.Errorf("read again: %v", err)
	}
}
