package encoding

// This file holds the evaluation of expressions over columns of the source.

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/expression"
)

// evaluation computes the values of an expression. It is immutable except for the memory that goroutines reuse.
type evaluation struct {
	of      *spec.Expression
	program *expression.Program
	inputs  []operand
	scratch sync.Pool // of *[]expression.Vector, one for each input
}

// operand is one input of an expression: a column among the sources or, if lookUp is not nil, a value that is looked
// up by several sources.
type operand struct {
	reading domain.Reading
	indexes []int
	lookUp  Compute
}

// expressionValues returns how the values of a column's expression are computed. A row with an input that is not of
// the kind, or beyond the numbers, that the expression was checked for is a misfit, whatever the expression makes of
// it.
//
// Guarantee: the value of a row is a function of its own inputs and of what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
func expressionValues(table *spec.Table, of *spec.Expression) (Compute, error) {
	v, err := newEvaluation(table, of)
	if err != nil {
		return nil, err
	}
	return v.compute, nil
}

func newEvaluation(table *spec.Table, of *spec.Expression) (*evaluation, error) {
	v := &evaluation{of: of, program: expression.Compile(of.Expression)}
	for _, in := range of.Inputs() {
		o := operand{reading: domain.Reading{Input: in}}
		names := []string{in.Name}
		if in.Table != "" {
			j := table.Join(in.Table)
			if j == nil {
				return nil, fmt.Errorf("table %s is joined to no table %s", table.Name, in.Table)
			}
			var err error
			if o.lookUp, err = lookupValues(table,
				&spec.Column{Name: in.Name, Lookup: &spec.Lookup{Join: in.Table, Column: in.Name,
					On: j.On}}); err != nil {
				return nil, err
			}
			names = j.On
		}
		for _, name := range names {
			at := slices.Index(of.Sources(), name)
			if at < 0 {
				return nil, fmt.Errorf("table %s: an expression does not say that it reads %s", table.Name, name)
			}
			o.indexes = append(o.indexes, at)
		}
		v.inputs = append(v.inputs, o)
	}
	v.scratch.New = func() any { made := make([]expression.Vector, len(v.inputs)); return &made }
	return v, nil
}

// run passes the values of rows to take, and returns which rows are misfits.
func (v *evaluation) run(sources []arrow.Array, take func(expression.Vector)) (misfits []domain.Fit) {
	rows := sources[0].Len()
	scratch := v.scratch.Get().(*[]expression.Vector)
	defer v.scratch.Put(scratch)
	vectors := make([]expression.Vector, len(v.inputs))
	for i, o := range v.inputs {
		values := sources[o.indexes[0]]
		if o.lookUp != nil {
			keys := make([]arrow.Array, len(o.indexes))
			for j, at := range o.indexes {
				keys[j] = sources[at]
			}
			var wrong []domain.Fit
			values, wrong = o.lookUp(keys)
			misfits = mergeMisfits(misfits, wrong)
		}
		r := vectorReader{reading: o.reading, into: &(*scratch)[i]}
		vectors[i] = r.readVector(values)
		misfits = mergeMisfits(misfits, r.misfits)
	}
	v.program.Run(rows, vectors, take)
	return misfits
}

// mergeMisfits returns the rows that are misfits in either of two lists.
func mergeMisfits(a, b []domain.Fit) []domain.Fit {
	if a == nil {
		return b
	}
	for i, fit := range b {
		if a[i] == domain.Fits {
			a[i] = fit
		}
	}
	return a
}

// vectorReader reads an array as a vector, in memory that is reused.
type vectorReader struct {
	reading domain.Reading
	into    *expression.Vector
	misfits []domain.Fit
}

func (r *vectorReader) readVector(a arrow.Array) (v expression.Vector) {
	if d, ok := a.(*array.Dictionary); ok {
		return r.readDictionary(d)
	}
	n := a.Len()
	if a.NullN() > 0 {
		v.Null = resize(&r.into.Null, n)
		for i := range v.Null {
			v.Null[i] = a.IsNull(i)
		}
	}
	if r.reading.Reading == expression.AsText {
		v.Texts = resize(&r.into.Texts, n)
		r.readTexts(a, v.Texts)
		return v
	}
	v.Numbers = resize(&r.into.Numbers, n)
	r.readNumbers(a, v.Numbers)
	return v
}

// resize makes memory n values long, and allocates it anew if it is too short.
func resize[T any](memory *[]T, n int) []T {
	*memory = slices.Grow((*memory)[:0], n)[:n]
	return *memory
}

// noteMisfit records that a row does not fit.
func (r *vectorReader) noteMisfit(row, rows int, fit domain.Fit) {
	if r.misfits == nil {
		r.misfits = make([]domain.Fit, rows)
	}
	r.misfits[row] = fit
}

// readTexts writes the texts of an array's values, as domains of texts have them.
func (r *vectorReader) readTexts(a arrow.Array, out []string) {
	if texts, ok := a.(textArray); ok {
		for i := range out {
			out[i] = texts.Value(i)
		}
		return
	}
	text, scratch := source.CanonicalTexts(a), []byte(nil)
	for i := range out {
		out[i] = ""
		switch {
		case a.IsNull(i):
		case text == nil:
			r.noteMisfit(i, len(out), domain.WrongType)
		default:
			var ok bool
			if scratch, ok = text(scratch[:0], i); !ok {
				r.noteMisfit(i, len(out), domain.NotANumber)
				continue
			}
			out[i] = string(scratch)
		}
	}
}

