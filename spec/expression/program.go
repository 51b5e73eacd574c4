package expression

// This file holds the program: an expression as it is evaluated, for many rows at once.

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Vector is values of rows: Numbers of all kinds but texts (1 and 0 of booleans, days, microseconds, ranks), or Texts;
// and which of them are null, nil for none.
type Vector struct {
	Numbers []int64
	Texts   []string
	Null    []bool
}

// Program evaluates an expression. It is safe for concurrent use.
//
// Guarantee: the value of a row is a function of the row's own inputs. Neighbours: both relations. Argument:
// docs/proofs/bounding.md.
type Program struct {
	run    part
	slots  int
	frames sync.Pool
}

// part evaluates a part of an expression. What it returns is not changed, and is valid until the frame is used again.
type part func(f *frame) Vector

// frame is the rows being evaluated, with memory for each part that makes values.
type frame struct {
	rows   int
	inputs []Vector
	slots  []Vector
}

// numbers, texts and nulls are the memory of a slot, of as many as there are rows.
func (f *frame) numbers(slot int) []int64 { return sized(&f.slots[slot].Numbers, f.rows) }
func (f *frame) texts(slot int) []string  { return sized(&f.slots[slot].Texts, f.rows) }
func (f *frame) nulls(slot int) []bool    { return sized(&f.slots[slot].Null, f.rows) }

func sized[T any](s *[]T, rows int) []T {
	*s = slices.Grow((*s)[:0], rows)[:rows]
	return *s
}

// Compile makes the program of an expression.
func Compile(e *Expression) *Program {
	c := &compiler{at: map[[2]string]int{}}
	for i, in := range e.inputs {
		c.at[[2]string{in.Table, in.Name}] = i
	}
	p := &Program{run: c.part(e.root)}
	p.slots = c.slots
	p.frames.New = func() any { return &frame{slots: make([]Vector, p.slots)} }
	return p
}

// Run evaluates rows, of which inputs has a vector for each input of the expression, and passes their values to take:
// they are valid until it returns.
func (p *Program) Run(rows int, inputs []Vector, take func(Vector)) {
	f := p.frames.Get().(*frame)
	defer p.frames.Put(f)
	f.rows, f.inputs = rows, inputs
	take(p.run(f))
	f.inputs = nil
}

// compiler makes programs.
type compiler struct {
	slots int
	at    map[[2]string]int
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

func (c *compiler) part(n *node) part {
	switch n.op {
	case column:
		at := c.at[[2]string{n.table, n.name}]
		return func(f *frame) Vector { return f.inputs[at] }
	case call:
		return c.call(n)
	}
	return c.literal(n, n.of.Places)
}

// literal is the same value in every row, counted in places where it is a number.
func (c *compiler) literal(n *node, places int) part {
	slot := c.slot()
	switch n.op {
	case text:
		return func(f *frame) Vector { return Vector{Texts: repeated(&f.slots[slot].Texts, n.text, f.rows)} }
	case null:
		return func(f *frame) Vector {
			s := &f.slots[slot]
			return Vector{Numbers: repeated(&s.Numbers, 0, f.rows), Texts: repeated(&s.Texts, "", f.rows),
				Null: repeated(&s.Null, true, f.rows)}
		}
	}
	return c.constant(units(n, places, false))
}

// constant is the same number in every row.
func (c *compiler) constant(value int64) part {
	slot := c.slot()
	return func(f *frame) Vector { return Vector{Numbers: repeated(&f.slots[slot].Numbers, value, f.rows)} }
}

// repeated is a value as often as there are rows, kept in the memory of a slot that holds nothing else.
func repeated[T any](s *[]T, value T, rows int) []T {
	for len(*s) < rows {
		*s = append(*s, value)
	}
	return (*s)[:rows]
}

// power is 10 to a power from 0 to 18.
func power(places int) int64 {
	x := int64(1)
	for range places {
		x *= 10
	}
	return x
}

// scaled is a number counted in so many places.
func (c *compiler) scaled(n *node, places int) part {
	by := power(places - n.of.Places)
	switch {
	case n.of.Kind != Number || by == 1 || n.op == null:
		return c.part(n)
	case n.literal():
		return c.literal(n, places)
	}
	return c.each(c.part(n), func(x int64) int64 { return x * by })
}

// each is a function of one number.
func (c *compiler) each(a part, of func(int64) int64) part {
	slot := c.slot()
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		for i, x := range v.Numbers {
			out[i] = of(x)
		}
		return Vector{Numbers: out, Null: v.Null}
	}
}

