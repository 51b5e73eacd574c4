package report

// This file holds microdata: rows that are drawn from a model, and the measurements behind it.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Microdata are the drawn rows of one table.
type Microdata struct {
	// the file is microdata/TABLE.parquet or, if there are several, TABLE-1.parquet and so on
	Table string `json:"table"`
	// of the budget, which pays for nothing else; absent if they cost nothing
	Leaf   string `json:"leaf,omitempty"`
	Method string `json:"method"` // of the plan
	// what it is made from, if that is not the rounds of the method
	Model    string `json:"model,omitempty"`
	Files    int    `json:"files,omitempty"`          // number of files of rows, if there are several
	Parallel string `json:"parallel_files,omitempty"` // what several files show, and what they do not
	// Parent is the table to whose rows these belong, each to one, and Given are its columns on which they are
	// conditioned; the last of these is the number of these rows that a parent row has. LinkedBy is the column in both
	// files that shows which rows belong together.
	Parent        string   `json:"parent,omitempty"`
	Given         []string `json:"given,omitempty"`
	LinkedBy      string   `json:"linked_by,omitempty"`
	Columns       []Column `json:"columns"`
	Rows          int64    `json:"rows"`
	Numbered      string   `json:"numbered"` // how their number was decided
	Total         float64  `json:"total"`    // noisy number of rows of the table, unbiased
	StandardError float64  `json:"total_standard_error"`
	Ways          int      `json:"ways,omitempty"`   // largest number of columns that a round measures together
	Rounds        int      `json:"rounds,omitempty"` // largest number of rounds, in which columns were selected and measured together
	Made          int      `json:"rounds_made"`      // number of rounds that took place
	Loss          Amount   `json:"loss"`             // of all their measurements, exact
	PartOfBudget  float64  `json:"part_of_budget"`   // Loss ÷ charge
	// Choice is the mechanism that selects in the first round, Noise the noise of the counts measured in it, and Block
	// covers all rounds. A method that measures nothing has none of them.
	Choice   *Mechanism `json:"choice,omitempty"`
	Noise    *Mechanism `json:"noise,omitempty"`
	Block    *Mechanism `json:"block,omitempty"`
	Sets     []Set      `json:"sets"`      // all sets whose counts were measured or follow from measurements
	FarCells []FarCell  `json:"far_cells"` // the cells in which the rows are farthest from the measurements
	Interval string     `json:"interval"`  // always modelOnly
	Origin   string     `json:"origin"`    // what a row is, and is not
	Trust    string     `json:"trust"`
	Distrust string     `json:"do_not_trust"`
}

// Column is one column of microdata. An adaptive method measured each separately.
type Column struct {
	Name          string     `json:"name"`
	Cells         int64      `json:"cells"`
	Mechanism     *Mechanism `json:"mechanism,omitempty"`
	StandardError float64    `json:"standard_error,omitempty"` // of the noise of a cell
	Unmeasured    bool       `json:"unmeasured,omitempty"`     // no table contains it: its categories are equally likely
}

// Set is a set of columns whose counts were measured, or are sums of such counts, with the distances of the model and
// of the rows from their unbiased estimate, in rows. The estimate is from a single measurement: of those that determine
// the set, the last with the least noise.
type Set struct {
	Columns []string `json:"columns"`
	// of the release that determines it; absent if it was measured for the microdata
	Table string `json:"table,omitempty"`
	// how often it was measured by itself; 0 if only as part of larger sets
	Measured int `json:"measured"`
	// a column as it was measured before the rounds, category by category
	Before        bool    `json:"before_rounds,omitempty"`
	Cells         int64   `json:"cells"`                   // classes, if categories were merged
	StandardError float64 `json:"standard_error"`          // of the estimate of a cell
	Distance      float64 `json:"distance"`                // Σ|model − estimate| over the cells
	NoiseDistance float64 `json:"distance_of_noise_alone"` // √(2/π) · StandardError · Cells
	// Σ|rows − estimate|; the rows here and below are scaled to the noisy total
	RowsDistance float64 `json:"distance_of_rows"`
	// exceeds Σ|rows − true counts| in 95 of 100 releases; absent if no bound is known
	Bound float64 `json:"distance_of_rows_to_truth,omitempty"`
	// cells whose rows are more than three standard errors from the estimate
	Off int64 `json:"cells_off"`
	// of the count of a cell, from the drawing of rows alone
	Spread float64 `json:"deviation_between_files,omitempty"`
}

// Name returns the columns in words.
func (s Set) Name(l *language.Language) string {
	return strings.Join(s.Columns, " "+l.Text("with")+" ")
}

