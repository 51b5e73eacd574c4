package encoding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec"
)

// gridOf is a column whose grid has that box and those cells.
func gridOf(t testing.TB, box string, columns, rows int) *spec.Column {
	t.Helper()
	r, err := spec.Parse(spec.Source{
		Text: fmt.Sprintf("version: 1\nrelease: x\nprivacy: {protects: trip, neighbours: replace}\nbudget: {rho: 1}\n"+
			"tables:\n  t:\n    source: {csv: t.csv}\n    unit: row\n"+
			"    columns: {at: {grid: {box: %s, cells: [%d, %d]}, unknown: {as: outside}, null: {as: nowhere}}}\n"+
			"marginals: {m: {by: [at]}}\n", box, columns, rows)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables[0].Columns[0]
}

// coordinates are numbers as every kind of array that a reader of files makes, null where valid is false.
func coordinates(kind string, values []float64, valid []bool) arrow.Array {
	var of arrow.DataType
	switch kind {
	case "float64":
		of = arrow.PrimitiveTypes.Float64
	case "int64":
		of = arrow.PrimitiveTypes.Int64
	case "decimal":
		of = &arrow.Decimal128Type{Precision: 38, Scale: 2}
	case "text":
		of = arrow.BinaryTypes.String
	case "long text":
		of = arrow.BinaryTypes.LargeString
	case "dictionary":
		of = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	case "boolean":
		of = arrow.FixedWidthTypes.Boolean
	}
	b := array.NewBuilder(memory.DefaultAllocator, of)
	defer b.Release()
	for i, v := range values {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		switch b := b.(type) {
		case *array.Float64Builder:
			b.Append(v)
		case *array.Int64Builder:
			b.Append(int64(v))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(int64(math.Round(v * 100))))
		case *array.StringBuilder:
			b.Append(text)
		case *array.LargeStringBuilder:
			b.Append(text)
		case *array.BinaryDictionaryBuilder:
			if err := b.AppendString(text); err != nil {
				panic(err)
			}
		case *array.BooleanBuilder:
			b.Append(v > 0)
		}
		if !valid[i] {
			b.AppendNull() // beside each that is null, one that is not: rows are told by their own bit
		}
	}
	return b.NewArray()
}

// TestCellsOfCoordinates holds the cells of every kind of array, and of every two kinds, against places worked out by
// hand.
func TestCellsOfCoordinates(t *testing.T) {
	c := gridOf(t, "[-2, 0, 2, 3]", 4, 3)
	// A box of degrees: columns from −2, −1, 0, 1; rows from 0, 1, 2. Edges belong to the cell east and north of them,
	// those of the box to the last.
	longitudes := []float64{-2, -1, -1, 0, 1, 2, 2, 3, -3, 0, 0}
	latitudes := []float64{0, 0, 1, 2, 3, 3, 0, 1, 1, -1, 4}
	want := []int64{0, 3, 4, 8, 11, 11, 9, -1, -1, -1, -1}
	valid := make([]bool, len(want))
	for i := range valid {
		valid[i] = true
	}
	kinds := []string{"float64", "int64", "decimal", "text", "long text", "dictionary"}
	for _, x := range kinds {
		for _, y := range kinds {
			cells, ok := gridCells(c.Grid, coordinates(x, longitudes, valid),
				coordinates(y, latitudes, valid)).(*array.Int64)
			if !ok || cells.Len() != len(want) || cells.NullN() != 0 {
				t.Fatalf("%s and %s: %v", x, y, cells)
			}
			for i := range want {
				if cells.Value(i) != want[i] {
					t.Errorf("%s and %s: %g, %g has cell %d, want %d", x, y, longitudes[i], latitudes[i],
						cells.Value(i), want[i])
				}
			}
		}
	}
}

// A row without a longitude or a latitude has no cell; one whose coordinate is no number is nowhere in the box.
func TestPlacesThatAreMissing(t *testing.T) {
	c := gridOf(t, "[-2, 0, 2, 3]", 4, 3)
	e, err := OfCategories(&spec.Table{Name: "t"}, c)
	if err != nil {
		t.Fatal(err)
	}
	if e.compute, err = Computing(&spec.Table{Name: "t"}, c); err != nil {
		t.Fatal(err)
	}
	x := coordinates("float64", []float64{1, 0, math.NaN()}, []bool{false, true, true})  // 1, null, 0, NaN
	y := coordinates("float64", []float64{2, 2, math.Inf(1)}, []bool{true, false, true}) // 2, 2, null, ∞
	codes := make([]uint32, 4)
	e.CodesOf([]arrow.Array{x, y}, codes)
	for i, want := range []uint32{11, 13, 13, 12} {
		if codes[i] != want {
			t.Errorf("row %d has code %d, want %d", i, codes[i], want)
		}
	}
}

// Coordinates that have no numbers break the contract whatever the policy, as all columns do that cannot be read.
func TestPlacesOfAnotherType(t *testing.T) {
	c := gridOf(t, "[-2, 0, 2, 3]", 4, 3)
	number, other := coordinates("float64", []float64{1}, []bool{true}),
		coordinates("boolean", []float64{1}, []bool{true})
	for _, inputs := range [][2]arrow.Array{{number, other}, {other, number}, {other, other}} {
		if _, ok := gridCells(c.Grid, inputs[0], inputs[1]).(*array.Boolean); !ok {
			t.Error("booleans are taken for places")
		}
	}
}

// BenchmarkGridCells prints what a cell of two float64 costs.
func BenchmarkGridCells(b *testing.B) {
	const rows = 1 << 16
	c := gridOf(b, "[-87.95, 41.64, -87.52, 42.03]", 64, 64)
	random := rand.New(rand.NewPCG(1, 2))
	x, y, valid := make([]float64, rows), make([]float64, rows), make([]bool, rows)
	for i := range x {
		x[i], y[i], valid[i] = -87.97+0.47*random.Float64(), 41.62+0.43*random.Float64(), true
	}
	for _, kind := range []string{"float64", "decimal", "text"} {
		b.Run(kind, func(b *testing.B) {
			longitude, latitude := coordinates(kind, x, valid), coordinates(kind, y, valid)
			for b.Loop() {
				gridCells(c.Grid, longitude, latitude).Release()
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
