package synth

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// release has one table of 2 × 2 cells under Laplace noise of scale 1: a = 1/e,
// P(|X| ≤ m) = 1 − 2a^(m+1)/(1+a), which passes 0.95 at m = 3 (0.97322; 0.92720
// at m = 2), and a variance of 2a/(1−a)² = 1.84134.
const release = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, age: {type: integer, range: [0, 9], levels: {half: {width: 5}}}}}}
marginals: {m: {by: [age.half, mode]}}
`

func estimateRelease(t *testing.T, answers ...int64) Table {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: release})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(answers, nil)
	tables, err := Estimate(&measured.Sealed{Plan: compiled.Of(p.Plan()),
		Measured: []measured.Measured{{Measurement: p.Measurements[0], Values: b.NewInt64Array()}}})
	if err != nil {
		t.Fatal(err)
	}
	return tables[0]
}

func TestCounts(t *testing.T) {
	table := estimateRelease(t, 4, 3, -2, 1000)
	s := table.Statistics[0]
	if got, want := s.Published.Int64Values(), []int64{4, 3, 0, 1000}; !slices.Equal(got, want) {
		t.Errorf("published: %v, expected %v", got, want)
	}
	for name, c := range map[string]struct {
		got  *array.Float64
		want []float64
	}{
		"unbiased": {s.Unbiased, []float64{4, 3, -2, 1000}},
		"low":      {s.Low, []float64{1, 0, -5, 997}},
		"high":     {s.High, []float64{7, 6, 1, 1003}},
	} {
		if !slices.Equal(c.got.Float64Values(), c.want) {
			t.Errorf("%s: %v, expected %v", name, c.got, c.want)
		}
	}
	if !s.Whole {
		t.Error("a table that is one measurement is not of whole numbers")
	}
	if want := []Flag{Plain, NoiseDominates, NoiseDominates, Plain}; !slices.Equal(s.Flags, want) {
		t.Errorf("flags %q, expected %q", s.Flags, want)
	}
	if s.Margin != 3 || s.Attained < 0.97321 || s.Attained > 0.97323 {
		t.Errorf("margin %v attaining %v, expected 3 and 0.97322", s.Margin, s.Attained)
	}
	for _, e := range append(s.Error.Float64Values(), s.StandardError) {
		if e < 1.35695 || e > 1.35697 { // √1.84134
			t.Errorf("standard error %v, expected 1.35696", e)
		}
	}
}

func TestKeysAreInOrder(t *testing.T) {
	table := estimateRelease(t, 0, 0, 0, 0)
	if table.Cells != 4 || len(table.Keys) != 2 || table.Keys[0].Attribute.String() != "age.half" ||
		table.Keys[1].Attribute.String() != "mode" {
		t.Fatalf("%d cells, keys %v", table.Cells, table.Keys)
	}
	if got := table.Keys[0].Level.Categories[1].Code; got != "5–9" {
		t.Errorf("second half is %q", got)
	}
}

func TestMissingMeasurement(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: release})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Estimate(&measured.Sealed{Plan: compiled.Of(p.Plan())}); err == nil {
		t.Error("a table without its measurement is estimated")
	}
}
