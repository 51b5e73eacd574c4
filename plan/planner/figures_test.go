package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const payRelease = `version: 1
release: r
privacy: {protects: person, neighbours: replace}
budget: {epsilon: 2}
tables:
  jobs:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 2}
    weight: {from: hours, range: [0, 3], step: 1, kind: design}
    columns:
      sex:   {values: [f, m]}
      size:  {values: [small, large]}
      hours: {type: integer, range: [0, 60], levels: {ten: {width: 10}}}
      pay:   {type: integer, range: {by: size, small: [0, 9], large: [0, 900]}}
      band:  {from: pay, type: integer, range: [0, 899], levels: {two: {edges: [0, 100]}}}
marginals:
  m: {by: [sex, size], stats: [count, {mean: pay}, {median: pay}, {ratio: {of: {sum: pay}, over: count}, as: r}]}
  b: {by: [band.two]}
`

// What a unit's values of a column can move is charged to the column, whether rows are counted by it, its values are
// added up or drawn, they say how, or another column or the weights are read from the same place.
func TestLossOfColumnsThatAreRead(t *testing.T) {
	p := plantest.Must(planner.New(plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: payRelease}))(t)))(t)
	want := map[string]int{ // measurements that change
		"sex": 4, "size": 4, "pay": 4, "band": 4, "hours": 5,
	}
	for column, n := range want {
		_, steps, err := describe.MechanismsOfColumn(p.Plan(), column)
		if err != nil || len(steps) != n {
			t.Errorf("%s: %d measurements change, want %d (%v)", column, len(steps), n, err)
		}
		if !slices.Contains(describe.Attributes(p.Plan()), column) {
			t.Errorf("%s has no loss of its own", column)
		}
	}
	behind := plantest.Must(p.MeasurementsByTable())(t)
	if len(behind[0]) != 4 || len(behind[1]) != 1 {
		t.Errorf("%d and %d measurements bear on the tables", len(behind[0]), len(behind[1]))
	}
}

// Strata of a table have noise of their own; the two terms of a ratio do not, as they are added up in one unit.
func TestSumsByStratum(t *testing.T) {
	p := plantest.Must(planner.New(plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: payRelease}))(t)))(t)
	m, _ := p.Measurement("values/m/pay_sums")
	if v, ok := m.Query.Counted.(counted.Values); !ok || v.Per != "size" || !slices.Equal(v.By, []int64{100, 1}) ||
		!slices.Equal(v.Off, []int64{9, 900}) {
		t.Errorf("%+v", m.Query.Counted)
	}
	// Of 2 rows with weights up to 3 and integers of ±900, one unit in place of another moves 2·2·3·900.
	if got := m.Mechanism.L1.Int64(); got != 10800 {
		t.Errorf("the sensitivity is %d", got)
	}
	whole, ok := p.Measurement("values/m/pay_whole_sums")
	if v := whole.Query.Counted.(counted.Values); !ok || v.Per != "" || v.Times != 1 || v.Minus != 450 {
		t.Errorf("%+v", v)
	}
}

// A share is of rows: of units, of which one can be in several cells, there is none.
func TestSharesAreOfRows(t *testing.T) {
	text := strings.Replace(payRelease, "stats: [count, {mean: pay}", "stats: [units, share, {mean: pay}", 1)
	_, err := planner.New(plantest.Must(spec.Parse(spec.Source{Name: "r.yaml", Text: text}))(t))
	if err == nil || !strings.Contains(err.Error(), "share is of rows, and the table counts units") {
		t.Errorf("a share of units: %v", err)
	}
}
