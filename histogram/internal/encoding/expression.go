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

// evaluation makes the values of an expression. It is immutable but for memory that goroutines hand on.
type evaluation struct {
	of      *spec.Expression
	program *expression.Program
	inputs  []operand
	scratch sync.Pool // of *[]expression.Vector, one for each input
}

// operand is one input of an expression: a column among the sources or, where look is not nil, what is looked up by
// several.
type operand struct {
	reading domain.Reading
	places  []int
	look    Compute
}

// evaluating makes the values of a column's expression. A row with an input that is not of the kind, or beyond the
// numbers, that the expression was checked for is a misfit, whatever the expression makes of it.
//
// Guarantee: the value of a row is a function of its own inputs and of what is public. Neighbours: both relations.
// Argument: docs/proofs/bounding.md.
func evaluating(table *spec.Table, of *spec.Expression) (Compute, error) {
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
			if o.look, err = lookupValues(table,
				&spec.Column{Name: in.Name, Lookup: &spec.Lookup{Join: in.Table, Column: in.Name, On: j.On}}); err != nil {
				return nil, err
			}
			names = j.On
		}
		for _, name := range names {
			at := slices.Index(of.Sources(), name)
			if at < 0 {
				return nil, fmt.Errorf("table %s: an expression does not say that it reads %s", table.Name, name)
			}
			o.places = append(o.places, at)
		}
		v.inputs = append(v.inputs, o)
	}
	v.scratch.New = func() any { made := make([]expression.Vector, len(v.inputs)); return &made }
	return v, nil
}

// evaluate passes the values of rows, and which of them are misfits, to take.
func (v *evaluation) evaluate(sources []arrow.Array, take func(expression.Vector)) (misfits []domain.Fit) {
	rows := sources[0].Len()
	scratch := v.scratch.Get().(*[]expression.Vector)
	defer v.scratch.Put(scratch)
	vectors := make([]expression.Vector, len(v.inputs))
	for i, o := range v.inputs {
		values := sources[o.places[0]]
		if o.look != nil {
			keys := make([]arrow.Array, len(o.places))
			for j, at := range o.places {
				keys[j] = sources[at]
			}
			var wrong []domain.Fit
			values, wrong = o.look(keys)
			misfits = worse(misfits, wrong)
		}
		r := vectorReader{reading: o.reading, into: &(*scratch)[i]}
		vectors[i] = r.read(values)
		misfits = worse(misfits, r.misfits)
	}
	v.program.Run(rows, vectors, take)
	return misfits
}

// worse are the misfits of rows by either of two.
func worse(a, b []domain.Fit) []domain.Fit {
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

// vectorReader reads an array as a vector, in memory that is used again.
type vectorReader struct {
	reading domain.Reading
	into    *expression.Vector
	misfits []domain.Fit
}

func (r *vectorReader) read(a arrow.Array) (v expression.Vector) {
	if d, ok := a.(*array.Dictionary); ok {
		return r.gather(d)
	}
	n := a.Len()
	if a.NullN() > 0 {
		v.Null = room(&r.into.Null, n)
		for i := range v.Null {
			v.Null[i] = a.IsNull(i)
		}
	}
	if r.reading.Reading == expression.AsText {
		v.Texts = room(&r.into.Texts, n)
		r.texts(a, v.Texts)
		return v
	}
	v.Numbers = room(&r.into.Numbers, n)
	r.numbers(a, v.Numbers)
	return v
}

// room makes memory n values long, anew where it holds fewer.
func room[T any](memory *[]T, n int) []T {
	*memory = slices.Grow((*memory)[:0], n)[:n]
	return *memory
}

// misfit notes that a row does not fit.
func (r *vectorReader) misfit(row, rows int, fit domain.Fit) {
	if r.misfits == nil {
		r.misfits = make([]domain.Fit, rows)
	}
	r.misfits[row] = fit
}

// texts are those of an array's values as domains of texts have them.
func (r *vectorReader) texts(a arrow.Array, out []string) {
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
			r.misfit(i, len(out), domain.WrongType)
		default:
			var ok bool
			if scratch, ok = text(scratch[:0], i); !ok {
				r.misfit(i, len(out), domain.NotANumber)
				continue
			}
			out[i] = string(scratch)
		}
	}
}

// numbers are the numbers that stand for an array's values.
func (r *vectorReader) numbers(a arrow.Array, out []int64) {
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
			r.misfit(i, len(out), fit)
		}
	}
}

// gather reads the entries of a dictionary once.
func (r *vectorReader) gather(d *array.Dictionary) (v expression.Vector) {
	entries := vectorReader{reading: r.reading, into: &expression.Vector{}}
	of := entries.read(d.Dictionary())
	n := d.Len()
	v.Null = room(&r.into.Null, n)
	isText := r.reading.Reading == expression.AsText
	if isText {
		v.Texts = room(&r.into.Texts, n)
	} else {
		v.Numbers = room(&r.into.Numbers, n)
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
			r.misfit(i, n, entries.misfits[at])
		}
	}
	return v
}

// compute makes the values of rows.
func (v *evaluation) compute(sources []arrow.Array) (values arrow.Array, misfits []domain.Fit) {
	misfits = v.evaluate(sources, func(made expression.Vector) { values = v.array(made) })
	return values, misfits
}

// array is values as an array of their own.
func (v *evaluation) array(made expression.Vector) arrow.Array {
	valid, mem := validOf(made.Null), memory.DefaultAllocator
	switch t := v.of.Type(); t.Kind {
	case expression.Text:
		return built(array.NewStringBuilder(mem), made.Texts, valid)
	case expression.Boolean:
		truth := each(made.Numbers, func(x int64) bool { return x == 1 })
		if v.of.OnlyTrue {
			valid = slices.Clone(truth)
			for i, null := range made.Null {
				valid[i] = valid[i] && !null
			}
		}
		return built(array.NewBooleanBuilder(mem), truth, valid)
	case expression.Date:
		days := each(made.Numbers, func(x int64) arrow.Date32 { return arrow.Date32(x) })
		return built(array.NewDate32Builder(mem), days, valid)
	case expression.Timestamp:
		micros := each(made.Numbers, func(x int64) arrow.Timestamp { return arrow.Timestamp(x) })
		return built(array.NewTimestampBuilder(mem, arrow.FixedWidthTypes.Timestamp_us.(*arrow.TimestampType)), micros, valid)
	default:
		return numbersArray(made.Numbers, valid, t.Places)
	}
}

// numbersArray are numbers counted in places.
func numbersArray(numbers []int64, valid []bool, places int) arrow.Array {
	if places == 0 {
		return built(array.NewInt64Builder(memory.DefaultAllocator), numbers, valid)
	}
	of := &arrow.Decimal128Type{Precision: 38, Scale: int32(places)}
	return built(array.NewDecimal128Builder(memory.DefaultAllocator, of), each(numbers, decimal128.FromI64), valid)
}

// built is values as an array of their own; valid nil: none is null.
func built[T any](b interface {
	array.Builder
	AppendValues(values []T, valid []bool)
}, values []T, valid []bool) arrow.Array {
	b.AppendValues(values, valid)
	return b.NewArray()
}

// each is what is made of each of some values.
func each[V, T any](values []V, of func(V) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// validOf are the rows that are not null, nil for all.
func validOf(null []bool) []bool {
	if null == nil {
		return nil
	}
	return each(null, func(is bool) bool { return !is })
}
