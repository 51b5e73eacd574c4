package evaluate

// This file holds what an evaluation says: evaluate.json, and evaluate.md for people.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/evaluate"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
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

// SparseTruth is which cells a sparse table has and misses.
type SparseTruth struct {
	Above     int64   `json:"above"`
	Published int64   `json:"published"` // cells
	False     int64   `json:"false"`     // of them without a row
	Predicted float64 `json:"false_predicted"`
	Filled    int64   `json:"filled"` // cells with rows
	Missed    int64   `json:"missed"` // of them not published
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
		impossible := t.Impossible
		if t.Sparse != nil {
			impossible = 0 // none is published
		}
		possible := float64(max(d.Cells-impossible, 1)) // the others are exact
		one := tableTruth{
			Path: t.Path, Cells: d.Cells, Rows: int64(math.Round(float64(d.Rows) * t.Statistics[0].UnitValue())),
			RMSE: math.Sqrt(d.Squares / possible), Predicted: t.Statistics[0].StandardError,
			Coverage: float64(d.Covered-impossible) / possible, Attained: t.Statistics[0].Attained,
		}
		if s := t.Sparse; s != nil {
			one.Sparse = &SparseTruth{s.Above, d.Cells, d.False, s.FalseCells, d.Filled, d.Missed}
		}
		if t.Top != nil {
			one.Top = newTopTruth(t.Top, d)
		}
		for key, up := range published.CountsUp(e.Plan.Plan(), t) {
			if up {
				one.CountsUp = append(one.CountsUp, t.By[key])
			}
		}
		if one.Rows > 0 && one.CountsUp == nil && t.Top == nil {
			l1 := d.L1 / float64(one.Rows)
			tvd := l1 / 2
			one.L1OverN, one.TVD = &l1, &tvd
		}
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

// page is evaluate.md.
func (v Evaluation) page() []byte {
	b := &strings.Builder{}
	fmt.Fprintf(b, "**%s**\n\n# Release %s, compared with the truth\n\n", v.Marking, v.Release)
	fmt.Fprintf(b, "%s. Plan %s.\n\n", v.Status, v.PlanHash)
	for _, note := range v.Notes {
		fmt.Fprintf(b, "%s\n\n", markdownText(note))
	}
	v.tablesPage(b)
	v.figuresPage(b)
	for _, m := range v.Microdata {
		m.page(b)
	}
	fmt.Fprintf(b, "**%s**\n", v.Marking)
	return []byte(b.String())
}

func (v Evaluation) tablesPage(b *strings.Builder) {
	b.WriteString(`## Tables

L1/N is the sum of |published − truth| over all cells, by the number N of rows that the truth counts; the total variation
distance (TVD) is its half. RMSE is that of the unbiased figures, beside the standard error that the plan predicts; "holds" is
the part of the intervals that hold the truth, beside the part that the noise gives on average.

| table | cells | N | L1/N | TVD | RMSE | predicted | holds | predicted |
|:--|--:|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, t := range v.Tables {
		l1, tvd := "–", "–"
		if t.L1OverN != nil {
			l1, tvd = fourDigits(*t.L1OverN), fourDigits(*t.TVD)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", markdownText(t.Path), budget.Group(t.Cells),
			budget.Group(t.Rows),
			l1, tvd, fourDigits(t.RMSE), fourDigits(t.Predicted), budget.Percent(t.Coverage), budget.Percent(t.Attained))
	}
	b.WriteString("\n")
	for _, t := range v.Tables {
		if s := t.Sparse; s != nil {
			fmt.Fprintf(b, "Table %s has %s above %s, of which %s without a row (%s expected at most); of %s with rows it misses %s. Its errors above are those of the cells that it has, which noise has lifted; L1/N is over all.\n\n",
				markdownText(t.Path), budget.Plural(s.Published, "cell"), budget.Group(s.Above), budget.Group(s.False),
				fourDigits(s.Predicted), budget.Plural(s.Filled, "cell"), budget.Group(s.Missed))
		}
		if t.Top != nil {
			b.WriteString(t.Top.sentence(markdownText(t.Path)) + "\n\n")
		}
		if t.CountsUp != nil {
			fmt.Fprintf(b, "Table %s counts up along %s: running sums are held against those of the truth, and have no L1/N.\n\n", markdownText(t.Path), markdownText(strings.Join(t.CountsUp, ", ")))
		}
	}
}

// figuresPage is of the figures beside counts, where there are any.
func (v Evaluation) figuresPage(b *strings.Builder) {
	if !slices.ContainsFunc(v.Tables, func(t tableTruth) bool { return t.Figures != nil }) {
		return
	}
	b.WriteString(`## Figures beside the counts

Errors are over the cells that have the figure and publish it, in its own unit; "holds" is the part of the intervals that hold the
truth, of the cells that have one (95% over all cells; of those that are shown it may be less). The truth is that of the rows as they are
counted: values rounded to the step and brought to the end of the range, units bounded. What clamping changed is not in it.

| table | figure | cells | not published | without rows | mean error | RMSE | intervals | holds |
|:--|:--|--:|--:|--:|--:|--:|--:|--:|
`)
	for _, t := range v.Tables {
		for _, f := range t.Figures {
			holds := "–"
			if f.Coverage != nil {
				holds = budget.Percent(*f.Coverage)
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", markdownText(t.Path), markdownText(f.Name),
				budget.Group(f.Cells),
				budget.Group(f.Withheld), budget.Group(f.Undefined), fourDigits(f.MeanError), fourDigits(f.RMSE),
				budget.Group(f.Intervals), holds)
		}
	}
	b.WriteString("\n")
}

// fourDigits writes four significant digits.
func fourDigits(v float64) string { return budget.DecimalNearest(v, 4) }

// markdownText escapes what would be markup in a cell or a paragraph.
func markdownText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "\n",
		" ").Replace(s)
}
