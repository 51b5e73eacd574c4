package report

// This file holds a published table, its counts and their noise.

import (
	"encoding/json"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/usefulness"
)

// Table is one published table.
type Table struct {
	Path       string   `json:"path"` // the file is tables/PATH.parquet
	Marginal   string   `json:"marginal"`
	Title      string   `json:"title,omitempty"`
	By         []string `json:"by"`
	ByTitles   []string `json:"by_titles,omitempty"` // what people call the attributes; absent if all have their names
	Cells      int64    `json:"cells"`
	Impossible int64    `json:"impossible,omitempty"` // number of cells that are exact zeros, as the spec declares
	Invariant  string   `json:"invariant,omitempty"`  // whose public figures, or sums of them, the cells are
	Sparse     *Sparse  `json:"sparse,omitempty"`     // for a table of the cells above a threshold
	Top        *Top     `json:"top,omitempty"`        // for a table of selected cells
	// Discovered is present for a table of groups that are not listed.
	Discovered *Discovered `json:"discovered,omitempty"`
	// Texts is present for a table of texts that are not listed.
	Texts *selection.TextsFacts `json:"texts,omitempty"`
	// attributes along which its counts are cumulative
	Cumulative []string `json:"cumulative,omitempty"`
	// attributes along which sums of its neighbouring cells are accurate
	Ranges []string `json:"ranges,omitempty"`
	// Counts says what is counted instead of rows, for a table of what is left out.
	Counts string `json:"counts,omitempty"`
	// Aside tables are not marginals of the spec, but were paid for to judge its bounds and rules.
	Aside bool `json:"aside,omitempty"`
	// Weighted counts are sums of the weights of rows ([Bounds.Weights]).
	Weighted bool `json:"weighted,omitempty"`
	// Show is the least noisy count of a cell whose figures are published; absent if all are.
	Show        int64        `json:"shown_from,omitempty"`
	Leaf        string       `json:"leaf"` // the part of the budget that the spec names for it; "" if the budget is not split
	Target      *plan.Target `json:"target,omitempty"`
	Expectation string       `json:"expectation"`
	// how good it is for an average cell; "" if the spec expects no number of rows
	Band        string      `json:"band,omitempty"`
	AverageCell float64     `json:"average_cell,omitempty"` // the rows that the spec expects, spread evenly
	Statistics  []Statistic `json:"statistics"`
	Figures     []Figure    `json:"figures,omitempty"` // in addition to its count
	Parts       []Part      `json:"parts,omitempty"`   // the measurements that only its figures use
	Series      []Series    `json:"series,omitempty"`  // cell by cell, for a small table
}

// TitlesOf returns what people call attributes of the table.
func (t Table) TitlesOf(attributes []string) []string {
	titles := slices.Clone(attributes)
	for i, attribute := range titles {
		if at := slices.Index(t.By, attribute); at >= 0 && at < len(t.ByTitles) {
			titles[i] = t.ByTitles[at]
		}
	}
	return titles
}

