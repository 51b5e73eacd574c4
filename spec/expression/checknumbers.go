package expression

// This file checks arithmetic: the bounds and decimal places of computed numbers.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/calendar"
)

// checkRounding checks floor(x) and round(x).
func (c *typeChecker) checkRounding(n *node) *Error {
	a := n.args[0]
	by := bigPowerOfTen(a.typ.DecimalPlaces).Int64()
	n.typ.DecimalPlaces = 0
	n.typ.Low, n.typ.High = calendar.FloorDiv(a.typ.Low, by)-1, calendar.FloorDiv(a.typ.High, by)+1
	if a.typ.DecimalPlaces == 0 {
		n.typ.Low, n.typ.High = a.typ.Low, a.typ.High
	}
	return nil
}

// checkArithmetic finds the bounds of a computed number.
func (c *typeChecker) checkArithmetic(n *node) *Error {
	for _, a := range n.args {
		if a.typ.areRanks {
			return c.ambiguousPlaces(a)
		}
	}
	switch n.name {
	case "//", "%":
		return c.checkDivision(n)
	case "clamp":
		return c.checkClamp(n)
	case "*":
		n.typ.DecimalPlaces = n.args[0].typ.DecimalPlaces + n.args[1].typ.DecimalPlaces
		if n.typ.DecimalPlaces > 18 {
			return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s has %d places", c.quoteSource(n),
				n.typ.DecimalPlaces),
				Expected: "at most 18 places, as of round(x)"}
		}
	default:
		if err := c.checkAligned(n, n.args...); err != nil {
			return err
		}
		for _, a := range n.args {
			n.typ.DecimalPlaces = max(n.typ.DecimalPlaces, a.typ.DecimalPlaces)
		}
	}
	low, high := c.resultBounds(n)
	if !isWithinRange(low) || !isWithinRange(high) {
		widest := n.args[0]
		for _, a := range n.args {
			if maxMagnitude(a.typ).Cmp(maxMagnitude(widest.typ)) > 0 {
				widest = a
			}
		}
		return c.tooLarge(n, widest)
	}
	n.typ.Low, n.typ.High = low.Int64(), high.Int64()
	return nil
}

// maxMagnitude returns the largest magnitude of t's numbers, counted in its places.
func maxMagnitude(t Type) *big.Int {
	return largest(new(big.Int).Abs(big.NewInt(t.Low)), new(big.Int).Abs(big.NewInt(t.High)))
}

// resultBounds returns the least and the greatest value of an operator, counted in the places of the result.
func (c *typeChecker) resultBounds(n *node) (low, high *big.Int) {
	ends := func(a *node) (*big.Int, *big.Int) {
		if n.name == "*" {
			return big.NewInt(a.typ.Low), big.NewInt(a.typ.High)
		}
		return scaledBounds(a.typ, n.typ.DecimalPlaces)
	}
	low, high = ends(n.args[0])
	switch n.name {
	case "negative":
		return high.Neg(high), low.Neg(low)
	case "abs":
		return largest(new(big.Int), low, new(big.Int).Neg(high)), largest(high, new(big.Int).Neg(low))
	}
	for _, b := range n.args[1:] {
		l, h := ends(b)
		switch n.name {
		case "+":
			low, high = low.Add(low, l), high.Add(high, h)
		case "-":
			low, high = low.Sub(low, h), high.Sub(high, l)
		case "*":
			all := []*big.Int{product(low, l), product(low, h), product(high, l), product(high, h)}
			low, high = least(all...), largest(all...)
		case "min":
			low, high = least(low, l), least(high, h)
		case "max":
			low, high = largest(low, l), largest(high, h)
		}
	}
	return low, high
}

func product(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

func least(all ...*big.Int) *big.Int   { return slices.MinFunc(all, (*big.Int).Cmp) }
func largest(all ...*big.Int) *big.Int { return slices.MaxFunc(all, (*big.Int).Cmp) }

// checkDivision checks // and %: an integer divided by an integer literal that is not 0.
func (c *typeChecker) checkDivision(n *node) *Error {
	a, b := n.args[0], n.args[1]
	switch {
	case b.op != number:
		return &Error{At: b.at, End: b.end, Message: fmt.Sprintf("%s could divide by 0", c.quoteSource(n)),
			Expected: "a written number that is not 0, as // 10; a ratio is compared without dividing, as a >= 2 * b"}
	case b.number.Sign() == 0:
		return &Error{At: b.at, End: b.end, Message: fmt.Sprintf("%s divides by 0", c.quoteSource(n)),
			Expected: "a number that is not 0"}
	case b.typ.DecimalPlaces > 0 || a.typ.DecimalPlaces > 0:
		whole, fix := a, "floor("+c.text[a.at:a.end]+")"
		if b.typ.DecimalPlaces > 0 {
			whole, fix = b, ""
		}
		return &Error{At: whole.at, End: whole.end, Message: c.quoteSource(whole) + " is no integer",
			Expected: "an integer, as floor(x) is", Fix: fix}
	}
	by := b.typ.Low
	switch {
	case n.name == "%" && by > 0:
		n.typ.Low, n.typ.High = 0, by-1
	case n.name == "%":
		n.typ.Low, n.typ.High = by+1, 0
	default:
		x, y := calendar.FloorDiv(a.typ.Low, by), calendar.FloorDiv(a.typ.High, by)
		n.typ.Low, n.typ.High = min(x, y), max(x, y)
	}
	n.typ.DecimalPlaces = 0
	return nil
}

// checkClamp checks clamp(x, low, high), whose bounds must be literals.
func (c *typeChecker) checkClamp(n *node) *Error {
	a := n.args[0]
	for _, b := range n.args[1:] {
		if b.op != number {
			return &Error{At: b.at, End: b.end, Message: "found " + c.quoteSource(b),
				Expected: "a written number, as in clamp(x, 0, 100)"}
		}
	}
	if n.args[1].number.Cmp(n.args[2].number) > 0 {
		return &Error{At: n.at, End: n.end, Message: "the bounds hold nothing",
			Expected: "the smaller one first, as clamp(x, 0, 100)"}
	}
	places := max(n.args[1].typ.DecimalPlaces, n.args[2].typ.DecimalPlaces, a.typ.DecimalPlaces)
	low, _ := scaledBounds(n.args[1].typ, places)
	_, high := scaledBounds(n.args[2].typ, places)
	if !isWithinRange(low) || !isWithinRange(high) {
		return c.tooLarge(n, n.args[1])
	}
	// Where x has fewer places than the bounds, compileClamp first clamps it in its own places, so that scaling it
	// cannot overflow.
	n.typ.DecimalPlaces, n.typ.Low, n.typ.High = places, low.Int64(), high.Int64()
	return nil
}
