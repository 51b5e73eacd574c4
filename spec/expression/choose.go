package expression

// This file holds the parts of a program that compare and choose.

import (
	"slices"
)

// units are the numbers that literals are compared as, among ranks too.
func units(n *node, places int, ranks bool) int64 {
	value := n.value
	if n.op == number {
		value = n.of.Low * power(places-n.of.Places)
		if ranks {
			value *= 2
		}
	}
	return value
}

// compared are the values of a part that others are compared with, counted in the same places; among ranks, literals
// count as ranks.
func (c *compiler) compared(n *node, places int, ranks bool) part {
	switch {
	case n.of.ranks:
		return c.part(n)
	case n.op == number:
		return c.constant(units(n, places, ranks))
	}
	return c.scaled(n, places)
}

// comparisons of two numbers.
var betweenNumbers = map[string]func(out, x, y []int64){
	"==": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] == y[i])
		}
	},
	"!=": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] != y[i])
		}
	},
	"<": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] < y[i])
		}
	},
	"<=": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] <= y[i])
		}
	},
	">": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] > y[i])
		}
	},
	">=": func(out, x, y []int64) {
		for i := range out {
			out[i] = bit(x[i] >= y[i])
		}
	},
}

func (c *compiler) comparison(n *node) part {
	a, b := n.args[0], n.args[1]
	if a.of.Kind == Text {
		equal := n.name == "=="
		return c.ofTexts(a, b, func(x, y string) bool { return (x == y) == equal })
	}
	places, ranks := max(a.of.Places, b.of.Places), a.of.ranks || b.of.ranks
	return c.both(c.compared(a, places, ranks), c.compared(b, places, ranks), betweenNumbers[n.name])
}

// mostPlaces is how many places a number and those that it is looked up among need.
func mostPlaces(a *node, among []*node) int {
	places := a.of.Places
	for _, k := range among {
		places = max(places, k.of.Places)
	}
	return places
}

// in tells whether a value is one of some.
func (c *compiler) in(n *node) part {
	a, items := n.args[0], n.args[1].args
	if a.of.Kind == Text {
		set := map[string]bool{}
		for _, k := range items {
			set[k.text] = true
		}
		return c.measure(a, func(s string) int64 { return bit(set[s]) })
	}
	places, set := mostPlaces(a, items), map[int64]bool{}
	for _, k := range items {
		set[units(k, places, a.of.ranks)] = true
	}
	return c.each(c.compared(a, places, false), func(x int64) int64 { return bit(set[x]) })
}

// chosen puts the values of rows together: of each row those of the choice that choose names, −1 for null.
func (c *compiler) chosen(n *node, choose func(f *frame, all []Vector) []int64) part {
	slot := c.slot()
	var values []part
	for _, a := range n.choices() {
		values = append(values, c.scaled(a, n.of.Places))
	}
	isText := n.of.Kind == Text
	return func(f *frame) Vector {
		all := make([]Vector, len(values))
		some := false
		for i, v := range values {
			all[i] = v(f)
			some = some || all[i].Null != nil
		}
		which := choose(f, all)
		some = some || slices.Contains(which, -1)
		out := Vector{}
		if isText {
			out.Texts = f.texts(slot)
		} else {
			out.Numbers = f.numbers(slot)
		}
		if some {
			out.Null = f.nulls(slot)
			clear(out.Null)
		}
		for i, at := range which {
			if at < 0 {
				out.Null[i] = true
				continue
			}
			v := &all[at]
			if some && v.Null != nil {
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

// branches are if and case: the value behind the first condition that is true.
func (c *compiler) branches(n *node) part {
	slot := c.slot()
	var conditions []part
	for _, a := range n.conditions() {
		conditions = append(conditions, c.part(a))
	}
	return c.chosen(n, func(f *frame, _ []Vector) []int64 {
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

// coalesce is the first value that is not null.
func (c *compiler) coalesce(n *node) part {
	slot, last := c.slot(), int64(len(n.args)-1)
	return c.chosen(n, func(f *frame, all []Vector) []int64 {
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

// recode is what a value becomes: by the map, else the last argument, else null. null stays null.
func (c *compiler) recode(n *node) part {
	a, keys, isText := n.args[0], n.keys(), n.args[0].of.Kind == Text
	places := mostPlaces(a, keys)
	slot, x := c.slot(), c.compared(a, places, false)
	texts, numbers := map[string]int64{}, map[int64]int64{}
	for i, key := range keys {
		if isText {
			texts[key.text] = int64(i)
		} else {
			numbers[units(key, places, a.of.ranks)] = int64(i)
		}
	}
	other := int64(-1)
	if len(n.args) == 3 {
		other = int64(len(keys))
	}
	return c.chosen(n, func(f *frame, _ []Vector) []int64 {
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
