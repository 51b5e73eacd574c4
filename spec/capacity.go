package spec

// This file checks that sums of values fit 62 bits.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
)

// checkFits reports a step so fine that a sum of powers of all values, each times its weight, would not fit 62 bits.
func (s statReader) checkFits(n document.Node, c *Column, l *domain.Lattice, power int) {
	weight, rows := big.NewInt(s.table.maxWeight()), maxRows(s.table)
	fitsAt := func(step int64) bool { // reports whether the sum fits with a step this many times larger
		value := big.NewInt(l.Largest())
		value.Add(value, big.NewInt(step-1)).Quo(value, big.NewInt(step))
		return fitsIn62Bits(value.Exp(value, big.NewInt(int64(power)), nil), weight, rows)
	}
	if fitsAt(1) {
		return
	}
	what := "a sum"
	if power == 2 {
		what = "a sum of squares"
	}
	p := document.Problem{Message: fmt.Sprintf(
		"%s over %s would need more than 62 bits: values of %s go up to %d steps of %s", what, rowsText(s.table),
		c.Name,
		l.Largest(), document.FormatNumber(l.Step))}
	if s.table.isWeighted() {
		p.Message += fmt.Sprintf(", weights to %s steps", weight)
	}
	p.Expected = "a larger step"
	for step := int64(10); step < l.Largest(); step *= 10 {
		if fitsAt(step) {
			p.Expected += ", as " + document.FormatNumber(new(big.Rat).Mul(l.Step, new(big.Rat).SetInt64(step)))
			break
		}
		if step > document.MaxWhole/10 {
			break
		}
	}
	if s.table.Expect == nil || s.table.Expect.Rows == nil {
		p.Expected += "; or expect: {rows: [a, b]} in the table, with the most rows that it has"
	}
	s.AddProblem(n, p)
}
