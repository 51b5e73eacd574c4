package histogramtest

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// FromJSON returns the array that a text in JSON describes.
func FromJSON(t testing.TB, of arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
