package workload

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds quantiles that are drawn: what a unit bears on them, and what noise a cost buys.

// drawsOfShare is how many values are drawn for a share of a cell: its quantile, and the two ends of its interval.
const drawsOfShare = 3

// Drawn are the shares of a part of quantiles, each as often as it is drawn.
func (t *Table) Drawn() []*big.Rat {
	var at []*big.Rat
	for _, text := range t.Quantile.At {
		share, _ := new(big.Rat).SetString(text)
		for range drawsOfShare {
			at = append(at, share)
		}
	}
	return at
}

// UnitRows is what one unit bears on a part of quantiles: a row of weight w counts as w rows.
func (t *Table) UnitRows(r *spec.Release) budget.UnitRows {
	confidential := r.Table(t.Marginal.Table)
	cells := t.Groups()
	all, each := RowsOf(confidential.Unit, t.PerUnit, cells)
	if t.Quantile.Weight {
		all, each = all*confidential.Weight.Lattice.Last, each*confidential.Weight.Lattice.Last
	}
	return budget.UnitRows{Total: all, PerCell: each, Cells: cells, Replace: r.Privacy.Neighbours == spec.Replace}
}

// Candidates is among how many values a quantile is drawn at most.
func (t *Table) Candidates(r *spec.Release) int64 {
	l := r.Table(t.Marginal.Table).Column(t.Quantile.Column).Lattice
	return l.Last - l.First + 1
}

// RankSensitivity stands for how far a unit moves quantiles: such that noise of a sum that far has the variance of the
// ranks that they are off by, in rows of the largest weight.
func (t *Table) RankSensitivity(r *spec.Release) *Sensitivity {
	m, err := budget.QuantilesFor(budget.Cost{Epsilon: big.NewRat(1, 1)}, t.Drawn(), t.UnitRows(r))
	if err != nil {
		return &Sensitivity{L1: big.NewInt(1), L2Squared: big.NewInt(1), Reach: big.NewInt(1)} // the measurement will say so
	}
	deviation := t.RankMargin(r, m) / budget.NormalQuantile((1-statistic.Confidence)/2)
	if w := r.Table(t.Marginal.Table).Weight; w != nil { // beside others, whose rows have the largest weight
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
		L2Squared: whole(float64(deviation*deviation) * l2Squared / float64(4*l1*l1)), Reach: big.NewInt(1)}
}

// RankMargin is by how many rows at most the ranks of quantiles are off with the usual confidence; of weights as many
// of theirs.
func (t *Table) RankMargin(r *spec.Release, m budget.Mechanism) float64 {
	margin, _ := m.RankMargin(t.Candidates(r), statistic.Confidence)
	return t.InRows(r, margin)
}

// InRows is a distance in parts of 1/D row in rows; of weights in these.
func (t *Table) InRows(r *spec.Release, distance int64) float64 {
	_, denominator, err := budget.CommonShares(t.Drawn())
	if err != nil {
		return 0
	}
	unit := 1.0
	if t.Quantile.Weight {
		unit, _ = r.Table(t.Marginal.Table).Weight.Lattice.Step.Float64()
	}
	return float64(unit * float64(distance) / float64(denominator))
}

// Draw gives a part of quantiles the mechanism that a cost buys, and the ends of its intervals.
//
// Guarantee: as [budget.QuantilesFor]. Argument: docs/proofs/quantile.md.
func (t *Table) Draw(r *spec.Release, m *plan.Measurement, cost budget.Cost) error {
	var err error
	if m.Mechanism, err = budget.QuantilesFor(cost, t.Drawn(), t.UnitRows(r)); err != nil {
		return err
	}
	q := *t.Quantile
	if q.Shift, q.Beyond, _, err = m.Mechanism.QuantileInterval(t.Candidates(r), statistic.Confidence); err != nil {
		return fmt.Errorf("%s: %w", q.Column, err)
	}
	m.Query.Quantile = &q
	return nil
}
