package spec

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
)

// statText writes a statistic with all its fields.
func statText(s Stat) string {
	out := []string{s.Kind.String(), s.Name}
	if s.Column != "" {
		out = append(out, "of "+s.Column)
	}
	for _, share := range s.At {
		out = append(out, "at "+share.RatString()+" as "+s.QuantileName(share))
	}
	if s.Median {
		out = append(out, "median")
	}
	if s.PerUnit != 0 {
		out = append(out, fmt.Sprint(s.PerUnit, " per unit"))
	}
	if s.Kind == Ratio {
		out = append(out, termText(s.Of)+" over "+termText(s.Over))
	}
	return strings.Join(out, " ")
}

func termText(t Term) string {
	out := t.Kind.String()
	if t.Column != "" {
		out += " of " + t.Column
	}
	for _, c := range t.Where {
		out += fmt.Sprintf(" where %s %v", c.Attribute, c.Codes)
	}
	return out
}

func statsText(m Marginal) (all []string) {
	for _, s := range m.Stats {
		all = append(all, statText(s))
	}
	return all
}

func TestStatisticsAreWhatTheSpecSays(t *testing.T) {
	r, err := Parse(numbersSource())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"pay": {
			"count count", "units units", "sum pay_sum of pay", "mean average of pay",
			"variance hours_variance of hours", "deviation hours_deviation of hours",
			"quantiles pay_median of pay at 1/2 as pay_median median",
			"quantiles pay of pay at 1/40 as pay_q2_5 at 1/4 as pay_q25 at 1/2 as pay_q50",
			"distinct rank_distinct of rank 2 per unit",
		},
		"gaps": {
			"ratio gap mean of pay where sex [0] over mean of pay where sex [1] where region.state [0 1]",
			"ratio profit_per_hour sum of profit over sum of hours",
			"ratio part_time count where hours.part [0] over count",
			"ratio in_s1 count where region.state [0] over count where sex [0 1]",
			"ratio pay_by_large sum of pay over count where size [1]",
			"quantiles sales of sales at 1/2 as sales median",
		},
		"counts": {"count count"},
	}
	for _, m := range r.Marginals {
		if diff := cmp.Diff(want[m.Name], statsText(m)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Name, diff)
		}
	}
	if m := r.Marginals[0]; m.Show != 30 || m.PerUnit != (PerUnit{Groups: 2, RowsPerGroup: 1, Total: 3}) {
		t.Errorf("show %d, per unit %+v", m.Show, m.PerUnit)
	}
	if m := r.Marginals[2]; m.Show != 0 || m.PerUnit != (PerUnit{}) {
		t.Errorf("show %d, per unit %+v", m.Show, m.PerUnit)
	}
}

func TestWeightsAndStrataAreWhatTheSpecSays(t *testing.T) {
	r, err := Parse(numbersSource())
	if err != nil {
		t.Fatal(err)
	}
	jobs := r.Tables[0]
	if w := jobs.Weight; w == nil || w.From != "w" || !w.Calibrated || w.Null != Drop || w.Lattice.First != 0 ||
		w.Lattice.Last != 80 || w.Lattice.Step.RatString() != "1/2" {
		t.Errorf("weight %+v", w)
	}
	pay := jobs.Column("pay").Lattice
	if pay.First != 0 || pay.Last != 18000 || pay.By != "size" || fmt.Sprint(pay.Strata) != "[{0 2000} {200 18000}]" ||
		pay.Step.RatString() != "1/2" {
		t.Errorf("lattice %+v", pay)
	}
	for value, want := range map[int64][2]int64{5: {10, 200}, 2500: {2000, 5000}, 9001: {2000, 18000}} {
		if small, large := pay.IndexOfInt(value, 0), pay.IndexOfInt(value, 1); small != want[0] || large != want[1] {
			t.Errorf("places of %d: %d and %d, want %v", value, small, large, want)
		}
	}
	if small, large := pay.IndexOfNull(0), pay.IndexOfNull(1); small != 20 || large != 200 {
		t.Errorf("places of null: %d and %d", small, large)
	}
	if sales := jobs.Column("sales"); sales.Domain != nil || sales.Lattice.Last != 1_000_000_000 {
		t.Errorf("sales %+v", sales)
	}
	src := numbersSource()
	src.Text = strings.NewReplacer("kind: calibrated, null: drop", "kind: design").Replace(numbers)
	if r, err := Parse(src); err != nil || r.Tables[0].Weight.Calibrated || r.Tables[0].Weight.Null != Refuse {
		t.Errorf("a design weight: %v", err)
	}
	src.Text = strings.NewReplacer(", kind: calibrated", "").Replace(numbers)
	if r, err := Parse(src); err != nil || r.Tables[0].Weight.Calibrated || len(r.Warnings) != 1 ||
		r.Warnings[0].Line != 9 {
		t.Errorf("a weight of which nothing is said: %v", err)
	}
}

