package plantest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/fitting"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// New is [planner.New] for tests that need only the plan.
func New(r *spec.Release) (*plan.Plan, error) {
	c, err := planner.New(r)
	if err != nil {
		return nil, err
	}
	return c.Plan(), nil
}

// Verify is [planner.Verify] of a plan as it is now.
func Verify(p *plan.Plan) error {
	_, err := planner.Verify(compiled.Of(p))
	return err
}

// FittedText is a spec of a table with columns of several levels, whose counts add up.
func FittedText(budget, rest string) string {
	return "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: " + budget + "\n" +
		"tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, weight: {from: w, range: [0, 9], step: 1}, columns: {" +
		"a: {type: integer, range: [0, 11], levels: {half: {width: 6}, third: {width: 4}, sixth: {width: 2}}}, " +
		"b: {values: [x, y, z]}, c: {values: [p, q]}, d: {values: [k, l]}, e: {values: [k, l, m]}, f: {values: [u, v]}}}}\n" +
		rest + "publish: {integers: consistent}\n"
}

// Fitted plans tables by these attributes, and returns the order in which they are fitted, each with what is fixed
// before it.
func Fitted(t *testing.T, rest string, by ...string) (*plan.Plan, []string, error) {
	t.Helper()
	marginals := "marginals:\n"
	for i, m := range by {
		marginals += fmt.Sprintf("  m%d: {by: [%s], weight: 1}\n", i, m)
	}
	text := strings.Replace(FittedText("{rho: 1}", rest+marginals), ", weight: {from: w, range: [0, 9], step: 1}", "",
		1)
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	tables, err := workload.Expand(r)
	if err != nil {
		return nil, nil, err
	}
	p := plan.NewEmpty(r) // without noise, which no order depends on
	for _, t := range tables {
		p.Tables = append(p.Tables, workload.NewTable(r, t))
	}
	if p.Consistent, err = fitting.Consistencies(p, tables); err != nil {
		return nil, nil, err
	}
	f, err := fitting.Of(p, p.Consistent[0])
	if err != nil {
		return p, nil, err
	}
	name := func(m fitting.Margin) string {
		var names []string
		for i, level := range m {
			if level > 0 {
				names = append(names, f.Chains[i].Attribute(level).String())
			}
		}
		return strings.Join(names, "×")
	}
	var steps []string
	for _, s := range f.Steps {
		var fixed []string
		for _, m := range s.Fixed {
			fixed = append(fixed, name(m.Margin))
		}
		steps = append(steps, name(s.Margin)+" on "+strings.Join(fixed, ", "))
	}
	return p, steps, nil
}

// PageOfDiff returns the difference as a person reads it.
func PageOfDiff(t testing.TB, a, b *plan.Plan) string {
	t.Helper()
	var w strings.Builder
	if err := describe.Diff(compiled.Of(a), compiled.Of(b)).Write(&w); err != nil {
		t.Fatal(err)
	}
	return w.String()
}

const wordsText = `version: 1
release: words
privacy: {protects: customer, neighbours: NEIGHBOURS}
budget: {epsilon: 1, delta: 1e-6}
tables:
  searches:
    source: {csv: s.csv}
    unit: {id: customer, max_rows: 20}
    columns:
      word: {values: {discover: {max_length: 40}}, unknown: drop, null: drop}
      page: {values: {discover: {max_length: 9, at_least: 4}}}
      side: {values: [left, right]}
marginals:
  words: {by: [word], stats: [units], per_unit: {groups: GROUPS}}
  pages: {by: [side, page], stats: [units], per_unit: {groups: 2}}
  sides: {by: [side]}
`

func PlanOfWords(t *testing.T, neighbours string, groups int) *plan.Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "words.yaml", Text: strings.NewReplacer("NEIGHBOURS", neighbours, "GROUPS",
		fmt.Sprint(groups)).Replace(wordsText)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tenColumns is a spec of ten columns of ten categories.
