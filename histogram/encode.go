package histogram

// This file holds the encoder: from the raw values of a column to codes over its
// declared domain.

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// Marks among the codes of rows; every domain is smaller.
const (
	dropped  = math.MaxUint32     // the row is left out
	breached = math.MaxUint32 - 1 // the row breaks the contract
	unseen   = math.MaxUint32 - 2 // an entry of a look-up table not yet asked for
)

// encoder encodes one column. It is immutable and shared by goroutines.
type encoder struct {
	table  string
	column *spec.Column
	of     *arrow.DictionaryType // of the arrays it makes: indexes of the least width
	labels arrow.Array           // the declared base cells as text, in order
}

// newEncoder fails where a domain is too large to have codes.
func newEncoder(table string, c *spec.Column) (*encoder, error) {
	size := c.Domain.Size()
	if size < 1 || uint64(size) >= unseen {
		return nil, fmt.Errorf("%s.%s: a domain has 1 to %d cells", table, c.Name, uint64(unseen)-1)
	}
	return &encoder{table: table, column: c, labels: labels(c.Domain),
		of: &arrow.DictionaryType{IndexType: indexType(size), ValueType: arrow.BinaryTypes.String}}, nil
}

// indexType is the narrowest type that holds the codes of a domain.
func indexType(size int) arrow.DataType {
	switch {
	case size <= math.MaxUint8+1:
		return arrow.PrimitiveTypes.Uint8
	case size <= math.MaxUint16+1:
		return arrow.PrimitiveTypes.Uint16
	}
	return arrow.PrimitiveTypes.Uint32
}

// labels is the dictionary of a column's codes: its finest categories or, where
// it has none (a range without step), the places of its cells.
func labels(d *spec.Domain) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	finest, ok := d.Level("")
	for i := range d.Size() {
		if ok {
			b.Append(finest.Categories[i].Code)
		} else {
			b.Append(fmt.Sprint(i))
		}
	}
	return b.NewArray()
}

// misfit is a row whose value breaks the contract.
type misfit struct {
	row  int
	kind string
}

// encode returns the code of each row of raw, with the marks dropped and
// breached, and the first breaches in row order.
func (e *encoder) encode(raw arrow.Array) ([]uint32, []misfit) {
	codes := make([]uint32, raw.Len())
	var found []misfit
	code := e.reader(raw)
	for i := range codes {
		kind := kindNull
		if raw.IsNull(i) {
			codes[i] = e.obey(e.column.Null)
		} else {
			var fit spec.Fit
			if codes[i], fit = code(i); codes[i] == breached {
				kind = fit.String()
			}
		}
		if codes[i] == breached && len(found) < breachLimit {
			found = append(found, misfit{i, kind})
		}
	}
	return codes, found
}

// obey is the code that a policy gives.
func (e *encoder) obey(p spec.Policy) uint32 {
	switch p.Action {
	case spec.Drop:
		return dropped
	case spec.As:
		return uint32(p.Category)
	}
	return breached
}

// resolve applies the policy for unknown values. A column that cannot be read as
// its type at all is refused whatever the policy, or a mistaken spec would count
// nothing without a word.
func (e *encoder) resolve(code int, fit spec.Fit) (uint32, spec.Fit) {
	switch fit {
	case spec.Fits:
		return uint32(code), fit
	case spec.WrongType:
		return breached, fit
	}
	return e.obey(e.column.Unknown), fit
}

// reader returns how a row of raw that is not null is encoded.
func (e *encoder) reader(raw arrow.Array) func(row int) (uint32, spec.Fit) {
	d := e.column.Domain
	switch a := raw.(type) {
	case *array.Dictionary:
		return e.lookUp(a)
	case *array.String:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfText(a.Value(i))) }
	case *array.LargeString:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfText(a.Value(i))) }
	case *array.Int64:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfInt(a.Value(i))) }
	case *array.Float64:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfFloat(a.Value(i))) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfDecimal(a.Value(i).BigInt(), scale)) }
	case *array.Boolean:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfBool(a.Value(i))) }
	case *array.Date32:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfDate(int32(a.Value(i)))) }
	case *array.Timestamp:
		return func(i int) (uint32, spec.Fit) { return e.resolve(d.CodeOfTimestamp(int64(a.Value(i)))) }
	}
	return func(int) (uint32, spec.Fit) { return breached, spec.WrongType }
}

// lookUp encodes a dictionary through a table filled as its entries are met, so
// that an entry no row uses breaks no contract.
func (e *encoder) lookUp(a *array.Dictionary) func(row int) (uint32, spec.Fit) {
	values, ok := a.Dictionary().(*array.String)
	index, okIndex := a.Indices().(*array.Int32)
	if !ok || !okIndex {
		return func(int) (uint32, spec.Fit) { return breached, spec.WrongType }
	}
	codes := make([]uint32, values.Len())
	fits := make([]spec.Fit, values.Len())
	for i := range codes {
		codes[i] = unseen
	}
	return func(i int) (uint32, spec.Fit) {
		at := index.Value(i)
		if codes[at] == unseen {
			codes[at], fits[at] = e.resolve(e.column.Domain.CodeOfText(values.Value(int(at))))
		}
		return codes[at], fits[at]
	}
}

// pack returns the codes at the places given (nil: all) as an Arrow dictionary
// array over the declared domain. No code may be a mark.
func (e *encoder) pack(mem memory.Allocator, codes []uint32, places []int32) *array.Dictionary {
	var index arrow.Array
	switch e.of.IndexType.ID() {
	case arrow.UINT8:
		b := array.NewUint8Builder(mem)
		defer b.Release()
		b.AppendValues(narrow[uint8](codes, places), nil)
		index = b.NewArray()
	case arrow.UINT16:
		b := array.NewUint16Builder(mem)
		defer b.Release()
		b.AppendValues(narrow[uint16](codes, places), nil)
		index = b.NewArray()
	default:
		b := array.NewUint32Builder(mem)
		defer b.Release()
		b.AppendValues(narrow[uint32](codes, places), nil)
		index = b.NewArray()
	}
	defer index.Release()
	return array.NewDictionaryArray(e.of, index, e.labels)
}

// code is an index type of a dictionary.
type code interface{ uint8 | uint16 | uint32 }

// narrow gathers the codes at the places (nil: all) in their least width.
func narrow[T code](codes []uint32, places []int32) []T {
	if places == nil {
		out := make([]T, len(codes))
		for i, c := range codes {
			out[i] = T(c)
		}
		return out
	}
	out := make([]T, len(places))
	for i, place := range places {
		out[i] = T(codes[place])
	}
	return out
}