// both is a function of two numbers, null where either is.
func (c *compiler) both(a, b part, of func(out, x, y []int64)) part {
	slot := c.slot()
	return func(f *frame) Vector {
		x, y := a(f), b(f)
		out := f.numbers(slot)
		of(out, x.Numbers[:len(out)], y.Numbers[:len(out)])
		return Vector{Numbers: out, Null: f.eitherNull(slot, x.Null, y.Null)}
	}
}

// eitherNull are the rows where one of two is null.
func (f *frame) eitherNull(slot int, a, b []bool) []bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := f.nulls(slot)
	for i := range out {
		out[i] = a[i] || b[i]
	}
	return out
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) call(n *node) part {
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	case "in":
		return c.in(n)
	case "and", "or":
		return c.logic(n)
	case "not":
		return c.each(c.part(n.args[0]), func(x int64) int64 { return 1 - x })
	case "is_null":
		return c.isNull(n)
	case "if", "case":
		return c.branches(n)
	case "coalesce":
		return c.coalesce(n)
	case "recode":
		return c.recode(n)
	case "integer", "decimal":
		return c.scaled(n.args[0], n.of.Places)
	case "text", "boolean", "timestamp":
		return c.part(n.args[0])
	case "date":
		return c.day(n.args[0])
	case "+", "-", "*", "//", "%", "negative", "abs", "min", "max", "clamp", "floor", "round":
		return c.arithmetic(n)
	}
	if s, ok := spans[n.name]; ok {
		return c.span(n, s.micros)
	}
	if p, ok := dateParts[n.name]; ok {
		return c.each(c.day(n.args[0]), func(x int64) int64 { return int64(p.of(calendar.Day(x))) })
	}
	if p, ok := timeParts[n.name]; ok {
		return c.each(c.part(n.args[0]), p.of)
	}
	return c.textual(n)
}

// day is the day of a date or timestamp.
func (c *compiler) day(n *node) part {
	if n.of.Kind == Timestamp {
		return c.each(c.part(n), func(x int64) int64 { return calendar.DayOf(x) })
	}
	return c.part(n)
}

// isNull tells which rows are null.
func (c *compiler) isNull(n *node) part {
	slot, a := c.slot(), c.part(n.args[0])
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		clear(out)
		for i, null := range v.Null {
			out[i] = bit(null)
		}
		return Vector{Numbers: out}
	}
}

// logic is and, or: of what is not known, the result is known where the other decides it.
func (c *compiler) logic(n *node) part {
	slot, a, b := c.slot(), c.part(n.args[0]), c.part(n.args[1])
	decides := bit(n.name == "or")
	return func(f *frame) Vector {
		x, y := a(f), b(f)
		out := f.numbers(slot)
		if decides == 1 {
			for i := range out {
				out[i] = x.Numbers[i] | y.Numbers[i]
			}
		} else {
			for i := range out {
				out[i] = x.Numbers[i] & y.Numbers[i]
			}
		}
		if x.Null == nil && y.Null == nil {
			return Vector{Numbers: out}
		}
		null := f.nulls(slot)
		for i := range null {
			nx, ny := x.Null != nil && x.Null[i], y.Null != nil && y.Null[i]
			null[i] = nx && ny || nx && y.Numbers[i] != decides || ny && x.Numbers[i] != decides
			if nx != ny && !null[i] {
				out[i] = decides
			}
		}
		return Vector{Numbers: out, Null: null}
	}
}

// span is the time between two days or moments.
func (c *compiler) span(n *node, micros int64) part {
	a, b := n.args[0].args[0], n.args[0].args[1]
	if micros > 0 {
		return c.both(c.part(a), c.part(b), func(out, x, y []int64) {
			for i := range out {
				out[i] = calendar.FloorDiv(x[i]-y[i], micros)
			}
		})
	}
	return c.both(c.day(a), c.day(b), map[string]func(out, x, y []int64){
		"days": func(out, x, y []int64) {
			for i := range out {
				out[i] = x[i] - y[i]
			}
		},
		"months": func(out, x, y []int64) {
			for i := range out {
				out[i] = wholeMonths(y[i], x[i])
			}
		},
		"years": func(out, x, y []int64) {
			for i := range out {
				out[i] = calendar.FloorDiv(wholeMonths(y[i], x[i]), 12)
			}
		},
	}[n.name])
}

