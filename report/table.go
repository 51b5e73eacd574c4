package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
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
	Cumulative []string    `json:"cumulative,omitempty"` // attributes along which it counts up: its figures are already added up
	Ranges     []string    `json:"ranges,omitempty"`     // attributes along which sums of its neighbouring cells are accurate
	// Counts says what is counted in place of rows, of a table of what is left out.
	Counts string `json:"counts,omitempty"`
	// Aside tables are no marginal of the spec, but bought to judge its bounds and rules by.
	Aside bool `json:"aside,omitempty"`
	// Weighted counts are sums of the weights of rows ([Bounds.Weights]).
	Weighted bool `json:"weighted,omitempty"`
	// Show is the least noisy count of a cell whose figures are published, absent where all are.
	Show        int64       `json:"shown_from,omitempty"`
	Leaf        string      `json:"leaf"` // of the budget, that the spec names for it; "" where it is not split
	Target      *Target     `json:"target,omitempty"`
	Expectation string      `json:"expectation"`
	Band        string      `json:"band,omitempty"`         // how good it is beside an average cell; "" where the spec expects no number of rows
	AverageCell float64     `json:"average_cell,omitempty"` // the rows that the spec expects, spread evenly
	Statistics  []Statistic `json:"statistics"`
	Figures     []Figure    `json:"figures,omitempty"` // beside its count
	Parts       []Part      `json:"parts,omitempty"`   // what they rest on beside it
	Series      []Series    `json:"series,omitempty"`  // cell by cell, of a small table
}

// Statistic is one figure per cell of a table: one measurement, as it was drawn, or a
// sum of the cells of one, or put together from several, which other tables share.
type Statistic struct {
	Name         string   `json:"name"`
	Of           string   `json:"of,omitempty"`     // what it counts, where that is not rows, each as one
	Unit         string   `json:"unit,omitempty"`   // what one integer of its measurement stands for, an exact fraction; "" for 1
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
	// Apart is from how far apart on two published counts differ beyond noise: of two cells that were picked beforehand and whose exact
	// counts are equal the published ones are so far apart with a chance of at most what Confidence leaves. ApartBound tells that it
	// is from a bound, which holds however the noise of the two is correlated, and not from the law of their difference. Absent of
	// one cell, of a secret sample, and in reports that older versions made.
	Apart      int64 `json:"cells_differ_from,omitempty"`
	ApartBound bool  `json:"cells_differ_bound,omitempty"`
	// Verdict is whether the cells are to be used one by one.
	Verdict    plan.Verdict `json:"verdict,omitempty"`
	NoiseCells int64        `json:"noise_dominates"` // cells whose interval reaches zero
	NoiseShare float64      `json:"noise_dominates_share"`
	// NoiseLabels name those cells; absent where the release has too many to be read, and in reports that older versions made.
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
	Kind      string `json:"kind"`
	Parameter string `json:"parameter"` // scale t of discrete Laplace, σ² of discrete Gaussian, ε of a choice, ρ of a block
	L1        string `json:"l1,omitempty"`
	L2Squared string `json:"l2_squared,omitempty"`
}

// tablesOf tells of every published table, in the plan's order.
func tablesOf(p *plan.Plan, from sources, tables []synth.Table) ([]Table, error) {
	if len(tables) != len(p.Tables) || len(tables)+len(p.Synthetic) == 0 {
		return nil, fmt.Errorf("%d tables are published, the plan has %d", len(tables), len(p.Tables))
	}
	leaves := map[string]string{}
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			leaves[path] = s.Leaf
		}
	}
	out := make([]Table, len(tables))
	for i, t := range tables {
		var err error
		if out[i], err = tableOf(p, p.Tables[i], t); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		out[i].Leaf = leaves[t.Path]
		for k := range out[i].Statistics {
			s, b := &out[i].Statistics[k], from.behind[i]
			s.Measurements, s.SumOf, s.Noise = b.measurements, b.sumOf, b.noise
			if k == 0 && from.aparts != nil {
				s.driven(from.aparts[i], out[i].Cells-out[i].Impossible)
			}
		}
	}
	return out, nil
}

func tableOf(p *plan.Plan, planned plan.Table, t synth.Table) (Table, error) {
	cells, impossible := planned.Cells, planned.Impossible
	if planned.Sparse != nil || planned.Discovered != nil || planned.Top != nil { // those that are in it, and none that is impossible
		cells, impossible = int64(len(t.Places)), 0
	}
	if t.Path != planned.Path || int64(t.Cells) != cells || len(t.Statistics) != len(planned.Statistics) {
		return Table{}, fmt.Errorf("it is not the plan's table %s", planned.Path)
	}
	out := Table{
		Path: t.Path, Marginal: planned.Marginal, By: append([]string{}, planned.By...), Cells: cells, Impossible: impossible, Sparse: sparseOf(planned), Discovered: discoveredOf(p, planned), Top: topOf(p, planned),
		Target: (*Target)(planned.Target), Expectation: planned.Expectation, Statistics: make([]Statistic, len(t.Statistics)),
	}
	out.Counts, out.Weighted, out.Show, out.Invariant = planned.Counts, planned.Weighted, planned.Show, planned.Invariant
	out.Aside = !slices.ContainsFunc(p.Release().Marginals, func(m spec.Marginal) bool { return m.Name == planned.Marginal })
	if planned.Weighted {
		out.Expectation += " Counts here are sums of weights: that is not how many rows there are."
	}
	out.Cumulative, out.Ranges = summedAlong(p, planned)
	if u := planned.Usefulness; u != nil {
		out.Band, out.AverageCell = string(u.Band), u.AverageCell
	}
	for i, s := range t.Statistics {
		asked := planned.Statistics[i]
		m, alone := p.Measurement(asked.Measurement)
		if s.Name != asked.Name || alone != (asked.Measurement != "") || p.Sample == nil && alone != (s.Whole || asked.Unit != "") {
			return Table{}, fmt.Errorf("statistic %s: the plan does not measure it", s.Name)
		}
		one, err := statisticOf(s, t.Cells, impossible)
		if err != nil {
			return Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
		}
		if err := flaggedPublic(planned, s); err != nil {
			return Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
		}
		if out.Cumulative != nil {
			one.TotalPublished, one.TotalUnbiased = "", ""
		}
		if asked.Uneven > 0 {
			one.Largest = slices.Max(s.Error.Float64Values())
		}
		if alone {
			mechanism := mechanismOf(m.Mechanism)
			loss, part, err := spentOn([]plan.Measurement{m}, p.Spent())
			if err != nil {
				return Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
			}
			one.Mechanism, one.Loss, one.PartOfBudget = &mechanism, &loss, part
		}
		one.Fit = fitOfCounts(p, s)
		one.Verdict = verdictOf(p, planned, out, one, s.Unbiased.Float64Values())
		one.Of, one.Unit = describe.Counted(planned, p.Guarantee.Protects), asked.Unit
		out.Statistics[i] = one
	}
	var err error
	out.Figures, out.Parts, err = figuresOf(p, planned, t)
	return out, err
}

