package encoding

// This file holds the encoder, which turns the raw values of a column into codes over its declared domain, or over
// the indexes of its lattice.

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Marks among the codes of rows; every domain is smaller.
const (
	Dropped  = math.MaxUint32     // the row is left out
	Breached = math.MaxUint32 - 1 // the row breaks the contract
	unseen   = math.MaxUint32 - 2 // an entry of a look-up table not yet asked for
)

// IsMark reports whether a code of [Encoder.Encode] is a mark rather than the code of a category or a value.
func IsMark(code uint32) bool { return code >= unseen }

// Encoder encodes one column. Goroutines share it; it changes only in what it records of the values that it has seen.
// As a [source.Coder] it tells readers which code each value has.
type Encoder struct {
	Column  *spec.Column
	Size    int  // number of codes
	Numbers bool // codes are lattice indexes of values, and not categories
	width   int  // number of bytes of a code
	// Marks is the mark of a row that breaks the contract; the next code is the mark of a row that is left out
	Marks   uint32
	compute Compute // computes the values from other columns, nil for a column that is read as it is

	readable, unreadable atomic.Bool // some value was of the column's type; some was a text that is not
}

// OfCategories returns the encoder of a column's categories. It returns an error if the domain is too large to have
// codes.
func OfCategories(table *spec.Table, c *spec.Column) (*Encoder, error) {
	return encoderWith(table, c, c.Domain.Size())
}

func encoderWith(table *spec.Table, c *spec.Column, size int) (*Encoder, error) {
	if size < 1 || uint64(size) >= unseen {
		return nil, fmt.Errorf("%s.%s: a domain has 1 to %d cells", table.Name, c.Name, uint64(unseen)-1)
	}
	makes, err := Computing(table, c)
	if err != nil {
		return nil, err
	}
	width := widthOf(size)
	return &Encoder{Column: c, Size: size, width: width, Marks: uint32(1<<(8*width) - 2), compute: makes}, nil
}

// widthOf returns the fewest bytes that hold size codes and two marks.
func widthOf(size int) int {
	switch {
	case size <= math.MaxUint8-1:
		return 1
	case size <= math.MaxUint16-1:
		return 2
	}
	return 4
}

// Label returns a code as text: its finest category or, if the column has none (a range without step), the index of
// its cell.
func (e *Encoder) Label(code uint32) string {
	if finest, ok := e.Column.Domain.Level(""); ok {
		return finest.Categories[code].Code
	}
	return fmt.Sprint(code)
}

// LeavesOut reports whether a row may be left out because of its value in the column.
func (e *Encoder) LeavesOut() bool {
	return e.Column.Null.Action == spec.Drop || e.Column.Unknown.Action == spec.Drop
}

// Integers returns the range outside which integers need not be distinguished. All integers below low have the same
// code and, if they break the contract, break it in the same way; so have all integers above high. ok is false if there
// is no such range, because the values are computed from other columns or no integer has a code.
func (e *Encoder) Integers() (low, high int64, ok bool) {
	switch {
	case e.compute != nil:
		return 0, 0, false
	case e.Numbers:
		low, high = e.Column.Lattice.Integers()
		return low, high, true
	}
	return e.Column.Domain.Integers()
}

// Width returns the number of bytes of a code, which leaves room for two marks.
func (e *Encoder) Width() int { return e.width }

// Codes writes the code of each value. The last two codes of the width are marks: one for a value that breaks the
// contract, and one for a value whose row is left out. The encoder must read its column, or compute it, from a single
// column, whose values these are.
func (e *Encoder) Codes(values arrow.Array, codes []uint32) {
	e.CodesOf([]arrow.Array{values}, codes)
}

// CodesOf is Codes for a column that is computed from any number of others.
func (e *Encoder) CodesOf(inputs []arrow.Array, codes []uint32) {
	values, misfits := e.computeValues(inputs)
	code := e.codeReader(values)
	nulls := values.NullN() > 0
	for i := range codes {
		c := uint32(0)
		switch {
		case misfits != nil && misfits[i] != domain.Fits:
			c = e.codeOfMisfit(misfits[i])
			e.noteFit(misfits[i])
		case nulls && values.IsNull(i):
			c = e.nullCode()
		default:
			var fit domain.Fit
			c, fit = code(i)
			e.noteFit(fit)
		}
		switch c {
		case Dropped:
			c = e.Marks + 1
		case Breached:
			c = e.Marks
		}
		codes[i] = c
	}
}

// Unread reports whether the column has values none of which could be read as its type.
func (e *Encoder) Unread() bool { return e.unreadable.Load() && !e.readable.Load() }

// Fits reports whether the column has values that could not be read as its type, and whether it has others.
func (e *Encoder) Fits() (unreadable, readable bool) { return e.unreadable.Load(), e.readable.Load() }

// AddFits records what another encoder of the column has found.
func (e *Encoder) AddFits(unreadable, readable bool) {
	if unreadable {
		e.unreadable.Store(true)
	}
	if readable {
		e.readable.Store(true)
	}
}

// noteFit records that a value was read, or could not be.
func (e *Encoder) noteFit(fit domain.Fit) {
	if fit == domain.NotANumber {
		if !e.unreadable.Load() {
			e.unreadable.Store(true)
		}
	} else if !e.readable.Load() {
		e.readable.Store(true)
	}
}

// KindNull is the kind of a misfit without a value. [domain.Fit] has the other kinds.
const KindNull = "null"

