package plan

import "math/big"

// EachOf is what one of the integers of a table's count stands for: 1, the step of the weights or, of a sample, the
// inverse of its share.
func (p *Plan) EachOf(t Table) *big.Rat {
	if !t.Weighted {
		return p.Sample.Each()
	}
	return p.Release().Table(t.From).Weight.Lattice.Step
}
