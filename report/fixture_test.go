package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

const specText = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: labour-${quarter}
about: {title: "Labour force, ${quarter}", population: residents aged 0–110, period: the first quarter of 2026, contact: statistics office}
fit: {precise: 5%, usable: 20%}
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

// noisyCounts are the noisy counts of the fixture's tables.
var noisyCounts = map[string][]int64{
	"status":             {18204, 911, 9377, 19950, 1004, 5023},
	"pairs/sex":          {28490, 25981},
	"pairs/status":       {38159, 1916, 14399},
	"pairs/sex_x_status": {18190, 9, 9380, 19951, -4, 5031},
}

// planned returns the plan of a valid spec.
func planned(text string) *plan.Plan {
	params := map[string]string{}
	if strings.Contains(text, "${quarter}") {
		params["quarter"] = "2026q1"
	}
	release, err := spec.Parse(spec.Source{Name: "labour.yaml", Text: text, Params: params})
	if err != nil {
		panic(err)
	}
	p, err := planner.New(release)
	if err != nil {
		panic(err)
	}
	return p.Plan()
}

// published returns the output of a plan with those noisy counts; other tables get the counts of one of these,
// repeated.
func published(p *plan.Plan, noisy map[string][]int64) []synth.Table {
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for _, m := range p.Measurements {
		counts, ok := noisy[m.ID]
		for i := len(counts); !ok && int64(i) < m.Cells; i++ {
			counts = append(counts, noisyCounts["pairs/sex_x_status"][i%6])
		}
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: integers(counts)})
	}
	tables, err := synth.Estimate(s)
	if err == nil {
		err = synth.Consistent(context.Background(), s, tables, nil)
	}
	if err != nil {
		panic(err)
	}
	return tables
}

func integers(values []int64) *array.Int64 {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewInt64Array()
}

// receiptFor returns the ledger's record of the debit of a plan.
func receiptFor(p *plan.Plan, status report.Status) json.RawMessage {
	cost, err := json.Marshal(p.Cost)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(fmt.Sprintf(
		`{"account": "lfs-panel", "release": %q, "plan_hash": %q, "status": %q, "cost": %s, "date": "2026-03-01", "number": 7, "comparisons": 0, "witnessed": false, "proof": {"hash": %q, "previous": %q}}`,
		p.Name, p.Hash(), status, cost, strings.Repeat("5a", 32), strings.Repeat("0c", 32)))
}

// input is the whole fixture, after a change to its plan.
func input(status report.Status, change func(*plan.Plan)) maker.Input {
	p := planned(specText)
	tables := published(p, noisyCounts)
	if change != nil {
		change(p)
	}
	return maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, status),
		Software: "dprelease 0.1.0",
		Modules:  modules, Approvals: approvals}
}

var (
	modules = []report.Module{{Path: "example.org/noise", Version: "v1.2.3", Sum: "h1:AAAA"},
		{Path: "example.org/parquet/v2", Version: "v2.0.0", Sum: "h1:BBBB"}}
	approvals = []report.Approval{
		{Role: "methodologist", Statement: "I have read this plan.", Signer: "ed25519:AAAA", Fingerprint: "1111 2222"},
		{Role: "officer", Statement: "It may be released every quarter.", Signer: "ed25519:BBBB",
			Fingerprint: "3333 4444",
			Until:       "2026-12-31"},
	}
)

// specInput is the release of a spec.
func specInput(status report.Status, text string) maker.Input {
	p := planned(text)
	return maker.Input{Plan: compiled.Of(p), Tables: published(p, noisyCounts), Receipt: receiptFor(p, status),
		Software: "dprelease 0.1.0"}
}

// microdataText is the fixture's spec with microdata for half of the budget.
func microdataText(entry string) string {
	return changed("{epsilon: 2, split: {headline: 3/5, detail: 2/5}}",
		"{rho: 1/2, split: {headline: 3/10, detail: 1/5, microdata: 1/2}}",
		"sex:    {values: [female, male]}",
		"sex:    {values: [female, male]}\n      age:    {type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}}}") +
		"synthetic: {persons: {budget: microdata, method: mst, by: [sex, age.band, status]" + entry + "}}\n"
}

