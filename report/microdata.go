package report

// This file holds microdata as the report tells of them: rows that are drawn from
// a model, what was measured for it, and what of them must not be trusted.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// Microdata are the drawn rows of one table.
type Microdata struct {
	Table    string `json:"table"`                    // the file is microdata/TABLE.parquet or, where there are several, TABLE-1.parquet and so on
	Leaf     string `json:"leaf,omitempty"`           // of the budget, which pays for nothing else; absent: they cost nothing
	Method   string `json:"method"`                   // of the plan
	Model    string `json:"model,omitempty"`          // what it is made of, where that is not what the rounds of the method have measured
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
	Columns       []string `json:"columns"`
	Table         string   `json:"table,omitempty"`                     // of the release, which says this; absent: it was measured for the microdata
	Measured      int      `json:"measured"`                            // how often by itself; 0: as part of larger sets alone
	Before        bool     `json:"before_rounds,omitempty"`             // a column as it was measured before the rounds, category by category
	Cells         int64    `json:"cells"`                               // by class, where categories were merged
	StandardError float64  `json:"standard_error"`                      // of the estimate of a cell
	Distance      float64  `json:"distance"`                            // Σ|model − estimate| over the cells
	NoiseDistance float64  `json:"distance_of_noise_alone"`             // √(2/π) · StandardError · Cells
	RowsDistance  float64  `json:"distance_of_rows"`                    // Σ|rows − estimate|; the rows here and below are scaled to the noisy total
	Bound         float64  `json:"distance_of_rows_to_truth,omitempty"` // above Σ|rows − true counts| in 95 of 100 releases; absent: none is known
	Off           int64    `json:"cells_off"`                           // cells whose rows are more than three standard errors off
	Spread        float64  `json:"deviation_between_files,omitempty"`   // of the count of a cell, by the drawing of rows alone
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

// modelOnly is said wherever a reader looks for an error.
const modelOnly = "model only: no interval"

// meanAbsolute is √(2/π), the mean absolute deviation of a normal law of variance 1.
const meanAbsolute = 0.7978845608028654

// microdataOf tells of all microdata, in the plan's order.
func microdataOf(p *plan.Plan, all []synth.Microdata) ([]Microdata, error) {
	if len(all) != len(p.Synthetic) {
		return nil, fmt.Errorf("microdata of %d tables are published, the plan has %d", len(all), len(p.Synthetic))
	}
	var out []Microdata
	for i, s := range p.Synthetic {
		m, err := oneMicrodata(p, s, all[i])
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", s.Table, err)
		}
		out = append(out, m)
	}
	return out, nil
}

func oneMicrodata(p *plan.Plan, s plan.Synthetic, drawn synth.Microdata) (Microdata, error) {
	if err := drawnFor(s, drawn); err != nil {
		return Microdata{}, err
	}
	m := Microdata{
		Table: s.Table, Leaf: s.Leaf, Method: s.Method, Rows: int64(drawn.Rows), Total: drawn.Total, StandardError: drawn.TotalError, Ways: s.Ways, Rounds: s.Rounds, Made: drawn.Rounds,
		Sets: []Set{}, FarCells: []FarCell{}, Interval: modelOnly,
	}
	m.Parent, m.LinkedBy = s.Parent, p.LinkedBy(s)
	for _, f := range s.GivenBy() {
		m.Given = append(m.Given, f.String())
	}
	if drawn.Files > 1 {
		m.Files, m.Parallel = drawn.Files, parallelFiles
	}
	measure := m.measured
	if !s.Adaptive() {
		measure = m.told
	}
	if err := measure(p, s, drawn); err != nil {
		return m, err
	}
	for _, f := range drawn.Fits {
		m.Sets = append(m.Sets, Set{
			Columns: namesOf(f.Columns), Table: f.Table, Measured: f.Measured, Before: f.First, Cells: int64(f.Cells), StandardError: f.Sigma, Distance: f.Distance,
			NoiseDistance: float64(float64(meanAbsolute*f.Sigma) * float64(f.Cells)), RowsDistance: f.Rows, Bound: f.Bound, Off: int64(f.Off), Spread: f.Spread,
		})
	}
	for _, c := range drawn.Furthest {
		categories := slices.Clone(c.Categories)
		for i, n := range c.Merged {
			if n > 1 {
				categories[i] = fmt.Sprintf("one of %d categories", n)
			}
		}
		m.FarCells = append(m.FarCells, FarCell{namesOf(c.Columns), categories, c.Estimate, c.Sigma, c.Model, c.Rows, c.Deviations})
	}
	m.Numbered, m.Origin, m.Trust, m.Distrust = m.numbered(s, drawn.Asked), m.origin(p.Guarantee), m.trust(), m.distrust()
	if drawn.Shape != "" {
		m.Model, m.Trust, m.Distrust = m.ofTables(s, drawn), m.trustTables(), m.distrustTables(drawn)
	}
	if t := p.Release().Table(s.Table); t.Weight != nil {
		m.Distrust += " Rows are made like those of the data, each as one, without their weights: what is counted in them is of the sample and not of the population, and is no count by weight as the tables have it."
	}
	return m, nil
}

