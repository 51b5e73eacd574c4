package report

// This file holds microdata: rows that are drawn from a model, and what was measured for it.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Microdata are the drawn rows of one table.
type Microdata struct {
	// the file is microdata/TABLE.parquet or, where there are several, TABLE-1.parquet and so on
	Table string `json:"table"`
	// of the budget, which pays for nothing else; absent: they cost nothing
	Leaf   string `json:"leaf,omitempty"`
	Method string `json:"method"` // of the plan
	// what it is made of, where that is not what the rounds of the method have measured
	Model    string `json:"model,omitempty"`
	Files    int    `json:"files,omitempty"`          // of rows, where there are several
	Parallel string `json:"parallel_files,omitempty"` // what several files tell, and what not
	// Parent is the table whose rows these belong to, each to one, Given the columns of it that they are drawn given; the
	// last is how many of them a row has. LinkedBy is the column of either file that says which belong together.
	Parent        string   `json:"parent,omitempty"`
	Given         []string `json:"given,omitempty"`
	LinkedBy      string   `json:"linked_by,omitempty"`
	Columns       []Column `json:"columns"`
	Rows          int64    `json:"rows"`
	Numbered      string   `json:"numbered"` // how that number came about
	Total         float64  `json:"total"`    // noisy number of rows of the table, unbiased
	StandardError float64  `json:"total_standard_error"`
	Ways          int      `json:"ways,omitempty"`   // how many columns a round measures together, at most
	Rounds        int      `json:"rounds,omitempty"` // in which columns were chosen and measured together, at most
	Made          int      `json:"rounds_made"`      // how many it were
	Loss          Amount   `json:"loss"`             // of all that was asked for them, exact
	PartOfBudget  float64  `json:"part_of_budget"`   // Loss ÷ charge
	// Choice makes the choice of the first round, Noise is that of the counts then, Block
	// stands for all rounds. A method that measures nothing has none.
	Choice   *Mechanism `json:"choice,omitempty"`
	Noise    *Mechanism `json:"noise,omitempty"`
	Block    *Mechanism `json:"block,omitempty"`
	Sets     []Set      `json:"sets"`      // all whose counts were measured, or follow from what was
	FarCells []FarCell  `json:"far_cells"` // in which the rows are farthest from what was measured
	Interval string     `json:"interval"`  // always modelOnly
	Origin   string     `json:"origin"`    // what a row is, and is not
	Trust    string     `json:"trust"`
	Distrust string     `json:"do_not_trust"`
}

// Column is one column of microdata. By an adaptive method each was measured by itself.
type Column struct {
	Name          string     `json:"name"`
	Cells         int64      `json:"cells"`
	Mechanism     *Mechanism `json:"mechanism,omitempty"`
	StandardError float64    `json:"standard_error,omitempty"` // of the noise of a cell
	Unmeasured    bool       `json:"unmeasured,omitempty"`     // no table tells of it: its categories are drawn alike
}

// Set is a set of columns whose counts were measured, or are sums of such counts: how
// far the model and the rows are from the unbiased estimate of them, in rows. That is of
// one measurement alone, of those that tell of the set the last with the least noise.
type Set struct {
	Columns []string `json:"columns"`
	// of the release, which says this; absent: it was measured for the microdata
	Table string `json:"table,omitempty"`
	// how often by itself; 0: as part of larger sets alone
	Measured int `json:"measured"`
	// a column as it was measured before the rounds, category by category
	Before        bool    `json:"before_rounds,omitempty"`
	Cells         int64   `json:"cells"`                   // by class, where categories were merged
	StandardError float64 `json:"standard_error"`          // of the estimate of a cell
	Distance      float64 `json:"distance"`                // Σ|model − estimate| over the cells
	NoiseDistance float64 `json:"distance_of_noise_alone"` // √(2/π) · StandardError · Cells
	// Σ|rows − estimate|; the rows here and below are scaled to the noisy total
	RowsDistance float64 `json:"distance_of_rows"`
	// above Σ|rows − true counts| in 95 of 100 releases; absent: none is known
	Bound float64 `json:"distance_of_rows_to_truth,omitempty"`
	// cells whose rows are more than three standard errors off
	Off int64 `json:"cells_off"`
	// of the count of a cell, by the drawing of rows alone
	Spread float64 `json:"deviation_between_files,omitempty"`
}

// Name is the columns in words.
func (s Set) Name() string { return strings.Join(s.Columns, " with ") }

// FarCell is a cell in which the rows are more than three standard errors off.
type FarCell struct {
	Columns       []string `json:"columns"`
	Categories    []string `json:"categories"` // of each column
	Estimate      float64  `json:"estimate"`   // unbiased
	StandardError float64  `json:"standard_error"`
	Model         float64  `json:"model"`
	Rows          float64  `json:"rows"` // scaled to the noisy total
	Deviations    float64  `json:"standard_errors_off"`
}

// Name is the cell in words.
func (c FarCell) Name() string {
	parts := make([]string, len(c.Columns))
	for i, column := range c.Columns {
		parts[i] = column + " = " + c.Categories[i]
	}
	return strings.Join(parts, ", ")
}

// ModelOnly is said wherever a reader looks for an error.
const ModelOnly = "model only: no interval"

// Asks says what a round does.
func (m Microdata) Asks() string {
	return words.Either(m.Method == plan.AIM, fmt.Sprintf("each chooses up to %s whose counts the model gets most wrong, and measures them together; the first by", budget.Plural(int64(m.Ways), "column")),
		"each chooses a pair of columns and measures it, by")
}

// Together are the sets of columns that were measured by themselves, in words.
func (m Microdata) Together() (names []string) {
	for _, s := range m.Sets {
		if s.Measured > 0 && len(s.Columns) > 1 {
			names = append(names, s.Name())
		}
	}
	return names
}

// ParentFile is the path of the rows that these belong to; "" where they belong to none.
func (m Microdata) ParentFile() string {
	return words.When(m.Parent != "", Microdata{Table: m.Parent}.File())
}

// File names the files of rows.
func (m Microdata) File() string {
	return words.Either(m.Files < 2, "microdata/"+m.Table+".parquet",
		fmt.Sprintf("microdata/%s-1.parquet to %[1]s-%[2]d.parquet", m.Table, m.Files))
}