// microdataInput is a release with microdata whose model has these distances.
func microdataInput(status report.Status, entry string, rows int, distances ...float64) maker.Input {
	return microdataOf(status, microdataText(entry), rows, distances...)
}

// microdataOf is such a release of a spec.
func microdataOf(status report.Status, text string, rows int, distances ...float64) maker.Input {
	in := specInput(status, text)
	s := in.Plan.Synthetic[0]
	drawn := synth.Microdata{Table: s.Table, Rows: rows, Total: 36435.4, TotalError: 3.26}
	levels, err := plan.Query{Table: s.Table, Factors: s.By}.Levels(in.Plan.Release())
	if err != nil {
		panic(err)
	}
	for i, f := range s.By {
		drawn.Keys = append(drawn.Keys, synth.Key{Attribute: spec.Attribute{Column: f.Attribute, Level: f.Level},
			Level: levels[i]})
		drawn.Codes = append(drawn.Codes, make([]uint32, rows))
	}
	for i, d := range distances {
		drawn.Rounds++
		columns := []spec.Attribute{drawn.Keys[1-i].Attribute, drawn.Keys[2].Attribute}
		drawn.Fits = append(drawn.Fits, synth.Fit{
			Columns: columns, Measured: 1, Cells: levels[1-i].Size() * levels[2].Size(), Sigma: math.Sqrt(12),
			Distance: d,
			Rows:     d + 2, Off: 1, Bound: d + 90,
		})
		far := synth.CellFit{Columns: columns, Categories: []string{levels[1-i].Categories[0].Code, "employed"},
			Merged: []int{1, 1}, Estimate: -3.5, Sigma: math.Sqrt(12), Model: 2.25, Rows: 9, Deviations: 3.6}
		if s.Method == plan.AIM { // only this method measures categories as one
			far.Categories[0], far.Merged[0] = "", 2
		}
		drawn.FarthestCells = append(drawn.FarthestCells, far)
	}
	in.Microdata = []synth.Microdata{drawn}
	return in
}

// changed is the fixture's spec with some texts replaced.
func changed(oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(specText) }

