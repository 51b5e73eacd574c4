package expression

// This file holds the program, which evaluates an expression for many rows at once.

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Vector is a column of values, one per row: Numbers for every kind but texts (1 and 0 for booleans, days,
// microseconds, ranks), or Texts. Null marks the rows that are null; nil means none.
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
	evaluate evaluator
	slots    int
	frames   sync.Pool
}

// evaluator evaluates a part of an expression. Its result must not be changed, and is valid until the frame is used
// again.
type evaluator func(f *frame) Vector

// frame is the batch of rows being evaluated, with memory for each evaluator that makes values.
type frame struct {
	rows   int
	inputs []Vector
	slots  []Vector
}

// numbers, texts and nulls return the memory of a slot, sized to the number of rows.
func (f *frame) numbers(slot int) []int64 { return resize(&f.slots[slot].Numbers, f.rows) }
func (f *frame) texts(slot int) []string  { return resize(&f.slots[slot].Texts, f.rows) }
func (f *frame) nulls(slot int) []bool    { return resize(&f.slots[slot].Null, f.rows) }

func resize[T any](s *[]T, rows int) []T {
	*s = slices.Grow((*s)[:0], rows)[:rows]
	return *s
}

// Compile returns the program of an expression.
func Compile(e *Expression) *Program {
	c := &compiler{inputIndex: map[[2]string]int{}}
	for i, in := range e.inputs {
		c.inputIndex[[2]string{in.Table, in.Name}] = i
	}
	p := &Program{evaluate: c.compile(e.root)}
	p.slots = c.slots
	p.frames.New = func() any { return &frame{slots: make([]Vector, p.slots)} }
	return p
}

// Run evaluates a batch of rows. inputs has a vector for each input of the expression. take receives the values, which
// are valid until it returns.
func (p *Program) Run(rows int, inputs []Vector, take func(Vector)) {
	f := p.frames.Get().(*frame)
	defer p.frames.Put(f)
	f.rows, f.inputs = rows, inputs
	take(p.evaluate(f))
	f.inputs = nil
}

// compiler translates an expression into evaluators.
type compiler struct {
	slots      int
	inputIndex map[[2]string]int
}

func (c *compiler) newSlot() int {
	c.slots++
	return c.slots - 1
}

func (c *compiler) compile(n *node) evaluator {
	switch n.op {
	case column:
		at := c.inputIndex[[2]string{n.table, n.name}]
		return func(f *frame) Vector { return f.inputs[at] }
	case call:
		return c.compileCall(n)
	}
	return c.compileLiteral(n, n.typ.DecimalPlaces)
}

// compileLiteral evaluates to the same value in every row; a number is counted in the given places.
func (c *compiler) compileLiteral(n *node, places int) evaluator {
	slot := c.newSlot()
	switch n.op {
	case text:
		return func(f *frame) Vector { return Vector{Texts: repeatedValues(&f.slots[slot].Texts, n.text, f.rows)} }
	case null:
		return func(f *frame) Vector {
			s := &f.slots[slot]
			return Vector{Numbers: repeatedValues(&s.Numbers, 0, f.rows), Texts: repeatedValues(&s.Texts, "", f.rows),
				Null: repeatedValues(&s.Null, true, f.rows)}
		}
	}
	return c.compileConstant(literalUnits(n, places, false))
}

// compileConstant evaluates to the same number in every row.
func (c *compiler) compileConstant(value int64) evaluator {
	slot := c.newSlot()
	return func(f *frame) Vector { return Vector{Numbers: repeatedValues(&f.slots[slot].Numbers, value, f.rows)} }
}

// repeatedValues returns the value once per row, in the memory of a slot that never holds another value.
func repeatedValues[T any](s *[]T, value T, rows int) []T {
	for len(*s) < rows {
		*s = append(*s, value)
	}
	return (*s)[:rows]
}

// powerOfTen returns 10 to a power from 0 to 18.
func powerOfTen(places int) int64 {
	x := int64(1)
	for range places {
		x *= 10
	}
	return x
}

// compileScaled evaluates to a number counted in the given places.
func (c *compiler) compileScaled(n *node, places int) evaluator {
	by := powerOfTen(places - n.typ.DecimalPlaces)
	switch {
	case n.typ.Kind != Number || by == 1 || n.op == null:
		return c.compile(n)
	case n.isLiteral():
		return c.compileLiteral(n, places)
	}
	return c.mapNumbers(c.compile(n), func(x int64) int64 { return x * by })
}

