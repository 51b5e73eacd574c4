package counted

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// Quantiles draws for every cell values of a column, at these shares of the rows in ascending order. The answers are
// cell by cell, and in a cell share by share, as indices of multiples of the column's step. If Weight is set, rows
// count by their weights in steps.
type Quantiles struct {
	Column string   `json:"column"`
	At     []string `json:"at"` // exact fractions
	Weight bool     `json:"weight,omitempty"`
	// Shift, if not 0, says that each share has three answers: its own, and the two ends of its interval. One end is
	// drawn for a rank that is Shift parts of 1/D row lower, with Beyond more candidates before the first, the other
	// for one that is as much higher, with as many more after the last, where D is the least common denominator of all
	// shares. Values beyond the range are then clamped to its end ([budget.Mechanism.QuantileInterval]).
	Shift  int64 `json:"shift,omitempty"`
	Beyond int64 `json:"beyond,omitempty"`
}

// DrawsPerShare is how many values are drawn for a share of a cell: its quantile, and the two ends of its interval.
const DrawsPerShare = 3

// Kind returns [KindQuantiles].
func (Quantiles) Kind() Kind { return KindQuantiles }

// Reads returns the column.
func (q Quantiles) Reads() string { return q.Column }

// Operands names what is read of a row.
func (q Quantiles) Operands() []string { return []string{q.Column, fmt.Sprint(q.Weight)} }

// Weighted reports whether rows count by their weights.
func (q Quantiles) Weighted() bool { return q.Weight }

// Draws returns how many answers there are for each cell.
func (q Quantiles) Draws() int {
	if q.Shift != 0 {
		return DrawsPerShare * len(q.At)
	}
	return len(q.At)
}

// PerCell returns [Quantiles.Draws].
func (q Quantiles) PerCell(*spec.Table) int64 { return int64(q.Draws()) }

// Check returns an error unless the column has a range, and the table the weights that rows count by.
func (q Quantiles) Check(t *spec.Table) error {
	switch c := t.Column(q.Column); {
	case c == nil || c.Lattice == nil:
		return fmt.Errorf("the column %q has no range", q.Column)
	case q.Weight && t.Weight == nil:
		return errUnweighted
	}
	return nil
}

// Extent returns 1 to 1.
func (Quantiles) Extent(*spec.Table) Extent { return one() }

// Shares returns the shares as numbers.
func (q Quantiles) Shares() []float64 {
	out := make([]float64, len(q.At))
	for i, text := range q.At {
		share, _ := new(big.Rat).SetString(text)
		out[i], _ = share.Float64()
	}
	return out
}

// drawn returns the shares, each repeated for each of its draws.
func (q Quantiles) drawn() []*big.Rat {
	var at []*big.Rat
	for _, text := range q.At {
		share, _ := new(big.Rat).SetString(text)
		for range DrawsPerShare {
			at = append(at, share)
		}
	}
	return at
}

// unitRows returns how many rows one unit has: a row of weight w counts as w rows.
func (q Quantiles) unitRows(u Unit) budget.UnitRows {
	all, each := u.Rows()
	if q.Weight {
		all, each = all*u.Table.Weight.Lattice.Last, each*u.Table.Weight.Lattice.Last
	}
	return budget.UnitRows{Total: all, PerCell: each, Cells: u.Cells, Replace: u.Neighbours == spec.Replace}
}

// candidates returns the largest number of values among which a quantile is drawn.
func (q Quantiles) candidates(t *spec.Table) int64 {
	l := t.Column(q.Column).Lattice
	return l.Last - l.First + 1
}

// Mechanism returns the mechanism that a cost buys for the draws.
//
// Guarantee: as [budget.QuantilesFor]. Argument: docs/proofs/quantile.md.
func (q Quantiles) Mechanism(u Unit, cost budget.Cost) (budget.Mechanism, error) {
	return budget.QuantilesFor(cost, q.drawn(), q.unitRows(u))
}

// WithEnds returns the question with the ends of its intervals, which depend on the mechanism that draws them.
func (q Quantiles) WithEnds(t *spec.Table, m budget.Mechanism) (Quantiles, error) {
	var err error
	if q.Shift, q.Beyond, _, err = m.QuantileInterval(q.candidates(t), Confidence); err != nil {
		return q, fmt.Errorf("%s: %w", q.Column, err)
	}
	return q, nil
}

// Shifted returns by how many rows the rank is shifted for an end of an interval, in weight if rows have weights.
func (q Quantiles) Shifted(t *spec.Table, m budget.Mechanism) (float64, error) {
	shift, _, _, err := m.QuantileInterval(q.candidates(t), Confidence)
	return q.inRows(t, shift), err
}

// RankMargin returns the margin of the quantiles' ranks in rows with the usual confidence, in weight if rows have
// weights.
func (q Quantiles) RankMargin(t *spec.Table, m budget.Mechanism) float64 {
	margin, _ := m.RankMargin(q.candidates(t), Confidence)
	return q.inRows(t, margin)
}

// inRows converts a difference of ranks in parts of 1/D row to rows, or to weight.
func (q Quantiles) inRows(t *spec.Table, distance int64) float64 {
	_, denominator, err := budget.CommonShares(q.drawn())
	if err != nil {
		return 0
	}
	unit := 1.0
	if q.Weight {
		unit, _ = t.Weight.Lattice.Step.Float64()
	}
	return float64(unit * float64(distance) / float64(denominator))
}

// Sensitivity stands for the sensitivity of quantiles when budgets are divided: noise of a sum with it has the
// variance of the ranks' errors, in rows of the largest weight. What a draw costs follows from [budget.QuantilesFor],
// whose utility changes by the unit's rows ([Quantiles.Mechanism]).
func (q Quantiles) Sensitivity(u Unit) (*Sensitivity, error) {
	m, err := q.Mechanism(u, budget.Cost{Epsilon: big.NewRat(1, 1)})
	if err != nil {
		return singleIntegerSensitivity(1), nil // the measurement will say so
	}
	deviation := q.RankMargin(u.Table, m) / budget.NormalQuantile((1-Confidence)/2)
	if w := u.Table.Weight; w != nil { // compared with others, whose rows have the largest weight
		most, _ := w.Lattice.Step.Float64()
		deviation /= most * float64(w.Lattice.Last)
	}
	l1, _ := m.L1.Float64()
	l2Squared, _ := m.L2Squared.Float64()
	whole := func(x float64) *big.Int {
		out, _ := big.NewFloat(math.Ceil(x)).Int(nil)
		return out
	}
	return &Sensitivity{L1: whole(deviation / math.Sqrt2),
			L2Squared:     whole(float64(deviation*deviation) * l2Squared / float64(4*l1*l1)),
			LargestFactor: big.NewInt(1)},
		nil
}
