package expression

// This file holds what the checker finds of numbers that are made of others: their bounds and their decimal places.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/calendar"
)

// rounded is floor(x) or round(x).
func (c *checker) rounded(n *node) *Error {
	a := n.args[0]
	by := ten(a.of.Places).Int64()
	n.of.Places = 0
	n.of.Low, n.of.High = calendar.FloorDiv(a.of.Low, by)-1, calendar.FloorDiv(a.of.High, by)+1
	if a.of.Places == 0 {
		n.of.Low, n.of.High = a.of.Low, a.of.High
	}
	return nil
}

// arithmetic finds the bounds of a number that is made of others.
func (c *checker) arithmetic(n *node) *Error {
	for _, a := range n.args {
		if a.of.ranks {
			return c.ambiguous(a)
		}
	}
	switch n.name {
	case "//", "%":
		return c.division(n)
	case "clamp":
		return c.clamp(n)
	case "*":
		n.of.Places = n.args[0].of.Places + n.args[1].of.Places
		if n.of.Places > 18 {
			return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s has %d places", c.source(n), n.of.Places),
				Expected: "at most 18 places, as of round(x)"}
		}
	default:
		if err := c.aligned(n, n.args...); err != nil {
			return err
		}
		for _, a := range n.args {
			n.of.Places = max(n.of.Places, a.of.Places)
		}
	}
	low, high := c.bounds(n)
	if !within(low) || !within(high) {
		widest := n.args[0]
		for _, a := range n.args {
			if width(a.of).Cmp(width(widest.of)) > 0 {
				widest = a
			}
		}
		return c.tooLarge(n, widest)
	}
	n.of.Low, n.of.High = low.Int64(), high.Int64()
	return nil
}

// width is how large a number can be in its places.
func width(t Type) *big.Int {
	return largest(new(big.Int).Abs(big.NewInt(t.Low)), new(big.Int).Abs(big.NewInt(t.High)))
}

// bounds are the least and the most of an operator's values, counted in the places of the result.
func (c *checker) bounds(n *node) (low, high *big.Int) {
	ends := func(a *node) (*big.Int, *big.Int) {
		if n.name == "*" {
			return big.NewInt(a.of.Low), big.NewInt(a.of.High)
		}
		return scaled(a.of, n.of.Places)
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

// division is // and %, of integers by an integer that is written and is not 0.
func (c *checker) division(n *node) *Error {
	a, b := n.args[0], n.args[1]
	switch {
	case b.op != number:
		return &Error{At: b.at, End: b.end, Message: fmt.Sprintf("%s could divide by 0", c.source(n)),
			Expected: "a written number that is not 0, as // 10; a ratio is compared without dividing, as a >= 2 * b"}
	case b.number.Sign() == 0:
		return &Error{At: b.at, End: b.end, Message: fmt.Sprintf("%s divides by 0", c.source(n)),
			Expected: "a number that is not 0"}
	case b.of.Places > 0 || a.of.Places > 0:
		whole, fix := a, "floor("+c.text[a.at:a.end]+")"
		if b.of.Places > 0 {
			whole, fix = b, ""
		}
		return &Error{At: whole.at, End: whole.end, Message: c.source(whole) + " is no integer",
			Expected: "an integer, as floor(x) is", Fix: fix}
	}
	by := b.of.Low
	switch {
	case n.name == "%" && by > 0:
		n.of.Low, n.of.High = 0, by-1
	case n.name == "%":
		n.of.Low, n.of.High = by+1, 0
	default:
		x, y := calendar.FloorDiv(a.of.Low, by), calendar.FloorDiv(a.of.High, by)
		n.of.Low, n.of.High = min(x, y), max(x, y)
	}
	n.of.Places = 0
	return nil
}

// clamp is clamp(x, low, high) with written bounds.
func (c *checker) clamp(n *node) *Error {
	a := n.args[0]
	for _, b := range n.args[1:] {
		if b.op != number {
			return &Error{At: b.at, End: b.end, Message: "found " + c.source(b),
				Expected: "a written number, as in clamp(x, 0, 100)"}
		}
	}
	if n.args[1].number.Cmp(n.args[2].number) > 0 {
		return &Error{At: n.at, End: n.end, Message: "the bounds hold nothing",
			Expected: "the smaller one first, as clamp(x, 0, 100)"}
	}
	places := max(n.args[1].of.Places, n.args[2].of.Places, a.of.Places)
	low, _ := scaled(n.args[1].of, places)
	_, high := scaled(n.args[2].of, places)
	if !within(low) || !within(high) {
		return c.tooLarge(n, n.args[1])
	}
	// x is clamped in its own places where it has fewer than the bounds, so that it cannot be too large: see the program.
	n.of.Places, n.of.Low, n.of.High = places, low.Int64(), high.Int64()
	return nil
}