// mapNumbers applies a function to each number.
func (c *compiler) mapNumbers(a evaluator, apply func(int64) int64) evaluator {
	slot := c.newSlot()
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		for i, x := range v.Numbers {
			out[i] = apply(x)
		}
		return Vector{Numbers: out, Null: v.Null}
	}
}

// combineNumbers applies a function to two columns of numbers. The result is null where either is.
func (c *compiler) combineNumbers(a, b evaluator, apply func(out, x, y []int64)) evaluator {
	slot := c.newSlot()
	return func(f *frame) Vector {
		x, y := a(f), b(f)
		out := f.numbers(slot)
		apply(out, x.Numbers[:len(out)], y.Numbers[:len(out)])
		return Vector{Numbers: out, Null: f.eitherNull(slot, x.Null, y.Null)}
	}
}

// eitherNull marks the rows in which a or b is null.
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

func toBit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) compileCall(n *node) evaluator {
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.compileComparison(n)
	case "in":
		return c.compileIn(n)
	case "and", "or":
		return c.compileLogic(n)
	case "not":
		return c.mapNumbers(c.compile(n.args[0]), func(x int64) int64 { return 1 - x })
	case "is_null":
		return c.compileIsNull(n)
	case "if", "case":
		return c.compileBranches(n)
	case "coalesce":
		return c.compileCoalesce(n)
	case "recode":
		return c.compileRecode(n)
	case "integer", "decimal":
		return c.compileScaled(n.args[0], n.typ.DecimalPlaces)
	case "text", "boolean", "timestamp":
		return c.compile(n.args[0])
	case "date":
		return c.compileDay(n.args[0])
	case "+", "-", "*", "//", "%", "negative", "abs", "min", "max", "clamp", "floor", "round":
		return c.compileArithmetic(n)
	}
	if s, ok := spans[n.name]; ok {
		return c.compileSpan(n, s.micros)
	}
	if p, ok := dateParts[n.name]; ok {
		return c.mapNumbers(c.compileDay(n.args[0]), func(x int64) int64 { return int64(p.compute(calendar.Day(x))) })
	}
	if p, ok := timeParts[n.name]; ok {
		return c.mapNumbers(c.compile(n.args[0]), p.compute)
	}
	return c.compileText(n)
}

// compileDay evaluates to the day of a date or timestamp.
func (c *compiler) compileDay(n *node) evaluator {
	if n.typ.Kind == Timestamp {
		return c.mapNumbers(c.compile(n), func(x int64) int64 { return calendar.DayOf(x) })
	}
	return c.compile(n)
}

// compileIsNull evaluates to 1 in the rows that are null.
func (c *compiler) compileIsNull(n *node) evaluator {
	slot, a := c.newSlot(), c.compile(n.args[0])
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		clear(out)
		for i, null := range v.Null {
			out[i] = toBit(null)
		}
		return Vector{Numbers: out}
	}
}