// Values of a column without cells are distinguished by their indices on the lattice.
func TestDistinctValuesOfAColumnWithoutCells(t *testing.T) {
	src := numbersSource()
	src.Text = strings.Replace(numbers, "{distinct: rank, per_unit: 2}", "{distinct: sales, per_unit: 2}", 1)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Marginals[0].Stats[8]; s.Kind != Distinct || s.Column != "sales" || s.PerUnit != 2 {
		t.Errorf("%+v", s)
	}
}

// Strata may be the categories of a level, or of a derived column.
func TestStrataOfALevel(t *testing.T) {
	for by, want := range map[string]string{
		"region.state": "[{0 10} {0 10} {20 90}]", "area": "[{0 10} {0 10} {20 90}]",
	} {
		src := numbersSource()
		src.Text = strings.Replace(numbers,
			"{by: size, small: [0, 1000], large: [100, 9000]}, step: 0.5, null: {as: 10.2}",
			"{by: "+by+", s1: [0, 10], s2: [20, 90]}, step: 1, null: {as: 10}", 1)
		r, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", by, err)
			continue
		}
		if l := r.Tables[0].Column("pay").Lattice; l.By != "region" || fmt.Sprint(l.Strata) != want || l.First != 0 ||
			l.Last != 90 {
			t.Errorf("by %s: %+v", by, l)
		}
	}
}

// Extras get their shares of the whole, and the split the rest; leaves of targets and absolute amounts are taken from
// that rest.
func TestWhatIsBoughtHasLeavesOfItsOwn(t *testing.T) {
	parse := func(budget string) *Release {
		t.Helper()
		src := numbersSource()
		old := "{rho: 1, split: {pay: 1/2, more: {share: 50%, split: {gaps: 1/4, counts: 75%}}}}"
		src.Text = strings.Replace(numbers, old, budget, 1)
		if strings.Contains(budget, "needed") {
			src.Text = strings.Replace(src.Text, "counts: {by: [sex]}", "counts: {by: [sex], target: {margin: 9}}", 1)
		}
		r, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if r.Diagnostics != "diagnostics" || r.Tables[0].Column("pay").Suggest != "bounds.pay" ||
			r.Tables[0].Column("hours").Suggest != "" {
			t.Errorf("%s: diagnostics %q, bounds %q", budget, r.Diagnostics, r.Tables[0].Column("pay").Suggest)
		}
		return r
	}
	for budget, want := range map[string]string{ // for a total of 1, with 1/20 needed
		"{rho: 1, split: {pay: 1/2, more: {share: 50%, split: {gaps: 1/4, counts: 75%}}}}": "pay=97/200 more.gaps=97/800 more.counts=291/800 bounds.pay=1/100 diagnostics=1/50",
		"{rho: 1, split: {pay: {rho: 0.37}, gaps: 1/4, counts: 75%}}":                      "pay=37/100 gaps=3/20 counts=9/20 bounds.pay=1/100 diagnostics=1/50",
		"{rho: 1, split: {pay: 1/2, gaps: 1/2, counts: needed}}":                           "pay=23/50 gaps=23/50 counts=1/20 bounds.pay=1/100 diagnostics=1/50",
		"{rho: 1}":                  "=97/100 bounds.pay=1/100 diagnostics=1/50",
		"{epsilon: 1, delta: 1e-9}": "=97/100 bounds.pay=1/100 diagnostics=1/50",
		"{epsilon: 1}":              "=97/100 bounds.pay=1/100 diagnostics=1/50",
		"{epsilon: 1, delta: 1e-9, split: {pay: 1/2, gaps: {rho: 0.1}, counts: 1/2}}": "pay=87/200 gaps=1/10 " +
			"counts=87/200 bounds.pay=1/100 diagnostics=1/50",
	} {
		r := parse(budget)
		amounts, err := r.Budget.Divide(big.NewRat(1, 1), map[string]*big.Rat{"counts": big.NewRat(1, 20)})
		if err != nil {
			t.Errorf("%s: %v", budget, err)
			continue
		}
		var got []string
		for i, l := range r.Budget.Leaves {
			got = append(got, l.Path+"="+amounts[i].RatString())
			if l.Share != nil && l.Share.Cmp(amounts[i]) != 0 {
				t.Errorf("%s: leaf %s has a share of %s and gets %s of 1", budget, l.Path, l.Share.RatString(),
					amounts[i].RatString())
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", budget, diff)
		}
	}
	r := parse("{rho: 1, split: {pay: 1/2, gaps: 1/2, counts: needed}}")
	least, err := r.Budget.LeastTotal(map[string]*big.Rat{"counts": big.NewRat(97, 100)})
	if err != nil || least.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("the least total is %v, %v", least, err)
	}
}

