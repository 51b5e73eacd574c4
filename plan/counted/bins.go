package counted

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Bins counts the rows of each cell by bins of a column, from which quantiles are read: of Width lattice points of
// its range each, from the first on, with the rest in the last bin. If Weight is set, rows count by their weights in
// steps. A cell has as many answers as bins, next to one another.
//
// If Total is 0 they are the counts. Otherwise the first is Total times the rows of the cell, and the others are the
// integers of the strategy for prefix sums that Method, Kappa and Bits name, as in a factor of ranges.
type Bins struct {
	Column string `json:"column"`
	Width  int64  `json:"width"`
	Weight bool   `json:"weight,omitempty"`
	Total  int64  `json:"total,omitempty"`
	Method string `json:"method,omitempty"`
	Kappa  string `json:"kappa,omitempty"`
	Bits   int    `json:"bits,omitempty"`
}

// Kind returns [KindBins].
func (Bins) Kind() Kind { return KindBins }

// Reads returns the column.
func (b Bins) Reads() string { return b.Column }

// Operands names what is read of a row.
func (b Bins) Operands() []string { return []string{b.Column, fmt.Sprint(b.Weight)} }

// Weighted reports whether rows count by their weights.
func (b Bins) Weighted() bool { return b.Weight }

// Len returns how many bins a range has.
func (b Bins) Len(l *domain.Lattice) int64 { return (l.Last-l.First)/b.Width + 1 }

// PerCell returns how many bins the column has.
func (b Bins) PerCell(t *spec.Table) int64 { return b.Len(t.Column(b.Column).Lattice) }

// Strategy returns the column of the strategy for the bins, and its axis: nil if the counts themselves are the
// answers. It returns an error for an invalid strategy.
func (b Bins) Strategy(l *domain.Lattice) (*residual.Column, residual.Axis, error) {
	if b.Total == 0 {
		return nil, residual.Axis{}, nil
	}
	ranging, err := residual.Form{Sums: residual.PrefixSums, Method: b.Method, Kappa: b.Kappa, Bits: b.Bits}.Ranging()
	if err != nil {
		return nil, residual.Axis{}, fmt.Errorf("%s: %w", b.Column, err)
	}
	c, err := residual.NewRanged(ranging, make([]int, b.Len(l)))
	return c, residual.Axis{Level: 1, Sums: residual.Prefixes}, err
}

// WithStrategy returns the bins with a strategy for their answers.
func (b Bins) WithStrategy(r residual.Ranging) Bins {
	f := r.Form()
	b.Method, b.Kappa, b.Bits = f.Method, f.Kappa, f.Bits
	return b
}

// Check returns an error if the bins cannot be counted.
func (b Bins) Check(t *spec.Table) error {
	c := t.Column(b.Column)
	switch {
	case c == nil || c.Lattice == nil:
		return fmt.Errorf("the column %q has no range", b.Column)
	case b.Width < 1 || b.Total < 0 || b.Total > limit.ResidualFactor || b.Len(c.Lattice) > limit.Bins:
		return fmt.Errorf("the bins of %s are too narrow, or none", b.Column)
	case b.Total == 0 && (b.Method != "" || b.Kappa != "" || b.Bits != 0):
		return errors.New("counts of bins have no strategy")
	case b.Weight && t.Weight == nil:
		return errUnweighted
	}
	_, _, err := b.Strategy(c.Lattice)
	return err
}

// errUnweighted is the error for counting rows by weights that their table does not have.
var errUnweighted = errors.New("rows without weights count by them")

// Extent returns 0 to the largest weight, or 1.
func (b Bins) Extent(t *spec.Table) Extent {
	most := int64(1)
	if b.Weight {
		most = t.Weight.Lattice.Last
	}
	return Extent{new(big.Int), big.NewInt(most)}
}