// compileLogic evaluates and, or. Where one side is null, the result is known if the other side decides it.
func (c *compiler) compileLogic(n *node) evaluator {
	slot, a, b := c.newSlot(), c.compile(n.args[0]), c.compile(n.args[1])
	decides := toBit(n.name == "or")
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

// compileSpan evaluates to the time between two days or timestamps.
func (c *compiler) compileSpan(n *node, micros int64) evaluator {
	a, b := n.args[0].args[0], n.args[0].args[1]
	if micros > 0 {
		return c.combineNumbers(c.compile(a), c.compile(b), func(out, x, y []int64) {
			for i := range out {
				out[i] = calendar.FloorDiv(x[i]-y[i], micros)
			}
		})
	}
	return c.combineNumbers(c.compileDay(a), c.compileDay(b), map[string]func(out, x, y []int64){
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

// compileArithmetic evaluates to a function of numbers, counted in the places of the result.
func (c *compiler) compileArithmetic(n *node) evaluator {
	a := n.args[0]
	switch n.name {
	case "floor":
		return c.mapNumbers(c.compile(a), floorFunction(a.typ, 0))
	case "round":
		return c.mapNumbers(c.compile(a), floorFunction(a.typ, 5*powerOfTen(max(a.typ.DecimalPlaces, 1)-1)))
	case "clamp":
		return c.compileClamp(n)
	case "//":
		by := n.args[1].typ.Low
		return c.mapNumbers(c.compile(a), func(x int64) int64 { return calendar.FloorDiv(x, by) })
	case "%":
		by := n.args[1].typ.Low
		return c.mapNumbers(c.compile(a), func(x int64) int64 { return calendar.FloorMod(x, by) })
	case "*":
		return c.combineNumbers(c.compile(a), c.compile(n.args[1]), func(out, x, y []int64) {
			for i := range out {
				out[i] = x[i] * y[i]
			}
		})
	}
	result := c.compileScaled(a, n.typ.DecimalPlaces)
	switch n.name {
	case "negative":
		return c.mapNumbers(result, func(x int64) int64 { return -x })
	case "abs":
		return c.mapNumbers(result, func(x int64) int64 { return max(x, -x) })
	}
	for _, b := range n.args[1:] {
		result = c.combineNumbers(result, c.compileScaled(b, n.typ.DecimalPlaces), numberOperators[n.name])
	}
	return result
}

// numberOperators combine numbers that are counted in the same places.
var numberOperators = map[string]func(out, x, y []int64){
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

// floorFunction returns ⌊x + half·10^-places⌋ as a function of numbers of type t. A rank between two units has the
// floor of the lower one.
func floorFunction(t Type, half int64) func(int64) int64 {
	by := powerOfTen(t.DecimalPlaces)
	if t.DecimalPlaces == 0 {
		half = 0
	}
	if t.areRanks {
		return func(x int64) int64 { return calendar.FloorDiv(x>>1+half, by) }
	}
	return func(x int64) int64 { return calendar.FloorDiv(x+half, by) }
}

// compileClamp first clamps x to the bounds in the places of x, rounded outwards, so that it can be counted in the
// places of the bounds without overflow.
func (c *compiler) compileClamp(n *node) evaluator {
	a := n.args[0]
	by := powerOfTen(n.typ.DecimalPlaces - a.typ.DecimalPlaces)
	low, high := n.typ.Low, n.typ.High
	near, far := calendar.FloorDiv(low, by), -calendar.FloorDiv(-high, by)
	return c.mapNumbers(c.compile(a), func(x int64) int64 { return min(max(min(max(x, near), far)*by, low), high) })
}

// compileText evaluates to a function of texts.
func (c *compiler) compileText(n *node) evaluator {
	a := n.args[0]
	switch n.name {
	case "length":
		return c.mapTexts(a, func(s string) int64 { return int64(utf8.RuneCountInString(s)) })
	case "starts_with":
		return c.compareTexts(a, n.args[1], strings.HasPrefix)
	}
	of, slot, x := textFunction(n), c.newSlot(), c.compile(a)
	return func(f *frame) Vector {
		v := x(f)
		out := f.texts(slot)
		for i, s := range v.Texts {
			out[i] = of(s)
		}
		return Vector{Texts: out, Null: v.Null}
	}
}

// textFunction returns the function that n applies to a text.
func textFunction(n *node) func(string) string {
	switch n.name {
	case "lower":
		return strings.ToLower
	case "upper":
		return strings.ToUpper
	case "trim":
		return strings.TrimSpace
	case "prefix":
		most := n.args[1].typ.Low
		return func(s string) string { return substring(s, 0, most) }
	}
	from, most := n.args[1].typ.Low-1, n.args[2].typ.Low // slice
	return func(s string) string { return substring(s, from, most) }
}

// mapTexts evaluates to a number computed from each text.
func (c *compiler) mapTexts(n *node, apply func(string) int64) evaluator {
	slot, a := c.newSlot(), c.compile(n)
	return func(f *frame) Vector {
		v := a(f)
		out := f.numbers(slot)
		for i, x := range v.Texts {
			out[i] = apply(x)
		}
		return Vector{Numbers: out, Null: v.Null}
	}
}

// compareTexts evaluates to a predicate of two texts, null where either is null.
func (c *compiler) compareTexts(a, b *node, predicate func(x, y string) bool) evaluator {
	slot, first, second := c.newSlot(), c.compile(a), c.compile(b)
	return func(f *frame) Vector {
		x, y := first(f), second(f)
		out := f.numbers(slot)
		for i := range out {
			out[i] = toBit(predicate(x.Texts[i], y.Texts[i]))
		}
		return Vector{Numbers: out, Null: f.eitherNull(slot, x.Null, y.Null)}
	}
}

// substring returns at most `most` characters of s, after skipping the first `from`.
func substring(s string, from, most int64) string {
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
