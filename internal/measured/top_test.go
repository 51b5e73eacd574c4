package measured

import (
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
)

// chosenOf returns an answer of chosen cells, with their noisy counts.
func chosenOf(of int64, cells []uint64, counts []int64) Measured {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(counts, nil)
	one := big.NewInt(1)
	return Measured{
		Measurement: plan.Measurement{
			ID: "busy", Query: plan.Query{Table: "t", Counted: counted.Rows{}}, Cells: 1 << 40,
			Mechanism: budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(2, 1), L1: one,
				L2Squared: one},
			Selection: selection.Top{Of: of, Select: budget.Mechanism{Kind: budget.ExponentialMechanism,
				Parameter: big.NewRat(1, 2)}, Sensitivity: 1},
		},
		Values: b.NewInt64Array(), Cells: cells,
	}
}

// TestChosenCellsAreReadInTheirOrder writes and reads an answer, and checks that other choices than allowed are
// refused.
func TestChosenCellsAreReadInTheirOrder(t *testing.T) {
	m := chosenOf(3, []uint64{1<<40 - 1, 7, 9}, []int64{12, -3, 40})
	b, err := Encode(m, "hash", "release")
	if err != nil {
		t.Fatal(err)
	}
	got, status, err := Decode(b, m.Measurement, "hash")
	if err != nil || status != "release" || !slices.Equal(got.Cells, m.Cells) ||
		!slices.Equal(got.Values.Int64Values(), m.Values.Int64Values()) {
		t.Fatalf("read %v, %q, %v", got, status, err)
	}
	for name, wrong := range map[string]Measured{
		"too few":         chosenOf(3, []uint64{1, 7}, []int64{12, -3}),
		"too many":        chosenOf(3, []uint64{1, 7, 9, 11}, []int64{12, -3, 40, 1}),
		"one twice":       chosenOf(3, []uint64{1, 7, 1}, []int64{12, -3, 40}),
		"no cell of it":   chosenOf(3, []uint64{1, 7, 1 << 40}, []int64{12, -3, 40}),
		"another number":  chosenOf(2, []uint64{1, 7}, []int64{12, -3}),
		"a negative cell": chosenOf(3, []uint64{1, 7, 1 << 63}, []int64{12, -3, 40}),
	} {
		b, err := Encode(wrong, "hash", "release")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Decode(b, m.Measurement, "hash"); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}
