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

// comparisons of a number with a constant.
var withConstant = map[string]func(out, x []int64, y int64){
	"==": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] == y)
		}
	},
	"!=": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] != y)
		}
	},
	"<": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] < y)
		}
	},
	"<=": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] <= y)
		}
	},
	">": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] > y)
		}
	},
	">=": func(out, x []int64, y int64) {
		for i := range out {
			out[i] = bit(x[i] >= y)
		}
	},
}

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

// mirrored is a comparison with its sides exchanged.
var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func (c *compiler) comparison(n *node) part {
	a, b, name := n.args[0], n.args[1], n.name
	if a.literal() {
		a, b, name = b, a, mirrored[name]
	}
	if a.of.Kind == Text {
		return c.texts(a, b, name == "==")
	}
	places := max(a.of.Places, b.of.Places)
	if !b.literal() {
		return c.both(c.scaled(a, places), c.scaled(b, places), betweenNumbers[name])
	}
	slot, x := c.slot(), c.part(a)
	if !a.of.ranks {
		x = c.scaled(a, places)
	}
	y, compare := units(b, places, a.of.ranks), withConstant[name]
	return func(f *frame) Vector {
		v := x(f)
		out := f.numbers(slot)
		compare(out, v.Numbers[:len(out)], y)
		return Vector{Numbers: out, Null: v.Null}
	}
}

// texts compares texts.
func (c *compiler) texts(a, b *node, equal bool) part {
	slot, x, y := c.slot(), c.part(a), c.part(b)
	return func(f *frame) Vector {
		x, y := x(f), y(f)
		out := f.numbers(slot)
		for i := range out {
			out[i] = bit((x.Texts[i] == y.Texts[i]) == equal)
		}
		return Vector{Numbers: out, Null: f.eitherNull(slot, x.Null, y.Null)}
	}
}

// in tells whether a value is one of some.
func (c *compiler) in(n *node) part {
	a, items := n.args[0], n.args[1].args
	places := a.of.Places
	for _, k := range items {
		places = max(places, k.of.Places)
	}
	slot, x := c.slot(), c.part(a)
	if a.of.Kind == Text {
		set := map[string]bool{}
		for _, k := range items {
			set[k.text] = true
		}
		return func(f *frame) Vector {
			v := x(f)
			out := f.numbers(slot)
			for i, s := range v.Texts {
				out[i] = bit(set[s])
			}
			return Vector{Numbers: out, Null: v.Null}
		}
	}
	if !a.of.ranks {
		x = c.scaled(a, places)
	}
	set := map[int64]bool{}
	for _, k := range items {
		set[units(k, places, a.of.ranks)] = true
	}
	return func(f *frame) Vector {
		v := x(f)
		out := f.numbers(slot)
		for i, y := range v.Numbers {
			out[i] = bit(set[y])
		}
		return Vector{Numbers: out, Null: v.Null}
	}
}

// chosen puts the values of rows together: of each row those of the part that choose names, −1 for null.
func (c *compiler) chosen(n *node, values []part, choose func(f *frame, all []Vector) []int64) part {
	slot := c.slot()
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
	var conditions, values []part
	for i := 0; i+1 < len(n.args); i += 2 {
		conditions = append(conditions, c.part(n.args[i]))
		values = append(values, c.scaled(n.args[i+1], n.of.Places))
	}
	values = append(values, c.scaled(n.args[len(n.args)-1], n.of.Places))
	return c.chosen(n, values, func(f *frame, _ []Vector) []int64 {
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
	slot := c.slot()
	var values []part
	for _, a := range n.args {
		values = append(values, c.scaled(a, n.of.Places))
	}
	last := int64(len(values) - 1)
	return c.chosen(n, values, func(f *frame, all []Vector) []int64 {
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
	a, entries := n.args[0], n.args[1].args
	slot, x, values := c.slot(), c.part(a), []part(nil)
	texts, numbers := map[string]int64{}, map[int64]int64{}
	places := a.of.Places
	for i := 0; i < len(entries); i += 2 {
		places = max(places, entries[i].of.Places)
	}
	if a.of.Kind != Text && !a.of.ranks {
		x = c.scaled(a, places)
	}
	for i := 0; i < len(entries); i += 2 {
		key := entries[i]
		if a.of.Kind == Text {
			texts[key.text] = int64(len(values))
		} else {
			numbers[units(key, places, a.of.ranks)] = int64(len(values))
		}
		values = append(values, c.scaled(entries[i+1], n.of.Places))
	}
	other := int64(-1)
	if len(n.args) == 3 {
		other = int64(len(values))
		values = append(values, c.scaled(n.args[2], n.of.Places))
	}
	isText := a.of.Kind == Text
	return c.chosen(n, values, func(f *frame, _ []Vector) []int64 {
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
