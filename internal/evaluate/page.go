package evaluate

// This file holds the results of an evaluation: evaluate.json, and evaluate.md for people.

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
)

const (
	evaluationFormat = "dprelease.evaluation/1"
	// evaluationMark is printed on every page of an evaluation.
	evaluationMark = "CONFIDENTIAL: compared with the truth; not part of any release"
)

// Evaluation is the content of evaluate.json.
type Evaluation struct {
	Marking    string           `json:"marking"`
	Format     string           `json:"format"`
	Release    string           `json:"release"`
	Status     string           `json:"status"`
	PlanHash   string           `json:"plan_hash"`
	Account    string           `json:"account"`
	Comparison int64            `json:"comparison"` // its number among those noted on the account
	Notes      []string         `json:"notes"`
	Tables     []tableTruth     `json:"tables"`
	Microdata  []microdataTruth `json:"microdata,omitempty"`
	// Predictions are of the models of the release, in the order of the plan, and then as they were asked for.
	Predictions []predictionTruth `json:"predictions,omitempty"`
}

// tableTruth is the error of a table against the truth.
type tableTruth struct {
	Path  string `json:"path"`
	Cells int64  `json:"cells"`
	Rows  int64  `json:"rows"` // counted in the truth: N
	// CountsUp are the keys along which the figures, and the true ones, are cumulative.
	CountsUp []string `json:"counts_up,omitempty"`
	// L1OverN is the L1 error of the published figures ÷ N, and TVD half of it; absent if N is 0, for cumulative
	// figures, which are no parts of N, and for chosen cells, which cover only a part of N.
	L1OverN *float64 `json:"l1_over_n,omitempty"`
	TVD     *float64 `json:"total_variation_distance,omitempty"`
	// RMSE is that of the unbiased figures; Predicted is the standard error of the noise.
	RMSE      float64 `json:"rmse"`
	Predicted float64 `json:"rmse_predicted"`
	// Coverage is the share of intervals that contain the truth; Attained is the share
	// that the law of the noise predicts.
	Coverage float64 `json:"coverage"`
	Attained float64 `json:"coverage_predicted"`
	// Sparse tells which cells a table of the cells above a threshold has and misses. The errors above are then those
	// of published cells, which noise has lifted.
	Sparse *SparseTruth `json:"sparse,omitempty"`
	// Top is the quality of the choice of a table's cells. The errors above are then those of the chosen cells.
	Top *TopTruth `json:"top,omitempty"`
	// Figures are the figures other than the count.
	Figures []figureTruth `json:"figures,omitempty"`
}

// addParts adds the L1 error of the published figures as a share of all rows. It adds nothing for cumulative figures,
// which are no parts of all rows.
func addParts(one *tableTruth, _ plan.Table, d evaluate.Difference) {
	if one.Rows > 0 && one.CountsUp == nil {
		l1 := d.L1 / float64(one.Rows)
		tvd := l1 / 2
		one.L1OverN, one.TVD = &l1, &tvd
	}
}

// figureTruth is the error of a figure other than the count, over the published cells that have one.
type figureTruth struct {
	Name      string  `json:"name"`
	Cells     int64   `json:"cells"`
	Withheld  int64   `json:"withheld"`  // cells
	Undefined int64   `json:"undefined"` // cells without a row
	MeanError float64 `json:"mean_absolute_error"`
	RMSE      float64 `json:"rmse"`
	Intervals int64   `json:"intervals"` // cells with an interval
	// Coverage is the share of intervals that contain the truth; absent if there is no interval.
	Coverage *float64 `json:"coverage,omitempty"`
}

func figureTruthOf(name string, d evaluate.Difference) figureTruth {
	cells := float64(max(d.Cells, 1))
	out := figureTruth{Name: name, Cells: d.Cells, Withheld: d.Withheld, Undefined: d.Undefined,
		MeanError: d.L1 / cells,
		RMSE:      math.Sqrt(d.Squares / cells), Intervals: d.Bounded}
	if d.Bounded > 0 {
		coverage := float64(d.Covered) / float64(d.Bounded)
		out.Coverage = &coverage
	}
	return out
}

// newEvaluation returns the results of a comparison.
func newEvaluation(e *published.Release, number int64, comparison *evaluate.Differences,
	products []microdataClaim, predictions []predictionClaim) Evaluation {
	v := Evaluation{
		Marking: evaluationMark, Format: evaluationFormat, Release: e.Manifest.Release, Status: e.Manifest.Status,
		PlanHash: e.Plan.Hash(),
		Account:  e.Record.Account, Comparison: number, Notes: notesOf(e, number), Tables: []tableTruth{},
	}
	differences := comparison.Tables
	for _, t := range comparableTables(e) {
		d := differences[0]
		figures := differences[1 : 1+len(t.Figures)]
		differences = differences[1+len(t.Figures):]
		compare := comparisons[t.Selects()]
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
		v.Microdata = append(v.Microdata, p.compareMicrodata(comparison.Marginals[i], comparison.Joints[i]))
	}
	for i, p := range predictions {
		v.Predictions = append(v.Predictions, p.truthOf(comparison.Predictions[i]))
	}
	return v
}

// notesOf returns notes on how to read the figures.
func notesOf(e *published.Release, number int64) []string {
	all := []string{
		fmt.Sprintf("This is comparison %d of account %s with the truth. Every later certificate of the account says "+
			"how many there were: what is learned here, and decides what is released next, is in no budget.", number,
			e.Record.Account),
		"The truth is counted anew from the confidential tables by the rules of the plan: the same rows are left " +
			"out, and values are categorised and units bounded in the same way.",
	}
	if n := len(e.Plan.Tables) - len(comparableTables(e)); n > 0 {
		all = append(all, fmt.Sprintf(
			"Not compared: %s, of what bounds and policies leave out or of groups that nobody listed.",
			budget.Plural(int64(n), "table")))
	}
	for _, t := range e.Plan.Release().Tables {
		if !t.Unit.Row {
			all = append(all, fmt.Sprintf(
				"Of a %s with more than %s in table %s, other rows may be counted here than in the release: which of "+
					"them stay is drawn anew. So errors can be larger, and intervals hold less often, than the noise "+
					"alone explains.",
				e.Plan.Guarantee.Protects, budget.Plural(t.Unit.MaxRows, "row"), t.Name))
		}
	}
	for _, t := range comparableTables(e) {
		if says := published.CountedRowsText(e.Plan.Plan(), t); says != "" && !t.CountsUnits() {
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

// markdown returns the content of evaluate.md.
func (v Evaluation) markdown() []byte {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		panic("evaluate: the page always renders: " + err.Error())
	}
	return b.Bytes()
}

// Figured reports whether there are figures other than counts.
func (v Evaluation) Figured() bool {
	return slices.ContainsFunc(v.Tables, func(t tableTruth) bool { return t.Figures != nil })
}

// measureNames are the measures of association by their names in the literature.
var measureNames = map[string]string{evaluate.CramersV: "Cramér's V", evaluate.KendallTauB: "Kendall's τ-b"}

// fourDigits writes four significant digits.
func fourDigits(v float64) string { return budget.DecimalNearest(v, 4) }

// optionalDigits writes four significant digits, a dash for nil.
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
