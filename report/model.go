package report

import (
	"strconv"

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
	AUC          *Estimate     `json:"auc,omitempty"`
	Accuracy     *Estimate     `json:"accuracy,omitempty"`
	Calibration  []Calibration `json:"calibration,omitempty"`
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

// Estimate is an estimate with its 95 % interval.
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
}

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
	number := func(x float64) string { return l.Number(strconv.FormatFloat(x, 'f', 3, 64)) }
	return l.Text("%s (95 %% interval %s to %s)", number(e.Value), number(e.Low), number(e.High))
}
