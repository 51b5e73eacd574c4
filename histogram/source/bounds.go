package source

// This file holds the bounds of texts and rows: without them a single value could take
// all memory that there is.

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/encoding"
)

const (
	// MostText is the most bytes of a text that is read: so many rows of them as a batch has fit into an array.
	MostText = textLimit / MaxRows
	// MostID is the most bytes of a text that tells units apart, of which many are held at once.
	MostID = 4 << 10
	// MostRow is the most bytes of a row of CSV with its line end.
	MostRow = 16 << 20
)

// errLongRow says that a row of CSV is too long.
var errLongRow = fmt.Errorf("a row has more than %d MiB; write it shorter (and look for a quote that is never closed)", MostRow>>20)

// longText says that a text is too long to be read.
type longText struct{ most int }

func (e longText) Error() string {
	return fmt.Sprintf("a text has more than %d bytes, the most that is read of this column; write it shorter", e.most)
}

// asLong returns err as the error of a column's text that is too long, nil where it is another.
func asLong(file, column, place string, err error) error {
	var long longText
	if !errors.As(err, &long) {
		return nil
	}
	return malformed(file, column, long.Error(), place)
}

// textBound is the bound of the texts of one column.
type textBound struct {
	most   int  // bytes
	asNull bool // a longer text is null, and no error
}

// bound is the bound of the texts of column i.
func (b *Buffers) bound(i int) textBound {
	most := b.columns[i].Most
	if most == 0 {
		most = MostText
	}
	return textBound{most: most, asNull: b.of.total}
}

// apply returns an array whose texts are within the bound. It reports a longText where one is not, or with asNull makes it
// null.
func (t textBound) apply(a arrow.Array) (arrow.Array, error) {
	text, ok := a.(*array.String)
	if !ok || text.Len() == 0 {
		return a, nil
	}
	offsets, long := text.ValueOffsets(), 0
	for i, end := range offsets[1:] {
		if int(end-offsets[i]) > t.most && text.IsValid(i) {
			long++
		}
	}
	switch {
	case long == 0:
		return a, nil
	case !t.asNull:
		return nil, longText{t.most}
	}
	data := text.Data()
	valid := make([]byte, bitutil.BytesForBits(int64(data.Offset()+data.Len())))
	for i, end := range offsets[1:] {
		bitutil.SetBitTo(valid, data.Offset()+i, int(end-offsets[i]) <= t.most && text.IsValid(i))
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), data.Buffers()[1], data.Buffers()[2]}
	return array.NewStringData(array.NewData(data.DataType(), data.Len(), buffers, nil, text.NullN()+long, data.Offset())), nil
}

// around is a decoder whose texts are within the bound.
func (t textBound) around(d decoder) decoder {
	return func(data encoding.Values, n int) (arrow.Array, error) {
		a, err := d(data, n)
		if err != nil {
			return nil, err
		}
		return t.apply(a)
	}
}

// Sizes of batches with texts.
const (
	firstRows = 1 << 10  // of the first batch
	longTexts = 16 << 20 // from which the next batch has half the rows
)

// batchRows returns how many rows, up to most, the next batch is to have: fewer where the texts of the last were long, so
// that what is held at once does not grow with the length of ids.
func (b *Buffers) batchRows(most int64) int {
	held := -1 // bytes of the longest column of texts
	for _, v := range b.values {
		if t, ok := v.(interface{ bytes() int }); ok {
			held = max(held, t.bytes())
		}
	}
	switch {
	case held < 0:
		return int(most)
	case b.texts == 0:
		b.texts = firstRows
	case held > longTexts:
		b.texts = max(b.texts/2, firstRows)
	case held < longTexts/2:
		b.texts = min(2*b.texts, MaxRows)
	}
	return int(min(most, int64(b.texts)))
}
