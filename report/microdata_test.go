package report_test

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Three columns with discrete Gaussian noise of σ² = 18 lose 3·1/36 in ρ; two
// rounds lose what their block says. Noise alone moves a cell by √(2/π) standard
// errors on average.
func TestFiguresOfMicrodata(t *testing.T) {
	in := microdataInput(report.Official, "", 36435, 20.5, 14.25)
	m := reportOf(t, in).Microdata[0]
	block := in.Plan.Synthetic[0].Block.Parameter
	if want := budget.FormatRat(new(big.Rat).Add(big.NewRat(3, 36), block)); m.Loss.Rho != want ||
		m.Loss.Epsilon != "" {
		t.Errorf("paid %+v, want ρ = %s", m.Loss, want)
	}
	// the sum of four quotients below 1
	if whole, _ := exactly(t, m.Loss.Rho).Float64(); math.Abs(m.PartOfBudget-whole/0.5) > 1e-15 {
		t.Errorf("%v of the budget, want %v", m.PartOfBudget, whole/0.5)
	}
	for i, want := range []float64{math.Sqrt(2/math.Pi) * math.Sqrt(12) * 9, math.Sqrt(2/math.Pi) * math.Sqrt(12) * 6} {
		if got := m.Sets[i].NoiseDistance; math.Abs(got-want) > 1e-12 {
			t.Errorf("noise alone moves pair %d by %v, want %v", i, got, want)
		}
	}
	if first := m.Sets[0]; first.Name(language.English) != "age.band with status" || first.Cells != 9 ||
		first.Distance != 20.5 ||
		first.RowsDistance != 22.5 || first.Bound != 110.5 || first.Off != 1 {
		t.Errorf("%+v", first)
	}
	if far := m.FarCells[0]; far.Name() != "age.band = 0–15, status = employed" || far.Estimate != -3.5 ||
		far.Rows != 9 {
		t.Errorf("%+v", far)
	}
	if m.Rows != 36435 || m.Rounds != 2 || m.Made != 2 || len(m.Columns) != 3 || m.Columns[1].Name != "age.band" ||
		m.Columns[1].Cells != 3 {
		t.Errorf("%+v", m)
	}
	// the discrete distribution differs slightly from the continuous one
	if c := m.Columns[1]; math.Abs(c.StandardError-math.Sqrt(18)) > 1e-3 {
		t.Errorf("the noise of a column has the standard error %v", c.StandardError)
	}
}

// TestReportOfMicrodataAlone reports a release without tables: the report follows the schema, and no page mentions
// tables.
func TestReportOfMicrodataAlone(t *testing.T) {
	in := microdataOf(report.Official, `version: 1
release: labour-2026q1
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1/2}
tables:
  persons:
    source: {parquet: persons.parquet}
    unit: {id: person_id, max_rows: 1}
    columns:
      sex:    {values: [female, male]}
      age:    {type: integer, range: [0, 110], levels: {band: {edges: [0, 16, 65]}}}
      status: {values: [employed, unemployed, inactive]}
synthetic: {persons: {method: mst, by: [sex, age.band, status]}}
`, 36435, 20.5, 14.25)
	r := reportOf(t, in)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiledSchema(t).Validate(instance); err != nil {
		t.Error(err)
	}
	if m := r.Microdata[0]; m.Loss.Rho != "1/2" && m.PartOfBudget < 0.99 {
		t.Errorf("the microdata have %v of the budget, %+v", m.PartOfBudget, m.Loss)
	}
	if data := r.Registry().Data; data.Kind != "microdata" || data.Tables != 0 {
		t.Errorf("%+v", data)
	}
	for name, page := range pages(t, r) {
		for _, absent := range []string{"Tables and their errors", "Columns of a table", "0 tables",
			"Every number of a table", "at least 100%"} {
			if strings.Contains(page, absent) {
				t.Errorf("%s speaks of %q", name, absent)
			}
		}
		if name != "report.json" && name != "report.html" && !strings.Contains(page, "36 435") &&
			!strings.Contains(page, "36435") {
			t.Errorf("%s does not say how many rows there are", name)
		}
	}
}

// TestMicrodataOfSingleColumnsSaySoFirst reports adaptive microdata no round of which measured a pair: the opening, the
// pages and the terminal say so, and none does if a pair was measured.
func TestMicrodataOfSingleColumnsSaySoFirst(t *testing.T) {
	const says = "no two columns were measured together"
	for name, c := range map[string]struct {
		distances []float64
		is        bool
	}{"no pair": {nil, true}, "a pair": {[]float64{20.5}, false}} {
		r := reportOf(t, microdataInput(report.Official, "", 36435, c.distances...))
		if got := strings.Contains(strings.Join((page.View{Report: r}).Opening(), " "), says); got != c.is {
			t.Errorf("%s: the opening says it is %v: %q", name, got, (page.View{Report: r}).Opening())
		}
		terminal := strings.Join(strings.Fields(string(page.Terminal(r, screen.Look{Columns: 80}, "r", false))), " ")
		head, _, _ := strings.Cut(terminal, " Cost ")
		if got := strings.Contains(head, says); got != c.is {
			t.Errorf("%s: the terminal says it is %v", name, got)
		}
		for page, text := range pages(t, r) {
			if page == "report.json" {
				continue // only figures
			}
			if got := strings.Contains(strings.Join(strings.Fields(text), " "), says); got != c.is {
				t.Errorf("%s: %s says it is %v", name, page, got)
			}
		}
	}
}