// drawnFor refuses rows that are not those of a method of the plan.
func drawnFor(s plan.Synthetic, drawn synth.Microdata) error {
	columns := make([]string, len(s.Columns()))
	for i, f := range s.Columns() {
		columns[i] = f.String()
	}
	keys := make([]string, len(drawn.Keys))
	for i, k := range drawn.Keys {
		keys[i] = k.Attribute.String()
	}
	if method := cmp.Or(drawn.Method, s.Method); s.Refits(method) != nil || (method == plan.Tables) != (drawn.Shape != "") || max(drawn.Files, 1) != s.Drawn() {
		return errors.New("they are by another method than the plan's measurements allow, or in another number of files")
	}
	rows := s.Rows
	if drawn.Asked > 0 {
		rows = drawn.Asked
	}
	switch {
	case drawn.Table != s.Table || !slices.Equal(keys, columns):
		return errors.New("they are not those of the plan")
	case drawn.Rows < 0 || rows > 0 && int64(drawn.Rows) != rows:
		return errors.New("their number is not that of the plan, or that asked for")
	case (drawn.Parents != nil) != (s.Parent != "") || s.Parent != "" && len(drawn.Parents) != drawn.Rows:
		return errors.New("it is not said of each of them which row it belongs to")
	case drawn.Rounds > s.Rounds:
		return fmt.Errorf("they have %d rounds, the plan has %d", drawn.Rounds, s.Rounds)
	}
	figures := []float64{drawn.TotalError}
	for _, f := range drawn.Fits {
		for _, a := range f.Columns {
			if !slices.ContainsFunc(drawn.Keys, func(k synth.Key) bool { return k.Attribute == a || f.Table != "" && k.Attribute.Column == a.Column }) {
				return fmt.Errorf("they have no column %s", a)
			}
		}
		figures = append(figures, f.Sigma, f.Distance, f.Rows, f.Bound, f.Spread)
	}
	for _, c := range drawn.Furthest {
		if len(c.Categories) != len(c.Columns) || len(c.Merged) != len(c.Columns) {
			return errors.New("a cell of theirs does not have a category of each of its columns")
		}
		figures = append(figures, math.Abs(c.Estimate), c.Sigma, c.Model, c.Rows, c.Deviations)
	}
	for _, v := range append(figures, math.Abs(drawn.Total)) {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return errors.New("their total, errors and distances must be finite, and but for the total not negative")
		}
	}
	return nil
}

// lossOfAll is what mechanisms cost together in the terms of a charge, which adds
// them up, with their part of it.
func lossOfAll(steps []budget.Mechanism, charge budget.Cost) (Amount, float64, error) {
	sum, part := new(big.Rat), 0.0
	for _, m := range steps {
		one, of, err := lossOf(m, charge)
		if err != nil {
			return Amount{}, 0, err
		}
		sum.Add(sum, exact(one.Rho))
		part += of
	}
	return Amount{Rho: budget.FormatRat(sum)}, part, nil
}

func (m Microdata) numbered(s plan.Synthetic, asked int64) string {
	switch {
	case m.Parent != "":
		return fmt.Sprintf("Each row belongs to one row of the microdata of %s, that with the same number in column %s. Column %s there says how many it has: so many rows there are, and it was measured with the other columns there.", m.Parent, m.LinkedBy, strings.TrimPrefix(m.Given[len(m.Given)-1], m.Parent+"."))
	case asked > 0 && s.Rows > 0:
		return fmt.Sprintf("Whoever published them asked for as many, where the spec fixes %s: a public number, which tells nothing of the data and costs nothing.", budget.Group(s.Rows))
	case asked > 0:
		return fmt.Sprintf("Whoever published them asked for as many, instead of as many as the noisy total of table %s says: a public number, which tells nothing of the data and costs nothing.", m.Table)
	case s.RowsOf != "":
		return fmt.Sprintf("There are as many rows as invariant %s has: a public figure. No other figure of an invariant is kept to by these rows.", s.RowsOf)
	case s.Rows > 0:
		return "The spec fixes how many rows there are: it is a public number, and tells nothing of the data."
	}
	return fmt.Sprintf("There are as many rows as the noisy total of table %s says, rounded, and none if that is below zero.", m.Table)
}

