package report

// This file holds a published table as the report tells of it: its noise and
// what that means for its figures, from the published arrays alone.

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// Table is one published table.
type Table struct {
	Path        string      `json:"path"` // the file is tables/PATH.parquet
	Marginal    string      `json:"marginal"`
	By          []string    `json:"by"`
	Cells       int64       `json:"cells"`
	Leaf        string      `json:"leaf"` // of the budget, "" where it is not split
	Expectation string      `json:"expectation"`
	Statistics  []Statistic `json:"statistics"`
}

// Statistic is one figure per cell of a table.
type Statistic struct {
	Name          string    `json:"name"`
	Mechanism     Mechanism `json:"mechanism"`
	Loss          Amount    `json:"loss"`            // exact, in the account's terms
	PartOfBudget  float64   `json:"part_of_budget"`  // Loss ÷ charge
	StandardError float64   `json:"standard_error"`  // of the unbiased figure
	Margin        int64     `json:"margin"`          // half the width of every interval
	Confidence    float64   `json:"confidence"`      // asked of the interval
	Attained      float64   `json:"attained"`        // given by the law of the noise
	NoiseCells    int64     `json:"noise_dominates"` // cells whose interval reaches zero
	NoiseShare    float64   `json:"noise_dominates_share"`
	ShownAsZero   int64     `json:"negative_shown_as_zero"`
	// Sums over the cells of the published and of the unbiased figures.
	TotalPublished json.Number `json:"total_published"`
	TotalUnbiased  json.Number `json:"total_unbiased"`
	// Relative is absent where no published figure is above zero.
	Relative *RelativeMargin `json:"relative_margin,omitempty"`
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
func tablesOf(p *plan.Plan, tables []synth.Table) ([]Table, error) {
	if len(tables) != len(p.Tables) || len(tables) == 0 {
		return nil, fmt.Errorf("%d tables are published, the plan has %d", len(tables), len(p.Tables))
	}
	out := make([]Table, len(tables))
	for i, t := range tables {
		var err error
		if out[i], err = tableOf(p, p.Tables[i], t); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
	}
	return out, nil
}

func tableOf(p *plan.Plan, planned plan.Table, t synth.Table) (Table, error) {
	if t.Path != planned.Path || int64(t.Cells) != planned.Cells || len(t.Statistics) != len(planned.Statistics) {
		return Table{}, fmt.Errorf("it is not the plan's table %s", planned.Path)
	}
	out := Table{
		Path: t.Path, Marginal: planned.Marginal, By: append([]string{}, planned.By...), Cells: planned.Cells,
		Expectation: planned.Expectation, Statistics: make([]Statistic, len(t.Statistics)),
	}
	for i, s := range t.Statistics {
		m, ok := p.Measurement(planned.Statistics[i].Measurement)
		if !ok || s.Name != planned.Statistics[i].Name {
			return Table{}, fmt.Errorf("statistic %s: the plan does not measure it", s.Name)
		}
		out.Leaf = m.Leaf
		var err error
		if out.Statistics[i], err = statisticOf(s, t.Cells, m.Mechanism, p.Cost); err != nil {
			return Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
		}
	}
	return out, nil
}

func statisticOf(s synth.Statistic, cells int, m budget.Mechanism, charge budget.Cost) (Statistic, error) {
	if err := wellFormed(s, cells); err != nil {
		return Statistic{}, err
	}
	loss, part, err := lossOf(m, charge)
	if err != nil {
		return Statistic{}, err
	}
	published, unbiased := s.Published.Int64Values(), s.Unbiased.Int64Values()
	out := Statistic{
		Name:      s.Name,
		Mechanism: mechanismOf(m),
		Loss:      loss, PartOfBudget: part,
		StandardError: s.StandardError, Margin: s.Margin, Confidence: s.Confidence, Attained: s.Attained,
		TotalPublished: total(published), TotalUnbiased: total(unbiased), Relative: relativeMargin(s.Margin, published),
	}
	for i, v := range unbiased {
		if v < 0 {
			out.ShownAsZero++
		}
		if s.Flags[i] == synth.NoiseDominates {
			out.NoiseCells++
		}
	}
	out.NoiseShare = part64(out.NoiseCells, int64(cells))
	return out, nil
}

// wellFormed refuses arrays that are not a column of the table, and errors that
// no law of noise has.
func wellFormed(s synth.Statistic, cells int) error {
	if s.Published == nil || s.Unbiased == nil || s.Published.Len() != cells || s.Unbiased.Len() != cells || len(s.Flags) != cells {
		return fmt.Errorf("its columns do not all have %d cells", cells)
	}
	for _, v := range []float64{s.StandardError, s.Confidence, s.Attained} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("its standard error, confidence and attained level must be finite and not negative")
		}
	}
	if s.Margin < 0 {
		return fmt.Errorf("its margin is negative")
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

// part64 is n ÷ of, 0 where there is nothing.
func part64(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
