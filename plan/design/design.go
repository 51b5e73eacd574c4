package design

// This file holds the design: columns, and how their codes become features.

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Scale is the integer that stands for 1 in the features of categories, and the most that does in those of numbers.
const Scale = 1 << 10

// maxTargetScale bounds [Design.TargetScale].
const maxTargetScale = 2 * Scale

// NoiseRatio is the variance of the noise off the diagonal that makes the best of a budget, relative to that on it:
// see the package comment.
const NoiseRatio = 0.5

// MaxEntries is the most entries that a design may have off the diagonal.
const MaxEntries = 1 << 18

// Column is a column of a regression. A number has Values, one integer for each code; a category has Categories, one
// name for each code, and no Values.
type Column struct {
	Name       string
	Categories []string
	Values     []int64
}

// IsNumber reports whether the column is a number.
func (c Column) IsNumber() bool { return c.Values != nil }

// Size returns how many codes the column has.
func (c Column) Size() int {
	if c.IsNumber() {
		return len(c.Values)
	}
	return len(c.Categories)
}

// Range returns the least and the largest value of a number.
func (c Column) Range() (low, high int64) { return slices.Min(c.Values), slices.Max(c.Values) }

// maxValue bounds the values of numbers, so that no step of the encoding overflows.
const maxValue = 1 << 40

// check reports what is wrong with a column.
func (c Column) check() error {
	switch {
	case c.Name == "":
		return errors.New("a column of the model has no name")
	case c.IsNumber() && c.Categories != nil:
		return fmt.Errorf("column %s has both values and categories", c.Name)
	case c.Size() < 2:
		return fmt.Errorf("column %s has fewer than two categories, so it cannot explain anything: leave it out",
			c.Name)
	case !c.IsNumber():
		return nil
	}
	low, high := c.Range()
	switch {
	case low == high:
		return fmt.Errorf("all values of column %s are equal, so it cannot explain anything: leave it out", c.Name)
	case low < -maxValue || high > maxValue:
		return fmt.Errorf("column %s has values beyond ±2^40: use a larger step", c.Name)
	}
	return nil
}

// Encoding is how the codes of a column become features: code c has the integer Value[c] in feature Offset[c] of the
// column, and 0 in the others. All features of a column together are its Width. The integer Unit stands for 1, the
// largest value. The intercept and numbers have squares on the diagonal: code c adds Square[c] there, and SquareUnit
// stands for 1.
type Encoding struct {
	Width      int
	Unit       int64
	Offset     []int
	Value      []int64
	SquareUnit int64
	Square     []int64
}

// Design is the public design of a regression. It is never changed once it is made.
type Design struct {
	columns   []Column
	positive  int
	target    int64      // scale of the target
	encodings []Encoding // the intercept first
	first     []int      // by encoding: index of its first feature
	blocks    [][]int    // by encodings a < b: index of the first entry of their block
	squares   []int      // encodings whose squares are entries of the diagonal
	entries   int        // off the diagonal
}

// New returns the design of a regression of the last column on the others, in their order. If the target is a
// category, positive is the code that is predicted; it is ignored for a number.
//
// It reports an error if there is no column to explain the target by, a column has no two values, or the design is too
// large.
func New(columns []Column, positive int) (*Design, error) {
	if len(columns) < 2 {
		return nil, errors.New("a regression needs a target and at least one column to explain it by")
	}
	target := columns[len(columns)-1]
	if !target.IsNumber() && (positive < 0 || positive >= target.Size()) {
		return nil, fmt.Errorf("column %s has no category %d to predict", target.Name, positive)
	}
	d := &Design{columns: slices.Clone(columns), positive: positive, target: targetScale(len(columns) - 1),
		first: []int{0}, squares: []int{0}, encodings: []Encoding{{Width: 1, Unit: Scale, Offset: []int{0},
			Value: []int64{Scale}, SquareUnit: Scale * Scale, Square: []int64{Scale * Scale}}}}
	for i, c := range columns {
		if err := c.check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(columns[:i], func(other Column) bool { return other.Name == c.Name }) {
			return nil, fmt.Errorf("column %s is in the model twice", c.Name)
		}
		if c.IsNumber() {
			d.squares = append(d.squares, i+1)
		}
		d.first = append(d.first, d.Features())
		d.encodings = append(d.encodings, d.encode(i))
	}
	for a, e := range d.encodings {
		d.blocks = append(d.blocks, make([]int, len(d.encodings)))
		for b := a + 1; b < len(d.encodings); b++ {
			d.blocks[a][b] = d.entries
			d.entries += e.Width * d.encodings[b].Width
			if d.entries > MaxEntries {
				return nil, fmt.Errorf("the model has more than %d products of features: leave out columns, or "+
					"merge categories", MaxEntries)
			}
		}
	}
	return d, nil
}

// encode returns the encoding of a column.
func (d *Design) encode(column int) Encoding {
	c := d.columns[column]
	isTarget, scale := column == len(d.columns)-1, int64(Scale)
	if isTarget {
		scale = d.target
	}
	if c.IsNumber() {
		return encodeNumber(c, scale)
	}
	e := Encoding{Width: 1, Unit: scale, Offset: make([]int, c.Size()), Value: make([]int64, c.Size())}
	for code := range c.Size() {
		switch {
		case isTarget && code == d.positive:
			e.Value[code] = scale
		case isTarget:
			e.Value[code] = -scale
		case c.Size() == 2:
			e.Value[code] = int64(2*code-1) * scale
		default:
			e.Width, e.Offset[code], e.Value[code] = c.Size(), code, scale
		}
	}
	return e
}

