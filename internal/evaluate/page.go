package evaluate

// This file holds what an evaluation says: evaluate.json, and evaluate.md for people.

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"

	"github.com/dprelease/dprelease/histogram/evaluate"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

const (
	evaluationFormat = "dprelease.evaluation/1"
	// evaluationMark stands on every page of an evaluation.
	evaluationMark = "CONFIDENTIAL: compared with the truth; not part of any release"
)

// Evaluation is evaluate.json.
type Evaluation struct {
	Marking    string          `json:"marking"`
	Format     string          `json:"format"`
	Release    string          `json:"release"`
	Status     string          `json:"status"`
	PlanHash   string          `json:"plan_hash"`
	Account    string          `json:"account"`
	Comparison int64           `json:"comparison"` // which one it is of those noted on the account
	Notes      []string        `json:"notes"`
	Tables     []tableTruth    `json:"tables"`
	Microdata  []microdataTrue `json:"microdata,omitempty"`
}

// tableTruth is how far a table lies from the truth.
type tableTruth struct {
	Path  string `json:"path"`
	Cells int64  `json:"cells"`
	Rows  int64  `json:"rows"` // that the truth counts: N
	// CountsUp are the keys along which the figures are running sums, as those of the truth that they are held against.
	CountsUp []string `json:"counts_up,omitempty"`
	// L1 ÷ N of the published figures, and its half; absent where N is 0, of running sums, which are no parts of N,
	// and of chosen cells, which are some of N alone.
	L1OverN *float64 `json:"l1_over_n,omitempty"`
	TVD     *float64 `json:"total_variation_distance,omitempty"`
	// RMSE of the unbiased figures, beside the standard error of the noise.
	RMSE      float64 `json:"rmse"`
	Predicted float64 `json:"rmse_predicted"`
	// Coverage is the part of the intervals that hold the truth, beside the part that
	// the law of the noise gives.
	Coverage float64 `json:"coverage"`
	Attained float64 `json:"coverage_predicted"`
	// Sparse is what a table of the cells above a threshold has and misses; the errors above are then of the cells that it
	// has, which noise has lifted.
	Sparse *SparseTruth `json:"sparse,omitempty"`
	// Top is how good the choice of a table's cells was; the errors above are then of the chosen cells.
	Top *TopTruth `json:"top,omitempty"`
	// Figures are those beside the count.
	Figures []figureTruth `json:"figures,omitempty"`
}

// addParts adds how far the published figures lie from the truth, as a part of all rows; nothing of running sums, which
// are no parts of these.
func addParts(one *tableTruth, _ plan.Table, d evaluate.Difference) {
	if one.Rows > 0 && one.CountsUp == nil {
		l1 := d.L1 / float64(one.Rows)
		tvd := l1 / 2
		one.L1OverN, one.TVD = &l1, &tvd
	}
}

// figureTruth is how far a figure beside the count lies from the truth, over the cells that have one and are published.
type figureTruth struct {
	Name      string  `json:"name"`
	Cells     int64   `json:"cells"`
	Withheld  int64   `json:"withheld"`  // cells
	Undefined int64   `json:"undefined"` // cells without a row
	MeanError float64 `json:"mean_absolute_error"`
	RMSE      float64 `json:"rmse"`
	Intervals int64   `json:"intervals"` // cells that have one
	// Coverage is the part of the intervals that hold the truth; absent where there is none.
	Coverage *float64 `json:"coverage,omitempty"`
}

func figureTruthOf(name string, d evaluate.Difference) figureTruth {
	cells := float64(max(d.Cells, 1))
	out := figureTruth{Name: name, Cells: d.Cells, Withheld: d.Withheld, Undefined: d.Undefined, MeanError: d.L1 / cells,
		RMSE: math.Sqrt(d.Squares / cells), Intervals: d.Bounded}
	if d.Bounded > 0 {
		coverage := float64(d.Covered) / float64(d.Bounded)
		out.Coverage = &coverage
	}
	return out
}