func (m Microdata) origin(g plan.Guarantee) string {
	return fmt.Sprintf("Every row is drawn at random from a model that was fitted to noisy counts. No row is taken from the data, and no row is that of any %s; one that equals somebody's does so by chance.", g.Protects)
}

func namesOf(columns []spec.Attribute) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.String()
	}
	return names
}

// Asks says what a round does.
func (m Microdata) Asks() string {
	if m.Method == plan.AIM {
		return fmt.Sprintf("each chooses up to %s whose counts the model gets most wrong, and measures them together; the first by", budget.Plural(int64(m.Ways), "column"))
	}
	return "each chooses a pair of columns and measures it, by"
}

// together are the sets of columns that were measured by themselves, in words.
func (m Microdata) together() (names []string) {
	for _, s := range m.Sets {
		if s.Measured > 0 && len(s.Columns) > 1 {
			names = append(names, s.Name())
		}
	}
	return names
}

// mostTogether is how many sets of columns a sentence names.
const mostTogether = 12

func (m Microdata) trust() string {
	s := "Measured were the counts of each column by itself"
	switch names := m.together(); {
	case len(names) == 0:
		s += ", and no pair of them. Of single columns the rows tell what was measured, up to noise"
	case len(names) > mostTogether:
		s += fmt.Sprintf(", and those of %d sets of columns together, which the table names. Of these the rows tell what was measured, up to noise", len(names))
	case m.Ways == 2 && m.Method != plan.AIM:
		s += fmt.Sprintf(", and those of these pairs of columns: %s. Of these the rows tell what was measured, up to noise", strings.Join(names, "; "))
	default:
		s += fmt.Sprintf(", and those of these columns together: %s. Of these the rows tell what was measured, up to noise", strings.Join(names, "; "))
	}
	if m.Parent != "" {
		s += fmt.Sprintf(", as far as the rows of %s have the columns that these are drawn given as they were measured here", m.Parent)
	}
	return s + ", and up to what the drawing of rows adds."
}

func (m Microdata) distrust() string {
	s := m.independence()
	if m.Parent != "" {
		s += fmt.Sprintf(" Rows that belong to one row of %s, of this table or of another one, were drawn independently of each other, given its columns: what else they have in common was not measured. Do not trust what they say of it.", m.Parent)
	}
	return s
}

// independence says which columns were not measured together, and what that means.
func (m Microdata) independence() string {
	switch {
	case len(m.together()) == 0:
		return "How any columns depend on each other was not measured: the model takes them for independent, and so do the rows. Do not trust what they say of it."
	case m.Method == plan.AIM:
		return "How any other columns depend on each other was not measured: the model takes them to depend on each other no more than those sets say, and so do the rows. Do not trust what they say of it. Categories of a column that the noise hid were measured as one: how the rows divide them is a guess."
	}
	return "How any other two columns depend on each other, or any three, was not measured: the model takes them for independent of each other, given the columns between them in the tree that those pairs make, and so do the rows. Do not trust what they say of it."
}

func (r *Report) drawnRows() int64 {
	var n int64
	for _, m := range r.Microdata {
		n += m.Rows
	}
	return n
}

// MicrodataSentence says in the headline that there are microdata; "" where there
// are none.
func (r *Report) MicrodataSentence() string {
	if len(r.Microdata) == 0 {
		return ""
	}
	var parts []string
	for _, m := range r.Microdata {
		parts = append(parts, fmt.Sprintf("%s of microdata of table %s", budget.Plural(m.Rows, "row"), m.Table))
	}
	there := "Beside the tables there are"
	if len(r.Tables) == 0 {
		there = "Published are"
	}
	return fmt.Sprintf("%s %s: drawn from a model, nobody's rows, and without any margin of error (%s).", there, inWords(parts), modelOnly)
}
