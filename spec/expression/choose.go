package expression

// This file compiles the parts of a program that compare and choose.

import (
	"slices"
)

// literalUnits returns the number that a literal is compared as, counted in places, or as a rank.
func literalUnits(n *node, places int, asRanks bool) int64 {
	value := n.value
	if n.op == number {
		value = n.typ.Low * powerOfTen(places-n.typ.DecimalPlaces)
		if asRanks {
			value *= 2
		}
	}
	return value
}

// compileOperand evaluates an operand of a comparison, counted in the given places. Among ranks, literals count as
// ranks.
func (c *compiler) compileOperand(n *node, places int, asRanks bool) evaluator {
	switch {
	case n.typ.areRanks:
		return c.compile(n)
	case n.op == number:
		return c.compileConstant(literalUnits(n, places, asRanks))
	}
	return c.compileScaled(n, places)
}

// numberComparisons compare two columns of numbers.
var numberComparisons = map[string]func(out, x, y []int64){
	"==": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] == y[i])
		}
	},
	"!=": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] != y[i])
		}
	},
	"<": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] < y[i])
		}
	},
	"<=": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] <= y[i])
		}
	},
	">": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] > y[i])
		}
	},
	">=": func(out, x, y []int64) {
		for i := range out {
			out[i] = toBit(x[i] >= y[i])
		}
	},
}

func (c *compiler) compileComparison(n *node) evaluator {
	a, b := n.args[0], n.args[1]
	if a.typ.Kind == Text {
		equal := n.name == "=="
		return c.compareTexts(a, b, func(x, y string) bool { return (x == y) == equal })
	}
	places, asRanks := max(a.typ.DecimalPlaces, b.typ.DecimalPlaces), a.typ.areRanks || b.typ.areRanks
	x, y := c.compileOperand(a, places, asRanks), c.compileOperand(b, places, asRanks)
	return c.combineNumbers(x, y, numberComparisons[n.name])
}

// maxPlaces returns how many places are needed to compare a number with others.
func maxPlaces(a *node, among []*node) int {
	places := a.typ.DecimalPlaces
	for _, k := range among {
		places = max(places, k.typ.DecimalPlaces)
	}
	return places
}

// compileIn evaluates to 1 where the value is in the list.
func (c *compiler) compileIn(n *node) evaluator {
	a, items := n.args[0], n.args[1].args
	if a.typ.Kind == Text {
		set := map[string]bool{}
		for _, k := range items {
			set[k.text] = true
		}
		return c.mapTexts(a, func(s string) int64 { return toBit(set[s]) })
	}
	places, set := maxPlaces(a, items), map[int64]bool{}
	for _, k := range items {
		set[literalUnits(k, places, a.typ.areRanks)] = true
	}
	return c.mapNumbers(c.compileOperand(a, places, false), func(x int64) int64 { return toBit(set[x]) })
}

// compileChoice takes each row's value from the choice whose index choose returns; −1 stands for null.
func (c *compiler) compileChoice(n *node, choose func(f *frame, all []Vector) []int64) evaluator {
	slot := c.newSlot()
	var values []evaluator
	for _, a := range n.choiceNodes() {
		values = append(values, c.compileScaled(a, n.typ.DecimalPlaces))
	}
	isText := n.typ.Kind == Text
	return func(f *frame) Vector {
		all := make([]Vector, len(values))
		hasNull := false
		for i, v := range values {
			all[i] = v(f)
			hasNull = hasNull || all[i].Null != nil
		}
		which := choose(f, all)
		hasNull = hasNull || slices.Contains(which, -1)
		out := Vector{}
		if isText {
			out.Texts = f.texts(slot)
		} else {
			out.Numbers = f.numbers(slot)
		}
		if hasNull {
			out.Null = f.nulls(slot)
			clear(out.Null)
		}
		for i, at := range which {
			if at < 0 {
				out.Null[i] = true
				continue
			}
			v := &all[at]
			if hasNull && v.Null != nil {
				out.Null[i] = v.Null[i]
			}
			if isText {
				out.Texts[i] = v.Texts[i]
			} else {
				out.Numbers[i] = v.Numbers[i]
			}
		}
		return out
	}
}

// compileBranches evaluates if and case to the value that follows the first true condition.
func (c *compiler) compileBranches(n *node) evaluator {
	slot := c.newSlot()
	var conditions []evaluator
	for _, a := range n.branchConditions() {
		conditions = append(conditions, c.compile(a))
	}
	return c.compileChoice(n, func(f *frame, _ []Vector) []int64 {
		which := f.numbers(slot)
		for i := range which {
			which[i] = int64(len(conditions))
		}
		for at := len(conditions) - 1; at >= 0; at-- {
			v := conditions[at](f)
			for i, x := range v.Numbers {
				if x == 1 && (v.Null == nil || !v.Null[i]) {
					which[i] = int64(at)
				}
			}
		}
		return which
	})
}

// compileCoalesce evaluates to the first value that is not null.
func (c *compiler) compileCoalesce(n *node) evaluator {
	slot, last := c.newSlot(), int64(len(n.args)-1)
	return c.compileChoice(n, func(f *frame, all []Vector) []int64 {
		which := f.numbers(slot)
		for i := range which {
			which[i] = last
		}
		for at := last - 1; at >= 0; at-- {
			null := all[at].Null
			for i := range which {
				if null == nil || !null[i] {
					which[i] = at
				}
			}
		}
		return which
	})
}

// compileRecode evaluates to the map's value for x, to the last argument where the map has none, and to null where
// there is no last argument. null stays null.
func (c *compiler) compileRecode(n *node) evaluator {
	a, keys, isText := n.args[0], n.recodeKeys(), n.args[0].typ.Kind == Text
	places := maxPlaces(a, keys)
	slot, x := c.newSlot(), c.compileOperand(a, places, false)
	texts, numbers := map[string]int64{}, map[int64]int64{}
	for i, key := range keys {
		if isText {
			texts[key.text] = int64(i)
		} else {
			numbers[literalUnits(key, places, a.typ.areRanks)] = int64(i)
		}
	}
	other := int64(-1)
	if len(n.args) == 3 {
		other = int64(len(keys))
	}
	return c.compileChoice(n, func(f *frame, _ []Vector) []int64 {
		v := x(f)
		which := f.numbers(slot)
		for i := range which {
			at, known := int64(0), false
			if isText {
				at, known = texts[v.Texts[i]]
			} else {
				at, known = numbers[v.Numbers[i]]
			}
			if !known {
				at = other
			}
			if v.Null != nil && v.Null[i] {
				at = -1
			}
			which[i] = at
		}
		return which
	})
}