// reportOf makes a report, and fails the test on an error.
func reportOf(t testing.TB, in maker.Input) *report.Report {
	t.Helper()
	r, err := maker.New(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pageOf renders a page, and fails the test on an error.
func pageOf(t testing.TB, r *report.Report) string {
	t.Helper()
	b, err := page.HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// manyInput is a practice release of 210 tables of one marginal.
func manyInput() maker.Input {
	var columns, names []string
	for i := range 21 {
		names = append(names, fmt.Sprintf("attribute_%03d_of_the_panel", i))
		columns = append(columns, names[i]+": {values: [yes, no]}")
	}
	return specInput(report.Practice, head("{epsilon: 2}", strings.Join(columns, ", "),
		"pairs: {every: [2], by: ["+strings.Join(names, ", ")+"]}"))
}

// partsInput is a release of n marginals, each with a part of the budget.
func partsInput(n int) maker.Input {
	var parts, marginals []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("part%d: 1/%d", i, n))
		marginals = append(marginals, fmt.Sprintf("part%d: {by: [sex], budget: part%d}", i, i))
	}
	return specInput(report.Official, head("{epsilon: 2, split: {"+strings.Join(parts, ", ")+"}}",
		"sex: {values: [female, male]}", strings.Join(marginals, ", ")))
}

// oneTable is a spec of one table of six cells.
func oneTable(budget string) string {
	return head(budget, "sex: {values: [female, male]}, status: {values: [employed, unemployed, inactive]}",
		"status: {by: [sex, status]}")
}

// head is a spec with the given budget, columns and marginals.
func head(budget, columns, marginals string) string {
	return fmt.Sprintf("version: 1\nparams: {quarter: {pattern: '20\\d\\dq[1-4]'}}\nrelease: labour-${quarter}\n"+
		"privacy: {protects: person, neighbours: add-remove, account: lfs-panel}\nbudget: %s\n"+
		"tables: {persons: {source: {parquet: lfs.parquet}, unit: {id: person_id, max_rows: 1}, columns: {%s}}}\n"+
		"marginals: {%s}\n",
		budget, columns, marginals)
}

// noisyInput is a release of one table with those noisy counts and a margin of 11.
func noisyInput(noisy []int64) maker.Input {
	p := planned(oneTable("{epsilon: 4/15}"))
	return maker.Input{Plan: compiled.Of(p), Tables: published(p, map[string][]int64{"status": noisy}),
		Receipt: receiptFor(p, report.Official), Software: "dprelease 0.1.0"}
}

func floats(values ...float64) *array.Float64 {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewFloat64Array()
}

// residualCounts are noisy answers to residuals of the fixture's columns: integers that are not consistent with each
// other, because of noise.
var residualCounts = map[string][]int64{
	"residuals/persons/total":        {54470},
	"residuals/persons/sex":          {2513, -2507},
	"residuals/persons/status":       {60001, -48710, -11270},
	"residuals/persons/sex_x_status": {-7301, 3290, 4022, 7310, -3301, -4010},
}

// residualsInput is a release in ρ whose tables are reconstructed from residuals.
func residualsInput() maker.Input {
	p := planned(residualsText)
	return maker.Input{Plan: compiled.Of(p), Tables: published(p, residualCounts),
		Receipt:  receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}
}

var residualsText = changed("{epsilon: 2, split: {headline: 3/5, detail: 2/5}}", "{rho: 1/2}", ", budget: headline", "",
	", budget: detail", "",
	"every: [1, 2]", "every: [0, 1, 2]")

// levelsInput is a release in ρ with ages at two levels, in groups of several sizes, so that cells of a table have
// different errors, and a table on another subject.
func levelsInput() maker.Input {
	return specInput(report.Official, levelsText)
}

var levelsText = changed("{epsilon: 2, split: {headline: 3/5, detail: 2/5}}",
	"{rho: 1/2, split: {headline: 1/2, detail: 1/2}}",
	"sex:    {values: [female, male]}",
	"sex:    {values: [female, male]}\n      age:    {type: integer, range: [0, 11], levels: {band: {edges: [0, 2, 5]}}}",
	"  status: {by: [sex, status], budget: headline}\n",
	"  status: {by: [sex, status], budget: headline}\n"+
		"  bands:  {every: [0, 1, 2], by: [sex, age.band], budget: detail}\n  ages:   {by: [age], budget: detail}\n")

// aloneInput is a release of two tables, each a single measurement, with an impossible cell.
func aloneInput() maker.Input {
	p := planned(strings.Replace(impossibleText, "  sexes: {by: [sex]}\n", "  again: {by: [work, sex]}\n", 1))
	tables := published(p, map[string][]int64{"pairs": {2, 400, 300, 700, 0, 1}, "again": {2, 700, 400, 0, 300, 1}})
	return maker.Input{Plan: compiled.Of(p), Tables: tables, Receipt: receiptFor(p, report.Official),
		Software: "dprelease 0.1.0"}
}

// sumsInput is a release of a pure ε in which only the largest table is measured; the others are sums of it.
func sumsInput() maker.Input {
	return specInput(report.Official,
		head("{epsilon: 1}", "sex: {values: [female, male]}, status: {values: [employed, unemployed, inactive]}",
			"pairs: {every: [1, 2], by: [sex, status]}"))
}

// summedInput is a release, with a public number of rows, of a cumulative table, one with ranges, and a plain one.
func summedInput(budget string) maker.Input {
	text := head(budget, "sex: {values: [female, male]}, age: {type: integer, range: [0, 7]}",
		"upto: {by: [sex, age], cumulative: [age]}, ages: {by: [age], ranges: [age]}, sexes: {by: [sex]}")
	return specInput(report.Official, strings.Replace(text, "source: {parquet: lfs.parquet},",
		"source: {parquet: lfs.parquet}, expect: {rows: [700, 900]},", 1))
}

// targetInput is a release with a part of the budget for a target of each cell, and a target for all cells
// simultaneously.
func targetInput() maker.Input {
	return specInput(report.Official, head("{epsilon: 3, delta: 1e-9, split: {a: needed, b: 1}}",
		"sex: {values: [female, male]}, status: {values: [employed, unemployed, inactive]}",
		"sexes: {by: [sex], budget: a, target: {margin: 20}}, pairs: {by: [sex, status], budget: b, target: {margin: "+
			"30, confidence: 99%, of: all-cells}}"))
}