// newEvaluation is what came of a comparison.
func newEvaluation(e *published.Release, number int64, found *evaluate.Differences, products []product) Evaluation {
	v := Evaluation{
		Marking: evaluationMark, Format: evaluationFormat, Release: e.Manifest.Release, Status: e.Manifest.Status,
		PlanHash: e.Plan.Hash(),
		Account:  e.Record.Account, Comparison: number, Notes: notesOf(e, number), Tables: []tableTruth{},
	}
	differences := found.Tables
	for _, t := range comparable(e) {
		d := differences[0]
		figures := differences[1 : 1+len(t.Figures)]
		differences = differences[1+len(t.Figures):]
		compare := comparing[t.Selects()]
		impossible := compare.impossible(t)
		possible := float64(max(d.Cells-impossible, 1)) // the others are exact
		one := tableTruth{
			Path: t.Path, Cells: d.Cells, Rows: int64(math.Round(float64(d.Rows) * t.Statistics[0].UnitValue())),
			RMSE: math.Sqrt(d.Squares / possible), Predicted: t.Statistics[0].StandardError,
			Coverage: float64(d.Covered-impossible) / possible, Attained: t.Statistics[0].Attained,
		}
		for key, up := range published.CountsUp(e.Plan.Plan(), t) {
			if up {
				one.CountsUp = append(one.CountsUp, t.By[key])
			}
		}
		compare.add(&one, t, d)
		for k, f := range t.Figures {
			one.Figures = append(one.Figures, figureTruthOf(f.Name, figures[k]))
		}
		v.Tables = append(v.Tables, one)
	}
	for i, p := range products {
		v.Microdata = append(v.Microdata, p.truth(found.Marginals[i], found.Joints[i]))
	}
	return v
}

// notesOf say how the figures are to be read.
func notesOf(e *published.Release, number int64) []string {
	all := []string{
		fmt.Sprintf("This is comparison %d of account %s with the truth. Every later certificate of the account says how many there were: what is learned here, and decides what is released next, is in no budget.", number, e.Record.Account),
		"The truth is counted anew from the confidential tables by the rules of the plan: the same rows are left out, and values are categorised and units bounded in the same way.",
	}
	if n := len(e.Plan.Tables) - len(comparable(e)); n > 0 {
		all = append(all, fmt.Sprintf(
			"Not compared: %s, of what bounds and policies leave out or of groups that nobody listed.",
			budget.Plural(int64(n), "table")))
	}
	for _, t := range e.Plan.Release().Tables {
		if !t.Unit.Row {
			all = append(all, fmt.Sprintf(
				"Of a %s with more than %s in table %s, other rows may be counted here than in the release: which of them stay is drawn anew. So errors can be larger, and intervals hold less often, than the noise alone explains.",
				e.Plan.Guarantee.Protects, budget.Plural(t.Unit.MaxRows, "row"), t.Name))
		}
	}
	for _, t := range comparable(e) {
		if says := published.BoundText(e.Plan.Plan(), t); says != "" && t.Statistics[0].Name != spec.Units.String() {
			all = append(all, fmt.Sprintf(
				"Table %s counts %s: which rows these are is drawn anew here too, so its errors can be larger by as much.", t.Path,
				says))
		}
	}
	return all
}

//go:embed evaluate.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("evaluation").Funcs(template.FuncMap{
	"text":     markdownText,
	"list":     func(names []string) string { return strings.Join(names, ", ") },
	"group":    budget.Group,
	"whole":    func(v float64) int64 { return int64(v) },
	"plural":   budget.Plural,
	"share":    budget.Percent,
	"digits":   fourDigits,
	"optional": optionalDigits,
	"measure":  func(measure string) string { return measureNames[measure] },
	"shares":   func() []float64 { return evaluate.SubsampleShares },
}).Parse(pageText))

// page is evaluate.md.
func (v Evaluation) page() []byte {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		panic("evaluate: the page always renders: " + err.Error())
	}
	return b.Bytes()
}

// Figured reports whether there are figures beside counts.
func (v Evaluation) Figured() bool {
	return slices.ContainsFunc(v.Tables, func(t tableTruth) bool { return t.Figures != nil })
}

// measureNames are the measures of association as the literature has them.
var measureNames = map[string]string{evaluate.CramersV: "Cramér's V", evaluate.KendallTauB: "Kendall's τ-b"}

// fourDigits writes four significant digits.
func fourDigits(v float64) string { return budget.DecimalNearest(v, 4) }

// optionalDigits writes four significant digits, a dash for none.
func optionalDigits(v *float64) string {
	if v == nil {
		return "–"
	}
	return fourDigits(*v)
}

// markdownText escapes what would be markup in a cell or a paragraph.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "\n",
		" ").Replace(s)
}