// asideText says what a table is there for that judges bounds or rules.
func (t Table) asideText() string {
	if t.Counts != "" {
		return "counts " + t.Counts
	}
	var names []string
	for _, f := range t.Figures {
		names = append(names, f.What)
	}
	return "to judge a range by: " + inWords(names)
}

// statisticOf tells of the figures of a table, but for what they cost.
func statisticOf(s synth.Statistic, cells int, impossible int64) (Statistic, error) {
	if err := wellFormed(s, cells); err != nil {
		return Statistic{}, err
	}
	published, unbiased := s.Published.Int64Values(), s.Unbiased.Float64Values()
	margin := func(int) float64 { return s.Margin }
	if !s.Whole { // each cell has a margin of its own
		low, high := s.Low.Float64Values(), s.High.Float64Values()
		margin = func(i int) float64 { return (high[i] - low[i]) / 2 }
	}
	out := Statistic{
		Name:          s.Name,
		StandardError: s.StandardError, Margin: s.Margin, Confidence: s.Confidence, Attained: s.Attained,
		TotalPublished: total(published), TotalUnbiased: totalOf(unbiased, s.Whole), Relative: relativeMargin(margin, published),
	}
	possible := int64(cells)
	for i, v := range unbiased {
		if s.Flags[i] == synth.Impossible {
			possible--
		}
		if v < 0 {
			out.ShownAsZero++
		}
		if s.Flags[i] == synth.NoiseDominates {
			out.NoiseCells++
		}
	}
	if int64(cells)-possible != impossible {
		return Statistic{}, fmt.Errorf("the plan has %d impossible cells", impossible)
	}
	out.NoiseShare = part64(out.NoiseCells, possible)
	return out, nil
}

// wellFormed refuses arrays that are not a column of the table, and errors that
// no law of noise has.
func wellFormed(s synth.Statistic, cells int) error {
	if s.Published == nil || s.Published.Len() != cells || len(s.Flags) != cells {
		return fmt.Errorf("its columns do not all have %d cells", cells)
	}
	for _, column := range []*array.Float64{s.Unbiased, s.Low, s.High, s.Error} {
		if column == nil || column.Len() != cells {
			return fmt.Errorf("its columns do not all have %d cells", cells)
		}
		for _, v := range column.Float64Values() {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("its figures, errors and intervals must be finite")
			}
		}
	}
	for _, v := range []float64{s.StandardError, s.Margin, s.Confidence, s.Attained} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("its standard error, margin, confidence and attained level must be finite and not negative")
		}
	}
	return nil
}

// total adds up without overflow.
func total(values []int64) json.Number {
	var high, low int64 // of 2^32 and of 1
	for _, v := range values {
		high += v >> 32
		low += v & (1<<32 - 1)
	}
	sum := new(big.Int).Lsh(big.NewInt(high), 32)
	return json.Number(sum.Add(sum, big.NewInt(low)).String())
}

// exactBits hold any sum of float64 without rounding, up to 2^60 of them: their bits
// lie between 2^-1074 and 2^1024.
const exactBits = 1024 + 1074 + 60

// totalOf adds up exactly. Whole numbers are written in full; the sum of others as
// the nearest float64, in the fewest digits that give it back.
func totalOf(values []float64, whole bool) json.Number {
	sum, term := new(big.Float).SetPrec(exactBits), new(big.Float)
	small := int64(0) // the sum of whole numbers below 2^52, while it is below 2^62
	for _, v := range values {
		if math.Abs(v) < 1<<52 && v == math.Trunc(v) {
			small += int64(v)
		} else {
			sum.Add(sum, term.SetFloat64(v))
		}
		if small >= 1<<62 || small <= -1<<62 {
			sum.Add(sum, new(big.Float).SetInt64(small))
			small = 0
		}
	}
	sum.Add(sum, new(big.Float).SetInt64(small))
	if whole {
		return json.Number(sum.Text('f', 0))
	}
	nearest, _ := sum.Float64()
	return json.Number(strconv.FormatFloat(nearest, 'f', -1, 64))
}

// part64 is n ÷ of, 0 where there is nothing.
func part64(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
