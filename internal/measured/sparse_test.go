package measured

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

const sparseText = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {from: {type: integer, range: [0, 99999]}, to: {type: integer, range: [0, 99999]}, on: {type: integer, range: [0, 99999]}}}}
marginals: {od: {by: [from, to, on], cells: {above: 60}}}
`

// TestSparseMeasurementsReadBack writes cells far apart, and none, and checks that invalid answers to the measurement
// are refused.
func TestSparseMeasurementsReadBack(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: sparseText})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	m, hash := p.Measurements[0], p.Hash()
	encoded := func(cells []uint64, values ...int64) []byte {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		file, err := Encode(Measured{Measurement: m, Values: b.NewInt64Array(), Cells: cells}, hash, "RELEASE")
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	last := uint64(m.Cells - 1)
	for _, cells := range [][]uint64{{}, {0, 7, 1 << 40, last}} {
		values := []int64{61, 1 << 61, 62, 9000}[:len(cells)]
		got, status, err := Decode(encoded(cells, values...), m, hash)
		if err != nil || status != "RELEASE" || got.Cells == nil || !slices.Equal(got.Cells, cells) ||
			!slices.Equal(got.Values.Int64Values(), values) ||
			!slices.Equal(got.Measurement.Canonical(), m.Canonical()) {
			t.Errorf("%v reads back as %v, %v (%v)", cells, got.Cells, got.Values, err)
		}
	}
	for name, file := range map[string][]byte{
		"the threshold itself":     encoded([]uint64{5}, 60),
		"a value below zero":       encoded([]uint64{5}, -70),
		"a cell twice":             encoded([]uint64{5, 5}, 70, 70),
		"cells out of order":       encoded([]uint64{6, 5}, 70, 70),
		"a cell that there is not": encoded([]uint64{last + 1}, 70),
		"a cell below zero":        encoded([]uint64{1 << 63}, 70),
	} {
		if _, _, err := Decode(file, m, hash); err == nil {
			t.Errorf("%s: is read", name)
		}
	}
	dense := m
	dense.Selection = selection.All{}
	if _, _, err := Decode(encoded([]uint64{5}, 70), dense, hash); err == nil {
		t.Error("a sparse answer is read as a dense one")
	}
}