// readNumbers writes the numbers that stand for an array's values.
func (r *vectorReader) readNumbers(a arrow.Array, out []int64) {
	x := &r.reading
	value := func(int) (int64, domain.Fit) { return 0, domain.WrongType }
	switch a := a.(type) {
	case textArray:
		value = func(i int) (int64, domain.Fit) { return x.OfText(a.Value(i)) }
	case *array.Int64:
		value = func(i int) (int64, domain.Fit) { return x.OfInt(a.Value(i)) }
	case *array.Float64:
		value = func(i int) (int64, domain.Fit) { return x.OfFloat(a.Value(i)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		value = func(i int) (int64, domain.Fit) { return x.OfDecimal(a.Value(i).BigInt(), scale) }
	case *array.Boolean:
		value = func(i int) (int64, domain.Fit) { return x.OfBool(a.Value(i)) }
	case *array.Date32:
		value = func(i int) (int64, domain.Fit) { return x.OfDate(int32(a.Value(i))) }
	case *array.Timestamp:
		value = func(i int) (int64, domain.Fit) { return x.OfTimestamp(int64(a.Value(i))) }
	}
	nulls := a.NullN() > 0
	if whole, ok := a.(*array.Int64); ok && !nulls && x.OfInts(whole.Int64Values(), out) {
		return
	}
	for i := range out {
		out[i] = 0
		if nulls && a.IsNull(i) {
			continue
		}
		number, fit := value(i)
		if out[i] = number; fit != domain.Fits {
			r.noteMisfit(i, len(out), fit)
		}
	}
}

// readDictionary reads each entry of a dictionary once.
func (r *vectorReader) readDictionary(d *array.Dictionary) (v expression.Vector) {
	entries := vectorReader{reading: r.reading, into: &expression.Vector{}}
	of := entries.readVector(d.Dictionary())
	n := d.Len()
	v.Null = resize(&r.into.Null, n)
	isText := r.reading.Reading == expression.AsText
	if isText {
		v.Texts = resize(&r.into.Texts, n)
	} else {
		v.Numbers = resize(&r.into.Numbers, n)
	}
	for i := range n {
		if v.Null[i] = d.IsNull(i); v.Null[i] {
			continue
		}
		at := d.GetValueIndex(i)
		if isText {
			v.Texts[i] = of.Texts[at]
		} else {
			v.Numbers[i] = of.Numbers[at]
		}
		if entries.misfits != nil && entries.misfits[at] != domain.Fits {
			r.noteMisfit(i, n, entries.misfits[at])
		}
	}
	return v
}

// compute computes the values of rows.
func (v *evaluation) compute(sources []arrow.Array) (values arrow.Array, misfits []domain.Fit) {
	misfits = v.run(sources, func(made expression.Vector) { values = v.array(made) })
	return values, misfits
}

// array is values as an array of their own.
func (v *evaluation) array(made expression.Vector) arrow.Array {
	valid, mem := validOf(made.Null), memory.DefaultAllocator
	switch t := v.of.Type(); t.Kind {
	case expression.Text:
		return arrayOf(array.NewStringBuilder(mem), made.Texts, valid)
	case expression.Boolean:
		truth := mapEach(made.Numbers, func(x int64) bool { return x == 1 })
		if v.of.OnlyTrue {
			valid = slices.Clone(truth)
			for i, null := range made.Null {
				valid[i] = valid[i] && !null
			}
		}
		return arrayOf(array.NewBooleanBuilder(mem), truth, valid)
	case expression.Date:
		days := mapEach(made.Numbers, func(x int64) arrow.Date32 { return arrow.Date32(x) })
		return arrayOf(array.NewDate32Builder(mem), days, valid)
	case expression.Timestamp:
		micros := mapEach(made.Numbers, func(x int64) arrow.Timestamp { return arrow.Timestamp(x) })
		return arrayOf(array.NewTimestampBuilder(mem, arrow.FixedWidthTypes.Timestamp_us.(*arrow.TimestampType)),
			micros,
			valid)
	default:
		return numbersArray(made.Numbers, valid, t.DecimalPlaces)
	}
}

// numbersArray returns decimals, given as integers with the given number of decimal places.
func numbersArray(numbers []int64, valid []bool, places int) arrow.Array {
	if places == 0 {
		return arrayOf(array.NewInt64Builder(memory.DefaultAllocator), numbers, valid)
	}
	of := &arrow.Decimal128Type{Precision: 38, Scale: int32(places)}
	return arrayOf(array.NewDecimal128Builder(memory.DefaultAllocator, of), mapEach(numbers, decimal128.FromI64), valid)
}

// arrayOf returns values as an array of its own. valid is nil if none is null.
func arrayOf[T any](b interface {
	array.Builder
	AppendValues(values []T, valid []bool)
}, values []T, valid []bool) arrow.Array {
	b.AppendValues(values, valid)
	return b.NewArray()
}

// mapEach returns the result of a function for each value.
func mapEach[V, T any](values []V, of func(V) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// validOf returns which rows are not null, nil for all.
func validOf(null []bool) []bool {
	if null == nil {
		return nil
	}
	return mapEach(null, func(is bool) bool { return !is })
}
