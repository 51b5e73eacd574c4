package plan

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the microdata of a plan: an adaptive method with all that it may measure and spend.

const (
	// MST is the method that measures every column, then chooses the pairs of columns that a maximum spanning tree of
	// their dependence would have, one a round, and measures each (McKenna, Miklau & Sheldon 2021).
	MST = "mst"
	// AIM is the method that measures every column, then in each round the marginal whose error in a model of all
	// answers so far most exceeds the noise of the coming answer (McKenna, Mullins, Sheldon & Miklau 2022). Categories
	// of a column that the noise hides are merged in all rounds.
	AIM = "aim"
	// Tables is the method that measures nothing: its model is fitted to the tables of the release.
	Tables = "tables"
)

// Synthetic is the microdata of one table. What is measured for it is chosen during measurement, by a method that
// sees answers only; everything here is fixed before: the columns that are measured in any case, the sets of columns
// that may be chosen, the largest number of choices, the mechanisms, and the loss of it all, which is debited whole
// before the first choice.
type Synthetic struct {
	Table  string          `json:"table"`
	Leaf   string          `json:"leaf,omitempty"` // of the budget, which pays for nothing else
	Method string          `json:"method"`
	Why    []phrase.Phrase `json:"why,omitempty"` // why the planner chose the method; nil if the spec names it
	By     []Factor        `json:"by"`            // the columns of the model, in order
	// Parent is the table in which the unit of each row has one row, given which the row is drawn; "" without a parent.
	// The last Given of By are columns of that row, the last of which is its number of rows here: they are measured
	// with the rows of this table, and drawn with the rows of Parent.
	Parent string `json:"parent,omitempty"`
	Given  int    `json:"given,omitempty"`
	// Derived are columns that are written after those of the model, each decided by one of them: they are not
	// measured.
	Derived []Factor `json:"derived,omitempty"`
	Rows    int64    `json:"rows,omitempty"` // public number of rows; 0: the noisy total, or by the parent's rows
	// RowsOf is the invariant that the number comes from, "" if the spec states it for the microdata themselves.
	RowsOf string `json:"rows_of,omitempty"`
	// Files is how many times rows are drawn from the model, each time into a separate file; 0: once.
	Files int `json:"files,omitempty"`
	// Ways is how many columns a round may measure together.
	Ways int `json:"ways,omitempty"`
	// LargestModel is the largest size of the model of [AIM]; nil for [MST], whose model is a tree of pairs.
	LargestModel *ModelSize `json:"most,omitempty"`
	// Rounds is how many candidates are chosen and measured: by [MST] exactly, by [AIM] at most, as its rounds become
	// costlier depending on the answers.
	Rounds int `json:"rounds,omitempty"`
	// Select makes the choice of the first round, and by [MST] of all: the exponential mechanism with this ε.
	Select budget.Mechanism `json:"select,omitzero"`
	// Noise is the noise on what the first round, and by [MST] every one, has chosen.
	Noise budget.Mechanism `json:"noise,omitzero"`
	// Block stands for all rounds in the plan's loss: an adaptive block with the ρ that their choices and measurements
	// have together, by [AIM] at most.
	Block budget.Mechanism `json:"block,omitzero"`
}

// ModelSize is the number of cells of the tables that a model is kept in, and of the largest of them.
type ModelSize struct {
	Cells   int64 `json:"cells"`
	Largest int64 `json:"largest"`
}

// Adaptive reports whether the method measures its columns, and then what its rounds choose.
func (s Synthetic) Adaptive() bool { return s.Method != Tables }

// Adapts reports whether microdata of the plan are made by an adaptive method.
func (p *Plan) Adapts() bool { return slices.ContainsFunc(p.Synthetic, Synthetic.Adaptive) }

// HasRounds reports whether some questions of the plan depend on answers to others.
func (p *Plan) HasRounds() bool { return p.Adapts() || len(p.Models) > 0 }

// Measured returns how many columns are measured for the microdata.
func (s Synthetic) Measured() int {
	if s.Adaptive() {
		return len(s.By)
	}
	return 0
}

// Drawn returns how many times rows are drawn from the model.
func (s Synthetic) Drawn() int { return max(s.Files, 1) }

// Refits returns an error unless a model by a method can be made of what is measured for the microdata.
func (s Synthetic) Refits(method string) error {
	if s.Parent != "" && method != s.Method {
		return fmt.Errorf("rows that are drawn given a row of %s keep the method of the plan, %s", s.Parent, s.Method)
	}
	switch method {
	case s.Method, Tables:
		return nil
	case MST, AIM:
		return fmt.Errorf("method %s needs rounds of its own, and what was measured is by method %s: write %s", method,
			s.Method, s.refitMethods())
	}
	return fmt.Errorf("there is no method %q: write %s", method, s.refitMethods())
}

// refitMethods names the methods by which a model can be made.
func (s Synthetic) refitMethods() string {
	if s.Method == Tables {
		return Tables
	}
	return Tables + " or " + s.Method
}

// Columns returns all columns of the microdata, in order: the model's, followed by the derived ones.
func (s Synthetic) Columns() []Factor { return append(slices.Clone(s.By), s.Derived...) }

// DerivedColumn returns, for the i-th derived column, the index in By of the column that decides it, and for each
// category of that column the category of the derived one. It returns an error for microdata that the release's planner
// does not make.
func (p *Plan) DerivedColumn(s Synthetic, i int) (from int, of []int, err error) {
	t := p.Release().Table(s.Table)
	if t == nil || i < 0 || i >= len(s.Derived) {
		return 0, nil, fmt.Errorf("the microdata of %s have no derived column number %d", s.Table, i+1)
	}
	return s.OriginOf(t, s.Derived[i])
}

// OriginOf returns the column of microdata that decides a derived one.
func (s Synthetic) OriginOf(t *spec.Table, derived Factor) (from int, of []int, err error) {
	counted := attributes.Counted(t, spec.Attribute{Column: derived.Attribute, Level: derived.Level})
	for i, f := range s.By {
		if of, ok := attributes.CoarserCategories(t, spec.Attribute{Column: f.Attribute, Level: f.Level}, counted); ok {
			return i, of, nil
		}
	}
	return 0, nil, fmt.Errorf("%s is derived from %s, which no column under `by` decides: add %s, or leave %s out",
		derived, counted, counted, derived)
}

// Column returns the ID of the measurement of one of the columns, which is among the plan's measurements.
func (s Synthetic) Column(i int) string {
	return fmt.Sprintf("%s/%s", s.Name(), s.By[i])
}

// Name returns the name of the microdata among the tables of a release.
func (s Synthetic) Name() string { return "microdata/" + s.Table }

// ColumnsOf returns the measurements of the columns of the i-th microdata, in the order of By.
func (p *Plan) ColumnsOf(i int) []Measurement {
	from := len(p.TableMeasurements())
	for _, s := range p.Synthetic[:i] {
		from += s.Measured()
	}
	return p.Measurements[from : from+p.Synthetic[i].Measured()]
}

// Mechanisms returns all that the plan does to the confidential tables, for the accountants: the mechanism of every
// measurement, and the block of every adaptive method.
func (p *Plan) Mechanisms() []budget.Mechanism {
	steps := Mechanisms(p.Measurements)
	for _, s := range p.Synthetic {
		if s.Adaptive() {
			steps = append(steps, s.Block)
		}
	}
	for _, m := range p.Models {
		steps = append(steps, m.Mechanisms()...)
	}
	return steps
}