// FarCell is a cell in which the rows are more than three standard errors from the estimate.
type FarCell struct {
	Columns       []string `json:"columns"`
	Categories    []string `json:"categories"` // one for each column
	Estimate      float64  `json:"estimate"`   // unbiased
	StandardError float64  `json:"standard_error"`
	Model         float64  `json:"model"`
	Rows          float64  `json:"rows"` // scaled to the noisy total
	Deviations    float64  `json:"standard_errors_off"`
}

// Name returns the cell in words.
func (c FarCell) Name() string {
	parts := make([]string, len(c.Columns))
	for i, column := range c.Columns {
		parts[i] = column + " = " + c.Categories[i]
	}
	return strings.Join(parts, ", ")
}

// ModelOnly is stated wherever a reader looks for an error.
var ModelOnly = language.Key("model only: no interval")

// Asks says what a round does, given the mechanisms of its choice and of its measurement in words.
func (m Microdata) Asks(l *language.Language, choice, noise string) string {
	return words.Either(m.Method == plan.AIM,
		l.Text("Each round chooses up to %s whose counts the model gets most wrong, and measures them together. The "+
			"first round chooses by this mechanism: %s. It measures with this noise: %s.",
			l.Plural(int64(m.Ways), "column"), choice, noise),
		l.Text("Each round chooses a pair of columns (%s) and measures it (%s).", choice, noise))
}

// hasSet reports whether is is true for some set.
func (m Microdata) hasSet(is func(Set) bool) bool { return slices.ContainsFunc(m.Sets, is) }

// Compared says what the table of the sets compares.
func (m Microdata) Compared(l *language.Language) string {
	return words.Either(m.hasSet(func(s Set) bool { return len(s.Columns) == 1 }),
		l.Text("This table compares the model and the rows with what was measured, for each column and each set of "+
			"columns whose counts were measured or are sums of measured counts. For every other set of columns the "+
			"rows show only what the model assumes."),
		l.Text("This table compares the model and the rows with what was measured, for each set of columns whose "+
			"counts were measured or are sums of measured counts. For every other set of columns the rows show only "+
			"what the model assumes."))
}

// SetColumns says what the columns of the table of the sets mean.
func (m Microdata) SetColumns(l *language.Language) []Note {
	rounds := words.NonEmpty(
		words.When(m.Block != nil, l.Text("How many rounds measured exactly this set; 0 if it is only part of larger "+
			"measured sets.")),
		words.When(m.hasSet(func(s Set) bool { return s.Before }),
			l.Text("“%s” marks a column as it was measured before the rounds.", l.Text("before"))),
		words.When(m.hasSet(func(s Set) bool { return s.Table != "" }),
			l.Text("“%s” marks a set whose counts come from a table of the release.", l.Text("a table"))),
		words.When(m.Block != nil, l.Text(
			"If a set was measured more than once, the estimate with the least noise is used.")),
	)
	truth := l.Text("In 95 of 100 releases, the distance of the scaled rows from the true counts is below this figure.") +
		words.When(m.hasSet(func(s Set) bool { return s.Bound == 0 }), " "+l.Text("“–” if no such figure is known."))
	all := []Note{
		{Heading: words.Capital(l.Text("rounds")), Text: strings.Join(rounds, " ")},
		{Heading: l.Text("Distances"), Text: l.Text("Absolute differences from the unbiased estimate, in rows, added " +
			"up over the cells: for the model, as noise alone would make them, and for the drawn rows, scaled to " +
			"the noisy total.")},
		{Heading: words.Capital(l.Text("rows to the truth, below")), Text: truth},
		{Heading: words.Capital(l.Text("cells off")), Text: l.Text("Cells in which the scaled rows are more than " +
			"three standard errors from the estimate.")},
	}
	if m.Files > 1 {
		all = append(all, Note{Heading: words.Capital(l.Text("deviation between files")),
			Text: l.Text("The standard deviation of the count of a cell between the files.")})
	}
	return slices.DeleteFunc(all, func(n Note) bool { return n.Text == "" })
}

// Together returns the sets of columns that were measured by themselves, in words.
func (m Microdata) Together(l *language.Language) (names []string) {
	for _, s := range m.Sets {
		if s.Measured > 0 && len(s.Columns) > 1 {
			names = append(names, s.Name(l))
		}
	}
	return names
}

// ParentFile returns the path of the rows to which these belong, "" if they belong to none.
func (m Microdata) ParentFile(l *language.Language) string {
	return words.When(m.Parent != "", Microdata{Table: m.Parent}.File(l))
}

// File returns the path of the files of rows.
func (m Microdata) File(l *language.Language) string {
	return words.Either(m.Files < 2, "microdata/"+m.Table+".parquet",
		l.Text("microdata/%s-1.parquet to %[1]s-%[2]d.parquet", m.Table, m.Files))
}
