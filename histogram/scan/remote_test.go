package scan

import (
	"context"
	"errors"
	"testing"

	"github.com/dprelease/dprelease/histogram/source"
)

// Groups that have more rows than there are end the counting at once, and so does the end of its context: a program that
// says it has 2^62 rows is not believed, row by row.
func TestGroupsHaveNoMoreRowsThanThereAre(t *testing.T) {
	for _, sizes := range [][]int64{{1 << 62}, {-1}, {6, 5}, {1<<63 - 1}} {
		f := groupFeeder{ctx: t.Context(), table: "t", most: 10}
		var err error
		for _, n := range sizes {
			err = errors.Join(err, f.add(nil, n))
		}
		var fault *source.Error
		if !errors.As(err, &fault) {
			t.Errorf("%d rows of 10: %v", sizes, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	f := groupFeeder{ctx: ended, table: "t", most: 10}
	if err := f.add(nil, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}
