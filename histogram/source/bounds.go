package source

// This file holds the bounds of texts and rows: without them a single value could take
// all memory that there is.

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// MaxRows is the most rows of a record of [Piece.Raw].
const MaxRows = 64 << 10

// textLimit is the most bytes of text in one column of a batch, as an Arrow string
// array has.
const textLimit = math.MaxInt32

const (
	// MostText is the most bytes of a text that is read: so many rows of them as a batch has fit into an array.
	MostText = textLimit / MaxRows
	// MostID is the most bytes of a text that tells units apart, of which many are held at once.
	MostID = 4 << 10
	// MostRow is the most bytes of a row of CSV with its line end.
	MostRow = 16 << 20
)

// errLongText says that the texts of a batch do not fit into an array.
var errLongText = errors.New("the text of one column is too long to be read")

// errLongRow says that a row of CSV is too long.
var errLongRow = fmt.Errorf("a row has more than %d MiB; write it shorter (and look for a quote that is never closed)",
	MostRow>>20)

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

// apply returns an array whose texts are within the bound. It reports a longText where one is not, or with asNull makes
// it null.
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
	return array.NewStringData(array.NewData(data.DataType(), data.Len(), buffers, nil, text.NullN()+long, data.Offset())),
		nil
}
