package report

// This file holds a published table, its counts and their noise.

import (
	"encoding/json"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/usefulness"
)

// Table is one published table.
type Table struct {
	Path       string   `json:"path"` // the file is tables/PATH.parquet
	Marginal   string   `json:"marginal"`
	By         []string `json:"by"`
	Cells      int64    `json:"cells"`
	Impossible int64    `json:"impossible,omitempty"` // of the cells: exact zeros, as the spec declares
	Invariant  string   `json:"invariant,omitempty"`  // whose public figures, or sums of them, the cells are
	Sparse     *Sparse  `json:"sparse,omitempty"`     // of a table of the cells above a threshold
	Top        *Top     `json:"top,omitempty"`        // of a table of chosen cells
	// Discovered is of a table of groups that nobody listed.
	Discovered *Discovered `json:"discovered,omitempty"`
	// attributes along which it counts up: its figures are already added up
	Cumulative []string `json:"cumulative,omitempty"`
	// attributes along which sums of its neighbouring cells are accurate
	Ranges []string `json:"ranges,omitempty"`
	// Counts says what is counted in place of rows, of a table of what is left out.
	Counts string `json:"counts,omitempty"`
	// Aside tables are no marginal of the spec, but bought to judge its bounds and rules by.
	Aside bool `json:"aside,omitempty"`
	// Weighted counts are sums of the weights of rows ([Bounds.Weights]).
	Weighted bool `json:"weighted,omitempty"`
	// Show is the least noisy count of a cell whose figures are published, absent where all are.
	Show        int64        `json:"shown_from,omitempty"`
	Leaf        string       `json:"leaf"` // of the budget, that the spec names for it; "" where it is not split
	Target      *plan.Target `json:"target,omitempty"`
	Expectation string       `json:"expectation"`
	// how good it is beside an average cell; "" where the spec expects no number of rows
	Band        string      `json:"band,omitempty"`
	AverageCell float64     `json:"average_cell,omitempty"` // the rows that the spec expects, spread evenly
	Statistics  []Statistic `json:"statistics"`
	Figures     []Figure    `json:"figures,omitempty"` // beside its count
	Parts       []Part      `json:"parts,omitempty"`   // what they rest on beside it
	Series      []Series    `json:"series,omitempty"`  // cell by cell, of a small table
}

// Statistic is one figure per cell of a table: one measurement, as it was drawn, or a
// sum of the cells of one, or put together from several, which other tables share.
type Statistic struct {
	Name string `json:"name"`
	Of   string `json:"of,omitempty"` // what it counts, where that is not rows, each as one
	// what one integer of its measurement stands for, an exact fraction; "" for 1
	Unit         string   `json:"unit,omitempty"`
	Measurements int      `json:"measurements"`     // that bear on it
	SumOf        string   `json:"sum_of,omitempty"` // path of the measured table of whose cells it is a sum
	Noise        []string `json:"noise,omitempty"`  // kinds of it in them, where the figure is not one measurement
	// Mechanism, Loss (exact, in the account's terms) and PartOfBudget (Loss ÷ charge)
	// are there where the figure is one measurement. What measurements cost that other
	// tables are made from too belongs to no table alone.
	Mechanism    *Mechanism `json:"mechanism,omitempty"`
	Loss         *Amount    `json:"loss,omitempty"`
	PartOfBudget float64    `json:"part_of_budget,omitempty"`
	// StandardError is that of the unbiased figure: the root mean square over the
	// cells. Largest is that of one cell at most, where cells differ.
	StandardError float64 `json:"standard_error"`
	Largest       float64 `json:"largest_standard_error,omitempty"`
	Margin        float64 `json:"margin"`     // half the width of the widest interval
	Confidence    float64 `json:"confidence"` // asked of the interval
	Attained      float64 `json:"attained"`   // by the law of the noise, from below: at least Confidence
	// Apart is from how far apart on two published counts differ beyond noise: of two cells that were picked beforehand
	// and whose exact counts are equal the published ones are so far apart with a chance of at most what Confidence
	// leaves. ApartBound tells that it is from a bound, which holds however the noise of the two is correlated, and not
	// from the law of their difference. Absent of one cell, of a secret sample, and in reports that older versions made.
	Apart      int64 `json:"cells_differ_from,omitempty"`
	ApartBound bool  `json:"cells_differ_bound,omitempty"`
	// Verdict is whether the cells are to be used one by one.
	Verdict    usefulness.Verdict `json:"verdict,omitempty"`
	NoiseCells int64              `json:"noise_dominates"` // cells whose interval reaches zero
	NoiseShare float64            `json:"noise_dominates_share"`
	// NoiseLabels name those cells; absent where the release has too many to be read, and in reports that older versions
	// made.
	NoiseLabels []string `json:"noise_dominates_cells,omitempty"`
	ShownAsZero int64    `json:"negative_shown_as_zero"`
	// Fitted is how far the counts were moved to add up with other tables; absent where they are the estimates, rounded.
	Fitted *Fitted `json:"fitted,omitempty"`
	// Sums over the cells of the published and of the unbiased figures: the first
	// exact; the second exact where the figure is one measurement, else the float64
	// nearest to the exact sum, in the fewest digits that give it back. Absent where the
	// table counts up: its figures are sums themselves.
	TotalPublished json.Number `json:"total_published,omitempty"`
	TotalUnbiased  json.Number `json:"total_unbiased,omitempty"`
	// Relative is absent where no published figure is above zero.
	Relative *RelativeMargin `json:"relative_margin,omitempty"`
	// Fit are the cells by what they are precise enough for; absent where the spec has no classes.
	Fit []FitClass `json:"fit,omitempty"`
}