// arithmetic is a function of numbers, counted in the places of the result.
func (c *compiler) arithmetic(n *node) part {
	a := n.args[0]
	switch n.name {
	case "floor":
		return c.each(c.part(a), floorOf(a.of, 0))
	case "round":
		return c.each(c.part(a), floorOf(a.of, 5*power(max(a.of.Places, 1)-1)))
	case "clamp":
		return c.clamp(n)
	case "//":
		by := n.args[1].of.Low
		return c.each(c.part(a), func(x int64) int64 { return calendar.FloorDiv(x, by) })
	case "%":
		by := n.args[1].of.Low
		return c.each(c.part(a), func(x int64) int64 { return calendar.FloorMod(x, by) })
	case "*":
		return c.both(c.part(a), c.part(n.args[1]), func(out, x, y []int64) {
			for i := range out {
				out[i] = x[i] * y[i]
			}
		})
	}
	made := c.scaled(a, n.of.Places)
	switch n.name {
	case "negative":
		return c.each(made, func(x int64) int64 { return -x })
	case "abs":
		return c.each(made, func(x int64) int64 { return max(x, -x) })
	}
	for _, b := range n.args[1:] {
		made = c.both(made, c.scaled(b, n.of.Places), sums[n.name])
	}
	return made
}

// sums are the operators of numbers of the same places.
var sums = map[string]func(out, x, y []int64){
	"+": func(out, x, y []int64) {
		for i := range out {
			out[i] = x[i] + y[i]
		}
	},
	"-": func(out, x, y []int64) {
		for i := range out {
			out[i] = x[i] - y[i]
		}
	},
	"min": func(out, x, y []int64) {
		for i := range out {
			out[i] = min(x[i], y[i])
		}
	},
	"max": func(out, x, y []int64) {
		for i := range out {
			out[i] = max(x[i], y[i])
		}
	},
}

// floorOf is ⌊x + half·10^-places⌋ of numbers of a type. Of a rank, what lies between two units has the floor of the
// lower.
func floorOf(t Type, half int64) func(int64) int64 {
	by := power(t.Places)
	if t.Places == 0 {
		half = 0
	}
	if t.ranks {
		return func(x int64) int64 { return calendar.FloorDiv(x>>1+half, by) }
	}
	return func(x int64) int64 { return calendar.FloorDiv(x+half, by) }
}

// clamp brings x near the bounds in its own places first, so that it can be counted in theirs.
func (c *compiler) clamp(n *node) part {
	a := n.args[0]
	by := power(n.of.Places - a.of.Places)
	low, high := n.of.Low, n.of.High
	near, far := calendar.FloorDiv(low, by), -calendar.FloorDiv(-high, by)
	return c.each(c.part(a), func(x int64) int64 { return min(max(min(max(x, near), far)*by, low), high) })
}

// textual is a function of texts.
func (c *compiler) textual(n *node) part {
	a := n.args[0]
	switch n.name {
	case "length":
		return c.measure(a, func(s string) int64 { return int64(utf8.RuneCountInString(s)) })
	case "starts_with":
		return c.ofTexts(a, n.args[1], strings.HasPrefix)
	}
	of, slot, x := textOf(n), c.slot(), c.part(a)
	return func(f *frame) Vector {
		v := x(f)
		out := f.texts(slot)
		for i, s := range v.Texts {
			out[i] = of(s)
		}
		return Vector{Texts: out, Null: v.Null}
	}
}

// textOf is what a function makes of a text.
func textOf(n *node) func(string) string {
	switch n.name {
	case "lower":
		return strings.ToLower
	case "upper":
		return strings.ToUpper
	case "trim":
		return strings.TrimSpace
	case "prefix":
		most := n.args[1].of.Low
		return func(s string) string { return characters(s, 0, most) }
	}
	from, most := n.args[1].of.Low-1, n.args[2].of.Low // of slice
	return func(s string) string { return characters(s, from, most) }
}

// measure is a number of each text.
func (c *compiler) measure(n *node, of func(string) int64) part {
	slot, a := c.slot(), c.part(n)
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		for i, x := range v.Texts {
			out[i] = of(x)
		}
		return Vector{Numbers: out, Null: v.Null}
	}
}

// ofTexts tells something of two texts, null where either is.
func (c *compiler) ofTexts(a, b *node, of func(x, y string) bool) part {
	slot, first, second := c.slot(), c.part(a), c.part(b)
	return func(f *frame) Vector {
		x, y := first(f), second(f)
		out := f.numbers(slot)
		for i := range out {
			out[i] = bit(of(x.Texts[i], y.Texts[i]))
		}
		return Vector{Numbers: out, Null: f.eitherNull(slot, x.Null, y.Null)}
	}
}

// characters are at most so many characters of a text, behind the first `from`.
func characters(s string, from, most int64) string {
	begin, n := len(s), int64(0)
	for i := range s {
		if n == from {
			begin = i
		}
		if n == from+most {
			return s[min(begin, i):i]
		}
		n++
	}
	return s[begin:]
}
