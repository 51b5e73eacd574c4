package source

// This file holds the bounds of texts and rows. Without them a single value could use up all memory.

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// MaxRows is the largest number of rows in a record of [Piece.Raw].
const MaxRows = 64 << 10

// textLimit is the most bytes of text in one column of a batch: the limit of an Arrow string array.
const textLimit = math.MaxInt32

const (
	// MostText is the most bytes of a text that is read. A batch of MaxRows such texts fits into an array.
	MostText = textLimit / MaxRows
	// MostID is the most bytes of a unit's id. Many ids are in memory at once.
	MostID = 4 << 10
	// MostRow is the most bytes of a row of CSV with its line end.
	MostRow = 16 << 20
)

// errLongText reports that the texts of a batch do not fit into an array.
var errLongText = errors.New("the text of one column is too long to be read")

// errLongRow reports that a row of CSV is too long.
var errLongRow = fmt.Errorf("a row has more than %d MiB; write it shorter (and look for a quote that is never closed)",
	MostRow>>20)

// textTooLongError reports that a text is longer than the bound of its column.
type textTooLongError struct{ most int }

func (e textTooLongError) Error() string {
	return fmt.Sprintf("a text has more than %d bytes, the most that is read of this column; write it shorter", e.most)
}

// asTextTooLong returns the error of a file if err is a textTooLongError, and nil if it is any other.
func asTextTooLong(file, column, place string, err error) error {
	var long textTooLongError
	if !errors.As(err, &long) {
		return nil
	}
	return malformedFile(file, column, long.Error(), place)
}

// textBound is the bound of the texts of one column.
type textBound struct {
	most   int  // bytes
	asNull bool // a longer text is read as null, without an error
}

// apply returns an array whose texts are within the bound. If a text is longer, apply makes it null if asNull is set,
// and returns a textTooLongError if not.
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
		return nil, textTooLongError{t.most}
	}
	data := text.Data()
	valid := make([]byte, bitutil.BytesForBits(int64(data.Offset()+data.Len())))
	for i, end := range offsets[1:] {
		bitutil.SetBitTo(valid, data.Offset()+i, int(end-offsets[i]) <= t.most && text.IsValid(i))
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), data.Buffers()[1], data.Buffers()[2]}
	return array.NewStringData(array.NewData(data.DataType(), data.Len(), buffers, nil, text.NullN()+long,
			data.Offset())),
		nil
}
