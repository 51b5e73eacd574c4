package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/language"
)

// Model is a published model: what it predicts, how well, and what it cost.
type Model struct {
	Name     string   `json:"name"`
	File     string   `json:"file"` // within the release
	Table    string   `json:"table"`
	Leaf     string   `json:"leaf,omitempty"`
	Predicts string   `json:"predicts"` // in words
	By       []string `json:"by"`
	Method   string   `json:"method"` // in words
	Rounds   int      `json:"rounds"`
	// HeldOut is the share of the rows that tested the model, an exact fraction; "" for none.
	HeldOut string `json:"held_out,omitempty"`
	// AUC and Accuracy are missing without held-out rows, and where too few were held out for the noise.
	AUC      *Estimate `json:"auc,omitempty"`
	Accuracy *Estimate `json:"accuracy,omitempty"`
	// Baseline is the accuracy of always giving the more frequent answer.
	Baseline    *Estimate     `json:"baseline,omitempty"`
	Calibration []Calibration `json:"calibration,omitempty"`
	// Unit says in words what scores of an additive model are, such as log-odds. Intercept is the score before any
	// column.
	Unit         string        `json:"unit,omitempty"`
	Intercept    *float64      `json:"intercept,omitempty"`
	Columns      []ModelColumn `json:"columns,omitempty"` // of an additive model
	Pairs        []ModelPair   `json:"pairs,omitempty"`   // likewise
	Terms        []Term        `json:"terms,omitempty"`   // of a regression
	Flags        []string      `json:"flags,omitempty"`   // what is the matter with a regression
	Loss         Amount        `json:"loss"`
	PartOfBudget float64       `json:"part_of_budget"`
	Trust        string        `json:"trust"`
	Distrust     string        `json:"do_not_trust"`
}

// Term is a term of a regression: the intercept, a number, or a category compared with the reference of its column.
type Term struct {
	Column        string   `json:"column,omitempty"`   // absent for the intercept
	Category      string   `json:"category,omitempty"` // absent for a number
	Coefficient   *float64 `json:"coefficient,omitempty"`
	NoiseError    *float64 `json:"noise_error,omitempty"`
	StandardError *float64 `json:"standard_error,omitempty"`
	Low           *float64 `json:"low,omitempty"`
	High          *float64 `json:"high,omitempty"`
	Weight        float64  `json:"weight"`
	Flags         []string `json:"flags,omitempty"`
}

// Name returns the name of a term.
func (t Term) Name(l *language.Language) string {
	switch {
	case t.Column == "":
		return l.Text("intercept")
	case t.Category == "":
		return t.Column
	}
	return t.Column + ": " + t.Category
}

// HasCoefficients reports whether a model is a regression with coefficients, and not with weights alone.
func (m Model) HasCoefficients() bool {
	return slices.ContainsFunc(m.Terms, func(t Term) bool { return t.Coefficient != nil })
}

// Estimate is an estimate with its 95% interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Calibration compares the chances that a model gives with the share of held-out rows that are of the class.
type Calibration struct {
	From  float64   `json:"from"`
	To    float64   `json:"to"`
	Share *Estimate `json:"share,omitempty"` // missing if there are too few rows for the noise
}

// ModelColumn is the table of scores of a column, with the standard errors of the noise in them.
type ModelColumn struct {
	Name       string    `json:"name"`
	Importance float64   `json:"importance"` // mean absolute score
	Categories []string  `json:"categories"`
	Scores     []float64 `json:"scores"`
	Errors     []float64 `json:"standard_errors"`
	// Rows are the noisy numbers of rows with each category that the model was fitted to, each with a standard error.
	Rows       []int64 `json:"counts,omitempty"`
	CountError float64 `json:"count_standard_error,omitempty"`
}

// HasHardlyRows reports whether a model was fitted to hardly any rows with a category, as far as the noise shows it.
func (c ModelColumn) HasHardlyRows(category int) bool {
	return len(c.Rows) > 0 && float64(c.Rows[category]) < c.LeastRows()
}

// LeastRows returns the noisy number of rows below which there are hardly any: 10, or twice its standard error, so that
// at least 97 in 100 categories without rows are below it.
func (c ModelColumn) LeastRows() float64 { return max(10, 2*c.CountError) }

