package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
)

// All pairs of twelve columns are asked of a program by less than half as many sets of columns, none of which has too
// many groups unless a pair has.
func TestSmallQuestionsShareGroups(t *testing.T) {
	sizes := []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 1000}
	text := "version: 1\nrelease: pairs\nprivacy: {protects: person, neighbours: add-remove, account: a}\n" +
		"budget: {rho: 1}\ntables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n    columns:\n"
	for i, size := range sizes {
		text += fmt.Sprintf("      x%d: {type: integer, range: [0, %d]}\n", i, size-1)
	}
	q, err := histogram.QuestionsOf(histogramtest.PlanOf(t, text+
		"marginals:\n  pairs: {every: [2], by: [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	asked, err := Ask(t.Context(), q, noise.NewStreams(noise.Key{1}, "t").Rows(), map[string]Encode{
		"t": func(context.Context, int, Made, func([]arrow.Array) []uint32) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	sets := asked["t"].Groups
	if len(sets) > 25 {
		t.Errorf("66 pairs are asked by %d sets", len(sets))
	}
	for i := range sizes {
		for j := range i {
			both := func(set []int) bool { return slices.Contains(set, i) && slices.Contains(set, j) }
			if !slices.ContainsFunc(sets, both) {
				t.Errorf("no set has the columns %d and %d", i, j)
			}
		}
	}
	for _, set := range sets {
		groups := 1
		for _, column := range set {
			groups *= sizes[column]
		}
		if !slices.IsSorted(set) || len(slices.Compact(slices.Clone(set))) != len(set) || len(set) > 2 &&
			groups > 32768 {
			t.Errorf("the set %v has %d groups", set, groups)
		}
	}
}

// Groups that have more rows than there are end the counting at once, and so does the end of its context: a program
// that says it has 2^62 rows is not believed, row by row.
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