// encodeNumber returns the encoding of a number for a scale. Its squares are those for [Scale].
func encodeNumber(c Column, scale int64) Encoding {
	low, high := c.Range()
	unit, side := exactUnit(c, scale), exactUnit(c, Scale)
	e := Encoding{Width: 1, Unit: unit, Offset: make([]int, c.Size()), SquareUnit: side * side}
	for _, v := range c.Values {
		twice := 2*v - low - high
		x := divideRounding(side*twice, high-low)
		e.Value = append(e.Value, divideRounding(unit*twice, high-low))
		e.Square = append(e.Square, x*x)
	}
	return e
}

// exactSteps is the most steps between the middle and an end of a number of which all values are exact integers: few
// enough that the unit for this is hardly less than the scale.
const exactSteps = Scale / 16

// exactUnit returns the largest integer, at most a scale, times which all values of a number between −1 and 1 are
// integers; if there are more than [exactSteps] steps, the scale.
func exactUnit(c Column, scale int64) int64 {
	low, high := c.Range()
	step := big.NewInt(high - low) // largest common divisor of 2v − low − high and high − low
	for _, v := range c.Values {
		step.GCD(nil, nil, step, new(big.Int).Abs(big.NewInt(2*v-low-high)))
	}
	if least := (high - low) / step.Int64(); least <= exactSteps {
		return scale - scale%least
	}
	return scale
}

// divideRounding returns n/d for d > 0, rounded to the nearest integer, halves away from zero.
func divideRounding(n, d int64) int64 {
	if n < 0 {
		return -divideRounding(-n, d)
	}
	return (2*n + d) / (2 * d)
}

// targetScale returns the scale of the target of a design with this many other columns: the largest integer T with
// T⁴ ≤ n·Scale⁴, and at most [maxTargetScale].
func targetScale(n int) int64 {
	t := int64(Scale)
	for t < maxTargetScale && (t+1)*(t+1)*(t+1)*(t+1) <= int64(n)*Scale*Scale*Scale*Scale {
		t++
	}
	return t
}

// Columns returns the columns, the target last. They must not be changed.
func (d *Design) Columns() []Column { return d.columns }

// Target returns the target.
func (d *Design) Target() Column { return d.columns[len(d.columns)-1] }

// TargetScale returns what takes the place of [Scale] in the target: at least that. The few moments with the target
// bring as much noise into coefficients as the many others do together, so it pays to measure them better. With n other
// columns Σ z_a²·z_b² off the diagonal is about Scale⁴·(n²/2 + n·x) for x = (T/Scale)², and the variance of a
// coefficient is that times 1/x + |w|² with the sum of squares |w|² of all coefficients in units of features. It is
// least at x² = n/(2·|w|²); for |w|² = ½, which is usual, at x² = n. The square of the target, which says nothing of
// coefficients, is measured at Scale.
func (d *Design) TargetScale() int64 { return d.target }

// Positive returns the code of the target that is predicted, if the target is a category.
func (d *Design) Positive() int { return d.positive }

// Sizes returns how many codes each column has.
func (d *Design) Sizes() []int {
	sizes := make([]int, len(d.columns))
	for i, c := range d.columns {
		sizes[i] = c.Size()
	}
	return sizes
}

// Features returns how many features there are, with the intercept, which is the first, and the target, which is the
// last.
func (d *Design) Features() int {
	last := len(d.encodings) - 1
	return d.first[last] + d.encodings[last].Width
}

// Encodings returns the encoding of the intercept, which has a single code, and of each column. They must not be
// changed.
func (d *Design) Encodings() []Encoding { return d.encodings }

// First returns the index of the first feature of an encoding: 0 is the intercept, i+1 is column i.
func (d *Design) First(encoding int) int { return d.first[encoding] }

// Lengths returns how many entries are on the diagonal and off it.
func (d *Design) Lengths() (diagonal, offDiagonal int) { return len(d.squares), d.entries }

// Squares returns the encodings whose squares are the entries of the diagonal, in order: 0, the intercept, and then
// each number.
func (d *Design) Squares() []int { return d.squares }

// Block returns where the products of the features of encodings a < b begin off the diagonal. The product of feature i
// of a and feature j of b is at Block(a, b) + i·(width of b) + j.
func (d *Design) Block(a, b int) int { return d.blocks[a][b] }

// MaxRows is the most rows of which all moments are at most 2^61 in absolute value: half of the largest value to which
// noise is added.
const MaxRows = 1 << 61 / (Scale * maxTargetScale)

// Row adds the moments of a row of codes, count times, to the entries on the diagonal and off it: the definition of
// the moments, which other computations equal.
func (d *Design) Row(codes []int, count int64, diagonal, offDiagonal []*big.Int) {
	values, features := make([]int64, len(d.encodings)), make([]int, len(d.encodings))
	squares := make([]int64, 0, len(d.squares))
	for i, e := range d.encodings {
		code := 0
		if i > 0 {
			code = codes[i-1]
		}
		features[i], values[i] = e.Offset[code], e.Value[code]
		if e.Square != nil {
			squares = append(squares, e.Square[code])
		}
	}
	add := func(to *big.Int, a, b int64) {
		x := big.NewInt(a)
		x.Mul(x, big.NewInt(b))
		to.Add(to, x.Mul(x, big.NewInt(count)))
	}
	for i, x := range squares {
		add(diagonal[i], x, 1)
	}
	for a := range d.encodings {
		for b := a + 1; b < len(d.encodings); b++ {
			add(offDiagonal[d.blocks[a][b]+features[a]*d.encodings[b].Width+features[b]], values[a], values[b])
		}
	}
}