// Mechanism is the noise of a statistic, or a choice or a block of an adaptive
// method, with exact numbers.
type Mechanism struct {
	Kind string `json:"kind"`
	// scale t of discrete Laplace, σ² of discrete Gaussian, ε of a choice, ρ of a block
	Parameter string `json:"parameter"`
	L1        string `json:"l1,omitempty"`
	L2Squared string `json:"l2_squared,omitempty"`
}

// Sparse says of a table that it has a row for each cell whose noisy count is above a public threshold, and for no
// other.
type Sparse struct {
	Above      int64   `json:"above"`
	Declared   int64   `json:"declared_cells"`             // that got noise, and those that are impossible
	Impossible int64   `json:"impossible_cells,omitempty"` // of them: they are never in the table
	FalseCells float64 `json:"false_cells"`                // cells without a row that are expected in the table, at most
	// a cell of more rows is in the table with the statistic's confidence
	Bound  int64    `json:"bound"`
	Missed []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not in the table.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}

// Top says of a table that it has a row for each cell that was chosen, in the order of the choice, and for no other.
type Top struct {
	Of       int64 `json:"of"`
	Declared int64 `json:"declared_cells"` // among which they were chosen
	// Select made each choice. A unit moves the count of a cell by at most Sensitivity and, where Monotone, of all in one
	// direction.
	Select      Mechanism `json:"select"`
	Sensitivity int64     `json:"sensitivity"`
	Monotone    bool      `json:"monotone"`
	Choosing    string    `json:"choosing"` // the part of the table's budget that choosing took
	// a cell that is not in the table has no more than one that is by over so much
	Shortfall float64 `json:"shortfall"`
	Attained  float64 `json:"attained"` // with this probability or more
}

// Discovered says of a table that it has a row for each group that a selection has let through, and for no other.
type Discovered struct {
	Columns []string `json:"columns"` // whose values nobody lists
	Groups  int64    `json:"groups"`  // in so many a unit counts at most
	AtLeast int64    `json:"at_least,omitempty"`
	Delta   string   `json:"delta"` // reserved for the selection, of that of the release
	// Selection is what it costs beside that, of each group or of all.
	Selection Mechanism `json:"selection"`
	Times     int64     `json:"times"` // how often it is charged
	Chances   []Chance  `json:"chances"`
}

// Chance is with what chance a group of so many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}