// Lowest returns the category with the lowest score, and Highest that with the highest.
func (c ModelColumn) Lowest() int { return c.extreme(-1) }

// Highest returns the category with the highest score.
func (c ModelColumn) Highest() int { return c.extreme(1) }

func (c ModelColumn) extreme(sign float64) int {
	best := 0
	for i, s := range c.Scores {
		if sign*s > sign*c.Scores[best] {
			best = i
		}
	}
	return best
}

// LargestError returns the largest standard error of a score.
func (c ModelColumn) LargestError() float64 {
	most := 0.0
	for _, e := range c.Errors {
		most = max(most, e)
	}
	return most
}

// Text returns an estimate with its interval.
func (e Estimate) Text(l *language.Language) string {
	return e.text(l, func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) })
}

// PercentText returns a share with its interval, as percentages.
func (e Estimate) PercentText(l *language.Language) string {
	return e.text(l, func(x float64) string { return strconv.FormatFloat(float64(100*x), 'f', 1, 64) + "%" })
}

func (e Estimate) text(l *language.Language, number func(float64) string) string {
	return l.Text("%s (95%% interval %s to %s)", l.Number(number(e.Value)), l.Number(number(e.Low)),
		l.Number(number(e.High)))
}

// AccuracyText returns the accuracy with its interval, and what always giving the more frequent answer would have.
func (m Model) AccuracyText(l *language.Language) string {
	text := m.Accuracy.PercentText(l)
	if m.Baseline == nil {
		return text
	}
	return l.Text("%s; always giving the more frequent answer would have %s", text, m.Baseline.PercentText(l))
}

// LeastRowsText says which categories have hardly any rows, and what their scores are worth; "" if there are none.
func (m Model) LeastRowsText(l *language.Language) string {
	for _, c := range m.Columns {
		if len(c.hardlyAny()) > 0 {
			return l.Text("A category has hardly any rows if their noisy number is below %s. Believe no score there: "+
				"it is taken from neighbours and drawn towards 0, which margins and bands do not show.",
				budget.Group(int64(math.Ceil(c.LeastRows()))))
		}
	}
	return ""
}

// FewText names the categories of a column that hardly any rows have, "" for none.
func (c ModelColumn) FewText(l *language.Language) string {
	few := c.hardlyAny()
	if len(few) == 0 {
		return ""
	}
	return l.Text("Hardly any rows in %s: %s", c.Name, firstCategories(l, few))
}

// firstCategories lists the first few categories, and says how many more there are.
func firstCategories(l *language.Language, all []string) string {
	const most = 8
	list := strings.Join(all[:min(len(all), most)], ", ")
	if more := len(all) - most; more > 0 {
		return l.Text("%s and %d more", list, more)
	}
	return list
}

// hardlyAny returns the categories that hardly any rows have.
func (c ModelColumn) hardlyAny() (few []string) {
	for i, category := range c.Categories {
		if c.HasHardlyRows(i) {
			few = append(few, category)
		}
	}
	return few
}

// CalibrationRange says in words which probabilities a range of the calibration has: rounded to whole percent, or as
// finely as it takes to tell the ranges apart.
func (m Model) CalibrationRange(l *language.Language, i int) string {
	c := m.Calibration[i]
	switch {
	case i == 0:
		return l.Text("below about %s", m.calibrationEdge(l, c.To))
	case i == len(m.Calibration)-1:
		return l.Text("above about %s", m.calibrationEdge(l, c.From))
	}
	return l.Text("about %s to %s", m.calibrationEdge(l, c.From), m.calibrationEdge(l, c.To))
}

func (m Model) calibrationEdge(l *language.Language, edge float64) string {
	const finest = 4
	written := func(x float64, decimals int) string {
		return strconv.FormatFloat(float64(100*x), 'f', decimals, 64) + "%"
	}
	decimals := 0
	for _, c := range m.Calibration {
		for decimals < finest && written(c.From, decimals) == written(c.To, decimals) {
			decimals++
		}
	}
	return l.Number(written(edge, decimals))
}