// The labour force survey and the business survey use no part that is not built.
func TestSharedSpecsOfNumbers(t *testing.T) {
	r, err := Parse(sharedSource(t, "labour.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if w := r.Tables[0].Weight; w == nil || w.Lattice.Last != 2000 || w.Calibrated {
		t.Errorf("weight %+v", w)
	}
	want := []string{
		"ratio unemployment_rate count where status [1] over count where status [0 1]",
		"count count", "sum hours_sum of hours", "mean hours_mean of hours",
	}
	if diff := cmp.Diff(want, append(statsText(r.Marginals[1]), statsText(r.Marginals[2])...)); diff != "" {
		t.Errorf("labour (-want +got):\n%s", diff)
	}
	business, err := Parse(sharedSource(t, "business.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"count count", "sum turnover_sum of turnover", "mean turnover_mean of turnover",
		"quantiles turnover_median of turnover at 1/2 as turnover_median median",
		"ratio turnover_per_head sum of turnover over sum of staff",
	}
	if diff := cmp.Diff(want, append(statsText(business.Marginals[0]),
		statsText(business.Marginals[1])...)); diff != "" {
		t.Errorf("business (-want +got):\n%s", diff)
	}
	if l := business.Tables[0].Column("turnover").Lattice; fmt.Sprint(
		l.Strata) != "[{0 2000} {0 10000} {0 50000} {0 1000000}]" {
		t.Errorf("turnover %+v", l)
	}
}

// Shares are relative to the total of the table, or of the cells that agree in some attributes.
func TestSharesSayWhatTheyAreOf(t *testing.T) {
	r, err := Parse(Source{Name: "release.yaml", Text: `version: 1
release: shares
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1}
tables: {persons: {source: {csv: p.csv}, unit: row, columns: {age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}, sex: {values: [f, m]}}}}
marginals: {all: {by: [sex, age.half], stats: [share, {share: {of: [age.half]}, as: of_half}]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	all, half := r.Marginals[0].Stats[0], r.Marginals[0].Stats[1]
	if all.Kind != Share || all.Name != "share" || len(all.Within) != 0 {
		t.Errorf("a share of the table is read as %+v", all)
	}
	if half.Kind != Share || half.Name != "of_half" ||
		!slices.Equal(half.Within, []Attribute{{Column: "age", Level: "half"}}) {
		t.Errorf("a share of halves is read as %+v", half)
	}
}

// A marginal without the table that it needs is one problem, whose fix names the table that has the columns.
func TestAForgottenTableIsOneProblem(t *testing.T) {
	const tables = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {epsilon: 1, split: {a: 1/2, b: 1/2}}
tables:
  health: {source: {csv: h.csv}, unit: {id: id, max_rows: 1}, columns: {region: {values: [n, s]}}}
  wages:
    source: {csv: w.csv}
    unit: {id: id, max_rows: 1}
    columns: {region: {values: [n, s]}, income: {type: integer, range: [0, 100], step: 1}, kind: {values: [x, y]}}
`
	const marginal = `marginals:
  m: {by: [region], stats: [count, {mean: income}, {median: income}], budget: a}
  n: {table: health, by: [region], budget: b}
`
	const model = `marginals: {n: {table: health, by: [region], budget: b}}
models: {m: {predict: {kind: x}, by: [region], budget: a}}
`
	for _, text := range []string{marginal, model} {
		var e *document.Errors
		if _, err := Parse(Source{Name: "r.yaml", Text: tables + text}); !errors.As(err, &e) || len(e.Problems) != 1 ||
			e.Problems[0].Fix != "table: wages" {
			t.Errorf("%v", err)
		}
	}
}