// exactly reads an exact number.
func exactly(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, err := budget.ParseRat(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pages returns all pages that a reader may open.
func pages(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	return map[string]string{"report.json": string(r.JSON()), "report.html": pageOf(t, r),
		"report.md": string(page.Markdown(r)), "README.txt": string(page.Readme(r))}
}

// Every page says what the rows are, that nothing is known about their error, what was measured and what was not.
func TestEveryPageSaysWhatMicrodataAre(t *testing.T) {
	for name, text := range pages(t, reportOf(t, microdataInput(report.Official, "", 36435, 20.5, 14.25))) {
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "&#39;", "'")), " ")
		for _, want := range []string{"odel only: no interval",
			"No row is taken from the data, and no row belongs to any person", "age.band with status; sex with status",
			"The model links columns only through the measured pairs", "it belongs to nobody",
			"the noisy total of table"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	for name, text := range pages(t, reportOf(t, microdataInput(report.Official, ", rows: 1000", 1000, 20.5))) {
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text,
			"This is a public number, which says nothing about the data") ||
			strings.Contains(text, "the noisy total of table") {
			t.Errorf("%s does not say that the spec fixes the number of rows", name)
		}
	}
	for name, text := range pages(t, reportOf(t, microdataInput(report.Rehearsal, "", 36435))) {
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text,
			"were measured, but not of any pair of columns") ||
			!strings.Contains(text, "about how columns depend on each other. This was not measured") {
			t.Errorf("%s does not say that no pair was measured", name)
		}
	}
}

