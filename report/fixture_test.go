package report_test

// This file holds the inputs that the tests report on: small, fixed, made by hand.

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

const specText = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
about: {title: "Labour force, ${quarter}", population: residents aged 0–110, contact: statistics office}
privacy: {protects: person, neighbours: add-remove, account: lfs-panel}
budget: {epsilon: 2, split: {headline: 3/5, detail: 2/5}}
tables:
  persons:
    source: {parquet: "lfs-${quarter}.parquet"}
    unit: {id: person_id, max_rows: 1}
    columns:
      sex:    {values: [female, male]}
      status: {values: [employed, unemployed, inactive], unknown: {as: inactive}}
marginals:
  status: {by: [sex, status], budget: headline}
  pairs:  {every: [1, 2], by: [sex, status], budget: detail}
`

// column is one published table of the fixture: its noisy counts, and the scale
// of their discrete Laplace noise.
type column struct {
	path, marginal, leaf string
	by                   []string
	noisy                []int64
	scale                *big.Rat
}

var columns = []column{
	{"status", "status", "headline", []string{"sex", "status"}, []int64{18204, 911, 9377, 19950, 1004, 5023}, big.NewRat(3414, 4096)},
	{"pairs/sex", "pairs", "detail", []string{"sex"}, []int64{28490, 25981}, big.NewRat(15360, 4096)},
	{"pairs/status", "pairs", "detail", []string{"status"}, []int64{38159, 1916, 14399}, big.NewRat(15360, 4096)},
	{"pairs/sex_x_status", "pairs", "detail", []string{"sex", "status"}, []int64{18190, 9, 9380, 19951, -4, 5031}, big.NewRat(15360, 4096)},
}

func (c column) mechanism() budget.Mechanism {
	return budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: c.scale, L1: big.NewInt(1), L2Squared: big.NewInt(1)}
}

// handMade is a plan of those tables. It has the parts that a planner fills in,
// without the planner.
func handMade(columns []column) *plan.Plan {
	p := &plan.Plan{
		Format: plan.Format, Name: "labour-2026q1", Title: "Labour force, 2026q1",
		Guarantee: plan.Guarantee{
			Definition: "pure", Epsilon: "2",
			Method:   "the ε of all measurements added up (Dwork, McSherry, Nissim and Smith 2006)",
			Protects: "person", Neighbours: "add-remove", Unit: "all rows with the same person_id", MaxRows: 1, Account: "lfs-panel",
		},
		Cost: budget.Cost{Epsilon: big.NewRat(2, 1)},
		Leaves: []plan.Leaf{
			{Path: "headline", Share: "3/5", Amount: budget.Cost{Epsilon: big.NewRat(6, 5)}, Tables: 1},
			{Path: "detail", Share: "2/5", Amount: budget.Cost{Epsilon: big.NewRat(4, 5)}, Tables: 3},
		},
		Warnings: []string{"status and pairs/sex_x_status ask the same question and are each paid for: drop one"},
		Source: spec.Source{
			Name: "labour.yaml", Text: specText, Params: map[string]string{"quarter": "2026q1"},
		},
	}
	for _, c := range columns {
		margin, attained := c.mechanism().Margin(0.95)
		p.Measurements = append(p.Measurements, plan.Measurement{
			ID: c.path, Leaf: c.leaf, Query: plan.Query{Table: "persons"}, Cells: int64(len(c.noisy)),
			Mechanism: c.mechanism(),
		})
		p.Tables = append(p.Tables, plan.Table{
			Path: c.path, Marginal: c.marginal, By: c.by, Cells: int64(len(c.noisy)),
			Statistics:  []plan.Statistic{{Name: "count", Measurement: c.path, StandardError: math.Sqrt(c.mechanism().Variance()), Margin: margin, Confidence: 0.95, Attained: attained}},
			Expectation: fmt.Sprintf("Within ±%d of the exact count 19 times in 20: good to 10%% for counts of %d or more; a count of %d or less cannot be told from none.", margin, 10*margin, margin),
		})
		p.Size.Cells += int64(len(c.noisy))
	}
	return p
}

// readBack is a plan as read from its plan.json.
func readBack(p *plan.Plan) *plan.Plan {
	read, err := plan.Read(p.Bytes())
	if err != nil {
		panic(err)
	}
	return read
}

// published is what synth makes of noisy counts.
func published(columns []column) []synth.Table {
	tables := make([]synth.Table, len(columns))
	for i, c := range columns {
		margin, attained := c.mechanism().Margin(0.95)
		s := synth.Statistic{
			Name: "count", StandardError: math.Sqrt(c.mechanism().Variance()), Margin: margin, Confidence: 0.95, Attained: attained,
			Flags: make([]synth.Flag, len(c.noisy)),
		}
		shown, low, high := make([]int64, len(c.noisy)), make([]int64, len(c.noisy)), make([]int64, len(c.noisy))
		for j, v := range c.noisy {
			shown[j], low[j], high[j] = max(v, 0), v-margin, v+margin
			if v <= margin && margin > 0 {
				s.Flags[j] = synth.NoiseDominates
			}
		}
		s.Published, s.Unbiased, s.Low, s.High = integers(shown), integers(c.noisy), integers(low), integers(high)
		tables[i] = synth.Table{Path: c.path, Marginal: c.marginal, Statistics: []synth.Statistic{s}, Cells: len(c.noisy)}
	}
	return tables
}

func integers(values []int64) *array.Int64 {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewInt64Array()
}

// receiptFor is the ledger's record of the debit of a plan.
func receiptFor(p *plan.Plan, status report.Status) json.RawMessage {
	cost, err := json.Marshal(p.Cost)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(fmt.Sprintf(`{"account": "lfs-panel", "release": %q, "plan_hash": %q, "status": %q, "cost": %s, "date": "2026-03-01", "sequence": 7, "entry_hash": %q, "previous_hash": %q}`,
		p.Name, p.Hash(), status, cost, strings.Repeat("5a", 32), strings.Repeat("0c", 32)))
}

// input is the fixture as a whole, after a change to its plan. Unchanged it is
// read back, and so comes with the spec as the reader of specs understands it.
func input(status report.Status, change func(*plan.Plan)) report.Input {
	p := handMade(columns)
	if change != nil {
		change(p)
	} else {
		p = readBack(p)
	}
	return report.Input{Plan: p, Tables: published(columns), Receipt: receiptFor(p, status), Software: "dprelease 0.1.0"}
}

// reportOf makes a report that must succeed.
func reportOf(t testing.TB, in report.Input) *report.Report {
	t.Helper()
	r, err := report.New(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pageOf renders a page that must succeed.
func pageOf(t testing.TB, r *report.Report) string {
	t.Helper()
	b, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// many makes a release of n tables, with a scale of n²/16; one table hardly
// gets noise, two hundred are a stress of the page.
func many(n int) report.Input {
	wide := make([]column, n)
	for i := range wide {
		wide[i] = columns[3]
		wide[i].path = fmt.Sprintf("pairs/attribute_%03d_x_another.level", i)
		wide[i].scale = big.NewRat(int64(n)*int64(n), 16)
	}
	p := handMade(wide)
	return report.Input{Plan: p, Tables: published(wide), Receipt: receiptFor(p, report.Practice), Software: "dprelease 0.1.0"}
}

// gaussianInput is the fixture with discrete Gaussian noise and a budget in ρ,
// or one in ε and δ.
func gaussianInput(definition string) report.Input {
	return input(report.Official, func(p *plan.Plan) {
		g := &p.Guarantee
		g.Definition, g.Epsilon, g.Rho = definition, "", "1/2"
		g.Equivalents = []plan.Equivalent{{Delta: "1e-6", Epsilon: 5.3, Method: "a bound"}, {Delta: "1e-9", Epsilon: 6.7, Method: "a bound"}}
		if definition == "approximate" {
			g.Epsilon, g.Delta, g.Equivalents = "5.3", "1e-6", nil
		}
		p.Cost = budget.Cost{Rho: big.NewRat(1, 2)}
		p.Leaves[0].Amount = budget.Cost{Rho: big.NewRat(3, 10)}
		p.Leaves[1].Amount = budget.Cost{Rho: big.NewRat(2, 10)}
		for i := range p.Measurements {
			p.Measurements[i].Mechanism = budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(9, 2), L1: big.NewInt(1), L2Squared: big.NewInt(1)}
		}
	})
}

// noisyInput is a release of one table with those noisy counts.
func noisyInput(noisy []int64) report.Input {
	one := columns[3]
	one.noisy = noisy
	p := handMade([]column{one})
	return report.Input{Plan: p, Tables: published([]column{one}), Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0"}
}