// Statistic is one figure per cell of a table: a single measurement as it was drawn, a sum of the cells of one, or
// reconstructed from several that other tables share.
type Statistic struct {
	Name string `json:"name"`
	Of   string `json:"of,omitempty"` // what it counts, unless it counts each row as one
	// the value of one integer of its measurement, an exact fraction; "" for 1
	Unit         string   `json:"unit,omitempty"`
	Measurements int      `json:"measurements"`     // number of measurements that affect it
	SumOf        string   `json:"sum_of,omitempty"` // path of the measured table whose cells it sums
	Noise        []string `json:"noise,omitempty"`  // kinds of noise in them, unless the figure is a single measurement
	// Mechanism, Loss (exact, in the account's terms) and PartOfBudget (Loss ÷ charge) are present if the figure is a
	// single measurement. The cost of measurements that several tables share belongs to no table alone.
	Mechanism    *Mechanism `json:"mechanism,omitempty"`
	Loss         *Amount    `json:"loss,omitempty"`
	PartOfBudget float64    `json:"part_of_budget,omitempty"`
	// StandardError is the standard error of the unbiased figure: the root mean square over the cells. Largest is the
	// largest of one cell, if cells differ.
	StandardError float64 `json:"standard_error"`
	Largest       float64 `json:"largest_standard_error,omitempty"`
	Margin        float64 `json:"margin"`     // half the width of the widest interval
	Confidence    float64 `json:"confidence"` // requested for the interval
	Attained      float64 `json:"attained"`   // lower bound from the distribution of the noise: at least Confidence
	// CellsDifferFrom is the smallest difference of two published counts that exceeds noise: for two cells that were
	// chosen beforehand and whose exact counts are equal, the published counts differ by that much with a probability
	// of at most 1 − Confidence. CellsDifferBound reports that it is a bound that holds for any correlation of the
	// noise of the two, rather than a quantile of the distribution of their difference. It is absent for a single
	// cell, for a secret sample, and in reports of older versions.
	CellsDifferFrom  int64 `json:"cells_differ_from,omitempty"`
	CellsDifferBound bool  `json:"cells_differ_bound,omitempty"`
	// Verdict says whether the cells may be used one by one.
	Verdict    usefulness.Verdict `json:"verdict,omitempty"`
	NoiseCells int64              `json:"noise_dominates"` // cells whose interval contains zero
	NoiseShare float64            `json:"noise_dominates_share"`
	// NoiseLabels name those cells; absent if the release has too many to be read, and in reports of older versions.
	NoiseLabels []string `json:"noise_dominates_cells,omitempty"`
	ShownAsZero int64    `json:"negative_shown_as_zero"`
	// Fitted is how far the counts were moved to add up with other tables; absent if they are the rounded estimates.
	Fitted *Fitted `json:"fitted,omitempty"`
	// Sums over the cells of the published and of the unbiased figures. The first is exact; the second is exact if the
	// figure is a single measurement, and otherwise the float64 nearest to the exact sum, in the fewest digits that
	// read back the same. They are absent for a cumulative table.
	TotalPublished json.Number `json:"total_published,omitempty"`
	TotalUnbiased  json.Number `json:"total_unbiased,omitempty"`
	// Relative is absent if no published figure is above zero.
	Relative *RelativeMargins `json:"relative_margin,omitempty"`
	// Fit counts the cells by class of precision; absent if the spec has no classes.
	Fit []FitClass `json:"fit,omitempty"`
}

// Mechanism is the noise of a statistic, or a selection or a block of an adaptive method, with exact numbers.
type Mechanism struct {
	Kind string `json:"kind"`
	// scale t of discrete Laplace, σ² of discrete Gaussian, ε of a selection, ρ of a block
	Parameter string `json:"parameter"`
	L1        string `json:"l1,omitempty"`
	L2Squared string `json:"l2_squared,omitempty"`
	// the shares in which several holders draw the noise; absent if one place does
	Shares budget.Shares `json:"shares,omitzero"`
}

// Sparse describes a table with a row for each cell whose noisy count is above a public threshold, and for no other.
type Sparse struct {
	Above      int64   `json:"above"`
	Declared   int64   `json:"declared_cells"`             // cells that got noise, and impossible ones
	Impossible int64   `json:"impossible_cells,omitempty"` // number of these that are impossible, and never in the table
	FalseCells float64 `json:"false_cells"`                // expected number of cells in the table that have no rows, at most
	// a cell with more rows is in the table with the statistic's confidence
	Bound  int64    `json:"bound"`
	Missed []Missed `json:"missed"`
}

// Missed is the probability that a cell with so many rows is not in the table.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}

// Top describes a table with a row for each selected cell, in the order of selection, and for no other.
type Top struct {
	Of       int64 `json:"of"`
	Declared int64 `json:"declared_cells"` // number of cells among which they were selected
	// Select is the mechanism of each selection. The count of a cell has sensitivity at most Sensitivity; Monotone
	// reports that one unit changes the counts of all cells in the same direction.
	Select      Mechanism `json:"select"`
	Sensitivity int64     `json:"sensitivity"`
	Monotone    bool      `json:"monotone"`
	Choosing    string    `json:"choosing"` // the part of the table's budget that selection took
	// a cell that is not in the table exceeds none that is by more than this
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"` // with at least this probability
}

// Discovered describes a table with a row for each group that a private selection chose, and for no other.
type Discovered struct {
	Columns []string `json:"columns"` // whose categories are not listed
	Groups  int64    `json:"groups"`  // largest number of groups in which a unit counts
	AtLeast int64    `json:"at_least,omitempty"`
	Delta   string   `json:"delta"` // the part of the release's δ that is reserved for the selection
	// Selection is its further cost, for each group or for all.
	Selection Mechanism `json:"selection"`
	Times     int64     `json:"times"` // number of times that it is charged
	Chances   []Chance  `json:"chances"`
}

// Chance is the probability that a group with so many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}