// Misfit is a row whose value breaks the contract.
type Misfit struct {
	Row  int
	Kind string
}

// KindOf names a breach of the column's domain, by what the column holds and never by what the value is.
func (e *Encoder) KindOf(fit domain.Fit) string {
	if fit == domain.NotANumber && (e.Column.Type == domain.Date || e.Column.Type == domain.Timestamp) {
		return "not a " + string(e.Column.Type)
	}
	return fit.String()
}

// Encode returns the code of each row of raw inputs, with the marks Dropped and Breached, and the first breaches in
// row order of rows that are not outside, at most `most` of them.
func (e *Encoder) Encode(outside []bool, most int, inputs ...arrow.Array) ([]uint32, []Misfit) {
	raw, misfits := e.computeValues(inputs)
	codes := make([]uint32, raw.Len())
	var found []Misfit
	code := e.codeReader(raw)
	for i := range codes {
		kind := KindNull
		switch {
		case misfits != nil && misfits[i] != domain.Fits:
			codes[i] = e.codeOfMisfit(misfits[i])
			kind = misfits[i].String()
		case raw.IsNull(i):
			codes[i] = e.nullCode()
		default:
			var fit domain.Fit
			if codes[i], fit = code(i); codes[i] == Breached {
				kind = e.KindOf(fit)
			}
		}
		if codes[i] == Breached && len(found) < most && (outside == nil || !outside[i]) {
			found = append(found, Misfit{i, kind})
		}
	}
	return codes, found
}

// nullCode returns the code of a row without a value.
func (e *Encoder) nullCode() uint32 {
	if e.Numbers && e.Column.Null.Action == spec.As {
		return e.codeAt(e.Column.Lattice.IndexOfNull(domain.NoStratum))
	}
	return e.codeByPolicy(e.Column.Null)
}

// codeByPolicy returns the code that a policy gives.
func (e *Encoder) codeByPolicy(p spec.Policy) uint32 {
	switch p.Action {
	case spec.Drop:
		return Dropped
	case spec.As:
		return uint32(p.Category)
	}
	return Breached
}

// codeOfFit applies the policy for unknown values. A column that cannot be read as its type at all is refused
// whatever the policy; otherwise a mistaken spec would silently count nothing.
func (e *Encoder) codeOfFit(code int, fit domain.Fit) (uint32, domain.Fit) {
	switch fit {
	case domain.Fits:
		return uint32(code), fit
	case domain.WrongType:
		return Breached, fit
	}
	return e.codeByPolicy(e.Column.Unknown), fit
}

// codeOfMisfit returns the code of a row with an input that could not be read.
func (e *Encoder) codeOfMisfit(fit domain.Fit) (code uint32) {
	if e.Numbers && fit != domain.WrongType {
		code, _ = e.codeOfNumber(0, fit)
	} else {
		code, _ = e.codeOfFit(0, fit)
	}
	return code
}

// textArray is an array of texts: String, or LargeString for UUIDs.
type textArray interface {
	arrow.Array
	Value(row int) string
}

// codeReader returns a function that encodes a row of raw that is not null.
func (e *Encoder) codeReader(raw arrow.Array) func(row int) (uint32, domain.Fit) {
	if e.Numbers {
		return e.numberReader(raw)
	}
	d := e.Column.Domain
	switch a := raw.(type) {
	case *array.Dictionary:
		return lookUp(a, func(text string) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfText(text)) })
	case textArray:
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfText(a.Value(i))) }
	case *array.Int64:
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfInt(a.Value(i))) }
	case *array.Float64:
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfFloat(a.Value(i))) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfDecimal(a.Value(i).BigInt(), scale)) }
	case *array.Boolean:
		if x := e.Column.Expression; x != nil && x.Categories != nil {
			return e.truthReader(a, x.Categories)
		}
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfBool(a.Value(i))) }
	case *array.Date32:
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfDate(int32(a.Value(i)))) }
	case *array.Timestamp:
		return func(i int) (uint32, domain.Fit) { return e.codeOfFit(d.CodeOfTimestamp(int64(a.Value(i)))) }
	}
	return func(int) (uint32, domain.Fit) { return Breached, domain.WrongType }
}

// truthReader encodes booleans by the categories of false and true.
func (e *Encoder) truthReader(a *array.Boolean, categories []string) func(row int) (uint32, domain.Fit) {
	var codes [2]uint32
	for i, category := range categories {
		codes[i], _ = e.codeOfFit(e.Column.Domain.CodeOfText(category))
	}
	return func(i int) (uint32, domain.Fit) {
		if a.Value(i) {
			return codes[1], domain.Fits
		}
		return codes[0], domain.Fits
	}
}

// lookUp encodes a dictionary through a table that is filled as entries are used, so that an entry that no row uses
// breaks no contract.
func lookUp(a *array.Dictionary, codeOf func(text string) (uint32, domain.Fit)) func(row int) (uint32, domain.Fit) {
	values, ok := a.Dictionary().(*array.String)
	index, okIndex := a.Indices().(*array.Int32)
	if !ok || !okIndex {
		return func(int) (uint32, domain.Fit) { return Breached, domain.WrongType }
	}
	codes := make([]uint32, values.Len())
	fits := make([]domain.Fit, values.Len())
	for i := range codes {
		codes[i] = unseen
	}
	return func(i int) (uint32, domain.Fit) {
		at := index.Value(i)
		if codes[at] == unseen {
			codes[at], fits[at] = codeOf(values.Value(int(at)))
		}
		return codes[at], fits[at]
	}
}
