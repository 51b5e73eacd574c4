package workload

import (
	"math"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the distributions that quantiles can be read from: their bins, and how far one unit moves their
// counts.

// distributed is how far one unit can move the answers of a distribution, of at most all rows, at most each of them in
// a cell, and each of a weight of at most most.
//
// Guarantee: no two neighbours have answers further apart, in either norm. Neighbours: under add-remove one unit's rows
// come or go; under replace others come in their place. Theorem: a row adds its weight times one column a of an integer
// matrix to the answers of its cell, of norms N = ‖a‖₁ and S ≥ ‖a‖₂². The rows of a unit add a vector u of ‖u‖₁ ≤
// all·w·N and, as ‖u_c‖₂ ≤ w·rows_c·√S in each cell c, of ‖u‖₂² ≤ w²·S·Σ rows_c². Of two such, ‖u−v‖₂² = ‖u‖² + ‖v‖² −
// 2⟨u, v⟩, where two rows of one cell have an inner product of at least −w²·facing, so that −⟨u, v⟩ ≤ w²·facing·Σ
// u_c·v_c, and that is at most Σ rows_c² again (Cauchy–Schwarz). Argument: docs/proofs/distribution.md.
func distributed(d plan.Distribution, n spec.Neighbours, l *domain.Lattice, all, each, most, cells int64) (*Sensitivity,
	error) {
	norm, squares, reach, facing, err := d.Moves(l)
	if err != nil {
		return nil, err
	}
	w := big.NewInt(most)
	if d.Total == 0 {
		return SumSensitivity(n, extent{new(big.Int), w}, all, each, cells), nil
	}
	rows := concentrated(all, each)
	rows.Mul(rows, w).Mul(rows, w)
	out := &Sensitivity{L1: big.NewInt(norm), L2Squared: big.NewInt(squares),
		Reach: new(big.Int).Mul(big.NewInt(reach), w)}
	out.L1.Mul(out.L1, big.NewInt(all)).Mul(out.L1, w)
	if n == spec.Replace {
		out.L1.Lsh(out.L1, 1)
		out.L2Squared.Add(out.L2Squared, big.NewInt(facing)).Lsh(out.L2Squared, 1)
	}
	out.L2Squared.Mul(out.L2Squared, rows)
	return out, nil
}

// A drawn quantile is off in rank by about the logarithm of how many values there are, times the number of draws in a
// pure budget and its root else; one that is read from a distribution by the noise of the counts up to it, however many
// are read, and by the width of a bin. What is compared is half the width of an interval, for a cell of goodRows rows
// that lie evenly over a tenth of the column's range: few columns fill theirs, and the fewer rows lie in a bin the less
// its width counts.
const rangeFilled = 10

// MostDistributed bounds the answers of a distribution.
const MostDistributed = int64(1) << 24

// CanDistribute tells that quantiles of a part can be read from a distribution: of cells that have one range, and that
// are neither asked for targets, nor for bounds of a range that is only guessed.
func (t *Table) CanDistribute(r *spec.Release, needed bool) bool {
	l := r.Table(t.Marginal.Table).Column(t.Quantile.Column).Lattice
	apart := slices.ContainsFunc(t.Counted, func(a spec.Attribute) bool { return a.Column == l.By }) // cells of strata
	return !needed && !t.Of.guessed && !apart && l.Last > l.First && l.Last-l.First < math.MaxUint32
}

// Reference is what is compared: how many rows, by weight, a cell has, and over how much of the column's unit they lie.
func (t *Table) Reference(r *spec.Release) (rows, over float64) {
	confidential := r.Table(t.Marginal.Table)
	l := confidential.Column(t.Quantile.Column).Lattice
	step, _ := l.Step.Float64()
	rows = GoodRows
	if t.Quantile.Weight {
		one, _ := confidential.Weight.Lattice.Step.Float64()
		rows *= float64(one * float64(confidential.Weight.Lattice.Last))
	}
	return rows, float64(step*float64(l.Last-l.First)) / rangeFilled
}

// Shares are those of the quantiles of a part.
func (t *Table) Shares() []float64 {
	out := make([]float64, len(t.Quantile.At))
	for i, text := range t.Quantile.At {
		share, _ := new(big.Rat).SetString(text)
		out[i], _ = share.Float64()
	}
	return out
}

// Groups is how many cells a part of quantiles has.
func (t *Table) Groups() int64 { return t.Cells / drawsOfShare / int64(len(t.Quantile.At)) }

// noiseOf is the sum of the squares of the weights that the noise of answers has in F − qN, for F the rows up to the
// bin of the quantile of a share q and N those of the cell: on the mean over bins that are spread evenly over the
// range, as the quantile may be in any. The first is the part of the answer that is Total times N, for a Total of 1.
func noiseOf(d plan.Distribution, l *domain.Lattice, shares []float64) (total, others []float64, err error) {
	n := int(d.Bins(l))
	c, axis, err := d.Strategy(l)
	if err != nil {
		return nil, nil, err
	}
	total, others = make([]float64, len(shares)), make([]float64, len(shares))
	for place := range placesOfQuantile {
		upTo := min(max((2*place+1)*n/(2*placesOfQuantile), 1), n-1)
		var part, noise float64 // of F
		if c != nil {
			q := slices.Concat(slices.Repeat([]float64{1}, upTo), make([]float64, n-upTo))
			part = c.Weights(axis, 0, q, false)[0]
			for _, w := range c.Weights(axis, axis.Level, q, false) {
				noise += float64(w * w)
			}
		}
		for i, share := range shares {
			if c == nil {
				others[i] += float64((float64(Square(1-share)*float64(upTo)) +
					float64(Square(share)*float64(n-upTo))) / placesOfQuantile)
				continue
			}
			total[i] += float64(Square(part-share) / placesOfQuantile)
			others[i] += float64(noise / placesOfQuantile)
		}
	}
	return total, others, nil
}

// placesOfQuantile is for how many bins errors are worked out.
const placesOfQuantile = 8

// Balanced is the distribution with the Total that makes the error least: of c·N and integers that a row moves by N₁
// and √S, with parts T/c² and R, (c+N₁)²·(T/c²+R) is least at c³ = N₁·T/R, and (c²+S)·(T/c²+R) at c⁴ = S·T/R.
func Balanced(d plan.Distribution, l *domain.Lattice, shares []float64, laplace bool) (plan.Distribution, error) {
	total, others, err := noiseOf(d, l, shares)
	if err != nil {
		return d, err
	}
	c, axis, err := d.Strategy(l)
	if err != nil {
		return d, err
	}
	m := c.Moves(axis.Level)
	ratio := Mean(total) / Mean(others)
	best := math.Sqrt(math.Sqrt(float64(float64(m.Squares) * ratio)))
	if laplace {
		best = budget.CubeRoot(max(1, float64(float64(m.Norm)*ratio)))
	}
	d.Total = int64(min(max(math.Floor(best+0.5), 1), float64(limit.Reach)))
	return d, nil
}

func Mean(of []float64) float64 {
	var sum float64
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

// Adds is what noise of variance 1 on the answers adds to each quantile's F − qN, on the mean, in rows of the largest
// weight.
func (t *Table) Adds(r *spec.Release, d plan.Distribution) (each []float64, err error) {
	confidential := r.Table(t.Marginal.Table)
	total, others, err := noiseOf(d, confidential.Column(d.Column).Lattice, t.Shares())
	if err != nil {
		return nil, err
	}
	for i := range total {
		x := others[i]
		if d.Total > 0 {
			x += total[i] / Square(float64(d.Total))
		}
		if d.Weight {
			x /= Square(float64(confidential.Weight.Lattice.Last))
		}
		each = append(each, x)
	}
	return each, nil
}

// DistributionSensitivity is how far one unit moves the answers of so many cells.
func DistributionSensitivity(d plan.Distribution, r *spec.Release, table string, bound *spec.PerUnit,
	groups int64) (*Sensitivity, error) {
	confidential := r.Table(table)
	l := confidential.Column(d.Column).Lattice
	all, each := RowsOf(confidential.Unit, bound, groups)
	most := int64(1)
	if d.Weight {
		most = confidential.Weight.Lattice.Last
	}
	return distributed(d, r.Privacy.Neighbours, l, all, each, most, groups*d.Bins(l))
}