const tenColumns = `version: 1
release: ten
privacy: {protects: trip, neighbours: add-remove}
budget: %BUDGET%
tables: {t: {source: {csv: t.csv}, unit: row, columns: {a: &, b: &, c: &, d: &, e: &, f: &, g: &, h: &, i: &, j: &}}}
marginals: %MARGINALS%
`

func TenRelease(t testing.TB, amount, marginals string) *spec.Release {
	t.Helper()
	text := strings.NewReplacer("&", "{type: integer, range: [0, 9]}", "%BUDGET%", amount, "%MARGINALS%", marginals).
		Replace(tenColumns)
	r, err := spec.Parse(spec.Source{Name: "ten.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TenPlan(t testing.TB, amount, marginals string) *plan.Plan {
	t.Helper()
	p, err := New(TenRelease(t, amount, marginals))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// WithoutLeaf returns the plan of microdata that no leaf pays for.
func WithoutLeaf(budget, marginals, asked string) (*plan.Plan, error) {
	return PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(`version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}, far: {values: [yes, no]}, same: {derived_from: sex}}}}
marginals: {%s}
synthetic: {t: %s}
`, budget, marginals, asked)})
}

// Wide returns a plan of the tables over one and two of n columns.
func Wide(t *testing.T, n int) *plan.Plan {
	t.Helper()
	var columns, names []string
	for i := range n {
		names = append(names, fmt.Sprintf("a%d", i))
		columns = append(columns, names[i]+": {values: [p, q]}")
	}
	text := fmt.Sprintf("version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n"+
		"budget: {epsilon: 1, minimise: sum}\ntables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\n"+
		"marginals: {x: {every: [1, 2], by: [%s]}}\n",
		strings.Join(columns, ", "), strings.Join(names, ", "))
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func PageOf(t *testing.T, p *plan.Plan) string {
	t.Helper()
	b := &strings.Builder{}
	if err := describe.Explain(compiled.Of(p), b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// WorstRatio returns the largest ratio of a table's error to its error when measured by itself with an equal share of
// its leaf, and the table; shown is the mean number of cells that a figure of the table adds up.
func WorstRatio(t testing.TB, p *plan.Plan, shown func(table plan.Table) float64) (worst float64, path string) {
	t.Helper()
	noises, leaves := map[string]budget.Kind{}, describe.LeavesOfTables(p)
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			noises[path] = s.Noise
		}
	}
	for _, table := range p.Tables {
		leaf := p.Leaves[slices.IndexFunc(p.Leaves, func(l plan.Leaf) bool { return l.Path == leaves[table.Path] })]
		if leaf.Needed {
			continue
		}
		equal, err := describe.EqualShare(p, table, leaf, noises[table.Path])
		if err != nil {
			t.Fatal(err)
		}
		is := table.Statistics[0].StandardError
		if of := table.Statistics[0].OfRanges; of > 0 {
			is = of
		}
		if ratio := is / (equal * math.Sqrt(shown(table))); ratio > worst {
			worst, path = ratio, table.Path
		}
	}
	return worst, path
}

// CellByCell is the shown of [WorstRatio] for tables that show their cells.
func CellByCell(plan.Table) float64 { return 1 }

// Must returns a value, and fails the test on an error.
func Must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// HouseholdsText is a release of microdata of households and of the people who live in them.
const HouseholdsText = `version: 1
release: r
privacy: {protects: household, neighbours: %s}
budget: {rho: 1, split: {tables: 1/2, homes: 1/8, people: 3/8}}
tables:
  persons: {source: {csv: p.csv}, unit: {id: hh, max_rows: 4}, columns: {sex: {values: [f, m]}, age: {values: [a, b, c], unknown: %s}}}
  households: {source: {csv: h.csv}, unit: {id: hh, max_rows: 1}, columns: {tenure: {values: [o, r], unknown: %s}, area: {values: [x, y, z]}}}
marginals: {tables: {table: households, by: [area]}}
synthetic: {persons: {budget: people, parent: households, method: %s}, households: {budget: homes, method: %s}}
`

func PlanOfHomes(t *testing.T, neighbours, age, tenure, child, parent string) *plan.Plan {
	t.Helper()
	p, err := PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(HouseholdsText, neighbours, age, tenure,
		child, parent)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// AssertNear checks a loss, which parameters that are rounded up to multiples of 2⁻¹² make a little smaller: of noise
// of parameter 1 and more by less than 2.5e-4 of it.
func AssertNear(t *testing.T, what, got string, want float64) {
	t.Helper()
	if v, _ := plan.Amount(got).Float64(); v > want*(1+1e-7) || v < want*(1-2.5e-4) {
		t.Errorf("%s: %v, want %v", what, v, want)
	}
}

// Places returns all index tuples of some sizes.
func Places(sizes ...int) [][]int {
	out := [][]int{{}}
	for _, n := range sizes {
		var next [][]int
		for _, p := range out {
			for i := range n {
				next = append(next, append(slices.Clone(p), i))
			}
		}
		out = next
	}
	return out
}

// Peopled is a spec whose table has three columns with finest levels, one of them of a single category.
const Peopled = `version: 1
release: r
privacy: {protects: person, neighbours: %s}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: %s, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}, one: {values: [only]}}}}
marginals: {x: {by: [sex], budget: tables}, y: {by: [sex, age], budget: tables}}
synthetic: {t: %s}
`

func MicrodataOf(t testing.TB, neighbours, budget, unit, synthetic string) *plan.Plan {
	t.Helper()
	p, err := PlanOfSource(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(Peopled, neighbours, budget, unit,
		synthetic)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Within fails unless an amount is no more than its limit, and not much less: parameters are rounded.
func Within(t *testing.T, what string, amount, limit *big.Rat) {
	t.Helper()
	if amount.Cmp(limit) > 0 || TooLittle(amount, limit) {
		t.Errorf("%s costs %s of %s", what, amount.FloatString(12), limit.FloatString(12))
	}
}

// small is a small spec, without its budget, unit and marginals.
const small = `version: 1
release: r
privacy: {protects: person, neighbours: %s}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: %s, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}, count: {values: [a, b]}}}}
marginals: %s
`

func PlanOf(t *testing.T, neighbours, budget, unit, marginals string) *plan.Plan {
	t.Helper()
	p, err := TryPlan(neighbours, budget, unit, marginals)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TryPlan(neighbours, budget, unit, marginals string) (*plan.Plan, error) {
	text := fmt.Sprintf(small, neighbours, budget, unit, marginals)
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		return nil, err
	}
	return New(r)
}

// BudgetTooSmall reports whether more than rounding to multiples of 2^-12 was lost.
func TooLittle(spent, amount *big.Rat) bool {
	ratio, _ := new(big.Rat).Quo(spent, amount).Float64()
	return ratio < 0.99
}

func PlanOfFile(t *testing.T, path string) *plan.Plan {
	t.Helper()
	r, err := spec.Load(t.Context(), path, spec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Adaptive returns microdata by AIM as some budget, sensitivity and number of columns make them, with rounds of odd
// parameters.
func Adaptive(t *rapid.T) plan.Synthetic {
	k := rapid.Int64Range(1, 1000).Draw(t, "rows of a unit")
	s := plan.Synthetic{Method: plan.AIM, Ways: 3, Rounds: rapid.IntRange(1, 40).Draw(t, "rounds")}
	s.Select = budget.Mechanism{Kind: budget.ExponentialMechanism,
		Parameter: big.NewRat(rapid.Int64Range(1, 1<<26).Draw(t, "ε"), 1<<24)}
	s.Noise = budget.Mechanism{Kind: budget.DiscreteGaussian, L1: big.NewInt(k), L2Squared: big.NewInt(k * k)}
	s.Noise.Parameter = big.NewRat(rapid.Int64Range(1<<16, 1<<50).Draw(t, "σ²"), 1<<20)
	s.Block = adaptive.Block(s.Rounds, s.Select, s.Noise)
	more := big.NewRat(rapid.Int64Range(0, 1<<30).Draw(t, "more"), rapid.Int64Range(1, 1<<30).Draw(t, "part of"))
	s.Block.Parameter.Add(s.Block.Parameter, more)
	return s
}

// Made runs a schedule. After every round but the last the answer may have shown little.
func Made(s plan.Synthetic, quieter func(round int) bool) (turns []adaptive.RoundMechanisms, used []float64) {
	schedule := adaptive.NewSchedule(s)
	for {
		used = append(used, schedule.Used())
		t, last := schedule.Next()
		turns = append(turns, t)
		if last {
			return turns, append(used, schedule.Used())
		}
		if quieter(len(turns) - 1) {
			schedule.Quieter()
		}
	}
}

// Costs returns the sum of ρ = ε²/8 + Δ₂²/2σ² over turns.
func Costs(turns []adaptive.RoundMechanisms) *big.Rat {
	all := new(big.Rat)
	for _, t := range turns {
		choice := new(big.Rat).Mul(t.Select.Parameter, t.Select.Parameter)
		all.Add(all, choice.Quo(choice, big.NewRat(8, 1)))
		noise := new(big.Rat).SetInt(t.Noise.L2Squared)
		all.Add(all, noise.Quo(noise, new(big.Rat).Add(t.Noise.Parameter, t.Noise.Parameter)))
	}
	return all
}

func Scaled(x *big.Rat, n, d int64) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(n, d)) }

// Adult14 are the sizes of the attributes of the Adult extract.
var Adult14 = []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}

// AssertStandardError compares a standard error, allowing for a scale that is rounded to a multiple of 2⁻¹² and a
// budget that is met to seven digits.
func AssertStandardError(t *testing.T, table plan.Table, variance float64) {
	t.Helper()
	if got, want := table.Statistics[0].StandardError, math.Sqrt(variance); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("%s: standard error %.6f, expected %.6f", table.Path, got, want)
	}
}

// Crossed is a spec of three columns: age has nested levels (half in whole, age in all), some with groups of
// different sizes (odd), two that are not nested (half and third, odd and both), one that equals another under
// another name, and one of a single category.
const Crossed = `version: 1
release: r
privacy: {protects: person, neighbours: %s}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: %d}, columns: {sex: {values: [f, m]}, kind: {values: [a, b, c]}, age: {type: integer, range: [0, 5], levels: {half: {width: 3}, third: {width: 2}, odd: {edges: [0, 1, 4]}, same: {edges: [0, 3]}, whole: {width: 6}}}}}}
marginals: %s
`

// codes are, for each level of crossed, the category of each code of its column.
var codes = map[string][]int{
	"sex": {0, 1}, "kind": {0, 1, 2}, "age": {0, 1, 2, 3, 4, 5},
	"age.half": {0, 0, 0, 1, 1, 1}, "age.third": {0, 0, 1, 1, 2, 2}, "age.odd": {0, 1, 1, 1, 2, 2},
	"age.same": {0, 0, 0, 1, 1, 1}, "age.whole": {0, 0, 0, 0, 0, 0},
}

// crossedColumns are the columns of crossed; a cell is a code of each, the last one's changing fastest.
var crossedColumns = []string{"sex", "kind", "age"}

func CrossedRelease(t testing.TB, neighbours, budget string, rows int, marginals string) *spec.Release {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(Crossed, neighbours, budget, rows,
		marginals)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func CrossedPlan(t testing.TB, neighbours, budget string, rows int, marginals string) *plan.Plan {
	t.Helper()
	p, err := New(CrossedRelease(t, neighbours, budget, rows, marginals))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const OneOfTen = "{ages: {by: [a], budget: n, target: {margin: %M%}}, rest: {every: [1, 2], by: [b, c, d], budget: s}}"

// quarterly is a spec that uses its parameters wherever a spec may.
const quarterly = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}, book: {pattern: '[a-z]+'}, first: {pattern: '[a-z]+'}}
release: labour-${quarter}
corrects: labour-${quarter}-${first}
about: {title: "Labour force, ${quarter}", population: "residents in ${quarter}", contact: office}
privacy: {protects: person, neighbours: add-remove, account: [lfs, register], resume: never}
budget: {rho: 1/2, split: {main: 1/2, rest: 1/2}}
tables:
  persons:
    source: {csv: ["${quarter}-*.csv"]}
    unit: {id: who, max_rows: 2}
    expect: {rows: [10, 20], every: [region.state]}
    columns:
      age:    {type: integer, range: [0, 9], levels: {half: {width: 5}}}
      sex:    {values: [f, m], unknown: {as: m}}
      region: {codebook: "${book}.csv", levels: [state, code]}
      home:   {codebook: homes.csv}
marginals:
  m: {by: [age.half, region.state], budget: main}
  n: {every: [1, 2], by: [sex, home], budget: rest}
`

// QuarterlySource gives quarterly the values q, b and f of its parameters.
func QuarterlySource(q, b, f string) spec.Source {
	return spec.Source{
		Name: "labour.yaml", Text: quarterly,
		Params: map[string]string{"quarter": q, "book": b, "first": f},
		Files: map[string]string{
			b + ".csv": "code,label,state\n1,One,a\n2,Two,b\n", "homes.csv": "code,label\nh,House\nf,Flat\n",
		},
	}
}

func PlanOfSource(src spec.Source) (*plan.Plan, error) {
	r, err := spec.Parse(src)
	if err != nil {
		return nil, err
	}
	return New(r)
}

// HolderKeys returns files with public keys of holders.
func HolderKeys(names ...string) map[string]string {
	files := map[string]string{}
	for i, name := range names {
		key := bytes.Repeat([]byte{byte(i + 1)}, 64)
		files[name] = "dprelease-holder-1 " + base64.RawStdEncoding.EncodeToString(key) + "\n"
	}
	return files
}

// EachLeaf changes every text and number of a JSON document in turn and calls do
// with its path.
func EachLeaf(v any, path string, do func(path string)) {
	changed := func(v any) any {
		switch v := v.(type) {
		case string:
			if v != "" && strings.Trim(v, "0123456789/") == "" {
				return "1" + v
			}
			return v + " "
		case float64:
			return v + 1
		}
		return nil
	}
	try := func(key string, old any, set func(any)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		EachLeaf(old, at, do)
		if next := changed(old); next != nil {
			set(next)
			do(at)
			set(old)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			try(key, v[key], func(next any) { v[key] = next })
		}
	case []any:
		for i := range v {
			try(strconv.Itoa(i), v[i], func(next any) { v[i] = next })
		}
	}
}

func PlanOfText(t *testing.T, text string) (*plan.Plan, error) {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return New(r)
}

// Sized is a spec of a table with 2000 combinations of age and region, with a number of rows that is expected.
const Sized = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}%s, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 99], levels: {band: {width: 10}, half: {width: 50}}}, region: {type: integer, range: [1, 20]}}}}
marginals: %s
`

func SizedPlan(t *testing.T, budget string, rows int, marginals string) *plan.Plan {
	t.Helper()
	expect := ""
	if rows > 0 {
		expect = fmt.Sprintf(", expect: {rows: [%d, %d]}", rows-1, rows+1)
	}
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: fmt.Sprintf(Sized, budget, expect, marginals)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Near reports equality within the error of a scale of noise rounded to a multiple of 2⁻¹², and six digits kept.
func Near(got, want float64) bool { return math.Abs(got-want) <= 1e-4*want }