// rowSensitivity returns how much one row changes a cell's answers: the L1 norm, the square of the L2 norm, the largest
// entry, and how far below 0 the inner product of the changes by two rows of one cell can be.
func (b Bins) rowSensitivity(l *domain.Lattice) (residual.Sensitivity, error) {
	c, axis, err := b.Strategy(l)
	if c == nil || err != nil {
		return residual.Sensitivity{Norm: 1, Squares: 1, LargestFactor: 1}, err
	}
	m := c.Sensitivity(axis.Level)
	return residual.Sensitivity{Norm: b.Total + m.Norm, Squares: b.Total*b.Total + m.Squares,
		LargestFactor: max(b.Total, m.LargestFactor), PairOpposition: max(0, m.PairOpposition-b.Total*b.Total)}, nil
}

// Sensitivity returns the sensitivity of the answers to one unit, of at most all rows, at most each of them in a
// cell, and each of a weight of at most w.
//
// Guarantee: no two neighbours have answers further apart, in either norm. Neighbours: under add-remove one unit's
// rows come or go; under replace others come in their place. Theorem: a row adds its weight times one column a of an
// integer matrix to the answers of its cell, of norms N = ‖a‖₁ and S ≥ ‖a‖₂². The rows of a unit add a vector u of
// ‖u‖₁ ≤ all·w·N and, as ‖u_c‖₂ ≤ w·rows_c·√S in each cell c, of ‖u‖₂² ≤ w²·S·Σ rows_c². Of two such, ‖u−v‖₂² = ‖u‖²
// + ‖v‖² − 2⟨u, v⟩, where two rows of one cell have an inner product of at least −w²·facing, so that −⟨u, v⟩ ≤
// w²·facing·Σ u_c·v_c, and that is at most Σ rows_c² again (Cauchy–Schwarz). Argument: docs/proofs/distribution.md.
func (b Bins) Sensitivity(u Unit) (*Sensitivity, error) {
	l := u.Table.Column(b.Column).Lattice
	row, err := b.rowSensitivity(l)
	if err != nil {
		return nil, err
	}
	all, each := u.Rows()
	e := b.Extent(u.Table)
	if b.Total == 0 {
		return SumSensitivity(u.Neighbours, e, all, each, u.Cells*b.Len(l)), nil
	}
	w := e.Most
	rows := concentratedSquares(all, each)
	rows.Mul(rows, w).Mul(rows, w)
	out := &Sensitivity{L1: big.NewInt(row.Norm), L2Squared: big.NewInt(row.Squares),
		LargestFactor: new(big.Int).Mul(big.NewInt(row.LargestFactor), w)}
	out.L1.Mul(out.L1, big.NewInt(all)).Mul(out.L1, w)
	if u.Neighbours == spec.Replace {
		out.L1.Lsh(out.L1, 1)
		out.L2Squared.Add(out.L2Squared, big.NewInt(row.PairOpposition)).Lsh(out.L2Squared, 1)
	}
	out.L2Squared.Mul(out.L2Squared, rows)
	return out, nil
}

// Prefixes returns the sums of the first bins of a cell, up to each of them, as weights of the cell's answers, by
// index. Answers of weight zero are omitted.
func (b Bins) Prefixes(l *domain.Lattice) ([][]WeightedAnswer, error) {
	n := int(b.Len(l))
	c, axis, err := b.Strategy(l)
	if c == nil || err != nil {
		return nil, err
	}
	out, q := make([][]WeightedAnswer, n), make([]float64, n)
	for j := range n - 1 {
		q[j] = 1
		out[j] = append(out[j], WeightedAnswer{0, c.Weights(axis, 0, q, false)[0] / float64(b.Total)})
		for k, w := range c.Weights(axis, axis.Level, q, false) {
			if w != 0 {
				out[j] = append(out[j], WeightedAnswer{k + 1, w})
			}
		}
	}
	out[n-1] = []WeightedAnswer{{0, 1 / float64(b.Total)}} // the strategy's integers say nothing of all
	return out, nil
}

// WeightedAnswer is an answer of a cell, given by index, with a weight.
type WeightedAnswer struct {
	Index  int
	Weight float64
}
