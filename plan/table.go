package plan

import "math/big"

// EachOf is what one of the integers of a table's count stands for: 1, the step of the weights or, of a sample, the inverse
// of its share.
func (p *Plan) EachOf(t Table) *big.Rat {
	if !t.Weighted {
		return p.Sample.Each()
	}
	return p.Release().Table(t.From).Weight.Lattice.Step
}

const (
	// MaxCells bounds one table, so that no product of sizes can overflow and none is planned that no machine could count:
	// it would take a terabyte.
	MaxCells = int64(1) << 36
	// MaxSparseCells bounds a sparse table, whose cells are not visited one by one.
	MaxSparseCells = int64(1) << 62
)