// The distance of rows to the truth is stated for rows scaled to the noisy total, whatever their number.
func TestDistancesAreOfScaledRows(t *testing.T) {
	r := reportOf(t, microdataInput(report.Official, ", rows: 1000", 1000, 20.5))
	for name, text := range map[string]string{"report.html": pageOf(t, r), "report.md": string(page.Markdown(r))} {
		for _, want := range []string{"for the drawn rows, scaled to the noisy total",
			"the distance of the scaled rows from the true counts",
			"The rows are scaled to the noisy total"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// For method aim the pages say how its rounds select, and what must not be trusted about its rows. Only the table names
// more sets of columns than a sentence can.
func TestEveryPageSaysWhatAIMMeasured(t *testing.T) {
	in := microdataOf(report.Official, strings.Replace(microdataText(""), "method: mst", "method: aim", 1), 36435, 20.5,
		14.25)
	if in.Plan.Synthetic[0].Method != "aim" {
		t.Fatalf("the method is %s", in.Plan.Synthetic[0].Method)
	}
	r := reportOf(t, in)
	for name, text := range map[string]string{"report.html": pageOf(t, r), "report.md": string(page.Markdown(r))} {
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"Each round chooses up to 3 columns whose counts the model gets most wrong",
			"and counts of these columns together: age.band with status; sex with status",
			"no more than the measured sets imply",
			"categories of a column whose noisy counts were below three standard errors: these were measured as one",
			"age.band = any of 2 categories measured as one, status = employed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	m := &in.Microdata[0]
	for len(m.Fits) < 13 {
		m.Fits = append(m.Fits, m.Fits[0])
	}
	if trust := reportOf(t, in).Microdata[0].Trust; !strings.Contains(trust,
		"and counts of 13 sets of columns together, which the table names") {
		t.Errorf("trust: %s", trust)
	}
}

// The report of a release without microdata does not mention them.
func TestWithoutMicrodataNothingIsSaidOfThem(t *testing.T) {
	for name, text := range pages(t, reportOf(t, input(report.Official, nil))) {
		for _, word := range []string{"icrodata", "adaptive", "rounds"} {
			if strings.Contains(text, word) {
				t.Errorf("%s speaks of %q", name, word)
			}
		}
	}
}

func TestCertificateOfMicrodata(t *testing.T) {
	in := microdataInput(report.Official, "", 36435, 20.5, 14.25)
	r := reportOf(t, in)
	c := r.Certificate
	block := c.Mechanisms[len(c.Mechanisms)-1]
	if block.Mechanism.Kind != "adaptive-block" || block.Mechanism.L1 != "" ||
		block.Mechanism.Parameter != budget.FormatRat(in.Plan.Synthetic[0].Block.Parameter) ||
		block.Uses(language.English) != "microdata/persons, all rounds together, at most 2" {
		t.Errorf("the block is %+v", block)
	}
	loss, err := describe.StatedLoss(in.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Loss.Tables) != len(loss.Tables) || len(c.Loss.Attributes) != len(loss.Attributes) ||
		c.Loss.Whole.Rho != loss.Whole.Rho {
		t.Errorf("loss %+v", c.Loss)
	}
	for i, one := range loss.Attributes {
		if c.Loss.Attributes[i].Of != one.Of || c.Loss.Attributes[i].Rho != one.Rho {
			t.Errorf("attribute %s loses %s, the plan says %s", one.Of, c.Loss.Attributes[i].Rho, one.Rho)
		}
	}
	weighed := map[string]bool{}
	for _, h := range c.Weighed() {
		weighed[h.Hazard] = true
	}
	for _, want := range []string{"Synthetic data taken for the truth", "Readers who are not told the error",
		"Small groups that fare worst"} {
		if !weighed[want] {
			t.Errorf("%q is not left to be weighed", want)
		}
	}
	if e := r.Registry().Data; e.Kind != "tables and microdata" || e.Microdata[0].Rows != 36435 ||
		strings.Join(e.Microdata[0].Columns, " ") != "sex age.band status" ||
		e.Microdata[0].Accuracy != "model only: no interval" {
		t.Errorf("the registry has %+v", e)
	}
	if e := reportOf(t, input(report.Official, nil)).Registry().Data; e.Kind != "tables" || e.Microdata != nil {
		t.Errorf("the registry has %+v", e)
	}
}

func TestNewRefusesMicrodataOfAnotherPlan(t *testing.T) {
	for name, change := range map[string]func(*maker.Input){
		"none":             func(in *maker.Input) { in.Microdata = nil },
		"twice":            func(in *maker.Input) { in.Microdata = append(in.Microdata, in.Microdata[0]) },
		"table":            func(in *maker.Input) { in.Microdata[0].Table = "others" },
		"columns":          func(in *maker.Input) { in.Microdata[0].Keys = in.Microdata[0].Keys[:2] },
		"level":            func(in *maker.Input) { in.Microdata[0].Keys[1].Attribute.Level = "" },
		"fixed rows":       func(in *maker.Input) { in.Microdata[0].Rows++ },
		"rows asked for":   func(in *maker.Input) { in.Microdata[0].RowsRequested = 999 },
		"too many rounds":  func(in *maker.Input) { in.Microdata[0].Rounds++ },
		"a pair":           func(in *maker.Input) { in.Microdata[0].Fits[0].Columns[0] = spec.Attribute{Column: "income"} },
		"a distance":       func(in *maker.Input) { in.Microdata[0].Fits[0].Distance = math.NaN() },
		"a standard error": func(in *maker.Input) { in.Microdata[0].TotalError = -1 },
		"a total":          func(in *maker.Input) { in.Microdata[0].Total = math.Inf(-1) },
		"a plan without": func(in *maker.Input) {
			without := input(report.Official, nil)
			without.Microdata = in.Microdata
			*in = without
		},
	} {
		in := microdataInput(report.Official, ", rows: 1000", 1000, 20.5, 14.25)
		change(&in)
		if _, err := maker.New(in); err == nil || !strings.Contains(err.Error(), "microdata") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A report can describe everything that the planner can plan with microdata: a total below zero, no rows, a guarantee
// in ε and δ.
func TestMicrodataAtTheEdge(t *testing.T) {
	text := strings.Replace(microdataText(""), "{rho: 1/2,", "{epsilon: 3, delta: 1e-6,", 1)
	in := specInput(report.Official, text)
	drawn := microdataInput(report.Official, "", 0, 0).Microdata[0]
	drawn.Total = -3.5
	in.Microdata = []synth.Microdata{drawn}
	for name, page := range pages(t, reportOf(t, in)) {
		if name == "report.html" && !strings.Contains(page, "−3.5, with a standard error") ||
			strings.Contains(page, "NaN") ||
			strings.Contains(page, "<nil>") {
			t.Errorf("%s: %s", name, page)
		}
	}
}

// Microdata have no weights, which the report says only for a table that has some.
func TestMicrodataOfWeightedRows(t *testing.T) {
	const says = "The rows have no weights"
	for weight, want := range map[string]bool{"": false,
		", weight: {from: w, range: [0, 20], step: 1, kind: design}": true} {
		text := strings.Replace(microdataText(""), "max_rows: 1}",
			"max_rows: 1}"+strings.Replace(weight, ", ", "\n    ", 1),
			1)
		r := reportOf(t, microdataOf(report.Official, text, 36435, 20.5, 14.25))
		if got := strings.Contains(r.Microdata[0].Distrust, says); got != want {
			t.Errorf("weights %v: said %v", want, got)
		}
	}
}
